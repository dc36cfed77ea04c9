//spec:implements CIP-11 12.6
//spec:implements restored 12

package chain

import (
	"crypto/sha256"
	"encoding/binary"

	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// JobSpec is JobSpecV1 (CIP-11 §12.6): a map with the numbers of its fields as keys. In
// the transaction that submits a job, JobID is zero, SubmittedAt is zero and Submitter is
// the sender or zero; the chain fills them in before it hashes.
type JobSpec struct {
	JobID              Hash
	JobType            JobType
	Bounds             ResourceBounds
	Verification       Verification
	MaxPrice           Wei // for the whole job (resolution 12.12)
	Tip                Wei
	TimeoutBlocks      uint64
	Callback           Callback
	Submitter          Address
	SubmittedAt        Height
	RequiredRunnerPool []byte             `cbor:"limit=MaxPoolBytes,null"`
	Attachments        []VolumeAttachment `cbor:"limit=0,null"`
}

// ResourceBounds is what a runner may use for a job at most.
type ResourceBounds struct {
	MaxInputTokens     uint32
	MaxOutputTokens    uint32
	MaxWallTimeSeconds uint32
	MaxMemoryMB        uint32
	MaxRetries         uint32
}

// VerificationMode is how results become a verdict (CIP-2 §9, CIP-11 §12.6).
type VerificationMode uint8

const (
	VerifyNone           VerificationMode = 0
	VerifyEconomicBond   VerificationMode = 1
	VerifyMajorityVote   VerificationMode = 2
	VerifyStructured     VerificationMode = 3
	VerifyDeterministic  VerificationMode = 4
	VerifySimilarity     VerificationMode = 5
	lastVerificationMode                  = VerifySimilarity
)

// Verification is VerificationConfigV1: how many runners work, and when they agree.
type Verification struct {
	Mode                VerificationMode `cbor:"most=uint64(lastVerificationMode)"`
	Runners             uint8
	Threshold           uint8
	Checks              []VerifierCheck `cbor:"limit=MaxJobChecks"`
	TEERequired         bool
	DisputeWindowBlocks uint64  // 0: the parameter's (resolution 6.6)
	RequiredTEEType     *string `cbor:"limit=MaxGenesisName"`
}

// Callback is CallbackInfoV1: who is told the verdict.
type Callback struct {
	Actor         Address
	Handler       string `cbor:"limit=MaxHandlerName"`
	Payload       []byte `cbor:"limit=MaxJobBytes,null"`
	CorrelationID string `cbor:"limit=MaxCorrelationID"`
	Context       []byte `cbor:"limit=MaxContextBytes"`
}

// VolumeAttachment is a volume of CIP-9, whose schema no public text has: a job has none,
// as null or as the empty list.
type VolumeAttachment struct{}

// Encode returns canonical_job_spec (CIP-11 §12.6).
func (s *JobSpec) Encode() []byte { return s.appendTo(nil) }

// SpecHash returns job_spec_hash: keccak256 of the encoding (restored definitions §4).
func (s *JobSpec) SpecHash() Hash { return keccak.Sum256(s.appendTo(nil)) }

// DecodeJobSpec reads what Encode writes and nothing else. Whether the job may be
// submitted is for execution to say.
func DecodeJobSpec(b []byte) (*JobSpec, error) {
	return decodeObject[JobSpec](b, MaxJobBytes, "JobSpec")
}

// JobID returns the id of a job that a transaction submits in the block at height
// submitted (resolution 5.18).
func JobID(tx Hash, submitted Height) Hash {
	return sha256.Sum256(binary.BigEndian.AppendUint64(tx[:], uint64(submitted)))
}

// ActorJobID returns the id of a job that an actor submits, its number counted by the
// actor's jobs (resolutions 5.18, 11.36).
func ActorJobID(actor Address, number uint64, submitted Height) Hash {
	b := binary.BigEndian.AppendUint64(actor[:], number)
	return keccak.Sum256(binary.BigEndian.AppendUint64(b, uint64(submitted)))
}
