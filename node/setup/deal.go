package setup

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/ceremony"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
	"github.com/cowboy-foundation/cowboy/crypto/ed25519"
	"github.com/cowboy-foundation/cowboy/node/datadir"
)

// ceremonyFile says how the keys beside a genesis came to be.
const ceremonyFile = "ceremony.json"

// ceremonyJSON marks a trusted deal, so that nobody takes the group key for
// one that no single party has ever known.
type ceremonyJSON struct {
	Ceremony   string `json:"ceremony"`
	Warning    string `json:"warning"`
	Genesis    string `json:"genesis_hash"`
	Validators int    `json:"validators"`
	Quorum     int    `json:"quorum"`
}

const (
	ceremonyTrustedDeal = "trusted-deal"
	trustedDealWarning  = "one process made every key and knew the whole threshold key: whoever ran it could have kept them; for development and tests only"
)

// TrustedDeal reports whether the folder, or the one above it, says that the keys of
// the genesis were dealt by one process.
func TrustedDeal(dir string, g *genesis.Genesis) bool {
	for _, folder := range []string{dir, filepath.Dir(filepath.Clean(dir))} {
		raw, err := os.ReadFile(filepath.Join(folder, ceremonyFile))
		var mark ceremonyJSON
		if err == nil && json.Unmarshal(raw, &mark) == nil && mark.Ceremony == ceremonyTrustedDeal && mark.Genesis == g.Hash().String() {
			return true
		}
	}
	return false
}

// ErrDealExists means that a folder already holds a dealt chain.
var ErrDealExists = errors.New("the folder already holds a genesis: choose another")

// DealOptions say which chain to deal.
type DealOptions struct {
	DevnetOptions
	Validators int
	FullNodes  int // that follow and do not vote
	Seal       datadir.Sealing
}

// fullNodesMax bounds what one deal makes.
const fullNodesMax = 128

// Deal makes a chain of several validators in dir: the genesis, and for each
// validator a data folder with its keys. It makes all keys itself: the result
// is marked as a trusted deal. Validator i of the folders is participant i of
// consensus.
func Deal(dir string, opts DealOptions) (*genesis.Genesis, error) {
	if _, err := os.Stat(filepath.Join(dir, datadir.GenesisFile)); err == nil {
		return nil, ErrDealExists
	}
	if err := datadir.MissingGenesis(dir); err != nil {
		return nil, err
	}
	g, err := devnetTemplate(opts.DevnetOptions)
	if err != nil {
		return nil, err
	}
	if most := g.Params.Staking.MaxValidators; opts.Validators < 1 || uint64(opts.Validators) > most {
		return nil, fmt.Errorf("%d validators, want 1 to %d", opts.Validators, most)
	}
	if opts.FullNodes < 0 || opts.FullNodes > fullNodesMax {
		return nil, fmt.Errorf("%d full nodes, want 0 to %d", opts.FullNodes, fullNodesMax)
	}
	words, err := opts.Seal.Words(g.Devnet)
	if err != nil {
		return nil, err
	}
	defer clear(words)
	deal, err := newDeal(opts.Validators)
	if err != nil {
		return nil, err
	}
	for range opts.FullNodes {
		key, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			return nil, fmt.Errorf("make identity key: %w", err)
		}
		deal.fullNodes = append(deal.fullNodes, &datadir.Keys{Peer: key})
	}
	if err := deal.complete(g); err != nil {
		return nil, err
	}
	if err := ceremony.Check(g); err != nil {
		return nil, fmt.Errorf("dealt keys: %w", err)
	}
	for _, k := range append(slices.Clone(deal.keys), deal.fullNodes...) {
		if err := k.Seal(words, opts.Seal.Cost); err != nil {
			return nil, err
		}
	}
	return g, deal.write(dir, g)
}

// deal is fresh keys of one threshold scheme, by participant.
type deal struct {
	keys       []*datadir.Keys
	fullNodes  []*datadir.Keys
	polynomial *bls.Polynomial
}

