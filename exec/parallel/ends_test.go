package parallel_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/parallel"
	"github.com/cowboy-foundation/cowboy/state"
)

// rotten is a state in which one account cannot be read.
type rotten struct {
	state.View
	bad    chain.Address
	panics bool
}

var errRot = errors.New("sector not found")

func (r *rotten) Account(addr chain.Address) (state.Account, bool, error) {
	if addr != r.bad {
		return r.View.Account(addr)
	}
	if r.panics {
		panic(errRot)
	}
	return state.Account{}, false, errRot
}

// TestFaultsAndPanics: what ends a sequential execution ends a parallel one in the
// same way, and only if it comes first.
func TestFaultsAndPanics(t *testing.T) {
	bad := chain.Address{0xbb, 19: 1}
	transfer := func(from int, to chain.Address, nonce uint64) *chain.VerifiedTx {
		return verified(&chain.Tx{Nonce: nonce, To: &to, Value: 5, CyclesLimit: 21_000}, user(from))
	}
	well := func(n int) (txs []*chain.VerifiedTx) {
		for i := range n {
			txs = append(txs, transfer(i%users, chain.Address{0xcc, byte(i)}, uint64(i/users)))
		}
		return txs
	}
	p := params.Default()
	pool := engines(t, 5)
	for _, c := range []struct {
		name string
		txs  []*chain.VerifiedTx
	}{
		{"in the middle", append(append(well(12), transfer(0, bad, 2)), transfer(1, bad, 2))},
		{"first of all", append([]*chain.VerifiedTx{transfer(0, bad, 0)}, well(12)[1:]...)},
		{"after an invalid transaction", append(append(well(12), transfer(0, user(1), 9)), transfer(1, bad, 2))},
		{"at the end of the block", append(well(12), transfer(0, bad, 2))},
	} {
		for _, panics := range []bool{false, true} {
			view := &rotten{newState(), bad, panics}
			in := inputs(&p, 1)
			in.Engine = pool[0]
			want := ending(func() (exec.Result, error) { return exec.Apply(view, in, c.txs) })
			for _, mode := range []parallel.Mode{parallel.Planned, parallel.Optimistic} {
				for _, workers := range []int{1, 2, 4} {
					x, err := parallel.New(parallel.Config{Mode: mode, Workers: workers}, pool[1:1+workers])
					if err != nil {
						t.Fatal(err)
					}
					x.Shake(shaker(uint64(workers)))
					if got := ending(func() (exec.Result, error) { return x.Apply(view, inputs(&p, 1), c.txs) }); got != want {
						t.Errorf("%s, panics %v, %v with %d workers: %s, want %s", c.name, panics, mode, workers, got, want)
					}
				}
			}
		}
	}
}

func ending(run func() (exec.Result, error)) (end string) {
	defer func() {
		if p := recover(); p != nil {
			end = fmt.Sprint("panic: ", p)
		}
	}()
	return text(run())
}

// TestBuildLeavesOutFaults: a proposer's block is the one without the transactions
// that end in a fault or a panic, with the sender's money as it was.
func TestBuildLeavesOutFaults(t *testing.T) {
	bad := chain.Address{0xbb, 19: 1}
	pay := func(from int, to chain.Address, nonce uint64) *chain.VerifiedTx {
		return verified(&chain.Tx{Nonce: nonce, To: &to, Value: 5, CyclesLimit: 21_000}, user(from))
	}
	var good, all []*chain.VerifiedTx
	for i := range 24 {
		tx := pay(i%users, chain.Address{0xcc, byte(i)}, uint64(i/users))
		if good, all = append(good, tx), append(all, tx); i%5 == 0 {
			all = append(all, verified(&chain.Tx{To: &bad, Value: 5, CyclesLimit: 21_000}, chain.Address{0xdd, byte(i), 19: 1}))
		}
	}
	p := params.Default()
	pool := engines(t, 5)
	for _, panics := range []bool{false, true} {
		m := newState()
		for i := range 24 {
			a := state.NewAccount()
			a.Balance = rich
			m.Accounts[chain.Address{0xdd, byte(i), 19: 1}] = a
		}
		view := &rotten{m, bad, panics}
		in := inputs(&p, 1)
		in.Engine = pool[0]
		want := text(exec.Apply(view, in, good))
		sel := &order.Selection{Txs: all}
		check := func(by string, out exec.Built, err error) {
			t.Helper()
			if got := text(out.Result, err); got != want {
				t.Errorf("panics %v, %s: %s, want %s", panics, by, got, want)
			}
			if len(out.Skipped) != len(all)-len(good) {
				t.Errorf("panics %v, %s: %d refused, want %d", panics, by, len(out.Skipped), len(all)-len(good))
			}
			for _, r := range out.Skipped {
				var stack *exec.Panic
				if !errors.As(r, new(*exec.Fault)) || errors.As(r, &stack) != panics || *all[r.Index].Tx.To != bad || exec.MayPass(r) {
					t.Errorf("panics %v, %s: transaction %d: %v", panics, by, r.Index, r)
				}
				if panics && !strings.Contains(stack.Stack, "rotten") {
					t.Errorf("%s: the stack does not say where: %s", by, stack.Stack)
				}
			}
		}
		out, err := exec.Build(view, in, sel, exec.Watch{})
		check("one by one", out, err)
		for _, mode := range []parallel.Mode{parallel.Planned, parallel.Optimistic} {
			for _, workers := range []int{1, 2, 4} {
				x, err := parallel.New(parallel.Config{Mode: mode, Workers: workers}, pool[1:1+workers])
				if err != nil {
					t.Fatal(err)
				}
				x.Shake(shaker(uint64(workers)))
				out, err := x.Build(view, inputs(&p, 1), sel, exec.Watch{})
				check(fmt.Sprintf("%v with %d workers", mode, workers), out, err)
			}
		}
	}
}

