package shards

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
)

// viewsMax bounds the views that a pool remembers. Blocks of older ones are
// fetched whole.
const viewsMax = 64

// Pool collects the shards of proposals that are not decided, for one
// validator. It belongs to one goroutine.
type Pool struct {
	code    *Code
	format  Format
	self    beacon.Participant
	views   []*view // ascending; few
	floor   chain.View
	senders []sender // by participant
}

// view is what came about one view.
type view struct {
	number chain.View
	bodies []*Assembly  // few: one for each digest that somebody sent shards of
	relays []chain.Hash // by participant: what it relays a shard of; zero: nothing
	offers []chain.Hash // by participant: what it offered; zero: nothing
}

// sender is what we hold of one validator, oldest view first.
type sender struct {
	bytes int
	held  []holding
	// begun are the assemblies that it was the first to send a part of, and that
	// are not closed. Nobody else is charged for their heads.
	begun     []*Assembly
	headBytes int
}

type holding struct {
	assembly *Assembly
	index    int
	bytes    int
}

// Assembly is a body of which shards have come.
type Assembly struct {
	Round  beacon.Round
	Digest chain.Hash
	Head   []byte
	// Own is our own shard, once the leader has sent it.
	Own *Parcel
	// Relayed says that we have given it to the others.
	Relayed bool

	begunBy beacon.Participant
	opening Opening
	shards  [][]byte // by index
	count   int
	closed  bool // rebuilt, or no longer wanted: shards and head are dropped
}

// NewPool returns an empty pool of validator self.
func NewPool(code *Code, format Format, self beacon.Participant) *Pool {
	return &Pool{code: code, format: format, self: self, senders: make([]sender, code.Total())}
}

// Offer takes the parcel with which from, as a leader, offers a block. It
// returns the assembly that it belongs to, or nil if there is no room for its
// view. An error is the fault of from.
func (p *Pool) Offer(from beacon.Participant, r beacon.Round, digest chain.Hash, parcel *Parcel) (*Assembly, error) {
	if parcel.Shard.Index != int(p.self) {
		return nil, fmt.Errorf("shard %d offered to validator %d: %w", parcel.Shard.Index, p.self, ErrIndex)
	}
	v, err := p.said(from, r, digest, (*view).offered)
	if v == nil || err != nil {
		return nil, err
	}
	a := v.byDigest(digest)
	if a != nil && a.Own != nil {
		return a, nil
	}
	if err := p.Check(digest, parcel); err != nil {
		return nil, err
	}
	v.offers[from] = digest
	a = p.add(v, from, r, digest, parcel)
	a.Own = parcel
	return a, nil
}

// Relay takes the shard of from that it passes on. It returns as Offer does.
func (p *Pool) Relay(from beacon.Participant, r beacon.Round, digest chain.Hash, parcel *Parcel) (*Assembly, error) {
	return p.relay(from, r, digest, parcel, func() error { return p.Check(digest, parcel) })
}

// RelayChecked is Relay of a parcel that passed Check, and was not changed since.
func (p *Pool) RelayChecked(from beacon.Participant, r beacon.Round, digest chain.Hash, parcel *Parcel) (*Assembly, error) {
	return p.relay(from, r, digest, parcel, func() error { return nil })
}

func (p *Pool) relay(from beacon.Participant, r beacon.Round, digest chain.Hash, parcel *Parcel, check func() error) (*Assembly, error) {
	if parcel.Shard.Index != int(from) {
		return nil, fmt.Errorf("shard %d relayed by validator %d: %w", parcel.Shard.Index, from, ErrIndex)
	}
	v, err := p.said(from, r, digest, (*view).relayed)
	if v == nil || err != nil {
		return nil, err
	}
	if a := v.byDigest(digest); a != nil && !a.Wants(parcel.Shard.Index) {
		v.relays[from] = digest
		return a, nil // its bytes are of no use any more
	}
	if err := check(); err != nil {
		return nil, err
	}
	v.relays[from] = digest
	return p.add(v, from, r, digest, parcel), nil
}

