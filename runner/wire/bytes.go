//spec:implements CIP-11 12.6
//spec:implements restored 13

package wire

// Bytes that signatures on the runner link commit to. A number keeps its
// meaning for ever and new ones are appended; the order of declarations in any
// implementation means nothing (CIP-11 §12.6).

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

// Known reports whether the table has the byte.
func (r RejectReason) Known() bool { return r <= RejectShuttingDown || r == RejectOther }

// CancelReason says why a validator cancels an assignment.
type CancelReason uint8

const (
	CancelReassigned CancelReason = 0x00
	CancelExpired    CancelReason = 0x01
	CancelFailed     CancelReason = 0x02
)

// Known reports whether the table has the byte.
func (r CancelReason) Known() bool { return r <= CancelFailed }

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

// Known reports whether the table has the byte.
func (r GoodbyeReason) Known() bool { return r <= GoodbyeIdleTimeout }
