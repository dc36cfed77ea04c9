package rent

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/rlp"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// version is the view of an image.
type version struct {
	forest *tree.Forest
	image  *tree.Image
}

func (v version) Account(addr chain.Address) (state.Account, bool, error) {
	a, ok := v.forest.Account(v.image, tree.AccountKey(addr))
	return a, ok, nil
}

func (v version) Storage(addr chain.Address, key state.StorageKey) ([]byte, error) {
	value, _ := v.forest.Storage(v.image, tree.AccountKey(addr), tree.SlotKey(key))
	return value, nil
}

func (version) Scan(chain.Address, state.Span) ([]state.Entry, error) {
	return nil, errors.New("nobody scans here")
}

func (v version) Code(chain.Hash) ([]byte, error) { return nil, errors.New("no code here") }

// apply returns the version after the writes of o.
func (v version) apply(t *testing.T, o *state.Overlay) version {
	t.Helper()
	next, err := v.forest.Apply(v.image, o.Delta())
	check(t, err)
	return version{v.forest, next}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

type contents = map[state.StorageKey]string

func sizeOf(c contents) (size state.StorageSize) {
	for key, value := range c {
		size.Bytes += uint64(len(key) + len(value))
		size.Entries++
	}
	return size
}

func rootOf(t *testing.T, c contents) chain.Hash {
	t.Helper()
	trie := tree.NewTrie(nil, chain.Hash{}, state.EmptyRoot)
	for key, value := range c {
		slot := tree.SlotKey(key)
		check(t, trie.Put(slot[:], rlp.AppendString(nil, []byte(value))))
	}
	root, _ := trie.Commit()
	return root
}

// ordered returns contents in the order of restoration.
func ordered(c contents) []state.StorageChange {
	var list []state.StorageChange
	for key, value := range c {
		list = append(list, state.StorageChange{Key: key, Value: []byte(value)})
	}
	slices.SortFunc(list, func(a, b state.StorageChange) int {
		x, y := keccak.Sum256([]byte(a.Key)), keccak.Sum256([]byte(b.Key))
		return bytes.Compare(x[:], y[:])
	})
	return list
}

// actor is what the model knows of an address: plain maps, no tries.
type actor struct {
	live    contents
	evicted contents // nil if present
	by      chain.Address
	until   chain.Height
	open    bool
	cursor  []byte
	touched bool // in this block, since it was last cleared
}

func (a actor) clone() actor {
	a.live, a.evicted = maps.Clone(a.live), maps.Clone(a.evicted)
	return a
}

// model answers as the package has to.
type model struct {
	t      *testing.T
	actors map[chain.Address]actor
}

func (m *model) clone() *model {
	c := &model{m.t, map[chain.Address]actor{}}
	for addr, a := range m.actors {
		c.actors[addr] = a.clone()
	}
	return c
}

func (m *model) evict(a *actor) error {
	switch {
	case a.evicted != nil:
		return ErrDormant
	case a.touched:
		return ErrUnsettled
	case len(a.live) == 0:
		return ErrNoStorage
	}
	a.evicted, a.live = a.live, contents{}
	return nil
}

func (m *model) begin(a *actor, s Session, deadline chain.Height) error {
	switch {
	case a.evicted == nil:
		return ErrNotDormant
	case deadline <= s.Height:
		return ErrDeadline
	case a.open && s.Height <= a.until:
		return ErrRestoring
	}
	a.open, a.by, a.until, a.cursor, a.live, a.touched = true, s.By, deadline, nil, contents{}, false
	return nil
}

func (m *model) session(a *actor, s Session) error {
	switch {
	case a.evicted == nil:
		return ErrNotDormant
	case !a.open || a.by != s.By:
		return ErrNotRestoring
	case s.Height > a.until:
		return ErrLate
	}
	return nil
}

func (m *model) put(a *actor, s Session, chunk []state.StorageChange) error {
	if len(chunk) == 0 {
		return ErrChunk
	}
	var bytesIn, entries uint64
	for _, c := range chunk {
		if c.Value == nil || len(c.Key) == 0 {
			return ErrChunk
		}
		bytesIn += uint64(len(c.Key) + len(c.Value))
		entries++
	}
	if err := m.session(a, s); err != nil {
		return err
	}
	have, limit := sizeOf(a.live), sizeOf(a.evicted)
	if have.Bytes+bytesIn > limit.Bytes || have.Entries+entries > limit.Entries {
		return ErrTooMuch
	}
	cursor := a.cursor
	for _, c := range chunk {
		sum := keccak.Sum256([]byte(c.Key))
		if bytes.Compare(sum[:], cursor) <= 0 {
			return ErrOrder
		}
		cursor = sum[:]
	}
	for _, c := range chunk {
		a.live[c.Key] = string(c.Value)
	}
	a.cursor, a.touched = cursor, true
	return nil
}

func (m *model) commit(a *actor, s Session) error {
	if err := m.session(a, s); err != nil {
		return err
	}
	switch {
	case a.touched:
		return ErrUnsettled
	case sizeOf(a.live) != sizeOf(a.evicted):
		return ErrIncomplete
	case !maps.Equal(a.live, a.evicted):
		return ErrRootMismatch
	}
	a.evicted, a.open = nil, false
	return nil
}

func (m *model) abort(a *actor, s Session) error {
	if a.evicted == nil {
		return ErrNotDormant
	}
	wrong := !a.touched && sizeOf(a.live) == sizeOf(a.evicted) && !maps.Equal(a.live, a.evicted)
	if !a.open || a.by != s.By && s.Height <= a.until && !wrong {
		return ErrNotRestoring
	}
	a.open, a.live, a.touched = false, contents{}, false
	return nil
}

// step does one random thing to both.
func (m *model) step(rng *rand.Rand, o *state.Overlay, height chain.Height) error {
	t := m.t
	s := Session{Actor: chain.Address{byte(1 + rng.IntN(4))}, By: chain.Address{0, byte(rng.IntN(3))}, Height: height}
	a := m.actors[s.Actor]
	if a.live == nil {
		a.live = contents{}
	}
	defer func() { m.actors[s.Actor] = a }()
	var got, want error
	switch op := rng.IntN(20); {
	case op < 10 && a.evicted == nil:
		key := state.NewStorageKey(1, bytes.Repeat([]byte{byte(rng.IntN(25))}, rng.IntN(3)))
		value := [][]byte{nil, {}, {7}, bytes.Repeat([]byte{byte(rng.IntN(3))}, rng.IntN(60))}[rng.IntN(4)]
		o.SetStorage(s.Actor, key, value)
		if delete(a.live, key); value != nil {
			a.live[key] = string(value)
		}
		a.touched = true
	case op == 10 && rng.IntN(4) == 0:
		o.DeleteAccount(s.Actor)
		o.SetAccount(s.Actor, state.Account{Nonce: 1})
		a = actor{live: contents{}}
	case op < 12:
		_, got = Evict(o, s.Actor)
		want = m.evict(&a)
	case op < 14:
		deadline := height + chain.Height(rng.IntN(12))
		got, want = Begin(o, s, deadline), m.begin(&a, s, deadline)
	case op < 17:
		if a.open && rng.IntN(5) > 0 {
			s.By = a.by
		}
		chunk := m.chunk(rng, &a)
		got, want = Put(o, s, chunk), m.put(&a, s, chunk)
	case op < 19:
		if a.open && rng.IntN(5) > 0 {
			s.By = a.by
		}
		got, want = Commit(o, s), m.commit(&a, s)
	default:
		got, want = Abort(o, s), m.abort(&a, s)
	}
	if !errors.Is(got, want) || (got == nil) != (want == nil) {
		t.Fatalf("%+v: %v, want %v", s, got, want)
	}
	size, err := o.StorageSize(s.Actor)
	check(t, err)
	if size != sizeOf(a.live) {
		t.Fatalf("%s: size %+v, want %+v", s.Actor, size, sizeOf(a.live))
	}
	return got
}

// chunk draws what comes next, or something hostile.
func (m *model) chunk(rng *rand.Rand, a *actor) []state.StorageChange {
	rest := slices.DeleteFunc(ordered(a.evicted), func(c state.StorageChange) bool {
		sum := keccak.Sum256([]byte(c.Key))
		return bytes.Compare(sum[:], a.cursor) <= 0
	})
	chunk := rest[:min(len(rest), rng.IntN(1+len(rest)+2))]
	if len(chunk) == 0 {
		return chunk
	}
	switch i := rng.IntN(len(chunk)); rng.IntN(12) {
	case 0:
		chunk[i].Value = append(bytes.Clone(chunk[i].Value), 1)
	case 1:
		if len(chunk[i].Value) > 0 {
			chunk[i].Value[0] ^= 1
		}
	case 2:
		slices.Reverse(chunk)
	case 3:
		chunk = append(chunk, chunk[i])
	case 4:
		chunk[i].Value = nil
	case 5:
		chunk = slices.Delete(chunk, i, i+1)
	}
	return chunk
}

// TestAgainstModel runs random blocks of writes, deletions, evictions and
// restorations, honest and hostile, with transactions that are taken back and
// forks that are dropped. Every answer, size and storage root must be that of
// plain maps. Rerun one case with -run 'TestAgainstModel/seed=3'.
func TestAgainstModel(t *testing.T) {
	seeds := uint64(60)
	if testing.Short() {
		seeds /= 4
	}
	answers := map[error]int{}
	for seed := range seeds {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 5))
			v := version{forest: tree.NewForest(2, nil)}
			v.image = v.forest.EmptyImage()
			m := &model{t, map[chain.Address]actor{}}
			for height := range chain.Height(60) {
				fork := state.NewOverlay(v)
				m.clone().block(rng, fork, height, answers)
				dropped := v.apply(t, fork)

				o := state.NewOverlay(v)
				m = m.block(rng, o, height, answers)
				next := v.apply(t, o)
				v.forest.Release(dropped.image)
				v.forest.Retire(next.image)
				v = next
				m.settle(v)
			}
		})
	}
	for _, e := range []error{
		nil, ErrDormant, ErrNotDormant, ErrNoStorage, ErrUnsettled, ErrRestoring, ErrNotRestoring,
		ErrLate, ErrDeadline, ErrChunk, ErrOrder, ErrTooMuch, ErrIncomplete, ErrRootMismatch,
	} {
		if answers[e] == 0 {
			t.Errorf("no step was answered with %v", e)
		}
	}
}

