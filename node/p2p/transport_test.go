package p2p

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/ed25519"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const testBlockBytes = 1 << 20

// testKey is the identity of node i; keys ascend with i.
func testKeys(n int) []*ed25519.PrivateKey {
	keys := make([]*ed25519.PrivateKey, n)
	for i := range keys {
		keys[i], _ = ed25519.NewPrivateKey(append(make([]byte, 31), byte(i+1)))
	}
	slices.SortFunc(keys, func(a, b *ed25519.PrivateKey) int {
		x, y := a.PublicKey(), b.PublicKey()
		return slices.Compare(x[:], y[:])
	})
	return keys
}

func committeeOf(keys []*ed25519.PrivateKey) []chain.PeerKey {
	out := make([]chain.PeerKey, len(keys))
	for i, k := range keys {
		out[i] = k.PublicKey()
	}
	return out
}

// sink is a receiver that remembers.
type sink struct {
	mu     sync.Mutex
	got    [NumClasses]map[int][]string // by class and sender
	bodies [][]byte
	busy   int // answers ErrBusy so often
	judge  func(from int, class Class, msg []byte) error
}

func (s *sink) Deliver(from int, class Class, msg []byte) error {
	s.mu.Lock()
	judge := s.judge
	s.mu.Unlock()
	if judge != nil {
		if err := judge(from, class, msg); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy > 0 {
		s.busy--
		return ErrBusy
	}
	if s.got[class] == nil {
		s.got[class] = map[int][]string{}
	}
	s.got[class][from] = append(s.got[class][from], string(msg))
	return nil
}

func (s *sink) Transactions(from int, bodies [][]byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.busy > 0 {
		s.busy--
		bodies = bodies[:min(len(bodies), s.busy%4)] // nothing, or a few
		s.bodies = append(s.bodies, bodies...)
		return len(bodies), ErrBusy
	}
	s.bodies = append(s.bodies, bodies...)
	return len(bodies), nil
}

func (s *sink) count(class Class, from int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.got[class][from])
}

// node is a transport that runs with the test.
type node struct {
	*Transport
	sink *sink
	stop func()
	dead bool // its socket was taken away
}

type setup struct {
	keys   []*ed25519.PrivateKey
	change func(i int, cfg *Config)
}

func (s setup) config(i int) Config {
	cfg := DefaultConfig(testBlockBytes)
	cfg.Genesis = chain.Hash{7}
	cfg.Key, cfg.Committee = s.keys[i], committeeOf(s.keys)
	cfg.ListenAddr = "127.0.0.1:0"
	cfg.Addresses = map[chain.PeerKey]string{}
	cfg.RedialMin, cfg.RedialMax = 20*time.Millisecond, 200*time.Millisecond
	cfg.HandshakeTimeout = patience
	cfg.HandshakesBurst, cfg.StrangersPerSecond = 1<<20, 1<<20 // one address plays everybody
	cfg.FullNodesPerNetwork = cfg.FullNodesMax
	if os.Getenv("P2P_LOG") != "" {
		cfg.Log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug})).With("node", i)
	}
	if s.change != nil {
		s.change(i, &cfg)
	}
	return cfg
}

// launch listens and runs; seeds are nodes that the new one knows.
func launch(t *testing.T, cfg Config, seeds ...*node) *node {
	t.Helper()
	for _, other := range seeds {
		cfg.Addresses[other.selfKey] = other.Addr()
	}
	tr, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.Listen(); err != nil {
		t.Fatal(err)
	}
	n := &node{Transport: tr, sink: &sink{}}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- tr.Run(ctx, n.sink) }()
	var once sync.Once
	n.stop = func() {
		once.Do(func() {
			cancel()
			err := <-done
			if closed := tr.Close(); n.dead {
				return
			} else if err != context.Canceled || closed != nil {
				t.Errorf("run: %v, close: %v", err, closed)
			}
		})
	}
	t.Cleanup(n.stop)
	return n
}

// meshOf starts n members, each of which knows those before it.
func meshOf(t *testing.T, n int, change func(i int, cfg *Config)) []*node {
	t.Helper()
	s := setup{testKeys(n), change}
	var nodes []*node
	for i := range n {
		nodes = append(nodes, launch(t, s.config(i), nodes...))
	}
	for _, n := range nodes {
		eventually(t, "mesh is complete", func() bool { return n.connectedTo() == len(nodes)-1 })
	}
	return nodes
}

func (n *node) connectedTo() int {
	sum := 0
	for _, p := range n.Peers() {
		if p.Connected && p.Member {
			sum++
		}
	}
	return sum
}

// patience is how long a test waits for what must come: a loaded machine is slow.
const patience = time.Minute

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		if ok() {
			return
		}
	}
	t.Fatalf("not in %v: %s", patience, what)
}

func TestEveryMessageArrivesInOrder(t *testing.T) {
	nodes := meshOf(t, 4, nil)
	const each = 100
	big := make([]byte, testBlockBytes)
	for i, n := range nodes {
		for k := range each {
			n.Broadcast(Votes, fmt.Appendf(nil, "vote %d of %d", k, i))
			n.Broadcast(Certificates, fmt.Appendf(nil, "certificate %d of %d", k, i))
		}
		n.Broadcast(Blocks, append(big, byte(i)))
		for to := range nodes {
			n.Send(to, Fetch, fmt.Appendf(nil, "from %d to %d", i, to))
		}
	}
	for i, n := range nodes {
		for from := range nodes {
			if from == i {
				continue
			}
			eventually(t, "all arrives", func() bool {
				return n.sink.count(Votes, from) == each && n.sink.count(Certificates, from) == each &&
					n.sink.count(Blocks, from) == 1 && n.sink.count(Fetch, from) == 1
			})
			for k, got := range n.sink.got[Votes][from] {
				if want := fmt.Sprintf("vote %d of %d", k, from); got != want {
					t.Fatalf("node %d: vote %d is %q, want %q", i, k, got, want)
				}
			}
			if got, want := n.sink.got[Fetch][from][0], fmt.Sprintf("from %d to %d", from, i); got != want {
				t.Errorf("node %d got %q, want %q", i, got, want)
			}
		}
	}
}
