package main

import (
	"context"
	"fmt"

	"github.com/cowboy-foundation/cowboy/node/tools"
)

type verifyCommand struct {
	Data string `help:"Data folder of a stopped node." required:"" type:"existingdir" placeholder:"DIR"`
}

// Run checks certificates, re-executes the chain and says what it found.
func (c *verifyCommand) Run(ctx context.Context) error {
	var shown progress
	result, err := tools.VerifyChain(ctx, c.Data, shown.show)
	shown.end()
	if err != nil {
		return err
	}
	if result.First > 1 {
		fmt.Printf("ok: certificates of blocks %d to %d checked, state root %s computed again; this node began with the state of block %d and cannot re-execute what came before\n",
			result.First, result.Height, result.Root, result.First)
		return nil
	}
	fmt.Printf("ok: %d blocks, certificates checked and re-executed from genesis, state root %s\n", result.Height, result.Root)
	return nil
}