// block runs transactions, each on an overlay over the block's, and takes back
// some of them whole and some of them in part.
func (m *model) block(rng *rand.Rand, o *state.Overlay, height chain.Height, answers map[error]int) *model {
	for range rng.IntN(6) {
		mark, before := o.Snapshot(), m.clone()
		for range rng.IntN(8) {
			err := m.step(rng, o, height)
			for _, e := range []error{
				ErrDormant, ErrNotDormant, ErrNoStorage, ErrUnsettled, ErrRestoring, ErrNotRestoring,
				ErrLate, ErrDeadline, ErrChunk, ErrOrder, ErrTooMuch, ErrIncomplete, ErrRootMismatch,
			} {
				if errors.Is(err, e) {
					answers[e]++
				}
			}
			if err == nil {
				answers[nil]++
			}
		}
		if rng.IntN(4) == 0 {
			o.Revert(mark)
			m = before
		}
	}
	return m
}

// settle ends a block: sizes and roots are those of the maps.
func (m *model) settle(v version) {
	for addr, a := range m.actors {
		a.touched = false
		m.actors[addr] = a
		got, _, err := v.Account(addr)
		check(m.t, err)
		if got.StorageSize != sizeOf(a.live) || got.StorageRoot != rootOf(m.t, a.live) {
			m.t.Fatalf("%s: %+v root %s, want %+v %s", addr, got.StorageSize, got.StorageRoot, sizeOf(a.live), rootOf(m.t, a.live))
		}
		if Dormant(&got) != (a.evicted != nil) {
			m.t.Fatalf("%s: dormant %v", addr, Dormant(&got))
		}
		if a.evicted == nil {
			continue
		}
		rec, err := RecordOf(v, addr)
		check(m.t, err)
		if rec.Root != rootOf(m.t, a.evicted) || rec.Size != sizeOf(a.evicted) || (rec.Restoring != nil) != a.open {
			m.t.Fatalf("%s: record %+v", addr, rec)
		}
	}
}
