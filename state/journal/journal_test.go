package journal

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/state/journal/disktest"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// replayed returns the records of a journal as strings.
func replayed(t *testing.T, j *Journal) []string {
	t.Helper()
	got := []string{}
	check(t, j.Replay(func(rec []byte) error { got = append(got, string(rec)); return nil }))
	return got
}

// diskWith returns a disk whose journal holds the records, and the offset where
// each begins and the last ends.
func diskWith(t *testing.T, records []string) (d model, offsets []int64) {
	t.Helper()
	d = newDisk()
	j, err := OpenIn(d, "j", KindVotes)
	check(t, err)
	for _, rec := range records {
		offsets = append(offsets, j.Size())
		check(t, j.Append([]byte(rec)))
	}
	offsets = append(offsets, j.Size())
	check(t, j.Close())
	return d, offsets
}

func testRecords() []string {
	rng := rand.New(rand.NewPCG(1, 1))
	var records []string
	for i := range 12 {
		rec := make([]byte, []int{0, 1, 7, 40, 200}[rng.IntN(5)])
		for k := range rec {
			rec[k] = byte(rng.IntN(256))
		}
		records = append(records, string(rec)+fmt.Sprint(i))
	}
	return append(records, "", "last")
}

func TestJournalOnDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "votes.journal")
	j, err := Open(path, KindVotes)
	check(t, err)
	if _, err := Open(path, KindVotes); !errors.Is(err, ErrInUse) {
		t.Errorf("second journal of the file: %v", err)
	}
	var want []string
	for i := range 100 {
		rec := fmt.Sprintf("record %d", i)
		check(t, j.Append([]byte(rec)))
		want = append(want, rec)
		if i%10 == 0 {
			check(t, j.Sync())
		}
	}
	if got := replayed(t, j); !slices.Equal(got, want) {
		t.Fatalf("replayed %q", got)
	}
	check(t, j.Close())
	check(t, j.Close())
	if err := j.Append(nil); !errors.Is(err, ErrFailed) {
		t.Errorf("append after close: %v", err)
	}
	check(t, os.WriteFile(path+tempSuffix, []byte("left by a crash"), 0o600))
	j, err = Open(path, KindVotes)
	check(t, err)
	if _, err := os.Stat(path + tempSuffix); !os.IsNotExist(err) {
		t.Errorf("file of an unfinished pruning: %v", err)
	}
	if got := replayed(t, j); !slices.Equal(got, want) || j.Repaired() != 0 {
		t.Fatalf("after reopening: %q, repaired %d", got, j.Repaired())
	}
	before := j.Size()
	check(t, j.Append([]byte("unsynced")))
	check(t, j.Prune(func(rec []byte) bool { return rec[len(rec)-1] == '7' || string(rec) == "unsynced" }))
	check(t, j.Append([]byte("more")))
	want = slices.DeleteFunc(want, func(s string) bool { return s[len(s)-1] != '7' })
	want = append(want, "unsynced", "more")
	if got := replayed(t, j); !slices.Equal(got, want) || j.Size() >= before {
		t.Fatalf("after pruning: %q, %d of %d bytes", got, j.Size(), before)
	}
	if _, err := Open(path, KindVotes); !errors.Is(err, ErrInUse) {
		t.Errorf("second journal of the pruned file: %v", err)
	}
	check(t, j.Close())
	j, err = Open(path, KindVotes)
	check(t, err)
	if got := replayed(t, j); !slices.Equal(got, want) {
		t.Fatalf("pruned and reopened: %q", got)
	}
	check(t, j.Close())
}

func TestOpenNeedsAFolder(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "missing", "j"), KindVotes); err == nil {
		t.Error("opened without a folder")
	}
}

