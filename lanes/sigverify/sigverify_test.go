package sigverify

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func key(t testing.TB, n byte) *secp256k1.PrivateKey {
	t.Helper()
	seed := keccak.Sum256([]byte{n})
	k, err := secp256k1.ParsePrivateKey(seed[:])
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// signed returns the body of a transfer signed by key n.
func signed(t testing.TB, n byte, nonce uint64) []byte {
	t.Helper()
	return sign(t, n, &chain.Tx{
		ChainID: 1, Nonce: nonce, To: &chain.Address{0xaa, 19: 1}, Value: 5,
		CyclesLimit: 21_000, MaxFeePerCycle: 10, MaxFeePerCell: 10, TipPerCycle: 1,
	})
}

func sign(t testing.TB, n byte, tx *chain.Tx) []byte {
	t.Helper()
	sig := key(t, n).Sign(tx.SigningHash())
	tx.Signature = &chain.TxSignature{YParity: sig.YParity, R: sig.R, S: sig.S}
	return tx.Encode()
}

// taker is lanes that take everything, except the nonces in refuse.
type taker struct {
	mu     sync.Mutex
	taken  []*chain.VerifiedTx
	asked  int // times for what waits
	refuse map[uint64]error
	block  chan struct{} // if set, Admit waits for it or ctx
}

func (l *taker) Admit(ctx context.Context, txs []*chain.VerifiedTx) []error {
	if l.block != nil {
		select {
		case <-l.block:
		case <-ctx.Done():
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]error, len(txs))
	for i, tx := range txs {
		if out[i] = l.refuse[tx.Tx.Nonce]; out[i] == nil {
			l.taken = append(l.taken, tx)
		}
	}
	return out
}

// FillWaiting finds what was taken.
func (l *taker) FillWaiting(hashes [][32]byte, txs []*chain.VerifiedTx) (found int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.asked++
	for _, tx := range l.taken {
		for i, h := range hashes {
			if txs[i] == nil && tx.Hash == h {
				txs[i] = tx
				found++
			}
		}
	}
	return found
}

// start runs a pipeline until the test ends.
func start(t *testing.T, cfg Config, lanes Lanes) *Pipeline {
	t.Helper()
	p, err := New(cfg, lanes)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- p.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run = %v, want the context's error", err)
		}
	})
	return p
}

// submit waits for the verdicts.
func submit(t *testing.T, p *Pipeline, bodies ...[]byte) []Verdict {
	t.Helper()
	reply := make(chan []Verdict, 1)
	if err := p.Submit(bodies, func(v []Verdict) { reply <- v }); err != nil {
		t.Fatal(err)
	}
	return <-reply
}

func small() Config {
	cfg := DefaultConfig(2)
	cfg.BatchTxs = 4
	return cfg
}

func TestSubmitRecoversSenders(t *testing.T) {
	lanes := &taker{}
	p := start(t, small(), lanes)
	var bodies [][]byte
	for n := range byte(11) { // more than one batch
		bodies = append(bodies, signed(t, n, uint64(n)))
	}
	for i, v := range submit(t, p, bodies...) {
		if v.Err != nil {
			t.Fatalf("transaction %d: %v", i, v.Err)
		}
		if want := key(t, byte(i)).PublicKey().Address(); v.Tx.Sender != want {
			t.Errorf("transaction %d: sender %s, want %x", i, v.Tx.Sender, want)
		}
		if v.Hash != chain.TxHash(bodies[i]) || v.Tx.Hash != v.Hash {
			t.Errorf("transaction %d: hash %s, want %s", i, v.Hash, chain.TxHash(bodies[i]))
		}
		if v.Tx.Lane != chain.LaneUser {
			t.Errorf("transaction %d: %s lane, want user", i, v.Tx.Lane)
		}
	}
	if len(lanes.taken) != 11 {
		t.Errorf("lanes got %d transactions, want 11", len(lanes.taken))
	}
	if got := p.Stats.Recovered.Load(); got != 11 {
		t.Errorf("recovered %d, want 11", got)
	}
	if got := p.Stats.QueuedTxs.Load() + p.Stats.QueuedBytes.Load(); got != 0 {
		t.Errorf("queue holds %d after all were answered", got)
	}
}

