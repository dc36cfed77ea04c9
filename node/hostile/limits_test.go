package hostile

import (
	"flag"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/parallel"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
)

var limitRuns = flag.Int("limit-runs", 0, "runs of TestLimits by each worker at every limit; 0: twenty-four by all workers together where it turns, two below")

// able has a handler for each kind of work that is charged.
const able = `
import json
from cowboy_sdk import *

@actor
class Able:
    @public
    def init(self, msg):
        self.storage["n"] = msg.payload

    @public
    def echo(self, msg):
        self.storage["n"] = msg.payload
        return msg.payload

    @public
    def calls(self, msg):
        for i in range(3):
            call(msg.payload, "go", i)

    @public
    def sends(self, msg):
        for i in range(3):
            send(msg.payload, i, "echo", cycles=40000)

    @public
    def timers(self, msg):
        t = set_timer(current_block() + 10, "echo", None)
        extend_timer(t, current_block() + 20)
        set_interval(5, "echo", None)
        cancel_timer(t)

    @public
    def tokens(self, msg):
        t = token_create("Able", "ABL", 0, 100)
        token_transfer(t, msg.payload, 30)
        token_burn(t, 5)

    @public
    def stores(self, msg):
        for i in range(5):
            set_state("k" + str(i), "v" * i)
        delete_state("k1")
        return len(scan_state_prefix("k"))

    @public
    def spawns(self, msg):
        return spawn(b"child", init=7)

    @public
    def speaks(self, msg):
        return json.loads(json.dumps({"a": [1, 2.5, None, "x"], "b": {"c": True}}))["b"]

    @public
    def raises(self, msg):
        for i in range(3):
            try:
                try:
                    [][i]
                finally:
                    self.storage["n"] = i
            except IndexError as e:
                emit_event("caught", str(e))

    @public
    def writes(self, msg):
        with open("/tmp/f", "w") as f:
            f.write("x" * 100)
        blob_commit(b"y" * 200)
`

// limited are transactions of every kind, which succeed with enough of everything.
func (w *world) limited() map[string]*chain.VerifiedTx {
	d := actor.Deployment{
		Source: []byte(able), Salt: []byte{7}, Init: &actor.Init{Handler: "init", Payload: uintOf(1)},
		Manifest: manifest.Manifest("econ.hold_balance", "exec.spawn", "storage.blob", "storage.kv", "timer.schedule"),
	}
	at := actor.AddressOf(alice, d.Salt, d.Source)
	ample := func(tx *chain.VerifiedTx) *chain.VerifiedTx {
		larger := *tx.Tx
		larger.CyclesLimit, larger.CellsLimit = 2_000_000, 100_000
		return w.verified(tx.Sender, larger)
	}
	w.must(ample(w.tx(alice, nil, 100*chain.WeiPerCBY, actor.AppendPayload(nil, &d))))
	out := map[string]*chain.VerifiedTx{}
	d.Salt = []byte{8}
	out["deploy"] = ample(w.tx(alice, nil, 1, actor.AppendPayload(nil, &d)))
	for _, handler := range []string{"echo", "calls", "sends", "timers", "tokens", "stores", "spawns", "speaks", "raises", "writes"} {
		out[handler] = ample(w.tx(alice, &at, 0, actor.AppendMessage(nil, handler, bytesOf(w.target[:]))))
	}
	rows := chain.InstructionTable()
	for name, in := range w.instances() {
		for i := range rows {
			if rows[i].Name == name && rows[i].Executable && rows[i].Kind == chain.KindSystem && in.want == chain.CodeOK {
				out[name] = w.send(alice, &rows[i], 0, rowPayload(&rows[i], in.args))
			}
		}
	}
	return out
}

// meter is one of the two limits of a transaction.
type meter struct {
	name string
	of   func(*chain.Tx) *uint64
}

var meters = []meter{
	{"cycles", func(tx *chain.Tx) *uint64 { return (*uint64)(&tx.CyclesLimit) }},
	{"cells", func(tx *chain.Tx) *uint64 { return (*uint64)(&tx.CellsLimit) }},
}

// under is a transaction with another limit.
func (w *world) under(tx *chain.VerifiedTx, m meter, limit uint64) *chain.VerifiedTx {
	changed := *tx.Tx
	*m.of(&changed) = limit
	return w.verified(tx.Sender, changed)
}

// TestLimits finds, for every kind of transaction and either meter, the least limit
// that is enough. There, beside it, and at limits all over the range below, whoever
// runs it comes to the same end to the byte: machines fresh and used, one after the
// other and in parallel, eight at a time. From the least one on all limits are enough.
func TestLimits(t *testing.T) {
	w := newWorld(t)
	crew := newCrew(t, w)
	txs := w.limited()
	for _, name := range slices.Sorted(maps.Keys(txs)) { // the crew's machines keep what they have run
		for _, m := range meters {
			t.Run(name+"/"+m.name, func(t *testing.T) { w.bisect(t, crew, txs[name], m) })
		}
	}
}

