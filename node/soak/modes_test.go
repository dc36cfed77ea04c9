package soak

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// tallyman counts what everybody sends.
const tallyman = `
from cowboy_sdk import actor, public, emit_event

@actor
class Tallyman:
    def init(self, msg):
        self.storage["n"] = 0

    @public
    def add(self, msg):
        self.storage["n"] += msg.payload
        emit_event("added", self.storage["n"])
`

// TestCommitteeOfModes runs validators that execute each in another way: what one
// proposes, all others must find the same, whichever led; and the stores hold
// what re-execution one by one arrives at.
func TestCommitteeOfModes(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real processes: left out of -short runs, runs in make test")
	}
	t.Parallel()
	modes := []string{"seq", "dag", "opt", "auto"}
	s := newDealtSet(t, len(modes), timing{block: 100 * time.Millisecond, patience: 400 * time.Millisecond}, false)
	for i, mode := range modes {
		s.args = []string{"--exec-mode=" + mode, "--exec-workers=4"}
		s.start(t, i)
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	at := deploy(t, ctx, s.procs[0], tallyman, 0, manifest.KV)
	const senders, rounds, each = 8, 6, 4
	var load sync.WaitGroup
	for sender := range senders {
		load.Go(func() { contend(t, ctx, s.procs[sender%len(modes)], setup.DevAccounts()[1+sender], at, rounds, each) })
	}
	load.Wait()
	for i := range modes { // the last results are final where they were asked for, and there first
		s.waitHeight(t, 0, s.height(t, i), patience)
	}
	var a rpc.ActorReply
	if ok, err := get(ctx, s.procs[0].rpc+"/actor/"+at.String(), &a); err != nil || !ok || string(a.Storage["n"]) != strconv.Itoa(senders*rounds*each) {
		t.Errorf("counted %s of %d, %v", a.Storage["n"], senders*rounds*each, err)
	}
	t.Logf("%d blocks equal on all", s.agree(t))
	for i, mode := range modes {
		blocks := s.counter(t, i, "cowboy_exec_parallel_blocks_total")
		if t.Logf("%s: %g blocks in parallel", mode, blocks); (mode == "dag" || mode == "opt") != (blocks > 0) && mode != "auto" {
			t.Errorf("%s executed %g blocks in parallel", mode, blocks)
		}
		s.procs[i].stop(t)
		t.Log(verifyChain(t, s.bin, s.folder(i)))
	}
}

// contend sends an account's transactions in rounds: messages to one actor, and
// payments to one receiver.
func contend(t *testing.T, ctx context.Context, p *process, from setup.DevAccount, to chain.Address, rounds, each int) {
	nonce, rich := uint64(0), chain.Address{0xbe}
	for range rounds {
		var batch []byte
		for n := range 2 * each {
			tx := &chain.Tx{
				ChainID: devnetChainID, Nonce: nonce, To: &to, CyclesLimit: 60_000, CellsLimit: 1_000,
				MaxFeePerCycle: 100, MaxFeePerCell: 100, TipPerCycle: 1, Payload: actor.AppendMessage(nil, "add", cbor.AppendUint(nil, 1)),
			}
			if n%2 == 1 {
				tx.To, tx.Value, tx.CyclesLimit, tx.CellsLimit, tx.Payload = &rich, 1, 21_000, 0, nil
			}
			sig := from.Key.Sign(tx.SigningHash())
			tx.Signature = &chain.TxSignature{YParity: sig.YParity, R: sig.R, S: sig.S}
			batch = tx.AppendWire(batch)
			nonce++
		}
		results, err := settled(ctx, p, batch)
		if err != nil {
			t.Error(err)
			return
		}
		for _, r := range results {
			if r.Receipt == nil || r.Receipt.Status != "success" {
				t.Errorf("%s: %+v", from.Address, r)
				return
			}
		}
	}
}
