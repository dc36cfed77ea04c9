package tree

import (
	"bytes"
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/state/rlp"
)

// ErrNode means that bytes are not the encoding of a trie node.
var ErrNode = errors.New("tree: malformed node")

// hashedMin is the size in bytes from which a node is referred to by its hash;
// shorter ones stand in their parent (yellow paper, appendix D).
const hashedMin = 32

// node is a *leaf, an *extension, a *branch or an *unread; a nil node is an
// empty subtree. Paths are nibbles, one per byte.
type node interface {
	// reference returns where the node's reference is remembered.
	reference() *ref
}

// ref is how a parent names a node: RLP of its hash (33 bytes) or, below
// hashedMin bytes, its encoding. It is nil once the node or one below it
// changed.
type ref []byte

func (r *ref) reference() *ref { return r }

// byHash reports whether the reference is a hash: an encoding in place has at
// most 31 bytes.
func (r ref) byHash() bool { return len(r) == 1+len(chain.Hash{}) }

func hashReference(h chain.Hash) ref { return rlp.AppendString(nil, h[:]) }

// leaf holds a value; rest is the part of its key that its ancestors leave.
type leaf struct {
	ref
	rest  []byte
	value []byte
}

// extension is a run of nibbles, never none, that all keys below share. Its
// child is a branch.
type extension struct {
	ref
	rest  []byte
	child node
}

// branch divides keys by their next nibble. It has at least two of its
// seventeen places filled; value, if not nil, belongs to the key that ends here.
type branch struct {
	ref
	kids  [16]node
	value []byte
}

// unread stands for a stored node that was not needed so far.
type unread struct{ ref }

// hash returns the hash the node is stored under.
func (u *unread) hash() chain.Hash { return chain.Hash(u.ref[1:]) }

// encode returns the RLP of n, whose children all have references.
func encode(n node) []byte {
	switch n := n.(type) {
	case *leaf:
		return encodePair(appendCompact(nil, n.rest, true), rlp.AppendString(nil, n.value))
	case *extension:
		return encodePair(appendCompact(nil, n.rest, false), *n.child.reference())
	case *branch:
		payload := make([]byte, 0, 17*33)
		for _, kid := range n.kids {
			if kid == nil {
				payload = rlp.AppendString(payload, nil)
			} else {
				payload = append(payload, *kid.reference()...)
			}
		}
		payload = rlp.AppendString(payload, n.value)
		return list(payload)
	default:
		panic("tree: encode of a node that was not read")
	}
}

func encodePair(path, second []byte) []byte {
	payload := rlp.AppendString(make([]byte, 0, len(path)+len(second)+4), path)
	return list(append(payload, second...))
}

func list(payload []byte) []byte {
	out := make([]byte, 0, rlp.ListLen(len(payload)))
	return append(rlp.AppendListHeader(out, len(payload)), payload...)
}

// refer returns the reference of a node that is not a root.
func refer(enc []byte) ref {
	if len(enc) < hashedMin {
		return enc
	}
	return hashReference(keccak.Sum256(enc))
}

// decode reads the node that enc encodes. It accepts exactly what encode writes
// for a node that can stand in a trie, with one exception: it cannot see
// whether an unread child of an extension is a branch. The node keeps slices of
// enc.
func decode(enc []byte) (node, error) {
	payload, err := rlp.List(enc)
	if err != nil {
		return nil, errors.Join(ErrNode, err)
	}
	var items [17]item
	n := 0
	for ; len(payload) > 0; n++ {
		if n == len(items) {
			return nil, ErrNode
		}
		before := payload
		if items[n].payload, items[n].list, payload, err = rlp.Split(before); err != nil {
			return nil, errors.Join(ErrNode, err)
		}
		items[n].raw = before[:len(before)-len(payload)]
	}
	switch n {
	case 2:
		return decodePair(items[0], items[1])
	case 17:
		return decodeBranch(&items)
	default:
		return nil, ErrNode
	}
}

// item is one element of a node's list: its encoding, and what is in it.
type item struct {
	raw, payload []byte
	list         bool
}

