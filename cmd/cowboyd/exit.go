package main

import (
	"context"
	"errors"
	"strings"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/consensus/guard"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// Exit codes. They are for supervisors, so they stay as they are (docs/adr/0106).
const (
	exitDone        = 0
	exitNotDone     = 1
	exitUsage       = 2
	exitOtherLife   = 10 // another process has this key: do not start again
	exitNewerBuild  = 11 // the chain asks for what this build has not
	exitDiskFull    = 12
	exitInterrupted = 128 + int(syscall.SIGINT)
	exitTerminated  = 128 + int(syscall.SIGTERM)
)

const exitCodes = `Exit codes: 0 done, 1 not done, 2 wrong usage, 10 another life of this key runs (do not
start again before it is stopped), 11 the chain needs a newer build, 12 not enough room on
the disk, 130 interrupted, 143 terminated.`

// usageError is a command line that means nothing.
type usageError struct{ error }

func (e usageError) Unwrap() error { return e.error }

// exitCode says how a command ended, of which cause is the end of its context, if
// that has ended.
func exitCode(err, cause error) int {
	switch {
	case err == nil || errors.Is(err, context.Canceled):
		return exitOfSignal(cause)
	case isAny[usageError](err) || isAny[*kong.ParseError](err):
		return exitUsage
	case errors.Is(err, engine.ErrDoppelganger), errors.Is(err, guard.ErrFenced), errors.Is(err, guard.ErrInUse):
		return exitOtherLife
	case isAny[*params.KeptSettingError](err), isAny[*datadir.TablesError](err), isAny[*exec.MissingModule](err):
		return exitNewerBuild
	case errors.Is(err, store.ErrDiskFull), errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return exitDiskFull
	}
	return exitNotDone
}

func exitOfSignal(cause error) int {
	switch {
	case cause == nil:
		return exitDone
	case strings.HasPrefix(cause.Error(), "terminated"): // what signal.NotifyContext says
		return exitTerminated
	case strings.HasPrefix(cause.Error(), "interrupt"):
		return exitInterrupted
	}
	return exitDone
}

func isAny[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
