package ledger

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
	"github.com/cowboy-foundation/cowboy/crypto/vrf"
)

// Proposers holds the keys with which validators prove the order of their
// blocks (resolution 11.15), decompressed once. It never changes.
type Proposers struct {
	// Proof verifies the proof of an order. [NewProposers] sets [vrf.Verify]; who runs
	// many nodes may set what remembers.
	Proof func(key *bls.PublicKey, namespace, msg []byte, proof bls.Signature) (out [32]byte, ok bool)

	keys      map[chain.PeerKey]*bls.PublicKey
	namespace []byte
	genesis   chain.Hash
}

// NewProposers reads the validators' own BLS keys and checks that each holder
// proved to possess its key.
func NewProposers(g *chain.Genesis) (*Proposers, error) {
	hash := g.Hash()
	p := &Proposers{Proof: vrf.Verify, keys: make(map[chain.PeerKey]*bls.PublicKey, len(g.Validators)), namespace: order.Namespace(hash), genesis: hash}
	for i := range g.Validators {
		v := &g.Validators[i]
		key, err := bls.ParsePublicKey(v.BLSKey[:])
		if err != nil {
			return nil, fmt.Errorf("BLS key of validator %d: %w", i, err)
		}
		if !key.VerifyPossession(v.BLSPossession) {
			return nil, fmt.Errorf("validator %d does not prove possession of its BLS key", i)
		}
		p.keys[v.PeerKey] = key
	}
	return p, nil
}

// checkOrder verifies the proof in the header and that the transactions stand
// in the order that follows from it (resolution 11.41).
func (p *Proposers) checkOrder(h *chain.Header, parentBeacon chain.Hash, txs []*chain.VerifiedTx) error {
	key, ok := p.keys[h.Proposer]
	if !ok {
		return &Verdict{"proposer", errors.New("not a validator")}
	}
	out, ok := p.Proof(key, p.namespace, order.Message(h.Height, parentBeacon), h.OrderProof)
	if !ok {
		return &Verdict{"order proof", nil}
	}
	if err := order.Check(out, txs); err != nil {
		return &Verdict{"order", err}
	}
	return nil
}
