package query

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
)

const (
	faucetAmount       = 5_000 * chain.WeiPerCBY // neighbours §10
	faucetPerMinute    = 5                       // for each address
	faucetAddressesMax = 10_000                  // addresses remembered
)

// errFaucetLimit means that an address asked too often.
var errFaucetLimit = errors.New("the faucet gives an address at most five times a minute: try again later")

// faucet signs transfers from the development faucet account. Its nonce is the
// pool's, so that it needs no memory of its own across restarts.
type faucet struct {
	chainID uint64
	key     *secp256k1.PrivateKey
	address chain.Address
	now     func() time.Time

	mu    sync.Mutex
	given map[chain.Address][]time.Time // within the last minute
}

func newFaucet(chainID uint64, key *secp256k1.PrivateKey) *faucet {
	return &faucet{
		chainID: chainID, key: key, address: key.PublicKey().Address(),
		now: time.Now, given: map[chain.Address][]time.Time{},
	}
}

// allow counts one gift to the address, or says that it had enough.
func (f *faucet) allow(to chain.Address) error {
	since := f.now().Add(-time.Minute)
	if len(f.given) >= faucetAddressesMax {
		for a, times := range f.given {
			if times[len(times)-1].Before(since) {
				delete(f.given, a)
			}
		}
	}
	recent := f.given[to]
	for len(recent) > 0 && recent[0].Before(since) {
		recent = recent[1:]
	}
	if len(recent) >= faucetPerMinute || (len(recent) == 0 && len(f.given) >= faucetAddressesMax) {
		f.given[to] = recent
		if len(recent) == 0 {
			delete(f.given, to)
		}
		return errFaucetLimit
	}
	f.given[to] = append(recent, f.now())
	return nil
}

// give signs a transfer to the address and submits it: cycles is what one takes. submit admits one
// transaction; nonce is the account's next one behind the pool.
func (f *faucet) give(ctx context.Context, to chain.Address, cycles chain.Cycles, base chain.FeePair,
	nonce func(context.Context, chain.Address) (uint64, error), submit func(context.Context, []byte) error,
) (chain.Hash, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := f.allow(to); err != nil {
		return chain.Hash{}, err
	}
	next, err := nonce(ctx, f.address)
	if err != nil {
		return chain.Hash{}, err
	}
	body := f.sign(&chain.Tx{
		ChainID: f.chainID, Nonce: next, To: &to, Value: faucetAmount,
		CyclesLimit: cycles, MaxFeePerCycle: 4 * max(1, base.PerCycle), MaxFeePerCell: 4 * max(1, base.PerCell),
		TipPerCycle: 1,
	})
	return chain.TxHash(body), submit(ctx, body)
}

func (f *faucet) sign(tx *chain.Tx) []byte {
	sig := f.key.Sign(tx.SigningHash())
	tx.Signature = &chain.TxSignature{YParity: sig.YParity, R: sig.R, S: sig.S}
	return tx.Encode()
}
