package tree

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/rlp"
)

// rebuildState returns root and nodes of the state that the flat values of m
// make, from nothing.
func rebuildState(t *testing.T, m *memory) (chain.Hash, map[string][]byte) {
	t.Helper()
	fresh := newMemory()
	accounts := NewTrie(nil, chain.Hash{}, EmptyRoot)
	for _, addr := range slices.SortedFunc(maps.Keys(m.accounts), func(a, b chain.Address) int { return bytes.Compare(b[:], a[:]) }) {
		a := m.accounts[addr]
		storage := NewTrie(nil, AccountKey(addr), EmptyRoot)
		for key, value := range m.storage[addr] {
			slot := SlotKey(key)
			check(t, storage.Put(slot[:], rlp.AppendString(nil, value)))
		}
		if root := fresh.commit(storage); root != a.StorageRoot {
			t.Fatalf("storage root of %s = %s, rebuilt %s", addr, a.StorageRoot, root)
		}
		key := AccountKey(addr)
		check(t, accounts.Put(key[:], a.Encode()))
	}
	return fresh.commit(accounts), fresh.nodes
}

// TestApplyAgainstRebuild applies random blocks of account and storage writes,
// deletions and re-creations, and after each rebuilds the state from its flat
// values: same root, same stored nodes, storage only where an account exists.
// Rerun one case with -run 'TestApplyAgainstRebuild/seed=3'.
func TestApplyAgainstRebuild(t *testing.T) {
	for seed := range uint64(10) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 5))
			m := newMemory()
			for block := range 40 {
				d := state.NewDelta()
				for range rng.IntN(30) {
					addr := chain.Address{byte(rng.IntN(30))}
					switch rng.IntN(6) {
					case 0:
						d.DeleteAccount(addr)
					case 1, 2:
						d.SetAccount(addr, state.Account{Balance: chain.Wei(rng.IntN(3)), Meta: make([]byte, rng.IntN(2)*rng.IntN(5))})
					default:
						key := state.NewStorageKey(byte(rng.IntN(2)), []byte{byte(rng.IntN(12))})
						d.SetStorage(addr, key, [][]byte{nil, {}, {5}, bytes.Repeat([]byte{6}, 70)}[rng.IntN(4)])
					}
				}
				m.apply(t, d)
				root, nodes := rebuildState(t, m)
				if root != m.root || !reflect.DeepEqual(nodes, m.nodes) {
					t.Fatalf("block %d: root %s, rebuilt %s; %d nodes, rebuilt %d", block, m.root, root, len(m.nodes), len(nodes))
				}
				for addr, values := range m.storage {
					if _, ok := m.accounts[addr]; !ok && len(values) > 0 {
						t.Fatalf("block %d: storage without account %s", block, addr)
					}
				}
			}
		})
	}
}

func TestEmptyAccountsAreAbsent(t *testing.T) {
	addr, key := chain.Address{1}, state.NewStorageKey(0, []byte("k"))
	write := func(m *memory, change func(*state.Delta)) {
		t.Helper()
		d := state.NewDelta()
		change(d)
		m.apply(t, d)
	}
	tests := []struct {
		name   string
		writes []func(*state.Delta)
		exists bool
	}{
		{"touched only", []func(*state.Delta){func(d *state.Delta) { d.SetAccount(addr, state.NewAccount()) }}, false},
		{"emptied", []func(*state.Delta){
			func(d *state.Delta) { d.SetAccount(addr, state.Account{Balance: 5}) },
			func(d *state.Delta) { d.SetAccount(addr, state.NewAccount()) },
		}, false},
		{"storage alone keeps it", []func(*state.Delta){func(d *state.Delta) { d.SetStorage(addr, key, []byte{}) }}, true},
		{"its last storage value removed", []func(*state.Delta){
			func(d *state.Delta) { d.SetStorage(addr, key, []byte{1}) },
			func(d *state.Delta) { d.SetStorage(addr, key, nil) },
		}, false},
		{"emptied but for storage", []func(*state.Delta){
			func(d *state.Delta) {
				d.SetAccount(addr, state.Account{Balance: 5})
				d.SetStorage(addr, key, []byte{1})
			},
			func(d *state.Delta) { d.SetAccount(addr, state.NewAccount()) },
		}, true},
		{"deleted with its storage", []func(*state.Delta){
			func(d *state.Delta) {
				d.SetAccount(addr, state.Account{Balance: 5})
				d.SetStorage(addr, key, []byte{1})
			},
			func(d *state.Delta) { d.DeleteAccount(addr) },
		}, false},
		{"code alone keeps it", []func(*state.Delta){func(d *state.Delta) {
			d.SetAccount(addr, state.Account{CodeHash: d.SetCode([]byte("code"))})
		}}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := newMemory()
			for _, w := range tt.writes {
				write(m, w)
			}
			if _, exists := m.accounts[addr]; exists != tt.exists || (m.root == EmptyRoot) == tt.exists {
				t.Errorf("exists = %v, root = %s, want exists %v", exists, m.root, tt.exists)
			}
		})
	}
}

