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

type genesisCommand struct {
	File string `arg:"" help:"Genesis file, complete or a template." type:"existingfile"`
}

// Run checks a genesis file.
func (c *genesisCommand) Run() error {
	raw, err := os.ReadFile(c.File)
	if err != nil {
		return fmt.Errorf("read genesis: %w", err)
	}
	g, err := chain.ParseGenesis(raw)
	if err == nil {
		fmt.Printf("ok: %q, chain id %d, %d validators, genesis hash %s\n", g.Name, g.ChainID, len(g.Validators), g.Hash())
		return nil
	}
	t, templateErr := chain.ParseGenesisTemplate(raw)
	if templateErr == nil {
		fmt.Printf("ok: template %q, chain id %d; it has no validators yet (cowboyd devnet --genesis completes it)\n", t.Name, t.ChainID)
		return nil
	}
	return err
}
