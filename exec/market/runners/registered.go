package runners

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
	"github.com/cowboy-foundation/cowboy/state"
)

// Known is an offer as selection reads it.
type Known struct {
	selection.Offer
	Attested manifest.Grants // what the runner says that it provides
	From     chain.Height    // the first block in which that counts
	Until    chain.Height    // the last one
}

// Provides reports whether the runner attests in block h all that a manifest requires
// (resolution 5.20, entitlements §5.1, §6).
func (k *Known) Provides(required manifest.Grants, p *params.Params, h chain.Height) bool {
	attested := k.Attested
	if h < k.From || h > k.Until {
		attested = nil
	}
	return manifest.Provides(attested, required, p)
}

// offersRoom is how many bytes [Offers] keeps of short offers, and as many of long ones:
// whoever has long offers does not drive out the others'. As many short ones as the registry
// has places by default always have room.
const offersRoom = 64 << 20

// shortOffer is what counts as short: the bytes of the row, and domainBytes for each name.
const (
	shortOffer  = 1 << 10
	domainBytes = 32
)

// Offers are those that were read before, under the hashes of their rows: equal rows are
// one. Nothing depends on which are there. It belongs to one goroutine.
//
// What a walk over the registry has used stays for the next one. What the last two walks have
// not used goes when room is short; where all is in use, what is new is not kept. So who
// changes an offer again and again drives out nobody's but its own.
type Offers struct {
	known map[chain.Hash]*kept
	used  [2]int // bytes of the short ones and of the long ones
	room  int    // for each
	walk  uint64 // number of the walk that is under way
	swept uint64 // the walk in which room was last made
}

// kept is an offer that was read before.
type kept struct {
	offer *Known
	bytes int
	last  uint64 // the walk that used it last
}

// NewOffers returns none.
func NewOffers() *Offers { return &Offers{known: map[chain.Hash]*kept{}, room: offersRoom} }

// sizeOf tells the short ones from the long ones.
func sizeOf(bytes int) int {
	if bytes <= shortOffer {
		return 0
	}
	return 1
}

// weigh is how many bytes an offer counts as whose row has so many.
func (o *Offer) weigh(row int) int { return row + domainBytes*len(o.Capabilities.HTTPDomains) }

// countLong counts the offer of a runner among the long ones, or no more where it is short or the
// runner leaves; the caller writes the record. The error is [ErrOffers] or a fault.
func (b *Book) countLong(r *Runner, bytes int) error {
	long := uint32(0)
	if sizeOf(bytes) > 0 {
		long = uint32(bytes) // 16 KiB at most
	}
	if long == r.Long {
		return nil
	}
	all, err := readLong(b.State)
	if err != nil {
		return err
	}
	if all < uint64(r.Long) {
		return ErrRecord
	}
	next := all - uint64(r.Long) + uint64(long) // 2^34 at most
	if long > r.Long && next > offersRoom+excessBytes*uint64(mostReading(b.Params)) {
		return ErrOffers
	}
	b.State.SetStorage(chain.AddrRunnerRegistry, longKey(), cbor.AppendUint(nil, next))
	r.Long = long
	return nil
}

// readLong returns how many bytes the long offers of all that are registered have.
func readLong(view Reader) (uint64, error) {
	row, err := view.Storage(chain.AddrRunnerRegistry, longKey())
	if err != nil || row == nil {
		return 0, err
	}
	n, err := cbor.DecodeUint(row)
	if err != nil {
		return 0, ErrRecord
	}
	return n, nil
}

// excessBytes of long offers, which are decoded and held to a job's wants anew in each block, take
// as long as one cycle may: 40 µs for an offer that counts as 16 KiB.
const excessBytes = 20

// mostReading is the most that a job pays for reading offers, a quarter of what a transaction
// may take: no set of long offers makes jobs impossible. [Book.countLong] refuses offers beyond.
func mostReading(p *params.Params) chain.Cycles { return p.MaxTxCycles / 4 }

// ReadingCycles is what a job pays besides for the offers that [Offers] has no room to keep: none
// as long as the long ones of all that are registered have room. Those of the ones that are not
// healthy count too, as they may come back. The error is a fault.
func ReadingCycles(view Reader, p *params.Params) (chain.Cycles, error) {
	all, err := readLong(view)
	return min(chain.Cycles(max(all, offersRoom)-offersRoom)/excessBytes, mostReading(p)), err
}

// decoded returns the offer of a runner that has a record, which names it by its hash.
func (o *Offers) decoded(view Reader, a chain.Address, hash chain.Hash) (*Known, error) {
	if k := o.known[hash]; k != nil {
		k.last = o.walk
		return k.offer, nil
	}
	row, err := view.Storage(chain.AddrRunnerRegistry, offerKey(a))
	if err != nil {
		return nil, err
	}
	offer, err := DecodeOffer(row)
	if err != nil {
		return nil, err
	}
	k := &kept{knownOf(offer), offer.weigh(len(row)), o.walk}
	o.keep(hash, k)
	return k.offer, nil
}

