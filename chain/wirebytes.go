package chain

// Bytes that signatures and state keys of CIP-11 commit to. A number keeps its
// meaning for ever and new ones are appended; the order of declarations in any
// implementation means nothing (CIP-11 §9.4, §12.6).

// Role is a side of the runner link.
type Role uint8

const (
	RoleRunner    Role = 0x01
	RoleValidator Role = 0x02
)

// Scheme tags a public key on the wire and thereby the signatures it makes.
type Scheme uint8

const (
	SchemeSecp256k1 Scheme = 0x01 // runners: 33-byte compressed keys, 65-byte recoverable signatures
	SchemeEd25519   Scheme = 0x02 // validators: 32-byte keys, 64-byte signatures
)

// Scheme returns the scheme that a role signs with. There is no choice.
func (r Role) Scheme() Scheme {
	if r == RoleRunner {
		return SchemeSecp256k1
	}
	return SchemeEd25519
}

// JobKind is what a job asks for (CIP-11 §9.4).
type JobKind uint8

const (
	JobLLM              JobKind = 0x00
	JobHTTP             JobKind = 0x01
	JobMCP              JobKind = 0x02
	JobCustom           JobKind = 0x03
	JobPublishChainRoot JobKind = 0x04
	JobAgent            JobKind = 0x05
)

// AckStatus is a runner's answer to an assignment.
type AckStatus uint8

const (
	AckAccepted  AckStatus = 0x00
	AckDuplicate AckStatus = 0x01
	AckReject    AckStatus = 0x02
)

// RejectReason says why a runner rejects an assignment.
type RejectReason uint8

const (
	RejectUnverifiableAssignment RejectReason = 0x00
	RejectAtCapacity             RejectReason = 0x01
	RejectMissingCapability      RejectReason = 0x02
	RejectMissingEntitlement     RejectReason = 0x03
	RejectShuttingDown           RejectReason = 0x04
	RejectOther                  RejectReason = 0xff
)

// CancelReason says why a validator cancels an assignment.
type CancelReason uint8

const (
	CancelReassigned CancelReason = 0x00
	CancelExpired    CancelReason = 0x01
	CancelFailed     CancelReason = 0x02
)

// GoodbyeReason says why a side of the runner link ends it.
type GoodbyeReason uint8

const (
	GoodbyeShutdown                 GoodbyeReason = 0x00
	GoodbyeUnsupportedVersion       GoodbyeReason = 0x01
	GoodbyeProtocolError            GoodbyeReason = 0x02
	GoodbyeChainIDMismatch          GoodbyeReason = 0x03
	GoodbyeValidatorSetHashMismatch GoodbyeReason = 0x04
	GoodbyeNotInSubset              GoodbyeReason = 0x05
	GoodbyeAuthenticationFailed     GoodbyeReason = 0x06
	GoodbyeRunnerNotRegistered      GoodbyeReason = 0x07
	GoodbyeOverloaded               GoodbyeReason = 0x08
	GoodbyeOverlapExpired           GoodbyeReason = 0x09
	GoodbyeIdleTimeout              GoodbyeReason = 0x0a
)

// RunnerKey is a runner's compressed secp256k1 key, raw: without the tag that
// keys carry on the wire (CIP-11 §12.6).
type RunnerKey [33]byte

// AppendWire appends the key as it stands in frames and preimages: the scheme
// byte, then the key.
func (k RunnerKey) AppendWire(dst []byte) []byte {
	return append(append(dst, byte(SchemeSecp256k1)), k[:]...)
}

// AppendWire appends the key as it stands in frames and preimages: the scheme
// byte, then the key.
func (k PeerKey) AppendWire(dst []byte) []byte {
	return append(append(dst, byte(SchemeEd25519)), k[:]...)
}
