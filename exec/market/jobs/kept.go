package jobs

import (
	"fmt"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/state"
)

// TableKept is the prefix of the rows of [Kept].
const TableKept = "kept/"

// Kept is the row of what a job came to whose answer has no room for it and names it instead
// (market table §13). It goes with the other rows of the job.
type Kept struct {
	To     chain.Address // whom the answer was sent: nobody else reads it
	Format chain.DataFormat
	Data   []byte // of the job's max_return_bytes at most
}

// formats are those of a row, by their byte.
var formats = [...]chain.DataFormat{chain.FormatText, chain.FormatJSON, chain.FormatBytes}

// keptHead is how long a row of Kept is besides its data.
const keptHead = len(chain.Address{}) + 1

// KeptKey is where a [Kept] stands.
func KeptKey(id chain.Hash) state.StorageKey { return key(TableKept, id[:]) }

// Encode returns the row: address, format and data.
func (k *Kept) Encode() []byte {
	row := append(make([]byte, 0, keptHead+len(k.Data)), k.To[:]...)
	row = append(row, byte(slices.Index(formats[:], k.Format))) // Bounded: by the formats.
	return append(row, k.Data...)
}

// DecodeKept reads what Encode writes and nothing else; the data are part of the row. The
// error wraps ErrRecord.
func DecodeKept(row []byte) (*Kept, error) {
	if len(row) < keptHead || len(row) > keptHead+chain.MaxReturnBytes || int(row[keptHead-1]) >= len(formats) {
		return nil, fmt.Errorf("%w: what a job came to, %d bytes", ErrRecord, len(row))
	}
	return &Kept{To: chain.Address(row[:keptHead-1]), Format: formats[row[keptHead-1]], Data: row[keptHead:]}, nil
}

// ReadKept returns what a job came to, nil where its answer has it, and for an id that no job
// has. The error is a fault.
func ReadKept(view Reader, id chain.Hash) (*Kept, error) {
	row, err := view.Storage(chain.AddrJobDispatcher, KeptKey(id))
	if err != nil || row == nil {
		return nil, err
	}
	return DecodeKept(row)
}

// PutKept writes the row of what a job came to.
func (b *Book) PutKept(id chain.Hash, k *Kept) { b.set(KeptKey(id), k.Encode()) }

// AnswerBytes is the longest answer to an actor. An output that does not fit into it, or takes
// more than [AnswerSteps], is named by its hash and length, and kept.
const AnswerBytes = 64 << 10

// What an answer has at most besides its output, twice, its context and its correlation id.
const (
	answerRestBytes   = 192 // names, the job, heads of values
	answerRunnerBytes = 1 + len(chain.Address{})
)

// outgrows reports whether a result as long as a job allows does not fit into its answer as
// text or as bytes.
func outgrows(spec *chain.JobSpec, terms *chain.JobTerms) bool {
	cb := &spec.Callback
	rest := answerRestBytes + answerRunnerBytes*int(spec.Verification.Runners) + len(cb.Context) + len(cb.CorrelationID)
	return 2*int(terms.ResultSchema.MaxReturnBytes)+rest > AnswerBytes
}

// keeping is what it costs to keep what a job comes to until its rows go, where the answer may
// have no room for it: where that outgrows it, and in JSON, which takes other room as the
// value that it says, and may be none that a message has. The cells of its bytes are those of
// the payload of the answer, which has no output then. What is short in JSON is written for the
// steps that its answer has ([AnswerSteps]).
func keeping(p *params.Params, spec *chain.JobSpec, terms *chain.JobTerms) (u chain.Usage) {
	long, schema, api := outgrows(spec, terms), &terms.ResultSchema, &p.API
	if spec.Callback.Actor == (chain.Address{}) || !long && schema.DataFormat != chain.FormatJSON {
		return u
	}
	u.Cycles = api.StorageWriteCycles
	u.Cells = chain.Cells(api.NewEntryCells) + keyBytes*api.StorageWriteByteCells
	if long {
		u.Cycles += chain.Cycles(schema.MaxReturnBytes) * api.StorageWriteByteCycles
	}
	return u
}
