//spec:implements resolutions 11

package chain

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// JobTermsVersion is the version that stands in [JobTerms].
const JobTermsVersion = 1

// Bounds of a job's terms.
const (
	MaxReturnBytes     = 64 << 10 // of a result's data (resolution 12.32)
	MaxSelectors       = 32
	MaxObjectiveChecks = 8
	MaxNamedChecks     = 16
	MaxSecretName      = 128 // bytes
	MaxInferenceBytes  = 4 << 10
	MinJudgeSteps      = 1_000
	MaxJudgeSteps      = 2_000_000
)

// ErrDataFormat means a format of data other than text, json and bytes.
var ErrDataFormat = errors.New("data format is not text, json or bytes")

// JobTerms is JobTermsV1: what a job's submitter asks beyond [JobSpec] (resolution 11.5).
// All keys stand in it.
type JobTerms struct {
	Version            uint8 `cbor:"least=JobTermsVersion,most=JobTermsVersion"`
	ResultSchema       ResultSchema
	ToolchainDigest    Hash // zero: any (resolution 12.23)
	Seed               uint64
	Snapshot           *Snapshot
	FreshnessReference *FreshnessReference
	Extraction         *Extraction
	BondMultiplierE6   *uint64
	ObjectiveChecks    []ObjectiveCheck `cbor:"limit=MaxObjectiveChecks"`
	NamedChecks        []NamedCheck     `cbor:"limit=MaxNamedChecks"`
	Similarity         *Similarity
	SecretRef          *string   `cbor:"limit=MaxSecretName"`
	InferenceConfig    JSONValue `cbor:"limit=MaxInferenceBytes,null"` // an object
	CallbackCycles     Cycles
	VerifierCycles     Cycles
	JudgeSteps         uint64  `cbor:"least=MinJudgeSteps,most=MaxJudgeSteps"`
	VoteField          *string `cbor:"limit=MaxPathBytes"`
}

// ResultSchema is what a result must look like (CIP-2 §1).
type ResultSchema struct {
	MaxReturnBytes          uint32     `cbor:"least=1,most=MaxReturnBytes"`
	ExpectedExecutionMillis uint64     `cbor:"least=1"`
	DataFormat              DataFormat `cbor:"limit=8"`
	Schema                  *string    `cbor:"limit=MaxSchemaBytes"` // JSON Schema
}

// DataFormat is how the data of a result is read.
type DataFormat string

// The formats.
const (
	FormatText  DataFormat = "text"
	FormatJSON  DataFormat = "json"
	FormatBytes DataFormat = "bytes"
)

func (s *ResultSchema) check() error {
	switch s.DataFormat {
	case FormatText, FormatJSON, FormatBytes:
		return nil
	}
	return &FieldError{"ResultSchema", "data_format", ErrDataFormat}
}

// SnapshotMode is which of several answers is the result (whitepaper, "External Data and
// Oracle Semantics"; resolutions 12.37, 12.38).
type SnapshotMode uint8

const (
	SnapshotFirstValid SnapshotMode = 0
	SnapshotMedian     SnapshotMode = 1
	SnapshotMajority   SnapshotMode = 2
	SnapshotLatest     SnapshotMode = 3
)

// Snapshot chooses a result, and flags those that lie too far from it.
type Snapshot struct {
	Mode      SnapshotMode `cbor:"most=uint64(SnapshotLatest)"`
	OutlierE6 uint64       // most distance from the median, in millionths of it
}

// FreshnessOf is the moment that data must be close to (resolution 12.46).
type FreshnessOf uint8

const (
	FreshAtBlock      FreshnessOf = 0
	FreshAtSubmission FreshnessOf = 1
	FreshAtTime       FreshnessOf = 2
)

// FreshnessReference says how old data may be.
type FreshnessReference struct {
	Reference       FreshnessOf `cbor:"most=uint64(FreshAtTime)"`
	TimestampMillis uint64      // for FreshAtTime
	ToleranceMillis uint64
}

// ExtractionMethod is the language of selectors.
type ExtractionMethod uint8

const (
	ExtractCSS      ExtractionMethod = 0
	ExtractXPath    ExtractionMethod = 1
	ExtractRegex    ExtractionMethod = 2
	ExtractJSONPath ExtractionMethod = 3
)

// Extraction says which parts of what was fetched are the data.
type Extraction struct {
	Method    ExtractionMethod `cbor:"most=uint64(ExtractJSONPath)"`
	Selectors TextMap          `cbor:"limit=MaxSelectors"`
	Schema    *string          `cbor:"limit=MaxSchemaBytes"`
}

// Similarity says when two embeddings are alike (resolution 12.39).
type Similarity struct {
	ThresholdE6    uint32 `cbor:"most=1_000_000"`
	EmbeddingModel Hash
}

func (t *JobTerms) check() error {
	if t.InferenceConfig != nil && !t.InferenceConfig.IsObject() {
		return &FieldError{"JobTerms", "inference_config", ErrNoObject}
	}
	return nil
}

// Encode returns the canonical encoding.
func (t *JobTerms) Encode() []byte { return t.appendTo(nil) }

// TermsHash returns terms_hash: keccak256 of the encoding.
func (t *JobTerms) TermsHash() Hash { return keccak.Sum256(t.appendTo(nil)) }

// DecodeJobTerms reads what Encode writes and nothing else.
func DecodeJobTerms(b []byte) (*JobTerms, error) {
	return decodeObject[JobTerms](b, MaxJobBytes, "JobTerms")
}
