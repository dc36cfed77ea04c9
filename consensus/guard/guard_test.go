package guard

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/state/journal/disktest"
)

var me = Identity{Genesis: chain.Hash{1}, Peer: chain.PeerKey{2}}

func about(v, parent chain.View, digest byte) simplex.Proposal {
	return simplex.Proposal{Round: beacon.Round{View: v}, Parent: parent, Payload: chain.Hash{digest}}
}

func created(t testing.TB) (dir string) {
	t.Helper()
	dir = t.TempDir()
	if err := Create(dir, me); err != nil {
		t.Fatal(err)
	}
	return dir
}

func opened(t testing.TB, dir string) *Guard {
	t.Helper()
	g, err := Open(dir, me)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = g.Close() })
	return g
}

// A missing file is a hard stop; only a key without any trace of use gets a
// new one, once (lighthouse issue 1584).
func TestMissingWatermarkStopsAUsedKey(t *testing.T) {
	dir := t.TempDir()
	if _, err := Start(dir, me, false); !errors.Is(err, ErrMissing) {
		t.Fatalf("a used key without a watermark: %v, want %v", err, ErrMissing)
	}
	g, err := Start(dir, me, true)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	if err := Create(dir, me); !errors.Is(err, ErrExists) {
		t.Errorf("a second Create: %v, want %v", err, ErrExists)
	}
	if err := os.Remove(filepath.Join(dir, FileName)); err != nil {
		t.Fatal(err)
	}
	if _, err := Start(dir, me, false); !errors.Is(err, ErrMissing) {
		t.Errorf("after the loss of the file: %v, want %v", err, ErrMissing)
	}
}

// What was permitted and synced is refused after a restart (bsc issue 2598:
// heights only in memory).
func TestMemorySurvivesARestart(t *testing.T) {
	dir := created(t)
	g := opened(t, dir)
	for v := chain.View(1); v <= 9; v++ { // both slots, several times
		if err := g.Permit(simplex.Notarize, about(v, v-1, 1)); err != nil {
			t.Fatal(err)
		}
		if err := g.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	g = opened(t, dir)
	if err := g.Permit(simplex.Notarize, about(9, 8, 2)); !errors.Is(err, simplex.ErrContradiction) {
		t.Errorf("another block of view 9: %v", err)
	}
	if err := g.Permit(simplex.Notarize, about(8, 7, 1)); !errors.Is(err, simplex.ErrBelowWatermark) {
		t.Errorf("a view below: %v", err)
	}
	if err := g.Permit(simplex.Notarize, about(9, 8, 1)); err != nil {
		t.Errorf("the same again: %v", err)
	}
}

// Two processes with one key and folder: the second does not start
// (cosmos-omnibus issue 317).
func TestSecondProcessIsLockedOut(t *testing.T) {
	dir := created(t)
	g := opened(t, dir)
	if _, err := Open(dir, me); !errors.Is(err, ErrInUse) {
		t.Errorf("second open: %v, want %v", err, ErrInUse)
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	_ = opened(t, dir)
}

func TestForeignAndDamagedFilesAreRefused(t *testing.T) {
	dir := created(t)
	for _, id := range []Identity{{chain.Hash{9}, me.Peer}, {me.Genesis, chain.PeerKey{9}}} {
		if _, err := Open(dir, id); !errors.Is(err, ErrForeign) {
			t.Errorf("%v: %v, want %v", id, err, ErrForeign)
		}
	}
	name := filepath.Join(dir, FileName)
	good, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{0, len(magic), headBytes - 1, headBytes, sealedBytes - 1, sealedBytes, recordBytes - 1} {
		b := bytes.Clone(good)
		b[at] ^= 1
		if err := os.WriteFile(name, b, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir, me); !errors.Is(err, ErrDamaged) {
			t.Errorf("byte %d flipped: %v, want %v", at, err, ErrDamaged)
		}
	}
	for _, size := range []int{0, 1, recordBytes - 1} {
		if err := os.WriteFile(name, good[:size], 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(dir, me); !errors.Is(err, ErrDamaged) {
			t.Errorf("%d bytes: %v, want %v", size, err, ErrDamaged)
		}
	}
}

// signed is everything that ever left, in all lives of the key.
type signed []struct {
	k simplex.Kind
	p simplex.Proposal
}

// say signs if the guard lets it, and reports two words that contradict each
// other.
func (s *signed) say(g *Guard, k simplex.Kind, p simplex.Proposal) error {
	if g.Permit(k, p) != nil || g.Sync() != nil {
		return nil
	}
	for _, old := range *s {
		if attest.Contradicts(k, p, old.k, old.p) {
			return fmt.Errorf("%v %+v beside %v %+v", k, p, old.k, old.p)
		}
	}
	*s = append(*s, struct {
		k simplex.Kind
		p simplex.Proposal
	}{k, p})
	return nil
}

// TestNoInterleavingSignsTwice is the property of node-ops.md §4.3: whatever
// the order of requests, failing disk operations, kills and power cuts, no two
// statements that leave contradict each other. The requests come from a node
// that forgot everything else. Rerun one case with -run '/seed=17'.
func TestNoInterleavingSignsTwice(t *testing.T) {
	lives, words := 0, 0
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 0))
		d := newDisk()
		var s signed
		used := false
		for range 12 {
			lives++
			d.FailIn, d.Landed = -1, rng.IntN(2) == 0
			if rng.IntN(2) == 0 {
				d.FailIn = rng.IntN(12)
			}
			err := live(d, &s, &used, rng)
			if err != nil {
				t.Fatalf("seed=%d: %v", seed, err)
			}
			if rng.IntN(2) == 0 {
				d = model{d.Kill()}
			} else {
				d = model{d.Cut(50, rng)}
			}
		}
		words += len(s)
	}
	if words < 3000 {
		t.Errorf("only %d statements in %d lives: the test tests nothing", words, lives)
	}
}

