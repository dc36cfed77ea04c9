package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/ops"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// room watches how near the state is to where it ends: the limit that the protocol
// has for all nodes, the memory that this node has for the tries, and the space
// that their references can name. Readers take what it saw last: to ask the tries
// waits for a block that is being applied.
type room struct {
	cfg  roomConfig
	seen atomic.Pointer[roomSeen]
	said map[string]int // by limit, the highest mark that was logged; owned by run
}

type roomConfig struct {
	memory uint64 // that the tries may take; 0 if nobody knows
	tries  func() store.Resident
	chain  func() (chainRoom, error)
	log    *slog.Logger
}

// chainRoom is what the protocol counts.
type chainRoom struct {
	Bytes, Limit uint64
	Growth       uint64 // factor of the price of new bytes, in basis points
}

func (c *chainRoom) factor() float64 { return float64(c.Growth) / fees.GrowthOne }

// state is what readers are told of it: at most as old as the last look.
func (r *room) state() rpc.StateRoom { return rpc.StateRoom(r.seen.Load().chain) }

// roomSeen is one look.
type roomSeen struct {
	memory uint64
	tries  store.Resident
	chain  chainRoom
}

// roomEvery is the time between two looks: filling a hundredth of any limit takes
// many times as long.
const roomEvery = 5 * time.Second

// Marks at which the node says that a limit is near, in percent.
const (
	roomMark       = 70
	roomMarkUrgent = 90
)

func newRoom(cfg roomConfig) *room {
	r := &room{cfg: cfg, said: map[string]int{}}
	r.seen.Store(&roomSeen{memory: cfg.memory})
	return r
}

// stateMemory is what the tries may take: what the operator says, else a share of
// the machine.
func stateMemory(set int64) uint64 {
	if set > 0 {
		return uint64(set)
	}
	total, _ := ops.Memory()
	return ops.StateMemory(total)
}

// run looks until ctx ends.
func (r *room) run(ctx context.Context) error {
	tick := time.NewTicker(roomEvery)
	defer tick.Stop()
	for {
		r.measure()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// measure sees how things stand, and logs each mark that is passed, once.
func (r *room) measure() {
	seen := &roomSeen{memory: r.cfg.memory, tries: r.cfg.tries()}
	var err error
	if seen.chain, err = r.cfg.chain(); err != nil {
		if !errors.Is(err, store.ErrStale) { // else the head has moved on: next time
			r.cfg.log.Warn("the protocol's count of the state cannot be read", "err", err)
		}
		seen.chain = r.seen.Load().chain
	}
	r.seen.Store(seen)
	for _, l := range seen.limits() {
		mark := l.mark()
		if mark > r.said[l.name] {
			r.cfg.log.Warn("room for state: " + l.sentence())
		}
		r.said[l.name] = mark
	}
}

// limit is one of the ends that the state may come to.
type limit struct {
	name      string
	share     float64
	what, fix string
}

func (s *roomSeen) limits() []limit {
	gib := func(n uint64) float64 { return float64(n) / (1 << 30) }
	var out []limit
	if s.memory > 0 {
		used, free := uint64(s.tries.Bytes), uint64(s.tries.Free)
		out = append(out, limit{
			name: "memory", share: float64(used) / float64(s.memory),
			what: fmt.Sprintf("of the memory that this node has for state (%.1f of %.1f GiB) is taken, %.1f GiB of it free for new records", gib(used), gib(s.memory), gib(free)),
			fix:  "a restart gives back what is free; where that is little, give it a machine with more, or raise --state-memory-mib where there is more",
		})
	}
	if s.chain.Limit > 0 {
		out = append(out, limit{
			name: "chain", share: float64(s.chain.Bytes) / float64(s.chain.Limit),
			what: fmt.Sprintf("of the chain's limit of state (%.1f of %.1f GiB) is in use; new entries cost %.4g times their price", gib(s.chain.Bytes), gib(s.chain.Limit), s.chain.factor()),
			fix:  "only governance can raise it (state.limit_bytes), which all nodes need memory for",
		})
	}
	return append(out, limit{
		name: "references", share: s.tries.Arena,
		what: "of the records that the tries can name are in use",
		fix:  "no setting raises this: ask for a build with wider references",
	})
}

// mark is the highest mark that the share has passed, 0 for none.
func (l *limit) mark() int {
	switch {
	case l.share*100 >= roomMarkUrgent:
		return roomMarkUrgent
	case l.share*100 >= roomMark:
		return roomMark
	}
	return 0
}

func (l *limit) sentence() string {
	text := fmt.Sprintf("%.0f %% %s: %s", l.share*100, l.what, l.fix)
	if l.mark() == roomMarkUrgent {
		text = "urgent: " + text
	}
	return text
}

// reasons are what /health says; none while there is room.
func (r *room) reasons() (out []string) {
	for _, l := range r.seen.Load().limits() {
		if l.mark() > 0 {
			out = append(out, l.sentence())
		}
	}
	return out
}

// roomMetrics exports what room saw.
func (n *Node) roomMetrics(gauge gaugeFunc) {
	seen := func(of func(*roomSeen) float64) func() float64 {
		return func() float64 { return of(n.room.seen.Load()) }
	}
	gauge("state_bytes", "Bytes of the state as the protocol counts them.", seen(func(s *roomSeen) float64 { return float64(s.chain.Bytes) }))
	gauge("state_limit_bytes", "The protocol's limit of them.", seen(func(s *roomSeen) float64 { return float64(s.chain.Limit) }))
	gauge("state_price_factor", "By how much new bytes of the state are dearer than on a young chain.", seen(func(s *roomSeen) float64 { return s.chain.factor() }))
	gauge("state_memory_bytes", "Memory that the resident tries take.", seen(func(s *roomSeen) float64 { return float64(s.tries.Bytes) }))
	gauge("state_memory_free_bytes", "Of it, what is not in records: given back, or not used yet.", seen(func(s *roomSeen) float64 { return float64(s.tries.Free) }))
	gauge("state_memory_limit_bytes", "Memory that this node has for the tries; 0 if the system does not tell.", seen(func(s *roomSeen) float64 { return float64(s.memory) }))
	gauge("state_arena_use_ratio", "Part of the records that the tries can name which is in use.", seen(func(s *roomSeen) float64 { return s.tries.Arena }))
}

// chainRoom reads the protocol's count at the head.
func (n *Node) chainRoom() (chainRoom, error) {
	head := n.ledger.Head()
	release, err := head.State.Keep()
	if err != nil {
		return chainRoom{}, err
	}
	defer release()
	return countState(head.State, head.Force.Params)
}

// countState is what the protocol counts of a state, and its limit.
func countState(view state.View, p *params.Params) (chainRoom, error) {
	m, err := exec.StateMeter(view)
	if err != nil {
		return chainRoom{}, err
	}
	kept := m.Total(&p.State)
	return chainRoom{Bytes: kept, Limit: p.State.LimitBytes, Growth: fees.GrowthFactor(&p.State, kept)}, nil
}

// StateLimit is what the state of the chain in a data folder may come to, in bytes
// as the protocol counts them; that of a new chain where there is none yet.
func StateLimit(dataDir string) uint64 {
	g, err := datadir.LoadGenesis(dataDir)
	if err != nil {
		g = genesis.DevnetTemplate()
	}
	return g.Params.State.LimitBytes
}
