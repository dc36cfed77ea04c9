package timers

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/state"
)

// nodeKey orders a tree: a number, then the timer's id. The zero key is none.
type nodeKey [8 + len(ID{})]byte

func newNodeKey(n uint64, id ID) (k nodeKey) {
	binary.BigEndian.PutUint64(k[:8], n)
	copy(k[8:], id[:])
	return k
}

func (k *nodeKey) number() uint64 { return binary.BigEndian.Uint64(k[:8]) }
func (k *nodeKey) id() ID         { return ID(k[8:]) }

// tree is a height-balanced search tree (AVL) whose nodes are entries of the
// state. A randomised tree would do with less code, but its shape would follow
// from ids, which whoever sets a timer can grind.
type tree struct {
	o      *state.Overlay
	at     chain.Address
	prefix byte
}

func farTree(o *state.Overlay) tree   { return tree{o, inTree.home(), keyFar} }
func readyTree(o *state.Overlay) tree { return tree{o, inReady.home(), keyReady} }

// node keeps the heights of its children, so that balancing reads a child only
// to turn it.
type node struct {
	key                     nodeKey
	left, right             nodeKey
	leftHeight, rightHeight uint64
}

// maxTreeHeight is above the height of any tree with fewer than 2^64 nodes.
const maxTreeHeight = 96

func (n *node) height() uint64 { return 1 + max(n.leftHeight, n.rightHeight) }

func (t tree) slot(k *nodeKey) state.StorageKey {
	return state.NewStorageKey(state.VMNamespaceSystem, append([]byte{t.prefix}, k[:]...))
}

func (n *node) encode() []byte {
	b := cbor.AppendArray(make([]byte, 0, 92), 4)
	// Bounded: by the two children.
	for _, k := range [...]*nodeKey{&n.left, &n.right} {
		if *k == (nodeKey{}) {
			b = cbor.AppendBytes(b, nil)
		} else {
			b = cbor.AppendBytes(b, k[:])
		}
	}
	return cbor.AppendUint(cbor.AppendUint(b, n.leftHeight), n.rightHeight)
}

func decodeNode(b []byte) (n node, err error) {
	r := fields{r: cbor.NewReader(b)}
	r.array(4)
	r.optional(n.left[:])
	r.optional(n.right[:])
	n.leftHeight, n.rightHeight = r.uint(), r.uint()
	if r.err == nil && (max(n.leftHeight, n.rightHeight) >= maxTreeHeight ||
		(n.left == nodeKey{}) != (n.leftHeight == 0) || (n.right == nodeKey{}) != (n.rightHeight == 0)) {
		r.refuse(errShape)
	}
	return n, r.end("node")
}

var errShape = fmt.Errorf("heights that no tree has")

func (t tree) load(k nodeKey) (node, error) {
	b, err := t.o.Storage(t.at, t.slot(&k))
	if err != nil {
		return node{}, err
	}
	if b == nil {
		return node{}, fmt.Errorf("%w: node %x is missing", ErrRecord, k)
	}
	n, err := decodeNode(b)
	n.key = k
	return n, err
}

func (t tree) save(n *node) { t.o.SetStorage(t.at, t.slot(&n.key), n.encode()) }

// insert puts a key that is not there into the tree below root and returns its
// new root and height.
func (t tree) insert(root, key nodeKey) (nodeKey, uint64, error) {
	if root == (nodeKey{}) {
		n := node{key: key}
		t.save(&n)
		return key, 1, nil
	}
	n, err := t.load(root)
	if err != nil {
		return root, 0, err
	}
	was := n
	// Bounded: by a key, 40 bytes; the depth by the height of a balanced tree, some thirty for all timers there can be.
	switch bytes.Compare(key[:], n.key[:]) {
	case 0:
		return root, 0, fmt.Errorf("%w: node %x is there twice", ErrRecord, key)
	case -1:
		n.left, n.leftHeight, err = t.insert(n.left, key)
	default:
		n.right, n.rightHeight, err = t.insert(n.right, key)
	}
	if err != nil {
		return root, 0, err
	}
	return t.balance(&n, &was)
}

// remove takes a key out of the tree below root.
func (t tree) remove(root, key nodeKey) (nodeKey, uint64, error) {
	if root == (nodeKey{}) {
		return root, 0, fmt.Errorf("%w: node %x is missing", ErrRecord, key)
	}
	n, err := t.load(root)
	if err != nil {
		return root, 0, err
	}
	was := n
	// Bounded: by a key, 40 bytes; the depth by the height of a balanced tree, some thirty for all timers there can be.
	switch bytes.Compare(key[:], n.key[:]) {
	case 0:
		return t.deleteNode(&n)
	case -1:
		n.left, n.leftHeight, err = t.remove(n.left, key)
	default:
		n.right, n.rightHeight, err = t.remove(n.right, key)
	}
	if err != nil {
		return root, 0, err
	}
	return t.balance(&n, &was)
}

