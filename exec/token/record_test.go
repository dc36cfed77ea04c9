package token

import (
	"bytes"
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// FuzzRecord holds the decoder of the state to the only form of a record.
func FuzzRecord(f *testing.F) {
	a, most := chain.Address{1}, chain.Amount{Hi: 1 << 63, Lo: 5}
	f.Add((&Token{Name: "Gold", Symbol: "GLD", Decimals: 18, Supply: most, Max: &most, Creator: a, Owner: &a, Hooks: &a, Number: 7}).append(nil))
	f.Add((&Token{Name: "n", Symbol: "s", Creator: a, Number: 1}).append(nil))
	f.Add([]byte{0x89})
	f.Fuzz(func(t *testing.T, data []byte) {
		rec, err := decode(data)
		if err != nil {
			return
		}
		if again := rec.append(nil); !bytes.Equal(again, data) {
			t.Errorf("%x decodes, and encodes as %x", data, again)
		}
	})
}

// TestSmallRecords: counts and amounts decode whole or not at all, and an amount of
// nothing is no record.
func TestSmallRecords(t *testing.T) {
	o := state.NewOverlay(state.Empty{})
	a, id := chain.Address{1}, ID{2}
	for rule, b := range map[string][]byte{"one byte more": {1, 0}, "another type": {0x41, 1}, "nothing": {}} {
		o.SetStorage(chain.AddrTokens, countKey(), b)
		if n, err := Count(o); !errors.Is(err, ErrRecord) {
			t.Errorf("count of %s: %d, %v", rule, n, err)
		}
		o.SetStorage(chain.AddrTokens, heldKey(id, a), b)
		if n, err := Balance(o, id, a); !errors.Is(err, ErrRecord) {
			t.Errorf("balance of %s: %s, %v", rule, n, err)
		}
	}
	writeAmount(o, heldKey(id, a), chain.Amount{})
	if b, err := o.Storage(chain.AddrTokens, heldKey(id, a)); b != nil || err != nil {
		t.Errorf("a balance of 0 is kept as %x, %v", b, err)
	}
}

func TestRecordRefuses(t *testing.T) {
	ok := Token{Name: "n", Symbol: "s", Number: 1}
	for name, change := range map[string]func([]byte) []byte{
		"one byte more":   func(b []byte) []byte { return append(b, 0) },
		"one byte less":   func(b []byte) []byte { return b[:len(b)-1] },
		"another length":  func(b []byte) []byte { b[0]++; return b },
		"number 0":        func(b []byte) []byte { b[len(b)-1] = 0; return b },
		"39 decimals":     func(b []byte) []byte { return append(append(b[:5:5], 0x18, 39), b[6:]...) },
		"supply as bytes": func(b []byte) []byte { return append(append(b[:6:6], 0x41, 1), b[7:]...) },
	} {
		if rec, err := decode(change(ok.append(nil))); err == nil {
			t.Errorf("%s: decodes as %+v", name, rec)
		}
	}
	if _, err := decode(ok.append(nil)); err != nil {
		t.Error(err)
	}
}
