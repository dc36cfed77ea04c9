package selection_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
)

// answers is what the state would say: of each runner, by the first byte of its address.
type answers struct {
	provides, joined byte // of 256
	err              error
	asked            int
}

func (a *answers) Provides(_ chain.Hash, r chain.Address) (bool, error) {
	a.asked++
	return r[0] < a.provides, a.err
}

func (a *answers) JoinedPool(_ string, r chain.Address) (bool, error) {
	a.asked++
	return r[0] < a.joined, a.err
}

// What runners of the tests offer: as lists, for the plain filters, and made ready.
var (
	someHosts, anyHost  = []string{"b.example", "*.a.example"}, []string{"*"}
	readySome, readyAny = manifest.PatternsOf(someHosts), manifest.PatternsOf(anyHost)
)

// fit is a runner that passes every filter of wants.
func fit() selection.Runner {
	return selection.Runner{
		Address: chain.Address{1}, Flags: selection.Healthy, Kinds: 1<<chain.JobLLM | 1<<chain.JobHTTP,
		Active: 1, Cap: 2, Stake: 15_000, Bonded: 5_000, ReputationX1e9: 49_500_000_000,
		Offer: &selection.Offer{
			Rates:   selection.Rates{InputToken: 1, OutputToken: 2, Request: 3, ComputeSecond: 4, MemoryMB: 5},
			Domains: readySome, Models: []chain.Hash{{7}, {8}}, Enclave: "tdx",
		},
	}
}

// wants asks for exactly what fit has.
func wants(kind chain.JobKind) selection.Wanted {
	return selection.Wanted{
		Kind: kind, Host: "api.a.example", Model: chain.Hash{8}, Tee: true, TeeType: "tdx", MaxPrice: 10_001, Runners: 3,
		Bounds: selection.Bounds{InputTokens: 333, OutputTokens: 500, Requests: 333, WallSeconds: 250, MemoryMB: 200},
		Pool:   "pool", Manifest: chain.Hash{1}, CoverBasisPoints: 14_998, BondE6: 999_900,
	}
}

