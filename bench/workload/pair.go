package workload

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cowboy-foundation/cowboy/bench/internal/quicksign"
	"github.com/cowboy-foundation/cowboy/bench/solo"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/lanes/sigverify"
	"github.com/cowboy-foundation/cowboy/node/datadir"
)

// Pair is a chain and another one that follows it: what a block costs who proposes it, and
// what it costs everybody else. Its people pay each other, and are signed for quickly. It
// serves one goroutine.
type Pair struct {
	Leads, Follows *solo.Chain

	dir    string
	table  *quicksign.Nonces
	people []quicksign.Key
	nonces []uint64 // of their next transactions
	signed uint64   // transactions so far
}

// pairNonces is how many signatures of the pair's people have different nonces: repeats of
// one are no shortcut for who recovers senders.
const pairNonces = 1024

// NewPair makes the two in a folder that Close removes.
func NewPair(ctx context.Context, cfg solo.Config, people int) (p *Pair, err error) {
	dir, err := os.MkdirTemp("", "cowboy-pair-")
	if err != nil {
		return nil, fmt.Errorf("folder of a pair: %w", err)
	}
	p = &Pair{dir: dir, table: quicksign.NewNonces(pairNonces), nonces: make([]uint64, people)}
	defer func() {
		if err != nil {
			err = errors.Join(err, p.Close())
		}
	}()
	first, second := filepath.Join(dir, "leads"), filepath.Join(dir, "follows")
	if _, err := PrepareChain(first, "", 0); err != nil {
		return nil, err
	}
	if err := os.CopyFS(second, os.DirFS(first)); err != nil {
		return nil, fmt.Errorf("copy a chain: %w", err)
	}
	if err := os.Chmod(filepath.Join(second, datadir.KeysFile), 0o600); err != nil { // a copy is for all
		return nil, fmt.Errorf("keys of a copied chain: %w", err)
	}
	if p.Leads, err = solo.Open(first, cfg); err != nil {
		return nil, err
	}
	if p.Follows, err = solo.Open(second, cfg); err != nil {
		return nil, err
	}
	return p, p.fund(ctx, people)
}

// fund gives everybody money, by a block that both chains get.
func (p *Pair) fund(ctx context.Context, people int) error {
	bank, err := NewBank(p.Leads)
	if err != nil {
		return err
	}
	var pay []Order
	for i := range people {
		key, err := quicksign.NewKey(2, i)
		if err != nil {
			return err
		}
		p.people = append(p.people, key)
		pay = append(pay, bank.Pay(chain.Address(key.Address), purse))
	}
	for len(pay) > 0 {
		n := atOnce(pay)
		bodies, err := Sign(p.Leads.Genesis().ChainID, pay[:n])
		if err != nil {
			return err
		}
		s, err := p.Lead(ctx, bodies)
		if err != nil {
			return err
		}
		if _, err := p.Follows.Follow(ctx, s); err != nil {
			return err
		}
		pay = pay[n:]
	}
	return nil
}

// Transfers signs payments, of one after the other of the people to somebody else.
func (p *Pair) Transfers(n int) [][]byte {
	bodies := make([][]byte, n)
	for i := range bodies {
		from := i % len(p.people)
		to := chain.Address(p.people[(from+1+i/len(p.people))%len(p.people)].Address)
		tx := chain.Tx{
			ChainID: p.Leads.Genesis().ChainID, Nonce: p.nonces[from], To: &to, Value: 1,
			CyclesLimit: 21_000, MaxFeePerCycle: maxFee, MaxFeePerCell: maxFee, TipPerCycle: tip,
		}
		sig := p.table.Sign(&p.people[from], tx.SigningHash(), p.signed)
		tx.Signature = &chain.TxSignature{YParity: sig.YParity, R: sig.R, S: sig.S}
		bodies[i] = tx.Encode()
		p.nonces[from]++
		p.signed++
	}
	return bodies
}

// Lead submits transactions to the chain that leads, and makes a block of all of them.
func (p *Pair) Lead(ctx context.Context, bodies [][]byte) (*solo.Sealed, error) {
	if err := admitted(p.Leads.Submit(ctx, bodies)); err != nil {
		return nil, err
	}
	b, err := p.Leads.Block(ctx)
	if err != nil {
		return nil, err
	}
	if len(b.Txs) != len(bodies) {
		return nil, &RefusedError{"lead", fmt.Sprintf("%d of %d transactions in the block", len(b.Txs), len(bodies))}
	}
	return &b.Sealed, nil
}

// Gossip hands transactions to the pool of who follows, as other nodes do.
func (p *Pair) Gossip(ctx context.Context, bodies [][]byte) error {
	return admitted(p.Follows.Submit(ctx, bodies))
}

// Close stops both and removes their folders.
func (p *Pair) Close() error {
	var errs []error
	for _, c := range []*solo.Chain{p.Leads, p.Follows} {
		if c != nil {
			errs = append(errs, c.Close())
		}
	}
	return errors.Join(append(errs, os.RemoveAll(p.dir))...)
}

// admitted wants all of what was submitted to be taken.
func admitted(verdicts []sigverify.Verdict, err error) error {
	for i := range verdicts {
		if err == nil && verdicts[i].Err != nil {
			err = &RefusedError{"submit", verdicts[i].Err.Error()}
		}
	}
	return err
}
