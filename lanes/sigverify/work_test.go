package sigverify

import (
	"math"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

// TestChunksCountTheirSignatures: what shows results counts for the signatures that are
// recovered with its own, in a block's chunks and in batches; other transactions for one.
func TestChunksCountTheirSignatures(t *testing.T) {
	const most = 64
	many := &chain.ResultSubmit{JobID: chain.Hash{7}}
	for n := range byte(chain.MaxSigners) {
		many.Reveals = append(many.Reveals, chain.Reveal{Runner: chain.Address{n}, Result: []byte{}, RunnerSig: [65]byte{31: 1, 63: 1}})
	}
	one := &chain.ResultReveal{JobID: chain.Hash{7}, Result: []byte{}, RunnerSig: [65]byte{31: 1, 63: 1}}
	shows, reveals, pays := showing(t, 1, many), showing(t, 1, one), signed(t, 2, 0)
	recoveries := func(bodies [][]byte) int {
		b := batch{bodies: bodies}
		b.txs, b.errs, b.hashes = make([]*chain.VerifiedTx, len(bodies)), make([]error, len(bodies)), make([][32]byte, len(bodies))
		b.parse()
		return len(b.sigs)
	}
	for _, row := range []struct {
		name  string
		body  []byte
		chunk int // of as many bodies
	}{{"a transfer", pays, most}, {"one result", reveals, most / 5}, {"sixteen results", shows, 3}} {
		bodies := make([][]byte, 500)
		for i := range bodies {
			bodies[i] = row.body
		}
		from, short := 0, 0
		for _, end := range chunksOf(bodies, most) {
			if n := recoveries(bodies[from:end]); n > most || end == from {
				t.Errorf("%s: %d signatures in a chunk of %d", row.name, n, end-from)
			}
			if end-from < row.chunk {
				short++
			}
			from = end
		}
		if from != len(bodies) || short > 1 {
			t.Errorf("%s: chunks end at %d of %d, %d of them have fewer than %d", row.name, from, len(bodies), short, row.chunk)
		}
		w := piece{bodies: bodies, of: &submission{}}
		front, work := w.cut(most)
		if n := recoveries(front.bodies); n > work || len(front.bodies) != chunksOf(bodies, most)[0] || w.first != len(front.bodies) {
			t.Errorf("%s: a batch takes %d bodies for %d signatures, which have %d", row.name, len(front.bodies), work, n)
		}
	}
	if n, work := fit([][]byte{shows, pays}, 1); n != 1 || work <= chain.MaxSigners {
		t.Errorf("a body that is too much alone: %d bodies of %d signatures", n, work)
	}
}

// TestMemosAreNoWork: a body counts for results only where its target takes them, wherever
// the numbers before that end.
func TestMemosAreNoWork(t *testing.T) {
	memo := append(chain.AddrResultVerifier[:], make([]byte, chain.MaxSigners*leastShown)...)
	if got := workOf(sign(t, 1, &chain.Tx{ChainID: 1, To: &chain.Address{0xaa}, Payload: memo})); got != 1 {
		t.Errorf("a transfer with a memo counts for %d signatures, want 1", got)
	}
	for _, n := range []uint64{0, 23, 24, 1 << 8, 1 << 16, math.MaxUint32, math.MaxUint64} {
		body := sign(t, 1, &chain.Tx{ChainID: n, Nonce: n, To: &chain.AddrResultVerifier, Payload: memo})
		if got := workOf(body); got != 1+chain.MaxSigners {
			t.Errorf("chain and nonce %d: one that may show %d results counts for %d signatures", n, chain.MaxSigners, got)
		}
	}
}
