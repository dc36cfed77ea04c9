package jobs

import (
	"bytes"
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

// TestKeptRow: address, format, data; a row that is shorter, longer than the longest result, or
// of a format that there is not, is none.
func TestKeptRow(t *testing.T) {
	to := chain.Address(counting(1, 20))
	for n, format := range []chain.DataFormat{chain.FormatText, chain.FormatJSON, chain.FormatBytes} {
		k := &Kept{to, format, []byte("abc")}
		want := append(append(to[:], byte(n)), "abc"...)
		if got := k.Encode(); !bytes.Equal(got, want) {
			t.Errorf("%s: %x, want %x", format, got, want)
		}
		got, err := DecodeKept(want)
		if err != nil || got.To != to || got.Format != format || string(got.Data) != "abc" {
			t.Errorf("%s: %+v, %v", format, got, err)
		}
	}
	head := append(to[:], 2)
	for name, c := range map[string]struct {
		row   []byte
		holds bool
	}{
		"without data":      {head, true},
		"a byte less":       {head[:20], false},
		"64 KiB":            {append(head[:21:21], make([]byte, chain.MaxReturnBytes)...), true},
		"a byte more":       {append(head[:21:21], make([]byte, chain.MaxReturnBytes+1)...), false},
		"a fourth format":   {append(to[:20:20], 3), false},
		"an unknown format": {(&Kept{to, "xml", nil}).Encode(), false},
	} {
		if _, err := DecodeKept(c.row); (err == nil) != c.holds || err != nil && !errors.Is(err, ErrRecord) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzKeptRow(f *testing.F) {
	f.Add((&Kept{chain.Address(counting(1, 20)), chain.FormatJSON, []byte("[]")}).Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		k, err := DecodeKept(b)
		if err != nil {
			if !errors.Is(err, ErrRecord) {
				t.Fatal(err)
			}
			return
		}
		if !bytes.Equal(k.Encode(), b) {
			t.Fatalf("%x encodes again as %x", b, k.Encode())
		}
	})
}
