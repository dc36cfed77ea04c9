package chain

import (
	"errors"
	"fmt"
	"math/big"
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// Amount counts the smallest units of a token, 0 to 2^128-1 (CIP-20). Compare
// with ==; zero is none.
type Amount struct{ Hi, Lo uint64 }

// ErrAmount means what is no amount, or one that is not in its only form.
var ErrAmount = errors.New("not an amount of 0 to 2^128-1")

// The bytes of an amount that does not fit an integer of the encoding.
const (
	wideAmountMin = 9
	wideAmountMax = 16
)

// AmountOf returns n as an amount; false beyond its range.
func AmountOf(n *big.Int) (Amount, bool) {
	if n.Sign() < 0 || n.BitLen() > 128 {
		return Amount{}, false
	}
	hi := new(big.Int).Rsh(n, 64)
	lo := new(big.Int).Sub(n, new(big.Int).Lsh(hi, 64))
	return Amount{Hi: hi.Uint64(), Lo: lo.Uint64()}, true
}

// Big returns the amount.
func (a Amount) Big() *big.Int {
	n := new(big.Int).SetUint64(a.Hi)
	return n.Lsh(n, 64).Or(n, new(big.Int).SetUint64(a.Lo))
}

// Add returns the sum; false beyond the range.
func (a Amount) Add(b Amount) (Amount, bool) {
	lo, carry := bits.Add64(a.Lo, b.Lo, 0)
	hi, carry := bits.Add64(a.Hi, b.Hi, carry)
	return Amount{Hi: hi, Lo: lo}, carry == 0
}

// Sub returns the difference; false where b is larger.
func (a Amount) Sub(b Amount) (Amount, bool) {
	lo, borrow := bits.Sub64(a.Lo, b.Lo, 0)
	hi, borrow := bits.Sub64(a.Hi, b.Hi, borrow)
	return Amount{Hi: hi, Lo: lo}, borrow == 0
}

// String returns the amount in decimal digits.
func (a Amount) String() string { return a.Big().String() }

// MarshalText returns what String does: amounts exceed the numbers of JSON.
func (a Amount) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads decimal digits. The error wraps ErrAmount.
func (a *Amount) UnmarshalText(text []byte) error {
	n, ok := new(big.Int), len(text) > 0 && len(text) <= 39
	for _, c := range text {
		ok = ok && '0' <= c && c <= '9'
	}
	if ok {
		n, ok = n.SetString(string(text), 10)
	}
	if ok {
		*a, ok = AmountOf(n)
	}
	if !ok {
		return fmt.Errorf("%w: %.40q", ErrAmount, text)
	}
	return nil
}

// AppendAmount writes an amount: an integer, or beyond 64 bits its 9 to 16
// big-endian bytes.
func AppendAmount(dst []byte, a Amount) []byte {
	if a.Hi == 0 {
		return cbor.AppendUint(dst, a.Lo)
	}
	return cbor.AppendBytes(dst, a.Big().Bytes())
}

// ReadAmount reads what [AppendAmount] writes and nothing else. The error wraps
// ErrAmount.
func ReadAmount(r *cbor.Reader) (Amount, error) {
	at := *r
	if n, err := r.Uint(); err == nil {
		return Amount{Lo: n}, nil
	}
	*r = at
	b, err := r.Bytes(wideAmountMax)
	if err != nil {
		return Amount{}, fmt.Errorf("%w: %w", ErrAmount, err)
	}
	if len(b) < wideAmountMin || b[0] == 0 {
		return Amount{}, fmt.Errorf("%w: bytes where an integer would do", ErrAmount)
	}
	a, _ := AmountOf(new(big.Int).SetBytes(b)) // of at most 16 bytes
	return a, nil
}
