package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/pvm/sdk"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// profileLines is how many lines a profile shows as text; JSON has them all.
const profileLines = 25

// profiledReply is a reply with the profile where one was asked for.
type profiledReply struct {
	pvmReply
	Lines []profileLine `json:"lines,omitempty"`
}

// profileLine is a line and the cycles that went to it.
type profileLine struct {
	File   string  `json:"file"`
	Line   int32   `json:"line"`
	Cycles int64   `json:"cycles"`
	Share  float64 `json:"share"`
	Source string  `json:"source,omitempty"`
}

// scriptEnd is how a script ended.
type scriptEnd struct {
	reply   pvmReply
	profile []profileLine
	defect  *pvm.Defect // of the machine, which ended it
	err     error
}

// input is what is to be run: a script, or what a dump says.
func (c *pvmRun) input(s *session) (*pvm.Dump, error) {
	if (c.File == "") == (c.Replay == "") {
		return nil, usagef("give a FILE or --replay DUMP")
	}
	if c.Replay == "" {
		src, err := s.readSource(c.File)
		return &pvm.Dump{File: c.File, Source: src, CodeHash: pvm.HashOf(src), Cycles: c.Cycles}, err
	}
	f, err := os.Open(c.Replay)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	raw, err := io.ReadAll(io.LimitReader(f, pvm.DumpBytesMax+1))
	if err != nil {
		return nil, err
	}
	d, err := pvm.DecodeDump(raw)
	if err == nil && len(d.Source) == 0 {
		err = fmt.Errorf("the dump has no source: put that of code 0x%x into it", d.CodeHash)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.Replay, err)
	}
	return d, nil
}

// saveInput writes the input of a run that a defect ended to a file, so that whoever
// mends the machine can run it again. Of one that was run again, it shows where
// the defect is.
func (c *pvmRun) saveInput(s *session, defect *pvm.Defect) error {
	if defect == nil {
		return nil
	}
	if c.Replay != "" {
		_, err := fmt.Fprintf(s.world.stderr, "panic: %s\n%s", defect.Dump.Panic, defect.Dump.Stack)
		return err
	}
	name := filepath.Join(c.DumpDir, defect.Dump.FileName())
	if err := os.WriteFile(name, defect.Dump.Encode(), 0o600); err != nil {
		return fmt.Errorf("write what the machine failed on: %w", err)
	}
	_, err := fmt.Fprintf(s.world.stderr, "The machine has a defect that this script meets. Its input is in\n  %s\nand runs again with\n  cowboy pvm run --replay %s\n", name, name)
	return err
}

// until runs the script to its end or until ctx is done. A machine cannot be
// stopped from outside; one that is left behind ends with its cycles, or with
// the process.
func (c *pvmRun) until(ctx context.Context, w world, d *pvm.Dump) (scriptEnd, error) {
	done := make(chan scriptEnd, 1)
	go func() { done <- c.runSource(w, d) }()
	select {
	case e := <-done:
		return e, e.err
	case <-ctx.Done():
		return scriptEnd{}, interruptedError{context.Cause(ctx)}
	}
}

// runSource runs a source on a fresh machine. What it asks of a chain is answered by
// a host in memory.
func (c *pvmRun) runSource(w world, d *pvm.Dump) scriptEnd {
	machine := w.machine
	if machine == nil {
		machine = pvm.NewRuntime
	}
	rt, err := machine(hashKey())
	if err != nil {
		return scriptEnd{err: err}
	}
	program, err := pvm.Compile(d.Source, d.File, pvm.DefaultLimits())
	if err != nil {
		text := compileText(d.File, d.Source, err)
		return scriptEnd{reply: pvmReply{Error: text, Traceback: text + "\n"}}
	}
	m := rt.NewMachine()
	m.Host = sdk.NewSession(host.NewRecorder(), host.DefaultCosts(), sdk.DefaultLimits())
	var p *vm.Profile
	if c.Profile {
		p = m.NewProfile()
	}
	res, err := d.Run(m, program)
	end := scriptEnd{reply: replyOf(res, d.Source, d.File, err)}
	errors.As(err, &end.defect)
	if p != nil {
		end.profile = profileRows(p, d, res.Cycles)
	}
	return end
}

// profileRows are the lines of a profile with their sources.
func profileRows(p *vm.Profile, d *pvm.Dump, total int64) []profileLine {
	source := strings.Split(string(d.Source), "\n")
	var rows []profileLine
	for _, l := range p.Lines() {
		row := profileLine{File: l.File, Line: l.Number, Cycles: l.Cycles, Share: float64(l.Cycles) / float64(total)}
		if n := int(l.Number); l.File == d.File && n >= 1 && n <= len(source) {
			row.Source = strings.TrimSpace(source[n-1])
		}
		rows = append(rows, row)
	}
	return rows
}

// profileText is the dearest lines as a table.
func profileText(profile []profileLine, total int64) string {
	if len(profile) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%14s %7s  line\n", "cycles", "share")
	for i, l := range profile {
		if i == profileLines {
			rest := int64(0)
			for _, l := range profile[i:] {
				rest += l.Cycles
			}
			fmt.Fprintf(&b, "%14d %6.1f%%  %d lines more\n", rest, 100*float64(rest)/float64(total), len(profile)-i)
			break
		}
		where := fmt.Sprintf("%s:%d", l.File, l.Line)
		if l.File == "" {
			where = "before the first line"
		}
		fmt.Fprintf(&b, "%14d %6.1f%%  %s\t%s\n", l.Cycles, 100*l.Share, where, l.Source)
	}
	fmt.Fprintf(&b, "%14d %6.1f%%  total\n", total, 100.0)
	return b.String()
}

// interruptedError ends a command that a signal ended, with the exit code that
// shells give it.
type interruptedError struct{ cause error }

func (e interruptedError) Error() string { return "interrupted" }
func (e interruptedError) Unwrap() error { return e.cause }

// exitCode is 128 and the number of the signal: SIGTERM, else SIGINT.
func (e interruptedError) exitCode() int {
	if e.cause != nil && strings.HasPrefix(e.cause.Error(), "terminated") {
		return exitTerminated
	}
	return exitInterrupted
}

// exitOf is the exit code of what is no wrong usage.
func exitOf(err error) int {
	var interrupted interruptedError
	if errors.As(err, &interrupted) {
		return interrupted.exitCode()
	}
	return exitFailed
}
