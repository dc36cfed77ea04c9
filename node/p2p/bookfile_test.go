package p2p

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestAddressesOutliveTheProcess: a member that learned where the others are
// finds them after a restart, although the operator told it of none of them and
// the one that it knew is gone.
func TestAddressesOutliveTheProcess(t *testing.T) {
	name := filepath.Join(t.TempDir(), "book")
	s := setup{testKeys(3), func(i int, cfg *Config) {
		if i == 1 {
			cfg.BookFile = name
		}
	}}
	hub := launch(t, s.config(0))
	learner, other := launch(t, s.config(1), hub), launch(t, s.config(2), hub)
	eventually(t, "the address is in the file", func() bool {
		b := newBook(&learner.cfg)
		n, err := b.load(name, 1)
		return err == nil && n == 2 && b.records[2].timestamp != 0
	})
	learner.stop()
	hub.stop()
	again := launch(t, s.config(1))
	eventually(t, "they meet again", func() bool {
		l, _ := again.members[2].current()
		return l != nil
	})
	again.stop()
	other.stop()
}

// TestDamagedBookCostsTheHelpOnly: whatever the file holds, only records that
// their members signed are taken from it, and never our own.
func TestDamagedBookCostsTheHelpOnly(t *testing.T) {
	s := setup{testKeys(3), nil}
	cfg := s.config(1)
	full := newBook(&cfg)
	for i, key := range s.keys {
		r := record{member: i, timestamp: uint64(time.Now().UnixMilli()), address: "127.0.0.1:1000"}
		r.signature = key.Sign(r.signedBytes(cfg.Genesis, cfg.Committee[i]))
		if _, honest := full.learn(r, time.Now()); !honest {
			t.Fatal("a good record was refused")
		}
	}
	name := filepath.Join(t.TempDir(), "book")
	load := func() int {
		t.Helper()
		n, err := newBook(&cfg).load(name, 1)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := load(); n != 0 {
		t.Errorf("%d records of a file that is not there", n)
	}
	if err := full.save(name); err != nil {
		t.Fatal(err)
	}
	if n := load(); n != 2 {
		t.Errorf("%d records, want those of the two others", n)
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		damaged := append([]byte(nil), raw...)
		damaged[i] ^= 0x40
		if err := os.WriteFile(name, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		if n := load(); n > 2 {
			t.Fatalf("byte %d: %d records", i, n)
		}
		if err := os.WriteFile(name, raw[:i], 0o600); err != nil {
			t.Fatal(err)
		}
		load()
	}
	if err := full.save(filepath.Join(name, "below-a-file")); err == nil {
		t.Error("a book was written where no folder is")
	}
}
