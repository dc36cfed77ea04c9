package blocklog

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// kept is what a caller indexes of a log.
type kept struct {
	places []Place
	parts  [][][]byte
}

func (k *kept) last() (height uint64, p Place) {
	if len(k.places) == 0 {
		return 0, Place{}
	}
	return uint64(len(k.places)), k.places[len(k.places)-1]
}

func open(t *testing.T, fs vfs.FS, k *kept) *Log {
	t.Helper()
	height, last := k.last()
	l, err := Open(Config{FS: fs, Dir: "data/blocks", SegmentBytes: 4 << 10}, height, last)
	check(t, err)
	return l
}

func (k *kept) add(l *Log, rng *rand.Rand) error {
	parts := make([][]byte, rng.IntN(6))
	for i := range parts {
		parts[i] = make([]byte, []int{0, 1, 40, 900}[rng.IntN(4)])
		for j := range parts[i] {
			parts[i][j] = byte(rng.Uint32())
		}
	}
	p, err := l.Append(uint64(len(k.places)+1), parts)
	if err == nil {
		k.places, k.parts = append(k.places, p), append(k.parts, parts)
	}
	return err
}

// verify reads everything in all ways.
func (k *kept) verify(l *Log) error {
	for i, p := range k.places {
		height := uint64(i + 1)
		parts, err := l.Read(height, p)
		if err != nil {
			return err
		}
		if len(parts) != len(k.parts[i]) {
			return fmt.Errorf("block %d has %d parts, want %d", height, len(parts), len(k.parts[i]))
		}
		for n, want := range k.parts[i] {
			part, err := l.ReadPart(height, p, uint32(n))
			if err != nil {
				return err
			}
			if bytes, err := l.PartSize(height, p, uint32(n)); err != nil || bytes != len(want) {
				return fmt.Errorf("part %d of block %d has %d bytes, want %d: %w", n, height, bytes, len(want), err)
			}
			if !bytes.Equal(part, want) || !bytes.Equal(parts[n], want) {
				return fmt.Errorf("part %d of block %d is %x and %x, want %x", n, height, part, parts[n], want)
			}
			size := 0
			for _, part := range k.parts[i][:n+1] {
				size += len(part)
			}
			first, fits, err := l.ReadFirst(height, p, uint32(n+1), size)
			if err != nil {
				return err
			}
			if !fits || len(first) != n+1 || !bytes.Equal(first[n], want) || !bytes.Equal(first[0], k.parts[i][0]) {
				return fmt.Errorf("the first %d parts of block %d are %x (fit: %v)", n+1, height, first, fits)
			}
			if first, fits, err := l.ReadFirst(height, p, uint32(n+1), size-1); err != nil || fits || first != nil {
				return fmt.Errorf("%d bytes of block %d fit into one less (%v)", size, height, err)
			}
		}
	}
	return nil
}

func TestLog(t *testing.T) {
	fs, rng := vfs.NewMem(), rand.New(rand.NewPCG(1, 1))
	var k kept
	l := open(t, fs, &k)
	for i := range 60 {
		check(t, k.add(l, rng))
		if i%13 == 0 {
			check(t, l.Close())
			l = open(t, fs, &k)
		}
	}
	check(t, k.verify(l))
	if _, last := k.last(); last.Segment < 4 {
		t.Errorf("60 records in %d segments", last.Segment)
	}
	// A record above the size of a segment has one of its own.
	large := [][]byte{make([]byte, 10<<10)}
	p, err := l.Append(61, large)
	check(t, err)
	k.places, k.parts = append(k.places, p), append(k.parts, large)
	check(t, k.add(l, rng))
	check(t, k.verify(l))
	if a, b := k.places[60], k.places[61]; a.Offset != headerBytes || b.Segment != a.Segment+1 {
		t.Errorf("a large record is at %+v, the next at %+v", a, b)
	}
	size := int64(0)
	names, err := fs.List("data/blocks")
	check(t, err)
	for _, name := range names {
		info, err := fs.Stat("data/blocks/" + name)
		check(t, err)
		size += info.Size()
	}
	if l.Bytes() != size {
		t.Errorf("%d bytes counted, %d are there", l.Bytes(), size)
	}
	if _, err := l.ReadPart(61, p, 1); !errors.Is(err, ErrDamaged) {
		t.Errorf("part that is not there: %v", err)
	}
	check(t, l.Close())
	check(t, l.Close())
	if _, err := l.Append(63, nil); !errors.Is(err, ErrFailed) {
		t.Errorf("append to a closed log: %v", err)
	}
}

