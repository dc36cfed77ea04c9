package results

import (
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
)

// pricesMost is how many payments a [jobs.Prices] counts before it is halved.
const pricesMost = 65_536

// countPrice adds what a runner was paid to the statistics of its kind and model, from
// which a challenge tells an overcharge (resolution 12.50).
func (b *Book) countPrice(d *docket, paid chain.Wei) error {
	p, err := jobs.ReadPrices(b.Jobs.State, d.job.Kind, d.job.Model)
	if err != nil {
		return err
	}
	addPrice(&p, uint64(paid))
	b.Jobs.PutPrices(d.job.Kind, d.job.Model, &p)
	return nil
}

// addPrice adds an amount. Nothing overflows: fewer than 2^17 amounts of 64 bits have a sum
// of 81 bits, and squares whose sum has 145.
func addPrice(p *jobs.Prices, x uint64) {
	if p.Count >= pricesMost {
		p.Count /= 2
		halve(p.Sum[:])
		halve(p.Squares[:])
	}
	p.Count++
	addWords(p.Sum[:], 0, x)
	hi, lo := bits.Mul64(x, x)
	addWords(p.Squares[:], hi, lo)
}

// addWords adds a number of two words to one of several, the highest first.
func addWords(n []uint64, hi, lo uint64) {
	var carry uint64
	last := len(n) - 1
	n[last], carry = bits.Add64(n[last], lo, 0)
	n[last-1], carry = bits.Add64(n[last-1], hi, carry)
	// Bounded: by four words.
	for i := last - 2; i >= 0; i-- {
		n[i], carry = bits.Add64(n[i], 0, carry)
	}
}

// halve shifts a number of several words, the highest first, to the right by a bit.
func halve(n []uint64) {
	var carry uint64
	// Bounded: by four words.
	for i, w := range n {
		n[i] = w>>1 | carry<<63
		carry = w & 1
	}
}