// TestFilters: each filter at its edge, the last runner that passes and the first that
// does not (CIP-2 §4, restored definitions §8).
func TestFilters(t *testing.T) {
	type runner = *selection.Runner
	type wanted = *selection.Wanted
	for _, c := range []struct {
		name string
		kind chain.JobKind
		edit func(runner, wanted)
		want selection.Filter
	}{
		{"fits a model's job", chain.JobLLM, func(runner, wanted) {}, selection.Passed},
		{"fits a fetch", chain.JobHTTP, func(runner, wanted) {}, selection.Passed},
		{"not heard", chain.JobLLM, func(r runner, _ wanted) { r.Flags = 0 }, selection.ByHealth},
		{"paused", chain.JobLLM, func(r runner, _ wanted) { r.Flags |= selection.Paused }, selection.ByHealth},
		{"deregistered", chain.JobLLM, func(r runner, _ wanted) { r.Flags |= selection.Deregistered }, selection.ByHealth},
		{"understaked", chain.JobLLM, func(r runner, _ wanted) { r.Flags |= selection.Understaked }, selection.ByHealth},
		{"suspended", chain.JobLLM, func(r runner, _ wanted) { r.Flags |= selection.Suspended }, selection.ByHealth},
		{"49.499999999 points", chain.JobLLM, func(r runner, _ wanted) { r.ReputationX1e9-- }, selection.ByReputation},
		{"another kind", chain.JobMCP, func(runner, wanted) {}, selection.ByCapability},
		{"no such kind", 8, func(r runner, _ wanted) { r.Kinds = 0xff }, selection.ByCapability},
		{"no offer", chain.JobLLM, func(r runner, _ wanted) { r.Offer = nil }, selection.ByCapability},
		{"another host", chain.JobHTTP, func(_ runner, w wanted) { w.Host = "a.example" }, selection.ByCapability},
		{"a host by name", chain.JobHTTP, func(_ runner, w wanted) { w.Host = "b.example" }, selection.Passed},
		{"any host", chain.JobHTTP, func(r runner, w wanted) { r.Offer.Domains, w.Host = readyAny, "c.example" }, selection.Passed},
		{"another model", chain.JobLLM, func(_ runner, w wanted) { w.Model = chain.Hash{9} }, selection.ByCapability},
		{"any model", chain.JobLLM, func(r runner, w wanted) { r.Offer.Models, w.Model = nil, chain.Hash{} }, selection.Passed},
		{"not attested", chain.JobLLM, func(r runner, w wanted) { r.Address[0] = 2 }, selection.ByCapability},
		{"nothing to attest", chain.JobLLM, func(r runner, w wanted) { r.Address[0], w.Manifest, w.Pool = 2, chain.Hash{}, "" }, selection.Passed},
		{"no enclave", chain.JobLLM, func(r runner, _ wanted) { r.Offer.Enclave = "" }, selection.ByEnclave},
		{"no enclave, any wanted", chain.JobLLM, func(r runner, w wanted) { r.Offer.Enclave, w.TeeType = "", "" }, selection.ByEnclave},
		{"another enclave", chain.JobLLM, func(_ runner, w wanted) { w.TeeType = "sev" }, selection.ByEnclave},
		{"any enclave", chain.JobLLM, func(_ runner, w wanted) { w.TeeType = "" }, selection.Passed},
		{"no enclave wanted", chain.JobLLM, func(r runner, w wanted) { r.Offer.Enclave, w.Tee = "", false }, selection.Passed},
		{"one base unit above the share", chain.JobLLM, func(_ runner, w wanted) { w.Bounds.InputTokens++ }, selection.ByPrice},
		{"tokens of a fetch", chain.JobHTTP, func(_ runner, w wanted) { w.Bounds.InputTokens = 1 << 40 }, selection.Passed},
		{"requests of a model's job", chain.JobLLM, func(_ runner, w wanted) { w.Bounds.Requests = 1 << 40 }, selection.Passed},
		{"a fetch above the share", chain.JobHTTP, func(_ runner, w wanted) { w.Bounds.Requests += 112 }, selection.ByPrice},
		{"the remainder is nobody's", chain.JobLLM, func(_ runner, w wanted) { w.MaxPrice, w.CoverBasisPoints, w.BondE6 = 9_998, 0, 0 }, selection.ByPrice},
		{"a price of 65 bits", chain.JobLLM, func(r runner, w wanted) { r.Offer.Rates.MemoryMB, w.Bounds.MemoryMB = 1<<63, 2 }, selection.ByPrice},
		{"a sum of 65 bits", chain.JobLLM, func(r runner, w wanted) { r.Offer.Rates.MemoryMB, w.Bounds.MemoryMB = ^uint64(0), 1 }, selection.ByPrice},
		{"no price", chain.JobLLM, func(r runner, w wanted) { r.Offer.Rates.MemoryMB, w.MaxPrice = 1<<63, 0 }, selection.Passed},
		{"busy", chain.JobLLM, func(r runner, _ wanted) { r.Active = 2 }, selection.ByConcurrency},
		{"on probation", chain.JobLLM, func(r runner, _ wanted) { r.Cap = selection.Cap(2, 9, 10) }, selection.ByConcurrency},
		{"past probation", chain.JobLLM, func(r runner, _ wanted) { r.Cap = selection.Cap(2, 10, 10) }, selection.Passed},
		{"not in the pool", chain.JobLLM, func(r runner, w wanted) { r.Address[0], w.Manifest = 2, chain.Hash{} }, selection.ByPool},
		{"stake does not cover", chain.JobLLM, func(_ runner, w wanted) { w.CoverBasisPoints++ }, selection.ByCover},
		{"no cover wanted", chain.JobLLM, func(r runner, w wanted) { r.Stake, w.CoverBasisPoints, w.BondE6 = 0, 0, 0 }, selection.Passed},
		{"bonded", chain.JobLLM, func(_ runner, w wanted) { w.BondE6++ }, selection.ByBond},
		{"bonded for more than the stake", chain.JobLLM, func(r runner, _ wanted) { r.Bonded = 15_001 }, selection.ByBond},
		{"the first that fails is named", chain.JobMCP, func(r runner, w wanted) { r.Active, r.Flags = 9, 0 }, selection.ByHealth},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, w := fit(), wants(c.kind)
			c.edit(&r, &w)
			by, err := w.Judge(&r, configOf(selection.V3), &answers{provides: 2, joined: 2})
			if err != nil || by != c.want {
				t.Errorf("kept away by filter %d, want %d: %v", by, c.want, err)
			}
		})
	}
}

// TestStateIsAskedLast: who fails before is not looked up, and a state that cannot be read
// is an error, not a runner without a right.
func TestStateIsAskedLast(t *testing.T) {
	unreadable := &answers{err: errors.New("no disk")}
	runners := []selection.Runner{fit(), fit()}
	runners[0].Flags, runners[1].Flags = 0, selection.Paused
	w := wants(chain.JobLLM)
	got, err := selection.Eligible(runners, &w, configOf(selection.V3), unreadable)
	if err != nil || got.Has(0) || got.Has(1) || unreadable.asked > 0 {
		t.Errorf("%v, %v, asked %d times", got, err, unreadable.asked)
	}
	for _, ask := range []func(*selection.Wanted){
		func(w *selection.Wanted) { w.Pool = "" }, func(w *selection.Wanted) { w.Manifest = chain.Hash{} },
	} {
		runners[1], w = fit(), wants(chain.JobLLM)
		ask(&w)
		if _, err := selection.Eligible(runners, &w, configOf(selection.V3), unreadable); !errors.Is(err, unreadable.err) {
			t.Errorf("%v", err)
		}
	}
}

