//spec:implements CIP-11 6.2
//spec:implements CIP-11 6.3
//spec:implements CIP-11 6.4
//spec:implements CIP-11 6.5
//spec:implements CIP-11 12.5

package wire

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// Bytes of signatures by scheme (CIP-11 §12.6).
const (
	RunnerSignatureBytes    = 65 // r ‖ s ‖ v
	ValidatorSignatureBytes = 64
)

// Bounds of texts and lists in control frames.
const (
	MaxReasonBytes     = 1024
	MaxCapabilities    = 64
	MaxCapabilityBytes = 64
)

// Party is who speaks: its role, and the key that the role has.
type Party struct {
	Role      chain.Role
	Runner    chain.RunnerKey // of a runner
	Validator chain.PeerKey   // of a validator
}

// RunnerParty is the party of a runner's key.
func RunnerParty(k chain.RunnerKey) Party { return Party{Role: chain.RoleRunner, Runner: k} }

// ValidatorParty is the party of a validator's key.
func ValidatorParty(k chain.PeerKey) Party { return Party{Role: chain.RoleValidator, Validator: k} }

func (p *Party) role(b *body) {
	one(b, "party_role", &p.Role, func(r chain.Role) bool { return r == chain.RoleRunner || r == chain.RoleValidator })
}

// pubkey walks the key of the role, which was walked before it.
func (p *Party) pubkey(b *body) {
	if p.Role == chain.RoleRunner {
		b.runnerKey("party_pubkey", &p.Runner)
		return
	}
	b.validatorKey("party_pubkey", &p.Validator)
}

// signatureBytes is the length of what a role signs with.
func signatureBytes(r chain.Role) int {
	if r == chain.RoleRunner {
		return RunnerSignatureBytes
	}
	return ValidatorSignatureBytes
}

// Hello opens a connection from either side (CIP-11 §6.2). It is not signed.
type Hello struct {
	Version          uint16
	ChainID          uint64
	Party            Party
	SubsetEpoch      chain.Epoch
	ValidatorSetHash chain.Hash
	BlockHeight      chain.Height // is shown, and judged by nobody
	Challenge        [32]byte     // random; the other side signs it
}

// Type implements [Frame].
func (*Hello) Type() FrameType { return TypeHello }

func (f *Hello) fields(b *body) {
	number(b, "version", &f.Version)
	number(b, "chain_id", &f.ChainID)
	f.Party.role(b)
	number(b, "block_height", &f.BlockHeight)
	f.Party.pubkey(b)
	number(b, "subset_epoch", &f.SubsetEpoch)
	b.hash32("challenge_nonce", &f.Challenge)
	b.hash32("validator_set_hash", (*[32]byte)(&f.ValidatorSetHash))
}

// HelloAck answers the challenge of the other side's Hello (CIP-11 §6.2). Signature is of
// [Session.HelloAckDigest], 65 bytes of a runner's, 64 of a validator's.
type HelloAck struct {
	Version     uint16
	Party       Party
	BlockHeight chain.Height // is shown, and judged by nobody
	Signature   []byte
}

// Type implements [Frame].
func (*HelloAck) Type() FrameType { return TypeHelloAck }

func (f *HelloAck) fields(b *body) {
	number(b, "version", &f.Version)
	f.Party.role(b)
	number(b, "block_height", &f.BlockHeight)
	f.Party.pubkey(b)
	b.byteString("signed_challenge", &f.Signature, RunnerSignatureBytes)
	if b.reading && b.err == nil && len(f.Signature) != signatureBytes(f.Party.Role) {
		b.err = fmt.Errorf("signature of %d bytes: %w", len(f.Signature), ErrFrameValue)
	}
}

// Ping tells a validator that the runner is there (CIP-11 §6.3). Signature is of
// [HeartbeatPingDigest].
type Ping struct {
	BlockHeight chain.Height // is shown, and judged by nobody
	Nonce       uint64       // grows on a connection; the first may be 0
	Signature   [RunnerSignatureBytes]byte
}

// Type implements [Frame].
func (*Ping) Type() FrameType { return TypePing }

func (f *Ping) fields(b *body) {
	number(b, "nonce", &f.Nonce)
	b.signature("signed", f.Signature[:])
	number(b, "block_height", &f.BlockHeight)
}

// Pong answers a Ping (CIP-11 §6.3). Signature is of [HeartbeatPongDigest].
type Pong struct {
	BlockHeight  chain.Height // finalized, of the validator
	NonceEcho    uint64
	AcceptingNew bool // whether the validator counts the runner as one that takes work
	Signature    [ValidatorSignatureBytes]byte
}

// Type implements [Frame].
func (*Pong) Type() FrameType { return TypePong }

