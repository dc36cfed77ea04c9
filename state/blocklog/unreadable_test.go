package blocklog

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/state/blocklog/badsector"
)

// bigRecords is a log with records of these sizes in its one segment.
func bigRecords(t *testing.T, on vfs.FS, sizes ...int) (*Log, *kept) {
	t.Helper()
	rng, k := rand.New(rand.NewPCG(9, 9)), new(kept)
	l, err := Open(Config{FS: on, Dir: "data/blocks", SegmentBytes: 1 << 30}, 0, Place{})
	check(t, err)
	for i, size := range sizes {
		parts := [][]byte{make([]byte, size), []byte("a certificate"), {}, []byte(fmt.Sprint("receipt ", i))}
		for n := range parts[0] {
			parts[0][n] = byte(rng.Uint32())
		}
		p, err := l.Append(uint64(i+1), parts)
		check(t, err)
		k.places, k.parts = append(k.places, p), append(k.parts, parts)
	}
	return l, k
}

// TestLostSectorsAreDamage loses every sector of a segment in turn, but for the first.
// Each record in it is said to be damaged, with what the disk answered; what stands
// elsewhere is read; what is whole of a record is salvaged; and with others who have the
// rest, all of it is written again. Without them, nothing that could not be read is given
// up.
func TestLostSectorsAreDamage(t *testing.T) {
	disk := badsector.New(vfs.NewMem())
	l, k := bigRecords(t, disk, 100, 3000, 9000, 50, 60, 70, 20_000, 800)
	good := fileOf(t, disk, oneFile)
	check(t, k.verify(l))
	for from := int64(sectorBytes); from+sectorBytes <= int64(len(good)); from += sectorBytes {
		disk.Lose("000001.blocks", from, from+1)
		hit, kept := 0, 0
		for i, p := range k.places {
			_, err := l.Read(uint64(i+1), p)
			if in := int64(p.Offset) < from+sectorBytes && p.end() > from; !in {
				check(t, err)
				continue
			}
			hit++
			var d *DamageError
			if !errors.As(err, &d) || d.Height != uint64(i+1) || !errors.Is(err, ErrDamaged) || !errors.Is(err, syscall.EIO) || !strings.Contains(err.Error(), "input/output error") {
				t.Fatalf("sector at %d, block %d: %v", from, i+1, err)
			}
			parts, whole, err := l.Salvage(uint64(i+1), p)
			check(t, err)
			if whole {
				t.Errorf("sector at %d: block %d is said to be whole", from, i+1)
			}
			for n := range parts {
				if parts[n] != nil {
					kept++
				}
			}
			if int64(p.Offset) > from || p.end() < from+sectorBytes {
				if err := l.Rewrite(uint64(i+1), p, k.parts[i], false); !Unreadable(err) {
					t.Errorf("sector at %d: block %d is written without others: %v", from, i+1, err)
				}
			}
		}
		if hit == 0 || hit == 1 && kept == 0 {
			t.Errorf("sector at %d: %d records, %d parts are kept", from, hit, kept)
		}
		if n := k.mend(t, l); n != hit {
			t.Errorf("sector at %d: %d records were written again, want %d", from, n, hit)
		}
		if disk.Bad() != 0 || !bytes.Equal(fileOf(t, disk, oneFile), good) {
			t.Fatalf("sector at %d: the file is not what it was", from)
		}
		check(t, k.verify(l))
	}
	check(t, l.Close())
}

// TestLostEnds: the sector with the header, which says whose file it is, and the last one,
// which an append may write to, are left as they are, and what is in them stays damaged.
// The rest of the log goes on.
func TestLostEnds(t *testing.T) {
	disk := badsector.New(vfs.NewMem())
	l, k := bigRecords(t, disk, 1000, 5000, 1000)
	size := int64(len(fileOf(t, disk, oneFile)))
	for what, at := range map[string]int64{"header": 0, "end": size - 1} {
		disk.Lose("000001.blocks", at, at+1)
		first := at == 0
		for i, p := range k.places {
			err := l.Rewrite(uint64(i+1), p, k.parts[i], true)
			if in := first || p.end() > size-size%sectorBytes; in && !Unreadable(err) {
				t.Errorf("%s: block %d: %v", what, i+1, err)
			}
		}
		if disk.Bad() != 1 {
			t.Errorf("%s: it was given up", what)
		}
		found, err := l.CheckFiles(1)
		check(t, err)
		if (len(found) == 1) != first || first && !errors.Is(found[0], syscall.EIO) {
			t.Errorf("%s: the file: %v", what, found)
		}
		*disk = *badsector.New(disk.FS)
	}
	check(t, k.verify(l))
	check(t, l.Close())
}