func newDeal(n int) (*deal, error) {
	d := &deal{keys: make([]*datadir.Keys, n)}
	var err error
	for i := range d.keys {
		d.keys[i] = &datadir.Keys{}
		if d.keys[i].Peer, err = ed25519.GenerateKey(rand.Reader); err != nil {
			return nil, fmt.Errorf("make identity key: %w", err)
		}
		seed, err := drawSeed()
		if err != nil {
			return nil, err
		}
		if d.keys[i].Own, err = bls.NewSecretKey(seed); err != nil {
			return nil, fmt.Errorf("make BLS key: %w", err)
		}
	}
	// The genesis lists validators by key; folders and shares follow it.
	slices.SortFunc(d.keys, func(a, b *datadir.Keys) int {
		x, y := a.Peer.PublicKey(), b.Peer.PublicKey()
		return bytes.Compare(x[:], y[:])
	})
	seed, err := drawSeed()
	if err != nil {
		return nil, err
	}
	polynomial, shares, err := bls.DealTrusted(seed, n, chain.Quorum(n))
	if err != nil {
		return nil, fmt.Errorf("deal threshold key: %w", err)
	}
	d.polynomial = polynomial
	for i, share := range shares {
		d.keys[i].Share = share
	}
	return d, nil
}

func drawSeed() ([]byte, error) {
	seed := make([]byte, blsSeedBytes)
	if _, err := rand.Read(seed); err != nil {
		return nil, fmt.Errorf("make seed: %w", err)
	}
	return seed, nil
}

// complete adds the validators and, on a devnet, the development accounts.
func (d *deal) complete(g *genesis.Genesis) error {
	var validators []chain.Validator
	for i, k := range d.keys {
		account := DevValidator(i)
		k.Account = account.Key
		validators = append(validators, k.Validator(DevValidatorStake, account.Address))
	}
	var allocations []genesis.Allocation
	if g.Devnet {
		for i, a := range DevAccounts() {
			allocations = append(allocations, genesis.Allocation{Name: fmt.Sprintf("development-%d", i), Address: a.Address, Amount: devAccountBalance})
		}
		allocations = append(allocations, genesis.Allocation{Name: "faucet", Address: DevFaucet().Address, Amount: devFaucetBalance})
	}
	var polynomial [][96]byte
	for point := range slices.Chunk(d.polynomial.Bytes(), bls.PublicKeySize) {
		polynomial = append(polynomial, [bls.PublicKeySize]byte(point))
	}
	return g.Complete(validators, d.polynomial.Group().Bytes(), polynomial, allocations, uint64(time.Now().UnixMilli()))
}

// write makes the folders. The genesis of dir is written last: a folder with
// one is whole.
func (d *deal) write(dir string, g *genesis.Genesis) error {
	raw, err := g.MarshalJSON()
	if err != nil {
		return fmt.Errorf("encode genesis: %w", err)
	}
	for i, keys := range d.keys {
		if err := writeFolder(datadir.DealtFolder(dir, i), keys, g, raw); err != nil {
			return err
		}
	}
	for i, keys := range d.fullNodes {
		if err := writeFolder(datadir.FullNodeFolder(dir, i), keys, g, raw); err != nil {
			return err
		}
	}
	mark, err := json.MarshalIndent(ceremonyJSON{
		ceremonyTrustedDeal, trustedDealWarning, g.Hash().String(), len(d.keys), chain.Quorum(len(d.keys)),
	}, "", "  ")
	if err != nil {
		return fmt.Errorf("encode ceremony: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, ceremonyFile), append(mark, '\n'), 0o644); err != nil {
		return fmt.Errorf("write ceremony: %w", err)
	}
	return datadir.WriteNew(filepath.Join(dir, datadir.GenesisFile), raw, 0o644)
}

func writeFolder(folder string, keys *datadir.Keys, g *genesis.Genesis, genesis []byte) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return fmt.Errorf("create data folder: %w", err)
	}
	if err := errors.Join(removeStale(folder), keys.Save(folder), keys.Remember(folder, g)); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(folder, datadir.GenesisFile), genesis, 0o644); err != nil {
		return fmt.Errorf("write genesis: %w", err)
	}
	return nil
}

// WriteDealtPeers writes the peers file of every node of a dealt chain;
// addresses are the validators', by participant.
func WriteDealtPeers(dir string, g *genesis.Genesis, addresses []string) error {
	if len(addresses) != len(g.Validators) {
		return fmt.Errorf("%d addresses for %d validators", len(addresses), len(g.Validators))
	}
	all := make([]datadir.PeerAddress, len(addresses))
	for i, v := range g.Validators {
		all[i] = datadir.PeerAddress{Key: v.PeerKey, Address: addresses[i]}
	}
	for i := range all {
		others := slices.Delete(slices.Clone(all), i, i+1)
		if err := datadir.WritePeers(datadir.DealtFolder(dir, i), others); err != nil {
			return err
		}
	}
	for i := 0; ; i++ {
		if _, err := os.Stat(datadir.FullNodeFolder(dir, i)); err != nil {
			return nil // there are no more
		}
		if err := datadir.WritePeers(datadir.FullNodeFolder(dir, i), all); err != nil {
			return err
		}
	}
}
