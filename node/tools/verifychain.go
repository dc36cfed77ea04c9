package tools

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/shards"
	"github.com/cowboy-foundation/cowboy/exec/market/books"
	"github.com/cowboy-foundation/cowboy/lanes/sigverify"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// Verified is what VerifyChain found.
type Verified struct {
	First  chain.Height // 1, or the block whose state was imported
	Height chain.Height
	Root   chain.Hash
	Market books.Books // what the runner market's accounts hold, and its records say the same
}

// VerifyProgress is told how far a step of VerifyChain has come.
type VerifyProgress func(step string, done, total chain.Height)

// VerifyChain checks a stopped node's data folder against its genesis: every
// certificate under the group key, then every header by executing all blocks
// again in a temporary store, and the stored state against the root of that. The
// runner market's accounts are held against its records after every block. A
// chain that began with an imported state cannot be executed from genesis: its
// certificates are checked, the root is computed again from the stored state, and
// the market's accounts are held against the records of that.
func VerifyChain(ctx context.Context, dataDir string, progress VerifyProgress) (Verified, error) {
	genesis, err := datadir.LoadGenesis(dataDir)
	if err != nil {
		return Verified{}, err
	}
	found, err := verifyChain(ctx, dataDir, genesis, progress)
	if errors.Is(err, store.ErrCorrupt) || errors.Is(err, store.ErrOtherGenesis) {
		err = datadir.Folder{Dir: dataDir, Genesis: genesis}.Refused(datadir.StoreFolder, err)
	}
	return found, err
}

func verifyChain(ctx context.Context, dataDir string, genesis *genesis.Genesis, progress VerifyProgress) (Verified, error) {
	if _, err := os.Stat(filepath.Join(dataDir, datadir.StoreFolder)); err != nil {
		return Verified{}, fmt.Errorf("%s holds no chain: %w", dataDir, err) // opening would make one
	}
	source, err := datadir.OpenStore(dataDir, genesis, store.DefaultOptions())
	if err != nil {
		return Verified{}, err
	}
	defer source.Close()
	if source.Base() > 0 {
		return verifyImported(ctx, source, genesis, progress)
	}
	scratchDir, err := os.MkdirTemp("", "cowboy-verify-")
	if err != nil {
		return Verified{}, fmt.Errorf("make a scratch folder: %w", err)
	}
	defer os.RemoveAll(scratchDir)
	scratch, err := datadir.OpenStore(scratchDir, genesis, store.DefaultOptions())
	if err != nil {
		return Verified{}, err
	}
	defer scratch.Close()
	replay, err := newReplay(genesis)
	if err != nil {
		return Verified{}, err
	}
	certificates := ledger.CertificateCheck{
		Sets: replay.Sets, Source: source, Weights: rand.Reader,
		Progress: func(done, total chain.Height) { progress("certificates of", done, total) },
	}
	if err := certificates.Run(ctx); err != nil {
		return Verified{}, err
	}
	replay.Source, replay.Scratch = source, scratch
	replay.Progress = func(done, total chain.Height) { progress("executed", done, total) }
	root, err := replay.Run(ctx)
	if err != nil {
		return Verified{}, err
	}
	height, _ := source.HeadInfo()
	if stored := source.Head().Root(); stored != root {
		return Verified{}, fmt.Errorf("stored state root %s at height %d, re-execution gives %s", stored, height, root)
	}
	if _, err := source.VerifyHead(ctx); err != nil {
		return Verified{}, fmt.Errorf("stored state at height %d: %w", height, err)
	}
	return Verified{First: 1, Height: height, Root: root, Market: replay.Books()}, nil
}

func verifyImported(ctx context.Context, source *store.Store, genesis *genesis.Genesis, progress VerifyProgress) (Verified, error) {
	sets, err := beacon.NewSets(epoch.Of(genesis))
	if err != nil {
		return Verified{}, err
	}
	certificates := ledger.CertificateCheck{
		Sets: sets, Source: source, First: source.Base(), Weights: rand.Reader,
		Progress: func(done, total chain.Height) { progress("certificates of", done, total) },
	}
	if err := certificates.Run(ctx); err != nil {
		return Verified{}, err
	}
	header, err := ledger.HeadHeader(source, genesis)
	if err != nil {
		return Verified{}, err
	}
	root, err := source.VerifyHead(ctx)
	if err != nil {
		return Verified{}, fmt.Errorf("stored state at height %d: %w", header.Height, err)
	}
	if root != header.StateRoot {
		return Verified{}, fmt.Errorf("stored state root %s at height %d, the certified header has %s", root, header.Height, header.StateRoot)
	}
	market, err := books.Read(source.Head())
	if err == nil {
		err = market.Check(source.Head())
	}
	if err != nil {
		return Verified{}, fmt.Errorf("stored state at height %d: %w", header.Height, err)
	}
	return Verified{First: source.Base(), Height: header.Height, Root: root, Market: market}, nil
}

func newReplay(genesis *genesis.Genesis) (*ledger.Replay, error) {
	if err := datadir.CheckTables(genesis); err != nil {
		return nil, fmt.Errorf("genesis: %w", err)
	}
	epochs := epoch.Of(genesis)
	sets, err := beacon.NewSets(epochs)
	if err != nil {
		return nil, err
	}
	proposers, err := ledger.NewProposers(epochs)
	if err != nil {
		return nil, err
	}
	signatures, err := sigverify.New(sigverify.DefaultConfig(runtime.GOMAXPROCS(0)), nil)
	if err != nil {
		return nil, err
	}
	code, err := shards.ForSet(len(epoch.First(genesis).Validators), &genesis.Params, cpu.Chosen())
	if err != nil {
		return nil, err
	}
	return &ledger.Replay{Genesis: genesis, Sets: sets, Proposers: proposers, Shards: code, Signatures: signatures}, nil
}
