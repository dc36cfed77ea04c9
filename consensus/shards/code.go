package shards

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/crypto/erasure"
)

// Errors of parcels. Each is the fault of the sender, except ErrNotCodeword,
// which is that of the leader.
var (
	ErrParcel      = errors.New("parcel is cut short")
	ErrHead        = errors.New("head of the parcel does not belong to the digest")
	ErrHeadLength  = errors.New("head of the parcel is too long")
	ErrWhole       = errors.New("head commits to a body that travels whole")
	ErrLength      = errors.New("claimed body length is out of bounds")
	ErrOpening     = errors.New("opening does not belong to the root in the head")
	ErrIndex       = errors.New("shard is not the one that its sender may send")
	ErrWidth       = errors.New("shard is not as wide as the body's length demands")
	ErrProof       = errors.New("shard does not belong to the root")
	ErrMixed       = errors.New("sender has shards of two proposals of one view")
	ErrNotCodeword = errors.New("shards under the root are not a codeword")
)

// ErrValidators means a set that is too small, or too large, for shards.
var ErrValidators = errors.New("want 4 to 256 validators for shards")

// MinValidators is the least number of validators that use shards: with fewer,
// f is 0 and each shard would be the whole body.
const MinValidators = 4

// Limits bound what parcels may claim.
type Limits struct {
	WholeMax int // longest body that travels whole, a rule of the chain
	BodyMax  int // longest body at all
	HeadMax  int // longest head
}

// SenderBytes is how much of one sender a pool keeps: parcels of a few views.
func (c *Code) SenderBytes() int { return 4 * c.ParcelMax() }

// SenderHeadBytes is how much of the heads that one sender brought a pool keeps,
// with what goes around each of them: four of the longest, which is all that a
// sender can say of the current view and the next one, as leader and as one of the
// others. So nobody displaces what matters still with what comes later.
func (c *Code) SenderHeadBytes() int { return 4 * (c.limits.HeadMax + c.frame()) }

// frame is about what an assembly takes besides head and shards.
func (c *Code) frame() int { return 256 + 24*c.Total() }

// Opening is what the root of a body is made of, besides the shape of the code.
type Opening struct {
	Length uint32 // of the body
	Tree   chain.Hash
}

// Shard is a piece of a body with its proof.
type Shard struct {
	Index int
	Proof []chain.Hash // siblings from leaf to tree
	Bytes []byte
}

// Code is the erasure code of one validator set with the tree over its shards.
// It does not change and is safe for concurrent use.
type Code struct {
	codec    *erasure.Codec
	digester *erasure.Digester
	limits   Limits
	depth    int
}

// NewCode returns the code for n validators: k = f+1 of n.
func NewCode(n int, limits Limits, digester *erasure.Digester) (*Code, error) {
	if n < MinValidators || n > erasure.TotalMax {
		return nil, fmt.Errorf("%d validators: %w", n, ErrValidators)
	}
	if limits.BodyMax < 1 || limits.BodyMax > erasure.BlockMax || limits.WholeMax < 0 || limits.HeadMax < 1 {
		return nil, fmt.Errorf("shard limits %+v: out of range", limits)
	}
	codec, err := erasure.New((n-1)/3+1, n, 1)
	if err != nil {
		return nil, err
	}
	c := &Code{codec: codec, digester: digester, limits: limits}
	for 1<<c.depth < n {
		c.depth++
	}
	return c, nil
}

// ForSet returns the code of a set of n validators, or nil if they are too few or too
// many for shards and all of their blocks travel whole. It makes the digester for f,
// which lives as long as the process.
func ForSet(n int, p *params.Params, f cpu.Features) (*Code, error) {
	if n < MinValidators || n > erasure.TotalMax {
		return nil, nil
	}
	return NewCode(n, Limits{
		WholeMax: int(p.MaxWholeBytes), BodyMax: int(p.MaxBlockBytes), HeadMax: HeadMax,
	}, erasure.NewDigester(f))
}

// Needed is the number of shards that give back a body.
func (c *Code) Needed() int { return c.codec.Data() }

// Total is the number of shards.
func (c *Code) Total() int { return c.codec.Total() }

// Whole reports whether a body of this length travels whole.
func (c *Code) Whole(length int) bool { return length <= c.limits.WholeMax }

// WholeBlockMax is the most bytes of a block that travels whole, with room for what
// joins head and body.
func (c *Code) WholeBlockMax() int { return c.limits.HeadMax + c.limits.WholeMax + 16 }

// ParcelMax is the most bytes of a parcel.
func (c *Code) ParcelMax() int {
	return parcelFixed + c.limits.HeadMax + c.depth*len(chain.Hash{}) + c.codec.Width(c.limits.BodyMax)
}

// Root is what the head of a block with this body must hold: zero if the body
// travels whole. With a nil code, all do.
func (c *Code) Root(body []byte) (chain.Hash, error) {
	if c == nil || c.Whole(len(body)) {
		return chain.Hash{}, nil
	}
	w, err := c.Encode(body)
	if err != nil {
		return chain.Hash{}, err
	}
	return w.Root, nil
}

