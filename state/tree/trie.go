package tree

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/state"
)

// Nodes reads stored nodes. Node returns the node of the given owner at the
// given path (one nibble per byte), or nil if nothing is stored there. The
// slice is not changed by either side afterwards.
type Nodes interface {
	Node(owner chain.Hash, path []byte) ([]byte, error)
}

// ErrCorrupt means that stored nodes do not fit together. It is a fault of this
// node's storage: the flat state may still be good, and the nodes can be
// computed from it again.
var ErrCorrupt = errors.New("tree: stored nodes are damaged")

// NodeError says which stored node is missing or damaged. It matches
// [ErrCorrupt].
type NodeError struct {
	Owner chain.Hash // zero for the trie of accounts
	Path  []byte     // nibbles
	Want  chain.Hash // hash that the parent, or the root, asks for
	Cause error      // nil if nothing is stored under the path
}

func (e *NodeError) Error() string {
	if e.Cause == nil {
		return fmt.Sprintf("tree: node %s at %x of %s is missing", e.Want, e.Path, e.Owner)
	}
	return fmt.Sprintf("tree: node %s at %x of %s is damaged: %v", e.Want, e.Path, e.Owner, e.Cause)
}

// Unwrap makes the error match ErrCorrupt and its cause.
func (e *NodeError) Unwrap() []error {
	if e.Cause == nil {
		return []error{ErrCorrupt}
	}
	return []error{ErrCorrupt, e.Cause}
}

var errHashMismatch = errors.New("hash differs")

// readNode reads the node that want names, and checks it.
func readNode(nodes Nodes, owner chain.Hash, path []byte, want chain.Hash) ([]byte, node, error) {
	enc, err := nodes.Node(owner, path)
	if err != nil {
		return nil, nil, fmt.Errorf("tree: read node at %x of %s: %w", path, owner, err)
	}
	fault := func(cause error) (_ []byte, _ node, err error) {
		return nil, nil, &NodeError{Owner: owner, Path: bytes.Clone(path), Want: want, Cause: cause}
	}
	if enc == nil {
		return fault(nil)
	}
	if chain.Hash(keccak.Sum256(enc)) != want {
		return fault(errHashMismatch)
	}
	n, err := decode(enc)
	if err != nil {
		return fault(err)
	}
	*n.reference() = hashReference(want)
	return enc, n, nil
}

// Trie is one Merkle-Patricia trie with changes in memory. Keys are used as
// they are: who wants a secure trie hashes them first. A Trie is not safe for
// concurrent use, and useless after an error.
type Trie struct {
	nodes Nodes
	owner chain.Hash
	root  node
	// read holds the path of each stored node that was read in order to change
	// the trie: Commit must say of each whether it is still there.
	read map[string]bool
}

// NewTrie opens the trie of owner with the given root. For EmptyRoot, nodes may
// be nil.
func NewTrie(nodes Nodes, owner, root chain.Hash) *Trie {
	t := &Trie{nodes: nodes, owner: owner, read: map[string]bool{}}
	if root != state.EmptyRoot {
		t.root = &unread{ref: hashReference(root)}
	}
	return t
}

// load returns the node that u stands for, which is at path.
func (t *Trie) load(u *unread, path []byte) (node, error) {
	_, n, err := readNode(t.nodes, t.owner, path, u.hash())
	if err != nil {
		return nil, err
	}
	t.read[string(path)] = true
	return n, nil
}

// Put sets the value of key. An empty value removes the key, as in Ethereum.
func (t *Trie) Put(key, value []byte) error {
	if len(value) == 0 {
		return t.Delete(key)
	}
	return t.put(key, bytes.Clone(value))
}

func (t *Trie) put(key, value []byte) error {
	root, _, err := t.insert(t.root, toNibbles(key), 0, value)
	if err == nil {
		t.root = root
	}
	return err
}

