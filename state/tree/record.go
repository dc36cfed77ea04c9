package tree

import (
	"encoding/binary"
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/rlp"
)

// Records of the arena, little-endian.
//
//	branch: kind, depth, mask u16, embedded u16, -, -, epoch u32,
//	        n refs of 5 bytes, n links of 32 bytes, key of 32 bytes
//	leaf:   kind, account, -, -, length u32, epoch u32, -, -, -, -,
//	        key of 32 bytes, payload
//
// A branch divides keys by nibble number depth, and mask has a bit for each
// nibble that is present. Its key begins with the depth nibbles that all keys
// below share: if its parent divides at an earlier nibble than depth-1, the
// nibbles between make the extension node before the branch. A link is what the
// parent's encoding says of a child: its hash, or if the nibble's bit in
// embedded is set, its encoding, whose own first byte tells the length.
//
// A leaf has its whole key, so that it need not change when a split or merge
// above it moves it; only its link does.
const (
	kindLeaf   = 1
	kindBranch = 2

	atDepth, atMask, atEmbedded, atEpoch = 1, 2, 4, 8
	atAccount, atLength                  = 1, 4
	branchHeader, leafHeader             = 12, 16
	keyBytes                             = 32
	linkBytes                            = 32
	atPayload                            = leafHeader + keyBytes
	slotBytes                            = refBytes + linkBytes
	keyNibbles                           = 2 * keyBytes
)

// key32 is the hash under which an account or storage value stands in its trie.
type key32 = [keyBytes]byte

func nibble(k []byte, i int) int { return int(k[i>>1]>>(4&^(i<<2))) & 15 }

// sharedNibbles counts the nibbles, at most limit, that a and b begin with.
func sharedNibbles(a, b []byte, limit int) int {
	for i := 0; i < keyBytes; i += 8 {
		x := binary.BigEndian.Uint64(a[i:]) ^ binary.BigEndian.Uint64(b[i:])
		if x != 0 {
			return min(2*i+bits.LeadingZeros64(x)/4, limit)
		}
	}
	return min(keyNibbles, limit)
}

// lessKey orders keys.
func compareKeys(a, b *key32) int {
	for i := 0; i < keyBytes; i += 8 {
		x, y := binary.BigEndian.Uint64(a[i:]), binary.BigEndian.Uint64(b[i:])
		if x != y {
			if x < y {
				return -1
			}
			return 1
		}
	}
	return 0
}

func epochOf(b []byte) uint32 { return binary.LittleEndian.Uint32(b[atEpoch:]) }

// branchAt is a branch record.
type branchAt struct {
	b []byte
	n int // children
}

func asBranch(b []byte) branchAt {
	return branchAt{b, bits.OnesCount16(binary.LittleEndian.Uint16(b[atMask:]))}
}

func branchBytes(n int) int { return branchHeader + n*slotBytes + keyBytes }

func (v branchAt) depth() int { return int(v.b[atDepth]) }

func (v branchAt) mask() uint16 { return binary.LittleEndian.Uint16(v.b[atMask:]) }

func (v branchAt) embedded() uint16 { return binary.LittleEndian.Uint16(v.b[atEmbedded:]) }

func (v branchAt) setEmbedded(mask uint16) { binary.LittleEndian.PutUint16(v.b[atEmbedded:], mask) }

// rank is the place of nibble x among the children.
func (v branchAt) rank(x int) int { return bits.OnesCount16(v.mask() & (1<<x - 1)) }

func (v branchAt) kid(rank int) ref40 {
	// One load, of a ref and the first bytes of what follows: a link, at the least.
	return ref40(binary.LittleEndian.Uint64(v.b[branchHeader+refBytes*rank:]) & (1<<(8*refBytes) - 1))
}

func (v branchAt) setKid(rank int, r ref40) {
	putRef(v.b[branchHeader+refBytes*rank:], r)
}

func putRef(b []byte, r ref40) {
	_ = b[refBytes-1]
	binary.LittleEndian.PutUint32(b, uint32(r))
	b[4] = byte(r >> 32)
}

func getRef(b []byte) ref40 {
	return ref40(binary.LittleEndian.Uint32(b)) | ref40(b[4])<<32
}

// child returns the child at nibble x, or 0.
func (v branchAt) child(x int) ref40 {
	if v.mask()>>x&1 == 0 {
		return 0
	}
	return v.kid(v.rank(x))
}

func (v branchAt) link(rank int) []byte {
	at := branchHeader + refBytes*v.n + linkBytes*rank
	return v.b[at : at+linkBytes]
}

func (v branchAt) key() []byte {
	at := branchHeader + v.n*slotBytes
	return v.b[at : at+keyBytes]
}

// writeBranch makes b the header and key of a branch.
func writeBranch(b []byte, depth int, mask uint16, epoch uint32, key []byte) branchAt {
	// One store for kind, depth, mask and an empty embedded, and nothing read
	// back: the record's memory is rarely in the cache.
	binary.LittleEndian.PutUint64(b, kindBranch|uint64(depth)<<(8*atDepth)|uint64(mask)<<(8*atMask))
	binary.LittleEndian.PutUint32(b[atEpoch:], epoch)
	v := branchAt{b, bits.OnesCount16(mask)}
	copy(v.key(), key)
	return v
}

