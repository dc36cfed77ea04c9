package parallel_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/parallel"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/state/statetest"
)

// mine calls itself as often as it is told, each call within the one before, and counts at the
// bottom. Two such messages conflict.
const mine = `
from cowboy_sdk import actor, public, call

@actor
class Mine:
    @public
    def init(self, msg):
        self.storage["n"] = 0

    @public
    def dig(self, msg):
        me, left = msg.payload
        if left > 0:
            try:
                call(me, "dig", [me, left - 1])
            except Exception as e:
                self.storage["caught"] = repr(e)
                raise
        else:
            self.storage["n"] = self.storage["n"] + 1
`

// gate is the lock of the machines for deep calls, as it is for whom another engine is always
// faster, if busy is set.
type gate struct {
	sync.Mutex
	busy         bool
	tries, waits atomic.Int32
}

func (g *gate) Lock() {
	g.waits.Add(1)
	g.Mutex.Lock()
}

func (g *gate) TryLock() bool {
	g.tries.Add(1)
	return !g.busy && g.Mutex.TryLock()
}

// sharedCache is a cache for several engines.
type sharedCache struct {
	mu sync.Mutex
	pvm.Cache
}

func (c *sharedCache) Get(h pvm.Hash) (*pvm.Program, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.Cache.Get(h)
}

func (c *sharedCache) Put(p *pvm.Program) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.Cache.Put(p)
}

// deepBlock is a block of n messages of n senders to one actor that calls itself depth times,
// on a state that has it.
func deepBlock(t *testing.T, n, depth int) (*statetest.Maps, exec.Inputs, []*chain.VerifiedTx) {
	t.Helper()
	p, m := params.Default(), newState()
	p.Actor.BlockCycles, p.Actor.BlockCyclesBurst = 1<<40, 1<<41
	p.Actor.MessageReserveCycles = 1_000_000
	in := inputs(&p, 1)
	in.Engine = engines(t, 1)[0]
	d := &actor.Deployment{
		Source: []byte(mine), Manifest: manifest.Manifest("storage.kv"),
		Init: &actor.Init{Handler: "init", Payload: cbor.AppendNull(nil)},
	}
	tx := &chain.Tx{Payload: actor.AppendPayload(nil, d), CyclesLimit: 3_000_000, CellsLimit: 100_000}
	r, err := exec.Apply(m, in, []*chain.VerifiedTx{verified(tx, user(0))})
	if err != nil || r.Receipts[0].Code != chain.CodeOK {
		t.Fatal(err, r.Receipts)
	}
	m.Write(r.Delta)
	in.Height = 2
	to := actor.AddressOf(user(0), d.Salt, d.Source)
	arg := cbor.AppendUint(cbor.AppendBytes(cbor.AppendArray(nil, 2), to[:]), uint64(depth))
	var txs []*chain.VerifiedTx
	for i := range n {
		from := chain.Address{0xdd, byte(i), 19: 1}
		m.Accounts[from] = m.Accounts[user(0)]
		tx := &chain.Tx{Nonce: 1, To: &to, Payload: actor.AppendMessage(nil, "dig", arg), CyclesLimit: 3_000_000, CellsLimit: 5000}
		txs = append(txs, verified(tx, from))
	}
	return m, in, txs
}

// TestDeepCallsWaitAtTheirTurnAlone: in a block of messages that conflict and call deep, each waits
// for the machines of such calls once, at its turn. Ahead of that only the workers' first
// attempts ask for them. So none of those at their turn finds a queue of executions in vain before
// it: that took up to twice the time of a block that is executed one by one. The result is the
// same, and nobody is blamed.
func TestDeepCallsWaitAtTheirTurnAlone(t *testing.T) {
	const n = 16
	m, in, txs := deepBlock(t, n, 12)
	r, err := exec.Apply(m, in, txs)
	if err != nil || r.Receipts[0].Code != chain.CodeOK {
		t.Fatal(err, r.Receipts)
	}
	want := text(r, nil)
	rt, err := pvm.NewRuntime([2]uint64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{}
	pool := pvm.NewEngines(4, rt, &sharedCache{Cache: pvm.NewLRU(1 << 20)}, pvm.DefaultLimits(), g)
	for _, mode := range []parallel.Mode{parallel.Planned, parallel.Optimistic} {
		for _, workers := range []int{1, 2, 4} {
			for _, busy := range []bool{true, false} {
				name := fmt.Sprintf("%v with %d, busy %v", mode, workers, busy)
				g.busy = busy
				g.tries.Store(0)
				g.waits.Store(0)
				x, err := parallel.New(parallel.Config{Mode: mode, Workers: workers}, pool[:workers])
				if err != nil {
					t.Fatal(err)
				}
				x.Shake(shaker(uint64(workers)))
				if got := text(x.Apply(m, in, txs)); got != want {
					t.Fatalf("%s: %s", name, difference(got, want))
				}
				s := x.Stats()
				tries, waits := int(g.tries.Load()), int(g.waits.Load())
				t.Logf("%s: %d tries, %d waits, %d executions, %d again, %d alone", name, tries, waits, s.Executions, s.Reexecuted, s.Alone)
				if workers == 1 && (s.Executions != n || s.Alone != 0) {
					t.Errorf("%s: every message is at its turn, and some were refused: %+v", name, s)
				}
				if !busy {
					continue
				}
				if waits != n || tries > n+workers {
					t.Errorf("%s: %d tries, %d waits, want %d and at most %d", name, tries, waits, n+workers, n)
				}
				if s.Reexecuted != 0 || s.Abandoned != 0 || s.Executions > 2*n {
					t.Errorf("%s: %+v", name, s)
				}
				out, err := x.Build(m, in, &order.Selection{Txs: txs}, exec.Watch{})
				if got := text(out.Result, err); got != want || len(out.Skipped) != 0 {
					t.Errorf("%s, built: %d skipped, %s", name, len(out.Skipped), difference(got, want))
				}
			}
		}
	}
}