// insert sets the value of key below n, which is at path key[:at]. It returns
// the node now there, and whether it differs from what is stored.
func (t *Trie) insert(n node, key []byte, at int, value []byte) (node, bool, error) {
	rest := key[at:]
	switch n := n.(type) {
	case nil:
		return &leaf{rest: rest, value: value}, true, nil
	case *unread:
		loaded, err := t.load(n, key[:at])
		if err != nil {
			return nil, false, err
		}
		return t.insert(loaded, key, at, value)
	case *leaf:
		same := sharedPrefix(rest, n.rest)
		if same == len(rest) && same == len(n.rest) {
			if bytes.Equal(value, n.value) {
				return n, false, nil
			}
			return &leaf{rest: n.rest, value: value}, true, nil
		}
		fork := &branch{}
		fork.attach(n.rest[same:], n.value)
		fork.attach(rest[same:], value)
		return lift(rest[:same], fork), true, nil
	case *extension:
		same := sharedPrefix(rest, n.rest)
		if same == len(n.rest) {
			child, changed, err := t.insert(n.child, key, at+same, value)
			return n, set(&n.child, child, &n.ref, changed, err), err
		}
		fork := &branch{}
		if tail := n.rest[same+1:]; len(tail) == 0 {
			fork.kids[n.rest[same]] = n.child
		} else {
			fork.kids[n.rest[same]] = &extension{rest: tail, child: n.child}
		}
		fork.attach(rest[same:], value)
		return lift(rest[:same], fork), true, nil
	case *branch:
		if len(rest) == 0 {
			changed := n.value == nil || !bytes.Equal(n.value, value)
			if changed {
				n.value, n.ref = value, nil
			}
			return n, changed, nil
		}
		kid, changed, err := t.insert(n.kids[rest[0]], key, at+1, value)
		return n, set(&n.kids[rest[0]], kid, &n.ref, changed, err), err
	default:
		panic("tree: unknown kind of node")
	}
}

// set puts a child in its place and, if it changed, forgets the parent's
// reference. It returns changed.
func set(place *node, child node, parent *ref, changed bool, err error) bool {
	if err != nil {
		return false
	}
	*place = child
	if changed {
		*parent = nil
	}
	return changed
}

// attach hangs a value into a branch, under what is left of its key.
func (b *branch) attach(rest, value []byte) {
	if len(rest) == 0 {
		b.value = value
		return
	}
	b.kids[rest[0]] = &leaf{rest: rest[1:], value: value}
}

// Delete removes key, if it is there.
func (t *Trie) Delete(key []byte) error {
	root, _, err := t.remove(t.root, toNibbles(key), 0)
	if err == nil {
		t.root = root
	}
	return err
}

// remove takes key out below n; arguments and results are those of insert.
func (t *Trie) remove(n node, key []byte, at int) (node, bool, error) {
	rest := key[at:]
	switch n := n.(type) {
	case nil:
		return nil, false, nil
	case *unread:
		loaded, err := t.load(n, key[:at])
		if err != nil {
			return nil, false, err
		}
		return t.remove(loaded, key, at)
	case *leaf:
		if bytes.Equal(rest, n.rest) {
			return nil, true, nil
		}
		return n, false, nil
	case *extension:
		if !bytes.HasPrefix(rest, n.rest) {
			return n, false, nil
		}
		child, changed, err := t.remove(n.child, key, at+len(n.rest))
		if err != nil {
			return nil, false, err
		}
		if !changed {
			n.child = child
			return n, false, nil
		}
		return lift(n.rest, child), true, nil
	case *branch:
		return t.removeFromBranch(n, key, at)
	default:
		panic("tree: unknown kind of node")
	}
}

func (t *Trie) removeFromBranch(n *branch, key []byte, at int) (node, bool, error) {
	if at == len(key) {
		if n.value == nil {
			return n, false, nil
		}
		n.value = nil
	} else {
		kid, changed, err := t.remove(n.kids[key[at]], key, at+1)
		if err != nil {
			return nil, false, err
		}
		n.kids[key[at]] = kid
		if !changed {
			return n, false, nil
		}
	}
	n.ref = nil
	if n.filled() > 1 {
		return n, true, nil
	}
	only, err := t.onlyRemaining(n, key[:at])
	return only, true, err
}

