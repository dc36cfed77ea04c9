//spec:implements CIP-11 12.6
//spec:implements resolutions 11

package chain

import "github.com/cowboy-foundation/cowboy/chain/cbor"

// CheckKind tells the checks of a verification apart (CIP-11 §12.6).
type CheckKind uint8

// VerifierCheck is VerifierCheckV1: what results must hold, or agree in. Texts stand as
// they were given; whether they parse is for execution to say.
type VerifierCheck interface {
	Kind() CheckKind
	appendTo(dst []byte) []byte
	readKeys(r *cbor.Reader, m cbor.IntMap) error
}

// MajorityCheck wants most results to agree in a field.
type MajorityCheck struct {
	Field string `cbor:"limit=MaxPathBytes"`
}

// SchemaCheck wants a result that a JSON Schema holds for.
type SchemaCheck struct {
	Schema string `cbor:"limit=MaxSchemaBytes"`
}

// FieldsCheck wants results to agree in fields.
type FieldsCheck struct {
	Fields []string `cbor:"limit=MaxCheckFields,item=MaxPathBytes"`
}

// ToleranceCheck wants numbers that differ by no more than a tolerance.
type ToleranceCheck struct {
	Field     string `cbor:"limit=MaxPathBytes"`
	Tolerance float64
}

// RangeCheck wants a number within bounds, both included.
type RangeCheck struct {
	Field string `cbor:"limit=MaxPathBytes"`
	Min   float64
	Max   float64
}

// CustomCheck asks an actor.
type CustomCheck struct {
	Actor  string `cbor:"limit=MaxJobName"` // in hexadecimal digits
	Method string `cbor:"limit=MaxHandlerName"`
}

// TXTCheck wants a TXT record of a domain, found by several resolvers.
type TXTCheck struct {
	FQDN          string `cbor:"limit=MaxJobName"`
	ExpectedValue string `cbor:"limit=MaxHeaderValue"`
	MinResolvers  uint32
}

// CNAMECheck wants a CNAME record of a domain, found by several resolvers.
type CNAMECheck struct {
	FQDN           string `cbor:"limit=MaxJobName"`
	ExpectedTarget string `cbor:"limit=MaxJobName"`
	MinResolvers   uint32
}

// NamedKind tells the checks of a job's terms apart.
type NamedKind uint8

// NamedCheck is a verifier function of the whitepaper that CIP-11 has no number for
// (resolution 11.6).
type NamedCheck interface {
	Kind() NamedKind
	appendTo(dst []byte) []byte
	readKeys(r *cbor.Reader, m cbor.IntMap) error
}

// ExactMatchCheck wants the same bytes.
type ExactMatchCheck struct{}

// SupermajorityCheck wants a share of the results, in millionths, to agree in a field.
type SupermajorityCheck struct {
	Field       string `cbor:"limit=MaxPathBytes"`
	ThresholdE6 uint32 `cbor:"most=1_000_000"`
}

// SetCheck wants the same items in a list, in any order.
type SetCheck struct {
	Field string `cbor:"limit=MaxPathBytes"`
}

// ContainsAllCheck wants all of some texts in the output.
type ContainsAllCheck struct {
	Substrings []string `cbor:"limit=MaxCheckFields,item=MaxPathBytes"`
}

// ContainsNoneCheck wants none of some texts in the output.
type ContainsNoneCheck struct {
	Substrings []string `cbor:"limit=MaxCheckFields,item=MaxPathBytes"`
}

// RegexCheck wants the whole output to match a pattern (resolution 12.40).
type RegexCheck struct {
	Pattern string `cbor:"limit=MaxPathBytes"`
}

// LengthCheck wants so many bytes of output, both bounds included.
type LengthCheck struct {
	Min uint64
	Max uint64
}

// SimilarityCheck wants embeddings whose cosine is at least a threshold, in millionths.
type SimilarityCheck struct {
	ThresholdE6 uint32 `cbor:"most=1_000_000"`
}

// PromptLeakCheck wants no system prompt in the output (resolution 12.45).
type PromptLeakCheck struct{}

// EntropyCheck wants so many thousandths of a bit in each byte (resolution 12.44).
type EntropyCheck struct {
	MinMillibits uint64
}

// ObjectiveKind tells the objective checks apart.
type ObjectiveKind uint8

// ObjectiveCheck is a check that costs a runner stake when its result breaks it (resolution
// 12.44).
type ObjectiveCheck interface {
	Kind() ObjectiveKind
	appendTo(dst []byte) []byte
	readKeys(r *cbor.Reader, m cbor.IntMap) error
}

// SchemaObjective holds results to the schema of the terms.
type SchemaObjective struct{}

// MinLengthObjective wants so many bytes.
type MinLengthObjective struct {
	Bytes uint64
}

// EntropyObjective wants so many thousandths of a bit in each byte.
type EntropyObjective struct {
	MinMillibits uint64
}

// PromptLeakObjective wants no system prompt in the output.
type PromptLeakObjective struct{}

// ModelObjective wants the model or the enclave that the runner has registered.
type ModelObjective struct{}
