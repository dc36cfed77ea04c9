package main

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// crowd is how many transactions a block of these bars has, each of another person.
const crowd = 1_000

// A block is executed and its root computed, again and again on the same parent.
func instructionBars() []bars.Bar {
	bar := func(name, peer string, must, aim float64, setup func() (bars.Contest, error)) bars.Bar {
		return bars.Bar{Name: name, Peer: peer, Must: must, Aim: aim, Cores: 1, Ops: crowd, Iterations: 1, Setup: setup}
	}
	return []bars.Bar{
		bar("1000-heartbeats", "as many transfers", 1/2.5, 1/1.5, raceHeartbeats),
		bar("1000-submissions", "messages that write the same bytes", 1./2, 0, raceSubmissions),
		bar("1000-reveals", "messages that write two slots of the same bytes", 1/1.5, 0, raceReveals),
	}
}

// sides races two blocks on the head of a world.
func (w *world) sides(ours, peer []*chain.VerifiedTx) bars.Contest {
	side := func(txs []*chain.VerifiedTx) bars.Side {
		return bars.Side{Run: func(n int) error {
			for range n {
				if _, err := w.then(w.store.Head(), txs); err != nil {
					return err
				}
			}
			return nil
		}}
	}
	return bars.Contest{Ours: side(ours), Peer: side(peer), Close: w.close}
}

// raceHeartbeats: runners are heard, and pay each other.
func raceHeartbeats() (c bars.Contest, err error) {
	w, err := newWorld(crowd)
	if err != nil {
		return c, err
	}
	if err := errors.Join(w.register(crowd), w.keep()); err != nil {
		return c, errors.Join(err, w.close())
	}
	var beats, pays []*chain.VerifiedTx
	for i, p := range w.people {
		beats = append(beats, w.asks(p.Address, chain.AddrRunnerRegistry, 0, &chain.RunnerHeartbeat{}))
		w.nonces[p.Address]--
		pays = append(pays, w.tx(p.Address, &w.people[(i+1)%crowd].Address, 1, nil))
	}
	return w.sides(beats, pays), nil
}

// job asks one runner for a page of the web, for nothing but its price.
func job() *chain.JobSubmit {
	return &chain.JobSubmit{
		Spec: chain.JobSpec{
			JobType: &chain.HTTPJob{URL: "https://a.example/price", Method: "GET"}, Bounds: chain.ResourceBounds{MaxWallTimeSeconds: 1, MaxMemoryMB: 1},
			Verification: chain.Verification{Runners: 1, Threshold: 1, DisputeWindowBlocks: 1}, MaxPrice: 10, TimeoutBlocks: 80_000,
		},
		Terms: chain.JobTerms{
			Version: chain.JobTermsVersion, JudgeSteps: chain.MinJudgeSteps,
			ResultSchema: chain.ResultSchema{MaxReturnBytes: resultBytes, ExpectedExecutionMillis: 1, DataFormat: chain.FormatText},
		},
	}
}

// resultBytes is how long an answer is.
const resultBytes = 100

func raceSubmissions() (c bars.Contest, err error) {
	const registered = 100
	w, err := newWorld(crowd)
	if err != nil {
		return c, err
	}
	writer, err := w.ready(registered)
	if err != nil {
		return c, errors.Join(err, w.close())
	}
	var asks []*chain.VerifiedTx
	for _, p := range w.people {
		q := job()
		asks = append(asks, w.asks(p.Address, chain.AddrJobDispatcher, q.Spec.MaxPrice, q))
		w.nonces[p.Address]--
	}
	size, rows, err := w.written(asks)
	if err != nil {
		return c, errors.Join(err, w.close())
	}
	fmt.Printf("# a submission writes %d bytes in %d entries\n", size, rows)
	return w.sides(asks, w.writes(writer, 1, size)), nil
}