func TestApplyFailures(t *testing.T) {
	m := newMemory()
	d := state.NewDelta()
	d.SetAccount(chain.Address{1}, state.Account{Meta: make([]byte, state.MaxMetaBytes+1)})
	if _, err := Apply(m, m.root, d); !errors.Is(err, state.ErrMetaLength) {
		t.Errorf("long metadata: %v", err)
	}
	if _, err := Apply(m, chain.Hash{9}, goodDelta()); !errors.Is(err, ErrCorrupt) {
		t.Errorf("root without nodes: %v", err)
	}
}

func goodDelta() *state.Delta {
	d := state.NewDelta()
	d.SetAccount(chain.Address{1}, state.Account{Balance: 1})
	return d
}

// The roots were computed with go-ethereum's types.DeriveSha; the nested module
// gethtest compares lists of every length up to 300.
func TestListRoot(t *testing.T) {
	f := func(n int, want string) {
		t.Helper()
		items := make([][]byte, n)
		for i := range items {
			items[i] = bytes.Repeat([]byte{byte(i)}, 1+i)
		}
		if got := ListRoot(items).String(); got != want {
			t.Errorf("root of %d items = %s, want %s", n, got, want)
		}
	}
	f(0, EmptyRoot.String())
	f(1, "0x7da536f7df63a0dfb481590e53be0e3063d9b798925cc3d479a3eb3155d0b394")
	f(2, "0x47a291e1f0920ea2b564d3d828c0f3a4691bc9f2b15813c5a3a3e7e3d6bd17ef")
	f(130, "0x457c62b18a561f2faabbcaf37d6b5c498e2fafb1efdf5871beb0cdaaa331ccc8")
}

func TestListRootTellsListsApart(t *testing.T) {
	roots := map[chain.Hash]string{}
	for _, items := range [][][]byte{{}, {{}}, {{}, {}}, {{0x80}}, {{1}}, {{1}, {}}, {{}, {1}}, {{1}, {2}}, {{2}, {1}}} {
		root := ListRoot(items)
		if other, ok := roots[root]; ok {
			t.Errorf("%x and %s have the same root", items, other)
		}
		roots[root] = fmt.Sprintf("%x", items)
	}
}

// TestListRootsForget: one memory for lists of all lengths, one after the other and at once,
// gives what the trie gives. Items shorter than a digest stand in their parents themselves.
func TestListRootsForget(t *testing.T) {
	var roots ListRoots
	var all sync.WaitGroup
	for w := range uint64(3) {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(w, 10))
			for round := range 40 {
				items := make([][]byte, rng.IntN(1+round*round))
				for i := range items {
					items[i] = bytes.Repeat([]byte{byte(rng.Uint32())}, rng.IntN(90)/(1+round%3))
				}
				want, _ := listTrie(items).Commit()
				if got := roots.RootBy(1+round%4, items); got != want {
					t.Errorf("worker %d, round %d: root %s of %d items, the trie's is %s", w, round, got, len(items), want)
				}
			}
		})
	}
	all.Wait()
}
