package chain

import (
	"bytes"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.ReplaceAll(s, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// filled returns n bytes of value v.
func filled(v byte, n int) []byte { return bytes.Repeat([]byte{v}, n) }

// publicTx is the transaction of the two public vectors of the encoding
// (whitepaper of 2026-05-28; resolution 8.3).
func publicTx() *Tx {
	to := Address(filled(0x11, 20))
	return &Tx{ChainID: 1, To: &to, Value: 1, CyclesLimit: 21_000, MaxFeePerCycle: 10, MaxFeePerCell: 2, TipPerCycle: 1, Payload: []byte{}}
}

const publicVector = "8d010054111111111111111111111111111111111111111101195208000a020100f640f6"

func TestPublicVectors(t *testing.T) {
	unsigned := publicTx()
	signed := publicTx()
	signed.Signature = &TxSignature{R: [32]byte(filled(1, 32)), S: [32]byte(filled(2, 32))}
	for _, v := range []struct {
		name string
		tx   *Tx
		want string
	}{
		{"without signature", unsigned, publicVector},
		{"with signature", signed, publicVector[:len(publicVector)-2] + "8300" +
			"5820" + strings.Repeat("01", 32) + "5820" + strings.Repeat("02", 32)},
	} {
		if got := hex.EncodeToString(v.tx.Encode()); got != v.want {
			t.Errorf("%s: encoded %s, want %s", v.name, got, v.want)
		}
		tx, err := DecodeTx(unhex(t, v.want))
		if err != nil {
			t.Errorf("%s: %v", v.name, err)
			continue
		}
		if got := hex.EncodeToString(tx.Encode()); got != v.want {
			t.Errorf("%s: encoded again %s", v.name, got)
		}
	}
	if unsigned.SigningHash() != TxHash(unhex(t, publicVector)) {
		t.Error("the signing hash is not the hash of the body with a null signature")
	}
	if signed.SigningHash() != unsigned.SigningHash() {
		t.Error("the signing hash depends on the signature")
	}
	if TxHash(signed.Encode()) == TxHash(unsigned.Encode()) {
		t.Error("the transaction hash ignores the signature")
	}
}

func TestSigningBytesFromTheBody(t *testing.T) {
	tx := publicTx()
	want := tx.Encode()
	if got := AppendSigningBytes(nil, want, false); !bytes.Equal(got, want) {
		t.Errorf("unsigned: %x, want %x", got, want)
	}
	tx.Signature = &TxSignature{YParity: 1}
	if got := AppendSigningBytes([]byte{9}, tx.Encode(), true); !bytes.Equal(got[1:], want) || got[0] != 9 {
		t.Errorf("signed: %x, want 09 and %x", got, want)
	}
}

func TestDecodeTxEachRuleHasItsError(t *testing.T) {
	encode := func(change func(*Tx)) []byte {
		tx := publicTx()
		change(tx)
		return tx.Encode()
	}
	access := func(list ...AccessEntry) []byte { return encode(func(tx *Tx) { tx.AccessList = list }) }
	keys := func(n int) []Hash {
		out := make([]Hash, n)
		for i := range out {
			out[i][0], out[i][1] = byte(i>>8), byte(i)
		}
		return out
	}
	manyEntries := func(n, keysEach int) []AccessEntry {
		out := make([]AccessEntry, n)
		for i := range out {
			out[i] = AccessEntry{Address: Address{byte(i >> 8), byte(i)}, Keys: keys(keysEach)}
		}
		return out
	}
	replace := func(old, with string) []byte { return unhex(t, strings.Replace(publicVector, old, with, 1)) }

	tests := []struct {
		name string
		body []byte
		want error // nil accepts
	}{
		{"empty access list", access(), nil},
		{"sorted access list", access(AccessEntry{Address{1}, keys(2)}, AccessEntry{Address{2}, nil}), nil},
		{"unsorted addresses", access(AccessEntry{Address{2}, nil}, AccessEntry{Address{1}, nil}), ErrAccessList},
		{"repeated address", access(AccessEntry{Address{1}, nil}, AccessEntry{Address{1}, nil}), ErrAccessList},
		{"unsorted keys", access(AccessEntry{Address{1}, []Hash{{2}, {1}}}), ErrAccessList},
		{"repeated key", access(AccessEntry{Address{1}, []Hash{{1}, {1}}}), ErrAccessList},
		{"256 addresses", access(manyEntries(256, 4)...), nil},
		{"257 addresses", access(manyEntries(257, 0)...), cbor.ErrTooManyItems},
		{"1024 keys of one address", access(AccessEntry{Address{1}, keys(1024)}), nil},
		{"1025 keys of one address", access(AccessEntry{Address{1}, keys(1025)}), cbor.ErrTooManyItems},
		{"1025 keys in all", access(append(manyEntries(256, 4), AccessEntry{})[1:]...), ErrAccessList},
		{"deploy", encode(func(tx *Tx) { tx.To = nil }), nil},
		{"s is half the order", encode(func(tx *Tx) { tx.Signature = &TxSignature{S: halfOrder} }), nil},
		{"s above half the order", encode(func(tx *Tx) {
			tx.Signature = &TxSignature{S: halfOrder}
			tx.Signature.S[31]++
		}), ErrHighS},
		{"largest s", encode(func(tx *Tx) { tx.Signature = &TxSignature{S: [32]byte(filled(0xff, 32))} }), ErrHighS},
		{"payload at the limit", encode(func(tx *Tx) { tx.Payload = make([]byte, MaxTxBytes-40) }), nil},
		{"body above the limit", encode(func(tx *Tx) { tx.Payload = make([]byte, MaxTxBytes-39) }), ErrTxTooLarge},
		{"trailing byte", unhex(t, publicVector+"00"), cbor.ErrTrailing},
		{"cut", unhex(t, publicVector[:len(publicVector)-2]), cbor.ErrTruncated},
		{"12 fields", replace("8d", "8c"), cbor.ErrWrongLength},
		{"a map", replace("8d", "ad"), cbor.ErrWrongType},
		{"indefinite array", unhex(t, "9f"+publicVector[2:]+"ff"), cbor.ErrIndefinite},
		{"chain id in a longer form", replace("8d01", "8d1801"), cbor.ErrNotShortest},
		{"negative nonce", replace("8d0100", "8d0120"), cbor.ErrWrongType},
		{"value as a bignum", replace("1101195208", "11c24101195208"), cbor.ErrTag},
		{"target of 19 bytes", replace("5411", "53"), cbor.ErrWrongLength},
		{"text payload", replace("f640f6", "f660f6"), cbor.ErrWrongType},
		{"access list of something else", replace("f640f6", "a040f6"), cbor.ErrWrongType},
		{"undefined for null", replace("f640f6", "f740f6"), cbor.ErrSimple},
		{"parity 2", encode(func(tx *Tx) { tx.Signature = &TxSignature{YParity: 2} }), new(RangeError)},
		{"signature of two parts", replace("40f6", "408200"+"5820"+strings.Repeat("01", 32)), cbor.ErrWrongLength},
		{"r without its leading zero", replace("40f6", "408300"+"581f"+strings.Repeat("01", 31)+"5820"+strings.Repeat("02", 32)), cbor.ErrWrongLength},
		{"empty", nil, cbor.ErrTruncated},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tx, err := DecodeTx(tt.body)
			var rangeErr *RangeError
			if _, ok := tt.want.(*RangeError); ok {
				if !errors.As(err, &rangeErr) {
					t.Errorf("error %v, want a RangeError", err)
				}
				return
			}
			if !errors.Is(err, tt.want) {
				t.Fatalf("error %v, want %v", err, tt.want)
			}
			if err == nil && !bytes.Equal(tx.Encode(), tt.body) {
				t.Errorf("encodes again as %x, was %x", tx.Encode(), tt.body)
			}
		})
	}
}

