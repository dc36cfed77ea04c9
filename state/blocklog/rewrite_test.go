package blocklog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

const oneFile = "data/blocks/000001.blocks"

func fileOf(t *testing.T, fs vfs.FS, name string) []byte {
	t.Helper()
	f, err := fs.Open(name)
	check(t, err)
	b, err := io.ReadAll(f)
	check(t, errors.Join(err, f.Close()))
	return b
}

// writeInto writes bytes into a file that others have open.
func writeInto(t *testing.T, fs vfs.FS, name string, at int64, b []byte) {
	t.Helper()
	f, err := fs.OpenReadWrite(name, vfs.WriteCategoryUnspecified)
	check(t, err)
	_, err = f.WriteAt(b, at)
	check(t, errors.Join(err, f.Sync(), f.Close()))
}

// threeRecords is a log with three records in its one segment.
func threeRecords(t *testing.T, fs vfs.FS) (*Log, *kept) {
	t.Helper()
	k := new(kept)
	l := open(t, fs, k)
	for i := range 3 {
		parts := [][]byte{[]byte("the block " + fmt.Sprint(i)), []byte("a certificate"), {}, []byte("receipt"), {byte(i)}}
		p, err := l.Append(uint64(i+1), parts)
		check(t, err)
		k.places, k.parts = append(k.places, p), append(k.parts, parts)
	}
	return l, k
}

// mend writes every record that is damaged again from what is whole of it and what a
// peer would have, and returns how many there were.
func (k *kept) mend(t *testing.T, l *Log) (damaged int) {
	t.Helper()
	for i, p := range k.places {
		height := uint64(i + 1)
		parts, whole, err := l.Salvage(height, p)
		check(t, err)
		if _, err := l.Read(height, p); err != nil && whole {
			t.Fatalf("block %d is whole: %v, and is read: %v", height, whole, err)
		}
		if whole {
			continue
		}
		damaged++
		for n, part := range parts {
			if part != nil && !bytes.Equal(part, k.parts[i][n]) {
				t.Fatalf("part %d of block %d is said to be %q", n, height, part)
			}
			if part == nil {
				parts[n] = k.parts[i][n]
			}
		}
		check(t, l.Rewrite(height, p, parts, true))
	}
	return damaged
}

// TestRewriteMendsEveryByte damages each byte of a segment in turn, then stretches of
// it, then its end, while the log is open. Written again, the file is what it was, to
// the byte.
func TestRewriteMendsEveryByte(t *testing.T) {
	fs, rng := vfs.NewMem(), rand.New(rand.NewPCG(5, 5))
	l, k := threeRecords(t, fs)
	good := fileOf(t, fs, oneFile)
	spoil := func(what string, at int, b []byte, want int) {
		t.Helper()
		writeInto(t, fs, oneFile, int64(at), b)
		if n := k.mend(t, l); n != want {
			t.Errorf("%s: %d records were damaged, want %d", what, n, want)
		}
		if got := fileOf(t, fs, oneFile); !bytes.Equal(got, good) {
			t.Fatalf("%s: the file is\n%q, was\n%q", what, got, good)
		}
		check(t, k.verify(l))
	}
	for at := headerBytes; at < len(good); at++ {
		spoil(fmt.Sprintf("byte %d", at), at, []byte{good[at] ^ 1<<rng.IntN(8)}, 1)
	}
	for i, p := range k.places {
		spoil("record", int(p.Offset), make([]byte, int(p.end())-int(p.Offset)), 1)
		if i > 0 {
			spoil("edge", int(p.Offset)-3, bytes.Repeat([]byte{0xee}, 6), 2)
		}
	}
	spoil("all", headerBytes, make([]byte, len(good)-headerBytes), 3)
	for at := headerBytes; at < len(good); at++ { // a file whose end is gone
		f, err := fs.Create(oneFile, vfs.WriteCategoryUnspecified)
		check(t, err)
		_, err = f.Write(bytes.Clone(good[:at])) // with -race, the memory of it is spoilt
		check(t, errors.Join(err, f.Close()))
		if k.mend(t, l); !bytes.Equal(fileOf(t, fs, oneFile), good) {
			t.Fatalf("cut at %d: the file is not what it was", at)
		}
	}
	check(t, k.verify(l))
	check(t, l.Close())
}

