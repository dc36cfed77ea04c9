package snapshot

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/checkpoint"
	"github.com/cowboy-foundation/cowboy/state/store"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

var genesis = chain.Hash{0x9e, 7}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func options(fs vfs.FS) store.Options {
	o := store.DefaultOptions()
	o.CacheBytes, o.MemTableBytes, o.FS = 1<<20, 256<<10, fs
	return o
}

// seal is the certificate of a block in these tests.
// sealed reads a seal: of a descendant, where "by:" names one.
func sealed(b []byte) ([]byte, chain.Hash, error) {
	if rest, ok := bytes.CutPrefix(b, []byte("by:")); ok {
		return append([]byte("final:"), rest...), chain.Hash(rest), nil
	}
	return b, chain.Hash{}, nil
}

func seal(digest chain.Hash) []byte { return append([]byte("final:"), digest[:]...) }

var errSeal = errors.New("not the certificate of this block")

var trust = Trust{
	Genesis: genesis,
	Certify: func(_ *chain.Header, _ chain.Hash, final *chain.Header, certificate []byte) error {
		if !bytes.Equal(certificate, seal(final.Digest())) {
			return errSeal
		}
		return nil
	},
	Live: checkpoint.NoJobs,
}

func quiet(uint32, Summary) {}

func writeConfig(chunkBytes int) WriteConfig {
	return WriteConfig{ChunkBytes: chunkBytes, Progress: quiet, Certificate: sealed}
}

// seedState writes accounts: plain ones, actors that share code, small and large
// storage.
func seedState(rng *rand.Rand, accounts int) *state.Delta {
	d := state.NewDelta()
	for i := range accounts {
		addr := chain.Address{byte(i), byte(i >> 8), byte(i >> 16)}
		a := state.Account{Nonce: rng.Uint64N(5), Balance: chain.Wei(1 + rng.Uint64N(1000))}
		if i%7 == 0 {
			a.CodeHash = d.SetCode(bytes.Repeat([]byte{byte(i % 3)}, 100+i%3))
			a.Meta = []byte("m")
		}
		d.SetAccount(addr, a)
		slots := 0
		if i%11 == 0 {
			slots = rng.IntN(20)
		}
		if i%97 == 0 {
			slots = 300
		}
		for j := range slots {
			d.SetStorage(addr, state.NewStorageKey(1, []byte{byte(j), byte(j >> 8)}), bytes.Repeat([]byte{byte(j)}, rng.IntN(40)))
		}
	}
	return d
}

// commit makes delta the next block of s.
func commit(t testing.TB, s *store.Store, delta *state.Delta) {
	t.Helper()
	v, err := s.Head().Apply(delta)
	check(t, err)
	block := &chain.Block{Header: chain.Header{
		Version: chain.HeaderVersion, Height: v.Height(), StateRoot: v.Root(), TxRoot: tree.ListRoot(nil),
		PresenceInput: chain.NewPresentSet(0).Encode(), ConsumedSeeds: chain.EncodeConsumedSeeds(nil),
	}}
	digest := block.Header.Digest()
	check(t, s.Commit(v, store.BlockRecord{Height: v.Height(), Digest: digest, Block: block.Encode(), Certificate: seal(digest)}))
}

func newStore(t testing.TB, delta *state.Delta) *store.Store {
	t.Helper()
	s, err := store.Open("chain", options(vfs.NewMem()))
	check(t, err)
	check(t, s.Init(store.GenesisRecord{Hash: genesis}))
	commit(t, s, delta)
	return s
}

// written returns the bytes of a snapshot and the root that it is of.
func written(t testing.TB, accounts int, seed uint64, chunkBytes int) ([]byte, chain.Hash) {
	t.Helper()
	s := newStore(t, seedState(rand.New(rand.NewPCG(seed, 1)), accounts))
	var out bytes.Buffer
	sum, err := Write(t.Context(), &out, s, writeConfig(chunkBytes))
	check(t, err)
	if sum.Accounts != uint64(accounts) || sum.Bytes != int64(out.Len()) || sum.Root != s.Head().Root() {
		t.Errorf("summary %+v of %d accounts in %d bytes", sum, accounts, out.Len())
	}
	root := s.Head().Root()
	check(t, s.Close())
	return out.Bytes(), root
}

