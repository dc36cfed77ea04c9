package main

import (
	"context"
	"fmt"
	"os"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node"
)

type verifyCommand struct {
	Data string `help:"Data folder of a stopped node." required:"" type:"existingdir" placeholder:"DIR"`
}

// Run re-executes the chain and says what it found.
func (c *verifyCommand) Run(ctx context.Context) error {
	result, err := node.VerifyChain(ctx, c.Data, func(done, total chain.Height) {
		fmt.Fprintf(os.Stderr, "\rverified %d of %d blocks", done, total)
	})
	fmt.Fprintln(os.Stderr)
	if err != nil {
		return err
	}
	fmt.Printf("ok: %d blocks re-executed from genesis, state root %s\n", result.Height, result.Root)
	return nil
}
