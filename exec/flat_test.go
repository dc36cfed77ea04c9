package exec_test

import (
	"encoding/binary"
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/mailbox"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/rent"
	"github.com/cowboy-foundation/cowboy/exec/timers"
	"github.com/cowboy-foundation/cowboy/exec/token"
	"github.com/cowboy-foundation/cowboy/state"
)

// counted is a state that counts what is read of it.
type counted struct {
	state.View
	reads int
}

func (c *counted) Account(addr chain.Address) (state.Account, bool, error) {
	c.reads++
	return c.View.Account(addr)
}

func (c *counted) Storage(addr chain.Address, key state.StorageKey) ([]byte, error) {
	c.reads++
	return c.View.Storage(addr, key)
}

func (c *counted) Scan(addr chain.Address, s state.Span) ([]state.Entry, error) {
	// For who has fallen silent and for what falls due, a few rows at a time.
	if addr == chain.AddrRunnerRegistry || addr == chain.AddrJobDispatcher {
		c.reads++
		return c.View.Scan(addr, s)
	}
	return nil, errors.New("no other scan is a block's own")
}

// crowded gives each of n actors a bonded quota on which it owes rent, a message that
// is deferred, a timer that sleeps, and some of a token.
func crowded(t *testing.T, c *testChain, n int) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	o, p := state.NewOverlay(c.state), &c.g.Params
	r := &rent.Block{State: o, Params: p, Height: c.height}
	clock := timers.Clock{Params: p, Height: c.height, Base: c.base}
	coin, err := token.Create(o, alice, &token.Token{Name: "Gold", Symbol: "GLD"})
	must(err)
	for i := range n {
		a := chain.Address{0: 0xab}
		binary.BigEndian.PutUint32(a[16:], uint32(i))
		account := state.NewAccount()
		account.CodeHash = chain.Hash{1}
		o.SetAccount(a, account)
		_, _, err := r.Bond(a, 2<<20)
		must(err)
		late := chain.Height(1_000 + i%5_000)
		must(mailbox.Defer(o, c.height, c.height+late, &mailbox.Item{From: alice, To: a, Nonce: uint64(i), Handler: "add"}, 1<<20))
		_, _, err = timers.Set(o, clock, timers.Spec{Actor: a, To: a, Height: c.height + 100*late, Handler: "add", Limits: timers.Limits(p, chain.Usage{})})
		must(err)
		must(token.Mint(o, coin, alice, a, chain.Amount{Lo: 1}))
	}
	c.state = c.state.With(o.Delta())
}

// TestBlocksDoNotCountActors holds what a whole block reads and writes to the same
// numbers whatever sleeps, owes and waits beside it.
func TestBlocksDoNotCountActors(t *testing.T) {
	cost := func(n int) (out [3][2]int) {
		c := oneValidator(t)
		c.engine = testEngine(t)
		d := actor.Deployment{Source: []byte(counter), Salt: []byte{1}, Manifest: manifest.Manifest("storage.kv"), Init: &actor.Init{Handler: "init", Payload: cbor.AppendUint(nil, 7)}}
		c.block(c.program(alice, nil, actor.AppendPayload(nil, &d)))
		to := actor.AddressOf(alice, d.Salt, d.Source)
		crowded(t, c, n)
		for i, txs := range [][]*chain.VerifiedTx{
			nil,
			{c.program(alice, &to, actor.AppendMessage(nil, "tell", cbor.AppendUint(nil, 3)))},
			{c.transfer(alice, bob, 5), c.program(bob, &to, actor.AppendMessage(nil, "add", cbor.AppendUint(nil, 3)))},
		} {
			v := &counted{View: c.state}
			r, err := exec.Apply(v, c.inputs(), txs)
			if err != nil {
				t.Fatal(err)
			}
			out[i][0] = v.reads
			for _, a := range r.Delta.Accounts() {
				if out[i][1] += len(a.Storage); a.Account != nil {
					out[i][1]++
				}
			}
		}
		return out
	}
	const crowd = 10_000
	few, many := cost(10), cost(crowd)
	if few != many {
		t.Errorf("reads and writes of an empty block and two others are %v beside 10 actors and %v beside %d", few, many, crowd)
	}
	t.Logf("reads and writes %v", few)
}
