package tree

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/state/rlp"
)

// Bundle joins several proofs so that each node stands once. The nodes are in
// the order in which a reader of the proofs, one after the other, needs them
// first: one set of proofs has one encoding. The zero value is empty.
type Bundle struct {
	nodes [][]byte
	seen  map[chain.Hash]bool
}

// Add takes in the nodes of a proof, from the root down.
func (b *Bundle) Add(proof [][]byte) {
	if b.seen == nil {
		b.seen = map[chain.Hash]bool{}
	}
	for _, enc := range proof {
		if hash := chain.Hash(keccak.Sum256(enc)); !b.seen[hash] {
			b.seen[hash] = true
			b.nodes = append(b.nodes, enc)
		}
	}
}

// Nodes returns the nodes that [NewBundleReader] takes.
func (b *Bundle) Nodes() [][]byte { return b.nodes }

// BundleReader verifies the proofs of a [Bundle]. It hashes each node once, and
// none that is not needed.
type BundleReader struct {
	nodes [][]byte
	used  int
	known map[chain.Hash]node
}

// NewBundleReader returns a reader of nodes, which may come from anyone.
func NewBundleReader(nodes [][]byte) *BundleReader {
	return &BundleReader{nodes: nodes, known: map[chain.Hash]node{}}
}

// Get is [VerifyProof] with the nodes of the bundle. Keys are asked for in the
// order in which their proofs were added. After an error the reader is useless.
func (r *BundleReader) Get(root chain.Hash, key []byte) ([]byte, error) {
	return follow(root, key, func(_ []byte, want chain.Hash) (node, error) {
		if n, ok := r.known[want]; ok {
			return n, nil
		}
		if r.used == len(r.nodes) {
			return nil, fmt.Errorf("%w: ends after %d nodes", ErrProof, r.used)
		}
		enc := r.nodes[r.used]
		if chain.Hash(keccak.Sum256(enc)) != want {
			return nil, fmt.Errorf("%w: node %d is not %s", ErrProof, r.used, want)
		}
		n, err := decode(enc)
		if err != nil {
			return nil, fmt.Errorf("%w: node %d: %w", ErrProof, r.used, err)
		}
		r.used++
		r.known[want] = n
		return n, nil
	})
}

// End refuses a bundle with nodes that no proof needed.
func (r *BundleReader) End() error {
	if r.used != len(r.nodes) {
		return fmt.Errorf("%w: %d nodes of %d used", ErrProof, r.used, len(r.nodes))
	}
	return nil
}

// ListKey is the key of item i in the trie of [ListRoot].
func ListKey(i int) []byte { return rlp.AppendUint(nil, uint64(i)) }

// ProveList returns the root of a list, as [ListRoot] does, and the proof of
// its item i for [VerifyProof] under [ListKey]; of an index behind the end it
// proves that the list has no such item. It costs as much as the root.
func ProveList(items [][]byte, i int) (chain.Hash, [][]byte) {
	t := listTrie(items)
	root, _ := t.Commit()
	var proof [][]byte
	path := toNibbles(ListKey(i))
	for n, at := t.root, 0; n != nil; {
		if n.reference().byHash() {
			proof = append(proof, encode(n))
		}
		_, next, used := step(n, path[at:])
		n, at = next, at+used
	}
	return root, proof
}
