package pvm

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/pvm/values"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// Dump is a run that can be done again: what flowed into the machine, and of a
// run that a defect of the machine ended, where that was. What a program asked
// of a host is not in it.
type Dump struct {
	File     string      // of the source, as tracebacks name it
	Source   []byte      // empty: whoever has it finds it by CodeHash
	CodeHash Hash        // of the source
	Entry    string      // function that is called after the main body; empty: none
	Args     []byte      // its arguments, the canonical encoding of a list
	Cycles   code.Cycles // that the run may use

	// Panic and Stack are what Go says of the defect. They are for people and no
	// part of any verdict: two builds may say it in different words.
	Panic, Stack string
}

// Defect is the error of a run that a defect of the machine ended.
type Defect struct {
	Abort *vm.Abort // whose code is vm.Internal
	Dump  *Dump
}

// Error is that of the abort.
func (d *Defect) Error() string { return d.Abort.Error() }

// Unwrap returns the abort.
func (d *Defect) Unwrap() error { return d.Abort }

// withDump makes a *[Defect] of the error of a run that a defect ended, and
// leaves any other as it is.
func withDump(err error, d Dump) error {
	var abort *vm.Abort
	if !errors.As(err, &abort) || abort.Code != vm.Internal {
		return err
	}
	d.Panic, d.Stack = abort.Detail, abort.Stack
	return &Defect{Abort: abort, Dump: &d}
}

// Run does the run that d describes, with p compiled from its source, on a clean
// machine. An error is a *[vm.Abort], within a *[Defect] where a defect was the
// reason; an exception that the program did not catch is in the result.
func (d *Dump) Run(m *vm.Machine, p *Program) (vm.Result, error) {
	res, err := m.Execute(p.Code, d.Cycles)
	if err != nil || res.Raised != nil || d.Entry == "" {
		return res, withDump(err, *d)
	}
	used := res.Cycles
	var args []vm.Value
	res, err = m.Do(d.Cycles-used, func(m *vm.Machine) (vm.Value, error) {
		list, err := values.Decode(m, d.Args, values.DefaultProfile())
		if err != nil {
			return vm.None, err
		}
		return vm.None, m.Each(list, func(v vm.Value) error {
			args = append(args, v)
			return nil
		})
	})
	used += res.Cycles
	if err == nil && res.Raised == nil {
		res, err = m.CallFunction(d.Entry, args, d.Cycles-used)
		used += res.Cycles
	}
	res.Cycles = used
	return res, withDump(err, *d)
}

// dumpFormat names the encoding and its version.
const dumpFormat = "cowboy-pvm-dump-v1"

// DumpBytesMax bounds the encoding of a dump.
const DumpBytesMax = 8 << 20

// ErrDump is wrapped by the errors of [DecodeDump].
var ErrDump = errors.New("no dump of a run")

// dumpText is a dump as its file spells it.
type dumpText struct {
	Format    string      `json:"format"`
	File      string      `json:"file"`
	Source    []byte      `json:"source"` // base64
	CodeHash  string      `json:"code_hash"`
	Entry     string      `json:"entry"`
	Args      []byte      `json:"args"` // base64
	Cycles    code.Cycles `json:"cycles"`
	CostTable string      `json:"cost_table"` // of the build that wrote it
	Panic     string      `json:"panic"`
	Stack     string      `json:"stack"`
}

// Encode returns the dump as JSON, the same bytes for the same dump.
func (d *Dump) Encode() []byte {
	b, err := json.MarshalIndent(dumpText{
		Format: dumpFormat, File: d.File, Source: append([]byte{}, d.Source...), CodeHash: fmt.Sprintf("0x%x", d.CodeHash),
		Entry: d.Entry, Args: append([]byte{}, d.Args...), Cycles: d.Cycles,
		CostTable: fmt.Sprintf("0x%x", CostTableHash(code.DefaultCosts(), host.DefaultCosts())),
		Panic:     d.Panic, Stack: d.Stack,
	}, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("bug: dump does not marshal: %v", err)) // plain fields only
	}
	return append(b, '\n')
}

// Hash is keccak256 of the encoding without panic and stack: the same on every
// node that met the defect with the same input.
func (d *Dump) Hash() Hash {
	input := *d
	input.Panic, input.Stack = "", ""
	return Hash(keccak.Sum256(input.Encode()))
}

// FileName is where a tool puts the dump.
func (d *Dump) FileName() string { return fmt.Sprintf("pvm-internal-%x.json", d.Hash()) }

// DecodeDump reads what Encode wrote. A source must have the code hash. That the
// dump is of a build with another table of costs is no error: the defect may
// show all the same.
func DecodeDump(b []byte) (*Dump, error) {
	if len(b) > DumpBytesMax {
		return nil, fmt.Errorf("%w: %d bytes, want at most %d", ErrDump, len(b), DumpBytesMax)
	}
	var t dumpText
	// Bounded: by a dump that a person reads; no block does.
	r := json.NewDecoder(bytes.NewReader(b))
	r.DisallowUnknownFields()
	if err := r.Decode(&t); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrDump, err)
	}
	if _, err := r.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: text follows it", ErrDump)
	}
	d := &Dump{
		File: t.File, Source: t.Source, Entry: t.Entry, Args: t.Args, Cycles: t.Cycles,
		CodeHash: HashOf(t.Source), Panic: t.Panic, Stack: t.Stack,
	}
	switch {
	case t.Format != dumpFormat:
		return nil, fmt.Errorf("%w: format %q, want %q", ErrDump, t.Format, dumpFormat)
	case t.Cycles <= 0:
		return nil, fmt.Errorf("%w: cycles = %d, want a positive number", ErrDump, t.Cycles)
	case len(t.Source) == 0:
		// Bounded: by a dump that a person reads; no block does.
		digits, ok := strings.CutPrefix(t.CodeHash, "0x")
		raw, err := hex.DecodeString(digits)
		if !ok || err != nil || len(raw) != len(d.CodeHash) {
			return nil, fmt.Errorf("%w: code_hash %.80q, want 0x and 64 hex digits", ErrDump, t.CodeHash)
		}
		d.CodeHash = Hash(raw)
	case t.CodeHash != fmt.Sprintf("0x%x", d.CodeHash):
		return nil, fmt.Errorf("%w: code_hash is %s, that of the source is 0x%x", ErrDump, t.CodeHash, d.CodeHash)
	}
	return d, nil
}
