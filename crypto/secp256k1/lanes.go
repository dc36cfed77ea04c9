package secp256k1

import (
	"encoding/binary"

	"github.com/cowboy-foundation/cowboy/asm/secp"
)

const (
	ownBits   = 5   // bits of a digit that reads a lane's own table
	ownEnd    = 130 // bits of first and second that digits cover
	baseBits  = 13  // the same for the shared tables
	baseSplit = 130 // where base's second table starts
	limbMask  = 1<<52 - 1
	lanesMask = 1<<secp.Lanes - 1
)

// source says what a move adds.
type source uint8

const (
	fromFirst  source = iota // R's table at a digit of first
	fromSecond               // lambda·R's at a digit of second
	fromBase                 // G's at a digit of base's lower half
	fromShift                // 2^130·G's at a digit of its upper half
)

// move is a number of doublings, then one addition.
type move struct {
	doubles int
	from    source
	step    secp.Step
	negate  bool // the sum so far counts negative, so the entry must too
}

// schedule is the order of all doublings and additions, the same for every
// lane, from the highest digits down.
var schedule = newSchedule()

func newSchedule() []move {
	var moves []move
	doubles := 0
	for bit := ownEnd - 1; bit >= 0; bit-- {
		doubles++
		add := func(from source, at int) {
			moves = append(moves, move{doubles: doubles, from: from, step: secp.StepAt(at, from == fromSecond)})
			doubles = 0
		}
		if bit%ownBits == 0 {
			if len(moves) == 0 {
				doubles = 0 // of nothing
			}
			add(fromFirst, bit)
			add(fromSecond, bit)
		}
		if bit%baseBits == 0 {
			add(fromBase, bit)
			add(fromShift, baseSplit+bit)
		}
	}
	// Every doubling and every addition negates. The last sum must count
	// positive.
	negative := false
	for i := len(moves) - 1; i >= 0; i-- {
		negative = negative != (i > 0) // its addition; the first move only loads
		moves[i].negate = negative
		negative = negative != (moves[i].doubles%2 == 1)
	}
	return moves
}

// lift finds a y for each x and refuses lanes where there is none.
func (q *quad) lift(b *batch, out []Recovered) {
	k := b.kernel
	k.Square(&b.sum, &q.x, 1)
	k.Mul(&b.sum, &b.sum, &q.x)
	k.Add(&b.sum, &b.sum, &seven)
	b.root.squareRoot(&q.y, &b.sum, k.Mul, k.Square)
	k.Square(&b.diff, &q.y, 1)
	k.Sub(&b.diff, &b.diff, &b.sum)
	k.Normalize(&b.diff)
	k.Normalize(&q.y)
	for g := range q.y {
		q.flip[g] = q.odd[g]
		for lane := range secp.Lanes {
			q.flip[g] ^= q.y[g][0][lane] & 1 << lane
			if i := g*secp.Lanes + lane; i < len(out) && !isZero(&b.diff[g], lane) && out[i].Err == nil {
				out[i].Err = ErrNotOnCurve
			}
		}
	}
}

// multiply leaves in acc and z the sums u1·G + u2·R of the first lanes.
func (q *quad) multiply(b *batch, lanes int) {
	for h := range q.acc {
		g := 2 * h
		if g*secp.Lanes >= lanes {
			q.z[g], q.z[g+1] = one, one
			q.acc[h] = secp.Pair{}
			continue
		}
		acc := &q.acc[h]
		b.kernel.Multiples(&b.multiples, (*[2]secp.Element)(q.x[g:g+2]), (*[2]secp.Element)(q.y[g:g+2]))
		b.kernel.Tabulate(&b.own, &b.multiples)
		q.addAll(b, h)
		for i := range acc {
			b.kernel.MulOne(&q.z[g+i], &acc[i].Z, &b.multiples.Z[i])
		}
	}
}

