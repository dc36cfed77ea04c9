//spec:implements restored 7

package chain

import (
	"encoding/binary"
	"errors"

	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// PresenceReceiptBytes is the length of a packed [PresenceReceipt]. CIP-11 §8.4
// calculates with it.
const PresenceReceiptBytes = 188

// ErrPresenceReceipt means bytes that are no packed presence receipt: another
// length, a key with the wrong scheme, or a boolean that is neither 0 nor 1.
var ErrPresenceReceipt = errors.New("not a presence receipt")

// PresenceReceipt is a validator's statement that a runner was connected,
// usable as evidence on chain (CIP-11 §8.3).
type PresenceReceipt struct {
	Runner           RunnerKey
	Validator        PeerKey
	SubsetEpoch      Epoch
	ValidatorSetHash Hash
	BlockHeight      Height
	NonceEcho        uint64
	AcceptingNew     bool
	ValidatorSigned  [64]byte // Ed25519 over Digest
}

// appendFields appends everything but the signature in packed order.
func (r *PresenceReceipt) appendFields(dst []byte) []byte {
	dst = r.Validator.AppendWire(r.Runner.AppendWire(dst))
	dst = binary.BigEndian.AppendUint64(dst, uint64(r.SubsetEpoch))
	dst = append(dst, r.ValidatorSetHash[:]...)
	dst = binary.BigEndian.AppendUint64(dst, uint64(r.BlockHeight))
	dst = binary.BigEndian.AppendUint64(dst, r.NonceEcho)
	if r.AcceptingNew {
		return append(dst, 1)
	}
	return append(dst, 0)
}

// Digest returns what the validator signs. The chain id is that of the
// executing network: the receipt itself does not carry one (CIP-11 §8.3).
func (r *PresenceReceipt) Digest(chainID uint64) Hash {
	b := append(make([]byte, 0, 192), domainPresenceReceipt...)
	b = append(b, byte(RoleValidator), byte(RoleValidator.Scheme()))
	return keccak.Sum256(r.appendFields(binary.BigEndian.AppendUint64(b, chainID)))
}

// Pack returns the receipt in its fixed binary form.
func (r *PresenceReceipt) Pack() [PresenceReceiptBytes]byte {
	b := r.appendFields(make([]byte, 0, PresenceReceiptBytes))
	return [PresenceReceiptBytes]byte(append(b, r.ValidatorSigned[:]...))
}

// ParsePresenceReceipt reads what Pack writes and nothing else. It checks the
// form, not the signature.
func ParsePresenceReceipt(b []byte) (*PresenceReceipt, error) {
	if len(b) != PresenceReceiptBytes || b[0] != byte(SchemeSecp256k1) || b[34] != byte(SchemeEd25519) || b[123] > 1 {
		return nil, ErrPresenceReceipt
	}
	return &PresenceReceipt{
		Runner:           RunnerKey(b[1:34]),
		Validator:        PeerKey(b[35:67]),
		SubsetEpoch:      Epoch(binary.BigEndian.Uint64(b[67:])),
		ValidatorSetHash: Hash(b[75:107]),
		BlockHeight:      Height(binary.BigEndian.Uint64(b[107:])),
		NonceEcho:        binary.BigEndian.Uint64(b[115:]),
		AcceptingNew:     b[123] == 1,
		ValidatorSigned:  [64]byte(b[124:]),
	}, nil
}