// TestGivesUp: a block that is all conflicts, none of them foreseen, is finished
// one by one after a few; where all are before one actor, auto does not try.
func TestGivesUp(t *testing.T) {
	pool := engines(t, 3)
	p, m := params.Default(), newState()
	p.Actor.BlockCycles, p.Actor.BlockCyclesBurst = 1<<40, 1<<41
	p.Actor.MessageReserveCycles = 60_000
	in := inputs(&p, 1)
	in.Engine = pool[2]
	d := deployment(1, "econ.hold_balance", "econ.transfer", "storage.kv")
	tx := &chain.Tx{Payload: actor.AppendPayload(nil, d), CyclesLimit: 3_000_000, CellsLimit: 100_000}
	r, err := exec.Apply(m, in, []*chain.VerifiedTx{verified(tx, user(0))})
	if err != nil || r.Receipts[0].Code != chain.CodeOK {
		t.Fatal(err, r.Receipts)
	}
	m.Write(r.Delta)
	to := actor.AddressOf(user(0), d.Salt, d.Source)
	var txs []*chain.VerifiedTx
	const calls = 60 // enough for auto to try
	for i := range calls {
		from := chain.Address{0xdd, byte(i), 19: 1}
		a := state.NewAccount()
		a.Balance = rich
		m.Accounts[from] = a
		arg := argument(to, 1, 1)
		txs = append(txs, verified(&chain.Tx{To: &to, Payload: actor.AppendMessage(nil, "bump", arg), CyclesLimit: 400_000, CellsLimit: 5000}, from))
	}
	in.Height = 2
	want := text(exec.Apply(m, in, txs))
	for _, mode := range []parallel.Mode{parallel.Optimistic, parallel.Planned} {
		x, err := parallel.New(parallel.Config{Mode: mode, Workers: 2}, pool[:2])
		if err != nil {
			t.Fatal(err)
		}
		x.Shake(shaker(3))
		if got := text(x.Apply(m, in, txs)); got != want || strings.HasPrefix(want, "error") {
			t.Errorf("%v: %s", mode, difference(got, want))
		}
		if s := x.Stats(); s.Reexecuted > 16 || mode == parallel.Planned && (s.Reexecuted != 0 || s.Executions != calls) {
			t.Errorf("%v: %+v", mode, s)
		}
	}
	x, err := parallel.New(parallel.Config{Mode: parallel.Auto, Workers: 2}, pool[:2])
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := text(x.Apply(m, in, txs)); got != want {
			t.Error(difference(got, want))
		}
	}
	if s := x.Stats(); s.Parallel != 0 {
		t.Errorf("all wait for one another, and auto tries: %+v", s)
	}
}

// TestTargetsInArgumentsAreForeseen: a handler that calls whom its argument names is
// soon expected to, whomever that is.
func TestTargetsInArgumentsAreForeseen(t *testing.T) {
	const salts = 4
	pool := engines(t, 3)
	p, m := params.Default(), newState()
	p.Actor.BlockCycles, p.Actor.BlockCyclesBurst = 1<<40, 1<<41
	in := inputs(&p, 1)
	in.Engine = pool[2]
	var deploy []*chain.VerifiedTx
	var actors []chain.Address
	for i := range users * salts {
		d := deployment(byte(i), "econ.hold_balance", "econ.transfer", "storage.kv")
		actors = append(actors, actor.AddressOf(user(i%users), d.Salt, d.Source))
		tx := &chain.Tx{Nonce: uint64(i / users), Payload: actor.AppendPayload(nil, d), CyclesLimit: 3_000_000, CellsLimit: 100_000}
		deploy = append(deploy, verified(tx, user(i%users)))
	}
	r, err := exec.Apply(m, in, deploy)
	if err != nil {
		t.Fatal(err)
	}
	m.Write(r.Delta)
	callers, targets := actors[:len(actors)/2], actors[len(actors)/2:]
	x, err := parallel.New(parallel.Config{Mode: parallel.Planned, Workers: 2}, pool[:2])
	if err != nil {
		t.Fatal(err)
	}
	var learned parallel.Stats
	for round := range 12 {
		var txs []*chain.VerifiedTx
		for i := range callers {
			arg := argument(targets[(i/2+round)%len(targets)], 0, 1) // two call each
			tx := &chain.Tx{Nonce: salts + uint64(i/users), To: &callers[i], Payload: actor.AppendMessage(nil, "ask", arg), CyclesLimit: 400_000, CellsLimit: 5000}
			txs = append(txs, verified(tx, user(i%users)))
		}
		in.Height = 2
		want := text(exec.Apply(m, in, txs))
		if got := text(x.Apply(m, in, txs)); got != want || strings.HasPrefix(want, "error") {
			t.Fatal(difference(got, want))
		}
		if round == 7 {
			learned = x.Stats()
		}
	}
	if s := x.Stats(); s.Reexecuted != learned.Reexecuted || s.Mispredicted != learned.Mispredicted || s.Waited == learned.Waited {
		t.Errorf("still not foreseen: %+v, then %+v", learned, s)
	}
}

