package chain

import (
	"errors"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// Reasons for which an instruction to the market contradicts itself.
var (
	// ErrEndpoint means an endpoint that is no address of HTTPS.
	ErrEndpoint = errors.New("endpoint is neither empty nor begins with https://")
	// ErrNoReveals means a submission of results without one.
	ErrNoReveals = errors.New("no results")
)

// MaxReveals bounds the results of one submission: a job has no more runners.
const MaxReveals = 255

// endpointScheme begins every endpoint of a runner that has one (resolution 11.29).
const endpointScheme = "https://"

// Request is what an instruction of the market asks for: the arguments of its row in
// [InstructionTable], in their order.
type Request interface {
	Opcode() uint64
	appendTo(dst []byte) []byte
	readFrom(r *cbor.Reader) error
}

// EncodeRequest returns the payload of a transaction: [opcode, arguments…].
func EncodeRequest(q Request) []byte { return q.appendTo(nil) }

// ReadRequest reads the arguments that follow an opcode. Byte strings alias what r reads.
// The error is a [*FieldError].
func ReadRequest(r *cbor.Reader, into Request) error { return into.readFrom(r) }

// RunnerRegister makes the sender a runner, whose stake is the value.
type RunnerRegister struct {
	MaxJobValue  Wei
	RateCard     RateCard
	Capabilities Capabilities
	Attestation  *RunnerAttestation
	Endpoint     string `cbor:"limit=MaxEndpointBytes"`
}

func (x *RunnerRegister) check() error { return checkEndpoint("RunnerRegister", &x.Endpoint) }

// RunnerHeartbeat says that the sender is there.
type RunnerHeartbeat struct{}

// RunnerUpdate changes what is not nil, and adds the value to the stake.
type RunnerUpdate struct {
	MaxJobValue  *Wei
	RateCard     *RateCard
	Capabilities *Capabilities
	Attestation  *RunnerAttestation
	Endpoint     *string `cbor:"limit=MaxEndpointBytes"`
}

func (x *RunnerUpdate) check() error { return checkEndpoint("RunnerUpdate", x.Endpoint) }

func checkEndpoint(object string, endpoint *string) error {
	if endpoint != nil && *endpoint != "" && !strings.HasPrefix(*endpoint, endpointScheme) {
		return &FieldError{object, "endpoint", ErrEndpoint}
	}
	return nil
}

// RunnerDeregister ends the sender's work; its stake unbonds.
type RunnerDeregister struct{}

// RunnerUnstake lets a part of the stake unbond.
type RunnerUnstake struct {
	Amount Wei `cbor:"least=1"`
}

// RunnerWithdraw pays out what has unbonded.
type RunnerWithdraw struct{}

// RunnerPause takes the sender out of selections, or back in.
type RunnerPause struct {
	Paused bool
}

// RunnerAttest replaces the sender's attestation.
type RunnerAttest struct {
	Attestation RunnerAttestation
}

// RunnerReturn brings back a runner whose reputation fell below the minimum (resolution
// 12.5).
type RunnerReturn struct{}

// JobSubmit asks for work; the value is its escrow. Both maps together have at most
// MaxJobBytes.
type JobSubmit struct {
	Spec  JobSpec
	Terms JobTerms
}

// JobCancel takes a job back while no runner is assigned.
type JobCancel struct {
	JobID Hash
}

// ResultCommit binds the sender to a result: [ResultCommitment] of it.
type ResultCommit struct {
	JobID      Hash
	Commitment Hash
}

// ResultReveal shows the sender's result: Result is the encoding of a [RunnerResult],
// RunnerSig its signature of [ResultDigest].
type ResultReveal struct {
	JobID     Hash
	Result    []byte `cbor:"limit=MaxResultBytes"`
	RunnerSig [65]byte
}

// ResultSubmit shows results of several runners, as their aggregator has them.
type ResultSubmit struct {
	JobID   Hash
	Reveals []Reveal `cbor:"limit=MaxReveals"`
}

// Reveal is one of them, an array.
type Reveal struct {
	Runner    Address
	Result    []byte `cbor:"limit=MaxResultBytes"`
	RunnerSig [65]byte
}

func (x *ResultSubmit) check() error {
	if len(x.Reveals) == 0 {
		return &FieldError{"ResultSubmit", "reveals", ErrNoReveals}
	}
	return nil
}
