package tree

import (
	"fmt"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/rlp"
)

// Before is the state that a block is applied to.
type Before interface {
	Nodes
	Account(addr chain.Address) (state.Account, bool, error)
}

// Update is what a block makes of a state.
type Update struct {
	Root     chain.Hash
	Accounts []AccountUpdate // ascending by address
	Nodes    []NodeChange    // ascending by owner and path; apply after Cleared
}

// AccountUpdate is the outcome for one account, applied in this order: Cleared,
// Account, Storage.
type AccountUpdate struct {
	Address chain.Address
	Key     chain.Hash // AccountKey(Address)
	// Cleared: all storage values and storage nodes of the account before the
	// block go.
	Cleared bool
	Exists  bool
	Account state.Account // with its new StorageRoot, if it exists
	Storage []state.StorageChange
}

// Apply returns the state after the writes of delta to the state before with
// the given root. It changes nothing. Errors are faults of the storage, or
// state.ErrMetaLength for an account with too much metadata.
func Apply(before Before, root chain.Hash, delta *state.Delta) (*Update, error) {
	accounts := NewTrie(before, chain.Hash{}, root)
	up := &Update{}
	for _, change := range delta.Accounts() {
		account, err := applyAccount(before, change, up)
		if err != nil {
			return nil, fmt.Errorf("account %s: %w", change.Address, err)
		}
		if account.Exists {
			err = accounts.Put(account.Key[:], account.Account.Encode())
		} else {
			err = accounts.Delete(account.Key[:])
		}
		if err != nil {
			return nil, err
		}
		up.Accounts = append(up.Accounts, account)
	}
	var nodes []NodeChange
	up.Root, nodes = accounts.Commit()
	up.Nodes = append(up.Nodes, nodes...)
	slices.SortFunc(up.Nodes, compareChanges)
	return up, nil
}

// applyAccount settles one account, with its storage, and adds the changed
// nodes of its storage to up.
func applyAccount(before Before, change state.AccountChange, up *Update) (AccountUpdate, error) {
	a, existed, err := before.Account(change.Address)
	if err != nil {
		return AccountUpdate{}, err
	}
	out := AccountUpdate{Address: change.Address, Key: AccountKey(change.Address), Storage: change.Storage}
	if change.Cleared {
		out.Cleared = existed && a.HasStorage()
		a = state.NewAccount()
	}
	if change.Account != nil {
		storageRoot, size := a.StorageRoot, a.StorageSize
		a = *change.Account
		a.StorageRoot, a.StorageSize = storageRoot, size
	}
	if len(a.Meta) > state.MaxMetaBytes {
		return AccountUpdate{}, state.ErrMetaLength
	}
	if len(change.Storage) > 0 {
		var nodes []NodeChange
		if nodes, err = applyStorage(before, out.Key, &a, change.Storage); err != nil {
			return AccountUpdate{}, err
		}
		up.Nodes = append(up.Nodes, nodes...)
	}
	out.Account, out.Exists = a, !a.Empty()
	return out, nil
}

// applyStorage brings the storage of an account up to date, its root and its
// size.
func applyStorage(nodes Nodes, owner chain.Hash, a *state.Account, changes []state.StorageChange) ([]NodeChange, error) {
	t := NewTrie(nodes, owner, a.StorageRoot)
	for _, c := range changes {
		grown, err := t.write(c)
		if err != nil {
			return nil, fmt.Errorf("storage key %x: %w", string(c.Key), err)
		}
		a.StorageSize = a.StorageSize.Add(grown)
	}
	root, changed := t.Commit()
	a.StorageRoot = root
	return changed, nil
}

// write writes one storage value and returns what it adds to the size.
func (t *Trie) write(c state.StorageChange) (grown state.StorageSize, err error) {
	slot := SlotKey(c.Key)
	leaf, err := t.Get(slot[:])
	if err != nil {
		return grown, err
	}
	if leaf != nil {
		was, _, err := rlp.SplitString(leaf)
		if err != nil {
			return grown, err
		}
		grown = grown.Sub(state.SizeOf(c.Key, was))
	}
	if c.Value == nil {
		return grown, t.Delete(slot[:])
	}
	return grown.Add(state.SizeOf(c.Key, c.Value)), t.Put(slot[:], rlp.AppendString(nil, c.Value))
}
