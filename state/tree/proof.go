package tree

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/rlp"
)

// ErrProof means that a proof does not prove anything under the given root: a
// node is missing, unused, malformed or another than its parent names.
var ErrProof = errors.New("tree: invalid proof")

// Prove returns the nodes from the root to key, or to the place where key would
// be: the proof that it is present or absent. Nodes that stand inside another
// are not listed on their own. The proof in an empty trie is an empty list.
func Prove(nodes Nodes, owner, root chain.Hash, key []byte) ([][]byte, error) {
	var proof [][]byte
	_, err := follow(root, key, func(path []byte, want chain.Hash) (node, error) {
		enc, n, err := readNode(nodes, owner, path, want)
		proof = append(proof, enc)
		return n, err
	})
	if err != nil {
		return nil, err
	}
	return proof, nil
}

// VerifyProof returns the value that proof shows under key in the trie with the
// given root; nil means that proof shows there is none. The value is a slice of
// proof. A proof with a node too many is refused like one with a node too few.
func VerifyProof(root chain.Hash, key []byte, proof [][]byte) ([]byte, error) {
	used := 0
	value, err := follow(root, key, func(_ []byte, want chain.Hash) (node, error) {
		if used == len(proof) {
			return nil, fmt.Errorf("%w: ends after %d nodes", ErrProof, used)
		}
		enc := proof[used]
		if chain.Hash(keccak.Sum256(enc)) != want {
			return nil, fmt.Errorf("%w: node %d is not %s", ErrProof, used, want)
		}
		used++
		n, err := decode(enc)
		if err != nil {
			return nil, fmt.Errorf("%w: node %d: %w", ErrProof, used-1, err)
		}
		return n, nil
	})
	if err != nil {
		return nil, err
	}
	if used != len(proof) {
		return nil, fmt.Errorf("%w: %d nodes of %d used", ErrProof, used, len(proof))
	}
	return value, nil
}

// follow goes from the root to key and calls read for each node that is named
// by a hash.
func follow(root chain.Hash, key []byte, read func(path []byte, want chain.Hash) (node, error)) ([]byte, error) {
	if root == EmptyRoot {
		return nil, nil
	}
	path := toNibbles(key)
	var n node = &unread{ref: hashReference(root)}
	for at := 0; ; {
		if u, ok := n.(*unread); ok {
			var err error
			if n, err = read(path[:at], u.hash()); err != nil {
				return nil, err
			}
		}
		value, next, used := step(n, path[at:])
		if next == nil {
			return value, nil
		}
		n, at = next, at+used
	}
}

// AccountKey is the key of an account in the trie of accounts, and the owner of
// the nodes of its storage: its address's hash. Those of system actors, whose storage
// every instruction reads, are in a table.
func AccountKey(addr chain.Address) chain.Hash {
	if addr.IsSystem() {
		return systemKeys()[binary.BigEndian.Uint16(addr[len(addr)-2:])]
	}
	return keccak.Sum256(addr[:])
}

// systemKeys are the keys of system actors, by their numbers.
var systemKeys = sync.OnceValue(func() *[chain.LastSystemAddress + 1]chain.Hash {
	var keys [chain.LastSystemAddress + 1]chain.Hash
	for n := range keys {
		addr := chain.SystemAddress(uint16(n))
		keys[n] = keccak.Sum256(addr[:])
	}
	return &keys
})

// SlotKey is the key of a storage value in its account's trie.
func SlotKey(key state.StorageKey) chain.Hash { return keccak.Sum256([]byte(key)) }

// ProveAccount proves what the state with the given root says of addr.
func ProveAccount(nodes Nodes, root chain.Hash, addr chain.Address) ([][]byte, error) {
	key := AccountKey(addr)
	return Prove(nodes, chain.Hash{}, root, key[:])
}

// ProveStorage proves what an account with the given storage root keeps under
// key.
func ProveStorage(nodes Nodes, addr chain.Address, storageRoot chain.Hash, key state.StorageKey) ([][]byte, error) {
	slot := SlotKey(key)
	return Prove(nodes, AccountKey(addr), storageRoot, slot[:])
}

// VerifyAccount returns the account that a proof of [ProveAccount] shows, and
// whether it exists.
func VerifyAccount(root chain.Hash, addr chain.Address, proof [][]byte) (state.Account, bool, error) {
	key := AccountKey(addr)
	value, err := VerifyProof(root, key[:], proof)
	if err != nil || value == nil {
		return state.NewAccount(), false, err
	}
	a, err := state.DecodeAccount(value)
	if err != nil {
		return state.Account{}, false, fmt.Errorf("%w: %w", ErrProof, err)
	}
	return a, true, nil
}

// VerifyStorage returns the storage value that a proof of [ProveStorage] shows,
// nil if there is none. The storage root is the one of a verified account.
func VerifyStorage(storageRoot chain.Hash, key state.StorageKey, proof [][]byte) ([]byte, error) {
	slot := SlotKey(key)
	leafValue, err := VerifyProof(storageRoot, slot[:], proof)
	if err != nil || leafValue == nil {
		return nil, err
	}
	value, rest, err := rlp.SplitString(leafValue)
	if err != nil || len(rest) != 0 {
		return nil, fmt.Errorf("%w: storage value is not an RLP string", ErrProof)
	}
	return value, nil
}
