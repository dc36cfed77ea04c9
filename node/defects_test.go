package node

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
)

// TestDefectsAreWritten wants a file that decodes, once per defect, and a bound.
func TestDefectsAreWritten(t *testing.T) {
	dir := t.TempDir()
	write := writeDefects(dir, slog.New(slog.DiscardHandler))
	d := pvm.Dump{File: "actor.py", CodeHash: pvm.Hash{1}, Entry: "add", Args: []byte{0x81, 1}, Cycles: 5, Panic: "index out of range"}
	write(d)
	write(d)
	files, err := filepath.Glob(filepath.Join(dir, defectFolder, "*.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if got, err := pvm.DecodeDump(b); err != nil || got.Entry != "add" || got.CodeHash != d.CodeHash {
		t.Errorf("%+v, %v", got, err)
	}
	for i := range 2 * defectsKept {
		d.Entry = fmt.Sprint(i)
		write(d)
	}
	if files, err = filepath.Glob(filepath.Join(dir, defectFolder, "*")); err != nil || len(files) != defectsKept {
		t.Errorf("%d files, %v", len(files), err)
	}
}
