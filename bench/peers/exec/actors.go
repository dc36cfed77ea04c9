package main

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/statetest"
)

// source is the actor of all workloads. work counts and adds up as much as a small
// handler of a real program does.
const source = `
from cowboy_sdk import actor, public, send, transfer

@actor
class Worker:
    @public
    def work(self, msg):
        n = self.storage.get("n", 0)
        for i in range(100):
            n = (n * 31 + i) % 1000003
        self.storage["n"] = n
        return n

    @public
    def pay(self, msg):
        self.work(msg)
        transfer(msg.payload, 1)

    @public
    def cascade(self, msg):
        self.work(msg)
        for target in msg.payload:
            send(target, None, "work", 0, 60000)
`

func personOf(i int) chain.Address {
	return chain.Address{1, byte(i), byte(i >> 8), 19: byte(i)}
}

// town is a state with persons who have one actor each.
type town struct {
	*statetest.Maps
	actors []chain.Address
	in     exec.Inputs
	heap   []byte // as of a small node, so that collections are not more frequent than in one
}

func newTown(persons int, e *pvm.Engine) (*town, error) {
	const wealth = 1_000_000 * chain.WeiPerCBY
	t := &town{Maps: statetest.NewMaps(nil), in: inputs(persons), heap: make([]byte, 128<<20)}
	withSupply(t.Maps, chain.Wei(persons)*wealth)
	p := t.in.Params
	p.CyclesTarget, p.CyclesCap, p.CellsTarget, p.CellsCap = 1<<50, 1<<50, 1<<50, 1<<50
	p.Actor.BlockCycles, p.Actor.BlockCyclesBurst, p.MaxTxCycles = 1<<40, 1<<41, 1<<30
	var list []*chain.VerifiedTx
	for i := range persons {
		a := state.NewAccount()
		a.Balance = wealth
		t.Accounts[personOf(i)] = a
		d := actor.Deployment{Source: []byte(source), Salt: []byte{1}, Manifest: manifest.Manifest("econ.hold_balance", "econ.transfer", "storage.kv")}
		t.actors = append(t.actors, actor.AddressOf(personOf(i), d.Salt, d.Source))
		list = append(list, message(personOf(i), nil, 0, actor.AppendPayload(nil, &d), 0))
	}
	t.in.Engine = e
	r, err := exec.Apply(t, t.in, list)
	if err != nil {
		return nil, err
	}
	for i := range r.Receipts {
		if r.Receipts[i].Code != chain.CodeOK {
			return nil, fmt.Errorf("deployment %d: %s", i, chain.CodeName(r.Receipts[i].Code))
		}
	}
	t.Write(r.Delta)
	for _, a := range t.actors {
		rich := t.Accounts[a]
		rich.Balance = 1000
		t.Accounts[a] = rich
	}
	return t, nil
}

func message(from chain.Address, to *chain.Address, nonce uint64, payload []byte, value chain.Wei) *chain.VerifiedTx {
	tx := &chain.Tx{
		ChainID: inputs(1).ChainID, Nonce: nonce, To: to, Payload: payload, Value: value,
		CyclesLimit: 2_000_000, CellsLimit: 100_000, MaxFeePerCycle: 10, MaxFeePerCell: 10, TipPerCycle: 1,
		Signature: &chain.TxSignature{R: [32]byte{1}, S: [32]byte{1}},
	}
	body := tx.Encode()
	return &chain.VerifiedTx{Tx: tx, Body: body, Hash: chain.TxHash(body), Sender: from, Lane: chain.LaneUser}
}