// TestCrashes cuts the power before every operation, keeps any part of what was
// not synced, and goes on: what Append returned for is there, and what the crash
// left behind it is never taken for a record.
func TestCrashes(t *testing.T) {
	mem, rng := vfs.NewCrashableMem(), rand.New(rand.NewPCG(2, 2))
	var k kept
	type point struct {
		fs   *vfs.MemFS
		kept int
	}
	var points []point
	camera := errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			percent := []int{0, 50, 100}[len(points)%3]
			points = append(points, point{mem.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: percent, RNG: rng}), len(k.places)})
		}
		return nil
	}))
	check(t, mem.MkdirAll("data", 0o755))
	root, err := mem.OpenDir("")
	check(t, err)
	check(t, root.Sync())
	l := open(t, camera, &k)
	for range 30 {
		check(t, k.add(l, rng))
	}
	check(t, l.Close())
	if len(points) < 80 {
		t.Fatalf("%d crash points", len(points))
	}
	for i, p := range points {
		after := kept{k.places[:p.kept:p.kept], k.parts[:p.kept:p.kept]}
		l := open(t, p.fs, &after)
		for range 3 {
			check(t, after.add(l, rng))
		}
		if err := after.verify(l); err != nil {
			t.Errorf("crash point %d, %d records acknowledged: %v", i, p.kept, err)
		}
		check(t, l.Close())
	}
}

// TestTornTailIsCutOff leaves bytes behind the last indexed record, on a disk
// that can shorten files.
func TestTornTailIsCutOff(t *testing.T) {
	dir, rng := t.TempDir(), rand.New(rand.NewPCG(3, 3))
	cfg := Config{FS: vfs.Default, Dir: vfs.Default.PathJoin(dir, "blocks"), SegmentBytes: 1 << 20}
	var k kept
	l, err := Open(cfg, 0, Place{})
	check(t, err)
	for range 3 {
		check(t, k.add(l, rng))
	}
	check(t, l.Close())
	k.places, k.parts = k.places[:2], k.parts[:2] // the third was never indexed
	height, last := k.last()
	l, err = Open(cfg, height, last)
	check(t, err)
	info, err := cfg.FS.Stat(cfg.FS.PathJoin(cfg.Dir, name(1)))
	check(t, err)
	if info.Size() != last.end() || l.Bytes() != last.end() {
		t.Errorf("file of %d bytes, %d counted, want %d", info.Size(), l.Bytes(), last.end())
	}
	if found, err := l.CheckFiles(1); err != nil || len(found) > 0 { // nobody else has shortened it
		t.Errorf("behind a start that has cut off what a crash left: %v, %v", found, err)
	}
	check(t, k.add(l, rng))
	check(t, k.verify(l))
	check(t, l.Close())
}

// TestEveryBitCounts flips each bit of a segment in turn: a read returns what was
// written, or a DamageError that names the file.
func TestEveryBitCounts(t *testing.T) {
	fs, rng := vfs.NewMem(), rand.New(rand.NewPCG(4, 4))
	var k kept
	l := open(t, fs, &k)
	for range 3 {
		check(t, k.add(l, rng))
	}
	check(t, l.Close())
	f, err := fs.Open("data/blocks/" + name(1))
	check(t, err)
	good, err := io.ReadAll(f)
	check(t, err)
	check(t, f.Close())
	found := 0
	for at := range good {
		bad := bytes.Clone(good)
		bad[at] ^= 1 << rng.IntN(8)
		f, err := fs.Create("data/blocks/"+name(1), vfs.WriteCategoryUnspecified)
		check(t, err)
		_, err = f.Write(bad)
		check(t, err)
		check(t, f.Close())
		height, last := k.last()
		l, err := Open(Config{FS: fs, Dir: "data/blocks", SegmentBytes: 4 << 10}, height, last)
		if err == nil {
			err = errors.Join(k.verify(l), l.Close())
		}
		var damage *DamageError
		if !errors.As(err, &damage) || damage.File != name(1) {
			t.Errorf("bit of byte %d of %d: %v", at, len(good), err)
			continue
		}
		found++
	}
	t.Logf("%d bits flipped, %d found", len(good), found)
	check(t, fs.Remove("data/blocks/"+name(1)))
	height, last := k.last()
	if _, err := Open(Config{FS: fs, Dir: "data/blocks", SegmentBytes: 4 << 10}, height, last); !errors.Is(err, ErrDamaged) {
		t.Errorf("missing file: %v", err)
	}
}

