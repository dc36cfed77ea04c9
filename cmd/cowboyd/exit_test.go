package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/alecthomas/kong"

	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/consensus/guard"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/state/store"
)

func TestExitCodes(t *testing.T) {
	f := func(want int, err error) {
		t.Helper()
		if got := exitCode(err, nil); got != want {
			t.Errorf("%v: exit code %d, want %d", err, got, want)
		}
		if err == nil {
			return
		}
		if got := exitCode(errors.Join(errors.New("and more"), fmt.Errorf("consensus: %w", err)), nil); got != want {
			t.Errorf("%v, wrapped: exit code %d, want %d", err, got, want)
		}
	}
	f(0, nil)
	f(1, errors.New("something"))
	f(1, guard.ErrMissing)
	f(2, usageError{errors.New("--byzantine needs more")})
	f(2, &kong.ParseError{})
	f(10, engine.ErrDoppelganger)
	f(10, guard.ErrFenced)
	f(10, guard.ErrInUse)
	f(11, &datadir.TablesError{Table: "cost_table"})
	f(11, &params.KeptSettingError{Path: "x", Err: errors.New("form")})
	f(12, store.ErrDiskFull)
	f(12, fmt.Errorf("write journal: %w", syscall.ENOSPC))
}

// The process that a signal ends says which, and one that stops for another reason
// says that.
func TestExitCodesOfSignals(t *testing.T) {
	for sig, want := range map[syscall.Signal]int{syscall.SIGINT: 130, syscall.SIGTERM: 143} {
		ctx, stop := signal.NotifyContext(context.Background(), sig)
		if err := syscall.Kill(os.Getpid(), sig); err != nil {
			t.Fatal(err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(time.Minute):
			t.Fatal("no signal came")
		}
		for _, err := range []error{nil, context.Canceled} {
			if got := exitCode(err, context.Cause(ctx)); got != want {
				t.Errorf("%v, %v: exit code %d, want %d", sig, err, got, want)
			}
		}
		if got := exitCode(engine.ErrDoppelganger, context.Cause(ctx)); got != exitOtherLife {
			t.Errorf("%v and another life: exit code %d", sig, got)
		}
		stop()
	}
	if got := exitCode(nil, context.Canceled); got != 0 {
		t.Errorf("a stop without a signal: exit code %d", got)
	}
}

// The command itself, by what a shell sees.
func TestCommandLineExits(t *testing.T) {
	if args := os.Getenv("COWBOYD_TEST_ARGS"); args != "" {
		os.Args = []string{"cowboyd", args}
		main()
		return
	}
	for args, want := range map[string]int{"version": 0, "--help": 0, "dance": 2, "run": 2, "--log-level=loud": 2} {
		cmd := exec.Command(os.Args[0], "-test.run=^TestCommandLineExits$")
		cmd.Env = append(os.Environ(), "COWBOYD_TEST_ARGS="+args)
		out, _ := cmd.CombinedOutput()
		if got := cmd.ProcessState.ExitCode(); got != want {
			t.Errorf("cowboyd %s: exit code %d, want %d\n%s", args, got, want, out)
		}
	}
}
