package bench

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

func TestConstantSchedule(t *testing.T) {
	cfg := DefaultLoadConfig()
	cfg.Rate, cfg.Duration, cfg.Batch = 3000, 10*time.Second, 3
	due := schedule(&cfg)
	if len(due) != 10_000 {
		t.Fatalf("%d requests, want 10000", len(due))
	}
	for i, at := range due {
		if want := time.Duration(i) * time.Millisecond; at < want-time.Microsecond || at > want+time.Microsecond {
			t.Fatalf("request %d due at %v, want %v: the schedule drifts", i, at, want)
		}
	}
}

func TestPoissonSchedule(t *testing.T) {
	cfg := DefaultLoadConfig()
	cfg.Rate, cfg.Duration, cfg.Batch, cfg.Arrival = 1000, 20*time.Second, 1, ArrivalPoisson
	due := schedule(&cfg)
	if n := float64(len(due)); math.Abs(n-20_000) > 5*math.Sqrt(20_000) {
		t.Errorf("%g requests, want about 20000", n)
	}
	if !slices.IsSorted(due) || due[len(due)-1] >= cfg.Duration {
		t.Error("schedule out of order or out of its duration")
	}
	if !slices.Equal(due, schedule(&cfg)) {
		t.Error("the same seed gave another schedule")
	}
	// Exponential gaps have a standard deviation equal to their mean.
	var sum, squares float64
	for i := 1; i < len(due); i++ {
		gap := float64(due[i] - due[i-1])
		sum, squares = sum+gap, squares+gap*gap
	}
	n := float64(len(due) - 1)
	mean := sum / n
	if dev := math.Sqrt(squares/n - mean*mean); dev < 0.95*mean || dev > 1.05*mean {
		t.Errorf("gaps deviate by %.0f ns from their mean %.0f ns, want about as much", dev, mean)
	}
	cfg.Seed++
	if slices.Equal(due, schedule(&cfg)) {
		t.Error("another seed gave the same schedule")
	}
}

