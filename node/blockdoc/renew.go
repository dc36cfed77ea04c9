package blockdoc

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/crypto/vrf"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// Signers are the keys of a development chain, and what it takes to build blocks
// of it.
type Signers struct {
	Accounts   map[chain.Address]*secp256k1.PrivateKey
	Validators map[chain.PeerKey]*bls.SecretKey // own BLS keys, which prove the order
	Beacon     chain.Hash                       // of genesis, for block 1
	// BodyRoot is the root that a header commits to an encoded body with.
	BodyRoot func(body []byte) (chain.Hash, error)
	// Certify has a quorum of the validators finalize a block at its place, or
	// returns ErrNoQuorum. Nil: there is nobody to ask.
	Certify func(p Place, digest chain.Hash) ([]byte, error)
	// Senders recovers who signed the transactions.
	Senders func(bodies [][]byte) ([]*chain.VerifiedTx, error)
}

// ErrNoKey means that the key of a proposer is not among the signers.
var ErrNoKey = errors.New("no key to sign with")

// ErrNoQuorum means that all but the certificate is renewed: the signers are too
// few for it, and the old one, of the block as it was, is dropped.
var ErrNoQuorum = errors.New("no certificate: too few keys for a quorum")

// Renew puts right what alterations made stale, as a lying proposer would before
// it sends the block: the signatures of transactions with altered fields, if a key
// among the signers made them before; then the order of all; the proof of it; and
// the roots of the bodies. Fields that keep names stay as they are: the alteration
// itself. before is the bodies as they were. Last of all a quorum signs the block as
// it is then, whatever is wrong with it; with [ErrNoQuorum] it has no certificate.
func (d *Document) Renew(before [][]byte, s *Signers, keep map[string]bool) error {
	h := &d.Block.Header
	renewed := s.resign(before, d.Block.Txs)
	beacon := s.Beacon
	if h.Height != 1 {
		beacon = chain.BeaconHash(h.ParentEpoch, h.ParentView, h.ParentSeed)
	}
	key := s.Validators[h.Proposer]
	if key != nil {
		proof, out := vrf.Prove(key, order.Namespace(d.Genesis), order.Message(h.Height, beacon))
		if !keep["header.order_proof"] {
			h.OrderProof = proof
		}
		if renewed {
			s.arrange(out, d.Block.Txs)
		}
	}
	if err := d.renewRoots(s, keep); err != nil {
		return err
	}
	if key == nil && !keep["header.order_proof"] {
		return fmt.Errorf("proposer %x: %w", h.Proposer[:], ErrNoKey)
	}
	d.Certificate = nil
	if s.Certify == nil {
		return ErrNoQuorum
	}
	var err error
	d.Certificate, err = s.Certify(d.Place, h.Digest())
	return err
}

func (d *Document) renewRoots(s *Signers, keep map[string]bool) error {
	h := &d.Block.Header
	if !keep["header.tx_root"] {
		h.TxRoot = tree.ListRoot(d.Block.Txs)
	}
	if keep["header.body_root"] {
		return nil
	}
	plain := chain.Block{Header: chain.Header{Version: chain.HeaderVersion}, Txs: d.Block.Txs}
	_, body, err := chain.SplitBlock(plain.Encode())
	if err == nil {
		h.BodyRoot, err = s.BodyRoot(body)
	}
	if err != nil {
		return fmt.Errorf("body root: %w", err)
	}
	return nil
}

// resign signs altered transactions as who signed them before: an altered one
// still bears the signature of the one that it was. It reports whether there are
// any. Those of strangers, and bytes that are no transaction, stay as they are.
func (s *Signers) resign(before, txs [][]byte) (any bool) {
	signed := map[chain.TxSignature]*chain.Tx{}
	for _, body := range before {
		if tx, err := chain.DecodeTx(body); err == nil && tx.Signature != nil {
			signed[*tx.Signature] = tx
		}
	}
	for i, body := range txs {
		tx, err := chain.DecodeTx(body)
		if err != nil || tx.Signature == nil {
			continue
		}
		was := signed[*tx.Signature]
		if was == nil || was.SigningHash() == tx.SigningHash() {
			continue
		}
		sender, err := secp256k1.Recover(was.SigningHash(), secp256k1.Signature{YParity: was.Signature.YParity, R: was.Signature.R, S: was.Signature.S})
		if err != nil {
			continue
		}
		key := s.Accounts[sender.Address()]
		if key == nil {
			continue
		}
		sig := key.Sign(tx.SigningHash())
		tx.Signature = &chain.TxSignature{YParity: sig.YParity, R: sig.R, S: sig.S}
		txs[i], any = tx.Encode(), true
	}
	return any
}

// arrange puts transactions into the order that follows from out, if all have a
// sender.
func (s *Signers) arrange(out chain.Hash, txs [][]byte) {
	verified, err := s.Senders(txs)
	if err != nil {
		return
	}
	for i, tx := range order.Arrange(out, verified) {
		txs[i] = tx.Body
	}
}