// TestPayersOfOneDoNotWait: credits to one account concern each other neither where
// they run first of all nor in what is remembered of them.
func TestPayersOfOneDoNotWait(t *testing.T) {
	pool := engines(t, 3)
	p, m := params.Default(), newState()
	in := inputs(&p, 1)
	in.Engine = pool[2]
	hot := chain.Address{7, 19: 7}
	there := state.NewAccount()
	there.Balance = 1 // whoever made the account would pay for it
	m.Accounts[hot] = there
	var deploy, pay []*chain.VerifiedTx
	for i := range users {
		d := deployment(1, "econ.hold_balance", "econ.transfer", "storage.kv")
		to := actor.AddressOf(user(i), d.Salt, d.Source)
		deploy = append(deploy, verified(&chain.Tx{Payload: actor.AppendPayload(nil, d), Value: 1000, CyclesLimit: 3_000_000, CellsLimit: 100_000}, user(i)))
		call := &chain.Tx{Nonce: 1, To: &to, Payload: actor.AppendMessage(nil, "pay", argument(hot, 1, 1)), CyclesLimit: 400_000, CellsLimit: 5000}
		pay = append(pay, verified(call, user(i)))
	}
	r, err := exec.Apply(m, in, deploy)
	if err != nil {
		t.Fatal(err)
	}
	m.Write(r.Delta)
	in.Height = 2
	want := text(exec.Apply(m, in, pay))
	x, err := parallel.New(parallel.Config{Mode: parallel.Planned, Workers: 2}, pool[:2])
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		if got := text(x.Apply(m, in, pay)); got != want || strings.HasPrefix(want, "error") {
			t.Fatal(difference(got, want))
		}
	}
	if s := x.Stats(); s.Waited != 0 || s.Executions != 4*users {
		t.Errorf("%+v", s)
	}
}

func TestConfig(t *testing.T) {
	for _, m := range []parallel.Mode{parallel.Auto, parallel.Sequential, parallel.Planned, parallel.Optimistic} {
		if got, err := parallel.ParseMode(m.String()); err != nil || got != m {
			t.Errorf("%v: %v, %v", m, got, err)
		}
	}
	if _, err := parallel.ParseMode("fast"); !errors.Is(err, parallel.ErrMode) {
		t.Errorf("fast: %v", err)
	}
	for _, c := range []parallel.Config{{Workers: 0}, {Workers: 257}, {Mode: 9, Workers: 1}} {
		if c.Check() == nil {
			t.Errorf("%+v passes", c)
		}
	}
	if _, err := parallel.New(parallel.DefaultConfig(2), nil); !errors.Is(err, parallel.ErrWorkers) {
		t.Errorf("without engines: %v", err)
	}
}

// TestEmptiedExecutionsAreBounded: however many blocks there are, a worker that commits more
// than it executes keeps no more executions than can be under way.
func TestEmptiedExecutionsAreBounded(t *testing.T) {
	const workers, blocks, each = 4, 100, 60
	p, m := params.Default(), newState()
	in := inputs(&p, 1)
	var pay []*chain.VerifiedTx
	for n := range each {
		for i := range users {
			to := chain.Address{9, byte(n), 19: byte(i + 1)}
			pay = append(pay, verified(&chain.Tx{Nonce: uint64(n), To: &to, Value: 1, CyclesLimit: 30_000, CellsLimit: 500}, user(i)))
		}
	}
	x, err := parallel.New(parallel.Config{Mode: parallel.Planned, Workers: workers}, engines(t, workers))
	if err != nil {
		t.Fatal(err)
	}
	for range blocks {
		if _, err := x.Apply(m, in, pay); err != nil {
			t.Fatal(err)
		}
	}
	if n := x.Emptied(); n > 64 {
		t.Errorf("a worker keeps %d emptied executions after %d blocks of %d transactions", n, blocks, len(pay))
	}
}
