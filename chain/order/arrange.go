//spec:implements whitepaper 6.5

package order

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Arrange returns the transactions in the order of the block. It changes
// neither its argument nor the transactions.
func Arrange(vrfOut chain.Hash, txs []*chain.VerifiedTx) []*chain.VerifiedTx {
	return new(Arranger).Arrange(vrfOut, txs)
}

// Arranger arranges one selection after the other in memory that later ones have: some 150
// bytes a transaction of the largest. Between two it refers to no transaction. The zero value
// is ready. It serves one goroutine at a time.
type Arranger struct {
	hashing keyHashing
	sums    [][32]byte
	starts  []int32
	ranked  []slot
	table   senders
}

// Arrange is the function of that name.
func (r *Arranger) Arrange(vrfOut chain.Hash, txs []*chain.VerifiedTx) []*chain.VerifiedTx {
	if len(txs) == 0 {
		return []*chain.VerifiedTx{}
	}
	r.sums = slices.Grow(r.sums[:0], len(txs))[:len(txs)]
	r.hashing.sumKeys(vrfOut, txs, r.sums)
	r.rank(txs)
	arranged := make([]*chain.VerifiedTx, len(txs))
	r.table.makeEmpty(vrfOut, len(txs))
	for start := 0; start < len(r.ranked); {
		end := start
		for end < len(r.ranked) && r.ranked[end].lane == r.ranked[start].lane {
			end++
		}
		r.table.refill(r.ranked[start:end], arranged[start:end])
		start = end
	}
	clear(r.ranked)
	clear(r.table.byKey[:cap(r.table.byKey)])
	return arranged
}

// slot is the place that a transaction's key earns for its sender. It has what
// the order is made from: slots are gone through in the order of keys, which is
// none for the memory that the transactions lie in.
type slot struct {
	tx     *chain.VerifiedTx
	front  uint64    // first eight bytes of the key
	key    *[32]byte // the whole key, for slots with one front
	nonce  uint64
	sender chain.Address
	lane   chain.LaneID
}

func (a *slot) compare(b *slot) int {
	if c := cmp.Compare(a.lane, b.lane); c != 0 {
		return c
	}
	if c := cmp.Compare(a.front, b.front); c != 0 {
		return c
	}
	return bytes.Compare(a.key[:], b.key[:])
}

// rank sorts the transactions by lane and key. Keys are hashes, so one pass of
// counting by their first bits leaves a handful in each bucket, which then sort
// themselves by comparison. A proposer that knew its VRF output before it made
// the transactions could crowd a bucket; that costs the verifier a common sort.
func (r *Arranger) rank(txs []*chain.VerifiedTx) {
	width, keys := bits.Len(uint(len(txs))), r.sums
	size := int(chain.NumLanes)<<width + 1
	starts := slices.Grow(r.starts[:0], size)[:size]
	clear(starts)
	bucket := func(lane chain.LaneID, front uint64) int {
		return int(lane)<<width | int(front>>(64-width))
	}
	for i, tx := range txs {
		starts[bucket(tx.Lane, binary.BigEndian.Uint64(keys[i][:]))+1]++
	}
	for i := 1; i < len(starts); i++ {
		starts[i] += starts[i-1]
	}
	ranked := slices.Grow(r.ranked[:0], len(txs))[:len(txs)]
	for i, tx := range txs {
		front := binary.BigEndian.Uint64(keys[i][:])
		at := &starts[bucket(tx.Lane, front)]
		ranked[*at] = slot{tx: tx, front: front, key: &keys[i], nonce: tx.Tx.Nonce, sender: tx.Sender, lane: tx.Lane}
		*at++
	}
	first := int32(0)
	for _, end := range starts[:len(starts)-1] { // each now stands where its bucket ends
		if end-first > 1 {
			slices.SortFunc(ranked[first:end], func(a, b slot) int { return a.compare(&b) })
		}
		first = end
	}
	r.starts, r.ranked = starts, ranked
}

// senders groups the slots of a segment by sender: an open hash table of the
// first slot of each, and the slots of each in a chain. The hash is keyed with
// the VRF output, which nobody knows who could still choose a sender.
type senders struct {
	key    [2]uint64
	mask   uint64
	places []int32 // the memory of the next three
	table  []int32 // 1 + place of a sender's first slot; 0 is free
	next   []int32 // 1 + place of the same sender's next slot
	last   []int32 // of a sender's first slot: 1 + place of its last
	own    []int32 // scratch: the places of one sender
	byKey  []slot  // scratch: what stands there
}

// makeEmpty makes an empty table for n slots. What next and last hold of earlier ones is written
// before it is read.
func (s *senders) makeEmpty(vrfOut chain.Hash, n int) {
	size := 2 << bits.Len(uint(n))
	s.places = slices.Grow(s.places[:0], size+2*n)[:size+2*n]
	s.key = [2]uint64{binary.LittleEndian.Uint64(vrfOut[:]), binary.LittleEndian.Uint64(vrfOut[8:]) | 1}
	s.mask = uint64(size - 1)
	s.table, s.next, s.last = s.places[:size], s.places[size:size+n], s.places[size+n:]
}

func (s *senders) hash(a *chain.Address) uint64 {
	x := binary.LittleEndian.Uint64(a[:]) ^ s.key[0]
	y := binary.LittleEndian.Uint64(a[8:]) ^ uint64(binary.LittleEndian.Uint32(a[16:]))<<32 ^ s.key[1]
	hi, lo := bits.Mul64(x, y)
	hi, lo = bits.Mul64(hi^lo^s.key[0], 0x9e3779b97f4a7c15)
	return hi ^ lo
}

// refill writes the transactions of one segment to out so that every slot stays
// with its sender and each sender's transactions come in nonce order. Two of
// one nonce, which execution will refuse, keep the order of their keys.
func (s *senders) refill(segment []slot, out []*chain.VerifiedTx) {
	clear(s.table)
	for i := range segment {
		out[i] = segment[i].tx
		s.next[i] = 0
		s.link(segment, int32(i))
	}
	for i := range segment {
		if s.last[i] == 0 || s.next[i] == 0 {
			continue // not a sender's first slot, or its only one
		}
		sorted := true
		last := segment[i].nonce
		for at := s.next[i]; at != 0 && sorted; at = s.next[at-1] {
			sorted = last <= segment[at-1].nonce
			last = segment[at-1].nonce
		}
		if sorted {
			continue
		}
		s.own, s.byKey = s.own[:0], s.byKey[:0]
		for at := int32(i) + 1; at != 0; at = s.next[at-1] {
			s.own, s.byKey = append(s.own, at-1), append(s.byKey, segment[at-1])
		}
		slices.SortStableFunc(s.byKey, func(a, b slot) int { return cmp.Compare(a.nonce, b.nonce) })
		for k, at := range s.own {
			out[at] = s.byKey[k].tx
		}
	}
}

// link appends a slot to its sender's chain.
func (s *senders) link(segment []slot, i int32) {
	sender := &segment[i].sender
	s.last[i] = 0
	for h := s.hash(sender) & s.mask; ; h = (h + 1) & s.mask {
		first := s.table[h]
		if first == 0 {
			s.table[h] = i + 1
			s.last[i] = i + 1
			return
		}
		if segment[first-1].sender == *sender {
			s.next[s.last[first-1]-1] = i + 1
			s.last[first-1] = i + 1
			return
		}
	}
}
