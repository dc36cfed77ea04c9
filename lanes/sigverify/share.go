package sigverify

import (
	"hash/maphash"
	"net/netip"
	"sync/atomic"
)

// Source names whoever submits: a peer, a connection. Zero is the node's own
// RPC. Sources are told apart by a keyed hash into a fixed number of accounts,
// so two of many may share one, and nobody can make the table grow.
type Source uint64

const accounts = 1024

// shares keeps what each source, or each client of the RPC, has in the queue.
type shares struct {
	seed   maphash.Seed
	active atomic.Int64 // accounts that hold anything
	held   [accounts]account
}

// account is what one source, or a few of one hash, has in the queue.
type account struct{ txs, bytes atomic.Int64 }

func (s *shares) accountOf(source Source) *account {
	return &s.held[maphash.Comparable(s.seed, source)%accounts]
}

// ofClient returns the account of a client; nil where no client asks.
func (s *shares) ofClient(client netip.Addr) *account {
	if !client.IsValid() {
		return nil
	}
	return &s.held[maphash.Comparable(s.seed, client)%accounts]
}

// acquire counts transactions in and returns what the account then holds.
func (s *shares) acquire(a *account, txs, bytes int) (heldTxs, heldBytes int64) {
	heldTxs = a.txs.Add(int64(txs))
	if heldTxs == int64(txs) {
		s.active.Add(1)
	}
	return heldTxs, a.bytes.Add(int64(bytes))
}

func (s *shares) give(a *account, txs, bytes int) {
	a.bytes.Add(-int64(bytes))
	if a.txs.Add(-int64(txs)) == 0 {
		s.active.Add(-1)
	}
}

// holder is who has something in the queue: a source, and of the node's own RPC a
// client (nil where none asked).
type holder struct{ source, client *account }

// reserve makes room in the queue for a submission, or says that there is none:
// not at all, or not for this source. A queue that is less than half full is
// anybody's; beyond that, each source that has something in it may hold an equal
// share of the whole, and one share more is kept for a source that has nothing
// in it yet. So whoever floods, the next to come is let in. The clients of the RPC
// share what it may hold in the same way.
func (p *Pipeline) reserve(h holder, txs, bytes int) error {
	allTxs, allBytes := p.Stats.QueuedTxs.Add(int64(txs)), p.Stats.QueuedBytes.Add(int64(bytes))
	heldTxs, heldBytes := p.shares.acquire(h.source, txs, bytes)
	var ofTxs, ofBytes int64 // the client's
	if h.client != nil {
		ofTxs, ofBytes = p.clients.acquire(h.client, txs, bytes)
	}
	maxTxs, maxBytes := int64(p.cfg.QueueTxs), int64(p.cfg.QueueBytes)
	if allTxs > maxTxs || allBytes > maxBytes {
		p.release(h, txs, bytes)
		p.Stats.Busy.Add(uint64(txs))
		return ErrBusy
	}
	sharers, clients := p.shares.active.Load()+1, p.clients.active.Load()+1
	if allTxs > maxTxs/2 && heldTxs > maxTxs/sharers || allBytes > maxBytes/2 && heldBytes > maxBytes/sharers ||
		overPart(partOf(maxTxs, allTxs, heldTxs, sharers), heldTxs, ofTxs, clients) ||
		overPart(partOf(maxBytes, allBytes, heldBytes, sharers), heldBytes, ofBytes, clients) {
		p.release(h, txs, bytes)
		p.Stats.OverShare.Add(uint64(txs))
		return ErrBusy
	}
	return nil
}

// partOf is how much a source may hold: its share, or what others leave of half of
// the queue.
func partOf(most, all, held, sharers int64) int64 { return max(most/2-(all-held), most/sharers) }

// overPart reports whether a client holds too much of its source's part, of which more
// than half is held.
func overPart(part, held, client, clients int64) bool { return held > part/2 && client > part/clients }

// release gives room in the queue back.
func (p *Pipeline) release(h holder, txs, bytes int) {
	p.shares.give(h.source, txs, bytes)
	if h.client != nil {
		p.clients.give(h.client, txs, bytes)
	}
	p.Stats.QueuedTxs.Add(-int64(txs))
	p.Stats.QueuedBytes.Add(-int64(bytes))
}

// Credit returns how many transactions a source may submit now without being
// told that the pipeline is busy, if nobody else submits. A network layer takes
// as much from a peer's stream and no more: what waits there costs the peer its
// own credit, and nobody else's.
func (p *Pipeline) Credit(source Source) int {
	a := p.shares.accountOf(source)
	allTxs, allBytes := p.Stats.QueuedTxs.Load(), p.Stats.QueuedBytes.Load()
	heldTxs, heldBytes := a.txs.Load(), a.bytes.Load()
	maxTxs, maxBytes := int64(p.cfg.QueueTxs), int64(p.cfg.QueueBytes)
	sharers := p.shares.active.Load() + 1
	if heldTxs == 0 {
		sharers++ // this source would be one more
	}
	if allBytes >= maxBytes || allBytes >= maxBytes/2 && heldBytes >= maxBytes/sharers {
		return 0
	}
	credit := min(maxTxs-allTxs, max(maxTxs/2-allTxs, maxTxs/sharers-heldTxs))
	return int(max(credit, 0))
}
