package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/compile"
	"github.com/cowboy-foundation/cowboy/exec/pvm/continuation"
	"github.com/cowboy-foundation/cowboy/exec/pvm/scope"
	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// sourceFileMax is read of a file, a byte above what the parser takes, so that
// its own error tells.
const sourceFileMax = 1<<20 + 1

type pvmCommands struct {
	Run         pvmRun         `cmd:"" help:"Run a script: print goes to stdout, an uncaught exception to stderr with exit code 1."`
	Check       pvmCheck       `cmd:"" help:"List what the deploy gate refuses, with line numbers."`
	Dis         pvmDis         `cmd:"" help:"Print the compiled code."`
	Determinism pvmDeterminism `cmd:"" help:"Run a script in every way that must not matter and compare output, cycles and heap."`
}

// readSource reads FILE, or stdin for "-".
func (s *session) readSource(path string) ([]byte, error) {
	var r io.Reader = s.world.stdin
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }()
		r = f
	}
	return io.ReadAll(io.LimitReader(r, sourceFileMax)) // an error of a file names it
}

// hashKey is a fresh key for internal tables, as each node process has one.
func hashKey() [2]uint64 {
	var b [16]byte
	_, _ = rand.Read(b[:])
	return [2]uint64{binary.LittleEndian.Uint64(b[:8]), binary.LittleEndian.Uint64(b[8:])}
}

type pvmRun struct {
	File    string `arg:"" optional:"" placeholder:"FILE" help:"Script; - for stdin."`
	Cycles  int64  `default:"1000000000" help:"Cycles that the script may use."`
	Replay  string `placeholder:"DUMP" help:"Run again what a defect of the machine ended, from the file that was written then, and print where it happened."`
	DumpDir string `default:"." placeholder:"DIR" help:"Where such a file is written."`
	Profile bool   `help:"Tell which lines the cycles went to, the dearest first, on stderr or in the JSON."`
}

// pvmReply is the result of a run as --json shows it.
type pvmReply struct {
	Output    string `json:"output"`
	Cycles    int64  `json:"cycles"`
	HeapPeak  int64  `json:"heap_peak_bytes"`
	Error     string `json:"error,omitempty"`     // last line of the traceback, or why the run was ended
	Traceback string `json:"traceback,omitempty"` // as Python prints it
}

// errScript makes the exit code 1 after everything has been printed.
var errScript = errors.New("the script ended with an exception")

// Run carries out pvm run.
func (c *pvmRun) Run(s *session, ctx context.Context) error {
	if c.Cycles <= 0 {
		return usagef("--cycles is %d, want a positive number", c.Cycles)
	}
	dump, err := c.input(s)
	if err != nil {
		return err
	}
	end, err := c.until(ctx, s.world, dump)
	if err != nil {
		return err
	}
	if err := c.saveInput(s, end.defect); err != nil {
		return err
	}
	reply, profile := end.reply, end.profile
	if s.flags.JSON {
		if err := s.show(profiledReply{reply, profile}, &lines{}); err != nil {
			return err
		}
	} else {
		_, _ = io.WriteString(s.world.stdout, reply.Output)
		_, _ = io.WriteString(s.world.stderr, harmless(reply.Traceback))
		if reply.Traceback == "" && reply.Error != "" {
			_, _ = fmt.Fprintln(s.world.stderr, reply.Error)
		}
		_, _ = io.WriteString(s.world.stderr, profileText(profile, reply.Cycles))
	}
	if reply.Error != "" {
		return silentError{errScript}
	}
	return nil
}

// silentError fails the command after it has said everything itself.
type silentError struct{ error }

func replyOf(res vm.Result, src []byte, file string, err error) pvmReply {
	reply := pvmReply{Output: string(res.Output), Cycles: res.Cycles, HeapPeak: res.HeapPeak}
	switch {
	case err != nil:
		reply.Error = err.Error()
	case res.Raised != nil:
		reply.Traceback = withSourceLines(res.Traceback, file, src)
		lines := strings.Split(strings.TrimRight(res.Traceback, "\n"), "\n")
		reply.Error = lines[len(lines)-1]
	}
	return reply
}

// withSourceLines puts the line of source below each place in file, as Python
// does.
func withSourceLines(trace, file string, src []byte) string {
	lines := strings.Split(string(src), "\n")
	var b strings.Builder
	for _, l := range strings.SplitAfter(trace, "\n") {
		b.WriteString(l)
		n := 0
		at := strings.Index(l, `File "`+file+`", line `)
		if at < 0 {
			continue
		}
		if _, err := fmt.Sscanf(l[at:], `File "`+file+`", line %d`, &n); err == nil && n >= 1 && n <= len(lines) {
			if text := strings.TrimSpace(lines[n-1]); text != "" {
				b.WriteString(l[:at] + "  " + around(text, 0) + "\n")
			}
		}
	}
	return b.String()
}

