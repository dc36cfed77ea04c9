package chain_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"math/big"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

func TestAmountForms(t *testing.T) { // CIP-20: 128 bits
	for text, hex := range map[string]string{
		"0": "00", "23": "17", "18446744073709551615": "1bffffffffffffffff",
		"18446744073709551616":                    "49010000000000000000",
		"340282366920938463463374607431768211455": "50ffffffffffffffffffffffffffffffff",
	} {
		var a chain.Amount
		if err := json.Unmarshal([]byte(`"`+text+`"`), &a); err != nil || a.String() != text {
			t.Errorf("%s: %s, %v", text, a, err)
		}
		want, _ := new(big.Int).SetString(hex, 16)
		if got := chain.AppendAmount(nil, a); new(big.Int).SetBytes(got).Cmp(want) != 0 || len(got) != len(hex)/2 {
			t.Errorf("%s is %x, want %s", text, got, hex)
		}
	}
	for _, text := range []string{"", "-1", "+1", " 1", "1.0", "0x10", "340282366920938463463374607431768211456", "1_0"} {
		if err := new(chain.Amount).UnmarshalText([]byte(text)); !errors.Is(err, chain.ErrAmount) {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestAmountArithmetic(t *testing.T) {
	most := chain.Amount{Hi: math.MaxUint64, Lo: math.MaxUint64}
	one := chain.Amount{Lo: 1}
	if _, ok := most.Add(one); ok {
		t.Error("2^128-1 + 1 fits")
	}
	if n, ok := (chain.Amount{Lo: math.MaxUint64}).Add(one); !ok || n != (chain.Amount{Hi: 1}) {
		t.Errorf("2^64-1 + 1 = %s", n)
	}
	if n, ok := (chain.Amount{Hi: 1}).Sub(one); !ok || n != (chain.Amount{Lo: math.MaxUint64}) {
		t.Errorf("2^64 - 1 = %s", n)
	}
	if _, ok := one.Sub(chain.Amount{Lo: 2}); ok {
		t.Error("1 - 2 fits")
	}
	if _, ok := chain.AmountOf(new(big.Int).Lsh(big.NewInt(1), 128)); ok {
		t.Error("2^128 fits")
	}
	if _, ok := chain.AmountOf(big.NewInt(-1)); ok {
		t.Error("-1 fits")
	}
}

// FuzzReadAmount holds the decoder to the only form of an amount.
func FuzzReadAmount(f *testing.F) {
	for _, seed := range [][]byte{{0}, {0x18, 0x18}, {0x18, 0x17}, append([]byte{0x49, 1}, make([]byte, 8)...), append([]byte{0x49, 0}, make([]byte, 8)...), {0x41, 1}} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		r := cbor.NewReader(data)
		a, err := chain.ReadAmount(&r)
		if err != nil {
			return
		}
		if got := chain.AppendAmount(nil, a); !bytes.Equal(got, data[:r.Offset()]) {
			t.Errorf("%x decodes, and encodes as %x", data[:r.Offset()], got)
		}
	})
}
