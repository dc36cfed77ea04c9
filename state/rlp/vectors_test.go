package rlp

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/crypto/vectors"
)

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.TrimPrefix(s, "0x"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// item is a decoded value: a string, or a list of items.
type item struct {
	text []byte
	list []item
	isAL bool // a list
	raw  []byte
}

// read takes all of b as one item, and what is in it.
func read(b []byte) (item, error) {
	payload, list, rest, err := Split(b)
	if err != nil {
		return item{}, err
	}
	if len(rest) != 0 {
		return item{}, ErrTrailing
	}
	out := item{text: payload, isAL: list, raw: b}
	for list && len(payload) > 0 {
		_, _, rest, err := Split(payload)
		if err != nil {
			return item{}, err
		}
		in, err := read(payload[:len(payload)-len(rest)])
		if err != nil {
			return item{}, err
		}
		out.list, payload = append(out.list, in), rest
	}
	return out, nil
}

// encode writes a value of the public table: text, a number, #digits, or a list.
func encode(t *testing.T, raw json.RawMessage) []byte {
	t.Helper()
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		var payload []byte
		for _, x := range list {
			payload = append(payload, encode(t, x)...)
		}
		return append(AppendListHeader(nil, len(payload)), payload...)
	}
	var text string
	if json.Unmarshal(raw, &text) == nil && !strings.HasPrefix(text, "#") {
		return AppendString(nil, []byte(text))
	}
	digits := strings.TrimPrefix(strings.Trim(string(raw), `"`), "#")
	n, ok := new(big.Int).SetString(digits, 10)
	if !ok {
		t.Fatalf("value %s", raw)
	}
	if n.IsUint64() {
		return AppendUint(nil, n.Uint64())
	}
	return AppendString(nil, n.Bytes())
}

// TestEthereumVectors: the writer makes the bytes of the public table, the reader
// takes them apart again, and refuses every malformed one.
func TestEthereumVectors(t *testing.T) {
	var rows map[string]struct {
		In  json.RawMessage
		Out string
	}
	vectors.Decode(t, "ethbridge/rlp/rlptest.json", &rows)
	for name, r := range rows {
		want := unhex(t, r.Out)
		if got := encode(t, r.In); !bytes.Equal(got, want) {
			t.Errorf("%s: %x, want %x", name, got, want)
		}
		if _, err := read(want); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	var invalid map[string]struct{ In, Out string }
	vectors.Decode(t, "ethbridge/rlp/invalidRLPTest.json", &invalid)
	for name, r := range invalid {
		if _, err := read(unhex(t, r.Out)); err == nil {
			t.Errorf("%s: %s is taken", name, r.Out)
		}
	}
	if len(rows) < 12 || len(invalid) < 11 {
		t.Errorf("%d and %d rows", len(rows), len(invalid))
	}
}

var errForm = errors.New("not the form of a transaction")

// number is an integer of at most 256 bits without leading zeros.
func (x *item) number() (n *big.Int, err error) {
	if x.isAL || len(x.text) > 32 || len(x.text) > 0 && x.text[0] == 0 {
		return nil, errForm
	}
	return new(big.Int).SetBytes(x.text), nil
}

// sender recovers who signed a transaction of Ethereum's: legacy with or without the
// id of its chain, or of types 1 and 2.
func sender(raw []byte) (addr [20]byte, err error) {
	kind := byte(0)
	if len(raw) > 0 && raw[0] < 0x80 {
		kind, raw = raw[0], raw[1:]
	}
	tx, err := read(raw)
	if err != nil {
		return addr, err
	}
	fields := map[byte]int{0: 9, 1: 11, 2: 12}[kind]
	if !tx.isAL || len(tx.list) != fields {
		return addr, errForm
	}
	for i := range tx.list {
		access := kind == 1 && i == 7 || kind == 2 && i == 8
		data := kind == 0 && (i == 3 || i == 5) || kind == 1 && (i == 4 || i == 6) || kind == 2 && (i == 5 || i == 7)
		switch {
		case access:
			err = tx.list[i].accessList()
		case data && tx.list[i].isAL:
			err = errForm
		case !data:
			_, err = tx.list[i].number()
		}
		if err != nil {
			return addr, err
		}
	}
	return tx.recover(kind)
}

func (x *item) accessList() error {
	for _, e := range x.list {
		if len(e.list) != 2 || len(e.list[0].text) != 20 || !e.list[1].isAL {
			return errForm
		}
		for _, k := range e.list[1].list {
			if len(k.text) != 32 {
				return errForm
			}
		}
	}
	if !x.isAL {
		return errForm
	}
	return nil
}

func (x *item) recover(kind byte) (addr [20]byte, err error) {
	n := len(x.list) - 3
	var payload []byte
	for _, f := range x.list[:n] {
		payload = append(payload, f.raw...)
	}
	v, err := x.list[n].number()
	if err != nil || !v.IsUint64() {
		return addr, errForm
	}
	parity := v.Uint64()
	if kind == 0 && parity >= 35 {
		payload = AppendUint(payload, (parity-35)/2)
		payload = append(payload, 0x80, 0x80)
		parity = (parity - 35) % 2
	} else if kind == 0 {
		parity -= 27
	}
	if parity > 1 {
		return addr, errForm
	}
	sig := secp256k1.Signature{YParity: uint8(parity)}
	copy(sig.R[32-len(x.list[n+1].text):], x.list[n+1].text)
	copy(sig.S[32-len(x.list[n+2].text):], x.list[n+2].text)
	signed := append(AppendListHeader(nil, len(payload)), payload...)
	if kind != 0 {
		signed = append([]byte{kind}, signed...)
	}
	key, err := secp256k1.Recover(keccak.Sum256(signed), sig)
	if err != nil {
		return addr, err
	}
	return key.Address(), nil
}

// TestEthereumTransactions: whoever Ethereum says signed a transaction is who we
// recover, and what is malformed or signed with a value out of range is refused.
// What Ethereum refuses for the chain's sake (gas, nonces, another chain's id) is
// nothing that encoding and signature tell.
func TestEthereumTransactions(t *testing.T) {
	var rows []struct {
		Name, TxBytes string
		Result        map[string]struct{ Sender, Hash, Exception string }
	}
	vectors.Decode(t, "secp256k1/eth_transaction_tests.json", &rows)
	good, bad := 0, 0
	for _, r := range rows {
		raw, london := unhex(t, r.TxBytes), r.Result["London"]
		got, err := sender(raw)
		why := strings.TrimPrefix(london.Exception, "TransactionException.")
		switch {
		case london.Sender != "":
			good++
			if err != nil || hex.EncodeToString(got[:]) != strings.TrimPrefix(london.Sender, "0x") {
				t.Errorf("%s: %x, %v; want %s", r.Name, got, err, london.Sender)
			}
			if h := keccak.Sum256(raw); hex.EncodeToString(h[:]) != strings.TrimPrefix(london.Hash, "0x") {
				t.Errorf("%s: hash %x, want %s", r.Name, h, london.Hash)
			}
		case strings.HasPrefix(why, "RLP_"), why == "INVALID_SIGNATURE_VRS", why == "TYPE_NOT_SUPPORTED":
			bad++
			if err == nil {
				t.Errorf("%s: taken, want %s", r.Name, why)
			}
		}
	}
	if good < 25 || bad < 30 {
		t.Errorf("%d taken, %d refused", good, bad)
	}
}
