package sdk

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/pvm/values"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// Limits bound what a call may ask for. They are consensus.
type Limits struct {
	Value         values.Profile // of a stored value, a payload, an event
	KeyBytes      int            // of a storage key
	NameBytes     int            // of a handler, a topic, a label
	ScanEntries   int            // most that one scan returns
	ScratchBytes  int            // of all files under /tmp (whitepaper §3.1)
	ScratchFiles  int
	Continuations int // pending ones of an actor
}

// DefaultLimits returns the limits of the protocol.
func DefaultLimits() Limits {
	return Limits{
		Value: values.DefaultProfile(), KeyBytes: 1024, NameBytes: 256, ScanEntries: 1000,
		ScratchBytes: 256 << 10, ScratchFiles: 1024, Continuations: 100,
	}
}

// FixedLimit is a limit that stands in no [Limits].
type FixedLimit struct {
	Name  string
	Value int
}

// FixedLimits returns the limits of single calls.
func FixedLimits() []FixedLimit {
	return []FixedLimit{
		{"blob_bytes", blobBytes},
		{"group_requests", groupRequests},
		{"salt_bytes", saltBytes},
		{"seek", seekMax},
		{"token_decimals", tokenDecimals},
		{"token_name", tokenName},
		{"token_payments", tokenPayments},
		{"token_symbol", tokenSymbol},
	}
}

// ErrLimits is wrapped by every fault that Check finds.
var ErrLimits = errors.New("limits of the SDK")

// Check finds limits under which nothing works.
func (l Limits) Check() error {
	if err := l.Value.Check(); err != nil {
		return fmt.Errorf("%w: %w", ErrLimits, err)
	}
	// Bounded: by six limits.
	for _, n := range []int{l.KeyBytes, l.NameBytes, l.ScanEntries, l.ScratchBytes, l.ScratchFiles, l.Continuations} {
		if n < 1 {
			return fmt.Errorf("%w: %+v: each is at least 1", ErrLimits, l)
		}
	}
	return nil
}

// Session is the state of one call beside the machine's: put it into
// Machine.Host after Reset.
type Session struct {
	host   host.Host
	costs  host.Costs
	limits Limits
	env    host.Env
	ids    uint64 // made in this call
	files  scratch
}

// NewSession begins a call.
func NewSession(h host.Host, costs host.Costs, limits Limits) *Session {
	return &Session{host: h, costs: costs, limits: limits, env: h.Env(), files: newScratch(limits)}
}

// ScratchPeak is the most bytes that the files under /tmp had at once; the call
// pays them as cells (resolution 7.10).
func (s *Session) ScratchPeak() int { return s.files.peak }

// of returns the session of a machine.
func of(m *vm.Machine) (*Session, error) {
	s, ok := m.Host.(*Session)
	if !ok {
		return nil, m.Raise(m.Builtin("RuntimeError"), "this program runs without a chain")
	}
	return s, nil
}

// nextID makes an identifier that no other call of the chain makes.
func (s *Session) nextID() host.ID {
	s.ids++
	return keccak.Sum256([]byte("cowboy-call-id-v1"), s.env.CallID[:], binary.BigEndian.AppendUint64(nil, s.ids))
}

// refuse turns an error of the host into an exception, or ends the call.
func (s *Session) refuse(m *vm.Machine, err error) error {
	var r *host.Refusal
	if !errors.As(err, &r) {
		panic(&vm.Abort{Code: vm.HostStop, Detail: err.Error(), Err: err})
	}
	if u, ok := s.host.(host.Undoing); ok {
		u.Undo()
	}
	return s.raise(m, r.Code, r.Text)
}

// raise raises the SDK's exception of a code, which the module makes, since its
// classes are Python.
func (s *Session) raise(m *vm.Machine, code, text string) error {
	fn, err := member(m, "cowboy_sdk", "_refusal")
	if err != nil {
		return err
	}
	exc, err := m.Call(fn, m.NewStr(code), m.NewStr(text))
	if err != nil {
		return err
	}
	return m.Throw(exc)
}

// encode makes the canonical bytes of a value.
func (s *Session) encode(m *vm.Machine, v vm.Value) ([]byte, error) {
	return values.Append(m, nil, v, s.limits.Value)
}

// decode makes a value of canonical bytes of the chain's; none is None.
func (s *Session) decode(m *vm.Machine, data []byte) (vm.Value, error) {
	if len(data) == 0 {
		return vm.None, nil
	}
	return values.Decode(m, data, s.limits.Value)
}