func (v *view) offered() []chain.Hash { return v.offers }
func (v *view) relayed() []chain.Hash { return v.relays }

// said returns the view of a parcel, or nil if it is too old, and blames a
// sender of two proposals.
func (p *Pool) said(from beacon.Participant, r beacon.Round, digest chain.Hash, words func(*view) []chain.Hash) (*view, error) {
	v := p.at(r.View)
	if v == nil {
		return nil, nil
	}
	if old := words(v)[from]; old != (chain.Hash{}) && old != digest {
		return nil, fmt.Errorf("%v and %v in view %d: %w", old, digest, r.View, ErrMixed)
	}
	return v, nil
}

// add puts the shard of a checked parcel into its assembly.
func (p *Pool) add(v *view, from beacon.Participant, r beacon.Round, digest chain.Hash, parcel *Parcel) *Assembly {
	a := v.byDigest(digest)
	if a == nil {
		// The head outlives the shards, which may be dropped for want of room, and must
		// not keep the memory of the message that they came in.
		a = &Assembly{
			Round: r, Digest: digest, Head: bytes.Clone(parcel.Head), begunBy: from,
			opening: parcel.Opening, shards: make([][]byte, p.code.Total()),
		}
		v.bodies = append(v.bodies, a)
		p.openAssembly(a)
	}
	if !a.closed && a.shards[parcel.Shard.Index] == nil {
		p.hold(from, a, parcel)
	}
	return a
}

// openAssembly puts a new assembly on the account of who began it. While nothing becomes
// final, views come and go and their heads stay: the oldest of the same sender
// makes room. Its block is fetched whole if it is wanted after all.
func (p *Pool) openAssembly(a *Assembly) {
	s := &p.senders[a.begunBy]
	i := len(s.begun)
	for i > 0 && s.begun[i-1].Round.View > a.Round.View {
		i--
	}
	s.begun = slices.Insert(s.begun, i, a)
	s.headBytes += p.code.frame() + len(a.Head)
	for s.headBytes > p.code.SenderHeadBytes() && len(s.begun) > 1 {
		p.dropAssembly(s.begun[0])
	}
}

// dropAssembly drops an assembly with all that is in it.
func (p *Pool) dropAssembly(a *Assembly) {
	p.Close(a)
	a.Own = nil
	for _, v := range p.views {
		if v.number == a.Round.View {
			v.bodies = slices.DeleteFunc(v.bodies, func(b *Assembly) bool { return b == a })
		}
	}
}

// Check holds a parcel to the digest it claims to be of. It may run beside the pool.
func (p *Pool) Check(digest chain.Hash, parcel *Parcel) error {
	root, err := p.format.Root(digest, parcel.Head)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrHead, err)
	}
	if err := p.code.CheckOpening(root, parcel.Opening); err != nil {
		return err
	}
	return p.code.Check(parcel.Opening, parcel.Shard)
}

// Wants reports whether a shard would be of use.
func (a *Assembly) Wants(index int) bool {
	return !a.closed && index < len(a.shards) && a.shards[index] == nil
}

// hold keeps a shard on the account of from, and makes room there.
func (p *Pool) hold(from beacon.Participant, a *Assembly, parcel *Parcel) {
	s := &p.senders[from]
	h := holding{a, parcel.Shard.Index, parcel.Size()}
	i := len(s.held)
	for i > 0 && s.held[i-1].assembly.Round.View > a.Round.View {
		i--
	}
	s.held = append(s.held, holding{})
	copy(s.held[i+1:], s.held[i:])
	s.held[i] = h
	s.bytes += h.bytes
	a.shards[h.index] = parcel.Shard.Bytes
	a.count++
	for s.bytes > p.code.SenderBytes() {
		if old := s.held[0]; old.assembly.Own != nil && old.assembly.Own.Shard.Index == old.index {
			old.assembly.Own = nil
		}
		s.dropHolding(0)
	}
}

