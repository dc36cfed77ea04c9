package state

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

// naive is a state kept the obvious way: whole maps, copied at each snapshot.
type naive struct {
	accounts map[chain.Address]Account
	storage  map[chain.Address]map[StorageKey]string
}

func newNaive() *naive {
	return &naive{accounts: map[chain.Address]Account{}, storage: map[chain.Address]map[StorageKey]string{}}
}

func (n *naive) clone() *naive {
	c := &naive{accounts: maps.Clone(n.accounts), storage: map[chain.Address]map[StorageKey]string{}}
	for a, s := range n.storage {
		c.storage[a] = maps.Clone(s)
	}
	return c
}

func (n *naive) Account(addr chain.Address) (Account, bool, error) {
	a, ok := n.accounts[addr]
	if !ok {
		return NewAccount(), false, nil
	}
	return a, true, nil
}

func (n *naive) Storage(addr chain.Address, key StorageKey) ([]byte, error) {
	if v, ok := n.storage[addr][key]; ok {
		return append([]byte{}, v...), nil
	}
	return nil, nil
}

// Scan sorts all there is.
func (n *naive) Scan(addr chain.Address, s Span) (list []Entry, err error) {
	for _, key := range slices.Sorted(maps.Keys(n.storage[addr])) {
		if strings.HasPrefix(string(key), string(s.Prefix)) && key >= s.From && (s.To == "" || key < s.To) && s.Entries > 0 && s.Bytes > 0 {
			list = append(list, Entry{key, []byte(n.storage[addr][key])})
			s.Entries--
			s.Bytes -= len(key) + len(n.storage[addr][key])
		}
	}
	return list, nil
}

func (n *naive) Code(chain.Hash) ([]byte, error) { return nil, nil }

func (n *naive) set(addr chain.Address, a Account) {
	if a.Empty() {
		delete(n.accounts, addr)
	} else {
		n.accounts[addr] = normal(a)
	}
}

func (n *naive) setStorage(addr chain.Address, key StorageKey, value []byte) {
	if value == nil {
		delete(n.storage[addr], key)
		return
	}
	if n.storage[addr] == nil {
		n.storage[addr] = map[StorageKey]string{}
	}
	n.storage[addr][key] = string(value)
}

func (n *naive) delete(addr chain.Address) {
	delete(n.accounts, addr)
	delete(n.storage, addr)
}

// TestOverlayAgainstNaiveModel runs random writes, snapshots and reverts on an
// overlay and on whole copied maps, and compares every readable place. It also
// overwrites each buffer it handed over or got back: neither may reach the
// state. Rerun one case with -run 'TestOverlayAgainstNaiveModel/seed=17'.
func TestOverlayAgainstNaiveModel(t *testing.T) {
	addrs := []chain.Address{{1}, {2}, {3}}
	keys := []StorageKey{NewStorageKey(0, nil), NewStorageKey(1, []byte("k")), NewStorageKey(1, []byte("kk"))}
	for seed := range uint64(100) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			parent := newNaive()
			for _, a := range addrs[:2] {
				parent.set(a, Account{Balance: 7, Nonce: 1})
				parent.setStorage(a, keys[0], []byte("old"))
			}
			model, over := parent.clone(), NewOverlay(parent)
			type mark struct {
				id    int
				model *naive
			}
			var marks []mark
			for range 300 {
				addr, key := addrs[rng.IntN(3)], keys[rng.IntN(3)]
				switch rng.IntN(10) {
				case 0, 1, 2:
					a := Account{Nonce: rng.Uint64N(2), Balance: chain.Wei(rng.Uint64N(2)), Meta: []byte("meta")[:rng.IntN(2)]}
					model.set(addr, a)
					over.SetAccount(addr, a)
					clear(a.Meta)
				case 3, 4, 5:
					value := [][]byte{nil, {}, []byte("v"), []byte("w")}[rng.IntN(4)]
					model.setStorage(addr, key, value)
					over.SetStorage(addr, key, value)
					clear(value)
				case 6:
					model.delete(addr)
					over.DeleteAccount(addr)
				case 7, 8:
					marks = append(marks, mark{over.Snapshot(), model.clone()})
				case 9:
					if len(marks) > 0 {
						i := rng.IntN(len(marks))
						over.Revert(marks[i].id)
						model, marks = marks[i].model, marks[:i]
					}
				}
				compareViews(t, model, over, addrs, keys)
			}
			replayed := replay(parent, over.Delta())
			compareViews(t, model, replayed, addrs, keys)
		})
	}
}

// replay applies a delta the way its documentation says.
func replay(parent *naive, d *Delta) *naive {
	n := parent.clone()
	for _, c := range d.Accounts() {
		if c.Cleared {
			n.delete(c.Address)
		}
		if c.Account != nil {
			n.set(c.Address, *c.Account)
		}
		for _, s := range c.Storage {
			n.setStorage(c.Address, s.Key, s.Value)
		}
	}
	return n
}