func TestAppendBounds(t *testing.T) {
	j, err := OpenIn(newDisk(), "j", KindVotes)
	check(t, err)
	if err := j.Append(make([]byte, MaxRecordBytes+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("record above the bound: %v", err)
	}
	big := bytes.Repeat([]byte{7}, 3*bufferBytes)
	check(t, j.Append(big))
	if len(j.buffer) != 0 {
		t.Error("a full buffer was not written")
	}
	if got := replayed(t, j); len(got) != 1 || got[0] != string(big) {
		t.Error("large record differs")
	}
}

// TestTornTail cuts the file at every byte of the last records: all whole
// records are there, the rest is cut off, and the journal goes on.
func TestTornTail(t *testing.T) {
	records := testRecords()
	whole, offsets := diskWith(t, records)
	data := whole.Bytes("j")
	for cut := offsets[len(records)-4]; cut <= int64(len(data)); cut++ {
		for _, zeros := range []int64{0, int64(len(data)) - cut} {
			d := newDisk()
			torn := append(bytes.Clone(data[:cut]), make([]byte, zeros)...)
			d.Put("j", torn)
			j, err := OpenIn(d, "j", KindVotes)
			check(t, err)
			n := 0
			// The salt is drawn, so a record may end in zeros: those put behind the cut make it whole again.
			for n < len(records) && int64(len(torn)) >= offsets[n+1] && bytes.Equal(torn[:offsets[n+1]], data[:offsets[n+1]]) {
				n++
			}
			if got := replayed(t, j); !slices.Equal(got, records[:n]) {
				t.Fatalf("cut at %d: %d records, want %d", cut, len(got), n)
			}
			if want := int64(len(torn)) - offsets[n]; j.Repaired() != want {
				t.Fatalf("cut at %d: repaired %d, want %d", cut, j.Repaired(), want)
			}
			check(t, j.Append([]byte("on")))
			check(t, j.Close())
			j, err = OpenIn(d, "j", KindVotes)
			check(t, err)
			if got := replayed(t, j); !slices.Equal(got, append(slices.Clone(records[:n]), "on")) || j.Repaired() != 0 {
				t.Fatalf("cut at %d, reopened: %q", cut, got)
			}
		}
	}
}

// TestDamage changes every byte of the file, one at a time. Only damage to the
// last record passes for a torn write; all other is refused.
func TestDamage(t *testing.T) {
	records := testRecords()
	whole, offsets := diskWith(t, records)
	data := whole.Bytes("j")
	open := func(data []byte) (*Journal, error) {
		d := newDisk()
		d.Put("j", data)
		return OpenIn(d, "j", KindVotes)
	}
	for i := range data {
		for _, flip := range []byte{0x01, 0x80, 0xff} {
			bad := bytes.Clone(data)
			bad[i] ^= flip
			j, err := open(bad)
			if int64(i) >= offsets[len(records)-1] {
				check(t, err)
				if got := replayed(t, j); !slices.Equal(got, records[:len(records)-1]) {
					t.Fatalf("byte %d: %q", i, got)
				}
				continue
			}
			var where *DamageError
			if !errors.Is(err, ErrDamaged) || !errors.As(err, &where) || where.Offset > int64(i) {
				t.Fatalf("byte %d of the middle: %v", i, err)
			}
		}
	}
	rec := func(i int) []byte { return data[offsets[i]:offsets[i+1]] }
	head, tail := data[:offsets[5]], data[offsets[7]:]
	for name, bad := range map[string][]byte{
		"records swapped":  slices.Concat(head, rec(6), rec(5), tail),
		"record lost":      slices.Concat(head, rec(6), tail),
		"record repeated":  slices.Concat(head, rec(5), rec(5), rec(6), tail),
		"bytes inserted":   slices.Concat(head, []byte("xyz"), rec(5), rec(6), tail),
		"middle is zero":   slices.Concat(head, make([]byte, len(rec(5))+len(rec(6))), tail),
		"last is repeated": slices.Concat(data, rec(len(records)-1)),
		"header lost":      data[fileHeader:],
		"half a header":    data[:fileHeader/2],
		"empty file":       {},
	} {
		if _, err := open(bad); !errors.Is(err, ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	newer := newFileHeader(KindVotes, salt{1})
	newer[8]++
	if _, err := open(newer); !errors.Is(err, ErrDamaged) {
		t.Errorf("version without checksum: %v", err)
	}
}

func TestDamageAfterOpening(t *testing.T) {
	records := testRecords()
	d, offsets := diskWith(t, records)
	j, err := OpenIn(d, "j", KindVotes)
	check(t, err)
	d.Bytes("j")[offsets[3]+recordHeader-1] ^= 1
	if err := j.Replay(func([]byte) error { return nil }); !errors.Is(err, ErrDamaged) {
		t.Errorf("replay: %v", err)
	}
	if err := j.Prune(func([]byte) bool { return true }); !errors.Is(err, ErrDamaged) {
		t.Errorf("prune: %v", err)
	}
}

// TestPayloadCannotPassForARecord tears a record whose payload is made of
// records with fitting numbers and checksums, as far as an outsider can make
// them.
func TestPayloadCannotPassForARecord(t *testing.T) {
	var forged []byte
	for n := range uint64(20) {
		forged = layout{headSum: true}.appendRecord(forged, n, []byte("forged"))
	}
	d, _ := diskWith(t, []string{"first", "second", string(forged) + "end"})
	data := d.Bytes("j")
	d = newDisk()
	d.Put("j", data[:len(data)-1])
	j, err := OpenIn(d, "j", KindVotes)
	check(t, err)
	if got := replayed(t, j); !slices.Equal(got, []string{"first", "second"}) {
		t.Errorf("replayed %q", got)
	}
}

// counted counts what is read of the files of a folder.
type counted struct {
	model
	bytes int64
}

func (c *counted) Open(name string) (File, error) {
	f, err := c.model.Open(name)
	return countedFile{f, c}, err
}

type countedFile struct {
	File
	by *counted
}

func (f countedFile) ReadAt(p []byte, off int64) (int, error) {
	f.by.bytes += int64(len(p))
	return f.File.ReadAt(p, off)
}

// TestForgedHeadsCostLittle opens a journal whose last write was cut short, with a payload
// that has plausible heads of long records everywhere: they are not read to their ends,
// which took minutes for a block of four megabytes.
func TestForgedHeadsCostLittle(t *testing.T) {
	const size = 1 << 20
	payload := make([]byte, size)
	for i := 0; i+headWithoutSum <= size; i += headWithoutSum {
		binary.LittleEndian.PutUint32(payload[i:], uint32(size-i)/2)
		binary.LittleEndian.PutUint64(payload[i+4:], 50)
	}
	d, _ := diskWith(t, []string{"first", string(payload)})
	data := d.Bytes("j")
	c := &counted{model: newDisk()}
	c.Put("j", data[:len(data)-1])
	j, err := OpenIn(c, "j", KindVotes)
	check(t, err)
	if got := replayed(t, j); !slices.Equal(got, []string{"first"}) {
		t.Errorf("%d records replayed", len(got))
	}
	if c.bytes > 4*size {
		t.Errorf("%d bytes are read of a file of %d", c.bytes, len(data))
	}
}

// past is what a journal has been told.
type past struct {
	durable, appended []string // the least and the most that may be left
	pruned            []string // the other outcome, if pruning
	pruning           bool     // a prune failed
}

// play appends, syncs and prunes at random, for a number of steps or until
// something fails.
func (p *past) play(j *Journal, rng *rand.Rand, steps int) (err error) {
	for i := 0; err == nil && i < steps; i++ {
		switch rng.IntN(8) {
		case 0, 1:
			if err = j.Sync(); err == nil {
				p.durable = slices.Clone(p.appended)
			}
		case 2:
			keep := func(rec []byte) bool { return len(rec)%3 != 0 }
			p.pruned = slices.DeleteFunc(slices.Clone(p.appended), func(s string) bool { return !keep([]byte(s)) })
			if err = j.Prune(keep); err == nil {
				p.durable, p.appended = p.pruned, slices.Clone(p.pruned)
			}
			p.pruning = err != nil
		default:
			rec := fmt.Sprintf("%d%s", i, bytes.Repeat([]byte("x"), rng.IntN(30)))
			if err = j.Append([]byte(rec)); err == nil {
				p.appended = append(p.appended, rec)
			}
		}
	}
	return err
}

// check compares what is left after a crash: every synced record, then possibly
// some of the unsynced ones in order, and pruning as a whole or not at all.
func (p *past) check(t *testing.T, got []string) {
	t.Helper()
	between := len(got) >= len(p.durable) && len(got) <= len(p.appended) && slices.Equal(got, p.appended[:len(got)])
	if !between && !(p.pruning && slices.Equal(got, p.pruned)) {
		t.Fatalf("left %q\nsynced %q\nappended %q\nor pruned %q", got, p.durable, p.appended, p.pruned)
	}
}

// TestCrashes plays on a disk that fails at a random operation and loses power,
// and opens what is left. Rerun one case with -run 'TestCrashes/seed=17'.
func TestCrashes(t *testing.T) {
	for seed := range uint64(400) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 2))
			d := newDisk()
			j, err := OpenIn(d, "j", KindVotes)
			check(t, err)
			d.FailIn, d.Landed = rng.IntN(60), rng.IntN(2) == 0
			var p past
			if err := p.play(j, rng, 1000); !errors.Is(err, ErrFailed) || !errors.Is(err, disktest.ErrDisk) {
				t.Fatalf("failure is reported as %v", err)
			}
			if err := j.Sync(); !errors.Is(err, ErrFailed) {
				t.Fatalf("sync after a failure: %v", err)
			}
			j, err = OpenIn(model{d.CutTails(50, rng)}, "j", KindVotes)
			check(t, err)
			p.check(t, replayed(t, j))
		})
	}
}

