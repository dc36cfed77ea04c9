package node

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/lanes"
	"github.com/cowboy-foundation/cowboy/lanes/sigverify"
	"github.com/cowboy-foundation/cowboy/state"
)

// waitingPool is a pool of which the test says what it holds.
type waitingPool struct {
	held    int
	caps    lanes.Depth
	resizes int
	err     error
}

func (p *waitingPool) resize(to lanes.Depth) (lanes.Depth, error) {
	if p.err != nil {
		return p.caps, p.err
	}
	p.resizes++
	to.UserTxs = max(to.UserTxs, p.held)
	p.caps = to
	return to, nil
}

const testTxBytes = lanes.SmallTxBytes + sigverify.KnownTxBytes

// deepened is a depth of a pool with room for so many transactions by its budget.
func deepened(most int) (*poolDepth, *waitingPool) {
	cfg := lanes.DefaultConfig()
	p := &waitingPool{caps: cfg.Depth()}
	return newPoolDepth(cfg.Depth(), uint64(most)*testTxBytes, p.resize), p
}

// run lets so many blocks pass, a block time apart.
func (d *poolDepth) run(t *testing.T, millis *uint64, blocks, txs int, blockMillis uint64) {
	t.Helper()
	for range blocks {
		*millis += blockMillis
		if err := d.hear(txs, *millis, blockMillis); err != nil {
			t.Fatal(err)
		}
	}
}

func TestDepthFollowsTheChain(t *testing.T) {
	floor := lanes.DefaultConfig().Depth()
	for _, tt := range []struct {
		name        string
		most        int
		txs         int // in a block
		blockMillis uint64
		user        int
		bound       bound
	}{
		{"an idle chain", 1 << 20, 0, 1000, floor.UserTxs, boundFloor},
		{"blocks of 200 ms at 85,000 a second need no more", 1 << 20, 17_000, 200, floor.UserTxs, boundFloor},
		{"blocks of a second at the same rate", 1 << 20, 85_000, 1000, 21 * depthStep, boundRate},
		{"without that much room", 200_000, 85_000, 1000, 200_000, boundBudget},
		{"less room than the least takes", 1000, 85_000, 1000, floor.UserTxs, boundBudget},
		{"no budget at all", 0, 85_000, 1000, floor.UserTxs, boundBudget},
		{"faster than anything", 1 << 30, 10_000_000, 1000, lanes.DepthMax, boundBudget},
	} {
		t.Run(tt.name, func(t *testing.T) {
			d, p := deepened(tt.most)
			at := uint64(1_800_000_000_000)
			d.run(t, &at, int(120_000/tt.blockMillis), tt.txs, tt.blockMillis)
			one := max(floor.SenderTxs, tt.user/senderPart)
			if user := int(d.user.Load()); user != tt.user || p.caps != (lanes.Depth{UserTxs: tt.user, SenderTxs: one}) || bound(d.bound.Load()) != tt.bound {
				t.Errorf("cap %d by %v, the pool has %v; want %d by %v, %d of a sender", user, bound(d.bound.Load()), p.caps, tt.user, tt.bound, one)
			}
			if p.resizes > tt.user/depthStep+1 {
				t.Errorf("the pool was stopped %d times on the way to %d", p.resizes, tt.user)
			}
		})
	}
}

// TestDepthInALull: what waits stays, however slow the chain has become; the caps come down
// as it leaves, and are the least again in the end.
func TestDepthInALull(t *testing.T) {
	d, p := deepened(1 << 20)
	at := uint64(1_800_000_000_000)
	d.run(t, &at, 60, 100_000, 1000)
	high := p.caps
	if high.UserTxs < 300_000 {
		t.Fatalf("cap %d at 100,000 a second", high.UserTxs)
	}
	d.run(t, &at, 30, 0, 1000)
	if p.caps.UserTxs < high.UserTxs*2/3 {
		t.Errorf("after half a minute of nothing %d, was %d", p.caps.UserTxs, high.UserTxs)
	}
	p.held = 250_000
	d.run(t, &at, 600, 0, 1000)
	if p.caps.UserTxs != p.held || bound(d.bound.Load()) != boundHeld {
		t.Errorf("%d wait, the cap is %d by %v", p.held, p.caps.UserTxs, bound(d.bound.Load()))
	}
	for p.held > 0 {
		p.held -= 50_000
		d.run(t, &at, 1, 0, 1000)
		if p.caps.UserTxs < p.held {
			t.Errorf("%d wait, the cap is %d", p.held, p.caps.UserTxs)
		}
	}
	if floor := lanes.DefaultConfig().Depth(); p.caps != floor || bound(d.bound.Load()) != boundFloor {
		t.Errorf("caps %v by %v in the end, want %v", p.caps, bound(d.bound.Load()), floor)
	}
}

// TestDepthByTheChainsTime: how fast this node executes blocks that it catches up with says
// nothing, nor do times that stand or go back.
func TestDepthByTheChainsTime(t *testing.T) {
	d, _ := deepened(1 << 20)
	at := uint64(1_800_000_000_000)
	d.run(t, &at, 1000, 50_000, 1000)
	if rate := d.rate.Load() / 1000; rate < 49_000 || rate > 50_000 {
		t.Errorf("%d a second, want 50,000", rate)
	}
	before := d.rate.Load()
	for _, millis := range []uint64{at, at - 5000, 0} {
		if err := d.hear(1_000_000, millis, 1000); err != nil || d.rate.Load() != before {
			t.Errorf("time %d: rate %d, %v", millis, d.rate.Load(), err)
		}
	}
}

