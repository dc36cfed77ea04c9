package parallel

import (
	"sync"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// shardCount spreads the locks; a power of two.
const shardCount = 64

// committed is the state with the writes of all committed transactions. The holder of the
// commit role writes; any number reads, without a lock as long as the filter says that
// nobody has written the place in this block.
type committed struct {
	base    *state.Overlay // state before the transactions; not written while they run
	written filter
	shards  [shardCount]shard
	codes   shard
}

// shard holds the addresses with one hash. Its overlay lies on the base.
//
// Memory order: the writer sets a place's bit in the filter (a sequentially consistent
// atomic), then writes under mu. A reader that finds the bit clear reads the base, which
// nobody writes while transactions run; a reader that finds it set takes mu and sees the
// write whole or not at all. One that read the base just before the bit was set has version
// 0, which its validation finds outdated. Codes have a shard of their own and no versions: a
// code is named by its hash, so it never changes.
type shard struct {
	mu       sync.Mutex // held for short, so who waits spins
	over     *state.Overlay
	versions map[chain.Address]*versions
}

// versions say of one address who wrote what last: 1 + index of the transaction, 0 for
// nobody in this block. Guarded by the shard's lock for readers; the commit role is the
// only writer. A block has fewer than 2^32 - 1 transactions by the bound of its bytes.
type versions struct {
	account, codeAndMeta uint32 // all fields; those that credits leave alone
	existence            uint32 // that there is an account
	storage              uint32 // any slot
	cleared              uint32 // all slots at once
	slots                map[state.StorageKey]uint32
}

func newCommitted(base *state.Overlay, txs int) *committed {
	s := &committed{base: base, written: newFilter(txs)}
	base.Share(true)
	for i := range s.shards {
		s.shards[i] = shard{over: state.NewOverlay(base), versions: map[chain.Address]*versions{}}
	}
	s.codes.over = state.NewOverlay(base)
	return s
}

// shardOf returns the shard of an address: addresses are hashes, but for the system's,
// which differ in the last bytes.
func (s *committed) shardOf(addr *chain.Address) *shard {
	return &s.shards[(addr[0]^addr[18]^addr[19])%shardCount]
}

// version returns who wrote a place last. Readers hold the lock of the shard, the
// writer needs none.
func (s *shard) version(p *place) uint32 {
	m := s.versions[p.addr]
	if m == nil {
		return 0
	}
	switch p.kind {
	case ofAccount:
		return m.account
	case ofCodeAndMeta:
		return m.codeAndMeta
	case ofExists:
		return m.existence
	case ofSlot:
		return max(m.slots[p.key], m.cleared)
	}
	return m.storage
}

// unwritten reports whether a place can be read in the base without a lock: nobody has
// written it so far, and reading leaves the base as it is.
func (s *committed) unwritten(p *place) bool {
	if p.kind == ofSize && s.base.Touched(p.addr) {
		return false // the overlay keeps what it has counted
	}
	return !s.written.may(p)
}

// validate reports whether every place that the view has read is still at the version
// that was read. It is the writer's, so no lock is taken: nobody else writes versions. The
// work is one look at the filter for each read, and one at a map for those that were
// written in this block.
func (s *committed) validate(v *view) bool {
	for i := range v.reads {
		r := &v.reads[i]
		mark := uint32(0)
		if s.written.may(&r.place) {
			mark = s.shardOf(&r.addr).version(&r.place)
		}
		if mark != r.version {
			return false
		}
	}
	return true
}

// roomFor reports whether the balances have room for the credits that were recorded as
// deltas.
func (s *committed) roomFor(peaks []state.Credit) (bool, error) {
	for i := range peaks {
		p := &peaks[i]
		balance, err := s.balance(p.Address)
		if err != nil {
			return false, err
		}
		if balance+p.Amount < balance {
			return false, nil
		}
	}
	return true, nil
}

// balance returns the balance of an account, as committed now.
func (s *committed) balance(addr chain.Address) (chain.Wei, error) {
	sh := s.shardOf(&addr)
	sh.mu.Lock() // the overlay notes what it has read
	defer sh.mu.Unlock()
	a, _, err := sh.over.Account(addr)
	return a.Balance, err
}

// commit takes over the writes of transaction index, which has read what v says.
func (s *committed) commit(index int, o *state.Overlay, v *view) error {
	mark := uint32(index) + 1
	if codes := o.Delta().Codes(); len(codes) > 0 {
		s.codes.mu.Lock()
		for _, c := range codes {
			s.codes.over.TakeCode(c)
		}
		s.codes.mu.Unlock()
	}
	return o.Each(func(c *state.Change) error {
		s.written.addChange(c)
		keeps := c.Account == nil || v.keepsCodeAndMeta(c)
		sh := s.shardOf(&c.Address)
		sh.mu.Lock()
		defer sh.mu.Unlock()
		sh.versionsOf(c.Address).record(c, mark, keeps)
		return sh.over.Take(c)
	})
}

// versionsOf returns the versions of an address, to be written. The caller holds the lock.
func (s *shard) versionsOf(addr chain.Address) *versions {
	m := s.versions[addr]
	if m == nil {
		m = &versions{}
		s.versions[addr] = m
	}
	return m
}

func (m *versions) record(c *state.Change, mark uint32, keepsCodeAndMeta bool) {
	if c.Account != nil || c.Credit != 0 || c.Cleared {
		m.account = mark
	}
	if !keepsCodeAndMeta || c.Cleared {
		m.codeAndMeta = mark
	}
	if c.Cleared || c.Account != nil && !c.Account.Own() {
		m.existence = mark
	}
	if c.Cleared {
		m.storage, m.cleared = mark, mark
	}
	if len(c.Storage) == 0 {
		return
	}
	m.storage = mark
	if m.slots == nil {
		m.slots = make(map[state.StorageKey]uint32, len(c.Storage))
	}
	for i := range c.Storage {
		m.slots[c.Storage[i].Key] = mark
	}
}

// merge gives all writes to the base. Nobody reads any more.
func (s *committed) merge() error {
	s.base.Share(false)
	for i := range s.shards {
		if err := s.base.Absorb(s.shards[i].over); err != nil {
			return err
		}
	}
	return s.base.Absorb(s.codes.over)
}

// codeAndMeta returns the code and metadata of an account, as committed now.
func (s *committed) codeAndMeta(addr chain.Address) (state.Account, error) {
	if !s.written.may(&place{kind: ofCodeAndMeta, addr: addr}) {
		return s.base.CodeAndMeta(addr)
	}
	sh := s.shardOf(&addr)
	sh.mu.Lock()
	defer sh.mu.Unlock()
	return sh.over.CodeAndMeta(addr)
}