// TestRewriteWritesNothingElse: what does not fill the place is refused, and a segment
// that is not there is not made.
func TestRewriteWritesNothingElse(t *testing.T) {
	fs := vfs.NewMem()
	l, k := threeRecords(t, fs)
	good := fileOf(t, fs, oneFile)
	for _, parts := range [][][]byte{nil, k.parts[1][:4], append(slices.Clone(k.parts[1]), nil), {k.parts[1][0], []byte("a longer certificate"), {}, []byte("receipt"), {1}}} {
		if err := l.Rewrite(2, k.places[1], parts, true); !errors.Is(err, ErrOtherSize) {
			t.Errorf("%q: %v", parts, err)
		}
	}
	if got := fileOf(t, fs, oneFile); !bytes.Equal(got, good) {
		t.Error("a refused record was written")
	}
	check(t, fs.Remove(oneFile))
	if err := l.Rewrite(2, k.places[1], k.parts[1], true); err == nil {
		t.Error("a record was written into a file that is not there")
	}
	if _, err := fs.Stat(oneFile); err == nil {
		t.Error("the file was made")
	}
	if _, _, err := l.Salvage(2, k.places[1]); !errors.Is(err, ErrDamaged) {
		t.Errorf("salvage from no file: %v", err)
	}
	check(t, l.Close())
}

// TestRewriteIsCutOff cuts the power before every operation of a rewrite, keeping any
// part of what was not synced. The others are whole; the record is whole or damaged,
// never something else, and written again it is what it was.
func TestRewriteIsCutOff(t *testing.T) {
	mem, rng := vfs.NewCrashableMem(), rand.New(rand.NewPCG(6, 6))
	var points []*vfs.MemFS
	taking := false
	camera := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		for _, percent := range []int{0, 30, 70, 100} {
			if taking && op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
				points = append(points, mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rng}))
			}
		}
		return nil
	}))
	check(t, mem.MkdirAll("data", 0o755))
	root, err := mem.OpenDir("")
	check(t, err)
	check(t, root.Sync())
	l, k := threeRecords(t, camera)
	good := fileOf(t, mem, oneFile)
	writeInto(t, mem, oneFile, int64(k.places[1].Offset), make([]byte, 60))
	taking = true
	if n := k.mend(t, l); n != 1 {
		t.Fatalf("%d records were damaged", n)
	}
	points = append(points, mem.CrashClone(vfs.CrashCloneCfg{})) // it returned: it is durable
	check(t, l.Close())
	damaged := 0
	for i, fs := range points {
		l := open(t, fs, k)
		damaged += k.mend(t, l)
		if i == len(points)-1 && damaged == len(points) {
			t.Error("what was mended was not durable")
		}
		if got := fileOf(t, fs, oneFile); !bytes.Equal(got, good) {
			t.Errorf("crash point %d: the file is not what it was", i)
		}
		check(t, l.Close())
	}
	if damaged == 0 || len(points) < 9 {
		t.Errorf("%d crash points, %d left a damaged record", len(points), damaged)
	}
}

// TestRewriteFails fails each operation of a rewrite in turn, as a full or failing disk
// does. The log goes on, and the next try succeeds.
func TestRewriteFails(t *testing.T) {
	boom, failed := errors.New("no space left on device"), 0
	for n := range 12 {
		left := -1
		mem := vfs.NewMem()
		fs := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
			if left--; left == 0 {
				return boom
			}
			return nil
		}))
		l, k := threeRecords(t, fs)
		good := fileOf(t, mem, oneFile)
		writeInto(t, mem, oneFile, int64(k.places[0].Offset), make([]byte, 30))
		left = n + 1
		err := l.Rewrite(1, k.places[0], k.parts[0], true)
		left = -1
		if err != nil {
			failed++
			if !errors.Is(err, boom) {
				t.Errorf("operation %d: %v", n, err)
			}
		}
		check(t, k.add(l, rand.New(rand.NewPCG(7, 7))))
		check(t, l.Rewrite(1, k.places[0], k.parts[0], true))
		check(t, k.verify(l))
		if !bytes.HasPrefix(fileOf(t, mem, oneFile), good) {
			t.Errorf("operation %d: the file is not what it was", n)
		}
		check(t, l.Close())
	}
	if failed < 6 {
		t.Errorf("%d operations failed", failed)
	}
}

