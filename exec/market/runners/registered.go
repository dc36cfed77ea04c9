package runners

import (
	"github.com/cowboy-foundation/cowboy/chain"
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

// offersRoom is how many bytes of rows [Offers] keeps read.
const offersRoom = 64 << 20

// Offers are those that were read before, under the hashes of their rows: equal rows are
// one. Nothing depends on which are there. It belongs to one goroutine.
type Offers struct {
	known map[chain.Hash]*Known
	used  int // bytes of their rows
}

// NewOffers returns none.
func NewOffers() *Offers { return &Offers{known: map[chain.Hash]*Known{}} }

// decoded returns the offer of a runner that has a record, which names it by its hash.
func (o *Offers) decoded(view Reader, a chain.Address, hash chain.Hash) (*Known, error) {
	if k := o.known[hash]; k != nil {
		return k, nil
	}
	row, err := view.Storage(chain.AddrRunnerRegistry, offerKey(a))
	if err != nil {
		return nil, err
	}
	offer, err := DecodeOffer(row)
	if err != nil {
		return nil, err
	}
	if o.used += len(row); o.used > offersRoom {
		o.used = len(row)
		clear(o.known)
	}
	k := knownOf(offer)
	o.known[hash] = k
	return k, nil
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
