package flood

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/bench/internal/quicksign"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// quick is a short run against a fake node.
func (n *fakeNode) quick() Config {
	cfg := DefaultConfig(n.host)
	cfg.Warm, cfg.Window, cfg.Drain, cfg.Poll = 100*time.Millisecond, 300*time.Millisecond, time.Second, time.Millisecond
	cfg.Limit, cfg.PIDs = 400, []int{os.Getpid()}
	return cfg
}

func (n *fakeNode) run(t *testing.T, cfg Config, transactions int) (*Result, error) {
	t.Helper()
	load, err := NewLoad(Shape{Connections: 3, Batch: 7, Accounts: 11, Transactions: transactions}, func() Encoder { return toyEncoder{} })
	if err != nil {
		t.Fatal(err)
	}
	return Run(t.Context(), cfg, toy{}, load)
}

const plenty = 300_000

func TestEverythingIsCounted(t *testing.T) {
	n := newFakeNode(t)
	r, err := n.run(t, n.quick(), plenty)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	if r.Sent != n.count || r.Sent == 0 {
		t.Errorf("%d sent, the node got %d", r.Sent, n.count)
	}
	if n.waiting > 400 {
		t.Errorf("%d waited at the node, limit 400", n.waiting)
	}
	if r.Span <= 0 || r.Span > 300*time.Millisecond {
		t.Errorf("the window's blocks span %v", r.Span)
	}
	if want := float64(r.InBlocks) / r.Span.Seconds(); r.PerSecond != want {
		t.Errorf("rate %v, want %v", r.PerSecond, want)
	}
	if r.Inclusion.N != r.InBlocks {
		t.Errorf("latencies of %d transactions, %d in the window's blocks", r.Inclusion.N, r.InBlocks)
	}
	if r.Inclusion.P50 <= 0 || r.Inclusion.P50 > r.Inclusion.P99 || r.Answer.N == 0 {
		t.Errorf("latencies %+v, answers %+v", r.Inclusion, r.Answer)
	}
	sum := 0
	for _, m := range r.Moments {
		sum += m.Count
		if m.Seen < 0 || m.Seen > 300*time.Millisecond || m.P99 > r.Inclusion.Max || m.P99 <= 0 {
			t.Errorf("a block of the window: %+v", m)
		}
	}
	if sum != r.InBlocks {
		t.Errorf("blocks of the window have %d transactions, want %d", sum, r.InBlocks)
	}
	if r.PeakBytes == 0 {
		t.Error("no memory of the process was seen")
	}
}

// TestWhatIsWrongIsSaid: a run whose node loses, repeats or invents transactions, or does
// not apply what it includes, does not pass.
func TestWhatIsWrongIsSaid(t *testing.T) {
	fiftieth := func(n int) bool { return n == 50 }
	for name, spoil := range map[string]func(*fakeNode){
		"lost":        func(n *fakeNode) { n.lose = fiftieth },
		"twice":       func(n *fakeNode) { n.twice = fiftieth },
		"strange":     func(n *fakeNode) { n.strange = func(height int) int { return 1 - min(1, height%3) } },
		"not applied": func(n *fakeNode) { n.hide = true },
	} {
		t.Run(name, func(t *testing.T) {
			n := newFakeNode(t)
			n.mu.Lock()
			spoil(n)
			n.mu.Unlock()
			r, err := n.run(t, n.quick(), plenty)
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Check(); !errors.Is(err, ErrAccounts) {
				t.Errorf("Check = %v, want %v (%+v)", err, ErrAccounts, r)
			}
		})
	}
}

func TestRefusalsEndTheRun(t *testing.T) {
	for name, spoil := range map[string]func(*fakeNode){
		"a transaction": func(n *fakeNode) { n.refuse = func(n int) bool { return n == 50 } },
		"a request": func(n *fakeNode) {
			n.status = func(request int) int { return request / 20 * http.StatusServiceUnavailable % 1000 }
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := newFakeNode(t)
			n.mu.Lock()
			spoil(n)
			n.mu.Unlock()
			_, err := n.run(t, n.quick(), plenty)
			var status *StatusError
			if err == nil || !strings.Contains(err.Error(), "6 of 7 transactions accepted") && !errors.As(err, &status) {
				t.Errorf("Run = %v, want a refusal", err)
			}
		})
	}
}