// onlyRemaining returns what replaces a branch at path that has one place left
// in use: a branch may not stand for one key or one subtree.
func (t *Trie) onlyRemaining(b *branch, path []byte) (node, error) {
	if b.value != nil {
		return &leaf{value: b.value}, nil
	}
	i := slices.IndexFunc(b.kids[:], func(kid node) bool { return kid != nil })
	if i < 0 {
		return nil, nil
	}
	kid := b.kids[i]
	if u, ok := kid.(*unread); ok {
		// It must be read: a leaf or extension takes the nibble into its own
		// path, a branch gets an extension before it.
		var err error
		if kid, err = t.load(u, append(bytes.Clone(path), byte(i))); err != nil {
			return nil, err
		}
	}
	return lift([]byte{byte(i)}, kid), nil
}

// Get returns the value of key, or nil.
func (t *Trie) Get(key []byte) ([]byte, error) {
	value, err := t.find(t.root, toNibbles(key), 0)
	return bytes.Clone(value), err
}

func (t *Trie) find(n node, key []byte, at int) ([]byte, error) {
	rest := key[at:]
	switch n := n.(type) {
	case nil:
		return nil, nil
	case *unread:
		_, loaded, err := readNode(t.nodes, t.owner, key[:at], n.hash())
		if err != nil {
			return nil, err
		}
		return t.find(loaded, key, at)
	default:
		value, next, used := step(n, rest)
		if next == nil {
			return value, nil
		}
		return t.find(next, key, at+used)
	}
}

// step goes from n towards the key of which rest is left. It returns either the
// value (nil: no such key), or the node that follows and the number of nibbles
// used.
func step(n node, rest []byte) (value []byte, next node, used int) {
	switch n := n.(type) {
	case *leaf:
		if bytes.Equal(n.rest, rest) {
			return n.value, nil, 0
		}
		return nil, nil, 0
	case *extension:
		if bytes.HasPrefix(rest, n.rest) {
			return nil, n.child, len(n.rest)
		}
		return nil, nil, 0
	case *branch:
		if len(rest) == 0 {
			return n.value, nil, 0
		}
		return nil, n.kids[rest[0]], 1
	default:
		panic("tree: step from a node that was not read")
	}
}

// NodeChange is a change of a stored node.
type NodeChange struct {
	Owner chain.Hash
	Path  []byte // nibbles
	Node  []byte // encoding; nil removes the node
}

// Commit returns the root and, in ascending order of path, what has to be
// stored for it. It changes nothing in the trie; after it, the changes count as
// stored.
func (t *Trie) Commit() (chain.Hash, []NodeChange) {
	c := commit{owner: t.owner, stored: map[string]bool{}}
	root := state.EmptyRoot
	if t.root != nil {
		c.visit(t.root, nil)
		root = chain.Hash((*t.root.reference())[1:])
	}
	for path := range t.read {
		if !c.stored[path] {
			c.changes = append(c.changes, NodeChange{Owner: t.owner, Path: []byte(path)})
		}
	}
	slices.SortFunc(c.changes, func(a, b NodeChange) int { return bytes.Compare(a.Path, b.Path) })
	t.read = c.stored
	return root, c.changes
}

// commit walks the nodes in memory.
type commit struct {
	owner   chain.Hash
	changes []NodeChange
	stored  map[string]bool // paths that hold a node of their own
}

// visit gives n and all nodes below it their references.
func (c *commit) visit(n node, path []byte) {
	switch n := n.(type) {
	case *unread:
		return
	case *extension:
		c.visit(n.child, slices.Concat(path, n.rest))
	case *branch:
		for i, kid := range n.kids {
			if kid != nil {
				c.visit(kid, append(slices.Clip(path), byte(i)))
			}
		}
	}
	at := n.reference()
	if *at == nil {
		enc := encode(n)
		if *at = refer(enc); len(path) == 0 {
			*at = hashReference(keccak.Sum256(enc)) // a root is always stored
		}
		if at.byHash() {
			c.changes = append(c.changes, NodeChange{Owner: c.owner, Path: path, Node: enc})
		}
	}
	if at.byHash() {
		c.stored[string(path)] = true
	}
}

// compareChanges orders changes by owner, then path.
func compareChanges(a, b NodeChange) int {
	return cmp.Or(bytes.Compare(a.Owner[:], b.Owner[:]), bytes.Compare(a.Path, b.Path))
}