// TestCheckFiles: a file that was removed, cut or exchanged is noticed although readers
// have it open.
func TestCheckFiles(t *testing.T) {
	fs, rng := vfs.NewMem(), rand.New(rand.NewPCG(8, 8))
	var k kept
	l := open(t, fs, &k)
	for l.number < 4 {
		check(t, k.add(l, rng))
	}
	check(t, k.verify(l))
	look := func(what string, want ...string) {
		t.Helper()
		found, err := l.CheckFiles(l.number)
		check(t, err)
		for i, d := range found {
			if i >= len(want) || !strings.Contains(d.Error(), want[i]) {
				t.Errorf("%s: %v", what, d)
			}
		}
		if len(found) != len(want) {
			t.Errorf("%s: %d files are found, want %d", what, len(found), len(want))
		}
	}
	look("all there")
	second := fileOf(t, fs, "data/blocks/000002.blocks")
	check(t, fs.Remove("data/blocks/000002.blocks"))
	check(t, k.verify(l)) // from the open file
	look("removed", "000002.blocks: the file is missing")
	put := func(name string, b []byte) {
		f, err := fs.Create("data/blocks/"+name, vfs.WriteCategoryUnspecified)
		check(t, err)
		_, err = f.Write(bytes.Clone(b))
		check(t, errors.Join(err, f.Close()))
	}
	put("000003.blocks", second)
	put("000002.blocks", second[:len(second)-1])
	look("exchanged and cut", "000002.blocks: it has", "000003.blocks: the header")
	put("000002.blocks", second)
	put("000003.blocks", nil)
	look("emptied", "000003.blocks: the header")
	check(t, l.Close())
}

// TestReadSome reads records in stretches of parts, as large as they may be.
func TestReadSome(t *testing.T) {
	fs, rng := vfs.NewMem(), rand.New(rand.NewPCG(9, 9))
	var k kept
	l := open(t, fs, &k)
	for range 40 {
		check(t, k.add(l, rng))
	}
	many := make([][]byte, partsAtOnce+7)
	for i := range many {
		many[i] = []byte{byte(i)}
	}
	p, err := l.Append(41, many)
	check(t, err)
	k.places, k.parts = append(k.places, p), append(k.parts, many)
	for i, p := range k.places {
		for _, room := range []int{900, 941, 1 << 20} {
			var got [][]byte
			for uint32(len(got)) < p.Parts {
				if one, err := l.ReadSome(uint64(i+1), p, uint32(len(got)), uint32(len(got)+1), room); err != nil || len(one) != 1 {
					t.Fatalf("%d parts instead of one: %v", len(one), err)
				}
				some, err := l.ReadSome(uint64(i+1), p, uint32(len(got)), p.Parts, room)
				check(t, err)
				if size := lengthOf(some) - entryBytes*len(some); size > room || len(some) == 0 || len(some) > partsAtOnce {
					t.Fatalf("%d parts of %d bytes in room for %d", len(some), size, room)
				}
				got = append(got, some...)
			}
			if !slices.EqualFunc(got, k.parts[i], bytes.Equal) {
				t.Errorf("block %d: %q, want %q", i+1, got, k.parts[i])
			}
		}
		if _, err := l.ReadSome(uint64(i+1), p, p.Parts, p.Parts+1, 1); !errors.Is(err, ErrDamaged) {
			t.Errorf("a part that is not there: %v", err)
		}
	}
	big, err := l.Append(42, [][]byte{make([]byte, 100)})
	check(t, err)
	if some, err := l.ReadSome(42, big, 0, 1, 99); err != nil || len(some) != 0 {
		t.Errorf("a part that does not fit: %d, %v", len(some), err)
	}
	writeInto(t, fs, fmt.Sprintf("data/blocks/%06d.blocks", big.Segment), int64(big.Offset)+headBytes+entryBytes+5, []byte{1})
	if _, err := l.ReadSome(42, big, 0, 9, 100); !errors.Is(err, ErrDamaged) {
		t.Errorf("a damaged part: %v", err)
	}
	check(t, l.Close())
}
