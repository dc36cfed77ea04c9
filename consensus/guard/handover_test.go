package guard

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// A standby that shares the disk, but not the lock, takes over by writing: the
// one before it finds another version than its own and signs no more
// (node-ops.md §4.3: a lease with a fencing number).
func TestForeignWriterIsFencedOff(t *testing.T) {
	for _, ahead := range []int{1, 2, 3} { // the number of versions decides which slot is the newest
		d := newDisk()
		if err := create(d, me); err != nil {
			t.Fatal(err)
		}
		first, err := open(d, me)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(first.Permit(simplex.Notarize, about(1, 0, 1)), first.Sync()); err != nil {
			t.Fatal(err)
		}
		second := &Guard{id: me, dir: d, file: first.file} // the same file, with no lock between them
		if err := second.load(); err != nil {
			t.Fatal(err)
		}
		for v := range ahead {
			p := simplex.Proposal{Round: about(chain.View(v+2), 0, 0).Round}
			if err := errors.Join(second.Permit(simplex.Nullify, p), second.Sync()); err != nil {
				t.Fatal(err)
			}
		}
		if err := first.Permit(simplex.Finalize, about(1, 0, 1)); err != nil {
			t.Fatal(err)
		}
		if err := first.Sync(); !errors.Is(err, ErrFenced) {
			t.Errorf("after %d versions of another: %v, want %v", ahead, err, ErrFenced)
		}
		if err := first.Permit(simplex.Notarize, about(9, 8, 1)); !errors.Is(err, ErrPoisoned) {
			t.Errorf("it goes on: %v", err)
		}
		if err := second.Permit(simplex.Notarize, about(20, 19, 1)); err != nil || second.Sync() != nil {
			t.Errorf("the one that took over cannot sign: %v", err)
		}
	}
}

// What was handed over cannot be used here again, whatever the disk does after
// Retire returned.
func TestRetiredFolderDoesNotSign(t *testing.T) {
	for seed := range uint64(30) {
		rng := rand.New(rand.NewPCG(seed, 1))
		d := newDisk()
		if err := create(d, me); err != nil {
			t.Fatal(err)
		}
		g, err := open(d, me)
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Permit(simplex.Notarize, about(4, 3, 1)); err != nil || g.Sync() != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := g.Export(&out); err != nil {
			t.Fatal(err)
		}
		if err := g.Retire(); err != nil {
			t.Fatal(err)
		}
		if g.Permit(simplex.Notarize, about(9, 8, 1)) == nil || g.Retire() == nil {
			t.Error("a retired guard goes on")
		}
		d = model{d.Cut(50, rng)}
		if _, err := open(d, me); !errors.Is(err, ErrMissing) {
			t.Fatalf("seed=%d: %v, want %v", seed, err, ErrMissing)
		}
		if err := restore(d, me, &out); err != nil {
			t.Fatal(err)
		}
		back, err := open(d, me)
		if err != nil || back.Permit(simplex.Notarize, about(4, 3, 2)) == nil {
			t.Errorf("the way back lost the memory (%v)", err)
		}
	}
}

// Restore makes no file from what it cannot read: an empty one would let a used
// key sign. Cut off at any moment, it leaves no file or the whole memory.
func TestRestoreIsWholeOrNothing(t *testing.T) {
	good := exchange(`{"kind":"notarize","epoch":"0","view":"10","parent":"9","digest":"` + hexOf(bytes.Repeat([]byte{1}, 32)) + `"}`)
	dir := t.TempDir()
	for _, bad := range []string{"", good[:len(good)-1], strings.Replace(good, "0x01", "0x03", 1), good + good} {
		if err := Restore(dir, me, strings.NewReader(bad)); !errors.Is(err, ErrInterchange) {
			t.Errorf("%.40q: %v, want %v", bad, err, ErrInterchange)
		}
		if _, err := Open(dir, me); !errors.Is(err, ErrMissing) {
			t.Errorf("%.40q left a file: %v", bad, err)
		}
	}
	for op := range 12 {
		for seed := range uint64(8) {
			d := newDisk()
			d.FailIn, d.Landed = op, seed%2 == 0
			_ = restore(d, me, strings.NewReader(good))
			d = model{d.Cut(50, rand.New(rand.NewPCG(uint64(op), seed)))}
			g, err := open(d, me)
			if errors.Is(err, ErrMissing) {
				continue
			}
			if err != nil || g.Permit(simplex.Notarize, about(10, 9, 2)) == nil {
				t.Fatalf("op=%d seed=%d: a file without its memory (%v)", op, seed, err)
			}
		}
	}
	if err := Restore(dir, me, strings.NewReader(good)); err != nil {
		t.Fatal(err)
	}
	if err := Restore(dir, me, strings.NewReader(good)); !errors.Is(err, ErrExists) {
		t.Errorf("over an existing file: %v, want %v", err, ErrExists)
	}
}
