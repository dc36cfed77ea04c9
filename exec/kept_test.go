package exec_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/mailbox"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/statetest"
)

// The books of what a block makes all nodes keep. Each transaction must have paid a cell
// for every two bytes that it keeps beyond the smallest transfer, what it has reserved
// for messages that wait not counted: with that these pay for themselves when they are
// delivered (issue 14, the third point). The books know nothing of prices and of how
// growth is weighed: they read the writes of the block and the state before it.

const (
	keptPerCell  = 2
	smallestKept = 280 // body, receipt and receiver of the smallest transfer, which pays no cells
	keptEntry    = 180 // of an entry or account besides key and value, in tries and rows, at the worst
	keptAccount  = 100 // an account's own fields
)

// holding is what a state holds more than its parent by the writes on it.
type holding struct {
	accounts int
	storages map[chain.Address]state.StorageSize // differences; a decrease is the two's complement
	code     int
	reserved chain.Cells // for the messages among the writes
}

// held reads the writes on a parent.
func held(parent state.View, o *state.Overlay) (h holding, err error) {
	h.storages = map[chain.Address]state.StorageSize{}
	g, err := o.Growth() // of accounts, whose credits an overlay may know alone
	if err != nil {
		return h, err
	}
	h.accounts = int(int64(g.Accounts))
	for _, c := range o.Delta().Accounts() {
		at := c.Address
		if at == chain.AddrTimersFar {
			at = chain.AddrTimers // timers move from one to the other
		}
		size := h.storages[at]
		if c.Cleared {
			a, _, err := parent.Account(c.Address)
			if err != nil {
				return h, err
			}
			size = size.Sub(a.StorageSize)
		}
		for _, s := range c.Storage {
			old, err := parent.Storage(c.Address, s.Key)
			if err != nil {
				return h, err
			}
			if old != nil && !c.Cleared {
				size = size.Sub(weightOf(at, s.Key, old))
			}
			if s.Value != nil {
				size = size.Add(weightOf(at, s.Key, s.Value))
				h.note(at, old, &s)
			}
		}
		h.storages[at] = size
	}
	return h, nil
}

// weightOf is what an entry takes. A timer moves between slots, epochs and trees, gets
// other neighbours, and parts from those with which it has shared a place or the count of
// its actor's timers for a block. All of that is paid for when it is set: its own place,
// count and largest link are weighed then, and what there is of them is not.
func weightOf(at chain.Address, key state.StorageKey, value []byte) state.StorageSize {
	size := state.SizeOf(key, value)
	if at != chain.AddrTimers {
		return size
	}
	switch key[1] {
	case 't': // what does not change of a timer
		return size.Add(state.StorageSize{Entries: 2, Bytes: 140})
	case 'l':
		return state.StorageSize{Entries: 1, Bytes: 210}
	case 'h', 'r', 'e', 'o', 'q', 'c': // the head with its trees' roots, places and counts
		return state.StorageSize{}
	}
	return size
}

// note looks for code and messages in an entry that was not there.
func (h *holding) note(at chain.Address, old []byte, s *state.StorageChange) {
	if old != nil {
		return
	}
	switch {
	case at == chain.AddrMailbox:
		if it, err := mailbox.DecodeItem(s.Value); err == nil {
			h.reserved += it.Cells
		}
	case at == chain.AddrActors && strings.HasPrefix(string(s.Key[1:]), "code/"):
		h.code += uintOf(s.Value)
	}
}

// uintOf reads the number in a row of code.
func uintOf(b []byte) (n int) {
	if len(b) > 0 && b[0] < 0x18 {
		return int(b[0])
	}
	for _, c := range b[1:] {
		n = n<<8 | int(c)
	}
	return n
}

// since is what all nodes keep more than at an earlier look, and in how many entries.
// What one address has less makes no room for another's; those left out do not count.
func (h *holding) since(was *holding, without ...chain.Address) (bytes, entries int) {
	accounts := max(0, h.accounts-was.accounts)
	bytes, entries = accounts*keptAccount+h.code-was.code, accounts
	for at, size := range h.storages {
		d := size.Sub(was.storages[at])
		if n := int64(d.Bytes) + keptEntry*int64(d.Entries); n > 0 && !slices.Contains(without, at) {
			bytes, entries = bytes+int(int64(d.Bytes)), entries+int(int64(d.Entries))
		}
	}
	return bytes, entries
}

// less takes away what another look has found: what is due leaves its place before the
// transactions, and may get another after them.
func (h *holding) less(other *holding) *holding {
	out := holding{accounts: h.accounts - other.accounts, code: h.code - other.code, storages: map[chain.Address]state.StorageSize{}}
	for at, size := range h.storages {
		out.storages[at] = size.Sub(other.storages[at])
	}
	return &out
}

// books are the looks at a block under way.
type books struct {
	begun holding
	after []holding // each transaction
	final holding
}

