package lanes

import (
	"context"
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/statetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestAdmitHoldsTransactionsAgainstTheHead(t *testing.T) {
	const limit = 30_000
	view := accounts{}.with(chain.Address{1}, 3, limit*11).with(chain.Address{2}, 0, 1<<40)
	l := running(t, DefaultConfig(), view)
	var m maker
	change := func(f func(*chain.Tx)) *chain.VerifiedTx {
		tx := m.transfer(2, 0, 1, limit)
		f(tx.Tx)
		return tx
	}
	runner := m.transfer(2, 0, 1, limit)
	runner.Lane = chain.LaneRunner
	tests := []struct {
		name string
		tx   *chain.VerifiedTx
		want error
	}{
		{"another chain", change(func(tx *chain.Tx) { tx.ChainID = 8 }), fees.ErrChainID},
		{"limit above the maximum", change(func(tx *chain.Tx) { tx.CyclesLimit = 10_000_001 }), new(fees.LimitError)},
		{"limit below the intrinsic cost", change(func(tx *chain.Tx) { tx.CyclesLimit = 20_999 }), new(fees.IntrinsicError)},
		{"a lane by wish", runner, fees.ErrLane},
		{"deploy", change(func(tx *chain.Tx) { tx.To, tx.Payload = nil, []byte{0x84, 0x40, 0x40, 0xf6, 0xf6} }), new(fees.IntrinsicError)},
		{"fee cap below the floor", change(func(tx *chain.Tx) { tx.MaxFeePerCell = 0 }), new(fees.BaseFeeError)},
		{"used nonce", m.transfer(1, 2, 1, limit), new(NonceTooLowError)},
		{"more than the balance", func() *chain.VerifiedTx { tx := m.transfer(1, 3, 1, limit); tx.Tx.Value = 1; return tx }(), new(fees.FundsError)},
		{"all of the balance", m.transfer(1, 3, 1, limit), nil},
		{"the balance twice", m.transfer(1, 4, 1, limit), new(BalanceError)},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := l.Admit(t.Context(), []*chain.VerifiedTx{tt.tx})[0]
			switch {
			case tt.want == nil && got != nil, tt.want != nil && got == nil:
				t.Errorf("got %v, want %v", got, tt.want)
			case got != nil && !errors.Is(got, tt.want) && reflect.TypeOf(got) != reflect.TypeOf(tt.want):
				t.Errorf("got %v (%T), want %T", got, got, tt.want)
			}
		})
	}
	if s := l.Stats(); s.Admitted != 1 || s.Refused != 9 || s.Lanes[chain.LaneUser].Txs != 1 || s.Lanes[chain.LaneUser].Bytes != 0 {
		t.Errorf("stats %+v, want one admitted and nine refused", s)
	}
}

// TestFillWaiting: what waits is found by its hash, at whatever level; what is there
// already is left alone.
func TestFillWaiting(t *testing.T) {
	view := accounts{}
	var m maker
	var txs []*chain.VerifiedTx
	for n := range byte(100) { // of many shards
		view = view.with(chain.Address{n}, 0, chain.WeiPerCBY)
		txs = append(txs, m.transfer(n, 0, 1, 30_000), m.transfer(n, 2, 1, 30_000))
	}
	l := running(t, DefaultConfig(), view)
	if err := errors.Join(l.Admit(t.Context(), txs)...); err != nil {
		t.Fatal(err)
	}
	stranger, mine := m.transfer(1, 1, 1, 30_000), m.transfer(2, 0, 1, 30_000)
	hashes := [][32]byte{stranger.Hash, txs[0].Hash, {}}
	got := []*chain.VerifiedTx{nil, mine, nil}
	for _, tx := range txs {
		hashes, got = append(hashes, tx.Hash), append(got, nil)
	}
	if found := l.FillWaiting(hashes, got); found != len(txs) {
		t.Errorf("found %d of %d", found, len(txs))
	}
	if got[0] != nil || got[1] != mine || got[2] != nil {
		t.Errorf("a stranger %v, one that was there %v, none %v", got[0], got[1], got[2])
	}
	if !slices.Equal(got[3:], txs) {
		t.Error("others than those asked for")
	}
}