// deleteNode deletes a node; the one after it takes its place.
func (t tree) deleteNode(n *node) (nodeKey, uint64, error) {
	t.o.SetStorage(t.at, t.slot(&n.key), nil)
	switch {
	case n.left == (nodeKey{}):
		return n.right, n.rightHeight, nil
	case n.right == (nodeKey{}):
		return n.left, n.leftHeight, nil
	}
	first, right, height, err := t.takeFirst(n.right)
	if err != nil {
		return n.key, 0, err
	}
	heir := node{key: first, left: n.left, leftHeight: n.leftHeight, right: right, rightHeight: height}
	return t.balance(&heir, &node{})
}

// takeFirst unhooks the first node below root, whose entry the caller rewrites.
func (t tree) takeFirst(root nodeKey) (first, rest nodeKey, height uint64, err error) {
	n, err := t.load(root)
	if err != nil {
		return first, rest, 0, err
	}
	if n.left == (nodeKey{}) {
		return n.key, n.right, n.rightHeight, nil
	}
	was := n
	if first, n.left, n.leftHeight, err = t.takeFirst(n.left); err != nil {
		return first, rest, 0, err
	}
	rest, height, err = t.balance(&n, &was)
	return first, rest, height, err
}

// balance turns a node whose children differ by two in height, and saves what is
// not as it was.
func (t tree) balance(n, was *node) (nodeKey, uint64, error) {
	switch {
	case n.leftHeight > n.rightHeight+1:
		return t.lean(n, true)
	case n.rightHeight > n.leftHeight+1:
		return t.lean(n, false)
	case *n != *was:
		t.save(n)
	}
	return n.key, n.height(), nil
}

// lean turns a node that is too high on one side. Seen from the left:
//
//	    n           c              n             g
//	   / \         / \            / \          /   \
//	  c   3  ──►  1   n    or    c   4  ──►   c     n
//	 / \             / \        / \          / \   / \
//	1   2           2   3      1   g        1   2 3   4
//	                              / \
//	                             2   3
func (t tree) lean(n *node, left bool) (nodeKey, uint64, error) {
	inner, _ := n.sides(left)
	c, err := t.load(*inner)
	if err != nil {
		return n.key, 0, err
	}
	top := &c
	if c.heightOf(left) < c.heightOf(!left) {
		grandchild, _ := c.sides(!left)
		g, err := t.load(*grandchild)
		if err != nil {
			return n.key, 0, err
		}
		c.set(!left, g.childOf(left), g.heightOf(left))
		n.set(left, g.childOf(!left), g.heightOf(!left))
		g.set(left, c.key, c.height())
		t.save(&c)
		top = &g
	} else {
		n.set(left, c.childOf(!left), c.heightOf(!left))
	}
	top.set(!left, n.key, n.height())
	t.save(n)
	t.save(top)
	return top.key, top.height(), nil
}

func (n *node) sides(left bool) (child *nodeKey, height *uint64) {
	if left {
		return &n.left, &n.leftHeight
	}
	return &n.right, &n.rightHeight
}

func (n *node) childOf(left bool) nodeKey { c, _ := n.sides(left); return *c }
func (n *node) heightOf(left bool) uint64 { _, h := n.sides(left); return *h }

func (n *node) set(left bool, key nodeKey, height uint64) {
	c, h := n.sides(left)
	*c, *h = key, height
}

// first returns the lowest key below root; zero for an empty tree.
func (t tree) first(root nodeKey) (nodeKey, error) {
	// Bounded: by the height of a balanced tree, some thirty for all timers there can be.
	for at := root; at != (nodeKey{}); {
		n, err := t.load(at)
		if err != nil {
			return nodeKey{}, err
		}
		root, at = at, n.left
	}
	return root, nil
}

// walk appends the ids of the lowest keys below root, until dst has limit.
func (t tree) walk(root nodeKey, dst []ID, limit int) ([]ID, error) {
	if root == (nodeKey{}) || len(dst) >= limit {
		return dst, nil
	}
	n, err := t.load(root)
	if err != nil {
		return dst, err
	}
	if dst, err = t.walk(n.left, dst, limit); err != nil || len(dst) >= limit {
		return dst, err
	}
	return t.walk(n.right, append(dst, n.key.id()), limit)
}
