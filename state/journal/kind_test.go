package journal

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestKinds: two journals whose files changed names are refused, with both names.
func TestKinds(t *testing.T) {
	dir := t.TempDir()
	votes, other := filepath.Join(dir, "votes"), filepath.Join(dir, "other")
	for path, kind := range map[string]Kind{votes: KindVotes, other: "evidence"} {
		j, err := Open(path, kind)
		check(t, err)
		check(t, j.Append([]byte(kind)))
		check(t, j.Close())
	}
	check(t, os.Rename(votes, votes+".old"))
	check(t, os.Rename(other, votes))
	check(t, os.Rename(votes+".old", other))
	for path, kind := range map[string]Kind{votes: KindVotes, other: "evidence"} {
		_, err := Open(path, kind)
		if !errors.Is(err, ErrKind) || !strings.Contains(err.Error(), filepath.Base(path)) || !strings.Contains(err.Error(), `"votes"`) || !strings.Contains(err.Error(), `"evidence"`) {
			t.Errorf("%s opened as %s: %v", path, kind, err)
		}
	}
	for _, kind := range []Kind{"", "ninebytes"} {
		if _, err := Open(filepath.Join(dir, "new"), kind); err == nil {
			t.Errorf("kind %q was taken", kind)
		}
	}
}

// version returns the format version of a file.
func version(d model, name string) uint32 { return binary.LittleEndian.Uint32(d.Bytes(name)[8:]) }

// TestFilesWithoutKind reads what version 1 wrote, and leaves a file with a kind, which it
// goes on with.
func TestFilesWithoutKind(t *testing.T) {
	s := salt{1, 2, 3}
	old := binary.LittleEndian.AppendUint32([]byte(magic), versionWithoutKind)
	old = sealed(append(old, s[:]...))
	header := len(old)
	for i, rec := range []string{"first", "second"} {
		old = layout{salt: s}.appendRecord(old, uint64(i), []byte(rec))
	}
	for _, size := range []int{header, header + 3, len(old)} { // shorter than a header of today, too
		d := newDisk()
		d.Put("j", old[:size])
		if _, err := OpenIn(d, "j", KindVotes); err != nil {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	for i := range header {
		d := newDisk()
		bad := slices.Clone(old)
		bad[i] ^= 1
		d.Put("j", bad)
		if _, err := OpenIn(d, "j", KindVotes); !errors.Is(err, ErrDamaged) {
			t.Errorf("byte %d flipped: %v", i, err)
		}
	}
	d := newDisk()
	d.Put("j", old)
	j, err := OpenIn(d, "j", KindVotes)
	check(t, err)
	if v := version(d, "j"); v != formatVersion {
		t.Errorf("opened, and still of version %d", v)
	}
	check(t, j.Append([]byte("third")))
	check(t, j.Sync())
	if got := replayed(t, j); !slices.Equal(got, []string{"first", "second", "third"}) {
		t.Fatalf("replayed %q", got)
	}
	check(t, j.Prune(func(rec []byte) bool { return string(rec) != "second" }))
	check(t, j.Close())
	if _, err := OpenIn(d, "j", "other"); !errors.Is(err, ErrKind) {
		t.Errorf("pruned, and opened as another kind: %v", err)
	}
	j, err = OpenIn(d, "j", KindVotes)
	check(t, err)
	if got := replayed(t, j); !slices.Equal(got, []string{"first", "third"}) {
		t.Errorf("pruned: %q", got)
	}
}

// TestFilesWithoutSums reads what version 2 wrote, and leaves a file whose heads have sums,
// which it goes on with.
func TestFilesWithoutSums(t *testing.T) {
	l := layout{salt: salt{1, 2, 3}}
	old := binary.LittleEndian.AppendUint32([]byte(magic), versionWithoutSums)
	kind := KindVotes.text()
	old = sealed(append(append(old, kind[:]...), l.salt[:]...))
	for i, rec := range []string{"first", "second"} {
		old = l.appendRecord(old, uint64(i), []byte(rec))
	}
	torn := len(l.appendRecord(slices.Clone(old), 2, []byte("third"))) - 1
	for _, size := range []int{len(old), torn} {
		d := newDisk()
		d.Put("j", l.appendRecord(slices.Clone(old), 2, []byte("third"))[:size])
		j, err := OpenIn(d, "j", KindVotes)
		check(t, err)
		if v := version(d, "j"); v != formatVersion {
			t.Errorf("opened, and still of version %d", v)
		}
		check(t, j.Append([]byte("more")))
		check(t, j.Close())
		j, err = OpenIn(d, "j", KindVotes)
		check(t, err)
		if got := replayed(t, j); !slices.Equal(got, []string{"first", "second", "more"}) {
			t.Fatalf("replayed %q", got)
		}
		check(t, j.Prune(func(rec []byte) bool { return string(rec) != "second" }))
		check(t, j.Close())
		if v := version(d, "j"); v != formatVersion {
			t.Errorf("pruned to version %d", v)
		}
		j, err = OpenIn(d, "j", KindVotes)
		check(t, err)
		if got := replayed(t, j); !slices.Equal(got, []string{"first", "more"}) {
			t.Errorf("pruned: %q", got)
		}
	}
}

// countedReader counts the bytes that are read.
type countedReader struct {
	file []byte
	read int64
}

func (c *countedReader) ReadAt(p []byte, off int64) (int, error) {
	c.read += int64(len(p))
	return copy(p, c.file[off:]), nil
}

// TestHeadsInPayloadsAreBounded: who chose a payload of a file whose heads have no sums may
// have written a head at every 20 bytes of it, each of a record that reaches to the end. A
// torn end behind it must not have all of them read.
func TestHeadsInPayloadsAreBounded(t *testing.T) {
	l := layout{salt: salt{1, 2, 3}}
	for _, row := range []struct {
		bytes int
		found bool // a good record at the end
		want  error
	}{
		{8 << 20, false, ErrDamaged}, // of 400,000 heads
		{1000, false, nil},           // few can all be read
		{1000, true, nil},
	} {
		var file []byte
		for len(file) < row.bytes {
			file = binary.LittleEndian.AppendUint32(file, uint32(row.bytes-len(file)-headWithoutSum))
			file = binary.LittleEndian.AppendUint64(file, 1)
			file = append(file, "no sum.."...)
		}
		if row.found {
			file = l.appendRecord(file, 1, []byte("good"))
		}
		c := &countedReader{file: file}
		r := &reader{r: c, size: int64(len(file)), layout: l}
		found, err := r.goodAfter(0, 0)
		if found != row.found || !errors.Is(err, row.want) {
			t.Errorf("%d bytes: found %v, %v, want %v, %v", len(file), found, err, row.found, row.want)
		}
		if most := int64(MaxRecordBytes) + (searchTimes+4)*int64(len(file)); c.read > most {
			t.Errorf("%d bytes were read of a file of %d, want at most %d", c.read, len(file), most)
		}
	}
}
