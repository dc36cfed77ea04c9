package tools

import (
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/ceremony"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/guard"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/state/journal"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// ErrNotAlone keeps a chain of several validators from being extended by one.
var ErrNotAlone = errors.New("only for a chain of one validator: no other can make its blocks final by itself")

// Offline is the data folder of a stopped development chain of one validator,
// opened to extend the chain without network and views. One validator is a
// quorum, so its certificates are those that the running node would make, and
// the folder can be run, verified and exported like any other. One goroutine
// uses it; no other process can have the folder meanwhile.
type Offline struct {
	Genesis *genesis.Genesis
	Keys    *datadir.Keys
	Store   *store.Store

	set   *beacon.ValidatorSet
	voice *simplex.Threshold
	guard *guard.Guard
}

// OpenOffline opens the folder that PrepareDevnet made. It is
// [datadir.ErrNotDevelopment] or [ErrNotAlone] for any other chain.
func OpenOffline(dataDir string, opts store.Options) (*Offline, error) {
	genesis, err := datadir.LoadGenesis(dataDir)
	if err != nil {
		return nil, err
	}
	switch {
	case !genesis.Devnet:
		return nil, datadir.ErrNotDevelopment
	case !epoch.Of(genesis).Alone():
		return nil, ErrNotAlone
	}
	if err := errors.Join(genesis.Check(), ceremony.Check(genesis), datadir.CheckTables(genesis)); err != nil {
		return nil, fmt.Errorf("genesis: %w", err)
	}
	o := &Offline{Genesis: genesis}
	if o.Keys, err = datadir.LoadKeys(dataDir); err != nil {
		return nil, err
	}
	if err := o.Keys.CheckAgainst(genesis); err != nil {
		return nil, fmt.Errorf("%s: %w", filepath.Join(dataDir, datadir.KeysFile), err)
	}
	if err := o.open(dataDir, opts); err != nil {
		return nil, errors.Join(err, o.Close())
	}
	return o, nil
}

func (o *Offline) open(dataDir string, opts store.Options) (err error) {
	if o.set, err = beacon.NewValidatorSet(epoch.First(o.Genesis)); err != nil {
		return fmt.Errorf("validator set: %w", err)
	}
	keys := simplex.Keys{Share: o.Keys.Share.Key, Peer: o.Keys.Peer}
	if o.voice, err = simplex.NewThreshold(o.set, 0, keys, rand.Reader); err != nil {
		return fmt.Errorf("group key: %w", err)
	}
	if o.guard, err = datadir.OpenGuard(dataDir, datadir.GuardIdentity(o.Genesis, o.Keys)); err != nil {
		return err
	}
	if o.Store, err = datadir.OpenStore(dataDir, o.Genesis, opts); err != nil {
		return err
	}
	// A chain with blocks and without a journal would look as if it had lost it.
	votes, err := journal.Open(filepath.Join(dataDir, datadir.JournalFile), journal.KindVotes)
	if err != nil {
		return fmt.Errorf("open vote journal: %w", err)
	}
	return errors.Join(votes.Sync(), votes.Close())
}

// Epoch is that of all rounds.
func (o *Offline) Epoch() chain.Epoch { return o.set.Epoch() }

// Certify makes a block final: it returns the certificate, with the seed of the
// round. The watermark remembers it, so that nothing is certified twice in two
// ways.
func (o *Offline) Certify(p simplex.Proposal) (simplex.Certificate, error) {
	if err := o.guard.Permit(simplex.Finalize, p); err != nil {
		return simplex.Certificate{}, fmt.Errorf("double-sign protection: %w", err)
	}
	if err := o.guard.Sync(); err != nil {
		return simplex.Certificate{}, fmt.Errorf("double-sign protection: %w", err)
	}
	c, err := o.voice.Recover([]simplex.Vote{o.voice.Sign(simplex.Finalize, p)})
	if err != nil {
		return simplex.Certificate{}, fmt.Errorf("certificate: %w", err)
	}
	return c, nil
}

// Close releases the folder.
func (o *Offline) Close() error {
	var err error
	if o.guard != nil {
		err = o.guard.Close()
	}
	if o.Store != nil {
		err = errors.Join(err, o.Store.Close())
	}
	return err
}
