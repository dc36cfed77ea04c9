package ledger

import (
	"errors"
	"fmt"
	"sync"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
	"github.com/cowboy-foundation/cowboy/crypto/vrf"
)

// Proposers holds who may make the blocks of each epoch, and the keys with which they
// prove the order of these (resolution 11.15), decompressed once. It never changes.
type Proposers struct {
	// Proof verifies the proof of an order. [NewProposers] sets [vrf.Verify]; who runs
	// many nodes may set what remembers.
	Proof func(key *bls.PublicKey, namespace, msg []byte, proof bls.Signature) (out [32]byte, ok bool)

	epochs    *epoch.Schedule
	keys      []map[chain.PeerKey]*bls.PublicKey // by epoch
	namespace []byte
	arrangers sync.Pool // of *order.Arranger, for who checks
}

// NewProposers reads the own BLS keys of the validators of all epochs on record, and
// checks that each holder proved to possess its key.
func NewProposers(s *epoch.Schedule) (*Proposers, error) {
	p := &Proposers{Proof: vrf.Verify, epochs: s, namespace: order.Namespace(s.Chain())}
	for e := chain.Epoch(0); e <= s.Newest(); e++ {
		r, err := s.At(e)
		if err != nil {
			return nil, err
		}
		keys, err := keysOf(r)
		if err != nil {
			return nil, fmt.Errorf("epoch %d: %w", e, err)
		}
		p.keys = append(p.keys, keys)
	}
	return p, nil
}

func keysOf(r *epoch.Record) (map[chain.PeerKey]*bls.PublicKey, error) {
	keys := make(map[chain.PeerKey]*bls.PublicKey, len(r.Validators))
	for i := range r.Validators {
		v := &r.Validators[i]
		key, err := bls.ParsePublicKey(v.BLSKey[:])
		if err != nil {
			return nil, fmt.Errorf("BLS key of validator %d: %w", i, err)
		}
		if !key.VerifyPossession(v.BLSPossession) {
			return nil, fmt.Errorf("validator %d does not prove possession of its BLS key", i)
		}
		keys[v.PeerKey] = key
	}
	return keys, nil
}

// keyOf returns the key of the proposer of a block, which has to be a validator of its epoch.
func (p *Proposers) keyOf(h *chain.Header) (*bls.PublicKey, bool) {
	if uint64(h.Epoch) >= uint64(len(p.keys)) {
		return nil, false
	}
	key, ok := p.keys[h.Epoch][h.Proposer]
	return key, ok
}

// checkOrder verifies the proof in the header and that the transactions stand
// in the order that follows from it (resolution 11.41).
func (p *Proposers) checkOrder(h *chain.Header, parentBeacon chain.Hash, txs []*chain.VerifiedTx) error {
	key, ok := p.keyOf(h)
	if !ok {
		return &Verdict{"proposer", errors.New("not a validator")}
	}
	out, ok := p.Proof(key, p.namespace, order.Message(h.Height, parentBeacon), h.OrderProof)
	if !ok {
		return &Verdict{"order proof", nil}
	}
	arranger, ok := p.arrangers.Get().(*order.Arranger)
	if !ok {
		arranger = new(order.Arranger)
	}
	defer p.arrangers.Put(arranger)
	if err := arranger.Check(out, txs); err != nil {
		return &Verdict{"order", err}
	}
	return nil
}
