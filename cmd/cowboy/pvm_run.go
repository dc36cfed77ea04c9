package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/pvm/sdk"
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
	err     error
}

// until runs the script to its end or until ctx is done. A machine cannot be
// stopped from outside; one that is left behind ends with its cycles, or with
// the process.
func (c *pvmRun) until(ctx context.Context, src []byte) (pvmReply, []profileLine, error) {
	done := make(chan scriptEnd, 1)
	go func() {
		var e scriptEnd
		e.reply, e.profile, e.err = c.execute(src)
		done <- e
	}()
	select {
	case e := <-done:
		return e.reply, e.profile, e.err
	case <-ctx.Done():
		return pvmReply{}, nil, interruptedError{context.Cause(ctx)}
	}
}

// execute runs a source on a fresh machine. What it asks of a chain is answered by
// a host in memory.
func (c *pvmRun) execute(src []byte) (pvmReply, []profileLine, error) {
	rt, err := pvm.NewRuntime(hashKey())
	if err != nil {
		return pvmReply{}, nil, err
	}
	program, err := pvm.Compile(src, c.File, pvm.DefaultLimits())
	if err != nil {
		text := compileText(c.File, src, err)
		return pvmReply{Error: text, Traceback: text + "\n"}, nil, nil
	}
	m := rt.NewMachine()
	m.Host = sdk.NewSession(host.NewRecorder(), host.DefaultCosts(), sdk.DefaultLimits())
	if !c.Profile {
		res, err := m.Execute(program.Code, c.Cycles)
		return replyOf(res, src, c.File, err), nil, nil
	}
	p := m.NewProfile()
	res, err := m.Execute(program.Code, c.Cycles)
	source := strings.Split(string(src), "\n")
	var profile []profileLine
	for _, l := range p.Lines() {
		row := profileLine{File: l.File, Line: l.Number, Cycles: l.Cycles, Share: float64(l.Cycles) / float64(res.Cycles)}
		if n := int(l.Number); l.File == c.File && n >= 1 && n <= len(source) {
			row.Source = strings.TrimSpace(source[n-1])
		}
		profile = append(profile, row)
	}
	return replyOf(res, src, c.File, err), profile, nil
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
