package runners

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
	"github.com/cowboy-foundation/cowboy/state"
)

// Bytes of an entry on each of the pages.
const (
	activeBytes   = len(chain.Address{})
	offerBytes    = len(chain.Hash{})
	loadBytes     = 8  // active_be2, cap_be2, flags, kinds, 2 to come
	standingBytes = 24 // stake_be8, reputation_be8, its height_be8
)

// Load is what the filters ask first of a runner.
type Load struct {
	Active, Cap uint16
	Flags       selection.Flags
	Kinds       uint8
}

func (l Load) appendTo(dst []byte) []byte {
	dst = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(dst, l.Active), l.Cap)
	return append(dst, byte(l.Flags), l.Kinds, 0, 0)
}

// standingOf is a runner's entry among what weights are made of.
func standingOf(r *Runner) []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, standingBytes), uint64(r.Stake))
	b = binary.BigEndian.AppendUint64(b, r.Standing.ReputationX1e9)
	return binary.BigEndian.AppendUint64(b, uint64(r.Standing.Height))
}

// page is a row of entries of one size.
type page struct {
	key     state.StorageKey
	entries []byte
	changed bool
}

// open reads the page with a key, unless it is the one that was opened before; that one is
// written back first.
func (p *page) open(o *state.Overlay, k state.StorageKey, size int) (err error) {
	if p.key == k {
		return nil
	}
	p.close(o)
	p.key, p.changed = k, false
	if p.entries, err = o.Storage(chain.AddrRunnerRegistry, k); err == nil && len(p.entries)%size != 0 {
		err = ErrRecord
	}
	return err
}

// close writes the page back.
func (p *page) close(o *state.Overlay) {
	if p.changed {
		o.SetStorage(chain.AddrRunnerRegistry, p.key, p.entries)
	}
	p.changed = false
}

// set writes entry n, which is there or the next one.
func (p *page) set(n uint32, entry []byte) error {
	at := int(n) * len(entry)
	switch {
	case at == len(p.entries):
		p.entries = append(p.entries, entry...)
	case at < len(p.entries):
		copy(p.entries[at:], entry)
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
// behind all that changes a runner in the block. The error is a fault.
func (b *Book) Fold() error {
	all, err := b.changed()
	if err != nil {
		return err
	}
	var s sheets
	// Bounded: by the runners that the block has changed, whose transactions or passes paid.
	for i := range all {
		if err := b.fold(&s, &all[i]); err != nil {
			return err
		}
	}
	// Bounded: by four pages.
	for _, p := range []*page{&s.active, &s.offers, &s.load, &s.standing} {
		p.close(b.State)
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
	load := Load{Active: r.Active, Cap: r.Cap(&b.Params.Runner), Flags: r.Flags, Kinds: r.Kinds}
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
