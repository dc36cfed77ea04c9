package simnode

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// Plan is everything that a seed fixes.
type Plan struct {
	Seed       uint64
	Validators int
	BlockTime  time.Duration
	Storm      time.Duration // with faults; then they end
	Calm       time.Duration // in which all must get on and be level
	WatchFor   time.Duration // of every validator at its starts; negative: the default

	Weather    Weather
	Liars      []string      // kinds of package byzantine, the last machines
	Crash      float64       // power cuts and kills a minute, of all machines together
	Partition  float64       // cuts of links a minute
	SlowSync   time.Duration // a sync takes up to this long
	SlowDisk   time.Duration // the same, of the first machine alone: it gets on in few, long turns
	DiskFails  float64       // disks that end, a minute
	ClockSteps float64       // steps of one machine's clock, a minute
	Skew       time.Duration // clocks are apart by up to this much at the start

	Wallets  int           // that send transfers, each through a validator of its own
	Guests   []string      // kinds of strangers, see guests.go
	JoinsAt  time.Duration // after the start, when a full node comes and fetches the state; 0: none
	Withheld time.Duration // for which nothing is final, because a validator is off and liars withhold their votes
}

// liesThatStay are kinds whose liar stays in the talk for a while, or is of
// consequence to consensus. The processes of package node play all of them.
var liesThatStay = []string{
	"equivocator", "conflicter", "nuller", "silent", "withholder", "bad-root", "future-timestamp",
	"invalid-signer", "invalid-seed", "unsigned-voter", "impersonator", "reconfigurer", "babbler",
	"dripper", "refuser", "hoarder", "replayer", "colluder", "colluder",
}

// strangersKinds are what guests do, see guests.go.
var strangersKinds = []string{"asker", "asker", "knocker", "foreigner", "talker"}

// Draw makes the plan of a seed.
func Draw(seed uint64) (p Plan) {
	rng := rand.New(rand.NewPCG(seed, 0x51d))
	p = Plan{
		Seed: seed, Validators: 4, Storm: 3 * time.Minute, Calm: 90 * time.Second, WatchFor: -1,
		Weather: Weather{Delay: time.Duration(1+rng.IntN(60)) * time.Millisecond, Jitter: time.Duration(1+rng.IntN(20)) * time.Millisecond},
	}
	if rng.IntN(4) == 0 {
		p.Validators = 7
	}
	p.drawLoad(rand.New(rand.NewPCG(seed, 0x51e)))
	defer p.company(rand.New(rand.NewPCG(seed, 0x55e)))
	chance := func(percent int) bool { return rng.IntN(100) < percent }
	if chance(40) {
		p.Weather.Loss = rng.Float64() * 0.1
	}
	if chance(30) {
		p.Weather.Repeat = rng.Float64() * 0.05
	}
	if chance(30) {
		p.Weather.Late, p.Weather.LateBy = rng.Float64()*0.1, 200*time.Millisecond
	}
	if chance(70) {
		p.Crash = 1 + rng.Float64()*5
	}
	if chance(50) {
		p.Partition = 1 + rng.Float64()*4
	}
	if chance(30) {
		p.SlowSync = time.Duration(1+rng.IntN(400)) * time.Millisecond
	}
	if chance(25) {
		p.DiskFails = 0.5 + rng.Float64()
	}
	if chance(25) {
		p.ClockSteps = 1 + rng.Float64()
	}
	if chance(30) {
		p.Skew = time.Duration(rng.IntN(2000)) * time.Millisecond
	}
	if chance(60) {
		if f := (p.Validators - 1) / 3; f == 2 && chance(50) {
			p.Liars = []string{"colluder", "colluder"}
			return p
		}
		for range 1 + rng.IntN((p.Validators-1)/3) {
			p.Liars = append(p.Liars, liesThatStay[rng.IntN(len(liesThatStay))])
		}
	}
	return p
}

// drawLoad draws what the chain is for. Most of a run's processor time goes into views:
// longer ones make room for more lives and faults in the hours played.
func (p *Plan) drawLoad(rng *rand.Rand) {
	p.BlockTime = []time.Duration{500 * time.Millisecond, time.Second, time.Second, 2 * time.Second, 2 * time.Second, 4 * time.Second, 4 * time.Second}[rng.IntN(7)]
}

// company draws who comes besides the validators: people, strangers, a node that
// joins, and liars with whom nothing is to become final for a while.
func (p *Plan) company(rng *rand.Rand) {
	chance := func(percent int) bool { return rng.IntN(100) < percent }
	if chance(70) {
		p.Wallets = 1 + rng.IntN(4)
	}
	if chance(25) {
		for range 1 + rng.IntN(2) {
			p.Guests = append(p.Guests, strangersKinds[rng.IntN(len(strangersKinds))])
		}
	}
	if chance(20) {
		p.JoinsAt = 40*time.Second + time.Duration(rng.IntN(60))*time.Second
	}
	defer func() {
		if p.Withheld == 0 && chance(15) {
			p.SlowDisk = time.Duration(1+rng.IntN(6)) * p.BlockTime
		}
	}()
	if f := (p.Validators - 1) / 3; chance(8) {
		p.Liars = []string{"foreigner", "hoarder"}[:f] // alone of four, or beside another of seven
	} else if chance(12) {
		p.hoard()
	}
}

// hoard makes all liars hoarders that keep their votes back, and takes one validator
// away, so that views end without a block for long enough to fill a budget.
func (p *Plan) hoard() {
	p.Liars = slices.Repeat([]string{"hoarder"}, (p.Validators-1)/3)
	p.Withheld = time.Minute
	p.BlockTime = time.Second
	p.Crash, p.Partition, p.DiskFails = 0, 0, 0 // nobody else is away
}

// String is the plan for people.
func (p Plan) String() string {
	w := p.Weather
	s := fmt.Sprintf("seed %d: %d validators, a block in %v, links %v+%v", p.Seed, p.Validators, p.BlockTime, w.Delay, w.Jitter)
	add := func(yes bool, format string, args ...any) {
		if yes {
			s += ", " + fmt.Sprintf(format, args...)
		}
	}
	add(w.Loss > 0, "%.1f%% lost", 100*w.Loss)
	add(w.Repeat > 0, "%.1f%% repeated", 100*w.Repeat)
	add(w.Late > 0, "%.1f%% late", 100*w.Late)
	add(p.Crash > 0, "%.1f crashes/min", p.Crash)
	add(p.Partition > 0, "%.1f cuts/min", p.Partition)
	add(p.SlowSync > 0, "syncs up to %v", p.SlowSync)
	add(p.SlowDisk > 0, "those of one up to %v", p.SlowDisk)
	add(p.DiskFails > 0, "%.1f disks/min fail", p.DiskFails)
	add(p.ClockSteps > 0, "%.1f clock steps/min", p.ClockSteps)
	add(p.Skew > 0, "clocks %v apart", p.Skew)
	add(len(p.Liars) > 0, "liars %s", strings.Join(p.Liars, " "))
	add(p.Wallets > 0, "%d wallets", p.Wallets)
	add(len(p.Guests) > 0, "guests %s", strings.Join(p.Guests, " "))
	add(p.JoinsAt > 0, "one joins after %v", p.JoinsAt)
	add(p.Withheld > 0, "nothing final for %v", p.Withheld)
	return s
}
