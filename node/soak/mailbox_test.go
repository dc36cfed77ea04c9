package soak

import (
	"context"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// listener defers messages with money to itself and counts what it hears.
const listener = `
from cowboy_sdk import actor, public, create_deferred_tx, current_block, emit_event

@actor
class Listener:
    def init(self, msg):
        self.storage["n"] = 0

    @public
    def later(self, msg):
        now = current_block()
        return [create_deferred_tx(self.address, "hear", n, height=now + n, value=5, cycles_limit=100_000) for n in msg.payload]

    @public
    def hear(self, msg):
        self.storage["n"] += 1
        emit_event("heard", msg.payload)
`

// TestMessagesOutliveKills kills the validator while messages wait, between their
// deliveries and after them: each is delivered once (whitepaper §3.3, W6).
func TestMessagesOutliveKills(t *testing.T) {
	if testing.Short() {
		t.Skip("kills real processes: left out of -short runs, runs in make test")
	}
	t.Parallel()
	ctx, cancel := context.WithTimeout(context.Background(), 2*patience)
	defer cancel()
	bin, dataDir := buildBinary(t), t.TempDir()
	p := start(t, bin, dataDir) // a block a second: what follows goes faster than the chain by itself
	at := deploy(t, ctx, p, listener, 1_000, manifest.HoldBalance, manifest.Transfer, manifest.KV)
	waits := []uint64{60, 60, 120, 180} // blocks
	arg := cbor.AppendArray(nil, len(waits))
	for _, n := range waits {
		arg = cbor.AppendUint(arg, n)
	}
	sent := succeed(t, ctx, p, &chain.Tx{Nonce: 1, To: &at, Payload: actor.AppendMessage(nil, "later", arg)})
	look := func(when string) (a rpc.ActorReply, left uint64) {
		t.Helper()
		if ok, err := get(ctx, p.rpc+"/actor/"+at.String(), &a); err != nil || !ok {
			t.Fatalf("%s: %v, %v", when, ok, err)
		}
		for _, n := range waits {
			if sent.BlockHeight+n > a.Height {
				left++
			}
		}
		if a.Balance != 1_000-5*chain.Wei(left) { // the rest is in escrow
			t.Errorf("%s: at %d, sent at %d, the actor has %d while %d messages wait", when, a.Height, sent.BlockHeight, a.Balance, left)
		}
		return a, left
	}
	killed := func(when string, waiting func(uint64) bool) {
		t.Helper()
		if _, n := look(when); !waiting(n) {
			t.Fatalf("%s: %d wait", when, n)
		}
		p.kill()
		p = start(t, bin, dataDir)
		look(when + ", after the kill")
	}
	killed("all wait", func(n uint64) bool { return n == 4 })
	advance(t, ctx, p, sent.BlockHeight+60)
	killed("some wait", func(n uint64) bool { return n == 1 || n == 2 })
	advance(t, ctx, p, sent.BlockHeight+180)
	killed("none waits", func(n uint64) bool { return n == 0 })
	advance(t, ctx, p, sent.BlockHeight+185)
	a, _ := look("at the end")
	var logs rpc.LogsReply
	if ok, err := get(ctx, p.rpc+"/actor/"+at.String()+"/logs", &logs); err != nil || !ok {
		t.Fatalf("logs: %v, %v", ok, err)
	}
	if n := len(logs.Logs); n != len(waits) || string(a.Storage["n"]) != "4" {
		t.Errorf("heard %d of %d messages, counted %s", n, len(waits), a.Storage["n"])
	}
	p.stop(t)
	t.Log(verifyChain(t, bin, dataDir))
}

// advance has a devnet make blocks at once until there are so many.
func advance(t *testing.T, ctx context.Context, p *process, until uint64) {
	t.Helper()
	cfg := client.DefaultConfig()
	cfg.URL = p.rpc
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for h, err := height(p.rpc); h < until || err != nil; h, err = height(p.rpc) {
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Advance(ctx, until-h); err != nil {
			t.Fatalf("%v\n%s", err, p.stderr)
		}
	}
}

// deploy makes an actor, with money and an init, in the first transaction of the
// first account.
func deploy(t *testing.T, ctx context.Context, p *process, source string, money chain.Wei, ids ...string) chain.Address {
	t.Helper()
	var grants manifest.Grants
	for _, id := range ids {
		grants = append(grants, manifest.Grant{ID: id})
	}
	d := actor.Deployment{
		Source: []byte(source), Salt: []byte{1}, Manifest: grants.Append(cbor.AppendText(cbor.AppendMap(nil, 1), "entitlements")),
		Init: &actor.Init{Handler: "init", Payload: cbor.AppendNull(nil)},
	}
	succeed(t, ctx, p, &chain.Tx{Value: money, Payload: actor.AppendPayload(nil, &d)})
	return actor.AddressOf(setup.DevAccounts()[0].Address, d.Salt, d.Source)
}

// succeed completes a transaction of the first account, and waits until it succeeded.
func succeed(t *testing.T, ctx context.Context, p *process, tx *chain.Tx) *rpc.ReceiptReply {
	t.Helper()
	tx.ChainID, tx.CyclesLimit, tx.CellsLimit = devnetChainID, 1_500_000, 200_000
	tx.MaxFeePerCycle, tx.MaxFeePerCell, tx.TipPerCycle = 100, 100, 1
	sig := setup.DevAccounts()[0].Key.Sign(tx.SigningHash())
	tx.Signature = &chain.TxSignature{YParity: sig.YParity, R: sig.R, S: sig.S}
	results, err := settled(ctx, p, tx.AppendWire(nil))
	if err != nil {
		t.Fatal(err)
	}
	r := results[0]
	if !r.Accepted || r.Receipt.Status != "success" {
		t.Fatalf("%+v", r)
	}
	return r.Receipt
}
