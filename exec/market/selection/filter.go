//spec:implements CIP-2 4
//spec:implements CIP-11 9.1
//spec:implements restored 8

package selection

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
)

// Flags are what the registry knows of a runner that keeps it from work, or lets it. Only
// Healthy alone passes.
type Flags uint8

const (
	Healthy      Flags = 1 << iota // heard within the timeout, see [Heard]
	Paused                         // by itself
	Deregistered                   //
	Understaked                    // below what registration demands (resolution 12.3)
	Suspended                      // fell below the least reputation and has not returned (resolution 12.5)
)

// Heard reports whether a runner that was last heard at a height counts as alive at
// another: HEARTBEAT_TIMEOUT_BLOCKS (CIP-11 §7.1, §9.1).
func Heard(last, now chain.Height, timeout uint64) bool {
	return now <= last || uint64(now-last) <= timeout
}

// Runner is what selection reads of a registered runner, at the end of S.
type Runner struct {
	Address        chain.Address
	Flags          Flags
	Kinds          uint8 // bit k: jobs of kind k
	Active         uint16
	Cap            uint16    // see [Cap]
	Stake          chain.Wei // effective_stake of CIP-11 §9.3
	Bonded         chain.Wei // bound to jobs under economic_bond (resolution 12.8)
	ReputationX1e9 uint64    // decayed to S, see [Standing.At]
	Offer          *Offer
}

// Offer is what selection reads of a runner's rate card and capabilities.
type Offer struct {
	Rates   Rates
	Domains *manifest.Patterns // of hosts; "*" is all (entitlements §8.2)
	Models  []chain.Hash       // that it can run
	Enclave string             // type of the enclave that the registries vouch for at S; "" none
}

// Rates are prices in base units, each of one unit of [Bounds].
type Rates struct {
	InputToken, OutputToken, Request, ComputeSecond, MemoryMB uint64
}

// Bounds are the most that a job may use.
type Bounds struct {
	InputTokens, OutputTokens, Requests, WallSeconds, MemoryMB uint64
}

// Wanted is what a job asks of its runners. Jobs of one block whose Wanted are equal have
// the same candidates, so it may be the key of what is remembered of a block.
type Wanted struct {
	Kind    chain.JobKind
	Host    string     // of JobHTTP, canonical
	Model   chain.Hash // of JobLLM; zero is any
	Tee     bool       // tee_required
	TeeType string     // "" is any

	MaxPrice chain.Wei // 0 turns the filter of prices off (resolution 12.12)
	Runners  uint64    // at least 1
	Bounds   Bounds

	Pool     string     // required_runner_pool; "" none
	Manifest chain.Hash // of what the submitter requires of runners; zero nothing

	CoverBasisPoints uint64 // stake that a candidate needs, of MaxPrice; 0 is no such filter (V3 alone, resolution 11.31)
	BondE6           uint64 // free stake that economic_bond needs, millionths of MaxPrice; 0 none
}

// Ask answers what only the state knows of a runner. It is asked of those alone that pass
// the filters before, and only if the job wants it. An error is a state that cannot be
// read.
type Ask interface {
	// Provides reports whether the runner attests all that the manifest requires (resolution
	// 5.20, entitlements §6).
	Provides(manifest chain.Hash, runner chain.Address) (bool, error)
	// JoinedPool reports whether the runner holds RunnerJoinPool of the pool (CIP-2 §7.3).
	JoinedPool(pool string, runner chain.Address) (bool, error)
}

// Filter names a filter of the chain of CIP-11 §9.1, in its order (restored definitions
// §8). Excluding the silent comes before all of them and belongs to a round, not to the
// snapshot: [Round.Excluded].
type Filter uint8

const (
	Passed Filter = iota
	ByHealth
	ByReputation
	ByCapability
	ByEnclave
	ByPrice
	ByConcurrency
	ByPool
	ByCover
	ByBond
)

// Eligible returns a bitmap of the runners that pass all filters (CIP-2 §4): what the state
// keeps of a job's candidates. Equal wants of one block have equal bitmaps. An error is one
// of ask.
func Eligible(runners []Runner, w *Wanted, c *Config, ask Ask) (Bitmap, error) {
	out := make(Bitmap, (len(runners)+7)/8)
	// Paid: job.candidate_cycles for each registered runner (resolution 12.21).
	for at := range runners {
		by, err := w.Judge(&runners[at], c, ask)
		if err != nil {
			return nil, fmt.Errorf("candidate %v: %w", runners[at].Address, err)
		}
		if by == Passed {
			out[at/8] |= 1 << (at % 8)
		}
	}
	return out, nil
}

