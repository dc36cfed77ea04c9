package tree

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/rlp"
)

// randomWrites draws a block over few addresses, so that accounts come and go.
func randomWrites(rng *rand.Rand, addresses, slots int) *state.Delta {
	d := state.NewDelta()
	for range rng.IntN(60) {
		addr := chain.Address{byte(rng.IntN(addresses)), byte(rng.IntN(2))}
		switch rng.IntN(6) {
		case 0:
			d.DeleteAccount(addr)
		case 1, 2:
			a := state.Account{Nonce: rng.Uint64N(3), Balance: chain.Wei(rng.Uint64() >> rng.IntN(65)), Meta: make([]byte, rng.IntN(2)*rng.IntN(5))}
			if rng.IntN(4) == 0 {
				a.CodeHash = chain.Hash{byte(rng.IntN(3))}
			}
			if rng.IntN(3) == 0 {
				a = state.Account{}
			}
			d.SetAccount(addr, a)
		default:
			if rng.IntN(40) == 0 {
				d.SetStorage(addr, state.NewStorageKey(0, []byte{byte(rng.IntN(2))}), make([]byte, 20_000+rng.IntN(60_000)))
			}
			for range rng.IntN(8) {
				key := state.NewStorageKey(byte(rng.IntN(2)), binary.AppendUvarint(nil, rng.Uint64N(uint64(slots))))
				d.SetStorage(addr, key, [][]byte{nil, {}, {5}, bytes.Repeat([]byte{6}, 70), bytes.Repeat([]byte{7}, rng.IntN(3000))}[rng.IntN(5)])
			}
		}
	}
	return d
}

var forests = flag.Uint64("forests", 6, "random chains of TestForestAgainstPlain")

// TestForestAgainstPlain applies random blocks with the plain trie and with
// forests of 1, 2, 4 and 16 workers. Images are retired and released at random,
// forks are grown and dropped, and records that were given back are overwritten:
// root, rows and accounts must agree throughout. Rerun one case with
// -run 'TestForestAgainstPlain/seed=3'.
func TestForestAgainstPlain(t *testing.T) {
	n := *forests
	if testing.Short() {
		n = 3
	}
	for seed := range n {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 7))
			m := newMemory()
			workers := []int{1, 2, 4, 16}
			var forests []*Forest
			var images []*Image
			for _, n := range workers {
				f := NewForest(n, nil)
				forests, images = append(forests, f), append(images, f.EmptyImage())
			}
			slots := []int{5, 40, 3000}[seed%3]
			for block := range 40 {
				delta := randomWrites(rng, 40, slots)
				if seed%3 == 2 && block%4 == 0 {
					addCrowd(rng, delta)
				}
				up := m.apply(t, delta)
				fork := randomWrites(rng, 40, slots)
				for i, f := range forests {
					dropped, err := f.Apply(images[i], fork)
					check(t, err)
					next, err := f.Apply(images[i], delta)
					check(t, err)
					if next.Root != up.Root {
						t.Fatalf("block %d, %d workers: root %s, plain %s", block, workers[i], next.Root, up.Root)
					}
					compareRows(t, next, up)
					f.releasePoisoned(dropped)
					f.retirePoisoned(next)
					images[i] = next
					compareAccounts(t, f, next, m)
				}
			}
			d := state.NewDelta()
			for addr := range m.accounts {
				d.DeleteAccount(addr)
			}
			for i, f := range forests {
				next, err := f.Apply(images[i], d)
				check(t, err)
				f.Retire(next)
				if next.Root != EmptyRoot || next.top != 0 {
					t.Fatalf("after deleting all: root %s", next.Root)
				}
				if n := f.taken(); n != 0 {
					t.Errorf("%d units leaked", n)
				}
			}
		})
	}
}

// seeds returns how many of n seeds to run: all, or a quarter with -short.
func seeds(n uint64) uint64 {
	if testing.Short() {
		return n / 4
	}
	return n
}

// addCrowd writes enough for workers to split: many accounts and one whale.
func addCrowd(rng *rand.Rand, d *state.Delta) {
	for range 400 {
		addr := chain.Address{byte(rng.Uint32()), byte(rng.Uint32()), 1}
		d.SetAccount(addr, state.Account{Balance: chain.Wei(rng.Uint64N(5))})
	}
	for range 2 * whaleMin {
		key := state.NewStorageKey(1, binary.AppendUvarint(nil, rng.Uint64N(3000)))
		d.SetStorage(chain.Address{1, 1}, key, [][]byte{nil, {1}, make([]byte, 40)}[rng.IntN(3)])
	}
}

