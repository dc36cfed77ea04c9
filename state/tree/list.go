package tree

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// EmptyRoot is the root of a trie without entries.
var EmptyRoot = state.EmptyRoot

// ListRoot commits to a list and its order: the root of the trie that holds
// item i under RLP(i), as Ethereum roots the transactions and receipts of a
// block. Different lists have different roots, also if items are empty, because
// no encoded index is the beginning of another.
func ListRoot(items [][]byte) chain.Hash {
	root, _ := listTrie(items).Commit()
	return root
}

func listTrie(items [][]byte) *Trie {
	t := NewTrie(nil, chain.Hash{}, EmptyRoot)
	for i, item := range items {
		if err := t.put(ListKey(i), item); err != nil {
			panic("tree: a trie without stored nodes failed to read one")
		}
	}
	return t
}
