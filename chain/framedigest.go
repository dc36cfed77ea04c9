package chain

import (
	"encoding/binary"

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

func newPreimage(domain string, signer Role) preimage {
	p := make(preimage, 0, 384)
	p = append(p, domain...)
	return append(p, byte(signer), byte(signer.Scheme()))
}

func (p preimage) hash(h Hash) preimage         { return append(p, h[:]...) }
func (p preimage) byte(b byte) preimage         { return append(p, b) }
func (p preimage) uint64(v uint64) preimage     { return binary.BigEndian.AppendUint64(p, v) }
func (p preimage) runner(k RunnerKey) preimage  { return k.AppendWire(p) }
func (p preimage) validator(k PeerKey) preimage { return k.AppendWire(p) }
func (p preimage) text(s string) preimage       { return cbor.AppendText(p, s) }
func (p preimage) digest() Hash                 { return keccak.Sum256(p) }

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
	Runner           RunnerKey
	Validator        PeerKey
	SubsetEpoch      Epoch
	ValidatorSetHash Hash
	ChannelBinding   [32]byte // TLS exporter output, see ExporterLabel
}

// ConnectionID returns the hash that binds frames to this connection. It does
// not depend on stakes (CIP-11 §6.2).
func (s *Session) ConnectionID() Hash {
	p := append(make(preimage, 0, 192), domainConnection...).uint64(s.ChainID)
	p = p.runner(s.Runner).validator(s.Validator).uint64(uint64(s.SubsetEpoch))
	return p.hash(s.ValidatorSetHash).hash(s.ChannelBinding).digest()
}

// HelloAckDigest returns what the signer signs to answer the other side's
// challenge (CIP-11 §6.2).
func (s *Session) HelloAckDigest(signer Role, challenge [32]byte) Hash {
	p := newPreimage(domainHelloAck, signer).hash(challenge).uint64(s.ChainID)
	p = binary.BigEndian.AppendUint16(p, RunnerWireVersion)
	if signer == RoleRunner {
		p = p.byte(byte(RoleRunner)).byte(byte(RoleValidator)).runner(s.Runner).validator(s.Validator)
	} else {
		p = p.byte(byte(RoleValidator)).byte(byte(RoleRunner)).validator(s.Validator).runner(s.Runner)
	}
	return p.uint64(uint64(s.SubsetEpoch)).hash(s.ValidatorSetHash).hash(s.ChannelBinding).digest()
}

// HeartbeatPingDigest returns what a runner signs in a HeartbeatPing (CIP-11
// §6.3).
func HeartbeatPingDigest(connection Hash, height Height, nonce uint64) Hash {
	return newPreimage(domainHeartbeatPing, RoleRunner).hash(connection).uint64(uint64(height)).uint64(nonce).digest()
}

// HeartbeatPongDigest returns what a validator signs in a HeartbeatPong (CIP-11
// §6.3).
func HeartbeatPongDigest(connection Hash, height Height, nonceEcho uint64, acceptingNew bool) Hash {
	p := newPreimage(domainHeartbeatPong, RoleValidator).hash(connection).uint64(uint64(height))
	return p.uint64(nonceEcho).bool(acceptingNew).digest()
}

// ControlDigest returns what a runner signs in a BackpressureSignal or a
// CapabilityDelta. body is the canonical frame body without its signed field;
// connection and frame type keep it from being replayed elsewhere (CIP-11
// §6.4, §6.5).
func ControlDigest(connection Hash, frameType uint8, body []byte) Hash {
	p := newPreimage(domainControl, RoleRunner).hash(connection).byte(frameType)
	return append(p, body...).digest()
}

// Assignment is the part of a JobAssignment that every validator pushes alike.
type Assignment struct {
	ChainID       uint64
	JobID         Hash
	JobSpecHash   Hash // keccak256 of canonical_job_spec
	Height        Height
	DeadlineBlock Height
	Runner        RunnerKey
}

// Hash returns assignment_hash, which the pushing validator signs. It names
// neither validator nor validator set, so all pushes of one assignment agree,
// across an overlap of two sets as well (CIP-11 §10.1).
func (a *Assignment) Hash() Hash {
	p := newPreimage(domainJobAssignment, RoleValidator).uint64(a.ChainID).hash(a.JobID).hash(a.JobSpecHash)
	return p.uint64(uint64(a.Height)).uint64(uint64(a.DeadlineBlock)).runner(a.Runner).digest()
}

// Dispatch names one assignment on one connection.
type Dispatch struct {
	ChainID        uint64
	JobID          Hash
	AssignmentHash Hash
	Runner         RunnerKey
	Validator      PeerKey
}

func (d *Dispatch) preimage(domain string, signer Role) preimage {
	p := newPreimage(domain, signer).uint64(d.ChainID).hash(d.JobID).hash(d.AssignmentHash)
	return p.runner(d.Runner).validator(d.Validator)
}

// AckDigest returns what a runner signs in a JobAck. why counts only for
// AckReject; an absent reason is the empty text (CIP-11 §10.2, §12.6).
func (d *Dispatch) AckDigest(status AckStatus, why RejectReason, reason string) Hash {
	p := d.preimage(domainJobAck, RoleRunner).byte(byte(status))
	if status == AckReject {
		p = p.byte(byte(why))
	}
	return p.text(reason).digest()
}

// CancelDigest returns what a validator signs in a JobCancel (CIP-11 §10.5).
func (d *Dispatch) CancelDigest(reason CancelReason) Hash {
	return d.preimage(domainJobCancel, RoleValidator).byte(byte(reason)).digest()
}

// GoodbyeDigest returns what either side signs in a Goodbye after mutual
// authentication. An absent retryAfterBlocks is 0 and an absent detail the
// empty text (CIP-11 §12.5, §12.6).
func GoodbyeDigest(signer Role, connection Hash, reason GoodbyeReason, retryAfterBlocks uint64, detail string) Hash {
	p := newPreimage(domainGoodbye, signer).hash(connection).byte(byte(reason))
	return p.uint64(retryAfterBlocks).text(detail).digest()
}

// ResultDigest returns what a runner signs over its result (resolution 11.1).
func ResultDigest(chainID uint64, job Hash, result []byte) Hash {
	return keccak.Sum256([]byte(domainResult), binary.BigEndian.AppendUint64(nil, chainID), job[:], result)
}

// ResultCommitment returns what a runner commits to before anybody reveals. Its
// 65-byte signature is the salt: it hides a guessable result and binds the
// runner, so a copied commitment is worthless (resolution 11.1).
func ResultCommitment(result []byte, signature [65]byte) Hash {
	return keccak.Sum256(result, signature[:])
}
