package lanes

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

// TestTurnsStayInOrder holds the array of turns against a plain sorted slice,
// while it grows, shrinks, loses its first ones and gets late ones. Rerun one
// case with -run 'TestTurnsStayInOrder/seed=3'.
func TestTurnsStayInOrder(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			var q turns
			var want []arrival
			used := map[uint64]bool{}
			growth := 40 + rng.IntN(20) // percent of the steps that add, until there is a crowd
			for range 6_000 {
				if len(want) > 500 {
					growth = 35
				} else if len(want) == 0 {
					growth = 65
				}
				if rng.IntN(100) < growth || len(want) == 0 {
					seq := uint64(len(used)) << 20
					if rng.IntN(4) == 0 {
						seq = rng.Uint64N(seq + 1)
					}
					if used[seq] {
						continue
					}
					used[seq] = true
					e := &entry{seq: seq}
					q.add(e)
					want = append(want, arrival{seq, e})
					slices.SortFunc(want, func(a, b arrival) int { return cmp.Compare(a.seq, b.seq) })
				} else {
					i := 0
					if rng.IntN(3) == 0 {
						i = rng.IntN(len(want))
					}
					q.remove(want[i].e)
					want = slices.Delete(want, i, i+1)
				}
				if rng.IntN(20) == 0 {
					want = leaveMany(rng, &q, want)
				}
				if !slices.Equal(q.remaining(), want) {
					t.Fatalf("%d turns or out of order, want %d", len(q.remaining()), len(want))
				}
				for _, over := range slices.Concat(q.all[:q.gone], q.all[len(q.all):cap(q.all)]) {
					if over.e != nil {
						t.Fatal("a turn that is over keeps its entry alive")
					}
				}
				if n := len(want); cap(q.all) > turnsKept && n < cap(q.all)/8 {
					t.Fatalf("%d turns keep room for %d", n, cap(q.all))
				}
			}
		})
	}
}

// leaveMany takes many away in one operation, of whom some come back to their places.
func leaveMany(rng *rand.Rand, q *turns, want []arrival) []arrival {
	var kept []arrival
	for _, a := range want {
		if rng.IntN(8) > 0 {
			kept = append(kept, a)
			continue
		}
		for q.vacate(a.e); ; q.vacate(a.e) {
			if rng.IntN(2) == 0 {
				break
			}
			if q.add(a.e); rng.IntN(2) == 0 {
				kept = append(kept, a)
				break
			}
		}
	}
	q.compact()
	return kept
}

// TestPickMeetsNothingInVain: chains that cannot run before what pays less, or
// cannot run at all, do not stand in the way of a pick, however many they are.
func TestPickMeetsNothingInVain(t *testing.T) {
	const senders, each = 200, 60
	rising := func(_, nonce int) chain.Wei { return 1 << (nonce / 3) }
	tests := []struct {
		name string
		tip  func(sender, nonce int) chain.Wei
		lane func(nonce int) chain.LaneID
		cap  func(nonce int) chain.Wei // fee cap; the base fee is 100
	}{
		{name: "tips that rise with the nonce", tip: rising},
		{name: "tips that fall with the nonce", tip: func(_, nonce int) chain.Wei { return 1 << (20 - nonce/3) }},
		{name: "tips that rise and fall", tip: func(sender, nonce int) chain.Wei { return 1 << ((sender*7 + nonce*5) % 20) }},
		{name: "a first one that is priced out", tip: rising, cap: func(nonce int) chain.Wei {
			if nonce == 0 {
				return 99
			}
			return 1 << 40
		}},
		{name: "a first one of a later lane", tip: rising, lane: func(nonce int) chain.LaneID {
			if nonce == 0 {
				return chain.LaneUser
			}
			return chain.LaneRunner
		}},
		{name: "one that is priced out in an earlier lane", tip: rising, lane: func(nonce int) chain.LaneID {
			if nonce == 0 {
				return chain.LaneRunner
			}
			return chain.LaneUser
		}, cap: func(nonce int) chain.Wei {
			if nonce == 0 {
				return 99
			}
			return 1 << 40
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newBare(validatorConfig(), 20)
			var base [chain.NumLanes]chain.FeePair
			for i := range base {
				base[i] = chain.FeePair{PerCycle: 100, PerCell: 100}
			}
			p.reprice(base)
			var m maker
			for sender := range senders {
				for nonce := range each {
					tx := m.tx(byte(sender), uint64(nonce), tt.tip(sender, nonce))
					tx.Tx.MaxFeePerCycle = 1 << 40
					if tt.cap != nil {
						tx.Tx.MaxFeePerCycle = tt.cap(nonce)
					}
					if tt.lane != nil {
						tx.Lane = tt.lane(nonce)
					}
					mustAdd(t, p, tx)
				}
			}
			params := params.Default()
			params.CyclesTarget, params.CyclesCap = 1<<40, 1<<40
			for _, block := range []int{1_000, 10_000, 100_000_000} {
				got, err := p.pick(&PackRequest{Params: &params, BaseFees: base, Height: 1, MaxBytes: block, account: func(chain.Address) (account, error) { return rich, nil }})
				if err != nil {
					t.Fatal(err)
				}
				if most := 2*len(got.Txs) + p.cfg.PackMisses; p.lookedLast > most {
					t.Errorf("took %d and looked at %d, want at most %d", len(got.Txs), p.lookedLast, most)
				}
				if p.lookedLast == 0 && tt.cap == nil {
					t.Error("looked at nothing")
				}
			}
		})
	}
}

