package main

import (
	"context"
	"fmt"

	"github.com/cowboy-foundation/cowboy/exec/market/books"
	"github.com/cowboy-foundation/cowboy/node/rpc"
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
	defer fmt.Println(marketLine(result.Market))
	if result.First > 1 {
		fmt.Printf("ok: certificates of blocks %d to %d checked, state root %s computed again; this node began with the state of block %d and cannot re-execute what came before\n",
			result.First, result.Height, result.Root, result.First)
		return nil
	}
	fmt.Printf("ok: %d blocks, certificates checked and re-executed from genesis, state root %s\n", result.Height, result.Root)
	return nil
}

// marketLine says what the runner market's accounts hold.
func marketLine(b books.Books) string {
	if b == (books.Books{}) {
		return "ok: the runner market holds no money and no record of a runner or job"
	}
	return fmt.Sprintf("ok: the runner market's books add up: stakes of %d runners %s CBY, frozen penalties %s CBY, escrows of %d jobs %s CBY",
		sum(b.Runners[:]), rpc.FormatCBY(b.Stakes), rpc.FormatCBY(b.Frozen), sum(b.Jobs[:]), rpc.FormatCBY(b.Escrows))
}

func sum(counts []uint64) (n uint64) {
	for _, c := range counts {
		n += c
	}
	return n
}