// addAll walks the schedule for one pair of groups.
func (q *quad) addAll(b *batch, h int) {
	acc, flip := &q.acc[h], q.flip[2*h:2*h+2]
	pair := func(d *[4]secp.Digits) *[2]secp.Digits { return (*[2]secp.Digits)(d[2*h : 2*h+2]) }
	first, second, base := pair(&q.first), pair(&q.second), pair(&q.base)
	for i := range schedule {
		m := &schedule[i]
		if m.doubles > 0 {
			b.kernel.Double(acc, m.doubles)
		}
		b.step = m.step
		var all uint64
		if m.negate {
			all = lanesMask
		}
		if m.from == fromFirst || m.from == fromSecond {
			b.step.Flip = [2]uint64{flip[0] ^ all, flip[1] ^ all}
		} else {
			b.step.Flip = [2]uint64{all, all}
		}
		switch m.from {
		case fromFirst:
			if i == 0 {
				b.kernel.Load(acc, &b.own, first, &b.step)
				continue
			}
			b.kernel.AddOwn(acc, &b.own, first, &b.step)
		case fromSecond:
			b.kernel.AddOwn(acc, &b.own, second, &b.step)
		case fromBase:
			b.kernel.AddShared(acc, &b.tables[0], base, &b.step, &b.multiples.Z)
		case fromShift:
			b.kernel.AddShared(acc, &b.tables[1], base, &b.step, &b.multiples.Z)
		}
	}
}

// toAffine turns the sums of the first n quads into affine coordinates with one
// inversion, and marks the lanes whose Z is zero: there some addition met equal
// x coordinates, or the key is the point at infinity.
func (b *batch) toAffine(n int) {
	k := b.kernel
	for i := range n {
		q := &b.quads[i]
		b.sum = q.z
		k.Normalize(&b.sum)
		q.exception = [4]uint64{}
		for g := range q.z {
			for lane := range secp.Lanes {
				if isZero(&b.sum[g], lane) {
					q.exception[g] |= 1 << lane
					q.z[g][0][lane] = 1
					q.z[g][1][lane], q.z[g][2][lane], q.z[g][3][lane], q.z[g][4][lane] = 0, 0, 0, 0
				}
			}
		}
		b.inverses[i] = q.z
		if i > 0 {
			k.Mul(&b.inverses[i], &b.inverses[i-1], &q.z)
		}
	}
	b.invert(&b.inverses[n-1])
	b.sum = b.inverses[n-1] // the inverse of the product of quads 0 to i
	for i := n - 1; i > 0; i-- {
		k.Mul(&b.inverses[i], &b.sum, &b.inverses[i-1])
		k.Mul(&b.sum, &b.sum, &b.quads[i].z)
	}
	b.inverses[0] = b.sum
	for i := range n {
		q := &b.quads[i]
		for g := range q.x {
			q.x[g], q.y[g] = q.acc[g/2][g%2].X, q.acc[g/2][g%2].Y
		}
		inverse := &b.inverses[i]
		k.Square(&b.sum, inverse, 1)
		k.Mul(&q.x, &q.x, &b.sum)
		k.Mul(&b.sum, &b.sum, inverse)
		k.Mul(&q.y, &q.y, &b.sum)
		k.Normalize(&q.x)
		k.Normalize(&q.y)
	}
}

// invert inverts the lanes of a quad, none of them zero: those of its four
// elements with one exponentiation.
func (b *batch) invert(q *secp.Quad) {
	mul := b.kernel.MulOne
	pairs, inverse := &b.diff, &b.diff[2]
	mul(&pairs[0], &q[0], &q[1])
	mul(&pairs[1], &q[2], &q[3])
	mul(inverse, &pairs[0], &pairs[1])
	b.inverse.invert(inverse, inverse, mul, b.kernel.SquareOne)
	mul(&pairs[0], &pairs[0], inverse) // of q[2]·q[3]
	mul(&pairs[1], &pairs[1], inverse) // of q[0]·q[1]
	for i, pair := range []*secp.Element{&pairs[1], &pairs[0]} {
		x, y := &q[2*i], &q[2*i+1]
		b.diff[2], b.diff[3] = *x, *y
		mul(x, &b.diff[3], pair)
		mul(y, &b.diff[2], pair)
	}
}

