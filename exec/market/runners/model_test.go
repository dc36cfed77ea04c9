package runners

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/statetest"
)

// modelled is a runner as the texts say it, without rows, marks or pages.
type modelled struct {
	joined             int // place in the active list
	stake, largest     chain.Wei
	heard              chain.Height
	healthy, out, rest bool // rest: paused
	changed            chain.Height
	moved              bool // changed its offer since it first registered
	aside              []Tranche
}

func unpaid(int, int) error { return nil }

// nobodyWaits is a market without jobs.
type nobodyWaits struct{}

func (nobodyWaits) SubmittedWithin(chain.Height, chain.Height) (bool, error) { return false, nil }

type model struct {
	p    *params.Params
	all  map[chain.Address]*modelled
	list []chain.Address
}

func (m *model) required(largest chain.Wei) chain.Wei { // whitepaper §5.2
	n := largest * 3 / 2
	if largest%2 == 1 {
		n++
	}
	return max(n, m.p.Runner.StakeFloor)
}

func (m *model) register(a chain.Address, h chain.Height, stake, largest chain.Wei) error {
	r := m.all[a]
	switch {
	case r != nil && !r.out:
		return ErrRegistered
	case stake < m.required(largest):
		return ErrStake
	case r != nil && r.moved && uint64(h-r.changed) < m.p.Runner.OfferCooldownBlocks:
		return ErrCooldown
	case r == nil && len(m.list) >= int(m.p.Runner.MaxRegistered):
		return ErrFull
	case r == nil:
		r = &modelled{joined: len(m.list), changed: h}
		m.all[a], m.list = r, append(m.list, a)
	default:
		r.changed, r.moved = h, true
	}
	r.stake, r.largest, r.heard, r.healthy, r.out, r.rest = stake, largest, h, true, false, false
	return nil
}

func (m *model) unstake(a chain.Address, h chain.Height, n chain.Wei) error {
	r := m.all[a]
	switch {
	case r == nil:
		return ErrUnknown
	case r.out:
		return ErrGone
	case len(r.aside) >= MaxTranches && r.aside[len(r.aside)-1].Free != h+chain.Height(m.p.Runner.UnbondingBlocks):
		return ErrTranches
	case n == 0 || n > r.stake:
		return ErrAmount
	case !r.rest && r.stake-n < m.required(r.largest):
		return ErrStake
	}
	r.putAside(n, h+chain.Height(m.p.Runner.UnbondingBlocks))
	return nil
}

func (r *modelled) putAside(n chain.Wei, free chain.Height) {
	r.stake -= n
	if k := len(r.aside) - 1; k >= 0 && (r.aside[k].Free == free || k+1 == MaxTranches) {
		r.aside[k] = Tranche{r.aside[k].Amount + n, max(free, r.aside[k].Free)}
		return
	}
	r.aside = append(r.aside, Tranche{n, free})
}

func (m *model) withdraw(a chain.Address, h chain.Height) (free chain.Wei, err error) {
	r := m.all[a]
	if r == nil {
		return 0, ErrUnknown
	}
	r.aside = slices.DeleteFunc(r.aside, func(t Tranche) bool {
		if t.Free <= h {
			free += t.Amount
		}
		return t.Free <= h
	})
	if free == 0 {
		return 0, ErrNothingFree
	}
	return free, nil
}

// sum is what the registry holds.
func (m *model) sum() (n chain.Wei) {
	for _, r := range m.all {
		n += r.stake
		for _, t := range r.aside {
			n += t.Amount
		}
	}
	return n
}

// TestRegistryMatchesModel runs random lives of runners beside the model, block by block:
// equal verdicts, equal rows, and pages that say what the rows say.
func TestRegistryMatchesModel(t *testing.T) {
	seeds := 40
	if testing.Short() {
		seeds = 8
	}
	for seed := range uint64(seeds) {
		playRegistry(t, seed)
	}
}

func playRegistry(t *testing.T, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 12))
	p := params.Default()
	p.Runner.StakeFloor, p.Runner.HeartbeatTimeoutBlocks, p.Runner.UnbondingBlocks = 1_000, 5, 9
	p.Runner.MaxRegistered, p.Runner.OfferCooldownBlocks = 70, 4 // more than a page
	m := &model{p: &p, all: map[chain.Address]*modelled{}}
	maps, held := statetest.NewMaps(&state.Delta{}), chain.Wei(0)
	for h := chain.Height(1); h <= 120; h++ {
		if rng.IntN(40) == 0 { // a vote
			p.Runner.HeartbeatTimeoutBlocks, p.Runner.UnbondingBlocks = 1+rng.Uint64N(12), 1+rng.Uint64N(20)
		}
		b := &Book{State: state.NewOverlay(maps), Params: &p, Height: h}
		events, err := b.Floor()
		if err != nil {
			t.Fatalf("seed %d, block %d: floor: %v", seed, h, err)
		}
		silent := 0
		for _, r := range m.all {
			if r.healthy && h-min(h, r.heard) > chain.Height(p.Runner.HeartbeatTimeoutBlocks) {
				r.healthy = false
				silent++
			}
		}
		if len(events) != silent {
			t.Fatalf("seed %d, block %d: %d fell silent, %d announced", seed, h, silent, len(events))
		}
		for range rng.IntN(12) {
			held = actRandomly(t, rng, b, m, held)
		}
		if err := b.Fold(nobodyWaits{}); err != nil {
			t.Fatalf("seed %d, block %d: fold: %v", seed, h, err)
		}
		maps.Write(b.State.Delta())
		if sum := m.sum(); sum != held {
			t.Fatalf("seed %d, block %d: the books say %d, the registry holds %d", seed, h, sum, held)
		}
		comparePages(t, maps, m, seed, h)
	}
}

