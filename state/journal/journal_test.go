package journal

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
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
func diskWith(t *testing.T, records []string) (d *disk, offsets []int64) {
	t.Helper()
	d = newDisk()
	j, err := openIn(d, "j")
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
	j, err := Open(path)
	check(t, err)
	if _, err := Open(path); !errors.Is(err, ErrInUse) {
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
	j, err = Open(path)
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
	if _, err := Open(path); !errors.Is(err, ErrInUse) {
		t.Errorf("second journal of the pruned file: %v", err)
	}
	check(t, j.Close())
	j, err = Open(path)
	check(t, err)
	if got := replayed(t, j); !slices.Equal(got, want) {
		t.Fatalf("pruned and reopened: %q", got)
	}
	check(t, j.Close())
}

func TestOpenNeedsAFolder(t *testing.T) {
	if _, err := Open(filepath.Join(t.TempDir(), "missing", "j")); err == nil {
		t.Error("opened without a folder")
	}
}

func TestAppendBounds(t *testing.T) {
	j, err := openIn(newDisk(), "j")
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
	data := whole.names["j"].data
	for cut := offsets[len(records)-4]; cut <= int64(len(data)); cut++ {
		for _, zeros := range []int64{0, int64(len(data)) - cut} {
			d := newDisk()
			torn := append(bytes.Clone(data[:cut]), make([]byte, zeros)...)
			d.names["j"] = &inode{data: torn, synced: len(torn)}
			j, err := openIn(d, "j")
			check(t, err)
			n := 0
			for n < len(records) && offsets[n+1] <= cut {
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
			j, err = openIn(d, "j")
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
	data := whole.names["j"].data
	open := func(data []byte) (*Journal, error) {
		d := newDisk()
		d.names["j"] = &inode{data: data, synced: len(data)}
		return openIn(d, "j")
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
	newer := newFileHeader(salt{1})
	newer[8]++
	if _, err := open(newer); !errors.Is(err, ErrDamaged) {
		t.Errorf("version without checksum: %v", err)
	}
}

func TestDamageAfterOpening(t *testing.T) {
	records := testRecords()
	d, offsets := diskWith(t, records)
	j, err := openIn(d, "j")
	check(t, err)
	d.names["j"].data[offsets[3]+recordHeader-1] ^= 1
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
		forged = appendRecord(forged, salt{}, n, []byte("forged"))
	}
	d, _ := diskWith(t, []string{"first", "second", string(forged) + "end"})
	node := d.names["j"]
	node.data = node.data[:len(node.data)-1]
	j, err := openIn(d, "j")
	check(t, err)
	if got := replayed(t, j); !slices.Equal(got, []string{"first", "second"}) {
		t.Errorf("replayed %q", got)
	}
}

// TestCrashes appends, syncs and prunes at random on a disk that loses power or
// fails at a random operation, and opens what is left: every synced record is
// there, then possibly some of the unsynced ones in order, and pruning happened
// as a whole or not at all. Rerun one case with -run 'TestCrashes/seed=17'.
func TestCrashes(t *testing.T) {
	for seed := range uint64(400) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 2))
			d := newDisk()
			j, err := openIn(d, "j")
			check(t, err)
			var durable, appended []string // durable is the least, appended the most that may be left
			pruned := []string(nil)        // the other outcome while a prune fails
			d.failIn, d.landed = rng.IntN(60), rng.IntN(2) == 0
			for i := 0; err == nil; i++ {
				switch rng.IntN(8) {
				case 0, 1:
					if err = j.Sync(); err == nil {
						durable = slices.Clone(appended)
					}
				case 2:
					keep := func(rec []byte) bool { return len(rec)%3 != 0 }
					pruned = slices.DeleteFunc(slices.Clone(appended), func(s string) bool { return !keep([]byte(s)) })
					if err = j.Prune(keep); err == nil {
						durable, appended = pruned, slices.Clone(pruned)
					}
				default:
					rec := fmt.Sprintf("%d%s", i, bytes.Repeat([]byte("x"), rng.IntN(30)))
					if err = j.Append([]byte(rec)); err == nil {
						appended = append(appended, rec)
					}
				}
			}
			if !errors.Is(err, ErrFailed) || !errors.Is(err, errDisk) {
				t.Fatalf("failure is reported as %v", err)
			}
			if err := j.Sync(); !errors.Is(err, ErrFailed) {
				t.Fatalf("sync after a failure: %v", err)
			}
			j, err = openIn(d.crash(rng), "j")
			check(t, err)
			got := replayed(t, j)
			between := len(got) >= len(durable) && len(got) <= len(appended) && slices.Equal(got, appended[:len(got)])
			if !between && !slices.Equal(got, pruned) {
				t.Fatalf("left %q\nsynced %q\nappended %q\nor pruned %q", got, durable, appended, pruned)
			}
		})
	}
}

func TestFailureToCreate(t *testing.T) {
	for fail := range 5 {
		for _, landed := range []bool{false, true} {
			d := newDisk()
			d.failIn, d.landed = fail, landed
			if _, err := openIn(d, "j"); !errors.Is(err, errDisk) {
				t.Fatalf("failure of operation %d: %v", fail, err)
			}
			j, err := openIn(d.crash(rand.New(rand.NewPCG(uint64(fail), 3))), "j")
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
	file := newFileHeader(salt{1, 2})
	for n := range uint64(3) {
		file = appendRecord(file, salt{1, 2}, n, bytes.Repeat([]byte{byte(n)}, int(n)*5))
	}
	f.Add(file)
	f.Add(file[:len(file)-3])
	f.Add(slices.Concat(file[:fileHeader+3], file[fileHeader:]))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		d := newDisk()
		d.names["j"] = &inode{data: bytes.Clone(data), synced: len(data)}
		j, err := openIn(d, "j")
		if err != nil {
			if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrVersion) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		first := replayed(t, j)
		check(t, j.Close())
		j, err = openIn(d, "j")
		check(t, err)
		if again := replayed(t, j); !slices.Equal(first, again) || j.Repaired() != 0 {
			t.Fatalf("%q, then %q, repaired %d", first, again, j.Repaired())
		}
	})
}