// TestLaneIsDecidedByTheTable: resolution 11.43.
func TestLaneIsDecidedByTheTable(t *testing.T) {
	p := start(t, small(), &taker{})
	address := func(n byte) *chain.Address { return &chain.Address{19: n} }
	tests := []struct {
		name    string
		to      *chain.Address
		payload []byte
		want    chain.LaneID
	}{
		{"transfer to anyone", &chain.Address{1}, nil, chain.LaneUser},
		{"transfer to the treasury", address(8), nil, chain.LaneUser},
		{"heartbeat", address(1), []byte{0x81, 2}, chain.LaneRunner},
		{"runner registration's neighbour", address(1), []byte{0x81, 4}, chain.LaneUser},
		{"validator exit", address(0x17), []byte{0x81, 0x18, 92}, chain.LaneSystem},
		{"a memo that looks like a heartbeat", &chain.Address{1}, []byte{0x81, 2}, chain.LaneUser},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := submit(t, p, sign(t, 1, &chain.Tx{ChainID: 1, To: tt.to, Payload: tt.payload, CyclesLimit: 50_000}))
			if v[0].Err != nil || v[0].Tx.Lane != tt.want {
				t.Errorf("verdict %+v, want the %s lane", v[0], tt.want)
			}
		})
	}
}

func TestEveryRefusalHasItsOwnError(t *testing.T) {
	full := errors.New("lane is full")
	p := start(t, small(), &taker{refuse: map[uint64]error{99: full}})
	good := signed(t, 1, 7)
	tamper := func(at int, bit byte) []byte {
		b := append([]byte(nil), good...)
		b[len(b)+at] ^= bit
		return b
	}
	tx, err := chain.DecodeTx(good)
	if err != nil {
		t.Fatal(err)
	}
	with := func(change func(*chain.Tx)) []byte {
		c := *tx
		s := *tx.Signature
		c.Signature = &s
		change(&c)
		return c.Encode()
	}
	var size *SizeError
	var unknown *chain.UnknownInstructionError
	tests := []struct {
		name string
		body []byte
		is   error
		as   any
	}{
		{"empty", []byte{}, nil, nil},
		{"too long", make([]byte, chain.MaxTxBytes+1), nil, &size},
		{"one byte more", append(append([]byte(nil), good...), 0), nil, nil},
		{"one byte less", good[:len(good)-1], nil, nil},
		{"array of twelve", tamper(-len(good), 1), nil, nil},
		{"no signature", with(func(c *chain.Tx) { c.Signature = nil }), chain.ErrUnsigned, nil},
		{"high s", tamper(-32, 0x80), chain.ErrHighS, nil},
		{"r is zero", with(func(c *chain.Tx) { c.Signature.R = [32]byte{} }), secp256k1.ErrRRange, nil},
		{"s is zero", with(func(c *chain.Tx) { c.Signature.S = [32]byte{} }), secp256k1.ErrSRange, nil},
		{"r above the order", with(func(c *chain.Tx) { c.Signature.R = [32]byte(bytes.Repeat([]byte{0xff}, 32)) }), nil, nil},
		{"r off the curve", with(func(c *chain.Tx) { c.Signature.R = [32]byte{31: 5} }), secp256k1.ErrNotOnCurve, nil},
		{"arguments missing", sign(t, 1, &chain.Tx{To: &chain.Address{19: 1}, Payload: []byte{0x81, 3}}), chain.ErrPayload, nil},
		{"unknown opcode", sign(t, 1, &chain.Tx{To: &chain.Address{19: 1}, Payload: []byte{0x81, 0x18, 200}}), nil, &unknown},
		{"value to a reserved address", sign(t, 1, &chain.Tx{To: &chain.Address{19: 1}}), chain.ErrReservedAddress, nil},
		{"refused by the lanes", signed(t, 1, 99), full, nil},
	}
	seen := map[string]string{}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v := submit(t, p, tt.body)[0]
			switch {
			case v.Err == nil:
				t.Fatal("accepted")
			case tt.is != nil && !errors.Is(v.Err, tt.is):
				t.Errorf("error %v, want %v", v.Err, tt.is)
			case tt.as != nil && !errors.As(v.Err, tt.as):
				t.Errorf("error %v (%T), want %T", v.Err, v.Err, tt.as)
			case (v.Tx != nil) != (tt.is == full):
				t.Errorf("transaction %v beside error %v", v.Tx, v.Err)
			}
			if tt.is != nil || tt.as != nil {
				if other, ok := seen[v.Err.Error()]; ok {
					t.Errorf("same error as %s: %v", other, v.Err)
				}
				seen[v.Err.Error()] = tt.name
			}
		})
	}
	if _, err := p.VerifyBlock(t.Context(), [][]byte{signed(t, 1, 99)}); err != nil {
		t.Errorf("what only the lanes refuse is a valid part of a block: %v", err)
	}
}

