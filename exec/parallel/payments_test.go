package parallel_test

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/parallel"
)

// TestPaymentsAreNotSpeculatedOn: of a block of messages and payments only the messages are
// executed on overlays of their own, each once, and payments that do not succeed.
func TestPaymentsAreNotSpeculatedOn(t *testing.T) {
	pool := engines(t, 3)
	p, m := params.Default(), newState()
	in := inputs(&p, 1)
	in.Engine = pool[2]
	var deploy, mixed []*chain.VerifiedTx
	for i := range users {
		d := deployment(1, "econ.hold_balance", "storage.kv")
		to, payee := actor.AddressOf(user(i), d.Salt, d.Source), user((i+1)%users)
		deploy = append(deploy, verified(&chain.Tx{Payload: actor.AppendPayload(nil, d), CyclesLimit: 3_000_000, CellsLimit: 100_000}, user(i)))
		mixed = append(mixed,
			verified(&chain.Tx{Nonce: 1, To: &payee, Value: 7, CyclesLimit: 21_000}, user(i)),
			verified(&chain.Tx{Nonce: 2, To: &to, Payload: actor.AppendMessage(nil, "bump", argument(payee, 1, 1)), CyclesLimit: 400_000, CellsLimit: 5000}, user(i)),
			verified(&chain.Tx{Nonce: 3, To: &to, Value: 1, CyclesLimit: 21_000}, user(i))) // to code: no payment after all
	}
	r, err := exec.Apply(m, in, deploy)
	if err != nil {
		t.Fatal(err)
	}
	m.Write(r.Delta)
	in.Height = 2
	want := text(exec.Apply(m, in, mixed))
	for _, mode := range []parallel.Mode{parallel.Planned, parallel.Optimistic} {
		x, err := parallel.New(parallel.Config{Mode: mode, Workers: 1}, pool[:1]) // so that nothing conflicts
		if err != nil {
			t.Fatal(err)
		}
		if got := text(x.Apply(m, in, mixed)); got != want {
			t.Fatal(difference(got, want))
		}
		if s := x.Stats(); s.Executions-s.Reexecuted != 2*users || s.Alone != users {
			t.Errorf("%v: %+v, want %d executions, %d of them alone", mode, s, 2*users, users)
		}
	}
}
