package datadir

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/consensus/guard"
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

// GuardIdentity names whose votes a folder's watermark remembers.
func GuardIdentity(genesis *genesis.Genesis, keys *Keys) guard.Identity {
	return guard.Identity{Genesis: genesis.Hash(), Peer: chain.PeerKey(keys.Peer.PublicKey())}
}

// OpenGuard opens the memory of what a key has signed. It was made with the key
// and never is at a start: that would hide its loss (node-ops.md §4.3).
func OpenGuard(dataDir string, id guard.Identity) (*guard.Guard, error) {
	g, err := guard.Open(dataDir, id)
	return AsGuard(dataDir, g, err)
}

// AsGuard says what an operator does about the error of opening a guard.
func AsGuard(dataDir string, g *guard.Guard, err error) (*guard.Guard, error) {
	if errors.Is(err, guard.ErrMissing) {
		err = &MissingWatermarkError{dataDir}
	}
	if err != nil {
		return nil, fmt.Errorf("double-sign protection: %w", err)
	}
	return g, nil
}