// live is one process: it opens the guard and asks for random votes until it
// dies.
func live(d model, s *signed, used *bool, rng *rand.Rand) error {
	g, err := open(d, me)
	if errors.Is(err, ErrMissing) {
		if *used {
			return errors.New("the watermark of a used key is gone")
		}
		if create(d, me) != nil {
			return nil
		}
		g, err = open(d, me)
	}
	if errors.Is(err, ErrDamaged) {
		return err
	}
	if err != nil {
		return nil // the disk failed
	}
	for range rng.IntN(20) {
		k := simplex.Kind(1 + rng.IntN(3))
		v := chain.View(1 + rng.IntN(8))
		p := about(v, 0, byte(1+rng.IntN(2)))
		if k == simplex.Nullify {
			p = simplex.Proposal{Round: p.Round}
		}
		if err := s.say(g, k, p); err != nil {
			return err
		}
		*used = *used || len(*s) > 0
	}
	return nil
}

// TestCrashMatrix lets every operation of a life fail, before or after taking
// effect, and the power with it; nothing, all or any part of what was not synced
// is left. The next life neither forgets nor refuses to start, and neither does
// the one after a second power cut in it.
func TestCrashMatrix(t *testing.T) {
	images := 0
	for op := 0; ; op++ {
		failed := false
		for _, landed := range []bool{false, true} {
			for image := range 8 {
				keep := []int{0, 100, 50, 50, 50, 20, 80, 50}[image]
				images++
				if t.Run(fmt.Sprintf("op=%d/landed=%v/image=%d", op, landed, image), func(t *testing.T) {
					rng := rand.New(rand.NewPCG(uint64(op), uint64(image)))
					d := newDisk()
					d.FailIn, d.Landed = op, landed
					var s signed
					for life, digest := range []byte{1, 2, 3} {
						playLife(t, d, &s, digest)
						failed = failed || d.FailIn == 0
						d = model{d.Cut(keep, rng)}
						if life == 0 {
							d.FailIn = rng.IntN(12)
						}
					}
					if len(s) == 0 {
						t.Error("nothing was ever signed")
					}
				}); t.Failed() {
					return
				}
			}
		}
		if !failed {
			break // a whole life has fewer operations
		}
	}
	t.Logf("%d images", images)
	if images < 200 {
		t.Errorf("only %d images: operations are missed", images)
	}
}

// playLife is one process which signs what it may of four views.
func playLife(t *testing.T, d model, s *signed, digest byte) {
	t.Helper()
	g, err := open(d, me)
	if errors.Is(err, ErrMissing) && len(*s) > 0 {
		t.Fatal("the watermark of a used key is gone")
	}
	if errors.Is(err, ErrMissing) && create(d, me) == nil {
		g, err = open(d, me)
	}
	if errors.Is(err, ErrDamaged) {
		t.Fatal(err)
	}
	if err != nil {
		return // the disk failed
	}
	for v := chain.View(1); v <= 4; v++ {
		for _, k := range []simplex.Kind{simplex.Notarize, simplex.Finalize} {
			if err := s.say(g, k, about(v, v-1, digest)); err != nil {
				t.Error(err)
			}
		}
	}
}

