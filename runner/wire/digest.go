//spec:implements restored 5, 6, 11, 12

package wire

import (
	"encoding/binary"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// This file builds what is signed on the runner link (CIP-11 §12.6):
//
//	keccak256(domain ‖ signer_role ‖ scheme_id ‖ fields)
//
// with big-endian integers and scheme-tagged keys. Runners sign the digest with
// recoverable secp256k1, validators with Ed25519.

// preimage collects the bytes of one digest.
type preimage []byte

func newPreimage(domain string, signer chain.Role) preimage {
	p := make(preimage, 0, 384)
	p = append(p, domain...)
	return append(p, byte(signer), byte(signer.Scheme()))
}

func (p preimage) hash(h chain.Hash) preimage         { return append(p, h[:]...) }
func (p preimage) byte(b byte) preimage               { return append(p, b) }
func (p preimage) uint64(v uint64) preimage           { return binary.BigEndian.AppendUint64(p, v) }
func (p preimage) runner(k chain.RunnerKey) preimage  { return k.AppendWire(p) }
func (p preimage) validator(k chain.PeerKey) preimage { return k.AppendWire(p) }
func (p preimage) text(s string) preimage             { return cbor.AppendText(p, s) }
func (p preimage) digest() chain.Hash                 { return keccak.Sum256(p) }

func (p preimage) bool(v bool) preimage {
	if v {
		return append(p, 1)
	}
	return append(p, 0)
}

// Session names one connection between a runner and a validator: who they are
// and which validator set they agreed on (CIP-11 §6.2).
type Session struct {
	ChainID          uint64
	Runner           chain.RunnerKey
	Validator        chain.PeerKey
	SubsetEpoch      chain.Epoch
	ValidatorSetHash chain.Hash
	ChannelBinding   [32]byte // TLS exporter output, see ExporterLabel
}

// ConnectionID returns the hash that binds frames to this connection. It does
// not depend on stakes (CIP-11 §6.2).
func (s *Session) ConnectionID() chain.Hash {
	p := append(make(preimage, 0, 192), domainConnection...).uint64(s.ChainID)
	p = p.runner(s.Runner).validator(s.Validator).uint64(uint64(s.SubsetEpoch))
	return p.hash(s.ValidatorSetHash).hash(s.ChannelBinding).digest()
}

// HelloAckDigest returns what the signer signs to answer the other side's
// challenge (CIP-11 §6.2).
func (s *Session) HelloAckDigest(signer chain.Role, challenge [32]byte) chain.Hash {
	p := newPreimage(domainHelloAck, signer).hash(challenge).uint64(s.ChainID)
	p = binary.BigEndian.AppendUint16(p, Version)
	if signer == chain.RoleRunner {
		p = p.byte(byte(chain.RoleRunner)).byte(byte(chain.RoleValidator)).runner(s.Runner).validator(s.Validator)
	} else {
		p = p.byte(byte(chain.RoleValidator)).byte(byte(chain.RoleRunner)).validator(s.Validator).runner(s.Runner)
	}
	return p.uint64(uint64(s.SubsetEpoch)).hash(s.ValidatorSetHash).hash(s.ChannelBinding).digest()
}

// HeartbeatPingDigest returns what a runner signs in a HeartbeatPing (CIP-11
// §6.3).
func HeartbeatPingDigest(connection chain.Hash, height chain.Height, nonce uint64) chain.Hash {
	return newPreimage(domainHeartbeatPing, chain.RoleRunner).hash(connection).uint64(uint64(height)).uint64(nonce).digest()
}

// HeartbeatPongDigest returns what a validator signs in a HeartbeatPong (CIP-11
// §6.3).
func HeartbeatPongDigest(connection chain.Hash, height chain.Height, nonceEcho uint64, acceptingNew bool) chain.Hash {
	p := newPreimage(domainHeartbeatPong, chain.RoleValidator).hash(connection).uint64(uint64(height))
	return p.uint64(nonceEcho).bool(acceptingNew).digest()
}

// ControlDigest returns what a runner signs in a BackpressureSignal or a
// CapabilityDelta. body is the canonical frame body without its signed field;
// connection and frame type keep it from being replayed elsewhere (CIP-11
// §6.4, §6.5).
func ControlDigest(connection chain.Hash, frameType uint8, body []byte) chain.Hash {
	p := newPreimage(domainControl, chain.RoleRunner).hash(connection).byte(frameType)
	return append(p, body...).digest()
}

// Assignment is the part of a JobAssignment that every validator pushes alike.
type Assignment struct {
	ChainID       uint64
	JobID         chain.Hash
	JobSpecHash   chain.Hash // keccak256 of canonical_job_spec
	Height        chain.Height
	DeadlineBlock chain.Height
	Runner        chain.RunnerKey
}

// Hash returns assignment_hash, which the pushing validator signs. It names
// neither validator nor validator set, so all pushes of one assignment agree,
// across an overlap of two sets as well (CIP-11 §10.1).
func (a *Assignment) Hash() chain.Hash {
	p := newPreimage(domainJobAssignment, chain.RoleValidator).uint64(a.ChainID).hash(a.JobID).hash(a.JobSpecHash)
	return p.uint64(uint64(a.Height)).uint64(uint64(a.DeadlineBlock)).runner(a.Runner).digest()
}

// Dispatch names one assignment on one connection.
type Dispatch struct {
	ChainID        uint64
	JobID          chain.Hash
	AssignmentHash chain.Hash
	Runner         chain.RunnerKey
	Validator      chain.PeerKey
}

func (d *Dispatch) preimage(domain string, signer chain.Role) preimage {
	p := newPreimage(domain, signer).uint64(d.ChainID).hash(d.JobID).hash(d.AssignmentHash)
	return p.runner(d.Runner).validator(d.Validator)
}

// AckDigest returns what a runner signs in a JobAck. why counts only for
// AckReject; an absent reason is the empty text (CIP-11 §10.2, §12.6).
func (d *Dispatch) AckDigest(status AckStatus, why RejectReason, reason string) chain.Hash {
	p := d.preimage(domainJobAck, chain.RoleRunner).byte(byte(status))
	if status == AckReject {
		p = p.byte(byte(why))
	}
	return p.text(reason).digest()
}

// CancelDigest returns what a validator signs in a JobCancel (CIP-11 §10.5).
func (d *Dispatch) CancelDigest(reason CancelReason) chain.Hash {
	return d.preimage(domainJobCancel, chain.RoleValidator).byte(byte(reason)).digest()
}

// GoodbyeDigest returns what either side signs in a Goodbye after mutual
// authentication. An absent retryAfterBlocks is 0 and an absent detail the
// empty text (CIP-11 §12.5, §12.6).
func GoodbyeDigest(signer chain.Role, connection chain.Hash, reason GoodbyeReason, retryAfterBlocks uint64, detail string) chain.Hash {
	p := newPreimage(domainGoodbye, signer).hash(connection).byte(byte(reason))
	return p.uint64(retryAfterBlocks).text(detail).digest()
}
