package node

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/ceremony"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/guard"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/state/checkpoint"
	"github.com/cowboy-foundation/cowboy/state/journal"
	"github.com/cowboy-foundation/cowboy/state/snapshot"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// Refusals of an import.
var (
	// ErrVotesThere means that a folder without a chain has votes in its
	// journal, which belong to blocks that the import would not bring back.
	ErrVotesThere = errors.New("votes.journal holds votes: keep the watermark, move votes.journal away, and try again")
	// ErrKeyUnknown means that nothing says what a validator's key has signed.
	ErrKeyUnknown = errors.New("nothing here says what this validator's key has signed: import its watermark, or give --unused-key if it has never signed")
	// errCertificate means that the group key did not sign.
	errCertificate = errors.New("certificate is not the group's finalization of this block")
)

// ExportSnapshot writes a snapshot of the head of a stopped node's data folder.
func ExportSnapshot(ctx context.Context, dataDir string, w io.Writer, progress snapshot.Progress) (snapshot.Summary, error) {
	genesis, err := LoadGenesis(dataDir)
	if err != nil {
		return snapshot.Summary{}, err
	}
	if _, err := os.Stat(filepath.Join(dataDir, storeFolder)); err != nil {
		return snapshot.Summary{}, fmt.Errorf("%s holds no chain: %w", dataDir, err) // opening would make one
	}
	s, err := openStore(dataDir, genesis, store.DefaultOptions())
	if err != nil {
		return snapshot.Summary{}, err
	}
	cfg := snapshot.WriteConfig{ChunkBytes: checkpoint.DefaultChunkBytes, Certificate: ledger.FinalCertificate, Progress: progress, ScratchDir: dataDir}
	sum, err := snapshot.Write(ctx, w, s, cfg)
	return sum, errors.Join(err, s.Close())
}

// VerifySnapshot checks a snapshot against a genesis alone.
func VerifySnapshot(ctx context.Context, genesis *chain.Genesis, r io.Reader, progress snapshot.Progress) (snapshot.Summary, error) {
	trust, err := trustIn(genesis)
	if err != nil {
		return snapshot.Summary{}, err
	}
	sum, jobs, err := snapshot.Verify(ctx, r, trust, progress)
	if err == nil { // this chain has no job market: no list is asked for
		err = checkpoint.CheckLists(nil, jobs)
	}
	return sum, err
}

// ImportSnapshot makes a data folder that has genesis and keys, and no chain,
// begin with the state of a snapshot. Cut off, it can be called again.
func ImportSnapshot(ctx context.Context, dataDir string, r io.Reader, unusedKey bool, progress snapshot.Progress) (snapshot.Summary, error) {
	genesis, err := LoadGenesis(dataDir)
	if err != nil {
		return snapshot.Summary{}, err
	}
	trust, err := trustIn(genesis)
	if err != nil {
		return snapshot.Summary{}, err
	}
	id, votes, err := keyOwner(dataDir, genesis)
	if err != nil {
		return snapshot.Summary{}, err
	}
	if err := prepareKeys(dataDir, id, votes, unusedKey); err != nil {
		return snapshot.Summary{}, err
	}
	return snapshot.Import(ctx, r, filepath.Join(dataDir, storeFolder), store.DefaultOptions(), trust, progress)
}

// trustIn is what the genesis says of a checkpoint: the group key signs it. Its
// chain has no job market yet, so that no list belongs to it.
func trustIn(genesis *chain.Genesis) (snapshot.Trust, error) {
	if err := errors.Join(genesis.Check(), ceremony.Check(genesis)); err != nil {
		return snapshot.Trust{}, fmt.Errorf("genesis: %w", err)
	}
	set, err := beacon.NewValidatorSet(genesis)
	if err != nil {
		return snapshot.Trust{}, fmt.Errorf("validator set: %w", err)
	}
	scheme, err := simplex.NewThreshold(set, beacon.Participant(set.Len()), simplex.Keys{}, rand.Reader)
	if err != nil {
		return snapshot.Trust{}, fmt.Errorf("group key: %w", err)
	}
	certify := func(h *chain.Header, digest chain.Hash, final *chain.Header, certificate []byte) error {
		c, err := ledger.ReadCertificates(certificate)
		if err != nil {
			return fmt.Errorf("%w: %w", errCertificate, err)
		}
		good := func(c simplex.Certificate, kind simplex.Kind, h *chain.Header, digest chain.Hash) bool {
			want := simplex.Proposal{Round: beacon.Round{Epoch: h.Epoch, View: h.View}, Parent: h.ParentView, Payload: digest}
			return c.Kind == kind && c.Proposal == want && h.Epoch == set.Epoch() && scheme.VerifyCertificate(c)
		}
		switch {
		case final == h && (c.Own != c.Final || !good(c.Final, simplex.Finalize, h, digest)):
			return errCertificate
		case final != h && (!good(c.Final, simplex.Finalize, final, final.Digest()) || !good(c.Own, simplex.Notarize, h, digest)):
			return errCertificate
		}
		return nil
	}
	return snapshot.Trust{Genesis: genesis.Hash(), Certify: certify, Live: checkpoint.NoJobs}, nil
}

// prepareKeys makes the folder one in which a node may vote above the imported
// block, before there is one: the watermark of a validator's key must be there,
// and the journal of votes, which begins empty.
func prepareKeys(dataDir string, id guard.Identity, votes, unusedKey bool) error {
	name := filepath.Join(dataDir, journalFile)
	if used, err := holdsVotes(name); err != nil || used {
		return errors.Join(err, errIf(used, ErrVotesThere))
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

func errIf(is bool, err error) error {
	if is {
		return err
	}
	return nil
}

// holdsVotes reports whether a journal is there and not empty.
func holdsVotes(name string) (bool, error) {
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
