package tools

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/state/checkpoint"
	"github.com/cowboy-foundation/cowboy/state/snapshot"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// ExportSnapshot writes a snapshot of the head of a stopped node's data folder.
func ExportSnapshot(ctx context.Context, dataDir string, w io.Writer, progress snapshot.Progress) (snapshot.Summary, error) {
	genesis, err := datadir.LoadGenesis(dataDir)
	if err != nil {
		return snapshot.Summary{}, err
	}
	if _, err := os.Stat(filepath.Join(dataDir, datadir.StoreFolder)); err != nil {
		return snapshot.Summary{}, fmt.Errorf("%s holds no chain: %w", dataDir, err) // opening would make one
	}
	s, err := datadir.OpenStore(dataDir, genesis, store.DefaultOptions())
	if err != nil {
		return snapshot.Summary{}, err
	}
	cfg := snapshot.WriteConfig{ChunkBytes: checkpoint.DefaultChunkBytes, Certificate: ledger.FinalCertificate, Progress: progress, ScratchDir: dataDir}
	sum, err := snapshot.Write(ctx, w, s, cfg)
	return sum, errors.Join(err, s.Close())
}

// VerifySnapshot checks a snapshot against a genesis alone.
func VerifySnapshot(ctx context.Context, genesis *genesis.Genesis, r io.Reader, progress snapshot.Progress) (snapshot.Summary, error) {
	trust, err := ledger.CheckpointTrust(genesis)
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
	genesis, err := datadir.LoadGenesis(dataDir)
	if err != nil {
		return snapshot.Summary{}, err
	}
	trust, err := ledger.CheckpointTrust(genesis)
	if err != nil {
		return snapshot.Summary{}, err
	}
	id, votes, err := datadir.KeyOwner(dataDir, genesis)
	if err != nil {
		return snapshot.Summary{}, err
	}
	if err := datadir.PrepareKeys(dataDir, id, votes, unusedKey); err != nil {
		return snapshot.Summary{}, err
	}
	return snapshot.Import(ctx, r, filepath.Join(dataDir, datadir.StoreFolder), store.DefaultOptions(), trust, progress)
}
