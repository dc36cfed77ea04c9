package tools

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/consensus/guard"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/node/datadir"
)

// ErrFollows means that a folder has no votes to remember.
var ErrFollows = errors.New("the keys are a full node's, which never votes")

// validatorOf loads what names the votes of a folder.
func validatorOf(dataDir string) (*genesis.Genesis, guard.Identity, error) {
	genesis, err := datadir.LoadGenesis(dataDir)
	if err != nil {
		return nil, guard.Identity{}, err
	}
	id, votes, err := datadir.KeyOwner(dataDir, genesis)
	if err == nil && !votes {
		err = ErrFollows
	}
	return genesis, id, err
}

// withGuard opens the watermark of a stopped node's folder.
func withGuard(dataDir string, do func(*guard.Guard) error) error {
	_, id, err := validatorOf(dataDir)
	if err != nil {
		return err
	}
	g, err := datadir.OpenGuard(dataDir, id)
	if err != nil {
		return err
	}
	return errors.Join(do(g), g.Close())
}

// GuardVotes is the newest vote of each kind that a key signed.
func GuardVotes(dataDir string) (mark simplex.Watermark, err error) {
	err = withGuard(dataDir, func(g *guard.Guard) error { mark = g.Watermark(); return nil })
	return mark, err
}

// ExportGuard writes the memory of a stopped validator, for another machine. With
// retire, this folder cannot start a validator afterwards.
func ExportGuard(dataDir string, w io.Writer, retire bool) error {
	return withGuard(dataDir, func(g *guard.Guard) error {
		if err := g.Export(w); err != nil {
			return fmt.Errorf("export watermark: %w", err)
		}
		if f, ok := w.(*os.File); ok && retire {
			if err := f.Sync(); err != nil && !errors.Is(err, os.ErrInvalid) && !isTerminal(f) {
				return fmt.Errorf("sync export: %w", err)
			}
		}
		if retire {
			return g.Retire()
		}
		return nil
	})
}

// isTerminal reports whether a file is none that could be synced.
func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && !info.Mode().IsRegular()
}

// ImportGuard adds the memory of another machine to a folder, which may have none.
func ImportGuard(dataDir string, r io.Reader) error {
	_, id, err := validatorOf(dataDir)
	if err != nil {
		return err
	}
	g, err := guard.Open(dataDir, id)
	if errors.Is(err, guard.ErrMissing) {
		return guard.Restore(dataDir, id, r)
	}
	if err != nil {
		return fmt.Errorf("double-sign protection: %w", err)
	}
	return errors.Join(g.Import(r), g.Close())
}

// ErrKeyUsed means that a folder shows votes of a key that is said to be unused.
var ErrKeyUsed = errors.New("votes.journal holds votes of this key, so it is not unused: import its memory")

// InitGuard makes the watermark of a key that has never signed. A folder with
// votes lost its watermark, and an empty one would forget them.
func InitGuard(dataDir string) error {
	_, id, err := validatorOf(dataDir)
	if err != nil {
		return err
	}
	used, err := datadir.HoldsVotes(filepath.Join(dataDir, datadir.JournalFile))
	if err == nil && used {
		err = ErrKeyUsed
	}
	if err != nil {
		return err
	}
	return guard.Create(dataDir, id)
}
