package node

import (
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
)

// Defects of the Python machine are written to this folder of the data, for
// `cowboy pvm run --replay`. Every node writes the same ones, so a few are enough:
// a program that meets one again and again does not fill the disk.
const (
	defectFolder = "defects"
	defectsKept  = 32
)

// writeDefects returns what the ledger calls for each defect. One goroutine calls
// it.
func writeDefects(dataDir string, log *slog.Logger) func(pvm.Dump) {
	return func(d pvm.Dump) {
		folder := filepath.Join(dataDir, defectFolder)
		b := d.Encode()
		sum := sha256.Sum256(b)
		name := filepath.Join(folder, "pvm-internal-"+hex.EncodeToString(sum[:8])+".json")
		if err := os.MkdirAll(folder, 0o700); err != nil {
			log.Error("defect of the Python machine, not written", "panic", d.Panic, "err", err)
			return
		}
		if list, err := os.ReadDir(folder); err != nil || len(list) >= defectsKept {
			log.Error("defect of the Python machine, not written: the folder holds enough", "panic", d.Panic, "folder", folder)
			return
		}
		if err := os.WriteFile(name, b, 0o600); err != nil {
			log.Error("defect of the Python machine, not written", "panic", d.Panic, "err", err)
			return
		}
		log.Error("defect of the Python machine: please report the file", "panic", d.Panic, "file", name)
	}
}
