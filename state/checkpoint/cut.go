package checkpoint

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// Source is a state that holds still: [*store.Export], or one in memory.
type Source interface {
	// Accounts, Storage and Lists call f in ascending order of key, until it
	// returns an error, which they return. f must not keep the bytes.
	Accounts(f func(key chain.Hash, row []byte) error) error
	Storage(account chain.Hash, f func(key state.StorageKey, value []byte) error) error
	Lists(f func(name chain.Hash, list []byte) error) error
	Code(hash chain.Hash) ([]byte, error)
	ProveAccount(key chain.Hash) ([][]byte, error)
	ProveStorage(account, slot chain.Hash) ([][]byte, error)
}

// DefaultChunkBytes is large enough for proofs to be a small part of a chunk,
// and small enough for a peer that lies or stalls to cost little.
const DefaultChunkBytes = 256 << 10

// DefaultSortBytes is how much of one account's storage is sorted in memory at a
// time: an account of the highest quota needs no scratch.
const DefaultSortBytes = 32 << 20

// CutConfig says how a state is cut.
type CutConfig struct {
	ChunkBytes int // about the size of a chunk
	SortBytes  int // of one account's storage in memory at a time

	// Scratch returns room for the storage of one account that is larger than
	// SortBytes. It is called for such accounts alone, and closed before the next
	// one is read.
	Scratch func() (Scratch, error)
	// Pause is called after each chunk, and after each part of SortBytes: what
	// cuts beside a chain lets it have the processor. Its error ends the cutting.
	Pause func() error
}

// Cut calls emit with all chunks of a state, in the order of [Sequence]. emit must
// not keep the chunk. Memory is bounded by the sizes of cfg, whatever the size of
// the largest account is. The chunks depend on ChunkBytes alone.
func Cut(src Source, cfg CutConfig, emit func(Chunk) error) error {
	c := &cutter{
		src: src, target: cfg.ChunkBytes, codes: map[chain.Hash][]byte{},
		sorter: slotSorter{partBytes: cfg.SortBytes, scratch: cfg.Scratch, pause: cfg.Pause},
		emit: func(c Chunk) error {
			if err := emit(c); err != nil {
				return err
			}
			return cfg.Pause()
		},
	}
	if err := src.Accounts(c.addAccount); err != nil {
		return err
	}
	if err := c.flush(); err != nil {
		return err
	}
	return src.Lists(func(job chain.Hash, list []byte) error {
		candidates, err := DecodeCandidates(list)
		if err != nil {
			return fmt.Errorf("list of job %s: %w", job, err)
		}
		return emit(&List{Job: job, Candidates: candidates})
	})
}

// cutter gathers the accounts of the next chunk.
type cutter struct {
	src    Source
	target int
	emit   func(Chunk) error
	sorter slotSorter

	chunk Accounts
	codes map[chain.Hash][]byte
	bytes int
	any   bool // a chunk was emitted
}

func (c *cutter) addAccount(key chain.Hash, row []byte) error {
	if n := len(c.chunk.Accounts); n > 0 && (c.bytes >= c.target || c.chunk.Accounts[n-1].Key[0]>>4 != key[0]>>4) {
		if err := c.flush(); err != nil {
			return err
		}
	}
	a, err := state.DecodeAccount(row)
	if err != nil {
		return fmt.Errorf("account with key %s: %w", key, err)
	}
	one := Account{Key: key, Row: bytes.Clone(row)}
	if a.HasCode() && c.codes[a.CodeHash] == nil {
		code, err := c.src.Code(a.CodeHash)
		if err != nil {
			return err
		}
		c.codes[a.CodeHash] = code
		c.bytes += len(code)
	}
	c.bytes += len(row) + len(key) + 5
	if !a.HasStorage() {
		c.chunk.Accounts = append(c.chunk.Accounts, one)
		return nil
	}
	return errors.Join(c.storage(&one), c.sorter.close())
}

// storage sorts all storage of an account and puts it in its place.
func (c *cutter) storage(account *Account) error {
	if err := c.src.Storage(account.Key, c.sorter.add); err != nil {
		return err
	}
	slots, err := c.sorter.sorted()
	if err != nil {
		return err
	}
	account.Storage = Here
	if c.sorter.size > c.target {
		account.Storage = Apart
	} else {
		if account.Slots, _, err = take(slots, c.target+1); err != nil {
			return err
		}
		c.bytes += c.sorter.size
	}
	c.chunk.Accounts = append(c.chunk.Accounts, *account)
	if account.Storage != Apart {
		return nil
	}
	if err := c.flush(); err != nil {
		return err
	}
	return c.apart(account, slots)
}

// take takes slots until they have a number of bytes, and returns the hash of the
// last.
func take(slots *slotStream, target int) (out []Slot, last chain.Hash, err error) {
	for size := 0; size < target; {
		one, ok, err := slots.next()
		if err != nil || !ok {
			return out, last, err
		}
		size += slotBytes(&one)
		out, last = append(out, one.Slot), one.hash
	}
	return out, last, nil
}

// apart emits the storage of an account in chunks of its own.
func (c *cutter) apart(account *Account, slots *slotStream) error {
	proof, err := c.src.ProveAccount(account.Key)
	if err != nil {
		return err
	}
	var from chain.Hash
	for {
		part, last, err := take(slots, c.target)
		if err != nil || len(part) == 0 {
			return err
		}
		first, err := c.src.ProveStorage(account.Key, from)
		if err != nil {
			return err
		}
		second, err := c.src.ProveStorage(account.Key, last)
		if err != nil {
			return err
		}
		err = c.emit(&Slots{
			Account: account.Key, Row: account.Row, AccountProof: proof,
			From: from, Proof: tree.JoinProofs(first, second), Slots: part,
		})
		if err != nil {
			return err
		}
		from = successor(last)
	}
}

// flush emits the accounts gathered. A state without accounts is one chunk.
func (c *cutter) flush() error {
	n := len(c.chunk.Accounts)
	if n == 0 && c.any {
		return nil
	}
	last := c.chunk.From
	if n > 0 {
		last = c.chunk.Accounts[n-1].Key
	}
	first, err := c.src.ProveAccount(c.chunk.From)
	if err != nil {
		return err
	}
	second, err := c.src.ProveAccount(last)
	if err != nil {
		return err
	}
	c.chunk.Proof = tree.JoinProofs(first, second)
	hashes := make([]chain.Hash, 0, len(c.codes))
	for hash := range c.codes {
		hashes = append(hashes, hash)
	}
	slices.SortFunc(hashes, func(a, b chain.Hash) int { return bytes.Compare(a[:], b[:]) })
	for _, hash := range hashes {
		c.chunk.Codes = append(c.chunk.Codes, c.codes[hash])
	}
	if err := c.emit(&c.chunk); err != nil {
		return err
	}
	c.chunk, c.bytes, c.any = Accounts{From: successor(last)}, 0, true
	clear(c.codes)
	return nil
}
