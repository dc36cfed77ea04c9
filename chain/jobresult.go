package chain

import "errors"

// RunnerResultVersion is the version that stands in [RunnerResult].
const RunnerResultVersion = 1

// Bounds of a result.
const (
	MaxResultBytes    = 100 << 10 // whole
	MaxTEEBytes       = 16 << 10  // evidence or signature of an enclave
	MaxEmbeddingBytes = 2 * 4_096 // big-endian int16 (resolution 12.39)
	MaxSourceHeaders  = 16
	MaxDetailBytes    = 1_024 // text about a failure
)

// Reasons for which a result contradicts itself.
var (
	// ErrOutcomeDetail means a detail of an outcome that is ok, or none of one that
	// is not.
	ErrOutcomeDetail = errors.New("a result has a detail if and only if its outcome is a failure")
	// ErrDetail means more done than there was to do, or nothing to do.
	ErrDetail = errors.New("done is above total, or total is zero")
	// ErrEmbedding means half a number.
	ErrEmbedding = errors.New("embedding is not a list of 16-bit numbers")
)

// Outcome is how a runner's work ended (whitepaper, "Payment by outcome"; resolution
// 12.52).
type Outcome uint8

const (
	OutcomeOK            Outcome = 0
	OutcomeImpossible    Outcome = 1 // the job cannot be done as it is
	OutcomeActorFault    Outcome = 2 // the submitter's mistake
	OutcomeExternalFault Outcome = 3 // of a third party
)

// RunnerResult is RunnerResultV1: result_bytes of a runner (resolution 12.31).
type RunnerResult struct {
	Version         uint8 `cbor:"least=RunnerResultVersion,most=RunnerResultVersion"`
	Attempt         uint8
	Outcome         Outcome `cbor:"most=uint64(OutcomeExternalFault)"`
	Data            []byte  `cbor:"limit=MaxReturnBytes"`
	Usage           RunnerUsage
	TimestampMillis uint64
	TEE             []byte `cbor:"limit=MaxTEEBytes,null"`
	Source          *ResultSource
	Embedding       []byte `cbor:"limit=MaxEmbeddingBytes,null"` // big-endian int16
	Detail          *ResultDetail
}

// RunnerUsage is what a runner says that it used. None is above the job's bounds
// (resolution 12.33).
type RunnerUsage struct {
	InputTokens  uint32
	OutputTokens uint32
	WallMillis   uint32
	MemoryMB     uint32
	Requests     uint32
}

// ResultSource is where data came from. Zeros stand for what there was none of.
type ResultSource struct {
	URL                 string `cbor:"limit=MaxURLBytes"`
	Status              uint16
	ResponseHash        Hash
	TLSFingerprint      Hash
	Headers             TextMap `cbor:"limit=MaxSourceHeaders"`
	DataTimestampMillis uint64
}

// ResultDetail says how far a runner came. It is an array.
type ResultDetail struct {
	Done  uint32
	Total uint32
	Text  string `cbor:"limit=MaxDetailBytes"`
}

func (d *ResultDetail) check() error {
	if d.Total == 0 || d.Done > d.Total {
		return &FieldError{"ResultDetail", "total", ErrDetail}
	}
	return nil
}

func (x *RunnerResult) check() error {
	if (x.Outcome == OutcomeOK) != (x.Detail == nil) {
		return &FieldError{"RunnerResult", "detail", ErrOutcomeDetail}
	}
	if len(x.Embedding)%2 != 0 {
		return &FieldError{"RunnerResult", "embedding", ErrEmbedding}
	}
	return nil
}

// Encode returns result_bytes.
func (x *RunnerResult) Encode() []byte { return x.appendTo(nil) }

// DecodeRunnerResult reads what Encode writes and nothing else. Byte strings alias b.
func DecodeRunnerResult(b []byte) (*RunnerResult, error) {
	return decodeObject[RunnerResult](b, MaxResultBytes, "RunnerResult")
}
