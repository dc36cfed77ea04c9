package tree

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/rlp"
)

// EmptyRoot is the root of a trie without entries.
var EmptyRoot = state.EmptyRoot

// ListRoot commits to a list and its order: the root of the trie that holds
// item i under RLP(i), as Ethereum roots the transactions and receipts of a
// block. Different lists have different roots, also if items are empty, because
// no encoded index is the beginning of another.
func ListRoot(items [][]byte) chain.Hash {
	t := NewTrie(nil, chain.Hash{}, EmptyRoot)
	for i, item := range items {
		if err := t.put(rlp.AppendUint(nil, uint64(i)), item); err != nil {
			panic("tree: a trie without stored nodes failed to read one")
		}
	}
	root, _ := t.Commit()
	return root
}