func TestShortLoadIsSaid(t *testing.T) {
	n := newFakeNode(t)
	r, err := n.run(t, n.quick(), 100)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Check(); !errors.Is(err, ErrDry) {
		t.Errorf("Check = %v, want %v", err, ErrDry)
	}
}

// TestRateCountsFromWhenItWasDue: with a rate, what is due behind slow answers is sent
// late, and that counts: the load does not wait for the node.
func TestRateCountsFromWhenItWasDue(t *testing.T) {
	n := newFakeNode(t)
	n.mu.Lock()
	n.delay = func(int) time.Duration { return 40 * time.Millisecond }
	n.mu.Unlock()
	cfg := n.quick()
	cfg.Window = time.Second
	cfg.Rate = 700 // a request every 30 ms on each connection: each is sent 10 ms later than the one before
	r, err := n.run(t, cfg, plenty)
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Check(); err != nil {
		t.Fatal(err)
	}
	if r.Sent > 770 {
		t.Errorf("%d sent in 1.1 s at 700 a second", r.Sent)
	}
	if r.Answer.P50 < 40*time.Millisecond {
		t.Errorf("half of the answers took %v, each waits 40 ms", r.Answer.P50)
	}
	if r.Inclusion.Max < 100*time.Millisecond {
		t.Errorf("longest way to a block %v: the last ones were sent some 200 ms late", r.Inclusion.Max)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	n := newFakeNode(t)
	ctx, cancel := context.WithCancel(t.Context())
	cfg := n.quick()
	cfg.Window = time.Hour
	cfg.During = func(context.Context, time.Duration) error { cancel(); return nil }
	load, err := NewLoad(Shape{Connections: 2, Batch: 5, Accounts: 4, Transactions: plenty}, func() Encoder { return toyEncoder{} })
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(ctx, cfg, toy{}, load); !errors.Is(err, context.Canceled) {
		t.Errorf("Run = %v, want %v", err, context.Canceled)
	}
}

// TestTurns: every account stays on one connection, its nonces go up by one, and all
// accounts take part.
func TestTurns(t *testing.T) {
	s := Shape{Connections: 3, Batch: 7, Accounts: 11}
	seen := map[int]uint64{}
	for c := range s.Connections {
		turns := make([]Turn, s.Batch)
		for r := range 40 {
			s.turns(turns, c, r)
			for _, turn := range turns {
				if turn.Account >= s.Accounts || turn.Account%s.Connections != c {
					t.Fatalf("account %d on connection %d", turn.Account, c)
				}
				if turn.Nonce != seen[turn.Account] {
					t.Fatalf("account %d: nonce %d, want %d", turn.Account, turn.Nonce, seen[turn.Account])
				}
				seen[turn.Account]++
			}
		}
	}
	if len(seen) != s.Accounts {
		t.Errorf("%d accounts take part, want %d", len(seen), s.Accounts)
	}
}

// TestOurRequests: a request of ours is one that a node reads: signed by the account of
// its turn, with the ids that blocks will show.
func TestOurRequests(t *testing.T) {
	c := &cowboy{host: "node:1", nonces: quicksign.NewNonces(4), terms: chain.Tx{ChainID: 9, Value: 1, CyclesLimit: 21_000, MaxFeePerCycle: 1000, TipPerCycle: 1}}
	for i := range 3 {
		key, err := quicksign.NewKey(1, i)
		if err != nil {
			t.Fatal(err)
		}
		c.keys, c.receivers = append(c.keys, key), append(c.receivers, chain.Address{19: byte(i)})
	}
	turns := []Turn{{0, 0}, {1, 0}, {2, 300}, {0, 1}}
	raw, ids := (&cowboyEncoder{chain: c}).Request(nil, nil, turns)
	head, body, ok := bytes.Cut(raw, []byte("\r\n\r\n"))
	if !ok || !bytes.HasPrefix(head, []byte("POST /submit?hashes=0 HTTP/1.1\r\nHost: node:1\r\n")) ||
		!bytes.Contains(head, []byte("\r\nAccept: "+rpc.VerdictsMedia+"\r\n")) {
		t.Fatalf("request begins with %q", head)
	}
	bodies, err := chain.DecodeWireTxs(body, CowboyBatch)
	if err != nil || len(bodies) != len(turns) || len(ids) != len(turns) {
		t.Fatalf("%d transactions, %d ids (%v), want %d", len(bodies), len(ids), err, len(turns))
	}
	for i, b := range bodies {
		tx, err := chain.DecodeTx(b)
		if err != nil {
			t.Fatal(err)
		}
		pub, err := secp256k1.Recover(tx.SigningHash(), secp256k1.Signature{R: tx.Signature.R, S: tx.Signature.S, YParity: tx.Signature.YParity})
		if err != nil || pub.Address() != c.keys[turns[i].Account].Address {
			t.Errorf("transaction %d is of %x (%v)", i, pub.Address(), err)
		}
		hash := chain.TxHash(b)
		if tx.Nonce != turns[i].Nonce || ids[i] != ID(binary.BigEndian.Uint64(hash[:])) {
			t.Errorf("transaction %d: nonce %d, id %x of %x", i, tx.Nonce, ids[i], hash)
		}
	}
}

func TestHashesOfABlock(t *testing.T) {
	body := []byte(`{"hash":"0x0011223344556677889900","x":1},{"hash":"0xff11223344556677889900"}]`)
	ids, err := appendHashes(nil, body, `{"hash":"0x`)
	if err != nil || len(ids) != 2 || ids[0] != 0x0011223344556677 || ids[1] != 0xff11223344556677 {
		t.Errorf("ids %x (%v)", ids, err)
	}
	if _, err := appendHashes(nil, []byte(`{"hash":"0x00`), `{"hash":"0x`); err == nil {
		t.Error("a hash that is cut off was read")
	}
}

func TestProcessClocks(t *testing.T) {
	node, own, machine := processesCPU([]int{os.Getpid()}), ownCPU(), machineCPU()
	for deadline := time.Now().Add(time.Minute); ownCPU()-own < 200*time.Millisecond && time.Now().Before(deadline); {
		_, _ = io.Discard.Write(nil)
	}
	used := ownCPU() - own
	if node = processesCPU([]int{os.Getpid()}) - node; node < used-50*time.Millisecond || node > used+50*time.Millisecond {
		t.Errorf("/proc says %v of processor time, the system %v", node, used)
	}
	if machine = machineCPU() - machine; machine < used-50*time.Millisecond {
		t.Errorf("the machine was busy for %v, this process alone for %v", machine, used)
	}
	if bytes := Memory([]int{os.Getpid()}); bytes < 1<<20 || bytes > peaksOfMemory([]int{os.Getpid()}) {
		t.Errorf("%d bytes resident", bytes)
	}
}

// TestOurAnswers: the binary answer is counted, and what refuses a transaction or is none is
// an error.
func TestOurAnswers(t *testing.T) {
	good := rpc.AppendVerdicts(nil, make([]rpc.Verdict, CowboyBatch), false)
	bad := rpc.AppendVerdicts(nil, []rpc.Verdict{{}, {Code: rpc.CodeBusy, Message: "lane is full"}}, false)
	for name, test := range map[string]struct {
		answer []byte
		want   int
		err    string
	}{
		"all":       {good, CowboyBatch, ""},
		"refused":   {bad, 1, "lane is full"},
		"truncated": {good[:len(good)-1], 0, "not a list of verdicts"},
		"JSON":      {[]byte(`{"results":[]}`), 0, "not a list of verdicts"},
	} {
		n, err := (&cowboy{}).Accepted(test.answer)
		if n != test.want || (err == nil) != (test.err == "") || err != nil && !strings.Contains(err.Error(), test.err) {
			t.Errorf("%s: %d accepted, %v", name, n, err)
		}
	}
}
