package trial_test

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/node/trial"
	"github.com/cowboy-foundation/cowboy/state"
)

const source = `
from cowboy_sdk import actor, public, send

@actor
class A:
    @public
    def get(self, msg):
        return self.storage.get("n", 0) + (msg.payload or 0)
    @public
    def put(self, msg):
        self.storage["n"] = msg.payload
        return msg.payload
    @public
    def tell(self, msg):
        send(self.address, 1, "put", cycles=500_000)
    @public
    def shout(self, msg):
        send(self.address, 1, "put", cycles=1_300_000)
    @public
    def spin(self, msg):
        while True: pass
`

var (
	alice = chain.Address{0: 0xa1}
	poor  = chain.Address{0: 0xb0}

	anyone netip.Addr // no client is known
)

func newEngine() (*pvm.Engine, error) {
	rt, err := pvm.NewRuntime([2]uint64{1, 2})
	if err != nil {
		return nil, err
	}
	return pvm.NewEngine(rt, pvm.NewLRU(1<<20), pvm.DefaultLimits()), nil
}

// bench returns a running bench on a state with one actor.
func bench(t *testing.T, change func(*trial.Config)) (*trial.Bench, chain.Address, *state.Overlay) {
	t.Helper()
	p := genesis.DevnetTemplate().Params
	o := state.NewOverlay(state.Empty{})
	rich := state.NewAccount()
	rich.Balance = 1000 * chain.WeiPerCBY
	o.SetAccount(alice, rich)
	supply := cbor.AppendUints(nil, uint64(rich.Balance), 0, 0, 0, uint64(rich.Balance)) // issued, burned, year, total at its start
	o.SetStorage(chain.AddrTreasury, state.NewStorageKey(state.VMNamespaceSystem, []byte("supply")), supply)
	in := exec.Inputs{Params: &p, ChainID: 7, Height: 5, TimestampMillis: 9}
	for lane := range in.BaseFees {
		in.BaseFees[lane] = chain.FeePair{PerCycle: 2, PerCell: 3}
	}
	e, err := newEngine()
	if err != nil {
		t.Fatal(err)
	}
	block := actor.NewBlock(actor.Block{Params: &p, ChainID: 7, Height: 5})
	out, err := actor.NewRun(block, o, e, actor.Start{Origin: alice, Cycles: 5_000_000, Cells: 100_000}).Deploy(
		&actor.Deployment{Creator: alice, Source: []byte(source), Manifest: manifest.Manifest("storage.kv")})
	if err != nil || out.Code != chain.CodeOK {
		t.Fatal(out, err)
	}
	cfg := trial.DefaultConfig()
	cfg.Workers, cfg.Engine = 1, newEngine
	cfg.AtHead = func(_ context.Context, try func(trial.Head) error) error {
		return try(trial.Head{State: o, Inputs: in})
	}
	if change != nil {
		change(&cfg)
	}
	b, err := trial.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- b.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return b, out.Actor, o
}

