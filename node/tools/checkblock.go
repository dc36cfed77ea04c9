package tools

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/cowboy-foundation/cowboy/asm/cpu"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/consensus/shards"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/lanes/sigverify"
	"github.com/cowboy-foundation/cowboy/node/blockdoc"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/node/setup"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// Errors of the tools for single blocks.
var (
	ErrNoSuchBlock = errors.New("the data folder has no such block")
	ErrOtherChain  = errors.New("the block is of another chain")
	// ErrNeedsFolder means a block whose parent is not the genesis.
	ErrNeedsFolder = errors.New("a genesis alone has the state before block 1 only: give --data of a stopped node")
)

// ExportBlock reads a final block of a stopped node by height, or by digest.
func ExportBlock(dataDir, name string) (*blockdoc.Document, error) {
	genesis, source, err := openStopped(dataDir)
	if err != nil {
		return nil, err
	}
	defer source.Close()
	height, err := heightOf(source, name)
	if err != nil {
		return nil, err
	}
	rec, ok, err := source.BlockByHeight(height)
	if err != nil {
		return nil, fmt.Errorf("read block %d: %w", height, err)
	}
	if !ok {
		return nil, fmt.Errorf("block %d: %w", height, ErrNoSuchBlock)
	}
	block, err := chain.DecodeBlock(rec.Block, len(rec.Block))
	if err != nil {
		return nil, fmt.Errorf("decode block %d: %w", height, err)
	}
	own, err := ledger.OwnCertificate(rec.Certificate)
	if errors.Is(err, ledger.ErrNotOwn) {
		own, err = nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("block %d: %w", height, err)
	}
	return &blockdoc.Document{Genesis: genesis.Hash(), Place: blockdoc.PlaceOf(&block.Header), Block: *block, Certificate: own}, nil
}

// openStopped opens the store of a folder that has one.
func openStopped(dataDir string) (*genesis.Genesis, *store.Store, error) {
	genesis, err := datadir.LoadGenesis(dataDir)
	if err != nil {
		return nil, nil, err
	}
	if _, err := os.Stat(filepath.Join(dataDir, datadir.StoreFolder)); err != nil {
		return nil, nil, fmt.Errorf("%s holds no chain: %w", dataDir, err) // opening would make one
	}
	source, err := datadir.OpenStore(dataDir, genesis, store.DefaultOptions())
	return genesis, source, err
}

func heightOf(s *store.Store, name string) (chain.Height, error) {
	if !strings.HasPrefix(name, "0x") {
		var h chain.Height
		if _, err := fmt.Sscanf(name, "%d", &h); err != nil || fmt.Sprint(h) != name {
			return 0, fmt.Errorf("%q: want a height or a digest of 0x and 64 hex digits", name)
		}
		return h, nil
	}
	var digest chain.Hash
	if err := digest.UnmarshalText([]byte(name)); err != nil {
		return 0, fmt.Errorf("digest %q: %w", name, err)
	}
	h, ok, err := s.HeightByDigest(digest)
	if err == nil && !ok {
		err = fmt.Errorf("%s: %w", name, ErrNoSuchBlock)
	}
	return h, err
}

// BlockVerdict is what a validator makes of a block at its place.
type BlockVerdict struct {
	Valid  bool         `json:"valid"`
	Rule   string       `json:"rule,omitempty"` // that refuses it
	Detail string       `json:"detail,omitempty"`
	Height chain.Height `json:"height"` // of the place
	Digest chain.Hash   `json:"digest"`
	// Certificate is what the document's certificate is worth. A block that is
	// asked about has none yet, so that the verdict does not depend on it.
	Certificate CertificateState `json:"certificate"`
}

// ruleWrongBlock is the name of engine.ErrWrongBlock: no verdict on the block, for
// such bytes are none, and nobody votes for them.
const ruleWrongBlock = "bytes of another block"

// CheckBlock has a block judged as a validator that is asked to vote for it would.
// The state before it comes from the blocks of a stopped node, executed again in a
// temporary store; without a data folder it is that of the genesis.
func CheckBlock(ctx context.Context, d *blockdoc.Document, dataDir string, genesis *genesis.Genesis, progress VerifyProgress) (BlockVerdict, error) {
	var source *store.Store
	if dataDir != "" {
		var err error
		if genesis, source, err = openStopped(dataDir); err != nil {
			return BlockVerdict{}, err
		}
		defer source.Close()
	}
	if err := hasPlace(d, genesis, source); err != nil {
		return BlockVerdict{}, err
	}
	scratchDir, err := os.MkdirTemp("", "cowboy-check-")
	if err != nil {
		return BlockVerdict{}, fmt.Errorf("make a scratch folder: %w", err)
	}
	defer os.RemoveAll(scratchDir)
	scratch, err := datadir.OpenStore(scratchDir, genesis, store.DefaultOptions())
	if err != nil {
		return BlockVerdict{}, err
	}
	defer scratch.Close()
	replay, err := newReplay(genesis)
	if err != nil {
		return BlockVerdict{}, err
	}
	if d.Place.Height > 1 {
		replay.Source, replay.Scratch, replay.Until = source, scratch, d.Place.Height-1
		replay.Progress = func(done, total chain.Height) { progress("executed", done, total) }
		if _, err := replay.Run(ctx); err != nil {
			return BlockVerdict{}, fmt.Errorf("state before the block: %w", err)
		}
	}
	v, err := judgeOn(ctx, d, replay, scratch)
	if err != nil {
		return v, err
	}
	v.Certificate, err = certificateState(d, genesis)
	return v, err
}

