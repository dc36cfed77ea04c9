package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/consensus/guard"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/node/datadir"
)

// DevAccount is a funded account of a development chain. Its key is public
// knowledge: never send anything of worth to it.
type DevAccount struct {
	Address chain.Address
	Key     *secp256k1.PrivateKey
}

const (
	devAccountCount              = 10
	devAccountBalance  chain.Wei = 1_000_000 * chain.WeiPerCBY
	devFaucetBalance   chain.Wei = 100_000_000 * chain.WeiPerCBY
	DevValidatorStake  chain.Wei = 50_000 * chain.WeiPerCBY
	devAccountDomain             = "cowboy development account"
	devFaucetDomain              = "cowboy development faucet"
	devValidatorDomain           = "cowboy development validator"
	blsSeedBytes                 = 32
)

// DevAccounts returns the funded accounts of every development chain; they are
// the same on each, so that scripts can rely on them.
func DevAccounts() []DevAccount {
	accounts := make([]DevAccount, devAccountCount)
	for i := range accounts {
		accounts[i] = devAccount(devAccountDomain, byte(i))
	}
	return accounts
}

// DevFaucet returns the account that gives to others on every development chain.
func DevFaucet() DevAccount { return devAccount(devFaucetDomain, 0) }

// DevValidator returns the reward account of the validator with an index.
func DevValidator(i int) DevAccount { return devAccount(devValidatorDomain, byte(i)) }

// DevGovernor returns the one member of the multisig of every development chain
// whose genesis names no others.
func DevGovernor() DevAccount { return devKey(genesis.DevelopmentKey("governor-1")) }

func devAccount(domain string, index byte) DevAccount {
	return devKey(keccak.Sum256([]byte(domain), []byte{index}))
}

func devKey(secret [32]byte) DevAccount {
	key, err := secp256k1.ParsePrivateKey(secret[:])
	if err != nil {
		panic("development key out of range: " + err.Error()) // fixed inputs, proven by a test
	}
	return DevAccount{Address: key.PublicKey().Address(), Key: key}
}

// DevnetOptions say which development chain to make.
type DevnetOptions struct {
	GenesisFile string        // template to complete; empty for the built-in one
	BlockTime   time.Duration // zero keeps the template's
	Lanes       string        // name of a lane profile; empty keeps the template's
}

// ErrDevnetExists means that a folder already holds a chain that was made with
// other options.
var ErrDevnetExists = errors.New("the data folder already holds a chain, whose genesis, block time and lanes are fixed and others than given: choose another --data, or leave --genesis, --block-time and --lanes out")

// PrepareDevnet makes a one-validator development chain in dataDir, or returns
// the one that is there.
func PrepareDevnet(dataDir string, opts DevnetOptions) (*genesis.Genesis, error) {
	return PrepareSealedDevnet(dataDir, opts, datadir.Sealing{})
}

// PrepareSealedDevnet is [PrepareDevnet] that may encrypt the keys it makes.
func PrepareSealedDevnet(dataDir string, opts DevnetOptions, seal datadir.Sealing) (*genesis.Genesis, error) {
	if err := os.MkdirAll(dataDir, 0o700); err != nil {
		return nil, fmt.Errorf("create data folder: %w", err)
	}
	_, err := os.Stat(filepath.Join(dataDir, datadir.GenesisFile))
	if err == nil {
		return ResumeDevnet(dataDir, opts)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("look for a genesis: %w", err)
	}
	if err := datadir.MissingGenesis(dataDir); err != nil {
		return nil, err
	}
	g, err := devnetTemplate(opts)
	if err != nil {
		return nil, err
	}
	g.Devnet = true
	words, err := seal.Words(g.Devnet)
	if err != nil {
		return nil, err
	}
	defer clear(words)
	d, err := newDeal(1)
	if err != nil {
		return nil, err
	}
	if err := d.keys[0].Seal(words, seal.Cost); err != nil {
		return nil, err
	}
	if err := d.complete(g); err != nil {
		return nil, err
	}
	raw, err := g.MarshalJSON()
	if err != nil {
		return nil, fmt.Errorf("encode genesis: %w", err)
	}
	// The genesis is written last: a folder with one is whole.
	if err := errors.Join(removeStale(dataDir), d.keys[0].Save(dataDir), d.keys[0].Remember(dataDir, g)); err != nil {
		return nil, err
	}
	if err := datadir.WriteNew(filepath.Join(dataDir, datadir.GenesisFile), raw, 0o644); err != nil {
		return nil, err
	}
	return datadir.LoadGenesis(dataDir)
}