// Judge returns the first filter that keeps a runner from a job, or Passed.
func (w *Wanted) Judge(r *Runner, c *Config, ask Ask) (Filter, error) {
	switch {
	case r.Flags != Healthy:
		return ByHealth, nil
	case Rounded(r.ReputationX1e9) < c.MinReputation:
		return ByReputation, nil
	case !w.capable(r):
		return ByCapability, nil
	}
	if w.Manifest != (chain.Hash{}) {
		if ok, err := ask.Provides(w.Manifest, r.Address); !ok || err != nil {
			return ByCapability, err
		}
	}
	switch {
	case w.Tee && (r.Offer.Enclave == "" || w.TeeType != "" && w.TeeType != r.Offer.Enclave):
		return ByEnclave, nil
	case !w.affordable(&r.Offer.Rates):
		return ByPrice, nil
	case r.Active >= r.Cap:
		return ByConcurrency, nil
	}
	if w.Pool != "" {
		if ok, err := ask.JoinedPool(w.Pool, r.Address); !ok || err != nil {
			return ByPool, err
		}
	}
	free := r.Stake - min(r.Bonded, r.Stake)
	switch {
	case !covers(r.Stake, 10_000, w.MaxPrice, w.CoverBasisPoints):
		return ByCover, nil
	case !covers(free, 1_000_000, w.MaxPrice, w.BondE6):
		return ByBond, nil
	}
	return Passed, nil
}

// capable reports whether the runner offers the kind of job, and its domain or model.
func (w *Wanted) capable(r *Runner) bool {
	if w.Kind > 7 || r.Kinds>>w.Kind&1 == 0 || r.Offer == nil {
		return false
	}
	switch {
	case w.Kind == chain.JobHTTP:
		return r.Offer.Domains.Cover(w.Host)
	case w.Kind == chain.JobLLM && w.Model != (chain.Hash{}):
		// Bounded: by the models of a rate card, 32.
		return slices.Contains(r.Offer.Models, w.Model)
	}
	return true
}

// affordable reports whether the most that the job can cost is within one runner's share
// of the price (resolution 12.12).
func (w *Wanted) affordable(r *Rates) bool {
	if w.MaxPrice == 0 {
		return true
	}
	cost, ok := r.Most(w.Kind, &w.Bounds)
	return ok && cost <= Share(w.MaxPrice, w.Runners)
}

// Share returns what one of several runners may cost at most (resolution 12.12).
func Share(maxPrice chain.Wei, runners uint64) chain.Wei {
	return maxPrice / chain.Wei(max(runners, 1))
}

// Most returns the price of all that the bounds allow, of what is priced for the kind of
// job (resolution 12.12); false if it is beyond 64 bits, as no price is.
func (r *Rates) Most(kind chain.JobKind, b *Bounds) (chain.Wei, bool) {
	var sum uint64
	ok := true
	add := func(rate, bound uint64) {
		hi, lo := bits.Mul64(rate, bound)
		next, carry := bits.Add64(sum, lo, 0)
		ok = ok && hi == 0 && carry == 0
		sum = next
	}
	switch kind {
	case chain.JobLLM:
		add(r.InputToken, b.InputTokens)
		add(r.OutputToken, b.OutputTokens)
	case chain.JobHTTP, chain.JobMCP:
		add(r.Request, b.Requests)
	case chain.JobCustom, chain.JobPublishChainRoot, chain.JobAgent:
	}
	add(r.ComputeSecond, b.WallSeconds)
	add(r.MemoryMB, b.MemoryMB)
	return chain.Wei(sum), ok
}

// covers reports whether stake · unit ≥ price · parts, both in 128 bits.
func covers(stake chain.Wei, unit uint64, price chain.Wei, parts uint64) bool {
	haveHi, haveLo := bits.Mul64(uint64(stake), unit)
	needHi, needLo := bits.Mul64(uint64(price), parts)
	return haveHi > needHi || haveHi == needHi && haveLo >= needLo
}