// TestTamperedBitNeverKeepsTheSender flips every bit of a signed transfer.
func TestTamperedBitNeverKeepsTheSender(t *testing.T) {
	p, err := New(DefaultConfig(1), &taker{})
	if err != nil {
		t.Fatal(err)
	}
	good := signed(t, 3, 7)
	sender := chain.Address(key(t, 3).PublicKey().Address())
	b := &batch{}
	for i := range len(good) * 8 {
		body := append([]byte(nil), good...)
		body[i/8] ^= 1 << (i % 8)
		b.bodies = append(b.bodies, body)
	}
	p.verify(b, nil)
	refused, others := 0, 0
	for i := range b.bodies {
		switch {
		case b.errs[i] != nil:
			refused++
		case b.txs[i].Sender == sender:
			t.Errorf("bit %d flipped: still from the same sender", i)
		default:
			others++
		}
	}
	t.Logf("%d of %d refused, %d come from other senders", refused, len(b.bodies), others)
}

func TestKnownTransactionsAreNotVerifiedAgain(t *testing.T) {
	p := start(t, small(), &taker{})
	bodies := [][]byte{signed(t, 1, 0), signed(t, 1, 1), signed(t, 2, 0)}
	submit(t, p, bodies[:2]...)
	submit(t, p, bodies[0])
	if got := p.Stats.Recovered.Load(); got != 2 {
		t.Fatalf("recovered %d, want 2: the third was known", got)
	}
	txs, err := p.VerifyBlock(t.Context(), bodies)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Stats.Recovered.Load(); got != 3 {
		t.Errorf("recovered %d, want 3: only the last was new", got)
	}
	for i, tx := range txs {
		if tx.Hash != chain.TxHash(bodies[i]) {
			t.Errorf("transaction %d is %s", i, tx.Hash)
		}
	}
	// The same fields with another signature are another transaction.
	forged := append([]byte(nil), bodies[0]...)
	forged[len(forged)-1] ^= 1
	again, err := p.VerifyBlock(t.Context(), [][]byte{forged})
	if err == nil && again[0].Sender == txs[0].Sender {
		t.Error("a changed signature was taken from the cache")
	}
}

