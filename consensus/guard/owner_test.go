package guard

import (
	"errors"
	"math/bits"
	"testing"

	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// turnFile lets each operation of a process happen when it is its turn.
type turnFile struct {
	File
	turn, done chan struct{}
}

func (f *turnFile) ReadAt(b []byte, at int64) (int, error) {
	<-f.turn
	defer func() { f.done <- struct{}{} }()
	return f.File.ReadAt(b, at)
}

func (f *turnFile) WriteAt(b []byte, at int64) (int, error) {
	<-f.turn
	defer func() { f.done <- struct{}{} }()
	return f.File.WriteAt(b, at)
}

func (f *turnFile) Sync() error {
	<-f.turn
	defer func() { f.done <- struct{}{} }()
	return f.File.Sync()
}

// race lets two processes without a lock between them vote for two blocks of one
// view, in the order of operations that the bits of schedule give, and returns what
// became of the votes. A process that has ended passes its turns to the other.
func race(t *testing.T, old bool, schedule uint32) (first, second error) {
	t.Helper()
	d := newDisk()
	if err := create(d, me); err != nil {
		t.Fatal(err)
	}
	disk, err := d.Open(FileName)
	if err != nil {
		t.Fatal(err)
	}
	var files [2]*turnFile
	var ends [2]chan error
	for i := range files {
		files[i] = &turnFile{disk, make(chan struct{}), make(chan struct{})}
		ends[i] = make(chan error, 1)
		g := &Guard{id: me, dir: d, file: disk}
		if err := g.load(); err != nil {
			t.Fatal(err)
		}
		if old && i == 0 { // it has run for long
			p := simplex.Proposal{Round: about(1, 0, 0).Round}
			if err := errors.Join(g.Permit(simplex.Nullify, p), g.Sync()); err != nil {
				t.Fatal(err)
			}
		}
		g.file = files[i]
		go func() {
			err := g.Permit(simplex.Notarize, about(2, 1, byte(i+1)))
			ends[i] <- errors.Join(err, g.Sync())
		}()
	}
	var results [2]error
	ended := [2]bool{}
	for step := 0; !ended[0] || !ended[1]; step++ {
		who := int(schedule >> min(step, 31) & 1)
		if ended[who] {
			who = 1 - who
		}
		select {
		case files[who].turn <- struct{}{}:
			<-files[who].done
		case results[who] = <-ends[who]:
			ended[who] = true
		}
	}
	return results[0], results[1]
}

// Two processes that are past the fence at the same moment notice each other, in
// every order of their reads, writes and syncs: never do both votes leave. Alone,
// each vote does.
func TestTwoPastTheFence(t *testing.T) {
	for _, old := range []bool{false, true} {
		passed, fenced := 0, 0
		const operations = 8 // of each
		for schedule := range uint32(1 << (2 * operations)) {
			if bits.OnesCount32(schedule) != operations {
				continue
			}
			first, second := race(t, old, schedule)
			if first == nil && second == nil {
				t.Fatalf("old %v, schedule %b: both votes leave", old, schedule)
			}
			for _, err := range []error{first, second} {
				switch {
				case err == nil:
					passed++
				case errors.Is(err, ErrFenced):
					fenced++
				default:
					t.Fatalf("old %v, schedule %b: %v", old, schedule, err)
				}
			}
		}
		if passed == 0 || fenced == 0 {
			t.Errorf("old %v: %d votes leave, %d are fenced off", old, passed, fenced)
		}
	}
}

// A file of before owners were named, which ends after the slots, is taken over as
// any other, and one that is put back under a running process stops it.
func TestOwnerIsNamed(t *testing.T) {
	d := newDisk()
	if err := create(d, me); err != nil {
		t.Fatal(err)
	}
	if n := len(d.Bytes(FileName)); n != ownerAt {
		t.Fatalf("a new file has %d bytes", n)
	}
	g, err := open(d, me)
	if err != nil {
		t.Fatal(err)
	}
	before := append([]byte(nil), d.Bytes(FileName)...)
	if err := errors.Join(g.Permit(simplex.Notarize, about(1, 0, 1)), g.Sync()); err != nil {
		t.Fatal(err)
	}
	if n := len(d.Bytes(FileName)); n != ownerAt+slotBytes {
		t.Errorf("an owned file has %d bytes", n)
	}
	copy(d.Bytes(FileName), before)
	if err := errors.Join(g.Permit(simplex.Notarize, about(2, 1, 1)), g.Sync()); !errors.Is(err, ErrFenced) {
		t.Errorf("an older file in its place: %v, want %v", err, ErrFenced)
	}
}