// TestStaleRecordIsRefused puts an earlier append of the same block in the place
// of the indexed one, checksums and all.
func TestStaleRecordIsRefused(t *testing.T) {
	fs := vfs.NewMem()
	l := open(t, fs, &kept{})
	p, err := l.Append(1, [][]byte{[]byte("one")})
	check(t, err)
	check(t, l.Close())
	l = open(t, fs, &kept{})
	again, err := l.Append(1, [][]byte{[]byte("two")})
	check(t, err)
	if p.Offset != again.Offset || p.Salt == again.Salt {
		t.Fatalf("places %+v and %+v", p, again)
	}
	_, errRead := l.Read(1, p)
	_, errPart := l.ReadPart(1, p, 0)
	if !errors.Is(errRead, ErrDamaged) || !errors.Is(errPart, ErrDamaged) {
		t.Errorf("stale record: %v, %v", errRead, errPart)
	}
	check(t, l.Close())
}

// TestFailedWritesEndTheLog fails each operation of an append in turn.
func TestFailedWritesEndTheLog(t *testing.T) {
	boom := errors.New("disk error")
	for n := range 20 {
		left := -1
		fs := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
			if left--; op.Kind.ReadOrWrite() == errorfs.OpIsWrite && left == 0 {
				return boom
			}
			return nil
		}))
		l := open(t, fs, &kept{})
		left = n + 1
		if _, err := l.Append(1, [][]byte{[]byte("x")}); err == nil {
			continue // reads are not failed
		} else if !errors.Is(err, ErrFailed) || !errors.Is(err, boom) {
			t.Errorf("operation %d: %v", n, err)
		}
		if _, err := l.Append(1, nil); !errors.Is(err, ErrFailed) {
			t.Errorf("append after a failed one: %v", err)
		}
		check(t, l.Close())
	}
}

func TestConfigCheck(t *testing.T) {
	for i, cfg := range []Config{{}, {FS: vfs.NewMem(), SegmentBytes: 1 << 20}, {FS: vfs.NewMem(), Dir: "x"}, {FS: vfs.NewMem(), Dir: "x", SegmentBytes: 1 << 50}} {
		if _, err := Open(cfg, 0, Place{}); err == nil {
			t.Errorf("config %d passes", i)
		}
	}
}

func FuzzDecodePlace(f *testing.F) {
	f.Add(AppendPlace(nil, Place{Segment: 1, Offset: headerBytes, Length: 100, Parts: 3, Salt: 7}))
	f.Add(make([]byte, PlaceBytes))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := DecodePlace(b)
		if err != nil {
			return
		}
		if again := AppendPlace(nil, p); !reflect.DeepEqual(again, b) {
			t.Fatalf("%x decodes to %+v, which encodes to %x", b, p, again)
		}
	})
}

// FuzzRead reads a record out of any bytes: never more than is there, and only
// what was written.
func FuzzRead(f *testing.F) {
	p := Place{Segment: 1, Offset: headerBytes, Length: 2*entryBytes + 8, Parts: 2, Salt: 7}
	good := appendRecord(segmentHeader(1), 5, p, [][]byte{[]byte("abc"), []byte("defgh")})
	f.Add(good, uint32(2), p.Length)
	f.Add(good[:40], uint32(1), p.Length)
	f.Fuzz(func(t *testing.T, b []byte, parts, length uint32) {
		fs := vfs.NewMem()
		check(t, fs.MkdirAll("d", 0o755))
		file, err := fs.Create("d/"+name(1), vfs.WriteCategoryUnspecified)
		check(t, err)
		_, err = file.Write(bytes.Clone(b))
		check(t, err)
		check(t, file.Close())
		place := p
		place.Parts, place.Length = parts, length
		if place, err = DecodePlace(AppendPlace(nil, place)); err != nil {
			return
		}
		l := newLog(Config{FS: fs, Dir: "d"})
		got, err := l.Read(5, place)
		if err == nil && !bytes.Equal(appendRecord(nil, 5, place, got), b[headerBytes:place.end()]) {
			t.Fatalf("read %q from %x", got, b)
		}
		if first, fits, errFirst := l.ReadFirst(5, place, parts, int(length)); err == nil {
			if errFirst != nil || fits && !slices.EqualFunc(first, got, bytes.Equal) {
				t.Fatalf("all parts are %q: %v", first, errFirst)
			}
		}
		for i := range min(parts, 3) {
			part, errPart := l.ReadPart(5, place, i)
			if bytes, errSize := l.PartSize(5, place, i); errPart == nil && (errSize != nil || bytes != len(part)) {
				t.Fatalf("part %d has %d bytes: %v", i, bytes, errSize)
			}
			if err == nil && (errPart != nil || !bytes.Equal(part, got[i])) {
				t.Fatalf("part %d is %q: %v", i, part, errPart)
			}
			if errPart == nil && binary.LittleEndian.Uint64(b[headerBytes+headBytes+i*entryBytes+4:]) != partSum(p.Salt, 5, i, part) {
				t.Fatalf("part %d is %q", i, part)
			}
		}
	})
}
