package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/consensus/guard"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/state/journal"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// Refusals of a folder that is to begin with a fetched or imported state.
var (
	// ErrVotesThere means that a folder without a chain has votes in its
	// journal, which belong to blocks that the import would not bring back.
	ErrVotesThere = errors.New("votes.journal holds votes: keep the watermark, move votes.journal away, and try again")
	// ErrKeyUnknown means that nothing says what a validator's key has signed.
	ErrKeyUnknown = errors.New("nothing here says what this validator's key has signed: import its watermark, or give --unused-key if it has never signed")
)

// OpenStore opens the chain's store and writes the genesis into a new one.
func OpenStore(dataDir string, g *genesis.Genesis, opts store.Options) (*store.Store, error) {
	s, err := store.Open(filepath.Join(dataDir, StoreFolder), opts)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	delta, err := exec.GenesisDelta(g)
	if err == nil {
		err = s.Init(store.GenesisRecord{Hash: g.Hash(), Delta: delta})
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open store: %w", err), s.Close())
	}
	return s, nil
}

// ErrVotesMissing means that this key has voted before and the record of it is
// gone. Voting on would risk two votes in one view.
var ErrVotesMissing = errors.New("votes.journal is missing although the chain has blocks")

// OpenVotes opens the vote journal, which must not be missing on a used chain.
func OpenVotes(dataDir string, s *store.Store) (*journal.Journal, error) {
	name := filepath.Join(dataDir, JournalFile)
	if height, _ := s.HeadInfo(); height > 0 {
		if _, err := os.Stat(name); errors.Is(err, os.ErrNotExist) {
			return nil, ErrVotesMissing
		}
	}
	j, err := journal.Open(name, journal.KindVotes)
	if err != nil {
		return nil, fmt.Errorf("open vote journal: %w", err)
	}
	return j, nil
}

// HoldsVotes reports whether a journal is there and not empty.
func HoldsVotes(name string) (bool, error) {
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	j, err := journal.Open(name, journal.KindVotes)
	if err != nil {
		return false, fmt.Errorf("open vote journal: %w", err)
	}
	used := false
	err = j.Replay(func([]byte) error { used = true; return nil })
	return used, errors.Join(err, j.Close())
}

// PrepareKeys makes the folder one in which a node may vote above the imported
// block, before there is one: the watermark of a validator's key must be there,
// and the journal of votes, which begins empty.
func PrepareKeys(dataDir string, id guard.Identity, votes, unusedKey bool) error {
	name := filepath.Join(dataDir, JournalFile)
	used, err := HoldsVotes(name)
	if err == nil && used {
		err = ErrVotesThere
	}
	if err != nil {
		return err
	}
	if votes {
		g, err := guard.Start(dataDir, id, unusedKey)
		if errors.Is(err, guard.ErrMissing) {
			err = ErrKeyUnknown
		}
		if err != nil {
			return fmt.Errorf("double-sign protection: %w", err)
		}
		if err := g.Close(); err != nil {
			return fmt.Errorf("double-sign protection: %w", err)
		}
	}
	j, err := journal.Open(name, journal.KindVotes)
	if err != nil {
		return fmt.Errorf("open vote journal: %w", err)
	}
	return errors.Join(j.Sync(), j.Close())
}
