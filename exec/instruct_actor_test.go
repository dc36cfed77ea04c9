package exec_test

import (
	"math"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
)

// TestActorFund is the instruction actor_fund, and a transfer without payload that
// meets code: docs/transactions.md, resolution 11.25.
func TestActorFund(t *testing.T) {
	c := oneValidator(t)
	c.engine = testEngine(t)
	deploy := func(salt byte, ids ...string) chain.Address {
		d := actor.Deployment{Source: []byte("def go(msg):\n    return 1\n"), Salt: []byte{salt}, Manifest: manifest.Manifest(ids...)}
		if r := c.block(c.program(alice, nil, actor.AppendPayload(nil, &d))); r.Receipts[0].Code != chain.CodeOK {
			t.Fatalf("deploy: %+v", r.Receipts[0])
		}
		return actor.AddressOf(alice, d.Salt, d.Source)
	}
	keeper, none := deploy(1, "econ.hold_balance"), deploy(2)
	system := chain.AddrActors
	fund := func(to chain.Address, value chain.Wei) *chain.VerifiedTx {
		payload := cbor.AppendUint(cbor.AppendArray(nil, 2), chain.OpActorFund)
		tx := c.program(alice, &system, cbor.AppendBytes(payload, to[:])).Tx
		tx.Value = value
		return verified(tx, alice)
	}
	is := func(rule string, tx *chain.VerifiedTx, to chain.Address, want uint16, gets chain.Wei) {
		t.Helper()
		before := c.state.Balance(to)
		r := c.block(tx).Receipts[0]
		if r.Code != want || r.CyclesUsed != 21_000 || len(r.Trace) != 0 {
			t.Errorf("%s: %+v, want code %s", rule, r, chain.CodeName(want))
		}
		if got := c.state.Balance(to) - before; got != gets {
			t.Errorf("%s: got %d, want %d", rule, got, gets)
		}
	}
	f := func(rule string, to chain.Address, value chain.Wei, want uint16, gets chain.Wei) {
		t.Helper()
		is(rule, fund(to, value), to, want, gets)
	}
	f("an actor that holds a balance", keeper, 7, chain.CodeOK, 7)
	f("again", keeper, 1, chain.CodeOK, 1)
	f("an actor that may not", none, 7, chain.CodeBalanceHeld, 0)
	f("an account without code", bob, 7, chain.CodeNoCode, 0)
	f("nothing", keeper, 0, chain.CodeBadArgument, 0)
	is("a transfer to an actor that holds a balance", c.transfer(alice, keeper, 7), keeper, chain.CodeOK, 7)
	is("a transfer to an actor that may not", c.transfer(alice, none, 7), none, chain.CodeBalanceHeld, 0)
	is("a transfer of nothing to an actor", c.transfer(alice, none, 0), none, chain.CodeOK, 0)
	full := c.state.Accounts[keeper]
	full.Balance = math.MaxUint64 - 3
	in := c.inputs()
	c.state.Accounts[keeper] = full
	e, err := exec.Estimate(c.state, in, alice, *fund(keeper, 4).Tx)
	if err != nil || e.Code != chain.CodeBalanceOverflow {
		t.Errorf("beyond 64 bits: %+v, %v", e, err)
	}
	e, err = exec.Estimate(c.state, in, alice, *c.transfer(alice, keeper, 4).Tx)
	if err != nil || e.Code != chain.CodeBalanceOverflow {
		t.Errorf("a transfer beyond 64 bits: %+v, %v", e, err)
	}
	c.g.Params.Actor.EnforceHoldBalance = false
	full.Balance = 0
	c.state.Accounts[keeper] = full
	if r, err := c.try(c.transfer(alice, none, 7)); err != nil || r.Receipts[0].Code != chain.CodeOK {
		t.Errorf("a chain where all actors hold balances: %+v, %v", r.Receipts, err)
	}
}

// TestEstimateKnowsTheTimersPrice: what a timer locks hangs on the base fees of its
// lane, and whether an actor can pay it on all of it.
func TestEstimateKnowsTheTimersPrice(t *testing.T) { // resolution 11.25
	w := newWorkshop(t, nil)
	w.base = chain.FeePair{PerCycle: 3, PerCell: 5}
	before := w.state.Balance(w.addr)
	at := func() *chain.VerifiedTx {
		tx := w.message("at", uintArg(uint64(w.height)+9)).Tx
		return verified(tx, alice)
	}
	probe, err := w.try(at())
	if err != nil || probe.Receipts[0].Code != chain.CodeOK {
		t.Fatalf("%+v, %v", probe.Receipts, err)
	}
	price := before - w.state.With(probe.Delta).Balance(w.addr)
	for _, row := range []struct {
		has  chain.Wei
		code uint16
	}{{price - 1, chain.CodeReverted}, {price, chain.CodeOK}} {
		w.drain(row.has)
		e, err := exec.Estimate(w.state, w.inputs(), alice, *at().Tx)
		if err != nil || e.Code != row.code {
			t.Errorf("estimated with %d of %d: %s, %v", row.has, price, chain.CodeName(e.Code), err)
		}
		r, err := w.try(at())
		if err != nil || r.Receipts[0].Code != row.code || e.Used.Cycles != r.Receipts[0].CyclesUsed || e.Burned != r.Burned-(r.Receipts[0].Fee-r.Receipts[0].Tip) {
			t.Errorf("with %d of %d: %+v, %v; estimated %+v", row.has, price, r.Receipts, err, e)
		}
	}
}

// TestEstimateIsWhatTheBlockDoes holds an estimate to the block that follows.
func TestEstimateIsWhatTheBlockDoes(t *testing.T) {
	c := oneValidator(t)
	c.engine = testEngine(t)
	d := actor.Deployment{Source: []byte(counter), Salt: []byte{1}, Manifest: manifest.Manifest("storage.kv"), Init: &actor.Init{Handler: "init", Payload: cbor.AppendUint(nil, 7)}}
	addr := actor.AddressOf(alice, d.Salt, d.Source)
	for _, tx := range []func() *chain.VerifiedTx{
		func() *chain.VerifiedTx { return c.program(alice, nil, actor.AppendPayload(nil, &d)) },
		func() *chain.VerifiedTx {
			return c.program(alice, &addr, actor.AppendMessage(nil, "add", cbor.AppendUint(nil, 3)))
		},
		func() *chain.VerifiedTx { return c.program(alice, &addr, actor.AppendMessage(nil, "fail", nil)) },
		func() *chain.VerifiedTx { return c.program(alice, &addr, actor.AppendMessage(nil, "tell", nil)) },
		func() *chain.VerifiedTx { return c.transfer(alice, bob, 5) },
	} {
		v := tx()
		e, err := exec.Estimate(c.state, c.inputs(), alice, *v.Tx)
		if err != nil {
			t.Fatal(err)
		}
		r := c.block(v).Receipts[0]
		if e.Code != r.Code || e.Used.Cycles != r.CyclesUsed || e.Used.Cells != r.CellsUsed || e.Fee != r.Fee ||
			string(e.Output) != string(r.Output) || len(e.Events) != len(r.Events) || len(e.Trace) != len(r.Trace) {
			t.Errorf("estimated %+v, became %+v", e, r)
		}
	}
}
