package node

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"runtime"
	"strconv"
	"time"

	"github.com/cowboy-foundation/cowboy/exec/parallel"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/p2p"
	"github.com/cowboy-foundation/cowboy/node/repair"
	"github.com/cowboy-foundation/cowboy/node/submitted"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// Config is what an operator sets. The zero value is invalid; start from
// DefaultConfig.
type Config struct {
	DataDir string
	RPCAddr string // HTTP API
	P2PAddr string // UDP, validators
	// P2PAdvertise is the p2p address that other validators are told; empty if
	// it is the one above.
	P2PAdvertise string
	RunnerAddr   string // UDP, runners
	AdminAddr    string // metrics and pprof
	Archive      Archive
	Devnet       bool // serve the faucet and /dev/advance
	Version      string
	RPCHosts     []string // names of the API besides localhost, for a proxy in front of it
	// RPCProxies are those whose X-Forwarded-For the API believes.
	RPCProxies []netip.Prefix
	RPCPerSec  int // requests per second and client address; 0 is unlimited
	// RPCDebt is what one request of the API may come to owe, as time of that rate.
	RPCDebt time.Duration
	// WatchFor is the longest time that a start listens for another life of its key
	// before it votes; how long is drawn, from a fifth of it up. Negative: 10 s, and
	// half a second on a development chain (docs/adr/0103).
	WatchFor time.Duration
	// Alone lets it vote at once: the operator knows that there is no other life.
	Alone     bool
	Byzantine string // the way in which this validator lies; only on a development chain
	// CheckpointBlocks is how many blocks lie between two checkpoints of the
	// state that others can fetch; 0 makes none.
	CheckpointBlocks uint64
	// Exec says how the transactions of a block are executed. No result depends
	// on it.
	Exec parallel.Config
	// BuildPercent is the part of the block time in which a proposal takes
	// transactions (docs/adr/0071).
	BuildPercent int
	// MinBlock lets proposals leave so long after their parent where the pool holds
	// enough for a block, on a development chain (docs/adr/0194); 0 never.
	MinBlock time.Duration
	// StateMemory is how many bytes the tries of the state may take before the node
	// says that they are too many; 0 for three quarters of what the machine has.
	StateMemory int64
	// FreeBytesFloor is how much of the disk stays free: below it the node stops
	// before it writes. 0 for no floor.
	FreeBytesFloor int64
	// FullNodes is how many nodes that are no validators may connect; 0 lets none in.
	FullNodes int
	// FullNodeBytes and FullNodesBytes are what one of them, and all together, may be
	// sent in a second.
	FullNodeBytes, FullNodesBytes int
	wireVersion                   uint16 // instead of p2p.Version, for tests of upgrades
	// ScrubBytes is how much of the stored blocks is read again each second, to find
	// damage; 0 reads none.
	ScrubBytes int64
	// RepairBytes is how much of damaged blocks is fetched from members and written again
	// each second; 0 mends none.
	RepairBytes int64
	// Passphrase is asked when keys.json is encrypted; nil: such keys are refused.
	Passphrase datadir.Passphrase
	// SubmittedBytes bounds the file of what clients submitted to this node, which it
	// offers to its pool again after a restart; 0 keeps none (docs/adr/0085).
	SubmittedBytes int64
	// Budgets bounds what others can pile up here; Timeouts says how long a view waits.
	Budgets  Budgets
	Timeouts Timeouts
}

// Archive says whether old values are kept for ever, to answer for the state of
// any height.
type Archive uint8

const (
	ArchiveAsBefore Archive = iota // as the data folder has it; a new one is none
	ArchiveKeep
	ArchiveEnd // what was kept is given up
)

// DefaultConfig listens on loopback only: nothing is reachable from outside
// unless an operator says so.
func DefaultConfig() Config {
	mesh := p2p.DefaultConfig(0)
	return Config{
		RPCAddr:    "127.0.0.1:4000",
		P2PAddr:    "127.0.0.1:4001",
		RunnerAddr: "127.0.0.1:4002",
		AdminAddr:  "127.0.0.1:4003",
		RPCPerSec:  100,
		RPCDebt:    time.Minute,

		CheckpointBlocks: 10_000,
		WatchFor:         -1,
		Exec:             parallel.DefaultConfig(runtime.GOMAXPROCS(0)),
		FreeBytesFloor:   store.DefaultOptions().FreeBytesFloor,
		FullNodes:        mesh.FullNodesMax,
		FullNodeBytes:    mesh.FullNodeBytesPerSecond,
		FullNodesBytes:   mesh.FullNodesBytesPerSecond,
		ScrubBytes:       1 << 20, // 84 GiB a day, a hundredth of what a disk can read
		RepairBytes:      repair.DefaultConfig().BytesPerSecond,
		SubmittedBytes:   16 << 20, // a hundred thousand transfers
		Timeouts:         Timeouts{Max: time.Minute},
	}
}

// Check reports the first setting that cannot work.
func (c Config) Check() error {
	if c.DataDir == "" {
		return errors.New("data folder is not set")
	}
	if c.Archive > ArchiveEnd {
		return fmt.Errorf("archive mode %d does not exist", c.Archive)
	}
	if err := c.Exec.Check(); err != nil {
		return fmt.Errorf("execution: %w", err)
	}
	if err := errors.Join(c.Budgets.check(), c.Timeouts.check()); err != nil {
		return err
	}
	if c.BuildPercent < 0 || c.BuildPercent > 100 {
		return fmt.Errorf("build percent = %d, want 1 to 100, or 0 for the default", c.BuildPercent)
	}
	if c.StateMemory < 0 {
		return errors.New("memory for state is below 0")
	}
	if c.FreeBytesFloor < 0 {
		return errors.New("floor of free space is below 0")
	}
	if c.ScrubBytes < 0 || c.ScrubBytes > 1<<40 {
		return fmt.Errorf("pace of scrubbing = %d bytes a second, want 0 to %d", c.ScrubBytes, int64(1)<<40)
	}
	if c.RepairBytes < 0 || c.RepairBytes > 1<<40 {
		return fmt.Errorf("pace of mending = %d bytes a second, want 0 to %d", c.RepairBytes, int64(1)<<40)
	}
	if c.SubmittedBytes < 0 || c.SubmittedBytes > submitted.MaxBytes {
		return fmt.Errorf("kept submissions = %d bytes, want 0 to %d", c.SubmittedBytes, submitted.MaxBytes)
	}
	for _, a := range []struct{ name, addr string }{
		{"RPC", c.RPCAddr}, {"p2p", c.P2PAddr}, {"runner", c.RunnerAddr}, {"admin", c.AdminAddr},
	} {
		if _, _, err := net.SplitHostPort(a.addr); err != nil {
			return fmt.Errorf("%s address %q: want HOST:PORT", a.name, a.addr)
		}
	}
	return nil
}

// OffsetPorts adds n to every port that is not 0, so that several nodes fit on
// one machine.
func (c Config) OffsetPorts(n int) (Config, error) {
	for _, addr := range []*string{&c.RPCAddr, &c.P2PAddr, &c.RunnerAddr, &c.AdminAddr} {
		host, port, err := net.SplitHostPort(*addr)
		if err != nil {
			return c, fmt.Errorf("address %q: want HOST:PORT", *addr)
		}
		p, err := strconv.Atoi(port)
		if err != nil || p < 0 || p+n > 65535 || p+n < 0 {
			return c, fmt.Errorf("address %q with port offset %d: port out of range", *addr, n)
		}
		if p != 0 {
			*addr = net.JoinHostPort(host, strconv.Itoa(p+n))
		}
	}
	return c, nil
}
