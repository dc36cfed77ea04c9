//spec:implements CIP-11 12.6

package chain

import "github.com/cowboy-foundation/cowboy/chain/cbor"

// Bounds of what a job says. A text or a byte string without one of its own is bounded by
// the transaction that brings it.
const (
	MaxURLBytes       = 2_048
	MaxMethodBytes    = 16
	MaxHeaders        = 64
	MaxHeaderName     = 256   // bytes
	MaxHeaderValue    = 4_096 // bytes
	MaxSchemaBytes    = 16 << 10
	MaxPathBytes      = 1_024 // of a JSONPath, a selector or a pattern
	MaxJobName        = 256   // bytes of a server, tool, model or session
	MaxParamsBytes    = 64 << 10
	MaxCorrelationID  = 128 // bytes
	MaxContextBytes   = 16 << 10
	MaxPoolBytes      = 64
	MaxJobChecks      = 16
	MaxCheckBytes     = 16 << 10  // of the encoding of one
	MaxCheckFields    = 64        // that one check compares, or texts that it looks for
	MaxJobBytes       = 120 << 10 // of a specification and its terms together
	maxFileSystemPath = 1_024
)

// JobType is what a job asks for: a map whose key 0 is the kind (CIP-11 §12.6
// JobTypeV1).
type JobType interface {
	Kind() JobKind
	appendTo(dst []byte) []byte
	readKeys(r *cbor.Reader, m cbor.IntMap) error
}

// LLMJob asks a language model.
type LLMJob struct {
	ModelID       Hash     // zero: any (resolution 12.62)
	Prompt        string   `cbor:"limit=MaxJobBytes"`
	SystemPrompt  *string  `cbor:"limit=MaxJobBytes"`
	Temperature   *float64 // finite
	MaxTokens     uint32
	ResponseModel *string `cbor:"limit=MaxSchemaBytes"`
}

// HTTPJob fetches a resource.
type HTTPJob struct {
	URL        string  `cbor:"limit=MaxURLBytes"`
	Method     string  `cbor:"limit=MaxMethodBytes"`
	Headers    TextMap `cbor:"limit=MaxHeaders"`
	Body       []byte  `cbor:"limit=MaxJobBytes,null"`
	Extraction *string `cbor:"limit=MaxSchemaBytes"`
	Freshness  *Freshness
}

// Freshness bounds the age of what an [HTTPJob] fetches.
type Freshness struct {
	MaxAgeSeconds  uint64
	CacheControl   *string `cbor:"limit=MaxHeaderValue"`
	TimestampField *string `cbor:"limit=MaxPathBytes"`
}

// MCPJob calls a tool of a server of the Model Context Protocol.
type MCPJob struct {
	Server         string    `cbor:"limit=MaxJobName"`
	ToolName       string    `cbor:"limit=MaxJobName"`
	Arguments      JSONValue `cbor:"limit=MaxJobBytes"`
	TimeoutSeconds *uint32
}

// CustomJob runs a program that runners have under its hash.
type CustomJob struct {
	ExecutorHash Hash   // keccak256 of the executable (resolution 12.78)
	Params       []byte `cbor:"limit=MaxParamsBytes"`
}

// ChainRootJob carries a root of one chain to another.
type ChainRootJob struct {
	SrcChainID      uint64
	DstChainID      uint64
	Height          Height
	RegistryAddress Address
}

// AgentJob lets a model work on a question with tools.
type AgentJob struct {
	Model               string  `cbor:"limit=MaxJobName"`
	Query               string  `cbor:"limit=MaxJobBytes"`
	SystemPromptPath    *string `cbor:"limit=maxFileSystemPath"`
	SystemPromptInline  *string `cbor:"limit=MaxJobBytes"`
	SessionID           *string `cbor:"limit=MaxJobName"`
	SessionDir          *string `cbor:"limit=maxFileSystemPath"`
	MaxIterations       uint32
	MaxToolCallsPerIter uint32
	TimeoutSeconds      uint32
}
