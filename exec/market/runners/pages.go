package runners

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
	"github.com/cowboy-foundation/cowboy/state"
)

// Bytes of an entry on each of the pages, and before the entries of standing/.
const (
	activeBytes   = len(chain.Address{})
	offerBytes    = len(chain.Hash{})
	loadBytes     = 16 // active_be2, limit_be2, flags, kinds, successes_be2, bonded_be8
	standingBytes = 24 // stake_be8, reputation_be8, its height_be8
	standingHead  = 8  // since_be8: no entry that was there then has changed since the end of that block
)

// Load is what the filters ask first of a runner. How many jobs it may have at a time
// follows from it and the parameters of the block that asks.
type Load struct {
	Active, Limit uint16 // at most 2^16-1, as Successes
	Flags         selection.Flags
	Kinds         uint8
	Successes     uint16
	Bonded        chain.Wei
}

func loadOf(r *Runner) Load {
	const most = 1<<16 - 1
	return Load{
		Active: uint16(min(r.Active, most)), Limit: r.Limit, Flags: r.Flags, Kinds: r.Kinds,
		Successes: uint16(min(r.Successes, most)), Bonded: r.Bonded,
	}
}

func (l Load) appendTo(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(dst, l.Active), l.Limit)
	dst = binary.BigEndian.AppendUint16(append(dst, byte(l.Flags), l.Kinds), l.Successes)
	return binary.BigEndian.AppendUint64(dst, uint64(l.Bonded))
}

func readLoad(b []byte) Load {
	u := binary.BigEndian.Uint16
	return Load{
		Active: u(b), Limit: u(b[2:]), Flags: selection.Flags(b[4]), Kinds: b[5], Successes: u(b[6:]),
		Bonded: chain.Wei(binary.BigEndian.Uint64(b[8:])),
	}
}

// standingOf is a runner's entry among what weights are made of.
func standingOf(r *Runner) []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, standingBytes), uint64(r.Stake))
	b = binary.BigEndian.AppendUint64(b, r.Standing.ReputationX1e9)
	return binary.BigEndian.AppendUint64(b, uint64(r.Standing.Height))
}

// page is a row of entries of one size behind a head.
type page struct {
	key     state.StorageKey
	head    int
	bytes   []byte
	was     []byte // as it was opened
	changed bool
	save    func(p *page) error
}

// open reads the page with a key, unless it is the one that was opened before; that one is
// written back first.
func (p *page) open(view Reader, k state.StorageKey, size int) (err error) {
	if p.key == k {
		return nil
	}
	if err := p.close(); err != nil {
		return err
	}
	if p.was, err = view.Storage(chain.AddrRunnerRegistry, k); err != nil {
		return err
	}
	// Bounded: by a page, 2 KiB.
	p.key, p.bytes = k, bytes.Clone(p.was)
	if p.was == nil {
		p.bytes = make([]byte, p.head)
	}
	if len(p.bytes) < p.head || (len(p.bytes)-p.head)%size != 0 {
		return ErrRecord
	}
	return nil
}

// close writes the page back.
func (p *page) close() error {
	if !p.changed {
		return nil
	}
	p.changed = false
	return p.save(p)
}

// set writes entry n, which is there or the next one.
func (p *page) set(n uint32, entry []byte) error {
	at := p.head + int(n)*len(entry)
	switch {
	case at == len(p.bytes):
		p.bytes = append(p.bytes, entry...)
	case at < len(p.bytes):
		copy(p.bytes[at:], entry)
	default:
		return ErrRecord // an index was left out
	}
	p.changed = true
	return nil
}

// sheets are the pages that Fold is at.
type sheets struct{ active, offers, load, standing page }

// changed is a runner whose record was written in the block.
type changed struct {
	addr chain.Address
	*Runner
}

// Fold brings the pages up to what the records say that the block has written. It comes
// behind all that changes a runner in the block, and again where something does behind it.
// The error is a fault.
func (b *Book) Fold(jobs Waiting) error {
	all, err := b.changed()
	if err != nil {
		return err
	}
	plain := page{save: func(p *page) error {
		b.State.SetStorage(chain.AddrRunnerRegistry, p.key, p.bytes)
		return nil
	}}
	s := sheets{plain, plain, plain, page{head: standingHead, save: func(p *page) error { return b.turn(p, jobs) }}}
	// Bounded: by the runners that the block has changed, whose transactions or passes paid.
	for i := range all {
		if err := b.fold(&s, &all[i]); err != nil {
			return err
		}
	}
	// Bounded: by four pages.
	for _, p := range []*page{&s.active, &s.offers, &s.load, &s.standing} {
		if err := p.close(); err != nil {
			return err
		}
	}
	return nil
}

// changed returns the runners whose records the block has written, by their indices.
func (b *Book) changed() ([]changed, error) {
	written, _ := b.State.Delta().Change(chain.AddrRunnerRegistry)
	var all []changed
	// Paid: by the cells of the rows that the block has written, once.
	for i := range written.Storage {
		a, ok := splitRunner(written.Storage[i].Key)
		if !ok {
			continue
		}
		r, err := Read(b.State, a)
		if err != nil {
			return nil, err
		}
		if r != nil { // nil: written and undone
			all = append(all, changed{a, r})
		}
	}
	// Bounded: by the runners that the block has changed.
	slices.SortFunc(all, func(a, b changed) int { return cmp.Compare(a.Index, b.Index) })
	return all, nil
}

// fold writes one runner's entries.
func (b *Book) fold(s *sheets, c *changed) error {
	r := c.Runner
	load := loadOf(r)
	n, at := r.Index/listPage, r.Index%listPage
	// Bounded: by four pages.
	for _, e := range []struct {
		page  *page
		key   state.StorageKey
		at    uint32
		entry []byte
	}{
		{&s.active, activeKey(n), at, c.addr[:]},
		{&s.offers, offersKey(n), at, r.Offer[:]},
		{&s.load, loadKey(n), at, load.appendTo(nil)},
		{&s.standing, standingKey(r.Index / standingPage), r.Index % standingPage, standingOf(r)},
	} {
		if err := e.page.open(b.State, e.key, len(e.entry)); err != nil {
			return err
		}
		if err := e.page.set(e.at, e.entry); err != nil {
			return err
		}
	}
	return nil
}

// AddressAt returns who has an index of the active list, as the pages say it.
func AddressAt(view Reader, index uint32) (chain.Address, error) {
	p, err := view.Storage(chain.AddrRunnerRegistry, activeKey(index/listPage))
	if err != nil {
		return chain.Address{}, err
	}
	at := int(index%listPage) * activeBytes
	if len(p) < at+activeBytes {
		return chain.Address{}, ErrRecord
	}
	return chain.Address(p[at : at+activeBytes]), nil
}