// taken counts the units in records, as the slabs have them.
func (f *Forest) taken() int {
	n := 0
	for i := range f.pools {
		p := &f.pools[i]
		for number := range p.slabs {
			if s := &p.slabs[number]; s.ground != large {
				n += int(s.live)
			} else if mem := (*p.chunks.Load())[number]; s.where == noSlab {
				n += len(mem) / unitBytes
			}
		}
		for number := range p.large {
			n += int(p.large[number].live) * grainUnits
		}
	}
	if _, live := f.held(); live != int64(n*unitBytes) {
		panic(fmt.Sprintf("slabs have %d units in records, pools %d bytes", n, live))
	}
	return n
}

func (f *Forest) retirePoisoned(im *Image) {
	f.setPoison(true)
	f.Retire(im)
	f.setPoison(false)
}

func (f *Forest) releasePoisoned(im *Image) {
	f.setPoison(true)
	f.Release(im)
	f.setPoison(false)
}

func (f *Forest) setPoison(on bool) {
	for i := range f.pools {
		f.pools[i].poison = on
	}
}

// compareRows expects the rows of an image to be the flat changes of the plain
// update, in order of key.
func compareRows(t *testing.T, im *Image, up *Update) {
	t.Helper()
	plain := map[chain.Hash]AccountUpdate{}
	for _, a := range up.Accounts {
		plain[a.Key] = a
	}
	var last chain.Hash
	check(t, im.EachRow(func(row *Row, account []byte) error {
		if bytes.Compare(row.Key[:], last[:]) <= 0 {
			t.Fatal("rows are not in order")
		}
		last = row.Key
		a, ok := plain[row.Key]
		if !ok || row.Cleared != a.Cleared || (account != nil) != a.Exists || account != nil && !bytes.Equal(account, a.Account.Encode()) {
			t.Fatalf("row of %s: %x, cleared %v; plain %+v", row.Key, account, row.Cleared, a)
		}
		delete(plain, row.Key)
		return nil
	}))
}

// compareAccounts expects every flat value in the image.
func compareAccounts(t *testing.T, f *Forest, im *Image, m *memory) {
	t.Helper()
	for addr, want := range m.accounts {
		got, ok := f.Account(im, AccountKey(addr))
		if !ok || got.Balance != want.Balance || got.StorageRoot != want.StorageRoot || !bytes.Equal(got.Encode(), want.Encode()) {
			t.Fatalf("account %s: %+v, want %+v", addr, got, want)
		}
		for key, value := range m.storage[addr] {
			got, ok := f.Storage(im, AccountKey(addr), SlotKey(key))
			if !ok || !bytes.Equal(got, value) {
				t.Fatalf("storage of %s at %x: %x, want %x", addr, key, got, value)
			}
		}
	}
}

// TestForestOnAdversarialKeys writes keys that share long prefixes or split at
// single nibbles, which no hash would yield, and compares with the plain trie.
func TestForestOnAdversarialKeys(t *testing.T) {
	for seed := range seeds(40) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			adversarial(t, rand.New(rand.NewPCG(seed, 9)), 30)
		})
	}
}

// badKey draws a key out of a family.
func badKey(rng *rand.Rand, family int) (k key32) {
	switch family % 4 {
	case 0: // differs in one nibble of a common key
		at := rng.IntN(keyNibbles)
		k[at/2] = byte(1+rng.IntN(15)) << (4 * (at % 2))
	case 1: // long common beginning, divided at the very end
		k[30], k[31] = byte(rng.IntN(3)), byte(rng.IntN(256))
	case 2: // a few bytes, everywhere
		for i := range k {
			k[i] = []byte{0x00, 0x01, 0x10}[rng.IntN(1+rng.IntN(3))]
		}
	default: // two clusters and noise
		k = keccak.Sum256([]byte{byte(rng.IntN(40))})
		if rng.IntN(2) == 0 {
			copy(k[:20], make([]byte, 20))
		}
	}
	return k
}

func adversarial(t *testing.T, rng *rand.Rand, rounds int) {
	f := NewForest(2, nil)
	want := map[key32][]byte{}
	var root ref40
	for round := range rounds {
		family := rng.IntN(4)
		writes := map[key32][]byte{}
		for range 1 + rng.IntN(40) {
			var value []byte
			if rng.IntN(3) > 0 {
				value = bytes.Repeat([]byte{byte(rng.IntN(200))}, rng.IntN(1+rng.IntN(50)))
			}
			writes[badKey(rng, family)] = value
		}
		if rng.IntN(6) == 0 {
			for _, k := range slices.SortedFunc(maps.Keys(want), func(a, b key32) int { return bytes.Compare(a[:], b[:]) }) {
				if rng.IntN(3) > 0 {
					writes[k] = nil
				}
			}
		}
		plain := NewTrie(nil, chain.Hash{}, EmptyRoot)
		for k, v := range writes {
			if v == nil {
				delete(want, k)
			} else {
				want[k] = v
			}
		}
		for k, v := range want {
			check(t, plain.Put(k[:], rlp.AppendString(nil, v)))
		}
		wantRoot, _ := plain.Commit()
		got, now := f.plantRaw(t, root, writes, rng.IntN(2) == 0)
		if now == 0 {
			got = EmptyRoot
		}
		if got != wantRoot {
			t.Fatalf("round %d: root %s, plain %s", round, got, wantRoot)
		}
		root = now
	}
}

