// Package cluster runs several validators of one development chain as child
// processes of one command.
//
// In: the folders of a dealt chain and the command line of each child. Out:
// processes whose logs are in their folders, restarted when they die and
// stopped together. A child ends by itself when its parent is gone: its
// standard input is a pipe from the parent, and it watches for its end.
package cluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"syscall"
	"time"
)

// Child is one process to run.
type Child struct {
	Name    string
	Args    []string // of this very binary
	LogFile string   // standard output and error are appended
}

// Config is what to run and how patient to be.
type Config struct {
	Binary      string
	Children    []Child
	RestartWait time.Duration // before a dead child is started again
	StopTimeout time.Duration // for an orderly end; then it is killed
	Log         *slog.Logger
}

// DefaultConfig returns the timing; Binary, Children and Log are left to the
// caller.
func DefaultConfig() Config {
	return Config{RestartWait: time.Second, StopTimeout: 15 * time.Second}
}

// Check reports the first setting that cannot work.
func (c *Config) Check() error {
	switch {
	case c.Binary == "" || len(c.Children) == 0:
		return errors.New("nothing to run")
	case c.RestartWait <= 0 || c.StopTimeout <= 0:
		return errors.New("a timeout is not positive")
	case c.Log == nil:
		return errors.New("log is missing")
	}
	return nil
}

// Run starts the children, starts each again when it dies, and stops all when
// ctx ends. It returns once none is left.
func Run(ctx context.Context, cfg Config) error {
	if err := cfg.Check(); err != nil {
		return err
	}
	var keepers sync.WaitGroup
	errs := make([]error, len(cfg.Children))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for i, child := range cfg.Children {
		keepers.Go(func() {
			if errs[i] = cfg.supervise(ctx, child); errs[i] != nil {
				cancel()
			}
		})
	}
	keepers.Wait()
	return errors.Join(errs...)
}

// errAtOnce means that a child cannot work: it died before it could have done
// anything.
var errAtOnce = errors.New("ended right after its start")

// hopeless is a life too short to be worth a restart.
const hopeless = 500 * time.Millisecond

// supervise runs one child until ctx ends.
func (c *Config) supervise(ctx context.Context, child Child) error {
	for restarts := 0; ; restarts++ {
		began := time.Now()
		err := c.run(ctx, child)
		if ctx.Err() != nil {
			return nil
		}
		if code := exitOf(err); code == otherLife {
			return fmt.Errorf("%s %w (%w): see %s", child.Name, errOtherLife, err, child.LogFile)
		}
		if restarts == 0 && time.Since(began) < hopeless && !signalled(err) {
			return fmt.Errorf("%s %w (%w): see %s", child.Name, errAtOnce, err, child.LogFile)
		}
		c.Log.Warn("validator died and is started again", "name", child.Name, "err", err, "log", child.LogFile)
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(c.RestartWait):
		}
	}
}

// otherLife is the exit code of a child that has found another process with its
// key: to start it again could cost the stake.
const otherLife = 10

var errOtherLife = errors.New("found another process with its key and is not started again")

// exitOf is the exit code of a child that ended: -1 where a signal killed it.
func exitOf(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return 0
}

// signalled reports whether somebody else ended the child, which says nothing
// about whether it can work.
func signalled(err error) bool {
	code := exitOf(err)
	return code == -1 || code == 128+int(syscall.SIGINT) || code == 128+int(syscall.SIGTERM)
}

// run is one life of a child.
func (c *Config) run(ctx context.Context, child Child) error {
	log, err := os.OpenFile(child.LogFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return fmt.Errorf("open log: %w", err)
	}
	defer log.Close()
	cmd := exec.CommandContext(ctx, c.Binary, child.Args...)
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = c.StopTimeout
	alive, err := cmd.StdinPipe()
	if err != nil {
		return fmt.Errorf("pipe: %w", err)
	}
	defer alive.Close()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start: %w", err)
	}
	c.Log.Info("validator started", "name", child.Name, "pid", cmd.Process.Pid)
	return cmd.Wait()
}

// WithParent returns a context that ends when in does: the other side of the
// pipe that a child has as its standard input.
func WithParent(ctx context.Context, in io.Reader) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	go func() { // ends with the process at the latest: nothing can interrupt the read
		_, _ = io.Copy(io.Discard, in)
		cancel()
	}()
	return ctx, cancel
}