func compareViews(t *testing.T, want *naive, got View, addrs []chain.Address, keys []StorageKey) {
	t.Helper()
	for _, addr := range addrs {
		a, ok, _ := want.Account(addr)
		b, ok2, _ := got.Account(addr)
		if ok != ok2 || !reflect.DeepEqual(a, b) {
			t.Fatalf("account %s = %+v %v, want %+v %v", addr, b, ok2, a, ok)
		}
		clear(b.Meta)
		for _, key := range keys {
			v, _ := want.Storage(addr, key)
			w, _ := got.Storage(addr, key)
			if !bytes.Equal(v, w) || (v == nil) != (w == nil) {
				t.Fatalf("storage %s %q = %q, want %q", addr, key, w, v)
			}
			clear(w)
		}
	}
}

func TestDeltaOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	d := NewDelta()
	for range 200 {
		addr := chain.Address{byte(rng.IntN(20)), byte(rng.IntN(3))}
		d.SetStorage(addr, NewStorageKey(byte(rng.IntN(2)), []byte{byte(rng.IntN(9))}), []byte{1})
		d.SetCode([]byte{byte(rng.IntN(30))})
	}
	changes := d.Accounts()
	if !slices.IsSortedFunc(changes, func(a, b AccountChange) int { return bytes.Compare(a.Address[:], b.Address[:]) }) {
		t.Error("accounts are not in order of address")
	}
	for _, c := range changes {
		if !slices.IsSortedFunc(c.Storage, func(a, b StorageChange) int { return bytes.Compare([]byte(a.Key), []byte(b.Key)) }) {
			t.Errorf("storage of %s is not in order of key", c.Address)
		}
	}
	if !slices.IsSortedFunc(d.Codes(), func(a, b CodeChange) int { return bytes.Compare(a.Hash[:], b.Hash[:]) }) {
		t.Error("codes are not in order of hash")
	}
}

func TestOverlayCode(t *testing.T) {
	o := NewOverlay(newNaive())
	mark := o.Snapshot()
	hash := o.SetCode([]byte("code"))
	if again := o.SetCode([]byte("code")); again != hash {
		t.Fatalf("hashes differ: %s %s", hash, again)
	}
	if code, _ := o.Code(hash); string(code) != "code" {
		t.Fatalf("code = %q", code)
	}
	o.Revert(mark)
	if code, _ := o.Code(hash); code != nil || !o.Delta().Empty() {
		t.Fatalf("after revert: %q", code)
	}
	if o.SetCode(nil) != EmptyCodeHash || !o.Delta().Empty() {
		t.Error("no code is not EmptyCodeHash")
	}
}

func TestRevertToUnknownMarkPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	NewOverlay(newNaive()).Revert(1)
}

// TestStorageSizeAgainstCount writes and takes back at random through two
// overlays, one on the other, and counts the storage anew after each step. Rerun
// one case with -run 'TestStorageSizeAgainstCount/seed=3'.
func TestStorageSizeAgainstCount(t *testing.T) {
	for seed := range uint64(50) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 3))
			addr := chain.Address{1}
			base := NewOverlay(Empty{})
			levels := []*Overlay{base, NewOverlay(base)}
			marks := [2][]int{}
			for range 300 {
				i := 1
				if rng.IntN(20) == 0 && levels[1].Delta().Empty() {
					i = 0 // what is below must not change under writes
				}
				o := levels[i]
				switch op := rng.IntN(24); {
				case op == 0:
					o.DeleteAccount(addr)
				case op == 1:
					check(t, o.ClearStorage(addr))
				case op < 4:
					marks[i] = append(marks[i], o.Snapshot())
				case op < 7 && len(marks[i]) > 0:
					n := rng.IntN(len(marks[i]))
					o.Revert(marks[i][n])
					marks[i] = marks[i][:n]
				default:
					value := [][]byte{nil, {}, {1}, make([]byte, rng.IntN(50))}[rng.IntN(4)]
					o.SetStorage(addr, NewStorageKey(1, []byte{byte(rng.IntN(12))}), value)
				}
				if rng.IntN(2) == 0 {
					continue // so that several writes wait to be counted
				}
				var want StorageSize
				for k := range 12 {
					key := NewStorageKey(1, []byte{byte(k)})
					value, err := o.Storage(addr, key)
					check(t, err)
					want = want.Add(sizeOf(key, value))
				}
				if got, err := o.StorageSize(addr); err != nil || got != want {
					t.Fatalf("size %+v, %v; want %+v", got, err, want)
				}
			}
		})
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
