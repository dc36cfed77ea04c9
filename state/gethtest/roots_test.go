package gethtest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	gethstate "github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/ethdb/memorydb"
	gethrlp "github.com/ethereum/go-ethereum/rlp"
	"github.com/ethereum/go-ethereum/trie"
	"github.com/holiman/uint256"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// nodes keeps trie nodes in a map.
type nodes map[string][]byte

func (n nodes) Node(owner chain.Hash, path []byte) ([]byte, error) {
	return n[string(owner[:])+string(path)], nil
}

func (n nodes) put(changes []tree.NodeChange) {
	for _, c := range changes {
		place := string(c.Owner[:]) + string(c.Path)
		if c.Node == nil {
			delete(n, place)
		} else {
			n[place] = c.Node
		}
	}
}

// TestTrieRoots runs the same random puts and deletes on both tries. Keys share
// prefixes and values are often short, so that extensions, merges and embedded
// nodes are frequent; our trie is stored and opened again between rounds.
func TestTrieRoots(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			stored := nodes{}
			ours := tree.NewTrie(stored, chain.Hash{}, state.EmptyRoot)
			theirs := trie.NewEmpty(nil)
			for round := range 40 {
				for range rng.IntN(50) {
					key := make([]byte, 5)
					for i := range key {
						key[i] = []byte{0x00, 0x01, 0x10, 0xf1}[rng.IntN(4)]
					}
					if rng.IntN(10) < 3+int(seed%4) {
						check(t, ours.Delete(key))
						check(t, theirs.Delete(key))
						continue
					}
					value := bytes.Repeat([]byte{byte(1 + rng.IntN(255))}, 1+rng.IntN(1+rng.IntN(50)))
					check(t, ours.Put(key, value))
					check(t, theirs.Update(key, value))
				}
				root, changes := ours.Commit()
				if want := theirs.Hash(); root != chain.Hash(want) {
					t.Fatalf("round %d: root %s, go-ethereum %s", round, root, want)
				}
				stored.put(changes)
				ours = tree.NewTrie(stored, chain.Hash{}, root)
			}
		})
	}
}

type list [][]byte

func (l list) Len() int                             { return len(l) }
func (l list) EncodeIndex(i int, buf *bytes.Buffer) { buf.Write(l[i]) }

func TestListRoots(t *testing.T) {
	for n := range 301 {
		items := make(list, n)
		for i := range items {
			items[i] = bytes.Repeat([]byte{byte(i)}, 1+i)
		}
		got, want := tree.ListRoot(items), gethstate.DeriveSha(items, trie.NewListHasher())
		if got != chain.Hash(want) {
			t.Fatalf("%d items: root %s, go-ethereum %s", n, got, want)
		}
	}
}

// TestMainnetGenesis computes the state root of Ethereum's first block from its
// 8,893 allocations. Balances above 64 bits are Ethereum's own, so the leaves
// are encoded by go-ethereum.
func TestMainnetGenesis(t *testing.T) {
	tr := tree.NewTrie(nil, chain.Hash{}, state.EmptyRoot)
	for addr, account := range core.DefaultGenesisBlock().Alloc {
		leaf, err := gethrlp.EncodeToBytes(&gethstate.StateAccount{
			Balance: uint256.MustFromBig(account.Balance), Root: gethstate.EmptyRootHash, CodeHash: gethstate.EmptyCodeHash[:],
		})
		check(t, err)
		key := tree.AccountKey(chain.Address(addr))
		check(t, tr.Put(key[:], leaf))
	}
	root, _ := tr.Commit()
	if want := "0xd7f8974fb5ac78d9ac099b9ad5018bedc2ce0a72dad1827a1709da30580f0544"; root.String() != want {
		t.Errorf("root = %s, want %s", root, want)
	}
}

// world is a state in memory, with go-ethereum's tries of the same content.
type world struct {
	nodes
	accounts map[chain.Address]state.Account
	root     chain.Hash
	forest   *tree.Forest
	image    *tree.Image // the same state in the forest
}

func (w *world) Account(addr chain.Address) (state.Account, bool, error) {
	if a, ok := w.accounts[addr]; ok {
		return a, true, nil
	}
	return state.NewAccount(), false, nil
}

func (w *world) apply(t *testing.T, d *state.Delta) {
	t.Helper()
	up, err := tree.Apply(w, w.root, d)
	check(t, err)
	for _, a := range up.Accounts {
		if a.Cleared {
			for place := range w.nodes {
				if place[:32] == string(a.Key[:]) {
					delete(w.nodes, place)
				}
			}
		}
		if delete(w.accounts, a.Address); a.Exists {
			w.accounts[a.Address] = a.Account
		}
	}
	w.put(up.Nodes)
	w.root = up.Root
	w.image, err = w.forest.Apply(w.image, d)
	check(t, err)
	w.forest.Retire(w.image)
	if w.image.Root != w.root {
		t.Fatalf("root of the forest %s, of the plain trie %s", w.image.Root, w.root)
	}
}