// open executes a block one step after the other and looks at the state behind each.
func open(view state.View, in exec.Inputs, txs []*chain.VerifiedTx) (b books, err error) {
	s, err := exec.Begin(view, in, len(txs))
	if err != nil {
		return b, err
	}
	if b.begun, err = held(view, s.State()); err != nil {
		return b, err
	}
	for i, tx := range txs {
		if err := s.Transact(i, tx); err != nil {
			return b, err
		}
		h, err := held(view, s.State())
		if err != nil {
			return b, err
		}
		b.after = append(b.after, h)
	}
	if _, err = s.Finish(); err != nil {
		return b, err
	}
	b.final, err = held(view, s.State())
	return b, err
}

// ownBytes is by how much the protocol's own counters may get longer in a block.
const ownBytes = 16

// audit says which transactions of a block, and whether what came after them, kept more
// than they paid for. worst is the most bytes for a cell of those with many bytes.
func (b *books) audit(txs []*chain.VerifiedTx, receipts []chain.Receipt) (breaches []string, worst float64) {
	judge := func(what string, kept int, cells chain.Cells) {
		if kept > keptPerCell*int(cells) {
			breaches = append(breaches, fmt.Sprintf("%s: %d bytes beyond the smallest transfer for %d cells", what, kept, cells))
		}
		if kept > 1_000 {
			worst = max(worst, float64(kept)/max(1, float64(cells)))
		}
	}
	was := &b.begun
	for i, tx := range txs {
		h := &b.after[i]
		bytes, entries := h.since(was)
		kept := len(tx.Body) + len(receipts[i].Encode()) + logRows(&receipts[i]) + bytes + keptEntry*max(0, entries-1) - smallestKept
		judge(fmt.Sprintf("transaction %d (%s, reserved %d, state %d in %d entries, receipt %d, body %d)", i,
			chain.CodeName(receipts[i].Code), h.reserved-was.reserved, bytes, entries, len(receipts[i].Encode()), len(tx.Body)), kept, receipts[i].CellsUsed-(h.reserved-was.reserved))
		was = h
	}
	// Rent follows actors that have paid for more than is exempt from it.
	bytes, entries := b.final.since(was.less(&b.begun), chain.AddrRent)
	kept := bytes + keptEntry*max(0, entries) - ownBytes
	var cells chain.Cells
	for i := len(txs); i < len(receipts); i++ {
		if r := &receipts[i]; r.Lane != chain.LaneSystem { // the protocol's own announcements
			kept += len(r.Encode()) + logRows(r)
			cells += r.CellsUsed
		}
	}
	judge(fmt.Sprintf("what came after the transactions (%d receipts, state %d in %d entries)", len(receipts)-len(txs), bytes, entries), kept, cells)
	return breaches, worst
}

// logRow is the row by which a node finds the events of an emitter in a block.
const logRow = 32

func logRows(r *chain.Receipt) int {
	var seen []chain.Address
	for i := range r.Events {
		if e := r.Events[i].Emitter; !e.IsSystem() && !slices.Contains(seen, e) {
			seen = append(seen, e)
		}
	}
	return len(seen) * logRow
}

// weighed holds a block to its books.
func weighed(t *testing.T, at string, view *statetest.Rooted, in exec.Inputs, txs []*chain.VerifiedTx, receipts []chain.Receipt) float64 {
	t.Helper()
	b, err := open(view, in, txs)
	if err != nil {
		t.Fatal(err)
	}
	breaches, worst := b.audit(txs, receipts)

	for _, s := range breaches {
		t.Errorf("%s: %s", at, s)
	}
	return worst
}

// TestKept is FuzzKept over some seeds, and sees that they reach what they are for.
func TestKept(t *testing.T) {
	engines := wildEngines(t)
	did, thickest := map[string]int{}, 0.0
	for seed := *wildFirst; seed < *wildFirst+*wildSeeds; seed++ {
		w := newWild(t, engines, nil, seed)
		w.g.Params.Rent.ExemptBytes = 10_240 // builders stay awake
		w.flood(*wildBlocks / 2)
		for what, n := range w.did {
			did[what] += n
		}
		thickest = max(thickest, w.thickest)
	}
	t.Logf("%.2f bytes a cell at the most, %v", thickest, did)
	for _, what := range []string{"ok", "reverted", "cells_exhausted", "cycles_exhausted"} {
		if did[what] == 0 {
			t.Errorf("nothing was %s", what)
		}
	}
}

// FuzzKept is FuzzNoFault among those who make nodes keep bytes.
func FuzzKept(f *testing.F) {
	engines := wildEngines(f)
	f.Add([]byte{}, uint64(1))
	f.Add([]byte("build, defer, spawn, set"), uint64(2))
	f.Fuzz(func(t *testing.T, script []byte, seed uint64) {
		newWild(t, engines, script[:min(len(script), 4096)], seed).flood(12)
	})
}

// flood makes blocks of those who make nodes keep bytes, and of others.
func (w *wild) flood(blocks int) {
	for range blocks {
		txs := make([]*chain.VerifiedTx, 1+w.pick.n(5))
		for i := range txs {
			if txs[i] = w.growth(); w.pick.one(8) {
				txs[i] = w.act()
			}
		}
		w.block(txs...)
	}
}
