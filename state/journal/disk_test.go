package journal

import (
	"bytes"
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/state/journal/disktest"
)

// model is a disk of the test kit as a folder of journals.
type model struct{ *disktest.Disk }

func newDisk() model { return model{disktest.New()} }

func (m model) Open(name string) (File, error) { return asFile(m.Disk.Open(name)) }

func (m model) Create(name string) (File, error) { return asFile(m.Disk.Create(name)) }

func asFile(f *disktest.File, err error) (File, error) {
	switch {
	case errors.Is(err, disktest.ErrLocked):
		return nil, ErrInUse
	case err != nil:
		return nil, err
	}
	return f, nil
}

// TestOpenMakesDurable: what a killed process wrote and did not sync is durable once
// the next one has opened the journal, and so is the journal's name.
func TestOpenMakesDurable(t *testing.T) {
	for _, c := range []struct {
		name string
		dies func(disk *disktest.Disk, j *Journal) // without a word to the disk any more
	}{
		{"before the sync", func(disk *disktest.Disk, j *Journal) {
			disk.FailIn, disk.Landed = 0, true // the write lands, and is said to have failed
			if j.Sync() == nil {
				t.Error("the disk does not fail")
			}
		}},
		{"between rename and sync of the folder", func(disk *disktest.Disk, j *Journal) {
			disk.FailIn = 4 // append, then create, append and sync of the new file
			disk.Landed = true
			if j.Prune(func([]byte) bool { return true }) == nil {
				t.Error("the disk does not fail")
			}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			disk := newDisk()
			j, err := OpenIn(disk, "votes", KindVotes)
			if err != nil {
				t.Fatal(err)
			}
			if err := j.Append([]byte("said")); err != nil {
				t.Fatal(err)
			}
			c.dies(disk.Disk, j)
			next := model{disk.Disk.Clone()}
			if bytes.Contains(next.Durable("votes"), []byte("said")) {
				t.Fatal("it is durable before anybody opens it: this tests nothing")
			}
			if j, err = OpenIn(next, "votes", KindVotes); err != nil {
				t.Fatal(err)
			}
			var got []string
			if err := j.Replay(func(rec []byte) error { got = append(got, string(rec)); return nil }); err != nil {
				t.Fatal(err)
			}
			if len(got) != 1 || got[0] != "said" {
				t.Fatalf("replayed %q", got)
			}
			if !bytes.Contains(next.Durable("votes"), []byte("said")) {
				t.Error("what was replayed is lost with the next power cut")
			}
		})
	}
}