// ResumeDevnet returns the chain that is there, of one validator or of several.
// Options are welcome if they would make the same one, so that a command line
// works twice.
func ResumeDevnet(dataDir string, opts DevnetOptions) (*genesis.Genesis, error) {
	g, err := datadir.LoadGenesis(dataDir)
	if err == nil {
		err = datadir.CheckTables(g) // said of the tables, not of the options
	}
	if err != nil || opts == (DevnetOptions{}) {
		return g, err
	}
	template, err := devnetTemplate(opts)
	if err != nil {
		return nil, err
	}
	there, err := json.Marshal(g.Params)
	if err != nil {
		return nil, fmt.Errorf("encode parameters: %w", err)
	}
	wanted, err := json.Marshal(template.Params)
	if err != nil {
		return nil, fmt.Errorf("encode parameters: %w", err)
	}
	if g.Name != template.Name || g.ChainID != template.ChainID || !bytes.Equal(there, wanted) {
		file := filepath.Join(dataDir, datadir.GenesisFile)
		return nil, datadir.WithNext(fmt.Errorf("%s: %w", file, ErrDevnetExists), "if the options are those of ever, the file was changed: "+datadir.NextGenesis)
	}
	return g, nil
}

// removeStale removes the keys of a devnet whose making was cut short, and their
// watermark: without a genesis nothing can have been signed with them.
func removeStale(dataDir string) error {
	for _, name := range []string{datadir.KeysFile, guard.FileName} {
		if err := os.Remove(filepath.Join(dataDir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func devnetTemplate(opts DevnetOptions) (*genesis.Genesis, error) {
	g := genesis.DevnetTemplate()
	if opts.GenesisFile != "" {
		raw, err := os.ReadFile(opts.GenesisFile)
		if err != nil {
			return nil, fmt.Errorf("read genesis: %w", err)
		}
		if g, err = genesis.ParseTemplate(raw); err != nil {
			return nil, fmt.Errorf("%s: %w", opts.GenesisFile, err)
		}
		if len(g.Validators) > 0 {
			return nil, fmt.Errorf("%s names validators already: a devnet makes its own", opts.GenesisFile)
		}
	}
	if opts.BlockTime != 0 {
		if opts.BlockTime < time.Millisecond || opts.BlockTime > time.Minute {
			return nil, fmt.Errorf("block time %v: want 1ms to 1m", opts.BlockTime)
		}
		scaleTimeouts(&g.Params, uint64(opts.BlockTime.Milliseconds()))
	}
	if opts.Lanes != "" {
		if err := g.Params.SetLaneProfile(opts.Lanes); err != nil {
			return nil, err
		}
	}
	if err := datadir.FillTables(&g.Params); err != nil {
		return nil, fmt.Errorf("%s: %w", opts.GenesisFile, err)
	}
	return g, nil
}

// scaleTimeouts sets the block time and raises the view timeouts so that a
// leader who waits for it is not given up.
func scaleTimeouts(p *params.Params, blockMillis uint64) {
	p.BlockTimeMillis = blockMillis
	p.LeaderTimeoutMillis = max(p.LeaderTimeoutMillis, 2*blockMillis)
	p.CertificationTimeoutMillis = max(p.CertificationTimeoutMillis, 3*blockMillis)
	p.NullifyRetryMillis = max(p.NullifyRetryMillis, 2*blockMillis)
}
