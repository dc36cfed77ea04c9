package secp256k1

import (
	"sync"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
	"github.com/cowboy-foundation/cowboy/asm/secp"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// Recovered is the outcome for one signature of a batch. Address is zero if Err
// is set.
type Recovered struct {
	Address [20]byte
	Err     error
}

// RecoverMany sets out[i] to the signer of hashes[i], with the fastest kernel of
// the machine. It runs on the calling goroutine: callers that own several cores
// split their batch, best into multiples of 32. It panics if the lengths differ,
// which is a fault of the caller, never of outside input.
func RecoverMany(hashes [][32]byte, sigs []Signature, out []Recovered) {
	detected().RecoverMany(hashes, sigs, out)
}

var detected = sync.OnceValue(func() *Recoverer { return NewRecoverer(cpu.Chosen()) })

// Recoverer recovers batches with the kernel of given CPU features. It may be
// used from several goroutines.
type Recoverer struct {
	kernel secp.Kernel // without a name: one signature at a time with decred
	sums   keccak.Summer
}

// NewRecoverer returns a Recoverer for a CPU with features f.
func NewRecoverer(f cpu.Features) *Recoverer {
	r := &Recoverer{sums: keccak.NewSummer(f)}
	// The portable kernel is for tests: decred is as fast, and proven longer.
	if kernels := secp.Kernels(f); len(kernels) > 1 {
		r.kernel = kernels[0]
	}
	return r
}

// Name says which path runs: the name of the kernel, or "decred".
func (r *Recoverer) Name() string {
	if r.kernel.Name == "" {
		return "decred"
	}
	return r.kernel.Name
}

// RecoverMany does what the function of that name does.
func (r *Recoverer) RecoverMany(hashes [][32]byte, sigs []Signature, out []Recovered) {
	if len(hashes) != len(sigs) || len(hashes) != len(out) {
		panic("secp256k1: RecoverMany needs one signature and one output per hash")
	}
	if r.kernel.Name == "" {
		for i := range hashes {
			out[i] = recoverOne(hashes[i], sigs[i])
		}
		return
	}
	b := batches.Get().(*batch)
	defer batches.Put(b)
	b.kernel, b.sums = &r.kernel, r.sums
	for len(hashes) > 0 {
		n := min(len(hashes), batchSize)
		b.recover(hashes[:n], sigs[:n], out[:n])
		hashes, sigs, out = hashes[n:], sigs[n:], out[n:]
	}
}

func recoverOne(hash [32]byte, sig Signature) Recovered {
	pub, err := Recover(hash, sig)
	if err != nil {
		return Recovered{Err: err}
	}
	return Recovered{Address: pub.Address()}
}

const (
	quadLanes = 4 * secp.Lanes
	batchSize = 4 * quadLanes // signatures that share one inversion
)

// batches keeps the memory of batches: 150 KB that are worth no clearing.
var batches = sync.Pool{New: func() any { return newBatch() }}

// batch is the state of up to batchSize recoveries, one a lane. Lane i of a quad
// is lane i%8 of its group i/8. Lanes whose signature is refused compute on G
// and are never read.
type batch struct {
	kernel *secp.Kernel
	sums   keccak.Summer
	tables *[2]secp.SharedTable
	quads  [batchSize / quadLanes]quad
	// inverses are prefix products, then inverses, of the quads' Z.
	inverses [batchSize / quadLanes]secp.Quad
	scalars  scalars
	keys     [batchSize][64]byte
	messages [batchSize][]byte
	digests  [batchSize][keccak.Size]byte
	places   [batchSize]int // where in the batch each message's key belongs

	// What one quad, or one pair of groups, needs in its turn. Kernels are called
	// through pointers, so what they work on is kept here to stay off the heap.
	own       [2]secp.Table
	multiples secp.Multiples
	step      secp.Step
	root      chain[secp.Quad]
	inverse   chain[secp.Element]
	sum, diff secp.Quad
}

// quad is 32 recoveries.
type quad struct {
	x, y      secp.Quad // R, then Q in affine coordinates
	z         secp.Quad // Z of Q on secp256k1
	acc       [2]secp.Pair
	first     [4]secp.Digits // u2 = first + lambda·second
	second    [4]secp.Digits
	base      [4]secp.Digits // u1
	flip      [4]uint64      // lanes where R is the other root than y
	odd       [4]uint64      // lanes that ask for an odd root
	exception [4]uint64      // lanes where an addition met equal x coordinates
}

func newBatch() *batch { return &batch{tables: baseTables()} }

// recover fills out for at most batchSize signatures.
func (b *batch) recover(hashes [][32]byte, sigs []Signature, out []Recovered) {
	b.parse(hashes, sigs, out)
	n := (len(sigs) + quadLanes - 1) / quadLanes
	for i := range n {
		lanes := min(quadLanes, len(sigs)-i*quadLanes)
		q := &b.quads[i]
		q.lift(b, out[i*quadLanes:][:lanes])
		q.multiply(b, lanes)
	}
	b.toAffine(n)
	b.finish(hashes, sigs, out)
}

// parse checks the signatures' form, prepares R's x coordinates and the scalars.
func (b *batch) parse(hashes [][32]byte, sigs []Signature, out []Recovered) {
	for i := range b.quads {
		b.quads[i].odd = [4]uint64{}
	}
	for i := range sigs {
		r, s, err := sigs[i].words()
		out[i] = Recovered{Err: err}
		x := &sigs[i].R
		if err != nil {
			r, s, x = words{1}, words{1}, &baseX
		}
		q, group, lane := b.at(i)
		setBytes(&q.x[group], lane, x)
		q.odd[group] |= uint64(sigs[i].YParity&1) << lane
		b.scalars.set(i, &r, &s, &hashes[i])
	}
	// The lanes past the end of a quad stay on the curve.
	for i := len(sigs); i%quadLanes != 0; i++ {
		q, group, lane := b.at(i)
		setBytes(&q.x[group], lane, &baseX)
	}
	b.scalars.solve(len(sigs))
	for i := range sigs {
		q, group, lane := b.at(i)
		b.scalars.digits(i, lane, &q.base[group], &q.first[group], &q.second[group])
	}
}

// words is scalars for batches, with the same errors.
func (sig *Signature) words() (r, s words, err error) {
	r, s = wordsOf(&sig.R), wordsOf(&sig.S)
	_, rBelow := r.minus(&orderWords)
	_, sBelow := s.minus(&orderWords)
	_, sHigh := halfOrderWords.minus(&s)
	switch {
	case sig.YParity > 1:
		err = ErrRecoveryID
	case rBelow == 0 || r.isZero():
		err = ErrRRange
	case sBelow == 0 || s.isZero():
		err = ErrSRange
	case sHigh == 1:
		err = ErrHighS
	}
	return r, s, err
}

func (b *batch) at(i int) (q *quad, group, lane int) {
	return &b.quads[i/quadLanes], i % quadLanes / secp.Lanes, i % secp.Lanes
}

// finish hashes the keys and redoes exceptional lanes.
func (b *batch) finish(hashes [][32]byte, sigs []Signature, out []Recovered) {
	n := 0
	for i := range out {
		if out[i].Err != nil {
			continue
		}
		q, group, lane := b.at(i)
		if q.exception[group]>>lane&1 == 1 {
			out[i] = recoverOne(hashes[i], sigs[i])
			continue
		}
		putBytes(&q.x[group], lane, b.keys[n][:32])
		putBytes(&q.y[group], lane, b.keys[n][32:])
		b.messages[n] = b.keys[n][:]
		b.places[n] = i
		n++
	}
	b.sums.SumMany(b.messages[:n], b.digests[:n])
	for k, i := range b.places[:n] {
		copy(out[i].Address[:], b.digests[k][12:])
	}
}

// baseX is the x coordinate of G (SEC 2 §2.4.1).
var baseX = [32]byte{
	0x79, 0xbe, 0x66, 0x7e, 0xf9, 0xdc, 0xbb, 0xac, 0x55, 0xa0, 0x62, 0x95, 0xce, 0x87, 0x0b, 0x07,
	0x02, 0x9b, 0xfc, 0xdb, 0x2d, 0xce, 0x28, 0xd9, 0x59, 0xf2, 0x81, 0x5b, 0x16, 0xf8, 0x17, 0x98,
}
