package pvm

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/decimal"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/pvm/lib"
	"github.com/cowboy-foundation/cowboy/exec/pvm/sdk"
)

// texts is every literal text that the machine's exceptions are made of, one
// a line, quoted and sorted: what a program can store of an exception is
// consensus (resolution 11.47). A test holds it to the source.
//
//go:embed texts.txt
var texts string

// TextTable returns the table of exception texts.
func TextTable() string { return texts }

// TextTableHash is the hash of the table of exception texts.
func TextTableHash() Hash { return Hash(keccak.Sum256([]byte(texts))) }

// CostTable returns the table of costs as text, one price a line: those of the
// machine and those of calls of the host (whitepaper §3.5 and §17.3, resolutions
// 2.7 and 2.8). What a call of the library written in Python charges follows from
// its source, so the hash of each of its modules is a line too.
func CostTable(c code.Costs, calls host.Costs) string {
	var b strings.Builder
	// Bounded: by the table of costs, a few hundred rows, for people and tests.
	for op := range code.NumOps {
		fmt.Fprintf(&b, "op %s %d\n", code.Op(op), c.Ops[op])
	}
	d := c.Dynamic
	// Bounded: by the table of costs, a few hundred rows, for people and tests.
	for _, row := range []struct {
		name  string
		price code.Cycles
	}{
		{"char", d.Char},
		{"element", d.Element},
		{"dict-op", d.DictOp},
		{"limb-work", d.LimbWork},
		{"compare", d.Compare},
		{"native-call", d.NativeCall},
		{"step", d.Step},
		{"copy", d.Copy},
		{"regex-step", d.RegexStep},
		{"float-function", d.FloatFunc},
		{"trace-unit", d.TraceUnit},
		{"token", d.Token},
		{"symbol", d.Symbol},
		{"scope", d.Scope},
		{"instruction", d.Instr},
	} {
		fmt.Fprintf(&b, "each %s %d\n", row.name, row.price)
	}
	// Bounded: by the table of costs, a few hundred rows, for people and tests.
	for _, row := range c.Work.Rows() {
		fmt.Fprintf(&b, "work %s %d\n", row.Name, row.Amount)
	}
	// Bounded: by the table of costs, a few hundred rows, for people and tests.
	for _, f := range decimal.Factors() {
		fmt.Fprintf(&b, "decimal %s %d\n", f.Name, f.Value)
	}
	// Bounded: by the table of costs, a few hundred rows, for people and tests.
	for _, row := range calls.Rows() {
		fmt.Fprintf(&b, "host %s %d\n", row.Name, row.Cycles)
	}
	// Bounded: by the table of costs, a few hundred rows, for people and tests.
	for _, s := range lib.Sources() {
		fmt.Fprintf(&b, "source %s 0x%x\n", s.Name, keccak.Sum256([]byte(s.Text)))
	}
	// Bounded: by the table of costs, a few hundred rows, for people and tests.
	for _, s := range sdk.Sources() {
		fmt.Fprintf(&b, "source %s 0x%x\n", s.Name, keccak.Sum256([]byte(s.Text)))
	}
	return b.String()
}

// CostTableHash is the hash of the table of costs.
func CostTableHash(c code.Costs, calls host.Costs) Hash {
	return Hash(keccak.Sum256([]byte(CostTable(c, calls))))
}
