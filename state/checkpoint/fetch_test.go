package checkpoint_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/checkpoint"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// served is a state as peers serve it.
type served struct {
	root     chain.Hash
	accounts map[chain.Hash]string
	slots    map[string]string
	index    *checkpoint.Index
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// serve cuts a random state into chunks.
func serve(t *testing.T, rng *rand.Rand, accounts, chunkBytes int) *served {
	t.Helper()
	opts := store.DefaultOptions()
	opts.CacheBytes, opts.MemTableBytes, opts.FS = 1<<20, 256<<10, vfs.NewMem()
	s, err := store.Open("chain", opts)
	check(t, err)
	d := state.NewDelta()
	for i := range accounts {
		addr := chain.Address(binary.BigEndian.AppendUint32(make([]byte, 16), uint32(i)))
		d.SetAccount(addr, state.Account{Balance: chain.Wei(1 + rng.Uint64N(99))})
		if i%20 == 0 {
			for j := range 1 + rng.IntN(120) {
				d.SetStorage(addr, state.NewStorageKey(0, []byte{byte(j)}), bytes.Repeat([]byte{1}, rng.IntN(30)))
			}
		}
	}
	check(t, s.Init(store.GenesisRecord{Hash: chain.Hash{1}, Delta: d}))
	x, err := s.Export()
	check(t, err)
	var file bytes.Buffer
	w, err := checkpoint.NewWriter(&file, &checkpoint.Head{})
	check(t, err)
	out := &served{root: x.Root(), accounts: map[chain.Hash]string{}, slots: map[string]string{}}
	check(t, checkpoint.Cut(x, cutTo(chunkBytes, checkpoint.DefaultSortBytes), func(c checkpoint.Chunk) error {
		out.keep(c)
		return w.Chunk(c)
	}))
	_, err = w.Finish()
	check(t, err)
	out.index, err = checkpoint.NewIndex(bytes.NewReader(file.Bytes()))
	check(t, err)
	check(t, x.Close())
	check(t, s.Close())
	return out
}

func (s *served) keep(c checkpoint.Chunk) {
	slots := func(owner chain.Hash, slots []checkpoint.Slot) {
		for _, one := range slots {
			s.slots[string(owner[:])+string(one.Key)] = string(one.Value)
		}
	}
	switch c := c.(type) {
	case *checkpoint.Accounts:
		for i := range c.Accounts {
			s.accounts[c.Accounts[i].Key] = string(c.Accounts[i].Row)
			slots(c.Accounts[i].Key, c.Accounts[i].Slots)
		}
	case *checkpoint.Slots:
		slots(c.Account, c.Slots)
	}
}

// fleet is peers of a fetch, by what they do.
type fleet struct {
	rng     *rand.Rand
	good    *served
	other   *served // of another state
	liars   map[checkpoint.PeerID]bool
	silent  map[checkpoint.PeerID]bool
	pending []checkpoint.Ask
	dropped map[checkpoint.PeerID]error
	got     *served
	chunks  int
}

func (fl *fleet) do(t *testing.T, effects []checkpoint.Effect) {
	t.Helper()
	for _, e := range effects {
		switch e := e.(type) {
		case checkpoint.Ask:
			fl.pending = append(fl.pending, e)
		case checkpoint.Keep:
			fl.got.keep(e.Chunk)
			fl.chunks++
		case checkpoint.Drop:
			if fl.dropped[e.Peer] != nil {
				t.Errorf("peer %d dropped twice", e.Peer)
			}
			fl.dropped[e.Peer] = e.Reason
		}
	}
}

// answer returns what the asked peer makes of a request.
func (fl *fleet) answer(t *testing.T, a checkpoint.Ask) checkpoint.Event {
	t.Helper()
	from := fl.good
	if fl.liars[a.Peer] && fl.rng.IntN(2) == 0 {
		from = fl.other
	}
	chunk, ok, err := from.index.Find(a.Request)
	check(t, err)
	switch {
	case fl.silent[a.Peer]:
		return checkpoint.Expired{ID: a.ID}
	case !ok && from == fl.good:
		t.Fatalf("nothing for %+v", a.Request)
	case !ok:
		chunk = nil
	case fl.liars[a.Peer]:
		chunk = bytes.Clone(chunk)
		chunk[fl.rng.IntN(len(chunk))] ^= 1 << fl.rng.IntN(8)
	}
	return checkpoint.Answered{Peer: a.Peer, ID: a.ID, Chunk: chunk}
}

// TestFetchFromAllKindsOfPeers gets a whole state from honest, lying and silent
// peers, in random order and with restarts, and drops those that it should.
func TestFetchFromAllKindsOfPeers(t *testing.T) {
	for seed := range uint64(12) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 31))
			accounts, chunkBytes := []int{0, 1, 7, 400, 2000}[seed%5], 300+rng.IntN(3000)
			fl := &fleet{
				rng: rng, good: serve(t, rng, accounts, chunkBytes), other: serve(t, rng, accounts+1, 1000),
				liars: map[checkpoint.PeerID]bool{5: true, 6: true}, silent: map[checkpoint.PeerID]bool{7: true},
				dropped: map[checkpoint.PeerID]error{},
				got:     &served{accounts: map[chain.Hash]string{}, slots: map[string]string{}},
			}
			f, err := checkpoint.NewFetch(fl.good.root, chunkBytes, nil)
			check(t, err)
			join := func() {
				for id := range checkpoint.PeerID(8) {
					if fl.dropped[id] == nil {
						fl.do(t, f.Step(checkpoint.Joined{Peer: id}))
					}
				}
			}
			join()
			for steps := 0; !f.Done(); steps++ {
				if len(fl.pending) == 0 || steps > 100_000 {
					t.Fatalf("stuck after %d steps with %d peers", steps, f.Peers())
				}
				i := rng.IntN(len(fl.pending))
				a := fl.pending[i]
				fl.pending = slices.Delete(fl.pending, i, i+1)
				fl.do(t, f.Step(fl.answer(t, a)))
				if rng.IntN(40) == 0 { // the process is killed and started again
					f, err = checkpoint.NewFetch(fl.good.root, chunkBytes, f.Progress())
					check(t, err)
					fl.pending = nil
					join()
				}
				if id := checkpoint.PeerID(rng.IntN(8)); rng.IntN(50) == 0 && fl.dropped[id] == nil {
					fl.do(t, f.Step(checkpoint.Left{Peer: id}))
					fl.do(t, f.Step(checkpoint.Joined{Peer: id}))
				}
			}
			if len(fl.got.accounts) != accounts || f.Covered() != 1<<16 {
				t.Errorf("%d accounts of %d, covered %d", len(fl.got.accounts), accounts, f.Covered())
			}
			for key, row := range fl.good.accounts {
				if fl.got.accounts[key] != row {
					t.Fatalf("account with key %s differs", key)
				}
			}
			for key, value := range fl.good.slots {
				if got, ok := fl.got.slots[key]; !ok || got != value {
					t.Fatalf("storage value under %x differs", key)
				}
			}
			for id, reason := range fl.dropped {
				switch {
				case fl.silent[id] && errors.Is(reason, checkpoint.ErrStalled):
				case fl.liars[id] && !errors.Is(reason, checkpoint.ErrStalled):
				default:
					t.Errorf("peer %d was dropped: %v", id, reason)
				}
			}
		})
	}
}

