package client

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
)

// Signed is a transaction ready to be sent.
type Signed struct {
	Tx   *chain.Tx
	Hash chain.Hash
	Wire []byte // length prefix and body, as /submit takes it
}

// SignTx signs tx in place and encodes it (whitepaper §2.1).
func SignTx(key *secp256k1.PrivateKey, tx *chain.Tx) Signed {
	sig := key.Sign(tx.SigningHash())
	tx.Signature = &chain.TxSignature{YParity: sig.YParity, R: sig.R, S: sig.S}
	wire := tx.AppendWire(nil)
	return Signed{Tx: tx, Hash: chain.TxHash(wire[wirePrefix:]), Wire: wire}
}

// wirePrefix is the length of the prefix that counts a body's bytes.
const wirePrefix = 4

// AddressOf returns the account of a key.
func AddressOf(key *secp256k1.PrivateKey) chain.Address { return key.PublicKey().Address() }

// MaxFees returns twice the base fees plus the tips: it survives six full
// blocks in a row, each of which raises a base fee by at most an eighth, and
// the unused part is never charged (whitepaper §2.3). It saturates.
func MaxFees(base, tips chain.FeePair) chain.FeePair {
	one := func(base, tip chain.Wei) chain.Wei {
		double, carry := bits.Add64(uint64(base), uint64(base), 0)
		sum, overflow := bits.Add64(double, uint64(tip), 0)
		if carry|overflow != 0 {
			return math.MaxUint64
		}
		return chain.Wei(sum)
	}
	return chain.FeePair{
		PerCycle: one(base.PerCycle, tips.PerCycle),
		PerCell:  one(base.PerCell, tips.PerCell),
	}
}

// ClampLimits lowers limits to the chain's maxima and says so in notes
// (resolution 11.33).
func ClampLimits(limits, maxima chain.Usage) (clamped chain.Usage, notes []string) {
	if limits.Cycles > maxima.Cycles {
		notes = append(notes, fmt.Sprintf("cycles limit %d is above the chain's maximum: using %d", limits.Cycles, maxima.Cycles))
		limits.Cycles = maxima.Cycles
	}
	if limits.Cells > maxima.Cells {
		notes = append(notes, fmt.Sprintf("cells limit %d is above the chain's maximum: using %d", limits.Cells, maxima.Cells))
		limits.Cells = maxima.Cells
	}
	return limits, notes
}

// IntrinsicLimits returns what tx costs before anything of it runs, at a
// chain's prices ([Client.IntrinsicCosts]): all that a transfer needs
// (whitepaper §17.2).
func IntrinsicLimits(tx *chain.Tx, costs *params.IntrinsicCosts) (chain.Usage, error) {
	what, err := tx.Classify()
	if err != nil {
		return chain.Usage{}, err
	}
	return costs.Of(what), nil
}

// cbyDecimals is the number of decimals of CBY (resolution 8.17).
const cbyDecimals = 9

// ParseAmount reads an amount as people write it: a decimal number of CBY with
// at most nine decimals ("1.5", "5000 cby"), or base units with the suffix wei
// ("1500000000wei"). It computes exactly and refuses what does not fit.
func ParseAmount(text string) (chain.Wei, error) {
	number := strings.ToLower(strings.TrimSpace(text))
	decimals := cbyDecimals
	if rest, ok := strings.CutSuffix(number, "wei"); ok {
		number, decimals = strings.TrimSpace(rest), 0
	} else {
		number = strings.TrimSpace(strings.TrimSuffix(number, "cby"))
	}
	whole, fraction, point := strings.Cut(number, ".")
	if !digits(whole) || point && !digits(fraction) {
		return 0, fmt.Errorf("amount %q is no number: write CBY like 1.5, or base units like 1500000000wei", printable(text))
	}
	if len(fraction) > decimals {
		return 0, fmt.Errorf("amount %q has more than %d decimals: the smallest amount is 1wei, 0.000000001 CBY", printable(text), decimals)
	}
	units := whole + fraction + strings.Repeat("0", decimals-len(fraction))
	v, err := strconv.ParseUint(units, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("amount %q is more than all CBY there can be", printable(text))
	}
	return chain.Wei(v), nil
}

// digits reports whether s is one or more decimal digits.
func digits(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// ParseAddress reads 40 hex digits in either case, with or without 0x.
func ParseAddress(text string) (chain.Address, error) {
	var a chain.Address
	if err := a.UnmarshalText([]byte("0x" + strings.ToLower(strings.TrimPrefix(text, "0x")))); err != nil {
		return a, fmt.Errorf("%q is not an address: give 40 hex digits, with or without 0x", printable(text))
	}
	return a, nil
}

// ParseHash reads 64 hex digits in either case, with or without 0x.
func ParseHash(text string) (chain.Hash, error) {
	var h chain.Hash
	if err := h.UnmarshalText([]byte("0x" + strings.ToLower(strings.TrimPrefix(text, "0x")))); err != nil {
		return h, fmt.Errorf("%q is not a hash: give 64 hex digits, with or without 0x", printable(text))
	}
	return h, nil
}