// dropHolding takes holding i off the account, and its shard out of the assembly.
func (s *sender) dropHolding(i int) {
	h := s.held[i]
	s.bytes -= h.bytes
	s.held = append(s.held[:i], s.held[i+1:]...)
	if h.assembly.shards != nil && h.assembly.shards[h.index] != nil {
		h.assembly.shards[h.index] = nil
		h.assembly.count--
	}
}

// Keep puts our own shard of a block back, as the journal has it.
func (p *Pool) Keep(r beacon.Round, digest chain.Hash, parcel *Parcel) error {
	_, err := p.Offer(p.self, r, digest, parcel)
	return err
}

// Find returns the assembly of a block, or nil.
func (p *Pool) Find(number chain.View, digest chain.Hash) *Assembly {
	for _, v := range p.views {
		if v.number == number {
			return v.byDigest(digest)
		}
	}
	return nil
}

func (v *view) byDigest(digest chain.Hash) *Assembly {
	for _, a := range v.bodies {
		if a.Digest == digest {
			return a
		}
	}
	return nil
}

// at returns the place of a view, made if it is not there, or nil for a view
// that is too old.
func (p *Pool) at(number chain.View) *view {
	i := len(p.views)
	for i > 0 && p.views[i-1].number > number {
		i--
	}
	if i > 0 && p.views[i-1].number == number {
		return p.views[i-1]
	}
	if number <= p.floor || len(p.views) == viewsMax && i == 0 {
		return nil
	}
	if len(p.views) == viewsMax {
		p.Advance(p.views[0].number)
		i--
	}
	v := &view{number: number, relays: make([]chain.Hash, p.code.Total()), offers: make([]chain.Hash, p.code.Total())}
	p.views = append(p.views, nil)
	copy(p.views[i+1:], p.views[i:])
	p.views[i] = v
	return v
}

// Advance drops the views up to floor.
func (p *Pool) Advance(floor chain.View) {
	p.floor = max(p.floor, floor)
	n := 0
	for n < len(p.views) && p.views[n].number <= floor {
		for _, a := range p.views[n].bodies {
			p.Close(a)
		}
		n++
	}
	clear(p.views[:n])
	p.views = p.views[n:]
}

// Close drops the shards of an assembly: the block is here, or not wanted. It
// stays to recognise more of them.
func (p *Pool) Close(a *Assembly) {
	if a.closed {
		return
	}
	a.closed = true
	for from := range p.senders {
		s := &p.senders[from]
		for i := 0; i < len(s.held); {
			if s.held[i].assembly == a {
				s.dropHolding(i)
			} else {
				i++
			}
		}
	}
	s := &p.senders[a.begunBy]
	s.begun = slices.DeleteFunc(s.begun, func(b *Assembly) bool { return b == a })
	s.headBytes -= p.code.frame() + len(a.Head)
	a.shards, a.count, a.Head = nil, 0, nil
	if a.Relayed {
		a.Own = nil
	}
}

// Relay marks our own shard as given to the others and returns it, or nil if it
// was before, or is not here.
func (a *Assembly) Relay() *Parcel {
	own := a.Own
	if a.Relayed || own == nil {
		return nil
	}
	a.Relayed = true
	if a.closed {
		a.Own = nil
	}
	return own
}

// Ready reports whether the body can be rebuilt.
func (p *Pool) Ready(a *Assembly) bool { return !a.closed && a.count >= p.code.Needed() }

// Closed reports whether nothing more is wanted of a.
func (a *Assembly) Closed() bool { return a.closed }

// Rebuilder returns what rebuilds the block of a, from the shards that are here
// now. It may run beside the pool. Its error is ErrNotCodeword.
func (p *Pool) Rebuilder(a *Assembly) func() ([]byte, error) {
	shards, opening, head := append([][]byte(nil), a.shards...), a.opening, a.Head
	return func() ([]byte, error) {
		body, err := p.code.Rebuild(opening, shards)
		if err != nil {
			return nil, err
		}
		return p.format.Join(head, body), nil
	}
}
