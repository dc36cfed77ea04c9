package keccak

import (
	"github.com/cowboy-foundation/cowboy/asm/cpu"
	kernels "github.com/cowboy-foundation/cowboy/asm/keccak"
)

// lanesMax is the most messages that any kernel takes at once.
const lanesMax = 8

// Summer digests batches with a fixed choice of kernels. The zero value uses
// plain Go. It is a small value and safe for concurrent use.
type Summer struct {
	wide   kernels.Kernel // most messages at a time
	narrow kernels.Kernel // for what does not fill half of wide
	lone   kernels.Kernel // for one message
}

// NewSummer chooses the fastest kernels that a CPU with features f can run.
func NewSummer(f cpu.Features) Summer {
	return Summer{
		wide:   kernels.Best(f, lanesMax),
		narrow: kernels.Best(f, lanesMax/2),
		lone:   kernels.Best(f, 1),
	}
}

// Name says which path digests full batches: the name of the widest kernel.
func (s Summer) Name() string { return s.wide.String() }

// SumMany sets out[i] to the digest of msgs[i], with the fastest kernels of
// this process. See [Summer.SumMany].
func SumMany(msgs [][]byte, out [][Size]byte) { NewSummer(cpu.Chosen()).SumMany(msgs, out) }

// SumMany sets out[i] to the digest of msgs[i]. out[i] may overlap msgs[i] but
// no other message. It panics if the lengths differ: that is a fault of the
// caller, never of outside input.
//
// A kernel advances its messages in step, so it takes messages of the same
// number of blocks. Neighbours that agree are taken from where they lie;
// others wait, by block count, until a group is full or the batch ends. The
// caller need not sort, but a batch with few different counts fills groups
// best.
func (s Summer) SumMany(msgs [][]byte, out [][Size]byte) {
	if len(msgs) != len(out) {
		panic("keccak: SumMany needs one output per message")
	}
	lanes := s.wide.Lanes()
	b := batch{Summer: s, msgs: msgs, out: out}
	i := 0
	for ; i+lanes <= len(msgs); i += lanes {
		if s.wide.Sum(msgs[i:i+lanes], out[i:i+lanes]) {
			continue
		}
		for j := i; j < i+lanes; j++ {
			b.add(j)
		}
	}
	for ; i < len(msgs); i++ {
		b.add(i)
	}
	for g := range b.waiting {
		b.sum(&b.waiting[g])
	}
}

// batch is one call of SumMany: the messages that have no group yet.
type batch struct {
	Summer
	msgs [][]byte
	out  [][Size]byte
	// waiting has a group for each number of whole blocks, modulo its length.
	// Counts that collide push each other out, half full: messages of more than
	// 2 KiB in one batch with others of their remainder.
	waiting [16]group
}

// group is up to lanesMax messages of one number of whole blocks.
type group struct {
	blocks int // whole blocks of each
	n      int
	index  [lanesMax]int // into the batch
}

// add puts message i into its group, which is summed when it is full.
func (b *batch) add(i int) {
	blocks := len(b.msgs[i]) / rate
	g := &b.waiting[blocks%len(b.waiting)]
	if g.blocks != blocks {
		b.sum(g)
		g.blocks = blocks
	}
	g.index[g.n] = i
	g.n++
	if g.n == b.wide.Lanes() {
		b.sum(g)
	}
}

// sum digests the messages of g and empties it. Lanes without a message repeat
// the first: they cost nothing more.
func (b *batch) sum(g *group) {
	n := g.n
	g.n = 0
	kernel := b.wide
	switch {
	case n == 0:
		return
	case n == 1:
		i := g.index[0]
		b.lone.Sum(b.msgs[i:i+1], b.out[i:i+1])
		return
	case n <= b.narrow.Lanes():
		kernel = b.narrow
	}
	var msgs [lanesMax][]byte
	var digests [lanesMax][Size]byte
	lanes := kernel.Lanes()
	for lane := range lanes {
		from := 0
		if lane < n {
			from = lane
		}
		msgs[lane] = b.msgs[g.index[from]]
	}
	kernel.Sum(msgs[:lanes], digests[:lanes])
	for lane := range n {
		b.out[g.index[lane]] = digests[lane]
	}
}
