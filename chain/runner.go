//spec:implements CIP-11 12.6
//spec:implements restored 13

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
