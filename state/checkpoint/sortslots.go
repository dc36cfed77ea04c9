package checkpoint

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/state"
)

// Scratch is room outside memory for what is being sorted. What was written is
// read by nobody after Close.
type Scratch interface {
	io.Writer // at the end
	io.ReaderAt
	io.Closer
}

// hashedSlot is a storage value with the key of its leaf.
type hashedSlot struct {
	hash chain.Hash
	Slot
}

func slotBytes(s *hashedSlot) int { return slotOverhead + len(s.Key) + len(s.Value) }

// slotOverhead is what a storage value takes in a chunk besides its key and itself: their
// lengths.
const slotOverhead = 8

// slotSorter puts the storage of one account, which the flat state has by key,
// in the order of its trie, which is that of hashes. It holds one part at a time:
//
//	rows by key ── part ── sort ──▶ run in the scratch ─┐
//	               part ── sort ──▶ run in the scratch ─┼─▶ merge ──▶ slots by hash
//	               part ── sort ────────────────────────┘
//
// An account that fits one part never touches the scratch. Memory is bounded by
// about three times the size of a part, whatever the account's size is.
type slotSorter struct {
	partBytes int
	scratch   func() (Scratch, error)
	pause     func() error

	part  []byte // rows: length of the key, of the value, key, value
	order []partItem
	keys  [][]byte
	sums  [][keccak.Size]byte

	file Scratch // nil while everything fits one part
	runs []int64 // where each run in the file ends
	size int     // of all slots, as slotBytes counts
}

// partItem is a row of the part.
type partItem struct {
	hash chain.Hash
	at   int // in part
}

// itemBytes is what a row takes besides its bytes.
const itemBytes = keccak.Size + 8

// add takes in the next row.
func (s *slotSorter) add(key state.StorageKey, value []byte) error {
	need := slotOverhead + len(key) + len(value)
	if len(s.order) > 0 && len(s.part)+need+(len(s.order)+1)*itemBytes > s.partBytes {
		if err := s.spill(); err != nil {
			return err
		}
	}
	s.order = append(s.order, partItem{at: len(s.part)})
	s.part = binary.BigEndian.AppendUint32(s.part, uint32(len(key)))
	s.part = binary.BigEndian.AppendUint32(s.part, uint32(len(value)))
	s.part = append(append(s.part, key...), value...)
	s.size += need
	return nil
}

// row returns a row of the part.
func (s *slotSorter) row(at int) (key, value []byte) {
	b := s.part[at:]
	k, v := int(binary.BigEndian.Uint32(b)), int(binary.BigEndian.Uint32(b[4:]))
	return b[8 : 8+k], b[8+k : 8+k+v]
}

// hashBatch is how many keys are hashed at once.
const hashBatch = 1024

// sortPart hashes the keys of the part and sorts its rows.
func (s *slotSorter) sortPart() {
	for from := 0; from < len(s.order); from += hashBatch {
		items := s.order[from:min(from+hashBatch, len(s.order))]
		s.keys, s.sums = s.keys[:0], slices.Grow(s.sums[:0], len(items))[:len(items)]
		for i := range items {
			key, _ := s.row(items[i].at)
			s.keys = append(s.keys, key)
		}
		keccak.SumMany(s.keys, s.sums)
		for i := range items {
			items[i].hash = s.sums[i]
		}
	}
	slices.SortFunc(s.order, func(a, b partItem) int { return bytes.Compare(a.hash[:], b.hash[:]) })
}

// spill writes the part to the scratch as a run: hash, and the row as it is in
// the part.
func (s *slotSorter) spill() (err error) {
	s.sortPart()
	if s.file == nil {
		if s.file, err = s.scratch(); err != nil {
			return fmt.Errorf("room to sort a storage: %w", err)
		}
	}
	end := int64(0)
	if n := len(s.runs); n > 0 {
		end = s.runs[n-1]
	}
	out := bufio.NewWriterSize(s.file, 1<<16)
	for i := range s.order {
		it := &s.order[i]
		key, value := s.row(it.at)
		row := s.part[it.at : it.at+8+len(key)+len(value)]
		end += int64(len(it.hash) + len(row))
		_, _ = out.Write(it.hash[:]) // Flush returns the first error
		_, _ = out.Write(row)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("sort a storage outside memory: %w", err)
	}
	s.runs = append(s.runs, end)
	s.part, s.order = s.part[:0], s.order[:0]
	return s.pause()
}

