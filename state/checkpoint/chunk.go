package checkpoint

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// MaxChunkBytes bounds an encoded chunk. A chunk goes beyond the size that it is
// cut to only for a single account, storage value or list that is larger.
const MaxChunkBytes = 16 << 20

// Tags that encodings begin with.
const (
	tagAccounts = 'a'
	tagSlots    = 's'
	tagList     = 'l'
	tagHead     = 'h'
)

// Chunk is an [*Accounts], [*Slots] or [*List].
type Chunk interface {
	// Append appends the encoding.
	Append(dst []byte) []byte
	isChunk()
}

// Accounts are all accounts from the key From to the last one of the chunk, or,
// without accounts, to the end.
type Accounts struct {
	From     chain.Hash
	Proof    [][]byte // as for tree.VerifyRange
	Accounts []Account
	Codes    [][]byte // of these accounts, ascending by hash
}

// Place says where the storage of an account is.
type Place byte

// The places of storage.
const (
	NoStorage Place = iota
	Here            // whole, in the chunk of the account
	Apart           // in chunks of its own
)

// Account is one account with, where it is Here, its storage.
type Account struct {
	Key     chain.Hash
	Row     []byte // RLP
	Storage Place
	Slots   []Slot
}

// Slot is a storage value. Slots stand in the order of their hashed keys.
type Slot struct {
	Key   state.StorageKey
	Value []byte
}

// Slots are all storage values of an account from the hashed key From to the
// last one of the chunk, or, without values, to the end.
type Slots struct {
	Account      chain.Hash // its key
	Row          []byte     // its RLP
	AccountProof [][]byte
	From         chain.Hash
	Proof        [][]byte // against the storage root
	Slots        []Slot
}

// List is the ordered selection snapshot of one live job (CIP-11 §9.2).
type List struct {
	Job        chain.Hash
	Candidates []chain.Candidate
}

func (*Accounts) isChunk() {}
func (*Slots) isChunk()    {}
func (*List) isChunk()     {}

// Append writes 'a' ‖ from ‖ proof ‖ count ‖ for each account: key ‖ row ‖ place
// ‖ slots if here; then count ‖ codes. Byte strings stand behind their length,
// lengths and counts are u32.
func (a *Accounts) Append(dst []byte) []byte {
	dst = append(dst, tagAccounts)
	dst = appendNodes(append(dst, a.From[:]...), a.Proof)
	dst = appendU32(dst, len(a.Accounts))
	for i := range a.Accounts {
		one := &a.Accounts[i]
		dst = appendBytes(append(dst, one.Key[:]...), one.Row)
		if dst = append(dst, byte(one.Storage)); one.Storage == Here {
			dst = appendSlots(dst, one.Slots)
		}
	}
	return appendNodes(dst, a.Codes)
}

// Append writes 's' ‖ account ‖ from ‖ row ‖ account's proof ‖ proof ‖ slots.
func (s *Slots) Append(dst []byte) []byte {
	dst = append(append(append(dst, tagSlots), s.Account[:]...), s.From[:]...)
	dst = appendNodes(appendBytes(dst, s.Row), s.AccountProof)
	return appendSlots(appendNodes(dst, s.Proof), s.Slots)
}

// Append writes 'l' ‖ job ‖ [AppendCandidates].
func (l *List) Append(dst []byte) []byte {
	return AppendCandidates(append(append(dst, tagList), l.Job[:]...), l.Candidates)
}

func appendSlots(dst []byte, slots []Slot) []byte {
	dst = appendU32(dst, len(slots))
	for i := range slots {
		dst = appendBytes(appendBytes(dst, []byte(slots[i].Key)), slots[i].Value)
	}
	return dst
}

// DecodeChunk reads a chunk. It accepts exactly what Append writes, and the
// chunk shares its bytes with b.
func DecodeChunk(b []byte) (Chunk, error) {
	if len(b) > MaxChunkBytes {
		return nil, fmt.Errorf("%w: chunk of %d bytes", ErrEncoding, len(b))
	}
	r := &reader{b: b}
	var c Chunk
	switch r.u8() {
	case tagAccounts:
		c = readAccounts(r)
	case tagSlots:
		c = &Slots{Account: r.readHash(), From: r.readHash(), Row: r.bytes(), AccountProof: r.nodes(), Proof: r.nodes(), Slots: readSlots(r)}
	case tagList:
		c = &List{Job: r.readHash(), Candidates: readCandidates(r)}
	default:
		return nil, fmt.Errorf("%w: unknown chunk", ErrEncoding)
	}
	if err := r.end(); err != nil {
		return nil, err
	}
	return c, nil
}

func readAccounts(r *reader) *Accounts {
	a := &Accounts{From: r.readHash(), Proof: r.nodes()}
	if n := r.count(len(chain.Hash{}) + 4 + 1); n > 0 {
		a.Accounts = make([]Account, n)
	}
	for i := range a.Accounts {
		one := &a.Accounts[i]
		one.Key, one.Row, one.Storage = r.readHash(), r.bytes(), Place(r.u8())
		if one.Storage == Here {
			one.Slots = readSlots(r)
		}
		r.bad = r.bad || one.Storage > Apart
	}
	a.Codes = r.nodes()
	return a
}

func readSlots(r *reader) []Slot {
	n := r.count(8)
	if n == 0 {
		return nil
	}
	out := make([]Slot, n)
	for i := range out {
		out[i] = Slot{Key: state.StorageKey(r.bytes()), Value: r.bytes()}
	}
	return out
}

// candidateBytes is the size of an encoded candidate.
const candidateBytes = 20 + 8 + 8 + 8

// AppendCandidates writes a count and for each candidate runner ‖ stake ‖
// reputation ‖ weight. It is also the form in which a store keeps a list.
func AppendCandidates(dst []byte, list []chain.Candidate) []byte {
	dst = appendU32(dst, len(list))
	for i := range list {
		c := &list[i]
		dst = append(dst, c.Runner[:]...)
		for _, v := range []uint64{uint64(c.EffectiveStake), c.ReputationX1e9, c.BaseWeight} {
			dst = appendU64(dst, v)
		}
	}
	return dst
}

// DecodeCandidates reads the whole of b.
func DecodeCandidates(b []byte) ([]chain.Candidate, error) {
	r := &reader{b: b}
	list := readCandidates(r)
	return list, r.end()
}

func readCandidates(r *reader) []chain.Candidate {
	n := r.count(candidateBytes)
	if n == 0 {
		return nil
	}
	out := make([]chain.Candidate, n)
	for i := range out {
		c := &out[i]
		copy(c.Runner[:], r.take(len(c.Runner)))
		c.EffectiveStake, c.ReputationX1e9, c.BaseWeight = chain.Wei(r.u64()), r.u64(), r.u64()
	}
	return out
}
