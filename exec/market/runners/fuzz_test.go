package runners

import (
	"bytes"
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
	"github.com/cowboy-foundation/cowboy/state"
)

// FuzzRunnerRow: a record reads as what its writer wrote, or as malformed.
func FuzzRunnerRow(f *testing.F) {
	f.Add((&Runner{}).encode())
	f.Add((&Runner{
		Index: 7, Flags: selection.Healthy, Kinds: 3, Limit: 4, Active: 1 << 20, Stake: 5, Bonded: 2, Standing: selection.Standing{ReputationX1e9: 9, Height: 3},
		Tranches: []Tranche{{1, 2}, {3, 4}}, RejectedBy: []chain.Address{{1}, {2}},
	}).encode())
	f.Fuzz(func(t *testing.T, row []byte) {
		r, err := Decode(row)
		if err != nil {
			if !errors.Is(err, ErrRecord) {
				t.Fatal(err)
			}
			return
		}
		if again := r.encode(); !bytes.Equal(again, row) {
			t.Fatalf("%x reads as %x", row, again)
		}
	})
}

// oneRow is a registry whose rows are all the same.
type oneRow []byte

func (r oneRow) Storage(chain.Address, state.StorageKey) ([]byte, error) { return bytes.Clone(r), nil }

func (r oneRow) Scan(_ chain.Address, s state.Span) ([]state.Entry, error) {
	if len(r) == 0 {
		return nil, nil
	}
	return []state.Entry{{Key: s.First(), Value: bytes.Clone(r)}}, nil
}

// FuzzPagesOfRunners: pages and configurations of any bytes read, or are malformed, and
// nothing reads beyond them.
func FuzzPagesOfRunners(f *testing.F) {
	p := params.Default()
	c := configNow(&p.Runner)
	f.Add(encodeConfig(&c), []byte{1})
	f.Add(make([]byte, standingHead+standingPage*standingBytes), []byte{0xff, 1})
	f.Add(make([]byte, 3), []byte{0, 0x80})
	f.Fuzz(func(t *testing.T, bytes, bitmap []byte) {
		if len(bitmap) > 8 {
			return
		}
		if c, err := ReadConfig(oneRow(bytes), 0); err == nil && string(encodeConfig(c)) != string(bytes) {
			t.Fatalf("%x reads as %+v", bytes, *c)
		} else if err != nil && !errors.Is(err, ErrRecord) {
			t.Fatal(err)
		}
		got, err := WeighedAt(oneRow(bytes), 9, bitmap)
		if err != nil && !errors.Is(err, ErrRecord) {
			t.Fatal(err)
		}
		n := 0
		for i := range uint32(8 * len(bitmap)) {
			if selection.Bitmap(bitmap).Has(i) {
				n++
			}
		}
		if err == nil && len(got) != n {
			t.Fatalf("%d runners of a bitmap of %d", len(got), n)
		}
	})
}