// sorted ends the adding and returns the slots in order.
func (s *slotSorter) sorted() (*slotStream, error) {
	s.sortPart()
	st := &slotStream{sorter: s}
	if s.file == nil {
		return st, nil
	}
	buffer := min(max(s.partBytes/(len(s.runs)+1), 4<<10), 64<<10)
	from := int64(0)
	for _, end := range s.runs {
		r := &run{in: bufio.NewReaderSize(io.NewSectionReader(s.file, from, end-from), buffer), left: end - from}
		from = end
		if err := r.advance(); err != nil {
			return nil, err
		}
		st.runs = append(st.runs, r)
	}
	for i := len(st.runs)/2 - 1; i >= 0; i-- {
		st.sink(i)
	}
	return st, nil
}

// close lets go of the scratch and empties the sorter for another account.
func (s *slotSorter) close() error {
	var err error
	if s.file != nil {
		err = s.file.Close()
	}
	s.file, s.runs, s.size = nil, nil, 0
	s.part, s.order = s.part[:0], s.order[:0]
	return err
}

// slotStream hands out sorted slots, the smallest of all runs and of the part
// that is still in memory.
type slotStream struct {
	sorter *slotSorter
	runs   []*run // a heap: the one whose slot comes first is the first
	at     int    // in the sorter's order
}

// next returns the next slot, false at the end.
func (st *slotStream) next() (one hashedSlot, ok bool, err error) {
	s := st.sorter
	inMemory := st.at < len(s.order)
	if len(st.runs) > 0 && (!inMemory || bytes.Compare(st.runs[0].head.hash[:], s.order[st.at].hash[:]) < 0) {
		r := st.runs[0]
		one = r.head
		if r.left == 0 {
			last := len(st.runs) - 1
			st.runs[0] = st.runs[last]
			st.runs = st.runs[:last]
		} else if err := r.advance(); err != nil {
			return hashedSlot{}, false, err
		}
		st.sink(0)
		return one, true, nil
	}
	if !inMemory {
		return hashedSlot{}, false, nil
	}
	it := &s.order[st.at]
	st.at++
	key, value := s.row(it.at)
	return hashedSlot{it.hash, Slot{state.StorageKey(key), bytes.Clone(value)}}, true, nil
}

// sink puts the run at place i of the heap where it belongs.
func (st *slotStream) sink(i int) {
	for {
		least := i
		for _, kid := range []int{2*i + 1, 2*i + 2} {
			if kid < len(st.runs) && bytes.Compare(st.runs[kid].head.hash[:], st.runs[least].head.hash[:]) < 0 {
				least = kid
			}
		}
		if least == i {
			return
		}
		st.runs[i], st.runs[least] = st.runs[least], st.runs[i]
		i = least
	}
}

// run is a sorted part in the scratch.
type run struct {
	in   *bufio.Reader
	left int64 // bytes behind head
	head hashedSlot
}

// advance reads the next slot.
func (r *run) advance() error {
	var fixed [keccak.Size + 8]byte
	if _, err := io.ReadFull(r.in, fixed[:]); err != nil {
		return fmt.Errorf("read what was sorted outside memory: %w", err)
	}
	k, v := binary.BigEndian.Uint32(fixed[keccak.Size:]), binary.BigEndian.Uint32(fixed[keccak.Size+4:])
	if r.left -= int64(len(fixed)) + int64(k) + int64(v); r.left < 0 {
		return fmt.Errorf("%w: a run ends in the middle", ErrEncoding)
	}
	row := make([]byte, int(k)+int(v))
	if _, err := io.ReadFull(r.in, row); err != nil {
		return fmt.Errorf("read what was sorted outside memory: %w", err)
	}
	r.head = hashedSlot{chain.Hash(fixed[:keccak.Size]), Slot{state.StorageKey(row[:k]), row[k:]}}
	return nil
}