// written returns how many bytes of storage a transaction of a block adds on average, and
// how many entries it writes.
func (w *world) written(txs []*chain.VerifiedTx) (size, rows int, err error) {
	r, err := w.block(w.store.Head(), txs)
	if err != nil {
		return 0, 0, err
	}
	for _, a := range r.Delta.Accounts() {
		for _, s := range a.Storage {
			size += len(s.Value)
			rows++
		}
	}
	return size / len(txs), rows / len(txs), nil
}

// writerSource is an actor that writes what it is sent into slots of its own.
const writerSource = `
from cowboy_sdk import actor, public

@actor
class Writer:
    @public
    def write(self, msg):
        who = msg.sender
        for n, value in enumerate(msg.payload):
            self.storage[str(n) + str(who)] = value
`

// ready registers runners, and deploys the writer, whose address it returns.
func (w *world) ready(registered int) (chain.Address, error) {
	if err := w.register(registered); err != nil {
		return chain.Address{}, err
	}
	d := actor.Deployment{Source: []byte(writerSource), Salt: []byte{1}, Manifest: manifest.Manifest("storage.kv")}
	by := w.people[0].Address
	return actor.AddressOf(by, d.Salt, d.Source), w.keep(w.tx(by, nil, 0, actor.AppendPayload(nil, &d)))
}

// writes are messages of everybody that write slots of size bytes together.
func (w *world) writes(writer chain.Address, slots, size int) []*chain.VerifiedTx {
	var txs []*chain.VerifiedTx
	for _, p := range w.people {
		arg := cbor.AppendArray(nil, slots)
		for range slots {
			arg = cbor.AppendBytes(arg, make([]byte, size/slots))
		}
		txs = append(txs, w.tx(p.Address, &writer, 0, actor.AppendMessage(nil, "write", arg)))
		w.nonces[p.Address]--
	}
	return txs
}

// raceReveals: each of a thousand jobs has been drawn for and its runner shows its result.
// Both sides recover the signatures of their transactions, and ours those of the results
// with them.
func raceReveals() (c bars.Contest, err error) {
	w, err := newWorld(crowd)
	if err != nil {
		return c, err
	}
	writer, err := w.ready(crowd)
	if err != nil {
		return c, errors.Join(err, w.close())
	}
	ids, err := w.assigned(crowd)
	if err != nil {
		return c, errors.Join(err, w.close())
	}
	reveals, err := w.reveals(w.store.Head(), ids)
	if err != nil {
		return c, errors.Join(err, w.close())
	}
	size, rows, err := w.written(reveals)
	if err != nil {
		return c, errors.Join(err, w.close())
	}
	fmt.Printf("# a reveal writes %d bytes in %d entries\n", size, rows)
	for _, tx := range reveals {
		w.nonces[tx.Sender] = 0
	}
	if err := w.nonceOf(w.store.Head()); err != nil {
		return c, errors.Join(err, w.close())
	}
	c = w.sides(reveals, w.writes(writer, 2, size))
	c.Ours.Run = recovering(2*crowd, c.Ours.Run)
	c.Peer.Run = recovering(crowd, c.Peer.Run)
	return c, nil
}

// nonceOf sets the nonces of everybody to those of a state.
func (w *world) nonceOf(v *store.Version) error {
	for _, p := range w.people {
		a, _, err := v.Account(p.Address)
		if err != nil {
			return err
		}
		w.nonces[p.Address] = a.Nonce
	}
	return nil
}

// recovering adds the recovery of n signatures in batches, as the pipeline does it, to what
// a side runs.
func recovering(n int, run func(int) error) func(int) error {
	key, err := secp256k1.ParsePrivateKey(append(make([]byte, 31), 7))
	if err != nil {
		return func(int) error { return err }
	}
	hashes, sigs, out := make([][32]byte, n), make([]secp256k1.Signature, n), make([]secp256k1.Recovered, n)
	for i := range hashes {
		hashes[i] = [32]byte{byte(i), byte(i >> 8), 1}
		sigs[i] = key.Sign(hashes[i])
	}
	return func(times int) error {
		for range times {
			secp256k1.RecoverMany(hashes, sigs, out)
		}
		return run(times)
	}
}