// TestCrashMatrix plays the same steps again and again, and lets each operation
// fail in turn, before or after taking effect, and the power with it; nothing,
// all or any part of what was not synced is left. What is left opens as it
// should, also if the power is cut while it is repaired, and the journal goes
// on.
func TestCrashMatrix(t *testing.T) {
	images := 0
	for seed := range uint64(3) {
		for op := 0; ; op++ {
			ended := false
			for image := range 12 {
				keep := []int{0, 100, 50, 50, 50, 50}[image/2]
				images++
				if !t.Run(fmt.Sprintf("seed=%d/op=%d/image=%d", seed, op, image), func(t *testing.T) {
					ended = crashOnce(t, seed, op, keep, image)
				}) {
					return
				}
			}
			if ended {
				break
			}
		}
	}
	t.Logf("%d images", images)
	if images < 2000 {
		t.Errorf("only %d images: operations are missed", images)
	}
}

// crashOnce fails one operation and reports whether there are fewer.
func crashOnce(t *testing.T, seed uint64, op, keep, image int) (ended bool) {
	t.Helper()
	d := newDisk()
	d.FailIn, d.Landed = op, image%2 == 1
	var p past
	j, err := OpenIn(d, "j", KindVotes)
	if err == nil {
		err = p.play(j, rand.New(rand.NewPCG(seed, 4)), 150)
	}
	if err != nil && !errors.Is(err, disktest.ErrDisk) {
		t.Fatalf("failure is reported as %v", err)
	}
	rng := rand.New(rand.NewPCG(uint64(op), uint64(image)))
	d2 := model{d.CutTails(keep, rng)}
	d2.FailIn = rng.IntN(6) // the repair may fail as well
	if j, err := OpenIn(d2, "j", KindVotes); err == nil {
		p.check(t, replayed(t, j))
	} else if !errors.Is(err, disktest.ErrDisk) {
		t.Fatalf("open: %v", err)
	}
	d2 = model{d2.CutTails(keep, rng)}
	j, err = OpenIn(d2, "j", KindVotes)
	check(t, err)
	got := replayed(t, j)
	p.check(t, got)
	check(t, j.Append([]byte("on")))
	check(t, j.Sync())
	j, err = OpenIn(model{d2.CutTails(0, rng)}, "j", KindVotes)
	check(t, err)
	if again := replayed(t, j); !slices.Equal(again, append(got, "on")) {
		t.Fatalf("left %q, went on, and left %q", got, again)
	}
	return d.FailIn > 0
}

