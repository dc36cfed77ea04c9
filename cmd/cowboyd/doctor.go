package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/cowboy-foundation/cowboy/node"
	"github.com/cowboy-foundation/cowboy/node/ops"
)

type doctorCommand struct {
	Data string `help:"Where the chain lives or will live." default:"." type:"path" placeholder:"DIR"`
	JSON bool   `name:"json" help:"Print JSON."`
}

// Run prints the findings. It fails when one of them would keep a validator
// from working.
func (c *doctorCommand) Run() error {
	findings := ops.Examine(c.Data, node.StateLimit(c.Data))
	if c.JSON {
		raw, err := json.MarshalIndent(findings, "", "  ")
		if err != nil {
			return fmt.Errorf("encode findings: %w", err)
		}
		fmt.Println(string(raw))
	} else {
		ops.Print(os.Stdout, findings)
	}
	if ops.Worst(findings) == ops.Fail {
		return errors.New("this machine cannot run a validator yet: see the lines marked fail")
	}
	return nil
}