func TestVerifyBlockNamesTheFirstBadTransaction(t *testing.T) {
	cfg := DefaultConfig(4)
	cfg.BatchTxs = 2
	p, err := New(cfg, &taker{})
	if err != nil {
		t.Fatal(err)
	}
	var bodies [][]byte
	for n := range byte(20) {
		bodies = append(bodies, signed(t, n, 0))
	}
	bodies[19] = bodies[19][1:]
	bodies[13] = append(bodies[13], 0)
	bodies[11] = make([]byte, chain.MaxTxBytes+1)
	for range 20 {
		_, err := p.VerifyBlock(t.Context(), bodies)
		var bad *TxError
		if !errors.As(err, &bad) || bad.Index != 11 {
			t.Fatalf("error %v, want that of transaction 11", err)
		}
	}
	if txs, err := p.VerifyBlock(t.Context(), nil); len(txs) != 0 || err != nil {
		t.Errorf("empty block: %d transactions, %v", len(txs), err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.VerifyBlock(ctx, bodies); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestWhatWaitsIsNotVerifiedAgain: a flood of what the lanes refuse, which is verified all
// the same, pushes nothing that waits into being verified again with its block.
func TestWhatWaitsIsNotVerifiedAgain(t *testing.T) {
	cfg := small()
	cfg.CacheTxs = 4
	lanes := &taker{refuse: map[uint64]error{99: errors.New("refused")}}
	p := start(t, cfg, lanes)
	var bodies [][]byte
	for n := range 10 {
		bodies = append(bodies, signed(t, 1, uint64(n)))
		submit(t, p, bodies[n])
	}
	for n := range byte(20) {
		submit(t, p, signed(t, n, 99))
	}
	before := p.Stats.Recovered.Load()
	decoded := p.Stats.Decoded.Load()
	txs, err := p.VerifyBlock(t.Context(), bodies)
	if err != nil {
		t.Fatal(err)
	}
	for i, tx := range txs {
		if tx.Hash != chain.TxHash(bodies[i]) {
			t.Errorf("transaction %d is %s", i, tx.Hash)
		}
	}
	if p.Stats.Recovered.Load() != before || p.Stats.Decoded.Load() != decoded || p.Stats.Waiting.Load() != 10 {
		t.Errorf("recovered %d and decoded %d again, found %d of 10 waiting", p.Stats.Recovered.Load()-before, p.Stats.Decoded.Load()-decoded, p.Stats.Waiting.Load())
	}
}

// TestLanesWithoutTheBlockAreAskedOnce: who catches up does not pay for a look into the
// pool for each transaction of each block.
func TestLanesWithoutTheBlockAreAskedOnce(t *testing.T) {
	lanes := &taker{}
	p, err := New(Config{Workers: 1, BatchTxs: askedMin, BatchWaitMax: time.Millisecond, QueueTxs: 64, QueueBytes: 1 << 20, CacheTxs: 64, CacheBytes: 1 << 20}, lanes)
	if err != nil {
		t.Fatal(err)
	}
	var bodies [][]byte
	for n := range 5 * askedMin {
		bodies = append(bodies, signed(t, 1, uint64(n)))
	}
	if _, err := p.VerifyBlock(t.Context(), bodies); err != nil {
		t.Fatal(err)
	}
	if lanes.asked != 1 || p.Stats.Recovered.Load() != uint64(len(bodies)) {
		t.Errorf("asked %d times, recovered %d of %d", lanes.asked, p.Stats.Recovered.Load(), len(bodies))
	}
}

// TestReadBlock: a block that is only looked at has the transactions that
// VerifyBlock finds, and leaves cache and counters to the blocks to be voted on.
func TestReadBlock(t *testing.T) {
	p, err := New(small(), &taker{})
	if err != nil {
		t.Fatal(err)
	}
	var bodies [][]byte
	for n := range byte(11) {
		bodies = append(bodies, signed(t, n, 0))
	}
	read, err := p.ReadBlock(t.Context(), bodies)
	if err != nil {
		t.Fatal(err)
	}
	if p.Stats.Recovered.Load() != 0 || p.Stats.Known.Load() != 0 || p.Stats.BlockTxs.Load() != 0 {
		t.Error("a block that is looked at is counted")
	}
	txs, err := p.VerifyBlock(t.Context(), bodies)
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Stats.Recovered.Load(); got != uint64(len(bodies)) {
		t.Errorf("%d recovered: looking at a block filled the cache", got)
	}
	for i := range txs {
		if *read[i].Tx.Signature != *txs[i].Tx.Signature || read[i].Sender != txs[i].Sender || read[i].Hash != txs[i].Hash || read[i].Lane != txs[i].Lane {
			t.Errorf("transaction %d: %+v, verified %+v", i, read[i], txs[i])
		}
	}
	bodies[9] = bodies[9][1:]
	var bad *TxError
	if _, err := p.ReadBlock(t.Context(), bodies); !errors.As(err, &bad) || bad.Index != 9 {
		t.Errorf("error %v, want that of transaction 9", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := p.ReadBlock(ctx, bodies); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestConfigCheck(t *testing.T) {
	if err := DefaultConfig(0).Check(); err != nil {
		t.Errorf("default: %v", err)
	}
	for name, change := range map[string]func(*Config){
		"no workers":      func(c *Config) { c.Workers = 0 },
		"no queue":        func(c *Config) { c.QueueTxs = 0 },
		"batch too large": func(c *Config) { c.BatchTxs = c.QueueTxs + 1 },
		"no wait":         func(c *Config) { c.BatchWaitMax = 0 },
		"no bytes":        func(c *Config) { c.QueueBytes = 0 },
		"no cache":        func(c *Config) { c.CacheTxs = 0 },
	} {
		cfg := DefaultConfig(1)
		change(&cfg)
		if _, err := New(cfg, &taker{}); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
