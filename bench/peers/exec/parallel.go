package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/parallel"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/state"
)

// people is how many senders a block of a workload has; each sends once.
const people = 400

// hot is one account that everybody pays.
var hot = chain.Address{7, 7, 7}

// workload makes the transactions of one block.
type workload struct {
	name string
	must float64
	aim  float64
	mode parallel.Mode
	make func(t *town) []*chain.VerifiedTx
}

// workloads are named as docs/performance/execution.md names them. The rest of the name says
// what conflicts.
var workloads = []workload{
	{"actor-uncontended", 1.6, 1.9, parallel.Auto, each(func(t *town, i int) *chain.VerifiedTx {
		return call(i, t.actors[i], "work", nil, 0)
	})},
	{"actor-sharded-100", 1.5, 1.9, parallel.Auto, each(func(t *town, i int) *chain.VerifiedTx {
		return call(i, t.actors[i%100], "work", nil, 0)
	})},
	{"actor-hot-receiver", 1.5, 1.9, parallel.Auto, each(func(t *town, i int) *chain.VerifiedTx {
		return call(i, t.actors[i], "pay", cbor.AppendBytes(nil, hot[:]), 0)
	})},
	{"transfer-hot-receiver-auto", 0.9, 1, parallel.Auto, each(pay)},
	{"transfer-hot-receiver-dag", 0.3, 1.5, parallel.Planned, each(pay)},
	{"actor-counter-auto", 0.77, 1, parallel.Auto, each(count)},
	{"actor-counter-dag", 0.77, 1, parallel.Planned, each(count)},
	{"actor-counter-opt", 0.77, 1, parallel.Optimistic, each(count)},
	{"actor-cascade-hidden-auto", 0.77, 1, parallel.Auto, each(cascade)},
	{"actor-cascade-hidden-dag", 0.77, 1, parallel.Planned, each(cascade)},
	{"actor-cascade-hidden-opt", 0.77, 1, parallel.Optimistic, each(cascade)},
}

// pay is a plain transfer to the hot account.
func pay(_ *town, i int) *chain.VerifiedTx { return message(personOf(i), &hot, 1, nil, 5) }

// count is a call of one actor that everybody calls.
func count(t *town, i int) *chain.VerifiedTx { return call(i, t.actors[0], "work", nil, 0) }

// cascade is a call that sends on to three of four actors, which only its payload
// names.
func cascade(t *town, i int) *chain.VerifiedTx {
	rng := rand.New(rand.NewPCG(uint64(i), 3))
	b := cbor.AppendArray(nil, 3)
	for range 3 {
		b = cbor.AppendBytes(b, t.actors[rng.IntN(4)][:])
	}
	return call(i, t.actors[i], "cascade", b, 0)
}

func call(from int, to chain.Address, handler string, arg []byte, value chain.Wei) *chain.VerifiedTx {
	if arg == nil {
		arg = cbor.AppendNull(nil)
	}
	return message(personOf(from), &to, 1, actor.AppendMessage(nil, handler, arg), value)
}

func each(one func(t *town, i int) *chain.VerifiedTx) func(t *town) []*chain.VerifiedTx {
	return func(t *town) (txs []*chain.VerifiedTx) {
		for i := range people {
			txs = append(txs, one(t, i))
		}
		return txs
	}
}

// parallelBars race exec/parallel with two workers against exec.Apply on the same
// blocks.
func parallelBars() (list []bars.Bar) {
	for _, w := range workloads {
		b := bars.Bar{
			Name: w.name, Peer: "our sequential exec.Apply", Must: w.must, Aim: w.aim,
			Cores: 2, Ops: people, Iterations: 1, Setup: w.race,
		}
		if w.must > 1 { // what the second core brings
			b.SpinCores = b.Cores
		}
		list = append(list, b)
	}
	return list
}

func (w *workload) race() (bars.Contest, error) { return w.raceOn(2) }

// raceOn races that many workers.
func (w *workload) raceOn(workers int) (bars.Contest, error) {
	rt, err := pvm.NewRuntime([2]uint64{1, 2})
	if err != nil {
		return bars.Contest{}, err
	}
	engines := make([]*pvm.Engine, workers+1)
	for i := range engines {
		engines[i] = pvm.NewEngine(rt, pvm.NewLRU(1<<20), pvm.DefaultLimits())
	}
	t, err := newTown(people, engines[workers])
	if err != nil {
		return bars.Contest{}, err
	}
	x, err := parallel.New(parallel.Config{Mode: w.mode, Workers: workers}, engines[:workers])
	if err != nil {
		return bars.Contest{}, err
	}
	txs, in := w.make(t), t.in
	in.Height = 2
	var ours, plain exec.Result
	c := bars.Contest{
		Ours: bars.Side{Run: func(n int) (err error) {
			for range n {
				if ours, err = x.Apply(t, in, txs); err != nil {
					return err
				}
			}
			return nil
		}},
		Peer: bars.Side{Run: func(n int) (err error) {
			for range n {
				if plain, err = exec.Apply(t, in, txs); err != nil {
					return err
				}
			}
			return nil
		}},
	}
	if err := errors.Join(c.Ours.Run(1), c.Peer.Run(1)); err != nil {
		return c, err
	}
	return c, same(ours, plain)
}

// same compares receipts and accounts, and wants success.
func same(ours, plain exec.Result) error {
	for i := range plain.Receipts {
		p := plain.Receipts[i].Encode()
		if plain.Receipts[i].Code != chain.CodeOK || !slices.Equal(ours.Receipts[i].Encode(), p) {
			return fmt.Errorf("transaction %d: %s, in parallel %s", i, chain.CodeName(plain.Receipts[i].Code), chain.CodeName(ours.Receipts[i].Code))
		}
		for _, d := range plain.Receipts[i].Trace {
			if d.Code != chain.CodeOK {
				return fmt.Errorf("transaction %d: a delivery ends with %s", i, chain.CodeName(d.Code))
			}
		}
	}
	a, b := ours.Delta.Accounts(), plain.Delta.Accounts()
	if !slices.EqualFunc(a, b, func(x, y state.AccountChange) bool {
		return x.Address == y.Address && len(x.Storage) == len(y.Storage) && (x.Account == nil) == (y.Account == nil) &&
			(x.Account == nil || x.Account.Balance == y.Account.Balance)
	}) {
		return errors.New("the writes differ")
	}
	return nil
}
