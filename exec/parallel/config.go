package parallel

import (
	"errors"
	"fmt"
)

// Mode says how transactions are scheduled.
type Mode uint8

// The modes. None changes a result.
const (
	Auto       Mode = iota // Sequential for little work that can be shared, else Planned
	Sequential             // exec.Apply
	Planned                // wait for what is foreseen to conflict
	Optimistic             // wait for nothing
)

var modeNames = [...]string{Auto: "auto", Sequential: "seq", Planned: "dag", Optimistic: "opt"}

func (m Mode) String() string {
	if int(m) < len(modeNames) {
		return modeNames[m]
	}
	return fmt.Sprintf("mode %d", uint8(m))
}

// Reasons why a [Config] is refused.
var (
	ErrMode    = errors.New("mode is none of auto, seq, dag, opt")
	ErrWorkers = errors.New("workers are not 1 to 256")
)

// ParseMode reads what String writes.
func ParseMode(s string) (Mode, error) {
	for m, name := range modeNames {
		if s == name {
			return Mode(m), nil
		}
	}
	return Auto, fmt.Errorf("%w: %q", ErrMode, s)
}

// MaxWorkers bounds Config.Workers.
const MaxWorkers = 256

// Config is how an executor works.
type Config struct {
	Mode    Mode
	Workers int // goroutines at a time, the caller's included

	// Clock counts nanoseconds, for Stats alone; nil: no times. Every worker calls it,
	// several at the same time. So they do [exec.Watch.Start] of a block that is built.
	Clock func() uint64
}

// DefaultConfig returns the configuration for so many processors.
func DefaultConfig(processors int) Config {
	return Config{Mode: Auto, Workers: min(max(processors, 1), MaxWorkers)}
}

// Check says what is wrong with a configuration.
func (c *Config) Check() error {
	switch {
	case int(c.Mode) >= len(modeNames):
		return ErrMode
	case c.Workers < 1 || c.Workers > MaxWorkers:
		return fmt.Errorf("%w: %d", ErrWorkers, c.Workers)
	}
	return nil
}

// Stats is what an executor has done since it was made. Times are nanoseconds;
// those of execution and commit are added up over the workers.
type Stats struct {
	Blocks, Parallel, Abandoned uint64 // all; executed in parallel; of these, finished one by one
	Txs, Executions, Reexecuted uint64 // of blocks in parallel
	Mispredicted                uint64 // executions, of those learned from, that touched a place not foreseen
	Waited                      uint64 // transactions that the plan made wait for another
	Alone                       uint64 // transactions that ran at their turn, for the conflicts of those before them or for deep calls
	PrepareNanos, PlanNanos     uint64
	RunNanos, CommitNanos       uint64
	FinishNanos                 uint64
}
