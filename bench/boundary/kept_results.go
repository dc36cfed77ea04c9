package boundary

import (
	"bytes"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// keptJob is the job whose result is kept in [keptCases].
var keptJob = chain.Hash{0: 0x4b}

// keptCases read the longest result that is kept of a job: the actor's own as text and as
// JSON, another's, which is refused, and one that is not there.
func keptCases() (list []Case) {
	for _, k := range []struct {
		name   string
		to     chain.Address // zero: who reads
		format chain.DataFormat
	}{
		{"job_result", chain.Address{}, chain.FormatText},
		{"job_result-json", chain.Address{}, chain.FormatJSON},
		{"job_result-anothers", Bob, chain.FormatText},
	} {
		c := call{name: k.name, body: fmt.Sprintf("try:\n    job_result('%s')\nexcept CowboyError:\n    pass", keptJob)}
		list = append(list, Case{Name: k.name, Group: GroupCall, Setup: func(g *Ground) (func() []*chain.VerifiedTx, error) {
			to := k.to
			if to == (chain.Address{}) {
				to = actor.AddressOf(Alice, fmt.Append(nil, "caller", g.salts+1), []byte(c.source()))
			}
			data := bytes.Repeat([]byte("x"), chain.MaxReturnBytes)
			if k.format == chain.FormatJSON {
				data = append(append([]byte{'['}, bytes.Repeat([]byte("0.5,"), chain.MaxReturnBytes/4-1)...), "1]"...)
			}
			if err := g.write(func(o *state.Overlay) {
				(&jobs.Book{State: o}).PutKept(keptJob, &jobs.Kept{To: to, Format: k.format, Data: data})
			}); err != nil {
				return nil, err
			}
			return g.looped(&c, null())
		}})
	}
	none := call{name: "job_result-none", body: "try:\n    job_result('0x%064x' % i)\nexcept CowboyError:\n    pass"}
	return append(list, Case{Name: none.name, Group: GroupCall, Setup: func(g *Ground) (func() []*chain.VerifiedTx, error) {
		return g.looped(&none, null())
	}})
}

// write keeps a block that writes what no transaction does.
func (g *Ground) write(do func(o *state.Overlay)) error {
	o := state.NewOverlay(g.State)
	do(o)
	next, err := g.State.Apply(o.Delta())
	if err == nil {
		g.Height++
		err = g.store.Commit(next, store.BlockRecord{Height: g.Height, Digest: keccak.Sum256(fmt.Append(nil, g.Height)), Block: []byte{1}})
	}
	if err != nil {
		return fmt.Errorf("write block %d: %w", g.Height, err)
	}
	g.State = next
	return nil
}