// compileText is a compile error as Python prints one.
func compileText(file string, src []byte, err error) string {
	var at syntax.Pos
	text := ""
	var se *syntax.Error
	var sc *scope.Error
	var ce *compile.Error
	var co *continuation.Error
	var refused *pvm.Refusal
	switch {
	case errors.As(err, &se):
		at, text = syntax.Pos{Line: se.Line, Col: se.Col}, fmt.Sprintf("%s: %s", se.Class, se.Msg)
	case errors.As(err, &sc):
		at, text = sc.Pos, "SyntaxError: "+sc.Msg
	case errors.As(err, &ce):
		at, text = ce.Pos, "SyntaxError: "+ce.Msg
	case errors.As(err, &co):
		at, text = co.Pos, "SyntaxError: "+co.Msg
	case errors.As(err, &refused):
		f := refused.Report.Findings[0]
		at, text = f.Pos, fmt.Sprintf("DeterminismError: %s is forbidden: %s", f.What, f.Rule.What)
	default:
		return err.Error()
	}
	lines := bytes.Split(src, []byte("\n"))
	place := fmt.Sprintf("  File %q, line %d\n", file, at.Line)
	if n := int(at.Line); n >= 1 && n <= len(lines) {
		line := string(lines[n-1])
		text := strings.TrimSpace(line)
		place += "    " + around(text, int(at.Col)-strings.Index(line, text)) + "\n"
	}
	return place + text
}

// shownBytes is how much of a line of source is shown at most: a line of a megabyte says
// nothing on a terminal.
const shownBytes = 160

// around returns a line of source, or what stands around byte col of it, with dots for
// what is left out.
func around(line string, col int) string {
	if len(line) <= shownBytes {
		return line
	}
	from := max(0, min(col-shownBytes/2, len(line)-shownBytes))
	shown := strings.ToValidUTF8(line[from:from+shownBytes], "")
	if from > 0 {
		shown = "..." + shown
	}
	if from+shownBytes < len(line) {
		shown += "..."
	}
	return shown
}

type pvmCheck struct {
	File string `arg:"" placeholder:"FILE" help:"Script; - for stdin."`
}

// checkReply is what the gate found as --json shows it.
type checkReply struct {
	Clean    bool           `json:"clean"`
	Findings []checkFinding `json:"findings"`
	More     int            `json:"more,omitempty"`
}

type checkFinding struct {
	Line   int32  `json:"line"`
	Column int32  `json:"column"`
	Rule   string `json:"rule"`
	What   string `json:"what"`
	Why    string `json:"why"`
	Source string `json:"source"`
}

// Run carries out pvm check.
func (c *pvmCheck) Run(s *session) error {
	src, err := s.readSource(c.File)
	if err != nil {
		return err
	}
	lim := pvm.DefaultLimits()
	report, err := pvm.Inspect(src, lim)
	if err != nil {
		return errors.New(compileText(c.File, src, err))
	}
	if report.Clean() {
		if _, err := pvm.Compile(src, c.File, lim); err != nil {
			return errors.New(compileText(c.File, src, err))
		}
	}
	reply := checkReply{Clean: report.Clean(), More: report.More, Findings: []checkFinding{}}
	text := &lines{}
	for _, f := range report.Findings {
		reply.Findings = append(reply.Findings, checkFinding{
			Line: f.Line, Column: f.Col + 1, Rule: string(f.Rule.ID), What: f.What, Why: f.Rule.What, Source: f.Rule.Source,
		})
		text.add("%s:%d:%d: %s is forbidden: %s [%s; %s]", c.File, f.Line, f.Col+1, f.What, f.Rule.What, f.Rule.ID, f.Rule.Source)
	}
	if report.More > 0 {
		text.add("and %d more", report.More)
	}
	if reply.Clean {
		text.add("%s: clean, code hash 0x%x", c.File, pvm.HashOf(src))
	}
	if err := s.show(reply, text); err != nil || reply.Clean {
		return err
	}
	return silentError{pvm.ErrForbidden}
}

type pvmDis struct {
	File string `arg:"" placeholder:"FILE" help:"Script; - for stdin."`
}

// Run carries out pvm dis.
func (c *pvmDis) Run(s *session) error {
	src, err := s.readSource(c.File)
	if err != nil {
		return err
	}
	program, err := pvm.Compile(src, c.File, pvm.DefaultLimits())
	if err != nil {
		return errors.New(compileText(c.File, src, err))
	}
	text := code.Disassemble(program.Code)
	if s.flags.JSON {
		return s.show(map[string]string{"disassembly": text}, &lines{})
	}
	_, err = io.WriteString(s.world.stdout, text)
	return err
}