// plantRaw writes values under keys that are not hashes, and returns the root.
// It hashes the root anew, so that unchanged tries have one as well.
func (f *Forest) plantRaw(t *testing.T, root ref40, writes map[key32][]byte, whale bool) (chain.Hash, ref40) {
	t.Helper()
	f.epoch++
	b := &f.scratch
	b.epoch, b.image = f.epoch, &Image{epoch: f.epoch}
	b.results = make([]link, pools+1)
	var change state.AccountChange
	var es []entry
	for k, v := range writes {
		es = append(es, entry{k, int32(len(change.Storage))})
		change.Storage = append(change.Storage, state.StorageChange{Value: v})
	}
	w := f.crew[0]
	if whale {
		var spans [pools + 1]int
		shard(es, slices.Clone(es), &spans)
		_, now, err := b.plant(root, es, &spans, &change, 0)
		check(t, err)
		root = now
	} else {
		sortEntries(es)
		w.change, w.pool = &change, &f.pools[3]
		root = w.update(root, 0, es)
	}
	if root != 0 {
		w.push(root, 0, pools, 0)
	}
	w.hashAll()
	f.retirePoisoned(b.image)
	return b.results[pools].hash(), root
}

// FuzzForest reads bytes as blocks of writes under raw keys.
func FuzzForest(f *testing.F) {
	f.Add(uint64(1), uint64(2))
	f.Fuzz(func(t *testing.T, a, b uint64) { adversarial(t, rand.New(rand.NewPCG(a, b)), 6) })
}

// TestForestLoads builds the image of a state from its flat values in parts.
func TestForestLoads(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 3))
	m := newMemory()
	for range 30 {
		d := randomWrites(rng, 200, 60)
		addCrowd(rng, d)
		m.apply(t, d)
	}
	f := NewForest(2, nil)
	im := f.EmptyImage()
	var part []Loaded
	flush := func() {
		var err error
		im, err = f.Load(im, part)
		check(t, err)
		part = nil
	}
	for _, addr := range slices.SortedFunc(maps.Keys(m.accounts), func(a, b chain.Address) int { return bytes.Compare(a[:], b[:]) }) {
		a := m.accounts[addr]
		var storage []state.StorageChange
		for _, key := range slices.Sorted(maps.Keys(m.storage[addr])) {
			storage = append(storage, state.StorageChange{Key: key, Value: m.storage[addr][key]})
		}
		next := Loaded{Key: AccountKey(addr), Account: a, Storage: storage}
		if n := len(storage); n > 10 && rng.IntN(2) == 0 {
			next.Sheaf, next.Storage = &Sheaf{}, nil
			for n := 0; len(storage) > 0; storage = storage[n:] {
				n = rng.IntN(len(storage) + 1)
				check(t, f.Gather(next.Sheaf, storage[:n]))
			}
		} else if n > 10 {
			part = append(part, Loaded{Key: next.Key, Account: a, Storage: storage[:n/2]})
			flush()
			next.Storage = storage[n/2:]
		}
		part = append(part, next)
		if rng.IntN(50) == 0 {
			flush()
		}
	}
	flush()
	if im.Root != m.root {
		t.Fatalf("root %s, want %s", im.Root, m.root)
	}
}