func decodePair(path, second item) (node, error) {
	if path.list {
		return nil, ErrNode
	}
	rest, isLeaf, err := readCompact(path.payload)
	if err != nil {
		return nil, err
	}
	if isLeaf {
		if second.list || len(second.payload) == 0 {
			return nil, ErrNode
		}
		return &leaf{rest: rest, value: second.payload}, nil
	}
	child, err := decodeChild(second)
	if err != nil {
		return nil, err
	}
	switch child.(type) {
	case *branch, *unread:
	default:
		return nil, ErrNode
	}
	if len(rest) == 0 {
		return nil, ErrNode
	}
	return &extension{rest: rest, child: child}, nil
}

func decodeBranch(items *[17]item) (node, error) {
	b := &branch{}
	for i := range b.kids {
		kid, err := decodeChild(items[i])
		if err != nil {
			return nil, err
		}
		b.kids[i] = kid
	}
	if items[16].list {
		return nil, ErrNode
	}
	if len(items[16].payload) != 0 {
		b.value = items[16].payload
	}
	if b.filled() < 2 {
		return nil, ErrNode
	}
	return b, nil
}

// decodeChild reads a reference; no child is a nil node. The recursion through
// encodings in place ends because each is under hashedMin bytes.
func decodeChild(it item) (node, error) {
	switch {
	case !it.list && len(it.payload) == 0:
		return nil, nil
	case !it.list && len(it.payload) == len(chain.Hash{}):
		return &unread{ref: it.raw}, nil
	case !it.list || len(it.raw) >= hashedMin:
		return nil, ErrNode
	}
	kid, err := decode(it.raw)
	if err != nil {
		return nil, err
	}
	*kid.reference() = it.raw
	return kid, nil
}

// filled counts the places of b in use.
func (b *branch) filled() int {
	n := 0
	for _, kid := range b.kids {
		if kid != nil {
			n++
		}
	}
	if b.value != nil {
		n++
	}
	return n
}

// Flags of the first nibble of a compact path (yellow paper, appendix C).
const (
	compactOdd  = 1
	compactLeaf = 2
)

// appendCompact appends nibbles two to a byte behind a nibble that says whether
// they belong to a leaf and whether their number is odd.
func appendCompact(dst, nibbles []byte, isLeaf bool) []byte {
	var first byte
	if isLeaf {
		first |= compactLeaf
	}
	if len(nibbles)%2 == 1 {
		dst = append(dst, (first|compactOdd)<<4|nibbles[0])
		nibbles = nibbles[1:]
	} else {
		dst = append(dst, first<<4)
	}
	for i := 0; i < len(nibbles); i += 2 {
		dst = append(dst, nibbles[i]<<4|nibbles[i+1])
	}
	return dst
}

func readCompact(b []byte) (rest []byte, isLeaf bool, err error) {
	if len(b) == 0 || b[0]>>4 > compactOdd|compactLeaf {
		return nil, false, ErrNode
	}
	flags := b[0] >> 4
	nibbles := toNibbles(b)
	if flags&compactOdd == 0 {
		if nibbles[1] != 0 {
			return nil, false, ErrNode
		}
		return nibbles[2:], flags&compactLeaf != 0, nil
	}
	return nibbles[1:], flags&compactLeaf != 0, nil
}

func toNibbles(key []byte) []byte {
	out := make([]byte, 0, 2*len(key))
	for _, c := range key {
		out = append(out, c>>4, c&15)
	}
	return out
}

func sharedPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// lift returns n with prefix put before its path.
func lift(prefix []byte, n node) node {
	if len(prefix) == 0 {
		return n
	}
	switch n := n.(type) {
	case *leaf:
		return &leaf{rest: bytes.Join([][]byte{prefix, n.rest}, nil), value: n.value}
	case *extension:
		return &extension{rest: bytes.Join([][]byte{prefix, n.rest}, nil), child: n.child}
	case *branch:
		return &extension{rest: bytes.Clone(prefix), child: n}
	default:
		panic("tree: lift of a node that was not read")
	}
}
