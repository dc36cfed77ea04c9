package token

import (
	"bytes"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
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
