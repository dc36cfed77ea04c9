package node

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/guard"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// MissingWatermarkError means that a validator's folder has no memory of what its
// key signed. It says what to do about it.
type MissingWatermarkError struct{ DataDir string }

func (e *MissingWatermarkError) Error() string {
	return fmt.Sprintf(`votes.watermark is missing: %v
  if the key signed elsewhere, or the file was lost: stop that node, and give this one its memory
    cowboyd guard export --data OLD-DIR --retire -o votes.json
    cowboyd guard import --data %s votes.json
  only if the key has never signed anything anywhere
    cowboyd guard init --data %s --unused-key`, guard.ErrMissing, e.DataDir, e.DataDir)
}

// Unwrap returns guard.ErrMissing.
func (e *MissingWatermarkError) Unwrap() error { return guard.ErrMissing }

// guardIdentity names whose votes a folder's watermark remembers.
func guardIdentity(genesis *chain.Genesis, keys *Keys) guard.Identity {
	return guard.Identity{Genesis: genesis.Hash(), Peer: chain.PeerKey(keys.Peer.PublicKey())}
}

// openGuard opens the memory of what a key has signed. It was made with the key
// and never is at a start: that would hide its loss (node-ops.md §4.3).
func openGuard(dataDir string, genesis *chain.Genesis, keys *Keys) (*guard.Guard, error) {
	g, err := guard.Open(dataDir, guardIdentity(genesis, keys))
	return asGuard(dataDir, g, err)
}

// openGuard is the same on the disk that the host gives.
func (n *Node) openGuard() (*guard.Guard, error) {
	if n.host.Guard == nil {
		return openGuard(n.cfg.DataDir, n.genesis, n.keys)
	}
	g, err := guard.OpenIn(n.host.Guard, guardIdentity(n.genesis, n.keys))
	return asGuard(n.cfg.DataDir, g, err)
}

// asGuard says what an operator does about the error.
func asGuard(dataDir string, g *guard.Guard, err error) (*guard.Guard, error) {
	if errors.Is(err, guard.ErrMissing) {
		err = &MissingWatermarkError{dataDir}
	}
	if err != nil {
		return nil, fmt.Errorf("double-sign protection: %w", err)
	}
	return g, nil
}

// errFollows means that a folder has no votes to remember.
var errFollows = errors.New("the keys are a full node's, which never votes")

// validatorOf loads what names the votes of a folder.
func validatorOf(dataDir string) (*chain.Genesis, guard.Identity, error) {
	genesis, err := LoadGenesis(dataDir)
	if err != nil {
		return nil, guard.Identity{}, err
	}
	id, votes, err := keyOwner(dataDir, genesis)
	if err == nil && !votes {
		err = errFollows
	}
	return genesis, id, err
}

// withGuard opens the watermark of a stopped node's folder.
func withGuard(dataDir string, do func(*guard.Guard) error) error {
	_, id, err := validatorOf(dataDir)
	if err != nil {
		return err
	}
	g, err := guard.Open(dataDir, id)
	if g, err = asGuard(dataDir, g, err); err != nil {
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
	used, err := holdsVotes(filepath.Join(dataDir, journalFile))
	if err != nil || used {
		return errors.Join(err, errIf(used, ErrKeyUsed))
	}
	return guard.Create(dataDir, id)
}
