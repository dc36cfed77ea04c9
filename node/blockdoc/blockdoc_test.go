package blockdoc

import (
	"bytes"
	"errors"
	"reflect"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
)

// sample has something else than zero in every field.
func sample(t testing.TB) *Document {
	t.Helper()
	d := &Document{
		Genesis: chain.Hash{1},
		Place: Place{
			Height: 2, Epoch: 3, View: 4, Leader: chain.PeerKey{5}, Parent: chain.Hash{6},
			ParentEpoch: 7, ParentView: 8, ParentSeed: [48]byte{9},
		},
	}
	h := reflect.ValueOf(&d.Block.Header).Elem()
	n := uint64(1)
	var each func(v reflect.Value)
	each = func(v reflect.Value) {
		n++
		switch v.Kind() {
		case reflect.Uint64:
			v.SetUint(n)
		case reflect.Uint8:
			v.SetUint(n % 256)
		case reflect.Slice:
			v.SetBytes([]byte{byte(n), 2, 3})
		case reflect.Array:
			for i := range v.Len() {
				each(v.Index(i))
			}
		case reflect.Struct:
			for i := range v.NumField() {
				each(v.Field(i))
			}
		default:
			t.Fatalf("a header field of kind %v: teach this test", v.Kind())
		}
	}
	each(h)
	d.Block.Header.Version = chain.HeaderVersion
	d.Block.Txs = [][]byte{transfer(t, 1), transfer(t, 2)}
	return d
}

func transfer(t testing.TB, nonce uint64) []byte {
	t.Helper()
	to := chain.Address{7}
	tx := &chain.Tx{ChainID: 1, Nonce: nonce, To: &to, Value: 10, CyclesLimit: 21_000, Payload: []byte{1, 2}}
	sig := key(t).Sign(tx.SigningHash())
	tx.Signature = &chain.TxSignature{YParity: sig.YParity, R: sig.R, S: sig.S}
	return tx.Encode()
}