// TestSheafOfManyEntries loads a storage that fills more than one batch of hashes,
// gathered and in parts: root and size are the same, and so is what blocks make of
// it. Gathered, nothing is made that is not kept.
func TestSheafOfManyEntries(t *testing.T) {
	const parts = 3
	var images [2]*Image
	var forests [2]*Forest
	account := Loaded{Key: AccountKey(chain.Address{1})}
	for i := range images {
		f := NewForest(2, nil)
		im, sheaf := f.EmptyImage(), &Sheaf{}
		for part := range parts {
			var storage []state.StorageChange
			for n := range pools * hashSoon / 2 {
				key := binary.AppendUvarint(nil, uint64(parts*n+part))
				storage = append(storage, state.StorageChange{Key: state.NewStorageKey(1, key), Value: key})
			}
			if i == 0 {
				check(t, f.Gather(sheaf, storage))
				continue
			}
			next := account
			next.Storage = storage
			var err error
			im, err = f.Load(im, []Loaded{next})
			check(t, err)
		}
		if i == 0 {
			account.Sheaf = sheaf
			var err error
			im, err = f.Load(im, []Loaded{account})
			check(t, err)
			if _, live := f.held(); live != f.made() {
				t.Errorf("%d bytes were made and given back", f.made()-live)
			}
			account.Sheaf = nil
		}
		images[i], forests[i] = im, f
	}
	rng := rand.New(rand.NewPCG(8, 2))
	for range 3 {
		var sizes [2]state.StorageSize
		for i, f := range forests {
			a, ok := f.Account(images[i], account.Key)
			if sizes[i] = a.StorageSize; !ok || a.StorageSize.Entries == 0 {
				t.Fatalf("account %+v, %v", a, ok)
			}
		}
		if images[0].Root != images[1].Root || sizes[0] != sizes[1] {
			t.Fatalf("root %s and %+v gathered, %s and %+v in parts", images[0].Root, sizes[0], images[1].Root, sizes[1])
		}
		d := state.NewDelta()
		for range 2 * whaleMin {
			key := state.NewStorageKey(1, binary.AppendUvarint(nil, rng.Uint64N(pools*hashSoon*2)))
			d.SetStorage(chain.Address{1}, key, [][]byte{nil, {7}}[rng.IntN(2)])
		}
		for i, f := range forests {
			im, err := f.Apply(images[i], d)
			check(t, err)
			f.Retire(im)
			images[i] = im
		}
	}
}

// TestDroppedStorageIsFreedInSteps evicts a large actor: each Retire frees a
// bounded number of its records, until none is left.
func TestDroppedStorageIsFreedInSteps(t *testing.T) {
	f := NewForest(2, nil)
	d := state.NewDelta()
	for i := range 3 * fellStep {
		d.SetStorage(chain.Address{1}, state.NewStorageKey(1, binary.AppendUvarint(nil, uint64(i))), []byte{1})
	}
	im, err := f.Apply(f.EmptyImage(), d)
	check(t, err)
	d = state.NewDelta()
	d.DeleteAccount(chain.Address{1})
	im, err = f.Apply(im, d)
	check(t, err)
	steps := 0
	for left := f.taken(); ; steps++ {
		f.Retire(im)
		now := f.taken()
		if now == left {
			break
		}
		if freed := left - now; freed > fellStep*unitsOf(branchBytes(16)) {
			t.Fatalf("%d units freed at once", freed)
		}
		left = now
		im, err = f.Apply(im, state.NewDelta())
		check(t, err)
	}
	if n := f.taken(); n != 0 || steps < 3 {
		t.Errorf("%d units left after %d steps", n, steps)
	}
}

// TestFullArenaIsAnError applies a block that no longer fits, in each phase of
// its application, small values and large ones: the error is ErrArenaFull, the
// version before has the values and the proofs it had, and once there is room
// again a block on it has the right root.
func TestFullArenaIsAnError(t *testing.T) {
	for _, size := range []int{20, 3000, 40_000} {
		t.Run(fmt.Sprintf("values of %d bytes", size), func(t *testing.T) {
			m, f := newMemory(), NewForest(2, nil)
			d := state.NewDelta()
			for i := range 300 {
				d.SetAccount(chain.Address{1, byte(i), byte(i >> 8)}, state.Account{Nonce: 1})
				d.SetStorage(chain.Address{2}, state.NewStorageKey(1, []byte{byte(i), byte(i >> 8)}), make([]byte, 50))
			}
			m.apply(t, d)
			im, err := f.Apply(f.EmptyImage(), d)
			check(t, err)
			full := 0
			for spare := range 12 {
				d := state.NewDelta()
				for i := range 5000 {
					d.SetAccount(chain.Address{3, byte(i), byte(i >> 8)}, state.Account{Nonce: 1, Meta: make([]byte, 200)})
					if i < 2_000_000/size && i < 2000 {
						d.SetStorage(chain.Address{byte(2 + i%7)}, state.NewStorageKey(1, []byte{byte(i), byte(i >> 8), 1}), make([]byte, size))
					}
				}
				for i := range f.pools {
					f.pools[i].limit = f.pools[i].used + spare
				}
				if _, err := f.Apply(im, d); err == nil {
					continue
				} else if !errors.Is(err, ErrArenaFull) {
					t.Fatal(err)
				}
				full++
				compareAccounts(t, f, im, m)
			}
			if full < 3 {
				t.Fatalf("full %d times", full)
			}
			for i := range f.pools {
				f.pools[i].limit = chunkMax
			}
			d = randomWrites(rand.New(rand.NewPCG(1, 1)), 40, 40)
			addCrowd(rand.New(rand.NewPCG(1, 1)), d)
			up := m.apply(t, d)
			next, err := f.Apply(im, d)
			check(t, err)
			if next.Root != up.Root {
				t.Fatalf("root %s, plain %s", next.Root, up.Root)
			}
			compareRows(t, next, up)
			f.Retire(next)
			compareAccounts(t, f, next, m)
		})
	}
}