// TestStorageIsApartOnlyWhereItIsLarge: a peer that says of storage which is in the chunk of
// its account that it is apart is dropped. Nobody else has it so, and whoever was asked for
// it would seem to have the checkpoint no more.
func TestStorageIsApartOnlyWhereItIsLarge(t *testing.T) {
	const chunkBytes = 1000
	s := serve(t, rand.New(rand.NewPCG(1, 33)), 400, chunkBytes)
	f, err := checkpoint.NewFetch(s.root, chunkBytes, nil)
	check(t, err)
	pending, liar, asked := f.Step(checkpoint.Joined{Peer: 1}), checkpoint.PeerID(1), 0
	for len(pending) > 0 {
		var more []checkpoint.Effect
		switch e := pending[0].(type) {
		case checkpoint.Drop:
			if e.Peer != liar || !errors.Is(e.Reason, checkpoint.ErrChunk) {
				t.Fatalf("%+v", e)
			}
			liar = 0
			more = f.Step(checkpoint.Joined{Peer: 2})
		case checkpoint.Ask:
			chunk, ok, err := s.index.Find(e.Request)
			check(t, err)
			if !ok {
				t.Fatalf("an honest peer is asked for %+v, which it does not have", e.Request)
			}
			if e.Request.Kind == checkpoint.AskSlots {
				asked++
			}
			if e.Peer == liar {
				chunk = allApart(t, chunk)
			}
			more = f.Step(checkpoint.Answered{Peer: e.Peer, ID: e.ID, Chunk: chunk})
		}
		pending = append(pending[1:], more...)
	}
	if liar != 0 || !f.Done() || asked == 0 {
		t.Errorf("the liar is peer %d, done %v, %d requests for storage apart", liar, f.Done(), asked)
	}
}

// allApart says of all storage in a chunk that it is apart.
func allApart(t *testing.T, chunk []byte) []byte {
	c, err := checkpoint.DecodeChunk(chunk)
	check(t, err)
	if a, ok := c.(*checkpoint.Accounts); ok {
		for i := range a.Accounts {
			if one := &a.Accounts[i]; one.Storage == checkpoint.Here {
				one.Storage, one.Slots = checkpoint.Apart, nil
			}
		}
	}
	return c.Append(nil)
}

func TestFetchIgnoresWhatNobodyAskedFor(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 32))
	s := serve(t, rng, 50, 500)
	f, err := checkpoint.NewFetch(s.root, 500, nil)
	check(t, err)
	asks := f.Step(checkpoint.Joined{Peer: 1})
	if len(asks) != 4 {
		t.Fatalf("%d requests to one peer, want 4", len(asks))
	}
	a := asks[0].(checkpoint.Ask)
	chunk, _, err := s.index.Find(a.Request)
	check(t, err)
	for _, tt := range []struct {
		what string
		e    checkpoint.Event
	}{
		{"an unknown number", checkpoint.Answered{Peer: 1, ID: 99, Chunk: chunk}},
		{"another peer", checkpoint.Answered{Peer: 2, ID: a.ID, Chunk: chunk}},
		{"an old deadline", checkpoint.Expired{ID: 99}},
		{"a stranger leaves", checkpoint.Left{Peer: 9}},
	} {
		if out := f.Step(tt.e); len(out) != 0 {
			t.Errorf("%s: %v", tt.what, out)
		}
	}
	far, _, err := s.index.Find(checkpoint.Request{Kind: checkpoint.AskAccounts, From: chain.Hash{0xf0}})
	check(t, err)
	if out := f.Step(checkpoint.Answered{Peer: 1, ID: a.ID, Chunk: far}); len(out) != 1 || !errors.Is(out[0].(checkpoint.Drop).Reason, checkpoint.ErrAnswer) {
		t.Errorf("a chunk of elsewhere: %v", out)
	}
	if f.Peers() != 0 {
		t.Errorf("%d peers left", f.Peers())
	}
	if _, err := checkpoint.NewFetch(s.root, 500, []byte{1}); !errors.Is(err, checkpoint.ErrEncoding) {
		t.Errorf("torn progress: %v", err)
	}
}
