package checkpoint

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/rlp"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// ErrChunk means that a chunk is not a piece of the state with the given root.
// Whoever sent it lies, or its disk does.
var ErrChunk = errors.New("chunk does not belong to the state")

// Span is what a checked chunk covers: all keys from its From up to Last. More
// reports whether the trie goes on behind Last; if not, the chunk covers
// everything up to the end.
type Span struct {
	From, Last chain.Hash
	More       bool
}

// Covers reports whether key lies in the span.
func (s *Span) Covers(key chain.Hash) bool {
	return bytes.Compare(s.From[:], key[:]) <= 0 && (!s.More || bytes.Compare(key[:], s.Last[:]) <= 0)
}

// Check holds the chunk to the state root.
func (a *Accounts) Check(root chain.Hash) (Span, error) {
	entries := make([]tree.Entry, len(a.Accounts))
	for i := range a.Accounts {
		entries[i] = tree.Entry{Key: a.Accounts[i].Key, Value: a.Accounts[i].Row}
	}
	span := Span{From: a.From}
	var err error
	if span.More, err = tree.VerifyRange(root, a.From, entries, a.Proof); err != nil {
		return Span{}, fmt.Errorf("%w: %w", ErrChunk, err)
	}
	if n := len(entries); n > 0 {
		span.Last = entries[n-1].Key
	}
	codes := codeCheck{given: a.Codes, used: map[chain.Hash]bool{}}
	for i := range a.Accounts {
		if err := a.Accounts[i].checkContents(&codes); err != nil {
			return Span{}, fmt.Errorf("account with key %s: %w", a.Accounts[i].Key, err)
		}
	}
	return span, codes.check()
}

// checkContents holds storage and code of an account to its row.
func (a *Account) checkContents(codes *codeCheck) error {
	row, err := state.DecodeAccount(a.Row)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrChunk, err)
	}
	if row.HasCode() {
		codes.used[row.CodeHash] = true
	}
	if row.HasStorage() != (a.Storage != NoStorage) {
		return fmt.Errorf("%w: storage is said to be at %d", ErrChunk, a.Storage)
	}
	if a.Storage != Here {
		return nil
	}
	if _, err := tree.VerifyRange(row.StorageRoot, chain.Hash{}, slotEntries(a.Slots), nil); err != nil {
		return fmt.Errorf("%w: storage: %w", ErrChunk, err)
	}
	return nil
}

// checkPlaces refuses storage apart that is not too large for the chunk of its account: who
// cuts the state to chunks of that size has none of it apart, so that nobody but the
// sender could be asked for it.
func (a *Accounts) checkPlaces(chunkBytes int) error {
	for i := range a.Accounts {
		one := &a.Accounts[i]
		if one.Storage != Apart {
			continue
		}
		row, err := state.DecodeAccount(one.Row)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrChunk, err)
		}
		if n := storageBytes(row.StorageSize); n <= uint64(chunkBytes) {
			return fmt.Errorf("%w: storage of %d bytes of the account with key %s is said to be apart", ErrChunk, n, one.Key)
		}
	}
	return nil
}

// storageBytes is what the values of a storage take in chunks, as slotBytes counts them.
func storageBytes(size state.StorageSize) uint64 { return size.Bytes + slotOverhead*size.Entries }

// slotEntries returns the leaves of storage values.
func slotEntries(slots []Slot) []tree.Entry {
	entries := make([]tree.Entry, len(slots))
	keys := make([][]byte, len(slots))
	sums := make([][keccak.Size]byte, len(slots))
	for i := range slots {
		keys[i] = []byte(slots[i].Key)
	}
	keccak.SumMany(keys, sums)
	for i := range slots {
		entries[i] = tree.Entry{Key: sums[i], Value: rlp.AppendString(nil, slots[i].Value)}
	}
	return entries
}

// codeCheck compares the code that accounts use with what is given.
type codeCheck struct {
	given [][]byte
	used  map[chain.Hash]bool
}

func (c *codeCheck) check() error {
	sums := make([][keccak.Size]byte, len(c.given))
	keccak.SumMany(c.given, sums)
	for i := range sums {
		if i > 0 && bytes.Compare(sums[i-1][:], sums[i][:]) >= 0 {
			return fmt.Errorf("%w: codes are out of order", ErrChunk)
		}
		if !c.used[sums[i]] {
			return fmt.Errorf("%w: nobody uses code %x", ErrChunk, sums[i])
		}
	}
	if len(sums) != len(c.used) {
		return fmt.Errorf("%w: %d codes for the use of %d", ErrChunk, len(sums), len(c.used))
	}
	return nil
}

// Check holds the chunk to the state root. The span is one of hashed storage
// keys.
func (s *Slots) Check(root chain.Hash) (Span, error) {
	row, err := tree.VerifyProof(root, s.Account[:], s.AccountProof)
	if err != nil {
		return Span{}, fmt.Errorf("%w: account with key %s: %w", ErrChunk, s.Account, err)
	}
	if row == nil || !bytes.Equal(row, s.Row) {
		return Span{}, fmt.Errorf("%w: account with key %s is another", ErrChunk, s.Account)
	}
	a, err := state.DecodeAccount(s.Row)
	if err != nil {
		return Span{}, fmt.Errorf("%w: account with key %s: %w", ErrChunk, s.Account, err)
	}
	entries, span := slotEntries(s.Slots), Span{From: s.From}
	if span.More, err = tree.VerifyRange(a.StorageRoot, s.From, entries, s.Proof); err != nil {
		return Span{}, fmt.Errorf("%w: storage of %s: %w", ErrChunk, s.Account, err)
	}
	if n := len(entries); n > 0 {
		span.Last = entries[n-1].Key
	}
	return span, nil
}

// JobRoot is a live job with the root of its candidates, as state has it.
type JobRoot struct{ Job, Root chain.Hash }

// LiveJobs reads the pending and assigned jobs out of a state, ascending by job.
type LiveJobs func(state.View) ([]JobRoot, error)

// NoJobs is LiveJobs of a chain without a job market.
func NoJobs(state.View) ([]JobRoot, error) { return nil, nil }

// Root is the root of the list.
func (l *List) Root() JobRoot { return JobRoot{l.Job, chain.CandidatesRoot(l.Candidates)} }

// CheckLists compares the lists that came with a checkpoint, ascending by job,
// with those that its state asks for: all of them and no others, each under its
// root (resolution 11.19).
func CheckLists(live, given []JobRoot) error {
	for i := range max(len(live), len(given)) {
		switch {
		case i >= len(given):
			return fmt.Errorf("%w: the list of job %s is missing", ErrChunk, live[i].Job)
		case i >= len(live):
			return fmt.Errorf("%w: no live job %s", ErrChunk, given[i].Job)
		case live[i] != given[i]:
			return fmt.Errorf("%w: list of job %s", ErrChunk, given[i].Job)
		}
	}
	return nil
}
