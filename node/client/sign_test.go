package client_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/node/client"
)

func TestParseAmount(t *testing.T) { // resolution 8.17: nine decimals
	f := func(text string, want chain.Wei) {
		t.Helper()
		if got, err := client.ParseAmount(text); err != nil || got != want {
			t.Errorf("ParseAmount(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	f("0", 0)
	f("1", 1_000_000_000)
	f("1.5", 1_500_000_000)
	f("0.000000001", 1)
	f("0.100000000", 100_000_000)
	f("18446744073.709551615", math.MaxUint64)
	f("18446744073709551615wei", math.MaxUint64)
	f("7 wei", 7)
	f(" 5000 CBY ", 5_000*chain.WeiPerCBY)
	f("1.5cby", 1_500_000_000)
	f("9007199254.740993", 9_007_199_254_740_993_000) // a float would round it
	f("000001", 1_000_000_000)

	bad := func(text string) {
		t.Helper()
		if got, err := client.ParseAmount(text); err == nil {
			t.Errorf("ParseAmount(%q) = %d, want an error", text, got)
		}
	}
	for _, text := range []string{
		"", ".", ".5", "1.", "-1", "+1", "1,5", "1e9", "0x10", "1_000", "1.5wei", "1.0000000001", "wei", "cby",
		"18446744073.709551616", "18446744073709551616wei", "99999999999999999999999999", "1.5.5", "١", "1 5", "NaN", "Inf",
	} {
		bad(text)
	}
}

func FuzzParseAmount(f *testing.F) {
	f.Add("1.5")
	f.Add("18446744073.709551615 cby")
	f.Add("3wei")
	f.Fuzz(func(t *testing.T, text string) {
		w, err := client.ParseAmount(text)
		if err != nil {
			if len(err.Error()) > 1000 {
				t.Errorf("an error of %d bytes", len(err.Error()))
			}
			return
		}
		units := string(mustText(t, w)) + "wei"
		if again, err := client.ParseAmount(units); err != nil || again != w {
			t.Errorf("%q is %d, but %s is %d", text, w, units, again)
		}
	})
}

func mustText(t *testing.T, w chain.Wei) []byte {
	b, err := w.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return []byte(strings.Trim(string(b), `"`))
}

func TestSignedTransactionsRecover(t *testing.T) {
	key := keyOf(t, 0x11)
	tx := &chain.Tx{ChainID: 1, To: &chain.Address{0: 0x11, 19: 0x11}, Value: 1, CyclesLimit: 21_000, MaxFeePerCycle: 10, MaxFeePerCell: 2, TipPerCycle: 1}
	signed := client.SignTx(key, tx)
	bodies, err := chain.DecodeWireTxs(signed.Wire, 1)
	if err != nil {
		t.Fatal(err)
	}
	if chain.TxHash(bodies[0]) != signed.Hash {
		t.Error("the hash is not that of the body (resolution 11.12)")
	}
	back, err := chain.DecodeTx(bodies[0])
	if err != nil {
		t.Fatal(err)
	}
	pub, err := secp256k1.Recover(back.SigningHash(), secp256k1.Signature{YParity: back.Signature.YParity, R: back.Signature.R, S: back.Signature.S})
	if err != nil || chain.Address(pub.Address()) != client.AddressOf(key) {
		t.Errorf("recovered %x, %v", pub.Address(), err)
	}
}

func TestMaxFees(t *testing.T) {
	f := func(base, tip, want chain.Wei) {
		t.Helper()
		got := client.MaxFees(chain.FeePair{PerCycle: base, PerCell: base}, chain.FeePair{PerCycle: tip, PerCell: tip})
		if got.PerCycle != want || got.PerCell != want {
			t.Errorf("MaxFees(%d, %d) = %+v, want %d", base, tip, got, want)
		}
	}
	f(10, 3, 23)
	f(0, 0, 0)
	f(1<<63, 0, math.MaxUint64)
	f(1<<63-1, 5, math.MaxUint64)
	f(1, math.MaxUint64, math.MaxUint64)
}

func TestClampLimits(t *testing.T) { // resolution 11.33
	maxima := chain.Usage{Cycles: 100, Cells: 50}
	got, notes := client.ClampLimits(chain.Usage{Cycles: 10_000_000, Cells: 50}, maxima)
	if got != maxima || len(notes) != 1 || !strings.Contains(notes[0], "10000000") {
		t.Errorf("%+v, %q", got, notes)
	}
	if got, notes := client.ClampLimits(chain.Usage{Cycles: 1, Cells: 1}, maxima); got != (chain.Usage{Cycles: 1, Cells: 1}) || notes != nil {
		t.Errorf("%+v, %q", got, notes)
	}
}

func TestIntrinsicLimits(t *testing.T) { // whitepaper §17.2
	costs := params.Default().Intrinsic
	to := chain.Address{0: 9}
	got, err := client.IntrinsicLimits(&chain.Tx{To: &to, Payload: []byte("note")}, &costs)
	if err != nil || got.Cycles != 21_000 || got.Cells != 4 {
		t.Errorf("%+v, %v", got, err)
	}
	system := chain.Address{19: 1}
	if _, err := client.IntrinsicLimits(&chain.Tx{To: &system}, &costs); !errors.Is(err, chain.ErrReservedAddress) {
		t.Errorf("transfer to a system actor: %v", err)
	}
}

func TestParseAddressAndHash(t *testing.T) {
	const mixed = "19E7e376e7c213b7e7e7e46cc70a5dd086daFF2a"
	for _, text := range []string{mixed, "0x" + mixed} {
		if a, err := client.ParseAddress(text); err != nil || a.String() != "0x"+strings.ToLower(mixed) {
			t.Errorf("%s: %s, %v", text, a, err)
		}
	}
	for _, bad := range []string{"", "0x", mixed[1:], mixed + "00", "0x0x" + mixed[2:], "zz" + mixed[2:], "\x1b[2J" + mixed} {
		if _, err := client.ParseAddress(bad); err == nil || strings.Contains(err.Error(), "\x1b") {
			t.Errorf("%q: %v", bad, err)
		}
		if _, err := client.ParseHash(bad); err == nil {
			t.Errorf("%q is a hash", bad)
		}
	}
	if h, err := client.ParseHash("0X" + strings.Repeat("aB", 32)); err == nil {
		t.Errorf("0X is accepted: %s", h)
	}
	if _, err := client.ParseHash(strings.Repeat("aB", 32)); err != nil {
		t.Error(err)
	}
}