// Codeword is an encoded body.
type Codeword struct {
	Opening Opening
	Root    chain.Hash
	shards  [][]byte
	tree    [][]chain.Hash // levels, leaves first
}

// Encode returns the codeword of body.
func (c *Code) Encode(body []byte) (*Codeword, error) {
	shards, err := c.codec.Encode(body)
	if err != nil {
		return nil, fmt.Errorf("encode body: %w", err)
	}
	return c.seal(len(body), shards), nil
}

// seal grows the tree over the shards.
func (c *Code) seal(length int, shards [][]byte) *Codeword {
	digests := make([][erasure.DigestSize]byte, len(shards))
	c.digester.Digest(shards, digests)
	level := make([]chain.Hash, 1<<c.depth)
	for i, d := range digests {
		level[i] = leaf(i, d)
	}
	w := &Codeword{shards: shards, tree: [][]chain.Hash{level}}
	for len(level) > 1 {
		up := make([]chain.Hash, len(level)/2)
		for i := range up {
			up[i] = node(level[2*i], level[2*i+1])
		}
		level = up
		w.tree = append(w.tree, level)
	}
	w.Opening = Opening{Length: uint32(length), Tree: level[0]}
	w.Root = c.root(w.Opening)
	return w
}

// Shard returns shard i with its proof. The bytes are shared.
func (w *Codeword) Shard(i int) Shard {
	s := Shard{Index: i, Bytes: w.shards[i]}
	for _, level := range w.tree[:len(w.tree)-1] {
		s.Proof = append(s.Proof, level[i^1])
		i /= 2
	}
	return s
}

// CheckOpening holds an opening to the root in a head. Its length says how wide
// the shards are, and is bounded.
func (c *Code) CheckOpening(root chain.Hash, o Opening) error {
	switch {
	case root == chain.Hash{}:
		return ErrWhole
	case c.Whole(int(o.Length)) || int64(o.Length) > int64(c.limits.BodyMax):
		return fmt.Errorf("%d bytes: %w", o.Length, ErrLength)
	case c.root(o) != root:
		return ErrOpening
	}
	return nil
}

// Check holds a shard to an opening that was checked.
func (c *Code) Check(o Opening, s Shard) error {
	switch {
	case s.Index < 0 || s.Index >= c.Total():
		return fmt.Errorf("shard %d of %d: %w", s.Index, c.Total(), ErrIndex)
	case len(s.Bytes) != c.codec.Width(int(o.Length)):
		return fmt.Errorf("%d bytes, want %d: %w", len(s.Bytes), c.codec.Width(int(o.Length)), ErrWidth)
	case len(s.Proof) != c.depth:
		return fmt.Errorf("%d steps, want %d: %w", len(s.Proof), c.depth, ErrProof)
	}
	at, i := leaf(s.Index, sha256.Sum256(s.Bytes)), s.Index
	for _, sibling := range s.Proof {
		if i&1 == 0 {
			at = node(at, sibling)
		} else {
			at = node(sibling, at)
		}
		i /= 2
	}
	if at != o.Tree {
		return ErrProof
	}
	return nil
}

// Rebuild returns the body of shards that passed Check, each in its place and
// nil where there is none. ErrNotCodeword means that no other shards under the
// opening can give a body either.
func (c *Code) Rebuild(o Opening, shards [][]byte) ([]byte, error) {
	body, codeword, err := c.codec.Decode(shards)
	switch {
	case errors.Is(err, erasure.ErrTooFewShards) || errors.Is(err, erasure.ErrShardCount):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrNotCodeword, err)
	case len(body) != int(o.Length):
		return nil, fmt.Errorf("%d bytes, claimed %d: %w", len(body), o.Length, ErrNotCodeword)
	case c.seal(len(body), codeword).Opening != o:
		return nil, ErrNotCodeword
	}
	return body, nil
}

func (c *Code) root(o Opening) chain.Hash {
	b := append(make([]byte, 0, 64), rootPrefix)
	b = append(b, "cowboy-shards-v1"...)
	b = binary.BigEndian.AppendUint16(b, uint16(c.Needed()))
	b = binary.BigEndian.AppendUint16(b, uint16(c.Total()))
	b = binary.BigEndian.AppendUint32(b, o.Length)
	return sha256.Sum256(append(b, o.Tree[:]...))
}

// Prefixes keep leaves, nodes and roots apart.
const (
	leafPrefix = 0
	nodePrefix = 1
	rootPrefix = 2
)

func leaf(i int, digest [erasure.DigestSize]byte) chain.Hash {
	var b [3 + erasure.DigestSize]byte
	b[0] = leafPrefix
	binary.BigEndian.PutUint16(b[1:], uint16(i))
	copy(b[3:], digest[:])
	return sha256.Sum256(b[:])
}

func node(left, right chain.Hash) chain.Hash {
	var b [1 + 2*len(left)]byte
	b[0] = nodePrefix
	copy(b[1:], left[:])
	copy(b[1+len(left):], right[:])
	return sha256.Sum256(b[:])
}