func TestFailureToCreate(t *testing.T) {
	for fail := range 5 {
		for _, landed := range []bool{false, true} {
			d := newDisk()
			d.FailIn, d.Landed = fail, landed
			if _, err := OpenIn(d, "j", KindVotes); !errors.Is(err, disktest.ErrDisk) {
				t.Fatalf("failure of operation %d: %v", fail, err)
			}
			j, err := OpenIn(model{d.CutTails(50, rand.New(rand.NewPCG(uint64(fail), 3)))}, "j", KindVotes)
			check(t, err)
			if got := replayed(t, j); len(got) != 0 {
				t.Fatalf("records %q", got)
			}
		}
	}
}

// FuzzOpen reads anything as a journal. What opens holds whole records only,
// and opens again to the same ones without repair.
func FuzzOpen(f *testing.F) {
	file := newFileHeader(KindVotes, salt{1, 2})
	for n := range uint64(3) {
		file = layout{salt{1, 2}, true}.appendRecord(file, n, bytes.Repeat([]byte{byte(n)}, int(n)*5))
	}
	f.Add(file)
	f.Add(file[:len(file)-3])
	f.Add(slices.Concat(file[:fileHeader+3], file[fileHeader:]))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		d := newDisk()
		d.Put("j", data)
		j, err := OpenIn(d, "j", KindVotes)
		if err != nil {
			if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrVersion) && !errors.Is(err, ErrKind) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		first := replayed(t, j)
		check(t, j.Close())
		j, err = OpenIn(d, "j", KindVotes)
		check(t, err)
		if again := replayed(t, j); !slices.Equal(first, again) || j.Repaired() != 0 {
			t.Fatalf("%q, then %q, repaired %d", first, again, j.Repaired())
		}
	})
}
