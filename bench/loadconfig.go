package bench

import (
	"errors"
	"fmt"
	"net/url"
	"time"
)

// Arrival is the way in which send times are spread.
type Arrival string

const (
	ArrivalConstant Arrival = "constant" // equal gaps
	ArrivalPoisson  Arrival = "poisson"  // independent arrivals: exponential gaps
)

// LoadConfig says what load to put on which node. Start from DefaultLoadConfig.
type LoadConfig struct {
	RPC         string        // base URL of the node
	Rate        float64       // transfers due per second
	Duration    time.Duration // of the schedule
	Accounts    int           // senders, all funded before the start
	Arrival     Arrival
	Seed        uint64   // of the accounts' keys and of the schedule
	Connections int      // senders in parallel; an account stays on one
	Batch       int      // transfers in one request; they are due together
	FundKey     [32]byte // zero: the accounts must have money already
	Mix         Mix      // what is sent

	FeeHeadroom    uint64        // largest base fee a transfer accepts, in multiples of today's
	MaxInFlight    int           // transfers handed out and unanswered; slots above it are skipped and counted
	Drain          time.Duration // wait for finalization after the last answer
	RequestTimeout time.Duration
	LateAfter      time.Duration // a transfer sent later than this counts as late
	LatenessMax    time.Duration // the pacer's p99 lateness above this makes the run invalid
	SpinWindow     time.Duration // the pacer spins through the last part of each wait
}

// MaxBatch is the most transactions one /submit takes (resolution 11.12).
const MaxBatch = 50

// DefaultLoadConfig returns settings for a short run against a local devnet.
func DefaultLoadConfig() LoadConfig {
	return LoadConfig{
		RPC:         "http://127.0.0.1:4000",
		Rate:        200,
		Duration:    20 * time.Second,
		Accounts:    100,
		Arrival:     ArrivalConstant,
		Seed:        1,
		Connections: 4,
		Mix:         TransferMix(),
		Batch:       10, // 20 requests a second: a node's default limit for one client is 100

		FeeHeadroom:    1000, // a full block raises the fee by an eighth: 1000 is about a minute of full blocks at one a second
		MaxInFlight:    20_000,
		Drain:          30 * time.Second,
		RequestTimeout: 30 * time.Second,
		LateAfter:      10 * time.Millisecond,
		LatenessMax:    20 * time.Millisecond,  // two hundredths of a block; a node that takes every core costs the pacer some
		SpinWindow:     200 * time.Microsecond, // the system's sleep overshoots by less than this, mostly
	}
}

// Check reports the first setting that cannot work.
func (c *LoadConfig) Check() error {
	u, err := url.Parse(c.RPC)
	switch {
	case err != nil || u.Host == "" || (u.Scheme != "http" && u.Scheme != "https"):
		return fmt.Errorf("rpc %q: want a URL such as http://127.0.0.1:4000", c.RPC)
	case !(c.Rate > 0) || c.Rate > 1e7:
		return fmt.Errorf("rate = %g, want above 0 and at most 10,000,000 a second", c.Rate)
	case c.Duration <= 0:
		return fmt.Errorf("duration = %v, want above 0", c.Duration)
	case c.Rate*c.Duration.Seconds() < 1:
		return fmt.Errorf("rate %g for %v is less than one transfer", c.Rate, c.Duration)
	case c.Rate*c.Duration.Seconds() > transfersMax:
		return fmt.Errorf("rate %g for %v is more than %d transfers, which is the most held in memory", c.Rate, c.Duration, transfersMax)
	case c.Accounts < 1 || c.Accounts > 1_000_000:
		return fmt.Errorf("accounts = %d, want 1 to 1,000,000", c.Accounts)
	case c.Connections < 1 || c.Connections > 1024:
		return fmt.Errorf("connections = %d, want 1 to 1024", c.Connections)
	case c.Accounts < c.Connections:
		return fmt.Errorf("%d accounts for %d connections: an account stays on one connection, so there must be at least as many", c.Accounts, c.Connections)
	case c.Batch < 1 || c.Batch > MaxBatch:
		return fmt.Errorf("batch = %d, want 1 to %d", c.Batch, MaxBatch)
	case c.Arrival != ArrivalConstant && c.Arrival != ArrivalPoisson:
		return fmt.Errorf("arrival = %q, want constant or poisson", c.Arrival)
	case c.FeeHeadroom < 1 || c.FeeHeadroom > 1<<32:
		return fmt.Errorf("fee headroom = %d, want 1 to 2^32", c.FeeHeadroom)
	case c.MaxInFlight < c.Batch:
		return fmt.Errorf("max in flight = %d is less than a batch of %d: every slot would be skipped", c.MaxInFlight, c.Batch)
	case c.Drain <= 0 || c.RequestTimeout <= 0:
		return errors.New("drain and request timeout must be above 0")
	case c.LateAfter <= 0 || c.LatenessMax <= 0 || c.SpinWindow < 0:
		return errors.New("lateness bounds must be above 0 and the spin window not negative")
	}
	return c.Mix.Check()
}

// transfersMax keeps a run's pre-signed transfers within a few gigabytes.
const transfersMax = 10_000_000
