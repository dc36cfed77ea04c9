package chain

import (
	"errors"
	"fmt"
	"math"

	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// Kind is what a transaction is (resolution 11.43).
type Kind uint8

const (
	KindTransfer Kind = iota // value to an account without code
	KindDeploy               // no target: creates an actor
	KindMessage              // to an actor
	KindSystem               // an instruction to a system actor
)

// String returns the kind's name as RPC and docs spell it.
func (k Kind) String() string {
	return [...]string{"transfer", "deploy", "message", "system"}[k&3]
}

// SenderRule says who may send an instruction. A transaction of anyone else is
// invalid: it never stands in a block, so nobody pays for it (resolution
// 11.13).
type SenderRule uint8

const (
	SenderAnyone         SenderRule = iota
	SenderRunner                    // a registered runner, as long as it is one
	SenderAssignedRunner            // a runner assigned to the job it names
	SenderValidator                 // a validator's reward account
	SenderCandidate                 // who attaches at least the minimum validator stake
	SenderGovernance                // a member of the governance multisig
	SenderReleaser                  // who sends shares of secrets for a validator
)

// String describes the rule for docs.
func (r SenderRule) String() string {
	names := [...]string{"anyone", "registered runner", "runner assigned to the job", "validator", "validator candidate with the minimum stake as value", "governance member", "releaser of a validator"}
	if int(r) < len(names) {
		return names[r]
	}
	return "unknown"
}

// CostRule names the entries of the intrinsic costs (chain/params) that a transaction pays.
type CostRule uint8

const (
	CostTransfer CostRule = iota
	CostDeploy
	CostMessage
	CostJobSubmit
	CostTimerSchedule
	CostHeartbeat
	CostInstruction // any other instruction: as much as a message
)

// Means are what a transaction needs of its sender to be valid, and what an instruction may
// take from under the sender's next ones in the same block, which then are refused and pay
// nothing (docs/adr/0211).
type Means uint8

const (
	MeansFunds Means = 1 << iota // what it may take at most: value, and limits at the fee caps
	MeansRole                    // that it is a registered runner

	AllMeans = MeansFunds | MeansRole
)

// ArgType is the form of one argument in a payload.
type ArgType uint8

const (
	ArgUint    ArgType = iota // unsigned integer
	ArgBool                   // true or false
	ArgText                   // text string
	ArgBytes                  // byte string of any length
	ArgAddress                // 20 bytes
	ArgHash                   // 32 bytes
	ArgList                   // array, judged by execution
	ArgMap                    // map, judged by execution
	ArgAny                    // any item, judged by execution
	ArgAmount                 // unsigned integer, or beyond 64 bits 9 to 16 big-endian bytes
	ArgSalt                   // byte string of at most MaxSaltBytes
	ArgHandler                // text of at most MaxHandlerName bytes
	ArgMessage                // array of a handler and its argument, see ReadMessage
)

// String returns the type's name for docs.
func (a ArgType) String() string {
	names := [...]string{"uint", "bool", "text", "bytes", "address", "hash", "list", "map", "any", "amount", "salt", "handler", "message"}
	if int(a) < len(names) {
		return names[a]
	}
	return "unknown"
}

// Arg is one argument of an instruction. An optional one may be null.
type Arg struct {
	Name     string
	Type     ArgType
	Optional bool
}

// InstructionSpec is one row of the table of everything a transaction can be.
type InstructionSpec struct {
	Kind       Kind
	Name       string
	To         Address // of the system actor; zero for the other kinds
	Opcode     uint64  // first element of the payload; 0 for the other kinds
	Args       []Arg   // elements of the payload after the opcode
	Lane       LaneID
	Sender     SenderRule
	Cost       CostRule
	Executable bool  // false: this version's execution refuses it
	Drains     Means // what it may take from its sender besides its own most: money beyond value and limits, or the role
	Note       string
}

// Needs returns what a transaction of the row cannot do without.
func (s *InstructionSpec) Needs() Means {
	if s.Sender == SenderRunner {
		return MeansFunds | MeansRole
	}
	return MeansFunds
}

// Instruction is a transaction as the table sees it.
type Instruction struct {
	InstructionSpec
	PayloadBytes int  // length of the payload, each byte of which costs cells
	AccessBytes  int  // of the encoded access list beyond null, which cost as much
	HasCode      bool // of the target; see [Instruction.WithCode]
}

// Reasons for which a transaction is nothing the table has. Such a transaction
// is invalid (whitepaper §2.2e).
var (
	// ErrReservedAddress means value sent to a system actor that takes none:
	// only the Treasury accepts plain transfers (resolution 4.4).
	ErrReservedAddress = errors.New("plain transfer to a reserved address")
	// ErrPayload means a payload that is not the array its place requires.
	ErrPayload = errors.New("payload does not decode")
)

// UnknownInstructionError reports an opcode that its target does not have.
type UnknownInstructionError struct {
	To     Address
	Opcode uint64
}

func (e *UnknownInstructionError) Error() string {
	return fmt.Sprintf("no instruction %d at %s", e.Opcode, e.To)
}

// Classify says what the transaction is, from its target and payload alone
// (resolution 11.43). Whether a plain target has code is a question to the
// state, so it answers transfer there: see [Instruction.WithCode]. It decodes
// the payload of deployments and system instructions as far as the types of
// the arguments; ErrPayload and [*UnknownInstructionError] make the
// transaction invalid.
func (t *Tx) Classify() (Instruction, error) {
	switch {
	case t.To == nil:
		r := cbor.NewReader(t.Payload)
		spec := deploySpec
		if err := r.ArrayOf(len(spec.Args)); err != nil {
			return Instruction{}, payloadError(spec.Name, err)
		}
		return t.decodeInstruction(spec, &r)
	case !t.To.IsSystem():
		return t.spelled(transferSpec), nil
	case len(t.Payload) > 0:
		return t.classifySystem()
	case *t.To == AddrTreasury:
		return t.spelled(transferSpec), nil
	default:
		return Instruction{}, ErrReservedAddress
	}
}

func (t *Tx) classifySystem() (Instruction, error) {
	r := cbor.NewReader(t.Payload)
	spec, err := t.readRow(&r)
	if err != nil {
		return Instruction{}, err
	}
	return t.decodeInstruction(spec, &r)
}

// Row returns what [Tx.Classify] says that the transaction is where its payload decodes, by
// its target and opcode alone: it reads none of the arguments, however many there are.
func (t *Tx) Row() (InstructionSpec, error) {
	switch {
	case t.To == nil:
		return deploySpec, nil
	case t.To.IsSystem() && len(t.Payload) > 0:
		r := cbor.NewReader(t.Payload)
		return t.readRow(&r)
	case t.To.IsSystem() && *t.To != AddrTreasury:
		return InstructionSpec{}, ErrReservedAddress
	}
	return transferSpec, nil
}

// readRow reads the head and the opcode of a system actor's payload.
func (t *Tx) readRow(r *cbor.Reader) (InstructionSpec, error) {
	n, err := r.Array(math.MaxInt)
	if err != nil {
		return InstructionSpec{}, payloadError("instruction", err)
	}
	if n == 0 {
		return InstructionSpec{}, payloadError("instruction", cbor.ErrWrongLength)
	}
	opcode, err := r.Uint()
	if err != nil {
		return InstructionSpec{}, payloadError("opcode", err)
	}
	spec, ok := lookupInstruction(*t.To, opcode)
	if !ok {
		return InstructionSpec{}, &UnknownInstructionError{To: *t.To, Opcode: opcode}
	}
	if n != 1+len(spec.Args) {
		return InstructionSpec{}, payloadError(spec.Name, cbor.ErrWrongLength)
	}
	return spec, nil
}

// decodeInstruction checks that r stands before exactly the arguments of spec.
func (t *Tx) decodeInstruction(spec InstructionSpec, r *cbor.Reader) (Instruction, error) {
	for _, arg := range spec.Args {
		if err := arg.skip(r); err != nil {
			return Instruction{}, payloadError(spec.Name+"."+arg.Name, err)
		}
	}
	if err := r.End(); err != nil {
		return Instruction{}, payloadError(spec.Name, err)
	}
	return t.spelled(spec), nil
}

// spelled is an instruction with the bytes that this transaction takes beyond the
// smallest transfer.
func (t *Tx) spelled(spec InstructionSpec) Instruction {
	return Instruction{InstructionSpec: spec, PayloadBytes: len(t.Payload), AccessBytes: t.accessBytes()}
}

func payloadError(place string, err error) error {
	return fmt.Errorf("%w: %s: %w", ErrPayload, place, err)
}

// skip reads one argument and drops it.
func (a Arg) skip(r *cbor.Reader) error {
	if a.Optional && r.Null() {
		return nil
	}
	probe := *r // lists and maps are looked at, then skipped whole
	var err error
	switch a.Type {
	case ArgUint:
		_, err = r.Uint()
	case ArgAmount:
		_, err = ReadAmount(r)
	case ArgBool:
		_, err = r.Bool()
	case ArgText:
		_, err = r.Text(MaxTxBytes)
	case ArgBytes:
		_, err = r.Bytes(MaxTxBytes)
	case ArgSalt:
		_, err = r.Bytes(MaxSaltBytes)
	case ArgHandler:
		_, err = r.Text(MaxHandlerName)
	case ArgMessage:
		_, _, err = ReadMessage(r)
	case ArgAddress:
		err = r.BytesInto(new(Address)[:])
	case ArgHash:
		err = r.BytesInto(new(Hash)[:])
	case ArgList:
		if _, err = probe.Array(MaxTxBytes); err == nil {
			_, err = r.Raw(cbor.DefaultLimits())
		}
	case ArgMap:
		if _, err = probe.Map(MaxTxBytes); err == nil {
			_, err = r.Raw(cbor.DefaultLimits())
		}
	default:
		_, err = r.Raw(cbor.DefaultLimits())
	}
	return err
}

// WithCode returns the instruction for a target of which it is known whether it
// has code: what looked like a transfer with a memo is then a message to an actor.
// Without a payload it stays a transfer, which names no handler and runs none. It
// changes nothing else.
func (i Instruction) WithCode(hasCode bool) Instruction {
	i.HasCode = hasCode
	if hasCode && i.Kind == KindTransfer && i.PayloadBytes > 0 {
		i.InstructionSpec = messageSpec
	}
	return i
}