func TestPacerIsNotEarlyAndCatchesUp(t *testing.T) {
	p := pacer{start: time.Now(), spin: 200 * time.Microsecond}
	for i := range 50 {
		due := time.Duration(i) * time.Millisecond
		if err := p.until(t.Context(), due); err != nil {
			t.Fatal(err)
		}
		if early := due - time.Since(p.start); early > 0 {
			t.Errorf("%v early", early)
		}
	}
	p.start = time.Now().Add(-24 * time.Hour)
	if err := p.until(t.Context(), 12*time.Hour); err != nil { // at once
		t.Errorf("a slot in the past: error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := p.until(ctx, time.Hour); err == nil {
		t.Error("a cancelled wait goes on")
	}
}

func TestPlanKeepsNoncesInOrderOnOneConnection(t *testing.T) {
	cfg := DefaultLoadConfig()
	cfg.Accounts, cfg.Connections, cfg.Batch = 7, 3, 4
	accounts, err := deriveAccounts(1, cfg.Accounts)
	if err != nil {
		t.Fatal(err)
	}
	accounts[5].nonce = 40
	const requests = 23
	terms := testPrices()
	pl, err := newPlan(accounts, requests, &cfg, terms)
	if err != nil {
		t.Fatal(err)
	}
	if err := pl.sign(terms); err != nil {
		t.Fatal(err)
	}
	if len(pl.txs) != requests*cfg.Batch || len(pl.index) != len(pl.txs) {
		t.Fatalf("%d transfers, %d hashes, want %d of each", len(pl.txs), len(pl.index), requests*cfg.Batch)
	}
	home := map[int32]int{}
	next := map[int32]uint64{5: 40}
	for conn, stream := range pl.streams {
		for _, i := range stream {
			a := pl.sender[i]
			if was, seen := home[a]; seen && was != conn {
				t.Errorf("account %d is on connections %d and %d", a, was, conn)
			}
			home[a] = conn
			tx := decodeWire(t, pl.txs[i].wire)
			if tx.Nonce != next[a] {
				t.Errorf("account %d sends nonce %d, want %d", a, tx.Nonce, next[a])
			}
			next[a]++
			if *tx.To != accounts[(a+1)%7].address {
				t.Errorf("account %d sends to %s", a, tx.To)
			}
		}
	}
	for a, n := range next {
		if want := chain.Wei(n-accounts[a].nonce) * 21_001; accounts[a].need != want {
			t.Errorf("account %d sends %d transfers and is funded with %d, want %d", a, n-accounts[a].nonce, accounts[a].need, want)
		}
	}
}

func testPrices() *prices {
	return &prices{chainID: 1, intrinsic: params.Default().Intrinsic, maxFeePerCycle: 1, maxFeePerCell: 1}
}

func decodeWire(t *testing.T, wire []byte) *chain.Tx {
	t.Helper()
	bodies, err := chain.DecodeWireTxs(wire, 1)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := chain.DecodeTx(bodies[0])
	if err != nil {
		t.Fatal(err)
	}
	return tx
}

func TestReasonDropsWhatDiffers(t *testing.T) {
	f := func(message, want string) {
		t.Helper()
		if got := reason(rpc.CodeNonceTooLow, message); got != "4005 "+want {
			t.Errorf("reason of %q is %q, want %q", message, got, want)
		}
	}
	f("nonce too low: got 12, want 345", "nonce too low: got #, want #")
	f("unknown 0x12ab90ffcd sender", "unknown # sender")
	f("code 0xzz", "code #zz")
	f("", "")
}

func TestCeiling(t *testing.T) {
	txs := []signed{{wire: make([]byte, 120)}}
	f := func(p *rpc.ParamsReply, want string) {
		t.Helper()
		if got := ceilingOf(p, txs).String(); got != want {
			t.Errorf("ceiling %q, want %q", got, want)
		}
	}
	f(nil, "not known: the node does not answer GET /params")
	f(&rpc.ParamsReply{Name: "a", BlockTimeMillis: 500, CyclesTarget: 42_000, CyclesCap: 84_000, MaxBlockBytes: 1 << 20, TransferIntrinsicCycles: 21_000},
		`genesis "a": 8 transfers/s (4 a block by cycles, block time 500 ms); 4/s at the fee target`)
	f(&rpc.ParamsReply{Name: "b", BlockTimeMillis: 1000, CyclesTarget: 1 << 40, CyclesCap: 1 << 41, MaxBlockBytes: 12_000, TransferIntrinsicCycles: 21_000},
		`genesis "b": 100 transfers/s (100 a block by bytes, block time 1000 ms); 100/s at the fee target`)
	f(&rpc.ParamsReply{Name: "c", CyclesTarget: 1 << 40, CyclesCap: 1 << 41, MaxBlockBytes: 12_000, TransferIntrinsicCycles: 21_000},
		`genesis "c": 100 transfers a block (bytes); the block time sets no limit`)
}

func TestLoadConfigCheck(t *testing.T) {
	for name, change := range map[string]func(*LoadConfig){
		"url":         func(c *LoadConfig) { c.RPC = "localhost:4000" },
		"rate":        func(c *LoadConfig) { c.Rate = math.NaN() },
		"too little":  func(c *LoadConfig) { c.Rate, c.Duration = 1, time.Millisecond },
		"too much":    func(c *LoadConfig) { c.Rate, c.Duration = 1e6, time.Hour },
		"duration":    func(c *LoadConfig) { c.Duration = 0 },
		"accounts":    func(c *LoadConfig) { c.Accounts = 0 },
		"connections": func(c *LoadConfig) { c.Connections = c.Accounts + 1 },
		"batch":       func(c *LoadConfig) { c.Batch = MaxBatch + 1 },
		"arrival":     func(c *LoadConfig) { c.Arrival = "burst" },
		"headroom":    func(c *LoadConfig) { c.FeeHeadroom = 0 },
		"in flight":   func(c *LoadConfig) { c.Batch, c.MaxInFlight = 10, 9 },
		"drain":       func(c *LoadConfig) { c.Drain = 0 },
		"lateness":    func(c *LoadConfig) { c.LatenessMax = 0 },
	} {
		cfg := DefaultLoadConfig()
		cfg.FundKey = devKey
		if err := cfg.Check(); err != nil {
			t.Fatal(err)
		}
		change(&cfg)
		if cfg.Check() == nil {
			t.Errorf("%s: nonsense accepted", name)
		}
	}
}

func TestParseHash(t *testing.T) {
	h := chain.Hash{0: 0xab, 31: 0x01}
	if got, ok := parseHash(h.String()); !ok || got != h {
		t.Errorf("%v, %t", got, ok)
	}
	for _, bad := range []string{"", "0x", h.String()[:65], h.String()[2:], "0X" + h.String()[2:], "0x" + "zz" + h.String()[4:]} {
		if _, ok := parseHash(bad); ok {
			t.Errorf("%q accepted", bad)
		}
	}
}
