package tree

import (
	"bytes"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// memory is a store of nodes and flat values in maps.
type memory struct {
	nodes    map[string][]byte // owner ‖ path
	accounts map[chain.Address]state.Account
	storage  map[chain.Address]map[state.StorageKey][]byte
	root     chain.Hash
}

func newMemory() *memory {
	return &memory{
		nodes: map[string][]byte{}, accounts: map[chain.Address]state.Account{},
		storage: map[chain.Address]map[state.StorageKey][]byte{}, root: EmptyRoot,
	}
}

func (m *memory) Node(owner chain.Hash, path []byte) ([]byte, error) {
	return m.nodes[string(owner[:])+string(path)], nil
}

func (m *memory) Account(addr chain.Address) (state.Account, bool, error) {
	a, ok := m.accounts[addr]
	if !ok {
		return state.NewAccount(), false, nil
	}
	return a, true, nil
}

func (m *memory) put(changes []NodeChange) {
	for _, c := range changes {
		place := string(c.Owner[:]) + string(c.Path)
		if c.Node == nil {
			delete(m.nodes, place)
		} else {
			m.nodes[place] = bytes.Clone(c.Node)
		}
	}
}

// commit stores what a trie changed and returns its root.
func (m *memory) commit(t *Trie) chain.Hash {
	root, changes := t.Commit()
	m.put(changes)
	return root
}

// reopen commits a trie and opens what was stored.
func (m *memory) reopen(t *Trie) *Trie { return NewTrie(m, t.owner, m.commit(t)) }

// apply makes an update the state of m.
func (m *memory) apply(t *testing.T, delta *state.Delta) *Update {
	t.Helper()
	up, err := Apply(m, m.root, delta)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range up.Accounts {
		if a.Cleared {
			delete(m.storage, a.Address)
			for place := range m.nodes {
				if place[:32] == string(a.Key[:]) {
					delete(m.nodes, place)
				}
			}
		}
		if a.Exists {
			m.accounts[a.Address] = a.Account
		} else {
			delete(m.accounts, a.Address)
		}
		for _, s := range a.Storage {
			if m.storage[a.Address] == nil {
				m.storage[a.Address] = map[state.StorageKey][]byte{}
			}
			if s.Value == nil {
				delete(m.storage[a.Address], s.Key)
			} else {
				m.storage[a.Address][s.Key] = s.Value
			}
		}
	}
	if !slices.IsSortedFunc(up.Nodes, compareChanges) {
		t.Fatal("changed nodes are not in order")
	}
	m.put(up.Nodes)
	m.root = up.Root
	return up
}