func TestSnapshotMovesAState(t *testing.T) {
	for _, c := range []struct{ accounts, chunkBytes int }{{0, 1000}, {1, 1000}, {500, 700}, {500, 5000}, {500, 1 << 20}, {3, 1}} {
		t.Run(fmt.Sprintf("%d accounts in chunks of %d", c.accounts, c.chunkBytes), func(t *testing.T) {
			raw, root := written(t, c.accounts, 1, c.chunkBytes)
			sum, jobs, err := Verify(t.Context(), bytes.NewReader(raw), trust, quiet)
			if err != nil || sum.Root != root || sum.Accounts != uint64(c.accounts) || len(jobs) != 0 {
				t.Fatalf("verify: %+v, %v", sum, err)
			}
			disk := vfs.NewMem()
			got, err := Import(t.Context(), bytes.NewReader(raw), "new", options(disk), trust, quiet)
			if err != nil || got != sum {
				t.Fatalf("import: %+v, %v; want %+v", got, err, sum)
			}
			s, err := store.Open("new", options(disk))
			check(t, err)
			check(t, s.Init(store.GenesisRecord{Hash: genesis}))
			if again, err := s.VerifyHead(t.Context()); err != nil || again != root || s.Base() != 1 {
				t.Errorf("imported root %s, base %d, %v; want %s", again, s.Base(), err, root)
			}
			var out bytes.Buffer
			if _, err := Write(t.Context(), &out, s, writeConfig(c.chunkBytes)); err != nil || !bytes.Equal(out.Bytes(), raw) {
				t.Errorf("the imported state is written otherwise: %v", err)
			}
			commit(t, s, seedState(rand.New(rand.NewPCG(2, 2)), 10))
			check(t, s.Close())
		})
	}
}

// records cuts a snapshot into magic and records.
func records(raw []byte) (out [][]byte) {
	out = append(out, raw[:16])
	for raw = raw[16:]; len(raw) > 0; {
		n := 8 + int(binary.BigEndian.Uint32(raw))
		out = append(out, raw[:n])
		raw = raw[n:]
	}
	return out
}

// resealed gives a record a good checksum again.
func resealed(record []byte) []byte {
	binary.BigEndian.PutUint32(record[4:], crc32.Checksum(record[8:], crc32.MakeTable(crc32.Castagnoli)))
	return record
}

// refuse wants both readers of a file to refuse it, and nothing to be left that
// opens as a chain.
func refuse(t *testing.T, what string, raw []byte, trust Trust, want ...error) {
	t.Helper()
	_, jobs, err := Verify(t.Context(), bytes.NewReader(raw), trust, quiet)
	if err == nil {
		err = checkpoint.CheckLists(nil, jobs)
	}
	disk := vfs.NewMem()
	_, err2 := Import(t.Context(), bytes.NewReader(raw), "new", options(disk), trust, quiet)
	for _, err := range []error{err, err2} {
		if err == nil || !slices.ContainsFunc(want, func(w error) bool { return errors.Is(err, w) }) {
			t.Errorf("%s: %v, want one of %v", what, err, want)
		}
	}
	if s, err := store.Open("new", options(disk)); err == nil {
		if _, ok := s.Genesis(); ok {
			t.Errorf("%s: the folder opens as a chain", what)
		}
		check(t, s.Close())
	}
}

