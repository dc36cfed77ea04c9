package lanes

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

// crowdedActors is a pool whose actors can serve ten messages of 1,000,000 cycles each.
func crowdedActors() *bare {
	cfg := validatorConfig()
	cfg.actorRefill, cfg.actorMost = 1_000_000, 10_000_000
	return newBare(cfg, 10)
}

// message adds one to an actor, of which it is known that it uses its limits.
func (p *bare) message(t *testing.T, m *maker, sender uint64, nonce int, actor byte, limit chain.Cycles) *chain.VerifiedTx {
	t.Helper()
	tx := m.tx(0, uint64(nonce), 10)
	for keyOf(tx) != 1 {
		tx = m.tx(0, uint64(nonce), 10)
	}
	tx.Tx.To, tx.Tx.CyclesLimit = &chain.Address{0xac, actor}, limit
	binary.BigEndian.PutUint64(tx.Sender[:], sender)
	mustAdd(t, p, tx)
	return tx
}

func (p *bare) barred() int { return p.stats().Lanes[chain.LaneUser].Barred }

// TestAHeadLooksAtAPartOfTheBarred: of a crowd that finds no room a head looks at so many
// entries and no more, the next one at others, and before long at each of them.
func TestAHeadLooksAtAPartOfTheBarred(t *testing.T) {
	const crowd = 2*barredLooks + barredLooks/2
	p := crowdedActors()
	var m maker
	for n := range 10 {
		p.message(t, &m, 1, n, 1, 1_000_000)
		p.message(t, &m, 2, n, 2, 1_000_000)
	}
	for i := range crowd {
		p.message(t, &m, uint64(100+i/200), i%200, 1, 1_000)
	}
	last := p.message(t, &m, 3, 0, 2, 1_000_000)
	if got := p.barred(); got != crowd+1 {
		t.Fatalf("%d are barred, want %d", got, crowd+1)
	}
	var second chain.Address
	binary.BigEndian.PutUint64(second[:], 2)
	p.refresh(second, account{Nonce: 1}) // room for one before the second actor
	for head := range 3 {
		moved := p.reprice(p.laneBases())
		if want := head / 2; moved != want {
			t.Errorf("head %d: %d moved, want %d", head, moved, want)
		}
		if most := min(barredLooks, crowd+1-head*barredLooks); p.promoteLooked != most {
			t.Errorf("head %d: %d looked at, want %d", head, p.promoteLooked, most)
		}
		p.checkShards(t)
	}
	if e := p.entry(last.Hash); e.level < levelTier0 {
		t.Errorf("the one whose actor has room stands at level %d", e.level)
	}
	p.reprice(p.laneBases())
	if p.promoteLooked != barredLooks {
		t.Errorf("%d looked at from the oldest on, want %d", p.promoteLooked, barredLooks)
	}
}

// TestWhoHasRoomIsPromotedInTime: however entries come and go between heads, each looks at
// no more than it may, keeps to the order of arrival, and when nothing else happens every one
// that has room has its place after so many heads as it takes to look at all.
func TestWhoHasRoomIsPromotedInTime(t *testing.T) {
	promoted, midway := 0, 0
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 205))
		p := crowdedActors()
		p.barredLooks = 1 + rng.IntN(5)
		var m maker
		var sent []*chain.VerifiedTx
		next := map[uint64]int{}
		for range 60 {
			for range 1 + rng.IntN(20) {
				sender := uint64(1 + rng.IntN(30))
				sent = append(sent, p.message(t, &m, sender, next[sender], byte(rng.IntN(3)), chain.Cycles(1+rng.IntN(1_000_000))))
				next[sender]++
			}
			for range rng.IntN(6) { // where it was to go on, too
				for i := range p.shards {
					if e := p.shards[i].lanes[chain.LaneUser].resume; e != nil && rng.IntN(20) == 0 {
						p.remove(e)
					}
				}
				if e := p.entry(sent[rng.IntN(len(sent))].Hash); e != nil {
					p.remove(e)
				}
			}
			moved := p.reprice(p.laneBases())
			if p.promoteLooked > p.barredLooks+moved {
				t.Fatalf("seed %d: %d looked at for %d that moved, want at most %d in vain", seed, p.promoteLooked, moved, p.barredLooks)
			}
			promoted += moved
			if p.midway[chain.LaneUser] {
				midway++
			}
			if moved == 0 || rng.IntN(8) == 0 {
				p.checkShards(t)
			}
		}
		for range p.barred()/p.barredLooks + 2 {
			p.promote()
		}
		for i := range p.shards {
			h := &p.shards[i]
			for e := h.lanes[chain.LaneUser].fifos[levelBarred].head; e != nil; e = e.next {
				if l := h.levelOf(e, nil); l != levelBarred {
					t.Fatalf("seed %d: nonce %d has room at level %d and is barred", seed, e.nonce, l)
				}
			}
		}
	}
	if promoted < 100 || midway < 50 {
		t.Errorf("%d promoted, %d heads left off midway: the test shows nothing", promoted, midway)
	}
}