func leafKey(b []byte) *key32 { return (*key32)(b[leafHeader:]) }

func leafPayload(b []byte) []byte {
	n := int(binary.LittleEndian.Uint32(b[atLength:]))
	return b[atPayload : atPayload+n]
}

func leafIsAccount(b []byte) bool { return b[atAccount] == 1 }

// recordUnits is the size of a record.
func recordUnits(b []byte) int {
	if b[0] == kindLeaf {
		return unitsOf(atPayload + int(binary.LittleEndian.Uint32(b[atLength:])))
	}
	return unitsOf(branchBytes(asBranch(b).n))
}

// resident is an account as its leaf keeps it.
type resident struct {
	nonce, balance uint64
	storage        ref40 // root record of the storage trie, 0 if none
	root           chain.Hash
	size           state.StorageSize // of the storage
	code           chain.Hash        // zero if none
	meta           []byte            // shared with the leaf
}

// Flags of an account's payload. It is: flags, nonce and balance as uvarints,
// then of what the flags announce: storage ref, root and size, code hash, metadata
// to the end.
const (
	hasStorage = 1 << iota
	hasCode
)

func appendResident(dst []byte, a *resident) []byte {
	var flags byte
	if a.storage != 0 {
		flags |= hasStorage
	}
	if a.code != (chain.Hash{}) {
		flags |= hasCode
	}
	dst = append(dst, flags)
	dst = binary.AppendUvarint(dst, a.nonce)
	dst = binary.AppendUvarint(dst, a.balance)
	if a.storage != 0 {
		var r [refBytes]byte
		putRef(r[:], a.storage)
		dst = append(dst, r[:]...)
		dst = append(dst, a.root[:]...)
		dst = binary.AppendUvarint(dst, a.size.Bytes)
		dst = binary.AppendUvarint(dst, a.size.Entries)
	}
	if flags&hasCode != 0 {
		dst = append(dst, a.code[:]...)
	}
	return append(dst, a.meta...)
}

func readResident(b []byte) (a resident) {
	flags := b[0]
	b = b[1:]
	var n int
	a.nonce, n = binary.Uvarint(b)
	b = b[n:]
	a.balance, n = binary.Uvarint(b)
	b = b[n:]
	if flags&hasStorage != 0 {
		a.storage = getRef(b)
		copy(a.root[:], b[refBytes:])
		b = b[refBytes+len(a.root):]
		a.size.Bytes, n = binary.Uvarint(b)
		b = b[n:]
		a.size.Entries, n = binary.Uvarint(b)
		b = b[n:]
	}
	if flags&hasCode != 0 {
		copy(a.code[:], b)
		b = b[len(a.code):]
	}
	a.meta = b
	return a
}

// storageOf returns the root record of an account's storage trie.
func storageOf(payload []byte) ref40 {
	if payload[0]&hasStorage == 0 {
		return 0
	}
	return readResident(payload).storage
}

// storageAt is where in the payload of an account with storage the ref of its root is.
func storageAt(payload []byte) int {
	at := 1
	for range 2 { // nonce and balance
		_, n := binary.Uvarint(payload[at:])
		at += n
	}
	return at
}

func (a *resident) empty() bool {
	return a.nonce == 0 && a.balance == 0 && a.storage == 0 && a.code == (chain.Hash{}) && len(a.meta) == 0
}

// account returns a as a value of its own.
func (a *resident) account() state.Account {
	out := state.Account{Nonce: a.nonce, Balance: chain.Wei(a.balance), StorageRoot: state.EmptyRoot, CodeHash: state.EmptyCodeHash}
	if a.storage != 0 {
		out.StorageRoot, out.StorageSize = a.root, a.size
	}
	if a.code != (chain.Hash{}) {
		out.CodeHash = a.code
	}
	if len(a.meta) != 0 {
		out.Meta = append([]byte(nil), a.meta...)
	}
	return out
}

// appendRLP appends what state.Account.Encode returns for a.
func (a *resident) appendRLP(dst []byte) []byte {
	root, code := &state.EmptyRoot, &state.EmptyCodeHash
	if a.storage != 0 {
		root = &a.root
	}
	if a.code != (chain.Hash{}) {
		code = &a.code
	}
	fifth := a.meta
	if a.storage != 0 {
		out := state.Account{StorageRoot: a.root, StorageSize: a.size, Meta: a.meta}
		fifth = out.AppendFifth(nil)
	}
	payload := uintLen(a.nonce) + uintLen(a.balance) + 2*(1+keyBytes)
	if len(fifth) != 0 {
		payload += rlp.StringLen(fifth)
	}
	dst = rlp.AppendListHeader(dst, payload)
	dst = rlp.AppendUint(dst, a.nonce)
	dst = rlp.AppendUint(dst, a.balance)
	dst = append(append(dst, 0x80+keyBytes), root[:]...)
	dst = append(append(dst, 0x80+keyBytes), code[:]...)
	if len(fifth) != 0 {
		dst = rlp.AppendString(dst, fifth)
	}
	return dst
}

func uintLen(v uint64) int {
	if v < 0x80 {
		return 1
	}
	return 1 + (bits.Len64(v)+7)/8
}