// TestLifeOfTransactions follows several transactions over three heads.
func TestLifeOfTransactions(t *testing.T) {
	const limit, cost = 30_000, 30_000 * 11
	ctx := t.Context()
	a, b, c := chain.Address{1}, chain.Address{2}, chain.Address{3}
	view := accounts{}.with(a, 0, 3*cost).with(b, 0, 2*cost).with(c, 0, cost)
	l := running(t, DefaultConfig(), view)
	var m maker
	txs := []*chain.VerifiedTx{
		m.transfer(1, 0, 1, limit), m.transfer(1, 1, 1, limit), m.transfer(1, 3, 1, limit),
		m.transfer(2, 0, 1, limit), m.transfer(2, 1, 1, limit),
		m.transfer(3, 0, 1, limit),
	}
	for i, err := range l.Admit(ctx, txs) {
		if err != nil {
			t.Fatalf("transaction %d: %v", i, err)
		}
	}
	expect := func(what string, tx *chain.VerifiedTx, want WaitState, there bool) {
		t.Helper()
		w, ok, err := l.Lookup(ctx, tx.Hash)
		if err != nil || ok != there || ok && (w.State != want || w.Tx != tx) {
			t.Errorf("%s: %v %v %v, want %v %v", what, w.State, ok, err, want, there)
		}
	}
	nonce := func(addr chain.Address, want uint64) {
		t.Helper()
		if got, err := l.PendingNonce(ctx, addr); err != nil || got != want {
			t.Errorf("pending nonce of %x: %d %v, want %d", addr[:1], got, err, want)
		}
	}
	expect("first", txs[0], WaitExecutable, true)
	expect("after a gap", txs[2], WaitQueued, true)
	nonce(a, 2)
	nonce(chain.Address{9}, 0)

	// Block 1 holds a's first transaction, one of b that nobody here knew, and
	// takes c's money. The base fee rises above all fee caps.
	foreign := m.transfer(2, 0, 2, limit)
	view = view.with(a, 1, 2*cost).with(b, 1, 2*cost).with(c, 0, cost-1)
	if err := l.Finalized(ctx, FinalizedHead{
		Height: 1, View: view, BaseFees: evenFees(12), Txs: []*chain.VerifiedTx{txs[0], foreign}, Touched: []chain.Address{c, {77}},
	}); err != nil {
		t.Fatal(err)
	}
	expect("included", txs[0], 0, false)
	expect("outrun by its nonce", txs[3], 0, false)
	expect("no longer paid for", txs[5], 0, false)
	expect("below the base fee", txs[1], WaitUnderpriced, true)
	expect("still queued", txs[2], WaitQueued, true)
	if packed, err := l.Pack(ctx, *request(l.params.Load(), view)); err != nil || len(packed.Txs) != 0 {
		t.Errorf("packed %s, %v: want nothing that cannot pay", names(packed.Txs), err)
	}

	// Block 2 is empty and cheap. c has money again.
	view = view.with(c, 0, cost)
	if err := l.Finalized(ctx, FinalizedHead{Height: 2, View: view, BaseFees: evenFees(1)}); err != nil {
		t.Fatal(err)
	}
	expect("cheap again", txs[1], WaitExecutable, true)
	if err := l.Admit(ctx, []*chain.VerifiedTx{txs[5]})[0]; err != nil {
		t.Errorf("c's transaction again: %v", err)
	}
	req := request(l.params.Load(), view)
	req.Height = 3
	packed, err := l.Pack(ctx, *req)
	if err != nil || len(packed.Txs) != 3 {
		t.Errorf("packed %s, %v: want one of each sender", names(packed.Txs), err)
	}
	if err := l.Discard(ctx, []*chain.VerifiedTx{txs[1], {Hash: chain.Hash{1}}}); err != nil {
		t.Fatal(err)
	}
	expect("discarded", txs[1], 0, false)

	s := l.Stats()
	want := Stats{Admitted: 7, Included: 1, Outdated: 1, Starved: 1, Discarded: 1, Moved: 4, Packs: 2, Packed: 3}
	want.Lanes[chain.LaneUser] = LaneStats{Txs: 3, Queued: 1} // bodies of 100 bytes, which their places hold
	if s != want {
		t.Errorf("stats %+v\nwant  %+v", s, want)
	}
}

