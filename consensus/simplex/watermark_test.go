package simplex

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
)

// The boundary values (node-ops.md §4.3): one below, at, and one above.
func TestWatermarkBoundaries(t *testing.T) {
	epoch1 := func(p Proposal) Proposal { p.Round.Epoch = 1; return p }
	a, b := prop(5, 4, 1), prop(5, 4, 2)
	tests := []struct {
		rule  string
		first []Kind
		k     Kind
		p     Proposal
		want  error
	}{
		{"the same again", []Kind{Notarize}, Notarize, a, nil},
		{"another digest", []Kind{Notarize}, Notarize, b, ErrContradiction},
		{"another parent", []Kind{Notarize}, Notarize, prop(5, 3, 1), ErrContradiction},
		{"finalize what was notarized", []Kind{Notarize}, Finalize, a, nil},
		{"finalize another digest", []Kind{Notarize}, Finalize, b, ErrContradiction},
		{"notarize another than was finalized", []Kind{Finalize}, Notarize, b, ErrContradiction},
		{"nullify after notarize", []Kind{Notarize}, Nullify, a, nil},
		{"finalize after nullify", []Kind{Nullify}, Finalize, a, ErrContradiction},
		{"nullify after finalize", []Kind{Finalize}, Nullify, a, ErrContradiction},
		{"finalize after notarize and nullify", []Kind{Notarize, Nullify}, Finalize, a, ErrContradiction},
		{"one view below", []Kind{Notarize}, Notarize, prop(4, 3, 1), ErrBelowWatermark},
		{"one view below, another kind", []Kind{Notarize}, Finalize, prop(4, 3, 1), ErrBelowWatermark},
		{"one view above", []Kind{Notarize, Finalize}, Nullify, prop(6, 5, 1), nil},
		{"a later epoch, a lower view", []Kind{Finalize}, Notarize, epoch1(prop(1, 0, 9)), nil},
		{"nothing said, view 1", nil, Notarize, prop(1, 0, 1), nil},
	}
	for _, c := range tests {
		t.Run(c.rule, func(t *testing.T) {
			var w Watermark
			for _, k := range c.first {
				if err := w.Permit(k, a); err != nil {
					t.Fatal(err)
				}
			}
			before := w
			if err := w.Permit(c.k, c.p); !errors.Is(err, c.want) {
				t.Errorf("Permit = %v, want %v", err, c.want)
			}
			if c.want != nil && w != before {
				t.Error("a refusal changed the memory")
			}
		})
	}
}

// said is a plain memory of everything, to hold the watermark against.
type said struct {
	k Kind
	p Proposal
}

func randomStatement(rng *rand.Rand) said {
	p := prop(chain.View(1+rng.Uint64N(5)), 0, byte(1+rng.IntN(2)))
	k := Kind(1 + rng.IntN(3))
	if k == Nullify {
		p = Proposal{Round: p.Round}
	}
	return said{k, p}
}

// Whatever is asked in whatever order, no two permitted statements contradict
// each other, and a merge of two memories permits nothing that contradicts
// either history.
func TestWatermarkNeverPermitsAContradiction(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 0))
		var w, other Watermark
		var history []said
		ask := func(w *Watermark, check bool) {
			s := randomStatement(rng)
			if w.Permit(s.k, s.p) != nil {
				return
			}
			for _, old := range history {
				if check && attest.Contradicts(s.k, s.p, old.k, old.p) {
					t.Fatalf("seed %d: permits %v %+v after %v %+v", seed, s.k, s.p, old.k, old.p)
				}
			}
			history = append(history, s)
		}
		for range 12 {
			ask(&w, true)
		}
		for range rng.IntN(6) {
			ask(&other, false) // a process that does not know the first one
		}
		w.Merge(other)
		for range 12 {
			ask(&w, true)
		}
	}
}

// FuzzWatermark: encode(decode(x)) == x, and what decodes merges with itself
// into itself.
func FuzzWatermark(f *testing.F) {
	var w Watermark
	f.Add(w.Append(nil))
	_ = w.Permit(Notarize, prop(5, 4, 1))
	_ = w.Permit(Nullify, prop(5, 4, 1))
	f.Add(w.Append(nil))
	w.Merge(Watermark{Notarize: {Proposal: prop(5, 4, 2)}})
	f.Add(w.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		w, err := DecodeWatermark(b)
		if err != nil {
			return
		}
		if back := w.Append(nil); !bytes.Equal(back, b) {
			t.Errorf("%x decodes to what encodes to %x", b, back)
		}
		m := w
		m.Merge(w)
		if m != w {
			t.Errorf("%+v merged with itself is %+v", w, m)
		}
	})
}