// TestWantedIsAKey: what is remembered of a block is found again by equal wants.
func TestWantedIsAKey(t *testing.T) {
	known := map[selection.Wanted]int{wants(chain.JobLLM): 1, wants(chain.JobHTTP): 2}
	if again := wants(chain.JobLLM); known[again] != 1 {
		t.Error("equal wants are not the same key")
	}
	other := wants(chain.JobLLM)
	other.Bounds.MemoryMB++
	if known[other] != 0 {
		t.Error("other wants are the same key")
	}
}

func TestHeard(t *testing.T) { // CIP-11 §7.1
	for _, c := range []struct {
		last, now chain.Height
		want      bool
	}{{0, 100, true}, {0, 101, false}, {50, 10, true}, {1, ^chain.Height(0), false}, {^chain.Height(0), 0, true}} {
		if got := selection.Heard(c.last, c.now, 100); got != c.want {
			t.Errorf("heard at %d, at %d: %v", c.last, c.now, got)
		}
	}
}

// someRunners are runners near the edges of wants.
func someRunners(rng *rand.Rand, n int) []selection.Runner {
	seed := rng.Uint64()
	out := make([]selection.Runner, n)
	often := func() bool { return rng.IntN(12) > 0 }
	for i := range out {
		r := fit()
		r.Address = addressOf(seed, uint64(i))
		if !often() {
			r.Flags = selection.Flags(rng.IntN(32))
		}
		if !often() {
			r.Kinds = uint8(rng.Uint32())
		}
		if !often() {
			r.Active, r.Cap = uint16(rng.IntN(4)), uint16(rng.IntN(4))
		}
		if !often() {
			r.Stake, r.Bonded = chain.Wei(someWord(rng)), chain.Wei(someWord(rng))
		}
		if !often() {
			r.ReputationX1e9 = 49_500_000_000 - 1 + uint64(rng.IntN(3))
		}
		if !often() {
			o := *r.Offer
			o.Rates.ComputeSecond, o.Rates.MemoryMB, o.Rates.Request = someWord(rng), someWord(rng), someWord(rng)
			r.Offer = &o
		}
		if !often() {
			r.Offer = &selection.Offer{Domains: readyAny, Models: []chain.Hash{{9}}, Enclave: "sev"}
		}
		out[i] = r
	}
	return out
}

// FuzzEligible holds the candidates, and what kept the others away, to filters that are
// all asked of all.
func FuzzEligible(f *testing.F) {
	for seed := range uint64(6) {
		f.Add(seed, uint8(200), uint8(seed))
	}
	f.Fuzz(func(t *testing.T, seed uint64, n, kind uint8) {
		rng := rand.New(rand.NewPCG(seed, 2))
		runners := someRunners(rng, int(n))
		w := wants(chain.JobKind(kind % 6))
		if rng.IntN(2) == 0 {
			w.Tee, w.TeeType = rng.IntN(2) == 0, []string{"", "sev", "tdx"}[rng.IntN(3)]
			w.MaxPrice, w.Runners = chain.Wei(someWord(rng)), 1+rng.Uint64N(16)
			w.CoverBasisPoints, w.BondE6 = rng.Uint64N(2)*someWord(rng), rng.Uint64N(2)*someWord(rng)
		}
		c, ask := configOf(selection.V3), &answers{provides: byte(rng.Uint32() | 128), joined: byte(rng.Uint32() | 64)}
		want, by := plainEligible(runners, &w, c, ask)
		got, err := selection.Eligible(runners, &w, c, ask)
		if err != nil {
			t.Fatal(err)
		}
		more := append(slices.Clip(runners), someRunners(rng, 9)...) // who came later
		for _, later := range [][]selection.Runner{runners, more} {
			list := c.Weigh(later, selection.ByAddress(later), got)
			if len(list) != len(want) {
				t.Fatalf("%d candidates of %d runners, want %d", len(list), len(later), len(want))
			}
			for i, at := range want {
				r := &runners[at]
				if list[i] != (chain.Candidate{Runner: r.Address, EffectiveStake: r.Stake, ReputationX1e9: r.ReputationX1e9, BaseWeight: plainWeight(c, uint64(r.Stake), r.ReputationX1e9)}) {
					t.Fatalf("candidate %d is %+v, want runner %d, %+v", i, list[i], at, r)
				}
			}
		}
		for i := range runners {
			if got, err := w.Judge(&runners[i], c, ask); err != nil || got != by[i] {
				t.Fatalf("runner %d is kept away by %d, want %d: %v", i, got, by[i], err)
			}
		}
	})
}
