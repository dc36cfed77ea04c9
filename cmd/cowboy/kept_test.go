package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestFirstKeptResultStays keeps several results of one attempt at once: one of them is kept,
// whole, and whoever kept another learns that.
func TestFirstKeptResultStays(t *testing.T) {
	file := filepath.Join(t.TempDir(), "result.cbor")
	w := &work{file: file}
	failed := make([]error, 8)
	var all sync.WaitGroup
	for i := range failed {
		all.Go(func() { failed[i] = w.keep([]byte(strings.Repeat(string(rune('a'+i)), 1000))) })
	}
	all.Wait()
	kept, err := os.ReadFile(file)
	if err != nil || len(kept) != 1000 {
		t.Fatalf("kept %d bytes: %v", len(kept), err)
	}
	for i, err := range failed {
		if first := kept[0] == byte('a'+i); first && err != nil || !first && !errors.Is(err, fs.ErrExist) {
			t.Errorf("result %c, of which %c is kept: %v", 'a'+i, kept[0], err)
		}
	}
	if left, err := filepath.Glob(file + ".*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