// TestVestingFreesWithoutATouch: what unlocks with time is seen at the next
// admission although no block changed the account (whitepaper §8.3).
func TestVestingFreesWithoutATouch(t *testing.T) {
	const limit, cost = 30_000, 30_000 * 11
	acc := state.NewAccount()
	acc.Balance = 10 * cost
	lock := genesis.Lock{Amount: 10 * cost, Vesting: genesis.Vesting{DurationBlocks: 10}}
	acc.Meta = lock.AppendMeta(nil)
	view := accounts{of: map[chain.Address]state.Account{{1}: acc}}
	l := running(t, DefaultConfig(), view)
	var m maker
	admit := func(nonce uint64) error {
		return l.Admit(t.Context(), []*chain.VerifiedTx{m.transfer(1, nonce, 1, limit)})[0]
	}
	var short *BalanceError
	if err := admit(0); err != nil { // block 1 frees a tenth
		t.Fatal(err)
	}
	if err := admit(1); !errors.As(err, &short) || short.Spendable != cost || short.Waiting != cost {
		t.Errorf("second at the first head: %v, want the balance to be locked", err)
	}
	if err := l.Finalized(t.Context(), FinalizedHead{Height: 1, View: view, BaseFees: evenFees(1)}); err != nil {
		t.Fatal(err)
	}
	if err := admit(1); err != nil {
		t.Errorf("second at the next head: %v", err)
	}
}

func TestFinalizedReportsFaults(t *testing.T) {
	l := running(t, DefaultConfig(), wealthy())
	var m maker
	tx := m.transfer(1, 0, 1, 30_000)
	if err := l.Admit(t.Context(), []*chain.VerifiedTx{tx})[0]; err != nil {
		t.Fatal(err)
	}
	var fault *ReadError
	err := l.Finalized(t.Context(), FinalizedHead{Height: 1, View: statetest.Broken{View: wealthy(), At: tx.Sender}, Txs: []*chain.VerifiedTx{tx}})
	if !errors.As(err, &fault) || fault.Address != tx.Sender {
		t.Errorf("got %v, want a read error", err)
	}
}

func TestRequestsEndWithTheLanesOrTheCaller(t *testing.T) {
	params := params.Default()
	l, err := New(DefaultConfig(), &params, testChain, FinalizedHead{View: wealthy()})
	if err != nil {
		t.Fatal(err)
	}
	var m maker
	tx := []*chain.VerifiedTx{m.transfer(1, 0, 1, 30_000)}
	ended, end := context.WithCancel(t.Context())
	end()
	check := func(when string, want error, ctx context.Context) {
		t.Helper()
		if err := l.Admit(ctx, tx)[0]; !errors.Is(err, want) {
			t.Errorf("admit %s: %v, want %v", when, err, want)
		}
		if _, err := l.Pack(ctx, *request(&params, wealthy())); !errors.Is(err, want) {
			t.Errorf("pack %s: %v, want %v", when, err, want)
		}
		if err := l.Finalized(ctx, FinalizedHead{}); !errors.Is(err, want) {
			t.Errorf("finalized %s: %v, want %v", when, err, want)
		}
		if err := l.Discard(ctx, tx[:1]); !errors.Is(err, want) {
			t.Errorf("discard %s: %v, want %v", when, err, want)
		}
		if _, _, err := l.Lookup(ctx, chain.Hash{}); !errors.Is(err, want) {
			t.Errorf("lookup %s: %v, want %v", when, err, want)
		}
		if _, err := l.PendingNonce(ctx, chain.Address{}); !errors.Is(err, want) {
			t.Errorf("nonce %s: %v, want %v", when, err, want)
		}
	}
	check("of a caller who has gone", context.Canceled, ended)
	if err := l.Run(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("Run = %v, want the context's error", err)
	}
	check("after the end", ErrStopped, t.Context())
	if l.Stats() != (Stats{}) {
		t.Errorf("refused requests left %+v", l.Stats())
	}
}