// TestHostileFiles alters a good snapshot in every way that a liar or a bad disk
// could.
func TestHostileFiles(t *testing.T) {
	raw, _ := written(t, 200, 3, 1500)
	parts := records(raw)
	rng := rand.New(rand.NewPCG(4, 4))
	join := func(parts ...[]byte) []byte { return bytes.Join(parts, nil) }
	clone := func(i int) []byte { return bytes.Clone(parts[i]) }
	with := func(i int, record []byte) []byte {
		out := slices.Clone(parts)
		out[i] = record
		return join(out...)
	}
	lies := []error{checkpoint.ErrChunk, checkpoint.ErrOrder, checkpoint.ErrEncoding}

	for range 12 {
		bad := bytes.Clone(raw)
		bad[rng.IntN(len(bad))] ^= 1 << rng.IntN(8)
		refuse(t, "a flipped bit", bad, trust, checkpoint.ErrDamaged, checkpoint.ErrNoSnapshot)
	}
	for range 12 {
		i := 2 + rng.IntN(len(parts)-3)
		record := clone(i)
		record[8+rng.IntN(len(record)-8)] ^= 1 << rng.IntN(8)
		refuse(t, fmt.Sprintf("a flipped bit in record %d under a good checksum", i), with(i, resealed(record)), trust, lies...)
	}
	for range 12 {
		refuse(t, "cut off", raw[:rng.IntN(len(raw))], trust, checkpoint.ErrDamaged, checkpoint.ErrNoSnapshot)
	}
	last := len(parts) - 1
	for range 8 {
		i := 2 + rng.IntN(last-2)
		refuse(t, fmt.Sprintf("without chunk %d", i), join(slices.Delete(slices.Clone(parts), i, i+1)...), trust, append(lies, checkpoint.ErrDamaged)...)
		refuse(t, fmt.Sprintf("chunk %d twice", i), join(slices.Insert(slices.Clone(parts), i, parts[i])...), trust, append(lies, checkpoint.ErrDamaged)...)
		if j := 2 + rng.IntN(last-2); i != j {
			swapped := slices.Clone(parts)
			swapped[i], swapped[j] = swapped[j], swapped[i]
			refuse(t, "two chunks swapped", join(swapped...), trust, lies...)
		}
	}
	end := clone(last)
	end[len(end)-1]--
	short := slices.Delete(slices.Clone(parts), last-1, last)
	short[last-1] = resealed(end)
	refuse(t, "without the last chunk, and an end that fits", join(short...), trust, checkpoint.ErrOrder)
	refuse(t, "bytes behind the end", append(bytes.Clone(raw), 0), trust, checkpoint.ErrDamaged)
	huge := clone(3)
	binary.BigEndian.PutUint32(huge, 1<<31)
	refuse(t, "a length beyond the bound", with(3, huge), trust, checkpoint.ErrDamaged)
	refuse(t, "an empty record", with(3, make([]byte, 8)), trust, checkpoint.ErrDamaged)

	other, _ := written(t, 200, 5, 1500)
	refuse(t, "a chunk of another state", with(4, records(other)[4]), trust, lies...)
	stranger := trust
	stranger.Genesis = chain.Hash{1}
	refuse(t, "another genesis", raw, stranger, checkpoint.ErrOtherChain)
	head := clone(1)
	head[8+2+32+4+3] ^= 1
	refuse(t, "another certificate", with(1, resealed(head)), trust, errSeal)
	head = clone(1)
	head[len(head)-1] ^= 1
	refuse(t, "another block", with(1, resealed(head)), trust, errSeal, checkpoint.ErrEncoding)
	list := (&checkpoint.List{Job: chain.Hash{5}}).Append(make([]byte, 8))
	binary.BigEndian.PutUint32(list, uint32(len(list)-8))
	end = clone(last)
	end[len(end)-1]++
	refuse(t, "a list that the state does not ask for",
		join(append(slices.Clone(parts[:last]), resealed(list), resealed(end))...), trust, checkpoint.ErrChunk)
}

// leaky ends after some bytes, as a pipe of a killed process does.
type leaky struct {
	io.Reader
	left int
}

func (l *leaky) Read(b []byte) (int, error) {
	if l.left == 0 {
		return 0, errors.New("the line went dead")
	}
	n, err := l.Reader.Read(b[:min(len(b), l.left)])
	l.left -= n
	return n, err
}

// TestImportGoesOn cuts an import off again and again, with a power cut each
// time, until it is done.
func TestImportGoesOn(t *testing.T) {
	raw, root := written(t, 24_000, 6, 4000)
	rng := rand.New(rand.NewPCG(6, 6))
	disk := vfs.NewCrashableMem()
	for cut := len(raw) * 9 / 10; ; cut += len(raw) / 3 {
		_, err := Import(t.Context(), &leaky{bytes.NewReader(raw), min(cut, len(raw)+1)}, "new", options(disk), trust, quiet)
		if cut > len(raw) {
			check(t, err)
			break
		}
		if err == nil {
			t.Fatal("half a file was enough")
		}
		disk = disk.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 100, RNG: rng})
		i, err := store.OpenImport("new", options(disk), targetIn(t, raw))
		check(t, err)
		if len(i.Progress()) != 8 {
			t.Errorf("nothing durable after %d of %d bytes", cut, len(raw))
		}
		check(t, i.Close())
		if _, err := store.Open("new", options(disk)); !errors.Is(err, store.ErrImporting) {
			t.Fatalf("half an import opened: %v", err)
		}
	}
	s, err := store.Open("new", options(disk))
	check(t, err)
	if got, err := s.VerifyHead(t.Context()); err != nil || got != root {
		t.Errorf("root %s, %v; want %s", got, err, root)
	}
	check(t, s.Close())
	if _, err := Import(t.Context(), bytes.NewReader(raw), "new", options(disk), trust, quiet); !errors.Is(err, store.ErrHasChain) {
		t.Errorf("import over a chain: %v", err)
	}
}