// actRandomly lets one runner do one thing on both sides. It returns what the registry
// holds then.
func actRandomly(t *testing.T, rng *rand.Rand, b *Book, m *model, held chain.Wei) chain.Wei {
	a, h := chain.Address{0: byte(rng.IntN(90)), 19: 1}, b.Height
	r, mark := m.all[a], b.State.Snapshot()
	var got, want error
	amount := chain.Wei(rng.Uint64N(4_000))
	switch rng.IntN(8) {
	case 0, 1:
		largest := chain.Wei(rng.Uint64N(2_500))
		o := &Offer{Capabilities: chain.Capabilities{MaxConcurrentJobs: 4, JobTypes: []chain.JobKind{chain.JobHTTP}}}
		_, got = b.Register(a, amount, largest, o, unpaid)
		if want = m.register(a, h, amount, largest); want == nil {
			held += amount
		}
	case 2, 3:
		_, got = b.Heartbeat(a)
		switch {
		case r == nil:
			want = ErrUnknown
		case r.out:
			want = ErrGone
		case r.heard == h:
			want = ErrHeard
		default:
			r.heard, r.healthy = h, true
		}
	case 4:
		got, want = b.Unstake(a, amount), m.unstake(a, h, amount)
	case 5:
		free, err := b.Withdraw(a)
		paid, e := m.withdraw(a, h)
		if free != paid {
			t.Fatalf("block %d: %s withdraws %d, want %d", h, a, free, paid)
		}
		got, want, held = err, e, held-free
	case 6:
		got = b.Deregister(a)
		switch {
		case r == nil:
			want = ErrUnknown
		case r.out:
			want = ErrGone
		default:
			r.out, r.healthy, r.rest = true, false, false
			if r.stake > 0 {
				r.putAside(r.stake, h+chain.Height(m.p.Runner.UnbondingBlocks))
			}
		}
	case 7:
		held, got, want = changeRandomly(rng, b, m, a, held)
	}
	if !errors.Is(got, want) {
		t.Fatalf("block %d: %s: %v, want %v", h, a, got, want)
	}
	if got != nil {
		b.State.Revert(mark)
	}
	return held
}

func changeRandomly(rng *rand.Rand, b *Book, m *model, a chain.Address, held chain.Wei) (chain.Wei, error, error) {
	r, h := m.all[a], b.Height
	if rng.IntN(2) == 0 {
		paused := rng.IntN(2) == 0
		got := b.SetPaused(a, paused)
		switch {
		case r == nil:
			return held, got, ErrUnknown
		case r.out:
			return held, got, ErrGone
		}
		r.rest = paused
		return held, got, nil
	}
	c, more := &chain.RunnerUpdate{}, chain.Wei(rng.Uint64N(500))
	if rng.IntN(2) == 0 {
		largest := chain.Wei(rng.Uint64N(2_500))
		c.MaxJobValue = &largest
	}
	got := b.Update(a, more, c, unpaid)
	switch {
	case r == nil:
		return held, got, ErrUnknown
	case r.out:
		return held, got, ErrGone
	case c.MaxJobValue != nil && r.moved && uint64(h-r.changed) < m.p.Runner.OfferCooldownBlocks:
		return held, got, ErrCooldown
	case c.MaxJobValue != nil && r.stake+more < m.required(*c.MaxJobValue):
		return held, got, ErrStake
	}
	r.stake += more
	if c.MaxJobValue != nil {
		r.largest, r.changed, r.moved = *c.MaxJobValue, h, true
	}
	return held + more, got, nil
}

// comparePages holds the pages to the model.
func comparePages(t *testing.T, view state.View, m *model, seed uint64, h chain.Height) {
	t.Helper()
	read := func(k state.StorageKey) []byte {
		v, err := view.Storage(chain.AddrRunnerRegistry, k)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if n, err := Count(view); err != nil || int(n) != len(m.list) {
		t.Fatalf("seed %d, block %d: %d entries, want %d (%v)", seed, h, n, len(m.list), err)
	}
	var active []byte
	for page := range uint32(len(m.list)/listPage + 2) {
		active = append(active, read(activeKey(page))...)
	}
	if len(active) != len(m.list)*activeBytes { // resolution 12.1: joined, the pages are the array
		t.Fatalf("seed %d, block %d: pages of %d bytes", seed, h, len(active))
	}
	for i, a := range m.list {
		r := m.all[a]
		if !bytes.Equal(active[i*activeBytes:][:activeBytes], a[:]) {
			t.Fatalf("seed %d, block %d: entry %d is another runner", seed, h, i)
		}
		want := selection.Flags(0)
		for _, f := range []struct {
			flag selection.Flags
			is   bool
		}{{selection.Healthy, r.healthy}, {selection.Paused, r.rest}, {selection.Deregistered, r.out}, {selection.Understaked, r.stake < m.required(r.largest)}} {
			if f.is {
				want |= f.flag
			}
		}
		load := read(loadKey(uint32(i / listPage)))[i%listPage*loadBytes:]
		if got := selection.Flags(load[4]); got != want || binary.BigEndian.Uint16(load[2:]) != 4 || load[5] != 1<<chain.JobHTTP {
			t.Fatalf("seed %d, block %d: runner %d has flags %b, want %b; load %x", seed, h, i, got, want, load[:loadBytes])
		}
		standing := read(standingKey(uint32(i / standingPage)))[standingHead+i%standingPage*standingBytes:]
		if got := chain.Wei(binary.BigEndian.Uint64(standing)); got != r.stake {
			t.Fatalf("seed %d, block %d: runner %d has stake %d, want %d", seed, h, i, got, r.stake)
		}
	}
}