func (f *Pong) fields(b *body) {
	number(b, "nonce_echo", &f.NonceEcho)
	number(b, "block_height", &f.BlockHeight)
	b.bool("accepting_new", &f.AcceptingNew)
	b.signature("validator_signed", f.Signature[:])
}

// Backpressure says what work a runner has, and whether it takes more (CIP-11 §6.4).
// Signature is of [Backpressure.SignedHash].
type Backpressure struct {
	ActiveJobs    uint32
	MaxConcurrent uint32
	AcceptingNew  bool
	Reason        *string
	Signature     [RunnerSignatureBytes]byte
}

// Type implements [Frame].
func (*Backpressure) Type() FrameType { return TypeBackpressure }

func (f *Backpressure) fields(b *body) {
	b.maybeText("reason", &f.Reason, MaxReasonBytes)
	b.signature(signedField, f.Signature[:])
	number(b, "active_jobs", &f.ActiveJobs)
	b.bool("accepting_new", &f.AcceptingNew)
	number(b, "max_concurrent", &f.MaxConcurrent)
}

// SignedHash returns what the runner signs on a connection.
func (f *Backpressure) SignedHash(connection chain.Hash) chain.Hash {
	return ControlDigest(connection, uint8(f.Type()), unsigned(f))
}

// CapabilityDelta tells a validator what a runner can do besides what it has registered, or
// no longer (CIP-11 §6.5); the chain does not hear of it. Signature is of
// [CapabilityDelta.SignedHash].
type CapabilityDelta struct {
	BlockHeight         chain.Height
	AddedCapabilities   []string
	RemovedCapabilities []string
	AddedEntitlements   []chain.Hash
	RemovedEntitlements []chain.Hash
	Signature           [RunnerSignatureBytes]byte
}

// Type implements [Frame].
func (*CapabilityDelta) Type() FrameType { return TypeCapabilityDelta }

func (f *CapabilityDelta) fields(b *body) {
	b.signature(signedField, f.Signature[:])
	number(b, "block_height", &f.BlockHeight)
	b.texts("added_capabilities", &f.AddedCapabilities, MaxCapabilities, MaxCapabilityBytes)
	b.hashes("added_entitlements", &f.AddedEntitlements, MaxCapabilities)
	b.texts("removed_capabilities", &f.RemovedCapabilities, MaxCapabilities, MaxCapabilityBytes)
	b.hashes("removed_entitlements", &f.RemovedEntitlements, MaxCapabilities)
}

// SignedHash returns what the runner signs on a connection.
func (f *CapabilityDelta) SignedHash(connection chain.Hash) chain.Hash {
	return ControlDigest(connection, uint8(f.Type()), unsigned(f))
}

// signedField is the field of a runner's signature, which is no part of what it signs.
const signedField = "signed"

// unsigned returns the canonical body of a frame without the field of its signature, which
// is left out, not zero (CIP-11 §12.6).
func unsigned(f Frame) []byte { return appendBody(nil, f, signedField) }

// Goodbye ends a connection from either side (CIP-11 §12.5). Once both sides are proven, it
// is signed: Signature is of [GoodbyeDigest], of the length of its signer's scheme; nil
// before that.
type Goodbye struct {
	Reason           GoodbyeReason
	Detail           *string
	RetryAfterBlocks *uint64
	Signature        []byte
}

// Type implements [Frame].
func (*Goodbye) Type() FrameType { return TypeGoodbye }

func (f *Goodbye) fields(b *body) {
	b.maybeText("detail", &f.Detail, MaxReasonBytes)
	one(b, "reason", &f.Reason, GoodbyeReason.Known)
	f.maybeSignature(b)
	b.maybeUint64("retry_after_blocks", &f.RetryAfterBlocks)
}

func (f *Goodbye) maybeSignature(b *body) {
	switch {
	case !b.opens(signedField):
	case !b.reading && f.Signature == nil:
		b.out = cbor.AppendNull(b.out)
	case !b.reading:
		b.out = cbor.AppendBytes(b.out, f.Signature)
	case b.in.Null():
		f.Signature = nil
	default:
		f.Signature, b.err = b.in.Bytes(RunnerSignatureBytes)
		if n := len(f.Signature); b.err == nil && n != RunnerSignatureBytes && n != ValidatorSignatureBytes {
			b.err = fmt.Errorf("signature of %d bytes: %w", n, ErrFrameValue)
		}
	}
}

// SignedHash returns what the signer signs on a connection.
func (f *Goodbye) SignedHash(signer chain.Role, connection chain.Hash) chain.Hash {
	var retry uint64
	var detail string
	if f.RetryAfterBlocks != nil {
		retry = *f.RetryAfterBlocks
	}
	if f.Detail != nil {
		detail = *f.Detail
	}
	return GoodbyeDigest(signer, connection, f.Reason, retry, detail)
}