// keep keeps an offer if there is room for it.
func (o *Offers) keep(hash chain.Hash, k *kept) {
	size := sizeOf(k.bytes)
	if o.used[size]+k.bytes > o.room && o.swept != o.walk {
		o.sweep()
	}
	if o.used[size]+k.bytes > o.room {
		return
	}
	o.known[hash] = k
	o.used[size] += k.bytes
}

// sweep drops what neither this walk nor the one before has used, once in a walk.
func (o *Offers) sweep() {
	o.swept = o.walk
	// Paid: job.candidate_cycles for each registered runner (resolution 12.21), as what was
	// used before is no more than these were, or was kept for them.
	for hash, k := range o.known {
		if k.last+1 < o.walk {
			o.used[sizeOf(k.bytes)] -= k.bytes
			delete(o.known, hash)
		}
	}
}

func knownOf(o *Offer) *Known {
	c := &o.Card
	k := &Known{Offer: selection.Offer{
		Rates: selection.Rates{
			InputToken: uint64(c.LLMInputToken), OutputToken: uint64(c.LLMOutputToken), Request: uint64(c.HTTPRequestBase),
			ComputeSecond: uint64(c.ComputeSecond), MemoryMB: uint64(c.MemoryMB),
		},
		Domains: manifest.PatternsOf(o.Capabilities.HTTPDomains), Models: c.SupportedModels,
	}}
	if a := o.Attestation; a != nil {
		if grants, err := manifest.Parse(a.Capabilities); err == nil { // it was judged when it came
			k.Attested, k.From, k.Until = grants, a.ValidFrom, a.ValidUntil
		}
	}
	return k
}

// Registered returns the active list as selection reads it at the end of the block, behind
// Fold: places are indices. Offers are read of those alone that are healthy and have the
// reputation for work; known has them under the places. The error is a fault.
func (b *Book) Registered(offers *Offers) (all []selection.Runner, known []*Known, err error) {
	n, err := Count(b.State)
	if err != nil {
		return nil, nil, err
	}
	offers.walk++
	all, known = make([]selection.Runner, n), make([]*Known, n)
	// Paid: job.candidate_cycles for each registered runner (resolution 12.21).
	for from := uint32(0); from < n; from += standingPage {
		to := min(from+standingPage, n)
		if err := b.readPages(all[from:to], known[from:to], from, offers); err != nil {
			return nil, nil, err
		}
	}
	return all, known, nil
}

// readPages reads the runners of one page of standings.
func (b *Book) readPages(all []selection.Runner, known []*Known, from uint32, offers *Offers) error {
	list, at := from/listPage, int(from%listPage)
	active, err := b.entries(activeKey(list), 0, at, activeBytes, len(all))
	if err != nil {
		return err
	}
	hashes, err := b.entries(offersKey(list), 0, at, offerBytes, len(all))
	if err != nil {
		return err
	}
	loads, err := b.entries(loadKey(list), 0, at, loadBytes, len(all))
	if err != nil {
		return err
	}
	standings, err := b.entries(standingKey(from/standingPage), standingHead, 0, standingBytes, len(all))
	if err != nil {
		return err
	}
	p := &b.Params.Runner
	// Bounded: by standingPage, 32.
	for i := range all {
		r, load := &all[i], readLoad(loads[i*loadBytes:])
		r.Address = chain.Address(active[i*activeBytes:][:activeBytes])
		r.Flags, r.Kinds, r.Active, r.Bonded = load.Flags, load.Kinds, load.Active, load.Bonded
		r.Cap = selection.Cap(load.Limit, uint64(load.Successes), p.ProbationSuccesses)
		stake, standing := readStanding(standings[i*standingBytes:])
		r.Stake, r.ReputationX1e9 = stake, standing.At(b.Height, p.ReputationHalfLifeBlocks)
		if r.Flags != selection.Healthy || selection.Rounded(r.ReputationX1e9) < p.MinReputation {
			continue
		}
		if known[i], err = offers.decoded(b.State, r.Address, chain.Hash(hashes[i*offerBytes:][:offerBytes])); err != nil {
			return err
		}
		r.Offer = &known[i].Offer
	}
	return nil
}

// entries reads n entries of a page from one on.
func (b *Book) entries(k state.StorageKey, head, from, size, n int) ([]byte, error) {
	page, err := b.State.Storage(chain.AddrRunnerRegistry, k)
	if err != nil {
		return nil, err
	}
	if len(page) < head+(from+n)*size {
		return nil, ErrRecord
	}
	return page[head+from*size:], nil
}
