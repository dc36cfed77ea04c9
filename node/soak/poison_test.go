package soak

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// poisonous has a handler for each way to exhaust the machine.
const poisonous = `
import re
from cowboy_sdk import actor, public

def deeper(n):
    return deeper(n + 1)

@actor
class Poisonous:
    @public
    def recursion(self, msg):
        deeper(0)

    @public
    def memory(self, msg):
        kept = []
        while True:
            kept.append(bytes(1 << 20))

    @public
    def regex(self, msg):
        re.match("(a+)+$", "a" * 5000 + "b")

    @public
    def spin(self, msg):
        while True:
            pass

    @public
    def text(self, msg):
        raise ValueError("x" * 1000000)

    @public
    def nested(self, msg):
        kept = []
        for _ in range(1000):
            kept = [kept]
        return kept

    @public
    def output(self, msg):
        return bytes(1 << 20)
`

// poisons are payloads for the actor, and sources to deploy.
func poisons() (handlers []string, sources [][]byte) {
	handlers = []string{"recursion", "memory", "regex", "spin", "text", "nested", "output", "missing"}
	for _, source := range []string{
		strings.Repeat("x = 1 + 2 * 3\n", 5_000),
		"x = " + strings.Repeat("(", 5_000) + "1" + strings.Repeat(")", 5_000) + "\n",
		"def f():\n" + strings.Repeat(" ", 1) + strings.Repeat("if 1:\n  ", 60) + "pass\n",
		"x = 10 ** 10 ** 10\n",
		"while True:\n    pass\n",
		strings.Repeat("\x00", 1_000),
	} {
		sources = append(sources, []byte(source))
	}
	return handlers, sources
}

// signed is a development account's transaction.
func signed(from setup.DevAccount, tx chain.Tx) *chain.Tx {
	tx.ChainID, tx.MaxFeePerCycle, tx.MaxFeePerCell, tx.TipPerCycle = devnetChainID, 100, 100, 1
	sig := from.Key.Sign(tx.SigningHash())
	tx.Signature = &chain.TxSignature{YParity: sig.YParity, R: sig.R, S: sig.S}
	return &tx
}

// TestPoisonNeitherStopsNorLoops sends transactions that exhaust the machine in every
// way, kills the validator as soon as they may be in a block, and starts it again:
// it comes up with them, goes on, and includes what others send. At the end the whole
// chain executes again to the same roots.
func TestPoisonNeitherStopsNorLoops(t *testing.T) {
	if testing.Short() {
		t.Skip("kills real processes: left out of -short runs, runs in make test")
	}
	bin, dataDir, seen := buildBinary(t), t.TempDir(), &witness{}
	villain, other := setup.DevAccounts()[0], setup.DevAccounts()[1]
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()

	p := start(t, bin, dataDir, "--block-time=50ms")
	d := actor.Deployment{Source: []byte(poisonous), Salt: []byte{1}, Manifest: append(cbor.AppendText(cbor.AppendMap(nil, 1), "entitlements"), 0x80)}
	target := actor.AddressOf(chain.Address(villain.Address), d.Salt, d.Source)
	deploy := chain.Tx{Payload: actor.AppendPayload(nil, &d), CyclesLimit: 2_000_000, CellsLimit: 100_000}
	if r := submitted(ctx, t, p, villain, deploy); len(r) != 1 || r[0] == nil || r[0].Status != "success" {
		t.Fatalf("deploy: %+v\n%s", r, p.stderr)
	}
	handlers, sources := poisons()
	var txs []chain.Tx
	for _, handler := range handlers {
		txs = append(txs, chain.Tx{To: &target, Payload: actor.AppendMessage(nil, handler, cbor.AppendNull(nil)), CyclesLimit: 500_000, CellsLimit: 10_000})
	}
	for i, source := range sources {
		d := actor.Deployment{Source: source, Salt: []byte{byte(i)}, Manifest: d.Manifest}
		txs = append(txs, chain.Tx{Payload: actor.AppendPayload(nil, &d), CyclesLimit: 2_000_000, CellsLimit: 100_000})
	}
	for round := range 3 {
		poison := wire(ctx, t, p, villain, txs...)
		if err := post(ctx, p.rpc+"/submit", poison, new(rpc.SubmitReply)); err != nil {
			t.Fatalf("submit: %v\n%s", err, p.stderr)
		}
		time.Sleep(time.Duration(30+20*round) * time.Millisecond) // about a block: the kill meets it at one point or another
		p.kill()
		p = start(t, bin, dataDir)
		seen.waitForProgress(t, p)
		to := chain.Address{0xbe, 0xef}
		if r := submitted(ctx, t, p, other, chain.Tx{To: &to, Value: 1, CyclesLimit: 21_000}); len(r) != 1 || r[0] == nil || r[0].Status != "success" {
			t.Fatalf("round %d: another's transfer after the restart: %+v\n%s", round, r, p.stderr)
		}
	}
	for i, r := range submitted(ctx, t, p, villain, txs...) {
		if r == nil || i < len(handlers) && r.Status != "failed" { // some of the sources may stand
			t.Errorf("poison %d: %+v, want the receipt of a failure", i, r)
		}
	}
	p.stop(t)
	t.Log(verifyChain(t, bin, dataDir))
}

// wire signs an account's next transactions.
func wire(ctx context.Context, t *testing.T, p *process, from setup.DevAccount, txs ...chain.Tx) (batch []byte) {
	t.Helper()
	var info rpc.AccountReply
	if _, err := get(ctx, p.rpc+"/account/"+from.Address.String(), &info); err != nil {
		t.Fatalf("%v\n%s", err, p.stderr)
	}
	for i, tx := range txs {
		tx.Nonce = info.PendingNext + uint64(i)
		batch = signed(from, tx).AppendWire(batch)
	}
	return batch
}

// submitted sends an account's next transactions and returns their receipts, nil for
// one that was refused.
func submitted(ctx context.Context, t *testing.T, p *process, from setup.DevAccount, txs ...chain.Tx) (receipts []*rpc.ReceiptReply) {
	t.Helper()
	results, err := settled(ctx, p, wire(ctx, t, p, from, txs...))
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		receipts = append(receipts, r.Receipt)
	}
	return receipts
}
