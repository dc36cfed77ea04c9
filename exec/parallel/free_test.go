package parallel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/parallel"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
)

// counting counts what is compiled.
type counting struct {
	pvm.Cache
	compiled *int
}

func (c counting) Put(p *pvm.Program) {
	*c.compiled++
	c.Cache.Put(p)
}

// TestNobodyCompilesForNothing: what is taken for paid for is not compiled for who could
// not pay for it themselves. Two messages to each code, neither of which can pay for its
// first use, would else have it compiled for the second.
func TestNobodyCompilesForNothing(t *testing.T) {
	const codes = 24
	rt, err := pvm.NewRuntime([2]uint64{1, 2})
	if err != nil {
		t.Fatal(err)
	}
	var compiled [3]int
	list := make([]*pvm.Engine, len(compiled))
	for i := range list {
		list[i] = pvm.NewEngine(rt, counting{pvm.NewLRU(0), &compiled[i]}, pvm.DefaultLimits())
	}
	p, m := params.Default(), newState()
	in := inputs(&p, 1)
	in.Engine = list[2]
	var deploy, txs []*chain.VerifiedTx
	nonces := map[int]uint64{}
	send := func(u int, tx chain.Tx) *chain.VerifiedTx {
		tx.Nonce = nonces[u]
		nonces[u]++
		return verified(&tx, user(u))
	}
	var actors []chain.Address
	for i := range 2 * codes {
		d := &actor.Deployment{Source: fmt.Appendf(nil, "from cowboy_sdk import public\n@public\ndef go(msg):\n    pass\n#%d", i/2), Salt: []byte{byte(i)}, Manifest: manifest.Manifest("storage.kv")}
		actors = append(actors, actor.AddressOf(user(i%users), d.Salt, d.Source))
		deploy = append(deploy, send(i%users, chain.Tx{Payload: actor.AppendPayload(nil, d), CyclesLimit: 1_000_000, CellsLimit: 20_000}))
	}
	r, err := exec.Apply(m, in, deploy)
	if err != nil {
		t.Fatal(err)
	}
	m.Write(r.Delta)
	for i := range actors {
		u := i % users
		txs = append(txs, send(u, chain.Tx{To: &actors[i], Payload: actor.AppendMessage(nil, "go", cbor.AppendNull(nil)), CyclesLimit: p.Intrinsic.MessageCycles + 100, CellsLimit: 1_000}))
	}
	in.Height = 2
	want := text(exec.Apply(m, in, txs))
	if strings.HasPrefix(want, "error") {
		t.Fatal(want)
	}
	for _, mode := range []parallel.Mode{parallel.Planned, parallel.Optimistic} {
		compiled = [3]int{}
		x, err := parallel.New(parallel.Config{Mode: mode, Workers: 2}, list[:2])
		if err != nil {
			t.Fatal(err)
		}
		if got := text(x.Apply(m, in, txs)); got != want {
			t.Fatal(difference(got, want))
		}
		if compiled != [3]int{} {
			t.Errorf("%v: %v compiled, which nobody has paid for", mode, compiled)
		}
	}
}