// TestWhoseTurnItIs: what a pick meets after a chain changes at its head.
func TestWhoseTurnItIs(t *testing.T) {
	const low, mid, high = 1, 100, 10_000
	var m maker
	outbid := func(tx *chain.VerifiedTx) *chain.VerifiedTx {
		tx.Tx.MaxFeePerCycle, tx.Tx.MaxFeePerCell = 2_000_000, 2_000_000
		return tx
	}
	// Sender 1 waits with a poor head and a rich rest; 2 and 3 are in between.
	have := func() []*chain.VerifiedTx {
		return []*chain.VerifiedTx{m.tx(1, 0, low), m.tx(1, 1, high), m.tx(2, 0, mid), m.tx(1, 2, mid), m.tx(3, 0, low)}
	}
	tests := []struct {
		name string
		do   func(t *testing.T, p *bare)
		want string
	}{
		{"nothing", func(*testing.T, *bare) {}, "[02/0 01/0 01/1 01/2 03/0]"},
		{"the head is replaced by a rich one", func(t *testing.T, p *bare) {
			mustAdd(t, p, outbid(m.tx(1, 0, high)))
		}, "[01/0 01/1 02/0 01/2 03/0]"},
		{"one in the middle is replaced and outgrows its turn", func(t *testing.T, p *bare) {
			mustAdd(t, p, outbid(m.tx(2, 0, high)), outbid(m.tx(1, 2, high)))
		}, "[02/0 01/0 01/1 01/2 03/0]"},
		{"the head is included", func(t *testing.T, p *bare) {
			p.refresh(chain.Address{1}, account{Nonce: 1, Spendable: 1 << 60})
		}, "[01/1 02/0 01/2 03/0]"},
		{"head and next are included", func(t *testing.T, p *bare) {
			p.refresh(chain.Address{1}, account{Nonce: 2, Spendable: 1 << 60})
		}, "[02/0 01/2 03/0]"},
		{"the head is discarded", func(t *testing.T, p *bare) {
			p.remove(p.shardOf(chain.Address{1}).senders[chain.Address{1}].waiting[0])
		}, "[02/0 03/0]"},
		{"the head is discarded and comes again", func(t *testing.T, p *bare) {
			p.remove(p.shardOf(chain.Address{1}).senders[chain.Address{1}].waiting[0])
			mustAdd(t, p, m.tx(1, 0, low))
		}, "[02/0 03/0 01/0 01/1 01/2]"},
		{"the rich end of the poor chain is pushed out of a full lane", func(t *testing.T, p *bare) {
			p.lanes[chain.LaneUser].setCap(5, 5)
			mustAdd(t, p, m.tx(4, 0, mid), m.tx(5, 0, mid))
		}, "[02/0 04/0 05/0 01/0 01/1]"},
		{"all of a poor chain is pushed out of a full lane", func(t *testing.T, p *bare) {
			p.lanes[chain.LaneUser].setCap(5, 5)
			mustAdd(t, p, m.tx(4, 0, mid), m.tx(5, 0, mid), m.tx(6, 0, mid), m.tx(7, 0, mid))
		}, "[02/0 04/0 05/0 06/0 07/0]"},
		{"the base fee prices the head out", func(t *testing.T, p *bare) {
			mustAdd(t, p, outbid(m.tx(1, 1, high*2)), outbid(m.tx(2, 0, mid*2)))
			base := p.laneBases()
			base[chain.LaneUser].PerCell = 1_000_001
			p.reprice(base)
		}, "[02/0]"},
		{"and lets it in again", func(t *testing.T, p *bare) {
			mustAdd(t, p, outbid(m.tx(1, 1, high*2)), outbid(m.tx(2, 0, mid*2)))
			base := p.laneBases()
			base[chain.LaneUser].PerCell = 1_000_001
			p.reprice(base)
			base[chain.LaneUser].PerCell = 0
			p.reprice(base)
		}, "[02/0 01/0 01/1 01/2 03/0]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := newBare(validatorConfig(), 20)
			mustAdd(t, p, have()...)
			tt.do(t, p)
			p.checkShards(t)
			params := params.Default()
			got, err := p.pick(&PackRequest{Params: &params, BaseFees: p.laneBases(), Height: 1, MaxBytes: 1 << 20, account: func(a chain.Address) (account, error) {
				return p.shardOf(a).senders[a].account, nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			if names(got.Txs) != tt.want {
				t.Errorf("picked %s, want %s", names(got.Txs), tt.want)
			}
		})
	}
}

// TestBlocksBefore: who has transactions in blocks that the pool does not know
// of keeps its turns; if they are not named it can lose them, nothing else.
func TestBlocksBefore(t *testing.T) {
	var m maker
	chained := []*chain.VerifiedTx{m.tx(1, 0, 1), m.tx(1, 1, 10_000), m.tx(2, 0, 100), m.tx(1, 2, 100), m.tx(3, 0, 0)}
	of := func(senders ...byte) (txs []*chain.VerifiedTx) {
		for _, s := range senders {
			txs = append(txs, m.tx(s, 0, 1))
		}
		return txs
	}
	for _, tt := range []struct {
		name   string
		nonce  uint64 // of sender 1 in the parent, of height 2 above a head of 0
		before [][]*chain.VerifiedTx
		want   string
	}{
		{"not named, one used", 1, nil, "[02/0 01/1 01/2 03/0]"},
		{"not named, two used", 2, nil, "[02/0 01/2 03/0]"},
		{"not named, all used", 3, nil, "[02/0 03/0]"},
		{"one used in the parent", 1, [][]*chain.VerifiedTx{of(9, 1, 1), of()}, "[01/1 02/0 01/2 03/0]"},
		{"one used in the block before", 1, [][]*chain.VerifiedTx{of(2), of(1)}, "[01/1 02/0 01/2 03/0]"},
		{"a block that the pool knows says nothing", 1, [][]*chain.VerifiedTx{of(2), of(3), of(1)}, "[02/0 01/1 01/2 03/0]"},
		{"two used", 2, [][]*chain.VerifiedTx{of(1), of(1)}, "[02/0 01/2 03/0]"},
		{"all used", 3, [][]*chain.VerifiedTx{of(1), of(1, 1)}, "[02/0 03/0]"},
		{"more used than wait", 5, [][]*chain.VerifiedTx{of(1, 1), of(1, 1, 1)}, "[02/0 03/0]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newBare(validatorConfig(), 20)
			mustAdd(t, p, chained...)
			params := params.Default()
			got, err := p.pick(&PackRequest{Params: &params, Height: 3, MaxBytes: 1 << 20, Before: tt.before, account: func(a chain.Address) (account, error) {
				at := rich
				if a == (chain.Address{1}) {
					at.Nonce = tt.nonce
				}
				return at, nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			if names(got.Txs) != tt.want {
				t.Errorf("picked %s, want %s", names(got.Txs), tt.want)
			}
		})
	}
}

// TestCyclesThatCannotBeRead: that an actor's cycles cannot be read is no verdict on a
// message, and nobody asks for what all actors have.
func TestCyclesThatCannotBeRead(t *testing.T) {
	var m maker
	p := newBare(validatorConfig(), 20)
	params := params.Default()
	broken := errors.New("disk")
	req := &PackRequest{
		Params: &params, Height: 1, MaxBytes: 1 << 20, account: func(chain.Address) (account, error) { return rich, nil },
		Left: func(chain.Address) (chain.Cycles, error) { return 0, broken },
	}
	for sender, limit := range []chain.Cycles{params.Actor.BlockCycles, 1} {
		tx := m.tx(byte(sender+1), 0, 1)
		tx.Tx.To, tx.Tx.CyclesLimit = &chain.Address{0xac}, limit
		mustAdd(t, p, tx)
		picked, err := p.pick(req)
		if sender == 0 && (err != nil || len(picked.Txs) != 1) {
			t.Errorf("what every actor has: picked %d, %v", len(picked.Txs), err)
		}
		if sender == 1 && !errors.Is(err, broken) {
			t.Errorf("a cycle more: %v, want that it cannot be read", err)
		}
	}
}

// TestCrowdIsPassedOver: once an actor's cycles are used up and the room of the overcommitted, too,
// nobody else of a crowd before it costs a read of his account.
func TestCrowdIsPassedOver(t *testing.T) {
	const crowd = 1000
	var m maker
	p := newBare(validatorConfig(), 20)
	params := params.Default()
	for i := range crowd {
		tx := m.tx(0, 0, 1)
		tx.Sender = chain.Address{1, byte(i), byte(i >> 8)}
		tx.Tx.To, tx.Tx.CyclesLimit = &chain.Address{0xac}, params.Actor.BlockCyclesBurst
		mustAdd(t, p, tx)
	}
	mustAdd(t, p, m.tx(2, 0, 1)) // came last, and calls nobody
	reads := 0
	got, err := p.pick(&PackRequest{
		Params: &params, Height: 2, MaxBytes: 1 << 20, // the parent is not the head
		account: func(chain.Address) (account, error) { reads++; return rich, nil },
		Left:    func(chain.Address) (chain.Cycles, error) { return params.Actor.BlockCyclesBurst, nil },
	})
	if err != nil || len(got.Txs) != 2 || len(got.Overcommitted) == 0 {
		t.Fatalf("picked %d, %d overcommitted, %v", len(got.Txs), len(got.Overcommitted), err)
	}
	if want := len(got.Txs) + len(got.Overcommitted); reads > 2*want { // in each of two passes
		t.Errorf("%d accounts were read for %d transactions", reads, want)
	}
}
