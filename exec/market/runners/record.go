package runners

import (
	"errors"
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
	"github.com/cowboy-foundation/cowboy/state"
)

// ErrRecord means a record of the registry that does not decode, or that contradicts
// another: a fault. Only the protocol writes there (exec's TestFaultSites lists every use).
var ErrRecord = errors.New("record of the runner registry is malformed")

// MaxTranches bounds what a runner has unbonding at a time.
const MaxTranches = 8

// MaxRejections is how many submitters may come to nothing with a runner's results before it
// is paid no share of what is rejected (ADR 228).
const MaxRejections = 3

// Tranche is stake on its way out.
type Tranche struct {
	Amount chain.Wei
	Free   chain.Height // the first height at which it may be withdrawn
}

// Runner is what the registry keeps of a runner besides its offer.
type Runner struct {
	Index         uint32 // in the active list
	Flags         selection.Flags
	Kinds         uint8        // of jobs, a bit each: what the offer says
	Limit         uint16       // of jobs at a time that the offer says
	Active        uint32       // seats that it has work to do for; more than Limit where they are excess (resolution 12.11)
	Stake         chain.Wei    // without what unbonds
	Bonded        chain.Wei    // of the stake, promised to jobs (resolution 12.8)
	MaxJobValue   chain.Wei    // the most that it takes a job for
	Registered    chain.Height // the first time
	OfferChanged  chain.Height // prices, abilities or largest job (resolution 12.4); 0: never since it joined
	Standing      selection.Standing
	FellAt        chain.Height // when reputation fell below the minimum; 0: it has not since it last returned
	Successes     uint64       // verified results since registration or return
	Disagreements uint64
	Silences      uint64
	TimeoutsInRow uint64
	Slashed       chain.Wei // in all
	LostDisputes  uint64
	Long          uint32     // bytes that its offer counts as among the long ones ([Offers]); 0: it is short, or the runner has deregistered
	Offer         chain.Hash // of the row under offer/
	Tranches      []Tranche  // oldest first, at most MaxTranches
	// RejectedBy are submitters whose jobs came to nothing with its results, the first of each
	// since the last one that others confirmed: at most MaxRejections.
	RejectedBy []chain.Address
}

// Health is what a runner is to those who look for one, as the registry's texts name it
// (CIP-11 §4).
type Health uint8

// The healths. The names are those that the API gives.
const (
	Healthy Health = iota
	Unhealthy
	Paused
	Deregistered
	Healths // how many there are
)

// String names h.
func (h Health) String() string {
	return [Healths]string{"Healthy", "Unhealthy", "Paused", "Deregistered"}[h]
}

// Health returns that of r: who left is not paused, and who paused may be silent.
func (r *Runner) Health() Health {
	switch {
	case r.Has(selection.Deregistered):
		return Deregistered
	case r.Has(selection.Paused):
		return Paused
	case r.Has(selection.Healthy):
		return Healthy
	}
	return Unhealthy
}

// Has reports whether all the flags are set.
func (r *Runner) Has(flags selection.Flags) bool { return r.Flags&flags == flags }

func (r *Runner) set(flag selection.Flags, on bool) {
	if on {
		r.Flags |= flag
	} else {
		r.Flags &^= flag
	}
}

// AtRisk is what a penalty is reckoned from and taken from: stake and what unbonds
// (resolution 12.47).
func (r *Runner) AtRisk() chain.Wei {
	sum := r.Stake
	// Bounded: by MaxTranches, 8. Stakes add up to less than the supply.
	for _, t := range r.Tranches {
		sum += t.Amount
	}
	return sum
}

// Required returns the stake that goes with a largest job: the floor, or
// runner.stake_per_job_basis_points of it, rounded up (resolution 5.6). False for more
// than there is money.
func Required(p *params.Runner, maxJobValue chain.Wei) (chain.Wei, bool) {
	hi, lo := bits.Mul64(uint64(maxJobValue), p.StakePerJobBasisPoints)
	if hi >= params.BasisPoints {
		return 0, false
	}
	q, rest := bits.Div64(hi, lo, params.BasisPoints)
	if rest > 0 {
		if q++; q == 0 {
			return 0, false
		}
	}
	return max(p.StakeFloor, chain.Wei(q)), true
}

// judgeStake sets the flag that says whether the stake suffices.
func (r *Runner) judgeStake(p *params.Runner) {
	need, ok := Required(p, r.MaxJobValue)
	r.set(selection.Understaked, !ok || r.Stake < need)
}

// Full reports whether the runner has no room for another job: as many as it takes at a
// time, one while on probation (resolution 5.7). Who has deregistered takes none.
func (r *Runner) Full(p *params.Runner) bool {
	return r.Has(selection.Deregistered) || r.Active >= uint32(selection.Cap(r.Limit, r.Successes, p.ProbationSuccesses))
}

const recordNumbers = 20

func (r *Runner) numbers() [recordNumbers]uint64 {
	return [recordNumbers]uint64{
		uint64(r.Index), uint64(r.Flags), uint64(r.Kinds), uint64(r.Limit), uint64(r.Active),
		uint64(r.Stake), uint64(r.Bonded), uint64(r.MaxJobValue), uint64(r.Registered), uint64(r.OfferChanged),
		r.Standing.ReputationX1e9, uint64(r.Standing.Height), uint64(r.FellAt), r.Successes, r.Disagreements, r.Silences, r.TimeoutsInRow,
		uint64(r.Slashed), r.LostDisputes, uint64(r.Long),
	}
}

