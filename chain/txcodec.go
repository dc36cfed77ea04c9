//spec:implements whitepaper 2.1-2.4

package chain

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// Reasons for which bytes are no transaction, besides those of chain/cbor.
var (
	// ErrTxTooLarge means a body above MaxTxBytes (whitepaper §12.1).
	ErrTxTooLarge = errors.New("transaction larger than 128 KiB")
	// ErrAccessList means an access list that is unsorted, repeats itself or is
	// too long (whitepaper §2.2d).
	ErrAccessList = errors.New("access list is not strictly ascending or too long")
	// ErrHighS means the second of the two signatures that everyone can make
	// from one: s above half the group order (resolution 11.12).
	ErrHighS = errors.New("signature has a high s")
	// ErrUnsigned means a null signature, which only the signing hash uses.
	ErrUnsigned = errors.New("transaction is not signed")
	// ErrWireTruncated means that wire bytes end inside a transaction.
	ErrWireTruncated = errors.New("bytes end inside a transaction")
	// ErrWireCount means no transaction at all or more than allowed.
	ErrWireCount = errors.New("wrong number of transactions")
)

// halfOrder is half the order of the secp256k1 group, rounded down: the
// largest s of a signature (SEC 2 §2.4.1, BIP 62).
var halfOrder = [32]byte{
	0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
	0x5d, 0x57, 0x6e, 0x73, 0x57, 0xa4, 0x50, 0x1d, 0xdf, 0xe9, 0x2f, 0x46, 0x68, 0x1b, 0x20, 0xa0,
}

// Lengths of the signature, the last field, in a body: null, or an array of
// y_parity and two 32-byte strings.
const (
	nullBytes       = 1
	SignatureBytes  = 1 + 1 + 2*(2+32)
	minTxBytes      = 1 + 13 // an array head and 13 fields of one byte
	wirePrefixBytes = 4
)

// DecodeTx reads a transaction's canonical body: a CBOR array of the 13 fields
// (whitepaper §2.1, resolution 8.3). Whatever it accepts, Encode gives back
// byte for byte. It allocates in proportion to body; the payload aliases body.
//
// A null signature is accepted, since it is the form that is signed; who wants
// a sender checks Signature and reports [ErrUnsigned].
func DecodeTx(body []byte) (*Tx, error) { return new(TxRoom).Decode(body) }

// TxRoom is memory for one transaction and what it points to, so that they and what its
// owner keeps beside them are one object.
type TxRoom struct {
	tx        Tx
	to        Address
	signature TxSignature
}

// Decode is [DecodeTx] into the room, which is the transaction's from then on.
func (one *TxRoom) Decode(body []byte) (*Tx, error) {
	if len(body) > MaxTxBytes {
		return nil, ErrTxTooLarge
	}
	tx := &one.tx
	tx.To, tx.Signature = &one.to, &one.signature // or null
	r := cbor.NewReader(body)
	if err := tx.readFrom(&r); err != nil {
		return nil, err
	}
	if err := r.End(); err != nil {
		return nil, &FieldError{Object: "Tx", Err: err}
	}
	if err := checkAccessList(tx.AccessList); err != nil {
		return nil, &FieldError{Object: "Tx", Field: "AccessList", Err: err}
	}
	if tx.Signature != nil && bytes.Compare(tx.Signature.S[:], halfOrder[:]) > 0 {
		return nil, &FieldError{Object: "Tx", Field: "Signature", Err: ErrHighS}
	}
	return tx, nil
}

// checkAccessList holds the list to one form per set: addresses and the keys
// of each address strictly ascending, at most MaxAccessKeys keys in all. (The
// number of entries was bounded when the list was read.)
func checkAccessList(list []AccessEntry) error {
	total := 0
	for i := range list {
		entry := &list[i]
		if i > 0 && bytes.Compare(list[i-1].Address[:], entry.Address[:]) >= 0 {
			return ErrAccessList
		}
		if total += len(entry.Keys); total > MaxAccessKeys {
			return ErrAccessList
		}
		for k := 1; k < len(entry.Keys); k++ {
			if bytes.Compare(entry.Keys[k-1][:], entry.Keys[k][:]) >= 0 {
				return ErrAccessList
			}
		}
	}
	return nil
}