func targetIn(t *testing.T, raw []byte) store.Target {
	t.Helper()
	r, err := checkpoint.NewReader(bytes.NewReader(raw))
	check(t, err)
	a, err := r.Head().Check(genesis, trust.Certify)
	check(t, err)
	return TargetOf(a)
}

// TestLists moves a list beside the state and holds it to what the state asks
// for (resolution 11.19).
func TestLists(t *testing.T) {
	list := &checkpoint.List{Job: chain.Hash{7}, Candidates: []chain.Candidate{{Runner: chain.Address{1}, BaseWeight: 3}, {Runner: chain.Address{2}}}}
	raw, _ := written(t, 20, 8, 1000)
	parts := records(raw)
	last := len(parts) - 1
	record := list.Append(make([]byte, 8))
	binary.BigEndian.PutUint32(record, uint32(len(record)-8))
	end := bytes.Clone(parts[last])
	end[len(end)-1]++
	raw = bytes.Join(append(slices.Clone(parts[:last]), resealed(record), resealed(end)), nil)

	asking := trust
	asking.Live = func(state.View) ([]checkpoint.JobRoot, error) { return []checkpoint.JobRoot{list.Root()}, nil }
	disk := vfs.NewMem()
	_, err := Import(t.Context(), bytes.NewReader(raw), "new", options(disk), asking, quiet)
	check(t, err)
	s, err := store.Open("new", options(disk))
	check(t, err)
	var out bytes.Buffer
	if _, err := Write(context.Background(), &out, s, writeConfig(1000)); err != nil || !bytes.Equal(out.Bytes(), raw) {
		t.Errorf("the list is not written again: %v", err)
	}
	check(t, s.Close())

	asking.Live = func(state.View) ([]checkpoint.JobRoot, error) {
		return []checkpoint.JobRoot{{Job: list.Job, Root: chain.Hash{1}}}, nil
	}
	if _, err := Import(t.Context(), bytes.NewReader(raw), "new", options(vfs.NewMem()), asking, quiet); !errors.Is(err, checkpoint.ErrChunk) {
		t.Errorf("a list under another root: %v", err)
	}
	asking.Live = func(state.View) ([]checkpoint.JobRoot, error) {
		return []checkpoint.JobRoot{list.Root(), {Job: chain.Hash{8}}}, nil
	}
	if _, err := Import(t.Context(), bytes.NewReader(raw), "new", options(vfs.NewMem()), asking, quiet); !errors.Is(err, checkpoint.ErrChunk) {
		t.Errorf("a list that is missing: %v", err)
	}
}

// TestIndex finds the chunk that covers any key.
func TestIndex(t *testing.T) {
	raw, root := written(t, 300, 9, 1500)
	x, err := checkpoint.NewIndex(bytes.NewReader(raw))
	check(t, err)
	rng := rand.New(rand.NewPCG(9, 9))
	for range 200 {
		var from chain.Hash
		binary.BigEndian.PutUint64(from[:], rng.Uint64())
		payload, ok, err := x.Find(checkpoint.Request{Kind: checkpoint.AskAccounts, From: from})
		if err != nil || !ok {
			t.Fatalf("accounts from %s: %v, %v", from, ok, err)
		}
		c, err := Check(root, payload)
		check(t, err)
		if !c.Span.Covers(from) {
			t.Fatalf("span %+v does not cover %s", c.Span, from)
		}
	}
	whale := tree.AccountKey(chain.Address{})
	payload, ok, err := x.Find(checkpoint.Request{Kind: checkpoint.AskSlots, Account: whale, From: chain.Hash{0x80}})
	if err != nil || !ok {
		t.Fatalf("storage of the whale: %v, %v", ok, err)
	}
	c, err := Check(root, payload)
	if slots, is := c.Chunk.(*checkpoint.Slots); err != nil || !is || slots.Account != whale || !c.Span.Covers(chain.Hash{0x80}) {
		t.Errorf("storage of the whale: %+v, %v", c.Span, err)
	}
	for _, q := range []checkpoint.Request{
		{Kind: checkpoint.AskSlots, Account: chain.Hash{1}}, {Kind: checkpoint.AskList, From: chain.Hash{9}},
	} {
		if _, ok, err := x.Find(q); ok || err != nil {
			t.Errorf("%+v was found: %v", q, err)
		}
	}
}