// chain is an exponentiation by p's structure, for quads or for one element.
type chain[T any] struct{ x, x2, x3, x22, x44, t, u T }

// common sets c.t to x^(2^246 + …), the 223 ones, the zero and the 22 ones that
// (p+1)/4 and p-2 begin with.
func (c *chain[T]) common(x *T, mul func(z, x, y *T), square func(z, x *T, n int)) {
	c.x = *x
	grow := func(z, x *T, n int, y *T) {
		square(&c.t, x, n)
		mul(z, &c.t, y)
	}
	grow(&c.x2, &c.x, 1, &c.x)
	grow(&c.x3, &c.x2, 1, &c.x)
	grow(&c.u, &c.x3, 3, &c.x3)      // 6 ones
	grow(&c.u, &c.u, 3, &c.x3)       // 9
	grow(&c.u, &c.u, 2, &c.x2)       // 11
	grow(&c.x22, &c.u, 11, &c.u)     // 22
	grow(&c.x44, &c.x22, 22, &c.x22) // 44
	grow(&c.u, &c.x44, 44, &c.x44)   // 88
	grow(&c.u, &c.u, 88, &c.u)       // 176
	grow(&c.u, &c.u, 44, &c.x44)     // 220
	grow(&c.u, &c.u, 3, &c.x3)       // 223
	grow(&c.t, &c.u, 23, &c.x22)
}

// squareRoot sets z = x^((p+1)/4), a root of x if there is one: p is 3 mod 4.
func (c *chain[T]) squareRoot(z, x *T, mul func(z, x, y *T), square func(z, x *T, n int)) {
	c.common(x, mul, square)
	square(&c.t, &c.t, 6)
	mul(&c.t, &c.t, &c.x2)
	square(z, &c.t, 2)
}

// invert sets z = x^(p-2) = 1/x.
func (c *chain[T]) invert(z, x *T, mul func(z, x, y *T), square func(z, x *T, n int)) {
	c.common(x, mul, square)
	square(&c.t, &c.t, 5)
	mul(&c.t, &c.t, &c.x)
	square(&c.t, &c.t, 3)
	mul(&c.t, &c.t, &c.x2)
	square(&c.t, &c.t, 2)
	mul(z, &c.t, &c.x)
}

// one and seven are those numbers in every lane.
var (
	one   = spread(1)
	seven = secp.Quad{spread(7), spread(7), spread(7), spread(7)}
)

func spread(n uint64) (e secp.Element) {
	for lane := range e[0] {
		e[0][lane] = n
	}
	return e
}

func isZero(e *secp.Element, lane int) bool {
	return e[0][lane]|e[1][lane]|e[2][lane]|e[3][lane]|e[4][lane] == 0
}

// setBytes sets a lane from 32 bytes, big-endian.
func setBytes(e *secp.Element, lane int, b *[32]byte) {
	w0, w1 := binary.BigEndian.Uint64(b[24:]), binary.BigEndian.Uint64(b[16:])
	w2, w3 := binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint64(b[:])
	e[0][lane] = w0 & limbMask
	e[1][lane] = (w0>>52 | w1<<12) & limbMask
	e[2][lane] = (w1>>40 | w2<<24) & limbMask
	e[3][lane] = (w2>>28 | w3<<36) & limbMask
	e[4][lane] = w3 >> 16
}

// putBytes writes the 32 bytes of a canonical lane, big-endian.
func putBytes(e *secp.Element, lane int, b []byte) {
	l0, l1, l2, l3, l4 := e[0][lane], e[1][lane], e[2][lane], e[3][lane], e[4][lane]
	binary.BigEndian.PutUint64(b[24:], l0|l1<<52)
	binary.BigEndian.PutUint64(b[16:], l1>>12|l2<<40)
	binary.BigEndian.PutUint64(b[8:], l2>>24|l3<<28)
	binary.BigEndian.PutUint64(b, l3>>36|l4<<16)
}
