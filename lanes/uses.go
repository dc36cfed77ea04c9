package lanes

import (
	"hash/maphash"
	"sync"

	"github.com/cowboy-foundation/cowboy/chain"
)

// uses is what handlers, instructions and deployers have used in final blocks, by what
// a transaction runs: the handler of an actor, the opcode of a system account, or, for
// deployments, their sender. It is this node's guess and no rule (docs/adr/0070).
//
// What is kept is a mean, so that to look as if something used much, or little, somebody
// has to use much, or little, on the whole, and pays for it. A sender gives one lesson
// in a block about each thing, whatever he sends.
type uses struct {
	seed maphash.Seed

	mu       sync.RWMutex
	now, old map[uint64]chain.Usage // old: what was learned before now was last empty
}

const (
	usesKept   = 1 << 15 // in each of the two maps: some 3 MiB
	lessonPart = 8       // by which part of the difference a lesson moves a mean
	usesMargin = 8       // a part of the mean that is expected on top: one use is not as the other
)

func newUses() *uses {
	return &uses{seed: maphash.MakeSeed(), now: map[uint64]chain.Usage{}, old: map[uint64]chain.Usage{}}
}

// keyOf names what a transaction runs, or is 0: that runs nothing. Keys differ from
// node to node, so that nobody can aim at another's.
func (u *uses) keyOf(tx *chain.VerifiedTx) uint64 {
	var h maphash.Hash
	h.SetSeed(u.seed)
	t := tx.Tx
	switch {
	case t.To == nil:
		h.Write(tx.Sender[:])
	case len(t.Payload) == 0:
		return 0
	case t.To.IsSystem():
		ins, err := t.Classify()
		if err != nil {
			return 0
		}
		h.Write(t.To[:])
		maphash.WriteComparable(&h, ins.Opcode)
	default:
		handler, _, err := chain.ParseMessage(t.Payload)
		if err != nil {
			return 0
		}
		h.Write(t.To[:])
		h.WriteString(handler)
	}
	return max(h.Sum64(), 1)
}

// expect says what is used by what the key names, with a margin, if anything is known.
func (u *uses) expect(key uint64) (chain.Usage, bool) {
	u.mu.RLock()
	mean, ok := u.lookup(key)
	u.mu.RUnlock()
	mean.Cycles += mean.Cycles / usesMargin
	mean.Cells += mean.Cells / usesMargin
	return mean, ok
}

func (u *uses) lookup(key uint64) (chain.Usage, bool) {
	if mean, ok := u.now[key]; ok {
		return mean, true
	}
	mean, ok := u.old[key]
	return mean, ok
}

// lesson is the mean of what one sender used of one thing in a block.
type lesson struct {
	key   uint64
	total chain.Usage
	n     uint64
}

// learn takes in a final block.
func (u *uses) learn(txs []*chain.VerifiedTx, receipts []chain.Receipt) {
	type who struct {
		key    uint64
		sender chain.Address
	}
	var lessons []lesson
	at := map[who]int{}
	for i, tx := range txs[:min(len(txs), len(receipts))] {
		key := u.keyOf(tx)
		if key == 0 || receipts[i].TxHash != tx.Hash {
			continue
		}
		w := who{key, tx.Sender}
		n, ok := at[w]
		if !ok {
			n = len(lessons)
			at[w], lessons = n, append(lessons, lesson{key: key})
		}
		l := &lessons[n]
		l.total.Cycles += receipts[i].CyclesUsed
		l.total.Cells += receipts[i].CellsUsed
		l.n++
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	for i := range lessons {
		u.teach(&lessons[i])
	}
}

func (u *uses) teach(l *lesson) {
	got := chain.Usage{Cycles: l.total.Cycles / chain.Cycles(l.n), Cells: l.total.Cells / chain.Cells(l.n)}
	if mean, ok := u.lookup(l.key); ok {
		got.Cycles = chain.Cycles(towards(uint64(mean.Cycles), uint64(got.Cycles)))
		got.Cells = chain.Cells(towards(uint64(mean.Cells), uint64(got.Cells)))
	}
	if len(u.now) >= usesKept {
		u.now, u.old = map[uint64]chain.Usage{}, u.now
	}
	u.now[l.key] = got
}

// towards moves a mean by a part of the way, rounded away from where it is, so that it
// arrives.
func towards(mean, got uint64) uint64 {
	if got >= mean {
		return mean + (got-mean+lessonPart-1)/lessonPart
	}
	return mean - (mean-got+lessonPart-1)/lessonPart
}