// FeeCaps returns the most that the transaction pays a unit of each meter.
func (t *Tx) FeeCaps() FeePair {
	return FeePair{PerCycle: t.MaxFeePerCycle, PerCell: t.MaxFeePerCell}
}

// accessBytes returns how much longer the body is than with null for an access
// list. It takes no time for a transaction without a list.
func (t *Tx) accessBytes() int {
	if len(t.AccessList) == 0 {
		return 0 // null and an empty list are a byte each
	}
	n := cbor.HeadBytes(uint64(len(t.AccessList))) - nullBytes
	for i := range t.AccessList {
		keys := t.AccessList[i].Keys
		n += 1 + (1 + len(Address{})) + cbor.HeadBytes(uint64(len(keys))) + len(keys)*(2+len(Hash{}))
	}
	return n
}

// Encode returns the canonical body, without a length prefix.
func (t *Tx) Encode() []byte {
	return t.appendTo(make([]byte, 0, 256+len(t.Payload)))
}

// AppendWire appends the transaction as it travels: the length of the body in
// four big-endian bytes, then the body (CIP-11 §10.3).
func (t *Tx) AppendWire(dst []byte) []byte {
	start := len(dst)
	dst = t.appendTo(append(dst, 0, 0, 0, 0))
	binary.BigEndian.PutUint32(dst[start:], uint32(len(dst)-start-wirePrefixBytes))
	return dst
}

// SigningHash returns what the sender signs: the keccak256 of the body with a
// null signature (whitepaper §2.1).
func (t *Tx) SigningHash() Hash {
	unsigned := *t
	unsigned.Signature = nil
	return keccak.Sum256(unsigned.Encode())
}

// AppendSigningBytes appends the preimage of the signing hash of a body that
// DecodeTx accepted: the signature is the last field, so everything before it
// stays and null takes its place. It saves encoding the transaction again.
func AppendSigningBytes(dst, body []byte, signed bool) []byte {
	last := nullBytes
	if signed {
		last = SignatureBytes
	}
	return cbor.AppendNull(append(dst, body[:len(body)-last]...))
}

// TxHash returns the hash that names a transaction: the keccak256 of its
// canonical body, signature included (resolution 11.12).
func TxHash(body []byte) Hash { return keccak.Sum256(body) }

// DecodeWireTxs cuts concatenated wire transactions into their bodies, which
// alias b. It wants 1 to most of them and leaves the bodies undecoded
// (resolution 11.12: /submit takes 1 to 50).
func DecodeWireTxs(b []byte, most int) ([][]byte, error) {
	return AppendWireTxs(make([][]byte, 0, min(most, len(b)/(wirePrefixBytes+minTxBytes))), b, most)
}

// AppendWireTxs is [DecodeWireTxs] into memory of the caller: it appends to bodies, and
// wants 1 to most in all.
func AppendWireTxs(bodies [][]byte, b []byte, most int) ([][]byte, error) {
	for len(b) > 0 {
		if len(bodies) == most {
			return nil, fmt.Errorf("more than %d: %w", most, ErrWireCount)
		}
		if len(b) < wirePrefixBytes {
			return nil, ErrWireTruncated
		}
		n := binary.BigEndian.Uint32(b)
		b = b[wirePrefixBytes:]
		switch {
		case n > MaxTxBytes:
			return nil, ErrTxTooLarge
		case int(n) > len(b):
			return nil, ErrWireTruncated
		case n < minTxBytes:
			return nil, fmt.Errorf("body of %d bytes: %w", n, ErrWireTruncated)
		}
		bodies = append(bodies, b[:n:n])
		b = b[n:]
	}
	if len(bodies) == 0 {
		return nil, fmt.Errorf("none: %w", ErrWireCount)
	}
	return bodies, nil
}
