package exec_test

import (
	"encoding/binary"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/rent"
	"github.com/cowboy-foundation/cowboy/exec/timers"
	"github.com/cowboy-foundation/cowboy/state"
)

// broke makes n actors that cannot pay their rent, each with so many timers asleep.
func (r *ranch) broke(n, each int) {
	r.t.Helper()
	must := func(err error) {
		r.t.Helper()
		if err != nil {
			r.t.Fatal(err)
		}
	}
	p := &r.g.Params
	o := state.NewOverlay(r.ground)
	clock := timers.Clock{Params: p, Height: r.height, Base: r.base}
	var held chain.Wei
	for i := range n {
		a := chain.Address{0: 0xab}
		binary.BigEndian.PutUint32(a[16:], uint32(i))
		account := state.NewAccount()
		account.CodeHash = chain.Hash{1}
		o.SetAccount(a, account)
		for k := range byte(3) {
			o.SetStorage(a, state.NewStorageKey(state.VMNamespacePVM, []byte{k}), make([]byte, 6_000))
		}
		for k := range each {
			late := chain.Height(5_000 + 7*k + 11*i) // in the queue of epochs and beyond
			_, bill, err := timers.Set(o, clock, timers.Spec{Actor: a, To: a, Height: r.height + late, Handler: "add", Limits: timers.Limits(p, chain.Usage{})})
			must(err)
			held += bill.Lock
		}
	}
	_, err := o.AddBalance(chain.AddrTimers, held)
	must(err)
	must((&rent.Block{State: o, Params: p, Height: r.height}).End(r.ground))
	must(r.ground.Write(o.Delta()))
}

// TestEvictionsEndTimersInParts holds the heaviest block of a crowd's evictions to what
// the eviction of one reads and writes that has as many timers as an actor may set; in
// the end all have their deposits.
func TestEvictionsEndTimersInParts(t *testing.T) { // resolution 11.24
	const most = 64
	heaviest := func(crowd int) (reads, writes int) {
		r := newRanch(t, func(p *params.Params) { p.Rent.PricePerByteYear, p.Timer.MaxPerActor = 1_000_000_000_000, most })
		r.broke(crowd, most)
		for gone := 0; gone < crowd; {
			v := &counted{View: r.ground}
			res, err := exec.Apply(v, r.inputs(), nil)
			if err == nil {
				err = r.ground.Write(res.Delta)
			}
			if err != nil || r.height > 100 {
				t.Fatalf("block %d: %d of %d evicted, %v", r.height+1, gone, crowd, err)
			}
			r.height++
			n := 0
			for _, c := range res.Delta.Accounts() {
				n += 1 + len(c.Storage)
			}
			reads, writes = max(reads, v.reads), max(writes, n)
			for i := range res.Receipts {
				for _, e := range res.Receipts[i].Events {
					if e.Name == rent.EventEvicted {
						gone++
					}
				}
			}
		}
		if left := r.balance(chain.AddrTimers); left != 0 {
			t.Errorf("%d are still kept for timers", left)
		}
		return reads, writes
	}
	reads, writes := heaviest(1)
	crowdReads, crowdWrites := heaviest(rent.EvictionsPerBlock)
	t.Logf("one: %d reads, %d writes; a crowd: %d and %d", reads, writes, crowdReads, crowdWrites)
	if crowdReads > 2*reads || crowdWrites > 2*writes { // lists of timers that others share
		t.Errorf("a block of a crowd: %d reads, %d writes; of one: %d and %d", crowdReads, crowdWrites, reads, writes)
	}
}