// TestStateRootsAndProofs applies random blocks and keeps the same accounts in
// go-ethereum's secure trie. Then go-ethereum checks a proof of every account
// and storage key, present and absent, and decodes every account.
func TestStateRootsAndProofs(t *testing.T) {
	for seed := range uint64(5) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 2))
			w := &world{nodes: nodes{}, accounts: map[chain.Address]state.Account{}, root: state.EmptyRoot, forest: tree.NewForest(2, nil)}
			w.image = w.forest.EmptyImage()
			storage := map[chain.Address]map[state.StorageKey][]byte{}
			for range 20 {
				d := state.NewDelta()
				for range 40 {
					addr := chain.Address{byte(rng.IntN(60))}
					switch rng.IntN(6) {
					case 0:
						d.DeleteAccount(addr)
						delete(storage, addr)
					case 1, 2:
						d.SetAccount(addr, state.Account{Nonce: rng.Uint64N(3), Balance: chain.Wei(rng.Uint64() >> rng.IntN(64))})
					default:
						key, value := slot(rng.IntN(20)), bytes.Repeat([]byte{byte(rng.IntN(256))}, rng.IntN(40))
						if rng.IntN(3) == 0 {
							value = nil
						}
						d.SetStorage(addr, key, value)
						if storage[addr] == nil {
							storage[addr] = map[state.StorageKey][]byte{}
						}
						if delete(storage[addr], key); value != nil {
							storage[addr][key] = value
						}
					}
				}
				w.apply(t, d)
			}
			compareWorld(t, w, storage)
		})
	}
}

// account is what an account's leaf holds, for go-ethereum's encoder: its own
// StateAccount, and the fifth string where there is storage.
type account struct {
	Nonce    uint64
	Balance  *uint256.Int
	Root     common.Hash
	CodeHash []byte
	Fifth    []byte `rlp:"optional"`
}

// fifth counts bytes and entries of a storage.
func fifth(storage map[state.StorageKey][]byte) (b []byte) {
	if len(storage) == 0 {
		return nil
	}
	n := 0
	for key, value := range storage {
		n += len(key) + len(value)
	}
	return binary.AppendUvarint(binary.AppendUvarint(nil, uint64(n)), uint64(len(storage)))
}

func slot(i int) state.StorageKey {
	return state.NewStorageKey(state.VMNamespacePVM, []byte{byte(i)})
}

func compareWorld(t *testing.T, w *world, storage map[chain.Address]map[state.StorageKey][]byte) {
	t.Helper()
	theirs := trie.NewEmpty(nil)
	for i := range 256 {
		addr := chain.Address{byte(i)}
		contents := trie.NewEmpty(nil)
		for key, value := range storage[addr] {
			slotKey := keccak.Sum256([]byte(key))
			leaf, err := gethrlp.EncodeToBytes(value)
			check(t, err)
			check(t, contents.Update(slotKey[:], leaf))
		}
		a, ok := w.accounts[addr]
		if root := contents.Hash(); ok && chain.Hash(root) != a.StorageRoot || !ok && root != gethstate.EmptyRootHash {
			t.Fatalf("storage of %s: root %s, go-ethereum %s", addr, a.StorageRoot, root)
		}
		if ok {
			leaf, err := gethrlp.EncodeToBytes(&account{
				Nonce: a.Nonce, Balance: uint256.NewInt(uint64(a.Balance)), Root: common.Hash(a.StorageRoot), CodeHash: a.CodeHash[:],
				Fifth: fifth(storage[addr]),
			})
			check(t, err)
			key := keccak.Sum256(addr[:])
			check(t, theirs.Update(key[:], leaf))
		}
	}
	if root := theirs.Hash(); chain.Hash(root) != w.root {
		t.Fatalf("state root %s, go-ethereum %s", w.root, root)
	}
	compareProofs(t, w, storage)
}

func compareProofs(t *testing.T, w *world, storage map[chain.Address]map[state.StorageKey][]byte) {
	t.Helper()
	for i := range 256 {
		addr := chain.Address{byte(i)}
		proof, err := tree.ProveAccount(w, w.root, addr)
		check(t, err)
		key := keccak.Sum256(addr[:])
		if !reflect.DeepEqual(w.forest.ProveAccount(w.image, key), proof) {
			t.Fatalf("the forest proves %s with other nodes", addr)
		}
		leaf := gethVerify(t, w.root, key[:], proof)
		a, ok := w.accounts[addr]
		if !ok {
			if leaf != nil {
				t.Fatalf("proof of absent %s shows %x", addr, leaf)
			}
			continue
		}
		var decoded account
		check(t, gethrlp.DecodeBytes(leaf, &decoded))
		if decoded.Nonce != a.Nonce || decoded.Balance.Uint64() != uint64(a.Balance) || decoded.Root != common.Hash(a.StorageRoot) {
			t.Fatalf("proof of %s shows %+v, want %+v", addr, decoded, a)
		}
		for k := range 25 {
			if a.StorageRoot == state.EmptyRoot {
				break // go-ethereum has no proof in an empty trie: there is nothing to show
			}
			proof, err := tree.ProveStorage(w, addr, a.StorageRoot, slot(k))
			check(t, err)
			slotKey := keccak.Sum256([]byte(slot(k)))
			if !reflect.DeepEqual(w.forest.ProveStorage(w.image, key, slotKey), proof) {
				t.Fatalf("the forest proves slot %d of %s with other nodes", k, addr)
			}
			leaf := gethVerify(t, a.StorageRoot, slotKey[:], proof)
			value, ok := storage[addr][slot(k)]
			want, err := gethrlp.EncodeToBytes(value)
			check(t, err)
			if ok != (leaf != nil) || ok && !bytes.Equal(leaf, want) {
				t.Fatalf("proof of slot %d of %s shows %x, want %x", k, addr, leaf, want)
			}
		}
	}
}

// gethVerify returns what go-ethereum reads from a proof.
func gethVerify(t *testing.T, root chain.Hash, key []byte, proof [][]byte) []byte {
	t.Helper()
	value, err := gethProof(root, key, proof)
	check(t, err)
	return value
}

func gethProof(root chain.Hash, key []byte, proof [][]byte) ([]byte, error) {
	db := memorydb.New()
	for _, node := range proof {
		hash := keccak.Sum256(node)
		if err := db.Put(hash[:], node); err != nil {
			return nil, err
		}
	}
	return trie.VerifyProof(common.Hash(root), key, db)
}