func TestRead(t *testing.T) {
	b, addr, o := bench(t, nil)
	before := o.Delta()
	ask := func(handler string, arg []byte) trial.Answer {
		t.Helper()
		a, err := b.Read(t.Context(), trial.Question{Actor: addr, Handler: handler, Payload: arg, Cycles: 300_000})
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	if a := ask("get", cbor.AppendUint(nil, 3)); a.Code != chain.CodeOK || string(a.Output) != "\x03" || a.Height != 4 || a.Used.Cycles == 0 {
		t.Errorf("get: %+v", a)
	}
	if a := ask("put", cbor.AppendUint(nil, 3)); a.Code == chain.CodeOK || !strings.Contains(a.Detail, "ReadOnlyCall") {
		t.Errorf("a write in a call that only reads: %+v", a)
	}
	if a := ask("tell", nil); a.Code == chain.CodeOK {
		t.Errorf("a message in a call that only reads: %+v", a)
	}
	if a := ask("spin", nil); a.Code != chain.CodeCyclesExhausted || a.Used.Cycles != 300_000 {
		t.Errorf("spin: code %d, %+v", a.Code, a.Used)
	}
	most := genesis.DevnetTemplate().Params.MaxTxCycles
	for _, c := range []struct{ limit, used chain.Cycles }{{0, most}, {most - 1, most - 1}, {most, most}, {most + 1, most}} {
		a, err := b.Read(t.Context(), trial.Question{Actor: addr, Handler: "spin", Cycles: c.limit})
		if err != nil || a.Code != chain.CodeCyclesExhausted || a.Used.Cycles != c.used {
			t.Errorf("a limit of %d cycles: code %d, %d used, %v, want %d", c.limit, a.Code, a.Used.Cycles, err, c.used)
		}
	}
	if a := ask("missing", nil); a.Code != chain.CodeNoHandler {
		t.Errorf("missing: %+v", a)
	}
	if a := ask("get", []byte{0xff}); a.Code == chain.CodeOK {
		t.Errorf("a payload that is no value: %+v", a)
	}
	if a, err := b.Read(t.Context(), trial.Question{Actor: alice, Handler: "get"}); err != nil || a.Code != chain.CodeNoCode {
		t.Errorf("an account without code: %+v, %v", a, err)
	}
	if len(o.Delta().Accounts()) != len(before.Accounts()) {
		t.Error("a call that only reads changed the state")
	}
}

func TestEstimate(t *testing.T) {
	b, addr, o := bench(t, nil)
	message := func(handler string, arg []byte) chain.Tx {
		return chain.Tx{To: &addr, Payload: actor.AppendMessage(nil, handler, arg)}
	}
	q, err := b.Estimate(t.Context(), anyone, alice, message("put", cbor.AppendUint(nil, 3)))
	if err != nil || q.Code != chain.CodeOK || string(q.Output) != "\x03" || q.Short != 0 || q.Suggested != q.Used {
		t.Fatalf("put: %+v, %v", q, err)
	}
	if want := chain.Wei(2*q.Used.Cycles) + chain.Wei(3*q.Used.Cells); q.Fee != want {
		t.Errorf("fee %d, want %d", q.Fee, want)
	}
	if v, err := o.Storage(addr, state.NewStorageKey(state.VMNamespacePVM, []byte("n"))); err != nil || v != nil {
		t.Errorf("an estimate wrote %x, %v", v, err)
	}
	q, err = b.Estimate(t.Context(), anyone, poor, message("put", nil))
	if err != nil || q.Code != chain.CodeOK || q.Short != q.Fee || q.Fee == 0 {
		t.Errorf("of one who cannot pay: %+v, %v", q, err)
	}
	if q, err := b.Estimate(t.Context(), anyone, alice, message("missing", nil)); err != nil || q.Code != chain.CodeNoHandler {
		t.Errorf("missing: %+v, %v", q, err)
	}
	bad := map[string]chain.Tx{
		"payload":   {To: &addr, Payload: []byte{0xff}},
		"limit":     {To: &addr, Payload: message("put", nil).Payload, CyclesLimit: 1 << 60},
		"intrinsic": {To: &addr, Payload: message("put", nil).Payload, CyclesLimit: 1},
		"system":    {To: &chain.AddrTreasury, Payload: []byte{0x81, 0x01}},
		"deploy":    {Payload: []byte{0x84}},
		"value":     {To: &poor, Value: 1<<64 - 1},
	}
	for name, tx := range bad {
		var invalid *exec.InvalidTx
		if q, err := b.Estimate(t.Context(), anyone, alice, tx); !errors.As(err, &invalid) {
			t.Errorf("%s: %+v, %v", name, q, err)
		}
	}
	if _, err := b.Estimate(t.Context(), anyone, alice, bad["intrinsic"]); !errors.As(err, new(*fees.IntrinsicError)) {
		t.Errorf("below the intrinsic cost: %v", err)
	}
}

// TestSuggestedLimits: messages reserve cycles that come back. With what is suggested
// the transaction does the same, with an eighth less it does not.
func TestSuggestedLimits(t *testing.T) {
	b, addr, _ := bench(t, nil)
	for handler, reserved := range map[string]chain.Cycles{"tell": 500_000, "shout": 1_300_000} {
		try := func(limits chain.Usage) trial.Quote {
			t.Helper()
			q, err := b.Estimate(t.Context(), anyone, alice, chain.Tx{
				To: &addr, Payload: actor.AppendMessage(nil, handler, nil), CyclesLimit: limits.Cycles, CellsLimit: limits.Cells,
			})
			if err != nil {
				t.Fatalf("%s: %v", handler, err)
			}
			return q
		}
		q := try(chain.Usage{})
		limits := q.Suggested
		if q.Code != chain.CodeOK || len(q.Trace) != 1 || limits.Cycles < q.Used.Cycles+reserved/2 || limits.Cells != q.Used.Cells {
			t.Errorf("%s: %+v", handler, q)
		}
		if again := try(limits); again.Code != q.Code || again.Used != q.Used {
			t.Errorf("%s: at the suggested limits %+v, want %+v", handler, again.Estimation, q.Estimation)
		}
		limits.Cycles -= limits.Cycles/9 + 1
		if again := try(limits); again.Code == q.Code && again.Used == q.Used {
			t.Errorf("%s: does the same with %+v, and %+v are suggested", handler, limits, q.Suggested)
		}
	}
}

// broken is a state with one account that panics.
type broken struct {
	state.View
	bad chain.Address
}

func (b broken) Account(a chain.Address) (state.Account, bool, error) {
	if a == b.bad {
		panic("broken invariant")
	}
	return b.View.Account(a)
}

// TestPanic: a trial that panics is its asker's error, with the stack, and the one
// worker goes on.
func TestPanic(t *testing.T) {
	bad := chain.Address{0: 0xbb}
	engines := 0
	b, addr, _ := bench(t, func(c *trial.Config) {
		atHead := c.AtHead
		c.AtHead = func(ctx context.Context, try func(trial.Head) error) error {
			return atHead(ctx, func(h trial.Head) error { h.State = broken{h.State, bad}; return try(h) })
		}
		c.Engine = func() (*pvm.Engine, error) { engines++; return newEngine() }
	})
	for range 3 {
		p := new(exec.Panic)
		if _, err := b.Read(t.Context(), trial.Question{Actor: bad, Handler: "get"}); !errors.As(err, &p) || !strings.Contains(p.Stack, "broken") {
			t.Errorf("a read that panics: %v", err)
		}
		if _, err := b.Estimate(t.Context(), anyone, alice, chain.Tx{To: &bad, Value: 1}); !errors.As(err, &p) {
			t.Errorf("an estimate that panics: %v", err)
		}
		if a, err := b.Read(t.Context(), trial.Question{Actor: addr, Handler: "get"}); err != nil || a.Code != chain.CodeOK {
			t.Errorf("afterwards: %+v, %v", a, err)
		}
	}
	if engines != 7 {
		t.Errorf("%d engines, want a fresh one after each of six panics", engines)
	}
}

func TestBusyAndStopped(t *testing.T) {
	began, hold := make(chan struct{}), make(chan struct{})
	var once sync.Once
	b, addr, _ := bench(t, func(c *trial.Config) {
		atHead := c.AtHead
		c.Queue = 1
		c.AtHead = func(ctx context.Context, try func(trial.Head) error) error {
			once.Do(func() { close(began); <-hold })
			return atHead(ctx, try)
		}
	})
	q := trial.Question{Actor: addr, Handler: "get"}
	ended := make(chan error, 2)
	go func() { _, err := b.Read(t.Context(), q); ended <- err }()
	<-began
	left, leave := context.WithCancel(t.Context())
	go func() { _, err := b.Read(left, q); ended <- err }()
	leave()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("one who left: %v", err)
	}
	full := false // the place of the one who left is taken until a worker has seen it
	for range 3 {
		short, cancel := context.WithCancel(t.Context())
		cancel()
		_, err := b.Read(short, q)
		full = full || errors.Is(err, trial.ErrBusy)
	}
	if !full {
		t.Error("a full queue takes more")
	}
	close(hold)
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := trial.New(trial.Config{}); err == nil {
		t.Error("a bench without workers")
	}
}