// TestPromotionKeepsTheOrderOfArrival: with room for some of many of several shards, those
// that came first have it.
func TestPromotionKeepsTheOrderOfArrival(t *testing.T) {
	const crowd = 300
	p := crowdedActors()
	var m maker
	for n := range 10 {
		p.message(t, &m, 1, n, 1, 1_000_000)
	}
	var sent []*chain.VerifiedTx
	for i := range crowd {
		sent = append(sent, p.message(t, &m, uint64(100+i), 0, 1, 100_000))
	}
	var first chain.Address
	binary.BigEndian.PutUint64(first[:], 1)
	p.refresh(first, account{Nonce: 4}) // room for 40
	if moved := p.reprice(p.laneBases()); moved != 40 {
		t.Fatalf("%d moved, want 40", moved)
	}
	for i, tx := range sent {
		if has := p.entry(tx.Hash).level >= levelTier0; has != (i < 40) {
			t.Errorf("the one that came as number %d is promoted: %v", i, has)
		}
	}
	p.checkShards(t)
}

// TestAPickLooksAtAPartOfTheBarred: who stands in tiers is taken, and of a crowd before an
// actor that has nothing left no more than a part is come to.
func TestAPickLooksAtAPartOfTheBarred(t *testing.T) {
	p := crowdedActors()
	p.cfg.PackMisses = 16
	crowd := 20 * barredMisses * p.cfg.PackMisses
	var m maker
	for n := range 10 {
		p.message(t, &m, 1, n, 1, 1_000_000)
	}
	for i := range crowd {
		p.message(t, &m, uint64(100+i/200), i%200, 1, 100_000)
	}
	params := params.Default()
	params.CyclesTarget, params.CyclesCap = 4_000_000, 4_000_000
	params.Actor.BlockCycles = 1_000_000
	got, err := p.pick(&PackRequest{Params: &params, BaseFees: p.laneBases(), Height: 1, MaxBytes: 1 << 30, account: func(chain.Address) (account, error) { return rich, nil }})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Txs) == 0 {
		t.Error("nothing was taken")
	}
	taken := len(got.Txs) + len(got.Overcommitted)
	if most := taken + 10 + barredMisses*p.cfg.PackMisses; p.lookedLast > most {
		t.Errorf("took %d and looked at %d, want at most %d", taken, p.lookedLast, most)
	}
}

// TestWhatLeavesIsLookedForWithItsSender: to discard, to bar and to believe asks the shard of
// the sender and no other.
func TestWhatLeavesIsLookedForWithItsSender(t *testing.T) {
	p := crowdedActors()
	var m maker
	tx := p.message(t, &m, 1, 0, 1, 1_000)
	other := *tx
	for p.shardOf(other.Sender) == p.shardOf(tx.Sender) {
		other.Sender[19]++
	}
	stands := func() entry { return *p.entry(tx.Hash) }
	was := stands()
	used := map[chain.Hash]chain.Usage{tx.Hash: {Cycles: 7}}
	p.discard([]*chain.VerifiedTx{&other})
	p.bar([]*chain.VerifiedTx{&other})
	p.believe([]*chain.VerifiedTx{&other}, used)
	if is := stands(); is.level != was.level || is.ran != was.ran {
		t.Errorf("another sender's: level %d, ran %+v", is.level, is.ran)
	}
	p.believe([]*chain.VerifiedTx{tx}, used)
	p.bar([]*chain.VerifiedTx{tx})
	if is := stands(); is.level != levelBarred || is.ran != used[tx.Hash] {
		t.Errorf("its own: level %d, ran %+v", is.level, is.ran)
	}
	if p.discard([]*chain.VerifiedTx{tx}); p.entry(tx.Hash) != nil {
		t.Error("it is still here")
	}
}

// TestAHeadRepricesAPartOfTheBarred: a crowd of barred messages whose fee caps a rise of the
// base fee exceeds, or changes the tips of, is judged a part at each head, and none of it is
// packed meanwhile.
func TestAHeadRepricesAPartOfTheBarred(t *testing.T) {
	const crowd, looks = 500, 100
	p := crowdedActors()
	p.barredLooks = looks
	var m maker
	for n := range 10 {
		p.message(t, &m, 1, n, 1, 1_000_000)
	}
	for i := range crowd {
		p.message(t, &m, uint64(100+i/200), i%200, 1, 1_000)
	}
	base := p.laneBases()
	base[chain.LaneUser].PerCycle = p.entry(p.message(t, &m, 3, 0, 2, 1_000).Hash).maxFee.PerCycle + 1
	for head := range crowd / looks {
		first := 0
		if head == 0 {
			first = 11 // of the tiers, all that must move
		}
		if moved := p.reprice(base); moved > looks+first {
			t.Errorf("head %d: %d moved, want at most %d", head, moved, looks+first)
		}
		if p.promoteLooked > looks+11 {
			t.Errorf("head %d: %d looked at, want at most %d", head, p.promoteLooked, looks)
		}
		p.checkShards(t)
	}
	s := p.stats().Lanes[chain.LaneUser]
	if s.Barred != 0 || s.Underpriced != crowd+11 {
		t.Errorf("%d are barred and %d underpriced in the end, want all %d", s.Barred, s.Underpriced, crowd+11)
	}
}

// TestTinyLimitsHoldFewPlaces: messages with limits of a few cycles, which a busy actor has
// no more than of larger ones, stand in tiers no longer than a lane is: hundreds of them.
func TestTinyLimitsHoldFewPlaces(t *testing.T) {
	const crowd = 4_000
	p := crowdedActors()
	var m maker
	for i := range crowd {
		p.message(t, &m, uint64(100+i/200), i%200, 1, 1)
	}
	most := int(p.targets.most / (p.targets.refill / demandPart))
	if got := crowd - p.barred(); got != most {
		t.Errorf("%d of %d stand in tiers, want %d", got, crowd, most)
	}
	p.checkShards(t)
}
