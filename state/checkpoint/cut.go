package checkpoint

import (
	"bytes"
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

// Cut calls emit with all chunks of a state, in the order of [Sequence], each of
// about bytesTarget bytes. emit must not keep the chunk. The storage of one
// account at a time is held in memory.
func Cut(src Source, bytesTarget int, emit func(Chunk) error) error {
	c := &cutter{src: src, target: bytesTarget, emit: emit, codes: map[chain.Hash][]byte{}}
	if err := src.Accounts(c.account); err != nil {
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

	chunk Accounts
	codes map[chain.Hash][]byte
	bytes int
	any   bool // a chunk was emitted
}

// hashedSlot is a storage value with the key of its leaf.
type hashedSlot struct {
	hash chain.Hash
	Slot
}

func (c *cutter) account(key chain.Hash, row []byte) error {
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
	var slots []hashedSlot
	if a.HasStorage() {
		var size int
		if slots, size, err = c.storage(key); err != nil {
			return err
		}
		if one.Storage = Here; size > c.target {
			one.Storage = Apart
		} else {
			one.Slots = plain(slots)
			c.bytes += size
		}
	}
	c.chunk.Accounts = append(c.chunk.Accounts, one)
	if one.Storage != Apart {
		return nil
	}
	if err := c.flush(); err != nil {
		return err
	}
	return c.apart(&one, slots)
}

// storage reads all storage of an account, in the order of its trie.
func (c *cutter) storage(account chain.Hash) (slots []hashedSlot, size int, err error) {
	err = c.src.Storage(account, func(key state.StorageKey, value []byte) error {
		slots = append(slots, hashedSlot{tree.SlotKey(key), Slot{key, bytes.Clone(value)}})
		size += slotBytes(&slots[len(slots)-1])
		return nil
	})
	slices.SortFunc(slots, func(a, b hashedSlot) int { return bytes.Compare(a.hash[:], b.hash[:]) })
	return slots, size, err
}

func slotBytes(s *hashedSlot) int { return 8 + len(s.Key) + len(s.Value) }

func plain(slots []hashedSlot) []Slot {
	out := make([]Slot, len(slots))
	for i := range slots {
		out[i] = slots[i].Slot
	}
	return out
}

// apart emits the storage of an account in chunks of its own.
func (c *cutter) apart(account *Account, slots []hashedSlot) error {
	proof, err := c.src.ProveAccount(account.Key)
	if err != nil {
		return err
	}
	var from chain.Hash
	for len(slots) > 0 {
		n, size := 0, 0
		for n < len(slots) && (n == 0 || size < c.target) {
			size += slotBytes(&slots[n])
			n++
		}
		last := slots[n-1].hash
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
			From: from, Proof: tree.JoinProofs(first, second), Slots: plain(slots[:n]),
		})
		if err != nil {
			return err
		}
		from, slots = successor(last), slots[n:]
	}
	return nil
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