// TestEveryoneAtOnce lets everyone at the lanes at once; the race detector and
// the conservation of transactions are the check.
func TestEveryoneAtOnce(t *testing.T) {
	const senders, perSender = 8, 60
	view := wealthy()
	l := running(t, DefaultConfig(), view)
	ctx := t.Context()
	var submitters, others sync.WaitGroup
	for s := range senders {
		submitters.Go(func() {
			m := maker{serial: uint64(s) << 32}
			rng := rand.New(rand.NewPCG(uint64(s), 3))
			for n := uint64(0); n < perSender; {
				var batch []*chain.VerifiedTx
				for range min(1+rng.Uint64N(9), perSender-n) {
					batch = append(batch, m.transfer(byte(s+1), n, chain.Wei(rng.IntN(90)), 21_000))
					n++
				}
				for _, err := range l.Admit(ctx, batch) {
					if err != nil {
						t.Errorf("sender %d: %v", s, err)
					}
				}
			}
		})
	}
	stop := make(chan struct{})
	others.Go(func() { // the reader
		for {
			select {
			case <-stop:
				return
			default:
				l.Stats()
				l.Lookup(ctx, chain.Hash{1})
				l.PendingNonce(ctx, chain.Address{1})
			}
		}
	})
	included := 0
	others.Go(func() { // the ledger
		for height := chain.Height(1); ; height++ {
			last := false // nothing comes any more, so an empty pool is the end
			select {
			case <-stop:
				last = true
			default:
			}
			req := request(l.params.Load(), view)
			req.Height = height
			packed, err := l.Pack(ctx, *req)
			if err != nil {
				t.Error(err)
				return
			}
			txs := packed.Txs
			if err := order.Check(req.VRFOut, txs); err != nil {
				t.Error(err)
			}
			for _, tx := range txs {
				view = view.with(tx.Sender, tx.Tx.Nonce+1, view.of[tx.Sender].Balance)
			}
			included += len(txs)
			if err := l.Finalized(ctx, FinalizedHead{Height: height, View: view, BaseFees: evenFees(chain.Wei(1 + height%13)), Txs: txs}); err != nil {
				t.Error(err)
				return
			}
			if last && l.Stats().Lanes[chain.LaneUser].Txs == 0 {
				return
			}
		}
	})
	submitters.Wait()
	close(stop)
	others.Wait()
	s := l.Stats()
	if included != senders*perSender || s.Included != senders*perSender || s.Lanes[chain.LaneUser] != (LaneStats{}) {
		t.Errorf("%d transactions in blocks, stats %+v: want all %d and an empty pool", included, s, senders*perSender)
	}
}

func TestConfigCheck(t *testing.T) {
	if err := DefaultConfig().Check(); err != nil {
		t.Errorf("default: %v", err)
	}
	for name, change := range map[string]func(*Config){
		"no transactions per sender": func(c *Config) { c.SenderTxs = 0 },
		"gap fills the sender":       func(c *Config) { c.NonceGap = uint64(c.SenderTxs) },
		"negative cap":               func(c *Config) { c.LaneBytes[chain.LaneRunner] = -1 },
		"negative small body":        func(c *Config) { c.SmallBytes = -1 },
		"no user lane":               func(c *Config) { c.LaneTxs[chain.LaneUser] = 0 },
		"absurd bump":                func(c *Config) { c.BumpPercent = 1_001 },
		"no misses":                  func(c *Config) { c.PackMisses = 0 },
	} {
		cfg := DefaultConfig()
		change(&cfg)
		params := params.Default()
		if _, err := New(cfg, &params, testChain, FinalizedHead{View: wealthy()}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}

// TestSystemLaneIsForValidators: what only a validator may send is taken from the
// reward accounts alone, so that nobody else fills the system lane (resolution
// 11.13): of those of the validators of the next block's epoch.
func TestSystemLaneIsForValidators(t *testing.T) {
	const limit = 30_000
	view := accounts{}.with(chain.Address{1}, 0, 1<<40).with(chain.Address{2}, 0, 1<<40)
	cfg := DefaultConfig()
	g := &genesis.Genesis{Validators: []chain.Validator{{RewardAddress: chain.Address{1}}}}
	epochs, err := epoch.Of(g).With(&epoch.Record{Chain: g.Hash(), Epoch: 1, Validators: []chain.Validator{{RewardAddress: chain.Address{2}}}})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Epochs = epochs
	l := running(t, cfg, view)
	var m maker
	evidence := func(sender byte) *chain.VerifiedTx {
		tx := m.in(chain.LaneSystem, m.transfer(sender, 0, 1, limit))
		tx.Tx.To, tx.Tx.Payload, tx.Tx.CellsLimit = &chain.Address{}, []byte{0x83, 0x18, chain.OpEvidenceSubmit, 0x40, 0x40}, 100
		*tx.Tx.To = chain.AddrStaking
		return tx
	}
	for e := range chain.Epoch(3) {
		head := FinalizedHead{Height: chain.Height(e) + 1, Epoch: e, View: view, BaseFees: evenFees(1)}
		if err := l.Finalized(t.Context(), head); err != nil {
			t.Fatal(err)
		}
		for i, err := range l.Admit(t.Context(), []*chain.VerifiedTx{evidence(1), evidence(2)}) {
			if i == int(e) && err != nil {
				t.Errorf("epoch %d, of its validator: %v", e, err)
			}
			if i != int(e) && !errors.Is(err, fees.ErrRole) {
				t.Errorf("epoch %d, of anyone: %v, want %v", e, err, fees.ErrRole)
			}
		}
	}
}