func (w *world) bisect(t *testing.T, crew []runner, tx *chain.VerifiedTx, m meter) {
	succeeds := func(limit uint64) bool {
		r, err := exec.Apply(w.state, w.inputs(), []*chain.VerifiedTx{w.under(tx, m, limit)})
		return err == nil && r.Receipts[0].Code == chain.CodeOK
	}
	ins, err := tx.Tx.Classify()
	if err != nil {
		t.Fatal(err)
	}
	intrinsic := w.genesis.Params.Intrinsic.Of(ins.WithCode(tx.Tx.To != nil && !tx.Tx.To.IsSystem()))
	first := uint64(intrinsic.Cycles)
	if m.name == "cells" {
		first = uint64(intrinsic.Cells)
	}
	low, need := first, *m.of(tx.Tx)
	if !succeeds(need) {
		t.Fatalf("does not succeed with %d", need)
	}
	if succeeds(low) {
		need = low
	}
	for low+1 < need {
		if mid := (low + need) / 2; succeeds(mid) {
			need = mid
		} else {
			low = mid
		}
	}
	samples := uint64(16)
	if *limitRuns > 0 {
		samples = 50
	}
	rng := rand.New(rand.NewPCG(need, 1))
	limits := []uint64{need, need + 1, need + (*m.of(tx.Tx)-need)/2}
	turn := len(limits)
	if need > first {
		limits = append(limits, need-1, first)
		turn = len(limits)
		for range min(samples, need-first) {
			limits = append(limits, first+rng.Uint64N(need-first))
		}
	}
	tries := make([]trial, len(limits))
	for i, limit := range limits {
		tries[i] = trial{tx: w.under(tx, m, limit), turns: i < turn}
		r, err := exec.Apply(w.state, w.inputs(), []*chain.VerifiedTx{tries[i].tx})
		tries[i].want = render(r, err)
		if err != nil {
			t.Fatalf("limit %d: %v", limit, err)
		}
		receipt := &r.Receipts[0]
		if (receipt.Code == chain.CodeOK) != (limit >= need) {
			t.Errorf("limit %d of %d: %s", limit, need, chain.CodeName(receipt.Code))
		}
		if uint64(receipt.CyclesUsed) > uint64(tries[i].tx.Tx.CyclesLimit) || uint64(receipt.CellsUsed) > uint64(tries[i].tx.Tx.CellsLimit) {
			t.Errorf("limit %d of %d: used %d cycles and %d cells", limit, need, receipt.CyclesUsed, receipt.CellsUsed)
		}
		if err := w.conserves(&r); err != nil {
			t.Errorf("limit %d of %d: %v", limit, need, err)
		}
		if receipt.Code != chain.CodeOK {
			if err := w.paidOnly(tries[i].tx, &r); err != nil {
				t.Errorf("limit %d of %d: %v", limit, need, err)
			}
		}
	}
	all(t, crew, tries)
}

// trial is a transaction that is run again and again.
type trial struct {
	tx    *chain.VerifiedTx
	turns bool // at or beside the least limit that is enough
	want  string
}

// runs returns how often a worker runs it.
func (try *trial) runs(i, worker int) int {
	switch {
	case *limitRuns > 0:
		return *limitRuns
	case try.turns:
		return 24 / workers
	case i%(workers/2) == worker%(workers/2):
		return 1
	}
	return 0
}

// runner executes a block of one transaction in its own way.
type runner func(tx *chain.VerifiedTx) string

const (
	workers    = 8
	freshEvery = 16 // runs of a machine that is used again for a while
)

// newCrew returns eight: three whose machine is used all the time, three with a fresh
// one every few runs, which compiles anew every fourth time, and two that execute in
// parallel.
func newCrew(t testing.TB, w *world) []runner {
	t.Helper()
	rt, err := pvm.NewRuntime([2]uint64{3, 4})
	if err != nil {
		t.Fatal(err)
	}
	cache := func() *pvm.LRU { return pvm.NewLRU(1 << 20) }
	fresh := func(programs *pvm.LRU) *pvm.Engine { return pvm.NewEngine(rt, programs, pvm.DefaultLimits()) }
	apply := func(e *pvm.Engine, tx *chain.VerifiedTx) string {
		in := w.inputs()
		in.Engine = e
		return render(exec.Apply(w.state, in, []*chain.VerifiedTx{tx}))
	}
	var crew []runner
	for i := range 3 {
		used := fresh(cache())
		changed, programs, runs := used, cache(), 0
		crew = append(crew, func(tx *chain.VerifiedTx) string { return apply(used, tx) }, func(tx *chain.VerifiedTx) string {
			if runs%(4*freshEvery) == i {
				programs = cache()
			}
			if runs%freshEvery == 0 {
				changed = fresh(programs)
			}
			runs++
			return apply(changed, tx)
		})
	}
	for _, mode := range []parallel.Mode{parallel.Planned, parallel.Optimistic} {
		x, err := parallel.New(parallel.Config{Mode: mode, Workers: 2}, []*pvm.Engine{fresh(cache()), fresh(cache())})
		if err != nil {
			t.Fatal(err)
		}
		crew = append(crew, func(tx *chain.VerifiedTx) string {
			return render(x.Apply(w.state, w.inputs(), []*chain.VerifiedTx{tx}))
		})
	}
	return crew
}

// all has every worker run every trial, each in an order of its own.
func all(t *testing.T, crew []runner, tries []trial) {
	t.Helper()
	if len(crew) != workers {
		t.Fatalf("%d workers", len(crew))
	}
	var wg sync.WaitGroup
	for n, run := range crew {
		wg.Go(func() {
			for i := range tries {
				try := &tries[(i+n*7)%len(tries)]
				for range try.runs((i+n*7)%len(tries), n) {
					if got := run(try.tx); got != try.want {
						t.Errorf("worker %d, limits %d and %d: %s, want %s", n, try.tx.Tx.CyclesLimit, try.tx.Tx.CellsLimit, got, try.want)
						return
					}
				}
			}
		})
	}
	wg.Wait()
}