// TestDepthWhileAnEarlierRunReturns: a node that starts again has room for all that its pool
// may have held, until that was offered to it; then the rate has its say, and what waits stays.
func TestDepthWhileAnEarlierRunReturns(t *testing.T) {
	d, p := deepened(400_000)
	returns := true
	if err := d.open(func() bool { return returns }); err != nil {
		t.Fatal(err)
	}
	all := lanes.Depth{UserTxs: 400_000, SenderTxs: 400_000 / senderPart}
	at := uint64(1_800_000_000_000)
	for blocks := range 5 {
		if p.caps != all || bound(d.bound.Load()) != boundReturning {
			t.Errorf("after %d blocks caps %v by %v, want %v", blocks, p.caps, bound(d.bound.Load()), all)
		}
		d.run(t, &at, 1, 10, 1000)
	}
	if p.resizes != 1 {
		t.Errorf("the pool was stopped %d times", p.resizes)
	}
	returns, p.held = false, 300_000
	if d.run(t, &at, 1, 10, 1000); p.caps.UserTxs != p.held || bound(d.bound.Load()) != boundHeld {
		t.Errorf("%d came back, the cap is %d by %v", p.held, p.caps.UserTxs, bound(d.bound.Load()))
	}
	p.held = 0
	if d.run(t, &at, 1, 10, 1000); p.caps != d.floor {
		t.Errorf("caps %v in the end, want %v", p.caps, d.floor)
	}
}

// TestDepthOfAFirstStart: where nothing comes back the pool begins at its default.
func TestDepthOfAFirstStart(t *testing.T) {
	d, p := deepened(400_000)
	if err := d.open(func() bool { return false }); err != nil || p.resizes != 0 || d.user.Load() != int64(d.floor.UserTxs) {
		t.Errorf("%d resizes to %d, %v", p.resizes, d.user.Load(), err)
	}
}

// TestTheDeepestPoolIsOne: the pool takes the most that a budget can give, and says so.
func TestTheDeepestPoolIsOne(t *testing.T) {
	cfg, force := lanes.DefaultConfig(), params.Default()
	pool, err := lanes.New(cfg, &force, 1, lanes.FinalizedHead{View: everybodyIsRich{}})
	if err != nil {
		t.Fatal(err)
	}
	d := newPoolDepth(cfg.Depth(), 1<<50, pool.Resize)
	if err := d.open(func() bool { return true }); err != nil || d.user.Load() != lanes.DepthMax {
		t.Errorf("%d of %d, %v", d.user.Load(), lanes.DepthMax, err)
	}
}

// TestDepthWithinBounds feeds it anything.
func TestDepthWithinBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	d, p := deepened(400_000)
	at := uint64(1)
	for range 20_000 {
		at += rng.Uint64() >> (24 + rng.IntN(40))
		p.held = rng.IntN(p.caps.UserTxs + 1)
		if err := d.hear(rng.IntN(1<<rng.IntN(31)), at, rng.Uint64()>>(24+rng.IntN(40))); err != nil {
			t.Fatal(err)
		}
		if p.caps.UserTxs < d.floor.UserTxs || p.caps.UserTxs > 400_000 || p.caps.SenderTxs < d.floor.SenderTxs {
			t.Fatalf("caps %v", p.caps)
		}
	}
}

func TestDepthOfAPoolThatRefuses(t *testing.T) {
	d, p := deepened(1 << 20)
	p.err = errors.New("no")
	at, failed := uint64(1), false
	for range 20 {
		at += 1000
		failed = failed || errors.Is(d.hear(100_000, at, 1000), p.err)
	}
	if !failed || int(d.user.Load()) != d.floor.UserTxs {
		t.Errorf("cap %d, error told: %t", d.user.Load(), failed)
	}
}

// everybodyIsRich is a state in which everybody has money.
type everybodyIsRich struct{ state.Empty }

func (everybodyIsRich) Account(chain.Address) (state.Account, bool, error) {
	return state.Account{Balance: chain.WeiPerCBY}, true, nil
}

// TestAFloodStaysWithinTheBudget: however fast the chain is and however much comes, no more
// waits than the budget has room for.
func TestAFloodStaysWithinTheBudget(t *testing.T) {
	const most = 3000
	cfg := lanes.DefaultConfig()
	cfg.LaneTxs[chain.LaneUser] = 1000
	force := params.Default()
	pool, err := lanes.New(cfg, &force, 1, lanes.FinalizedHead{View: everybodyIsRich{}})
	if err != nil {
		t.Fatal(err)
	}
	d := newPoolDepth(cfg.Depth(), most*testTxBytes, pool.Resize)
	at, n := uint64(1_800_000_000_000), uint64(0)
	for range 20 {
		at += 1000
		if err := d.hear(1_000_000, at, 1000); err != nil {
			t.Fatal(err)
		}
		for range 500 {
			n++
			tx := &chain.Tx{ChainID: 1, To: &chain.Address{1}, Value: chain.Wei(n), CyclesLimit: 21_000, MaxFeePerCycle: 10, MaxFeePerCell: 10, TipPerCycle: chain.Wei(n % 7)}
			body := tx.Encode()
			sender := chain.Address{byte(n), byte(n >> 8), byte(n >> 16), 19: 1}
			_ = pool.Admit(t.Context(), []*chain.VerifiedTx{{Tx: tx, Body: body, Hash: chain.TxHash(body), Sender: sender, Lane: chain.LaneUser}})
		}
		if held := pool.Stats().Lanes[chain.LaneUser].Txs; held > most {
			t.Fatalf("%d wait, the budget has room for %d", held, most)
		}
	}
	if held := pool.Stats().Lanes[chain.LaneUser].Txs; held != most {
		t.Errorf("%d wait, want %d: the flood did not fill the pool", held, most)
	}
}