func TestWireTransactions(t *testing.T) {
	one, two := publicTx(), publicTx()
	two.Nonce = 1
	wire := two.AppendWire(one.AppendWire(nil))
	bodies, err := DecodeWireTxs(wire, 2)
	if err != nil || len(bodies) != 2 || !bytes.Equal(bodies[0], one.Encode()) || !bytes.Equal(bodies[1], two.Encode()) {
		t.Fatalf("DecodeWireTxs = %x, %v", bodies, err)
	}
	f := func(rule string, b []byte, most int, want error) {
		t.Helper()
		if _, err := DecodeWireTxs(b, most); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", rule, err, want)
		}
	}
	f("none", nil, 50, ErrWireCount)
	f("more than allowed", wire, 1, ErrWireCount)
	f("cut length", wire[:3], 50, ErrWireTruncated)
	f("cut body", wire[:len(wire)-1], 50, ErrWireTruncated)
	f("huge length", filled(0xff, 8), 50, ErrTxTooLarge)
	f("empty bodies", make([]byte, 40), 50, ErrWireTruncated)
	f("little-endian length", append([]byte{36, 0, 0, 0}, one.Encode()...), 50, ErrTxTooLarge)
}

func FuzzDecodeTx(f *testing.F) {
	for _, s := range []string{publicVector, publicVector[:70] + "80", "8d", ""} {
		f.Add(unhex(f, s))
	}
	tx := publicTx()
	tx.AccessList = []AccessEntry{{Address{1}, []Hash{{1}, {2}}}}
	tx.Signature = &TxSignature{YParity: 1, R: Hash{1}, S: Hash{2}}
	f.Add(tx.Encode())
	f.Fuzz(func(t *testing.T, body []byte) {
		tx, err := DecodeTx(body)
		if err != nil {
			return
		}
		if again := tx.Encode(); !bytes.Equal(again, body) {
			t.Fatalf("%x encodes again as %x", body, again)
		}
		if err := cbor.Scan(body, cbor.DefaultLimits()); err != nil {
			t.Fatalf("DecodeTx accepts what Scan refuses: %v", err)
		}
		if TxHash(AppendSigningBytes(nil, body, tx.Signature != nil)) != tx.SigningHash() {
			t.Fatal("two ways to the signing hash disagree")
		}
		_, _ = tx.Classify()
		bare := *tx
		if bare.AccessList = nil; tx.accessBytes() != len(body)-len(bare.Encode()) {
			t.Fatalf("the access list takes %d bytes, not %d", len(body)-len(bare.Encode()), tx.accessBytes())
		}
	})
}

func FuzzWireTxs(f *testing.F) {
	f.Add(publicTx().AppendWire(nil))
	f.Add([]byte{0xff, 0xff, 0xff, 0xff, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		bodies, err := DecodeWireTxs(b, 50)
		if err != nil {
			return
		}
		if len(bodies) == 0 || len(bodies) > 50 {
			t.Fatalf("%d bodies", len(bodies))
		}
		var again []byte
		for _, body := range bodies {
			again = append(again, byte(len(body)>>24), byte(len(body)>>16), byte(len(body)>>8), byte(len(body)))
			again = append(again, body...)
		}
		if !slices.Equal(again, b) {
			t.Fatalf("bodies join to %x, were %x", again, b)
		}
	})
}