// hasPlace reports whether the state before the block can be had from source, or
// from the genesis where that is nil.
func hasPlace(d *blockdoc.Document, genesis *genesis.Genesis, source *store.Store) error {
	switch {
	case d.Genesis != genesis.Hash():
		return fmt.Errorf("%w: genesis %s, here %s", ErrOtherChain, d.Genesis, genesis.Hash())
	case d.Place.Height == 0:
		return errors.New("place.height is 0: genesis is no block")
	case source == nil && d.Place.Height != 1:
		return ErrNeedsFolder
	case source == nil:
		return nil
	case source.Base() > 0:
		return errors.New("this node began with an imported state: the states before that are not here")
	}
	if head, _ := source.HeadInfo(); d.Place.Height > head+1 {
		return fmt.Errorf("parent of block %d: %w, its head is %d", d.Place.Height, ErrNoSuchBlock, head)
	}
	return nil
}

// judgeOn runs the ledger of a validator on the scratch store and asks it.
func judgeOn(ctx context.Context, d *blockdoc.Document, replay *ledger.Replay, scratch *store.Store) (BlockVerdict, error) {
	l, err := ledger.New(ledger.Config{
		Genesis: replay.Genesis, Store: scratch, Signatures: replay.Signatures, Proposers: replay.Proposers,
		Shards: replay.Shards, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		return BlockVerdict{}, err
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		defer stop()
		ended <- l.Run(running)
	}()
	p, digest := &d.Place, d.Block.Header.Digest()
	err = l.Judge(running, engine.VerifyRequest{
		Round: beacon.Round{Epoch: p.Epoch, View: p.View},
		Parent: engine.ParentRef{
			Round: beacon.Round{Epoch: p.ParentEpoch, View: p.ParentView}, Digest: p.Parent, Seed: p.ParentSeed,
		},
		Leader: p.Leader, Digest: digest, Block: d.Block.Encode(),
	})
	stop()
	broken := <-ended
	if errors.Is(broken, context.Canceled) {
		broken = nil // as it was told
	} else if broken != nil {
		broken = fmt.Errorf("ledger: %w", broken)
	}
	v := BlockVerdict{Valid: err == nil, Height: p.Height, Digest: digest}
	var verdict *ledger.Verdict
	switch {
	case errors.As(err, &verdict):
		v.Rule = verdict.Rule
		if verdict.Err != nil {
			v.Detail = verdict.Err.Error()
		}
	case errors.Is(err, engine.ErrWrongBlock):
		v.Rule, v.Detail = ruleWrongBlock, err.Error()
	default:
		return v, errors.Join(err, broken)
	}
	return v, broken
}

// BlockSigners collects the keys of a development chain: its accounts, and every
// validator's whose folder is dir or stands in it.
func BlockSigners(dir string) (*blockdoc.Signers, error) {
	folders, err := filepath.Glob(filepath.Join(dir, "validator-*"))
	if err != nil || len(folders) == 0 {
		folders = []string{dir}
	}
	genesis, err := datadir.LoadGenesis(folders[0])
	if err != nil {
		return nil, err
	}
	if !genesis.Devnet {
		return nil, datadir.ErrNotDevelopment
	}
	first := epoch.First(genesis) // a development chain has no other
	code, err := shards.ForSet(len(first.Validators), &genesis.Params, cpu.Chosen())
	if err != nil {
		return nil, err
	}
	signatures, err := sigverify.New(sigverify.DefaultConfig(runtime.GOMAXPROCS(0)), nil)
	if err != nil {
		return nil, err
	}
	s := &blockdoc.Signers{
		Accounts:   map[chain.Address]*secp256k1.PrivateKey{},
		Validators: map[chain.PeerKey]*bls.SecretKey{},
		Beacon:     first.Beacon, BodyRoot: code.Root,
		Senders: func(bodies [][]byte) ([]*chain.VerifiedTx, error) {
			return signatures.VerifyBlock(context.Background(), bodies)
		},
	}
	for _, a := range append(setup.DevAccounts(), setup.DevFaucet()) {
		s.Accounts[a.Address] = a.Key
	}
	var all []*datadir.Keys
	for _, folder := range folders {
		keys, err := datadir.LoadKeys(folder)
		if err != nil {
			return nil, err
		}
		all = append(all, keys)
		if keys.Validates() {
			s.Validators[chain.PeerKey(keys.Peer.PublicKey())] = keys.Own
		}
	}
	set, err := beacon.NewValidatorSet(first)
	if err != nil {
		return nil, err
	}
	s.Certify = certifier(set, all)
	return s, nil
}
