package lanes

import (
	"encoding/binary"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

// chainOf makes offers of one sender: one that runs something, and payments behind it.
func chainOf(p *bare, from chain.Address, key uint64, drains chain.Means, payments int, tip chain.Wei) (first chain.Hash) {
	for i := range 1 + payments {
		v := &chain.VerifiedTx{
			Tx:   &chain.Tx{Nonce: uint64(i), CyclesLimit: 21_000, TipPerCycle: tip, MaxFeePerCycle: 1_000, MaxFeePerCell: 1_000},
			Body: make([]byte, 120), Sender: from, Lane: chain.LaneUser,
		}
		binary.BigEndian.PutUint64(v.Hash[:], 1<<40+uint64(from[1])<<16+uint64(i))
		o := offer{Tx: v, Cost: 1, Needs: chain.MeansFunds}
		if i == 0 {
			first, o.Key, o.Drains = v.Hash, key, drains
		}
		if _, err := p.shardOf(from).add(&o, rich, false); err != nil {
			panic(err)
		}
	}
	return first
}

// shares counts the transactions of a block by their tips.
func shares(t *testing.T, p *bare, req *PackRequest) map[chain.Wei]int {
	t.Helper()
	got, err := p.pick(req)
	if err != nil {
		t.Fatal(err)
	}
	by := map[chain.Wei]int{}
	for _, tx := range got.Txs {
		by[tx.Tx.TipPerCycle]++
	}
	return by
}

// TestTheRiskyHaveARoomOfTheirOwn: what stands behind a drain takes a sixteenth of the lane
// from those who pay less, and nothing of the quarter that guesses have.
func TestTheRiskyHaveARoomOfTheirOwn(t *testing.T) { // ADR 211
	const drain, guess, payment = 900, 100, 1 // tips
	p, params, reads := newBare(validatorConfig(), 20), params.Default(), 0
	chainOf(p, chain.Address{1, 1}, 9, chain.MeansFunds, 250, drain)
	offerOf(p, 0, 40, 7, chain.Tx{CyclesLimit: 400_000, CellsLimit: 100, TipPerCycle: guess})
	offerOf(p, 40, 900, 0, chain.Tx{CyclesLimit: 21_000, TipPerCycle: payment})
	req := crowdRequest(&params, &reads)
	req.expect = func(key uint64) (chain.Usage, bool) { return chain.Usage{Cycles: 21_000}, key == 9 }
	by := shares(t, p, req)
	lane := params.CyclesCap
	if by[drain] < 2 || chain.Cycles(by[drain]-1)*21_000 > lane/riskPart {
		t.Errorf("%d of a drain and what stands behind it", by[drain])
	}
	if want := int(lane / guessPart / 400_000); by[guess] != want {
		t.Errorf("%d guesses, want %d", by[guess], want)
	}
	if room := lane - lane/riskPart - lane/guessPart; chain.Cycles(by[payment])*21_000 < room-200_000 {
		t.Errorf("%d payments, want the rest of the lane", by[payment])
	}
}

// TestBehindARefusalNobodyIsSure: where a block is packed again after something was refused
// that nothing foretold, the second transaction of a sender waits for the first of all others.
func TestBehindARefusalNobodyIsSure(t *testing.T) { // ADR 211
	const mine, others = 900, 1 // tips
	for name, why := range map[string]func(*PackRequest){
		"nothing":                 func(*PackRequest) {},
		"a sender lacked money":   func(req *PackRequest) { req.Short = map[chain.Address]struct{}{{9}: {}} },
		"an actor was busy":       func(req *PackRequest) { req.Busy = map[chain.Address]struct{}{{9}: {}} },
		"this one lacked money":   func(req *PackRequest) { req.Short = map[chain.Address]struct{}{{1, 1}: {}} },
		"packed for the 1st time": func(req *PackRequest) { req.Used = nil },
	} {
		t.Run(name, func(t *testing.T) {
			p, params, reads := newBare(validatorConfig(), 20), params.Default(), 0
			ran := chainOf(p, chain.Address{1, 1}, 9, 0, 250, mine)
			offerOf(p, 0, 1_000, 0, chain.Tx{CyclesLimit: 21_000, TipPerCycle: others})
			req := crowdRequest(&params, &reads)
			req.expect = func(uint64) (chain.Usage, bool) { return chain.Usage{Cycles: 21_000}, true }
			req.Used = map[chain.Hash]chain.Usage{ran: {Cycles: 21_000}}
			why(req)
			want := map[string]int{"nothing": 251, "packed for the 1st time": 251, "this one lacked money": 1}[name]
			if want == 0 {
				want = 2 // what ran, and the first payment behind it
			}
			if by := shares(t, p, req); by[mine] != want || by[mine]+by[others] != int(params.CyclesCap/21_000) {
				t.Errorf("%d of one sender, want %d, and %d of others", by[mine], want, by[others])
			}
		})
	}
}
