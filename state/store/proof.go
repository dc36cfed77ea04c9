package store

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// Proof shows what a state says under one key, to whoever trusts its root.
type Proof struct {
	Value []byte   // the trie's value: RLP of the account, or of the storage value; nil if absent
	Nodes [][]byte // from the root down, as go-ethereum's trie.VerifyProof takes them
}

// ProveAccount proves the account of addr, or its absence.
func (v *Version) ProveAccount(addr chain.Address) (Proof, error) {
	key := tree.AccountKey(addr)
	k, err := v.hold()
	if err != nil {
		return Proof{}, fmt.Errorf("prove account %s: %w", addr, err)
	}
	defer k.letGo()
	return newProof(v.root, key, v.made.forest.ProveAccount(v.image, key))
}

// ProveStorage proves a storage value of addr, or its absence, against the
// storage root of the account, which the first proof shows. Without account the
// second proof is empty.
func (v *Version) ProveStorage(addr chain.Address, key state.StorageKey) (account, storage Proof, err error) {
	owner, slot := tree.AccountKey(addr), tree.SlotKey(key)
	k, err := v.hold()
	if err != nil {
		return Proof{}, Proof{}, fmt.Errorf("prove storage of %s: %w", addr, err)
	}
	defer k.letGo()
	forest := v.made.forest
	if account, err = newProof(v.root, owner, forest.ProveAccount(v.image, owner)); err != nil {
		return Proof{}, Proof{}, err
	}
	a, _ := forest.Account(v.image, owner)
	storage, err = newProof(a.StorageRoot, slot, forest.ProveStorage(v.image, owner, slot))
	return account, storage, err
}

func newProof(root, key chain.Hash, nodes [][]byte) (Proof, error) {
	value, err := tree.VerifyProof(root, key[:], nodes)
	if err != nil {
		return Proof{}, damaged("own proof: %v", err)
	}
	return Proof{Value: value, Nodes: nodes}, nil
}

// ProveAccount proves the account of addr, or its absence, at the head. It
// returns the nodes and the height and root they prove against.
func (s *Store) ProveAccount(addr chain.Address) (nodes [][]byte, h chain.Height, root chain.Hash, err error) {
	v := s.Head()
	proof, err := v.ProveAccount(addr)
	return proof.Nodes, v.height, v.root, err
}

// StorageProof proves a storage value from the state root down: first the
// account, whose storage root the second proof is against.
type StorageProof struct {
	Height           chain.Height
	Root             chain.Hash
	Account, Storage Proof
}

// ProveStorage proves a storage value of addr, or its absence, at the head.
func (s *Store) ProveStorage(addr chain.Address, key state.StorageKey) (StorageProof, error) {
	v := s.Head()
	account, storage, err := v.ProveStorage(addr, key)
	return StorageProof{Height: v.height, Root: v.root, Account: account, Storage: storage}, err
}