// recordRest is what follows the numbers.
const recordRest = 3

// encode returns the CBOR array of the numbers in their order, the hash of the offer, the
// tranches as one array of amounts and heights, and the submitters as one byte string.
func (r *Runner) encode() []byte {
	b := cbor.AppendArray(make([]byte, 0, 160), recordNumbers+recordRest)
	// Bounded: by the fields, 20.
	for _, v := range r.numbers() {
		b = cbor.AppendUint(b, v)
	}
	b = cbor.AppendBytes(b, r.Offer[:])
	b = cbor.AppendArray(b, 2*len(r.Tranches))
	// Bounded: by MaxTranches, 8.
	for _, t := range r.Tranches {
		b = cbor.AppendUint(cbor.AppendUint(b, uint64(t.Amount)), uint64(t.Free))
	}
	by := make([]byte, 0, MaxRejections*len(chain.Address{}))
	// Bounded: by MaxRejections, 3.
	for _, a := range r.RejectedBy {
		by = append(by, a[:]...)
	}
	return cbor.AppendBytes(b, by)
}

// readSubmitters reads the addresses that a record ends with; false for what are none.
func readSubmitters(rd *cbor.Reader) (all []chain.Address, ok bool) {
	const each = len(chain.Address{})
	by, err := rd.Bytes(MaxRejections * each)
	if err != nil || len(by)%each != 0 {
		return nil, false
	}
	// Bounded: by MaxRejections, 3.
	for ; len(by) > 0; by = by[each:] {
		all = append(all, chain.Address(by[:each]))
	}
	return all, true
}

// Decode reads the row under [TableRunner].
func Decode(data []byte) (*Runner, error) {
	rd := cbor.NewReader(data)
	var v [recordNumbers]uint64
	r := new(Runner)
	if rd.ArrayOf(recordNumbers+recordRest) != nil || rd.Uints(v[:]) != nil || rd.BytesInto(r.Offer[:]) != nil {
		return nil, ErrRecord
	}
	n, err := rd.Array(2 * MaxTranches)
	if err != nil || n%2 != 0 || v[0]>>32 != 0 || v[1]>>8 != 0 || v[2]>>8 != 0 || v[3]>>16 != 0 || v[4]>>32 != 0 || v[19]>>32 != 0 {
		return nil, ErrRecord
	}
	// Bounded: by MaxTranches, 8.
	for range n / 2 {
		var t [2]uint64
		if rd.Uints(t[:]) != nil {
			return nil, ErrRecord
		}
		r.Tranches = append(r.Tranches, Tranche{chain.Wei(t[0]), chain.Height(t[1])})
	}
	by, ok := readSubmitters(&rd)
	if !ok || rd.End() != nil {
		return nil, ErrRecord
	}
	r.RejectedBy = by
	r.Index, r.Flags, r.Kinds, r.Limit, r.Active = uint32(v[0]), selection.Flags(v[1]), uint8(v[2]), uint16(v[3]), uint32(v[4])
	r.Stake, r.Bonded, r.MaxJobValue = chain.Wei(v[5]), chain.Wei(v[6]), chain.Wei(v[7])
	r.Registered, r.OfferChanged = chain.Height(v[8]), chain.Height(v[9])
	r.Standing = selection.Standing{ReputationX1e9: v[10], Height: chain.Height(v[11])}
	r.FellAt = chain.Height(v[12])
	r.Successes, r.Disagreements, r.Silences, r.TimeoutsInRow = v[13], v[14], v[15], v[16]
	r.Slashed, r.LostDisputes, r.Long = chain.Wei(v[17]), v[18], uint32(v[19])
	return r, nil
}

// Reader reads entries of storages: a state, or one asked over a wire.
type Reader interface {
	Storage(addr chain.Address, key state.StorageKey) ([]byte, error)
}

// Read returns the record of a runner, nil for an address that has none. The error is a
// fault.
func Read(view Reader, a chain.Address) (*Runner, error) {
	b, err := view.Storage(chain.AddrRunnerRegistry, runnerKey(a))
	if err != nil || b == nil {
		return nil, err
	}
	return Decode(b)
}

// Count returns how many entries the active list has, with those of this block.
func Count(view Reader) (uint32, error) { return readCount(view, countKey()) }

// readCount returns the number in a row; 0 where there is none.
func readCount(view Reader, k state.StorageKey) (uint32, error) {
	b, err := view.Storage(chain.AddrRunnerRegistry, k)
	if err != nil || b == nil {
		return 0, err
	}
	n, err := cbor.DecodeUint(b)
	if err != nil || n>>32 != 0 {
		return 0, ErrRecord
	}
	return uint32(n), nil
}

// Seen returns the height at which a runner was last heard; false for who is none, or has
// deregistered.
func Seen(view Reader, a chain.Address) (chain.Height, bool, error) {
	b, err := view.Storage(chain.AddrRunnerRegistry, seenKey(a))
	if err != nil || b == nil {
		return 0, false, err
	}
	n, err := cbor.DecodeUint(b)
	if err != nil {
		return 0, false, ErrRecord
	}
	return chain.Height(n), true, nil
}