func key(t testing.TB) *secp256k1.PrivateKey {
	t.Helper()
	k, err := secp256k1.ParsePrivateKey(bytes.Repeat([]byte{3}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// A document loses nothing: every field of the header, and every byte.
func TestDocumentIsLossless(t *testing.T) {
	d := sample(t)
	d.Certificate = []byte{1, 2, 3}
	raw, err := d.Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(again, d) {
		t.Errorf("%+v becomes %+v", d, again)
	}
	if !bytes.Equal(again.Block.Encode(), d.Block.Encode()) {
		t.Error("the encoded block differs")
	}
}

func TestSet(t *testing.T) {
	tests := []struct {
		path, value string
		holds       func(d, was *Document) bool
	}{
		{"header.height", "9", func(d, _ *Document) bool { return d.Block.Header.Height == 9 }},
		{"header.height", "+2", func(d, was *Document) bool { return d.Block.Header.Height == was.Block.Header.Height+2 }},
		{"header.height", "-1", func(d, was *Document) bool { return d.Block.Header.Height == was.Block.Header.Height-1 }},
		{"header.state_root", "flip", func(d, was *Document) bool { return d.Block.Header.StateRoot[0] == was.Block.Header.StateRoot[0]^0x80 }},
		{"header.used.user.cells", "77", func(d, _ *Document) bool { return d.Block.Header.Used[chain.LaneUser].Cells == 77 }},
		{"header.base_fees.system.per_cycle", "18446744073709551615", func(d, _ *Document) bool { return d.Block.Header.BaseFees[chain.LaneSystem].PerCycle == 1<<64-1 }},
		{"header.presence_input", "pad", func(d, was *Document) bool {
			return len(d.Block.Header.PresenceInput) == len(was.Block.Header.PresenceInput)+1
		}},
		{"header.consumed_seeds", "cut", func(d, _ *Document) bool { return len(d.Block.Header.ConsumedSeeds) == 2 }},
		{"header.consumed_seeds", "0x", func(d, _ *Document) bool { return len(d.Block.Header.ConsumedSeeds) == 0 }},
		{"place.view", "12", func(d, was *Document) bool { return d.Place.View == 12 && d.Block.Header.View == was.Block.Header.View }},
		{"txs", "reverse", func(d, was *Document) bool { return bytes.Equal(d.Block.Txs[0], was.Block.Txs[1]) }},
		{"txs.1", "remove", func(d, _ *Document) bool { return len(d.Block.Txs) == 1 }},
		{"txs.0", "repeat", func(d, _ *Document) bool { return len(d.Block.Txs) == 3 }},
		{"txs.0", "cut", func(d, was *Document) bool { return len(d.Block.Txs[0]) == len(was.Block.Txs[0])-1 }},
		{"txs.0.value", "+1", func(d, _ *Document) bool {
			tx, err := chain.DecodeTx(d.Block.Txs[0])
			return err == nil && tx.Value == 11
		}},
		{"txs.0.to", "flip", func(d, _ *Document) bool {
			tx, err := chain.DecodeTx(d.Block.Txs[0])
			return err == nil && tx.To[0] == 0x87
		}},
		{"txs.0.signature", "flip", func(d, was *Document) bool { return !bytes.Equal(d.Block.Txs[0], was.Block.Txs[0]) }},
	}
	for _, c := range tests {
		was, d := sample(t), sample(t)
		if err := d.Set(c.path, c.value); err != nil {
			t.Errorf("%s=%s: %v", c.path, c.value, err)
		} else if !c.holds(d, was) {
			t.Errorf("%s=%s: not so", c.path, c.value)
		}
	}
}

func TestSetRefuses(t *testing.T) {
	was := sample(t)
	for _, c := range [][2]string{
		{"header.nothing", "1"},
		{"header", "1"},
		{"", "1"},
		{"format", "x"},
		{"header.used", "1"},
		{"header.height.x", "1"},
		{"header.height", ""},
		{"header.height", "x"},
		{"header.height", "-1000"},
		{"header.height", "18446744073709551616"},
		{"header.state_root", "0x00"},
		{"header.state_root", "7"},
		{"header.state_root", "0xzz"},
		{"header.proposer", "cut"},
		{"place.leader", "pad"},
		{"txs", "shuffle"},
		{"txs.9", "cut"},
		{"txs.x", "cut"},
		{"txs.0.colour", "1"},
		{"txs.0.to", "cut"},
	} {
		d := sample(t)
		if err := d.Set(c[0], c[1]); err == nil {
			t.Errorf("%s=%s: accepted", c[0], c[1])
		}
		if !reflect.DeepEqual(d, was) {
			t.Errorf("%s=%s: altered the document", c[0], c[1])
		}
	}
}

func TestParseRefuses(t *testing.T) {
	raw, err := sample(t).Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][2]string{
		{`"version": 1`, `"version": -1`}, {Format, "cowboy-block-v2"}, {`"txs"`, `"bodies"`}, {`"leader": "0x`, `"leader": "0x00`},
	} {
		if _, err := Parse(bytes.Replace(raw, []byte(c[0]), []byte(c[1]), 1)); err == nil {
			t.Errorf("with %s: accepted", c[1])
		}
	}
}

// Without the proposer's key there is no proof of order, and no half-signed block.
func TestRenewNeedsTheProposersKey(t *testing.T) {
	d := sample(t)
	s := &Signers{BodyRoot: func([]byte) (chain.Hash, error) { return chain.Hash{}, nil }}
	if err := d.Renew(nil, s, nil); !errors.Is(err, ErrNoKey) {
		t.Errorf("%v, want %v", err, ErrNoKey)
	}
}

// An altered transaction of a known account is signed by it again; a stranger's
// stays as it is.
func TestRenewSignsForKnownAccounts(t *testing.T) {
	d := sample(t)
	before := [][]byte{d.Block.Txs[0], d.Block.Txs[1]}
	if err := d.Set("txs.0.value", "5"); err != nil {
		t.Fatal(err)
	}
	broken := bytes.Clone(d.Block.Txs[0])
	s := &Signers{}
	if s.resign(before, d.Block.Txs) || !bytes.Equal(d.Block.Txs[0], broken) {
		t.Error("signed without a key")
	}
	s.Accounts = map[chain.Address]*secp256k1.PrivateKey{key(t).PublicKey().Address(): key(t)}
	d.Block.Txs[0], d.Block.Txs[1] = d.Block.Txs[1], d.Block.Txs[0]
	if !s.resign(before, d.Block.Txs) || !bytes.Equal(d.Block.Txs[0], before[1]) {
		t.Error("the altered transaction is not signed, or another one is")
	}
	tx, err := chain.DecodeTx(d.Block.Txs[1])
	if err != nil {
		t.Fatal(err)
	}
	sender, err := secp256k1.Recover(tx.SigningHash(), secp256k1.Signature{YParity: tx.Signature.YParity, R: tx.Signature.R, S: tx.Signature.S})
	if err != nil || sender.Address() != key(t).PublicKey().Address() || tx.Value != 5 {
		t.Errorf("value %d of %x (%v)", tx.Value, sender.Address(), err)
	}
}

// FuzzParse: whatever is parsed is written back to the same block.
func FuzzParse(f *testing.F) {
	raw, err := sample(f).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Fuzz(func(t *testing.T, raw []byte) {
		d, err := Parse(raw)
		if err != nil {
			return
		}
		text, err := d.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(again.Block.Encode(), d.Block.Encode()) {
			t.Errorf("%s becomes another block", raw)
		}
	})
}