// After a failed write nothing is permitted any more: what is on the disk is
// not known.
func TestFailedWritePoisons(t *testing.T) {
	d := newDisk()
	if err := create(d, me); err != nil {
		t.Fatal(err)
	}
	g, err := open(d, me)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Permit(simplex.Notarize, about(1, 0, 1)); err != nil {
		t.Fatal(err)
	}
	d.FailIn = 1 // the sync
	if err := g.Sync(); !errors.Is(err, disktest.ErrDisk) {
		t.Fatalf("Sync = %v", err)
	}
	d.FailIn = -1
	if err := g.Permit(simplex.Notarize, about(2, 1, 1)); !errors.Is(err, ErrPoisoned) {
		t.Errorf("Permit = %v, want %v", err, ErrPoisoned)
	}
	if err := g.Sync(); !errors.Is(err, ErrPoisoned) {
		t.Errorf("Sync = %v, want %v", err, ErrPoisoned)
	}
}

// Export and import carry the memory to another folder.
func TestInterchangeCarriesTheMemory(t *testing.T) {
	g := opened(t, created(t))
	for _, k := range []simplex.Kind{simplex.Notarize, simplex.Finalize} {
		if err := g.Permit(k, about(7, 6, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.Permit(simplex.Nullify, about(8, 0, 0)); err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if err := g.Export(&file); err != nil {
		t.Fatal(err)
	}
	dir := created(t)
	other := opened(t, dir)
	if err := other.Import(&file); err != nil {
		t.Fatal(err)
	}
	if other.Watermark() != g.Watermark() {
		t.Errorf("%+v, want %+v", other.Watermark(), g.Watermark())
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if got := opened(t, dir).Watermark(); got != g.Watermark() {
		t.Errorf("after a restart %+v, want %+v", got, g.Watermark())
	}
}

func exchange(votes string) string {
	return fmt.Sprintf(`{"metadata":{"interchange_format_version":"1","genesis_hash":"%s"},"data":[{"pubkey":"%s","signed_votes":[%s]}]}`,
		hexOf(me.Genesis[:]), hexOf(me.Peer[:]), votes)
}

// Import takes the maximum: pruned, old and contradicting histories are no
// error, and close what they must (lighthouse issue 2419).
func TestImportTakesTheMaximum(t *testing.T) {
	digest := func(b byte) string { h := chain.Hash{b}; return hexOf(h[:]) }
	vote := func(kind string, view int, d string) string {
		return fmt.Sprintf(`{"kind":"%s","epoch":"0","view":"%d","parent":"%d","digest":"%s"}`, kind, view, view-1, d)
	}
	tests := []struct {
		rule  string
		votes []string
		k     simplex.Kind
		p     simplex.Proposal
		want  error
	}{
		{"a higher vote closes ours", []string{vote("notarize", 20, digest(1))}, simplex.Notarize, about(19, 18, 1), simplex.ErrBelowWatermark},
		{"a lower vote opens nothing", []string{vote("notarize", 3, digest(1))}, simplex.Notarize, about(9, 8, 1), simplex.ErrBelowWatermark},
		{"the same vote changes nothing", []string{vote("notarize", 10, digest(1))}, simplex.Notarize, about(10, 9, 1), nil},
		{"a contradicting vote closes the view", []string{vote("notarize", 10, digest(2))}, simplex.Notarize, about(10, 9, 1), simplex.ErrBelowWatermark},
		{"the last of a long history counts", []string{vote("notarize", 30, digest(1)), vote("notarize", 12, digest(1))}, simplex.Notarize, about(29, 28, 1), simplex.ErrBelowWatermark},
		{"a pruned vote without a digest closes its view", []string{`{"kind":"finalize","epoch":"0","view":"11"}`}, simplex.Nullify, about(11, 0, 0), simplex.ErrBelowWatermark},
		{"and no other", []string{`{"kind":"finalize","epoch":"0","view":"11"}`}, simplex.Nullify, about(12, 0, 0), nil},
		{"an empty history changes nothing", nil, simplex.Notarize, about(11, 10, 1), nil},
		{"another kind counts too", []string{`{"kind":"nullify","epoch":"0","view":"15"}`}, simplex.Finalize, about(15, 14, 1), simplex.ErrContradiction},
	}
	for _, c := range tests {
		t.Run(c.rule, func(t *testing.T) {
			g := opened(t, created(t))
			if err := g.Permit(simplex.Notarize, about(10, 9, 1)); err != nil {
				t.Fatal(err)
			}
			if err := g.Import(strings.NewReader(exchange(strings.Join(c.votes, ",")))); err != nil {
				t.Fatal(err)
			}
			if err := g.Permit(c.k, c.p); !errors.Is(err, c.want) {
				t.Errorf("Permit = %v, want %v", err, c.want)
			}
		})
	}
}

func TestImportRefuses(t *testing.T) {
	g := opened(t, created(t))
	if err := g.Permit(simplex.Notarize, about(10, 9, 1)); err != nil {
		t.Fatal(err)
	}
	before := g.Watermark()
	good := exchange(`{"kind":"nullify","epoch":"0","view":"15"}`)
	f := func(rule, file string) {
		t.Helper()
		if err := g.Import(strings.NewReader(file)); !errors.Is(err, ErrInterchange) {
			t.Errorf("%s: %v, want %v", rule, err, ErrInterchange)
		}
		if g.Watermark() != before {
			t.Errorf("%s: changed the memory", rule)
		}
	}
	f("nothing", "")
	f("two files", good+good)
	f("another chain", strings.Replace(good, "0x01", "0x03", 1))
	f("another key", strings.Replace(good, "0x02", "0x03", 1))
	f("another version", strings.Replace(good, `"1"`, `"2"`, 1))
	f("an unknown field", strings.Replace(good, `"kind"`, `"slot":"1","kind"`, 1))
	f("an unknown kind", strings.Replace(good, "nullify", "propose", 1))
	f("view 0", strings.Replace(good, `"15"`, `"0"`, 1))
	f("a negative view", strings.Replace(good, `"15"`, `"-1"`, 1))
	f("a short digest", exchange(`{"kind":"notarize","epoch":"0","view":"15","parent":"1","digest":"0x00"}`))
	if err := g.Import(strings.NewReader(good)); err != nil {
		t.Errorf("the good file: %v", err)
	}
}

// FuzzOpen: whatever is in the file, Open neither panics nor takes it for the
// memory of another key.
func FuzzOpen(f *testing.F) {
	var w simplex.Watermark
	_ = w.Permit(simplex.Notarize, about(3, 2, 1))
	two := make([]byte, 2*slotBytes)
	copy(two, encode(me, 3, &w))
	copy(two[slotBytes:], encode(me, 2, &simplex.Watermark{}))
	f.Add(two)
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, b []byte) {
		d := newDisk()
		d.Put(FileName, b)
		g, err := open(d, me)
		if err == nil && g.sequence == 0 {
			t.Error("opened without a version")
		}
	})
}

// FuzzImport: whatever is imported, the memory never shrinks.
func FuzzImport(f *testing.F) {
	f.Add([]byte(exchange(`{"kind":"nullify","epoch":"0","view":"15"}`)))
	f.Add([]byte(exchange(`{"kind":"notarize","epoch":"0","view":"10","parent":"1","digest":"0x00"},{"kind":"finalize","epoch":"0","view":"11"}`)))
	f.Fuzz(func(t *testing.T, b []byte) {
		d := newDisk()
		if err := create(d, me); err != nil {
			t.Fatal(err)
		}
		g, err := open(d, me)
		if err != nil {
			t.Fatal(err)
		}
		p := about(10, 9, 1)
		if err := g.Permit(simplex.Notarize, p); err != nil {
			t.Fatal(err)
		}
		_ = g.Import(bytes.NewReader(b))
		if g.Permit(simplex.Notarize, about(10, 9, 2)) == nil || g.Permit(simplex.Finalize, about(9, 8, 2)) == nil {
			t.Errorf("%s opens a closed view", b)
		}
	})
}

// A process killed between a write and its sync leaves what the next one reads
// but a power cut can still take back: Open makes it durable first.
func TestOpenMakesDurableWhatItReads(t *testing.T) {
	for seed := range uint64(20) {
		d := newDisk()
		if err := create(d, me); err != nil {
			t.Fatal(err)
		}
		g, err := open(d, me)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Permit(simplex.Notarize, about(5, 4, 1)); err != nil {
			t.Fatal(err)
		}
		d.FailIn = 1
		if g.Sync() == nil {
			t.Fatal("the sync did not fail")
		}
		d = model{d.Kill()}
		var s signed
		if g, err = open(d, me); err != nil {
			t.Fatal(err)
		}
		if err := s.say(g, simplex.Notarize, about(5, 4, 1)); err != nil || len(s) != 1 {
			t.Fatalf("%d statements, %v", len(s), err)
		}
		d = model{d.Cut(50, rand.New(rand.NewPCG(seed, 0)))}
		if g, err = open(d, me); err != nil {
			t.Fatal(err)
		}
		if err := s.say(g, simplex.Notarize, about(5, 4, 2)); err != nil {
			t.Errorf("seed=%d: %v", seed, err)
		}
	}
}
