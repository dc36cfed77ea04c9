package engine

import (
	"bytes"
	"context"
	"encoding/binary"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/hashed"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

var (
	traceSeeds = flag.Uint64("trace-seeds", 2, "seeds that TestTraceIsTheSame plays")
	traceTo    = flag.String("trace-to", "", "folder that takes a file for each seed: what left, when, and what was kept and counted")
)

// TestTraceIsTheSame plays four engines twice by the same seed, over links that delay,
// lose and garble, with a restart, a cut and a full node that asks: what leaves, to the
// byte and to the nanosecond of virtual time, what the journals hold and what was counted
// is the same. With -trace-to the traces of two versions can be held against each other:
// a change that is to alter nothing alters no file.
func TestTraceIsTheSame(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // what is ready at one time runs in one order
	for seed := uint64(1); seed <= *traceSeeds; seed++ {
		first := tracedRun(t, seed)
		if *traceTo != "" {
			name := filepath.Join(*traceTo, fmt.Sprintf("seed-%d.trace", seed))
			if err := os.WriteFile(name, first, 0o600); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if len(first) < 50_000 {
			t.Errorf("seed %d: a trace of %d bytes says little", seed, len(first))
		}
		if second := tracedRun(t, seed); !bytes.Equal(first, second) {
			a, b := bytes.Split(first, []byte("\n")), bytes.Split(second, []byte("\n"))
			for i := range min(len(a), len(b)) {
				if !bytes.Equal(a[i], b[i]) {
					t.Errorf("seed %d, line %d: %q, and then %q", seed, i, a[i], b[i])
					break
				}
			}
		}
	}
}

// traced is the network of a traced run, and what left it.
type traced struct {
	seed    uint64
	began   time.Time
	mu      sync.Mutex
	out     [4]bytes.Buffer // by engine: those of one instant have no order among each other
	engines [4]*Engine
	counts  [5][5]uint64    // messages on each link
	last    [5][5]time.Time // arrivals on each link
	cut     [5]bool
}

// draw is a number that a seed gives to what is named by the rest.
func (w *traced) draw(what ...any) uint64 {
	sum := keccak.Sum256([]byte(fmt.Sprint(append([]any{w.seed}, what...)...)))
	return binary.BigEndian.Uint64(sum[:])
}

// pace is how long something takes: in one run of five so little that who was away has
// hundreds of blocks to catch up with.
func (w *traced) pace(d time.Duration) time.Duration {
	if w.seed%5 == 4 {
		return d / 40
	}
	return d
}

type tracedPort struct {
	w    *traced
	self beacon.Participant
}

func (p tracedPort) Broadcast(msg []byte) {
	for to := range beacon.Participant(4) {
		if to != p.self {
			p.Send(to, msg)
		}
	}
}

func (p tracedPort) ForgetVotes() { p.w.note(int(p.self), "forgets votes") }

// Send notes a message and delivers it later, in its turn, unless it is lost. What
// validator 1 says is garbled now and then.
func (p tracedPort) Send(to beacon.Participant, msg []byte) {
	w, from, at := p.w, int(p.self), min(int(to), 4)
	sum := keccak.Sum256(msg)
	w.note(from, "to %d %c %d %x", to, msg[0], len(msg), sum[:6])
	w.mu.Lock()
	defer w.mu.Unlock()
	w.counts[from][at]++
	n := w.draw(from, at, w.counts[from][at])
	if w.cut[from] || w.cut[at] || n%50 == 0 || at == 4 {
		return
	}
	if from == 1 && n/50%40 == 0 {
		msg = bytes.Clone(msg)
		msg[n>>20%uint64(len(msg))] ^= 1 << (n >> 50 % 8)
	}
	arrives := time.Now().Add(w.pace(time.Millisecond + time.Duration(n>>8%60_000_000)))
	if before := w.last[from][at]; !arrives.After(before) {
		arrives = before.Add(time.Duration(1 + n>>16%1000))
	}
	w.last[from][at] = arrives
	time.AfterFunc(time.Until(arrives), func() {
		w.mu.Lock()
		e := w.engines[at]
		w.mu.Unlock()
		if e != nil {
			_ = e.Deliver(p.self, msg)
		}
	})
}

func (w *traced) note(who int, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	fmt.Fprintf(&w.out[who], "%d %d ", who, time.Since(w.began))
	fmt.Fprintf(&w.out[who], format+"\n", args...)
}

// tracedApp takes some time for all that it does, and hands out previews.
type tracedApp struct {
	*chainApp
	w    *traced
	self int
}

func (a *tracedApp) work(what string, by any) {
	time.Sleep(a.w.pace(time.Duration(100_000 + a.w.draw(a.self, what, by)%20_000_000)))
}

func (a *tracedApp) Propose(ctx context.Context, req ProposeRequest) (Proposed, error) {
	a.work("preview", req.Round)
	req.Preview([]byte(fmt.Sprint("preview of ", req.Round.View)))
	return a.chainApp.Propose(ctx, req)
}

func (a *tracedApp) Prepare(ctx context.Context, req PrepareRequest) error {
	a.w.note(a.self, "prepares %d %s", req.Round.View, req.Preview)
	a.work("prepare", req.Round)
	return nil
}

func (a *tracedApp) Fits(digest chain.Hash, block []byte) (bool, error) {
	a.work("fits", digest)
	return a.chainApp.Fits(digest, block)
}

func (a *tracedApp) Verify(ctx context.Context, req VerifyRequest) (bool, error) {
	a.work("verify", req.Digest)
	if a.w.draw(a.self, "early", req.Digest)%16 == 0 {
		return false, ErrEarly
	}
	return a.chainApp.Recover(ctx, req)
}

func (a *tracedApp) Recover(ctx context.Context, req VerifyRequest) (bool, error) {
	a.work("recover", req.Digest)
	return a.chainApp.Recover(ctx, req)
}

func (a *tracedApp) Final(ctx context.Context, v chain.View, limit, bytesMax int) ([]ArchivedBlock, error) {
	a.work("archive", v)
	return a.chainApp.Final(ctx, v, limit, bytesMax)
}

func (a *tracedApp) Finalized(ctx context.Context, f Finalization) error {
	a.work("finalize", f.Digest)
	err := a.chainApp.Finalized(ctx, f)
	a.w.note(a.self, "final %d %x", f.Round.View, f.Digest[:4])
	return err
}

// seededReader is randomness of a seed.
type seededReader struct {
	mu   sync.Mutex
	from *rand.ChaCha8
}

func (r *seededReader) Read(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.from.Read(p)
}

var _ io.Reader = (*seededReader)(nil)

// tracedRun returns what four engines did in half a minute.
func tracedRun(t *testing.T, seed uint64) []byte {
	t.Helper()
	set, shares, g := dealt(t)
	var w *traced
	synctest.Test(t, func(t *testing.T) {
		w = &traced{seed: seed, began: time.Now()}
		var apps [4]*tracedApp
		var journals [4]*diskJournal
		var guards [4]*memory
		for i := range apps {
			apps[i] = &tracedApp{newChainApp(t, g.Hash()), w, i}
			apps[i].blockTime = w.pace(150 * time.Millisecond)
			journals[i], guards[i] = new(diskJournal), new(memory)
		}
		lives := uint64(0)
		start := func(i int) (stop func() error) {
			lives++
			cfg := testConfig(t, set, shares[i], g.Hash())
			cfg.Weights = &seededReader{from: rand.NewChaCha8([32]byte{byte(seed), byte(i), byte(lives)})}
			cfg.Checks = func(keys *simplex.Threshold) simplex.Verifier {
				return hashed.Scheme{Self: beacon.Participant(i), Quorum: set.Quorum(), Voice: keys}
			}
			cfg.Guard, cfg.Archive, cfg.LastFinalized = guards[i], apps[i], apps[i].floor
			// No two waits end at one time: which is first would be left to the runtime.
			cfg.BlockPeerFor, cfg.FetchTimeout, cfg.SkipAfter = 2*time.Second, 300_001_616*time.Nanosecond, 4
			cfg.LeaderTimeout, cfg.CertificationTimeout, cfg.RetryInterval = 600_000_217*time.Nanosecond, 900_000_419*time.Nanosecond, 700_000_823*time.Nanosecond
			cfg.PruneBytes, cfg.AgainBytes = 20_000, 1000
			if seed%3 != 0 {
				cfg.Watch = Watch{Instance: seed<<8 + lives<<3 + uint64(i) + 1, Listen: 200_003_001, Longest: 1_000_007_003, Every: 110_000_111, Again: 905_000_333}
			}
			if seed%2 == 0 {
				apps[i].code = shardConfig(t, &cfg)
			}
			if seed%4 < 2 {
				cfg.Timing = func() Timing {
					return Timing{cfg.LeaderTimeout, cfg.CertificationTimeout, cfg.RetryInterval}
				}
			}
			e, err := New(cfg, apps[i], tracedPort{w, beacon.Participant(i)}, journals[i])
			if err != nil {
				t.Fatal(err)
			}
			w.mu.Lock()
			w.engines[i] = e
			w.mu.Unlock()
			stop, _ = run(t, e)
			return stop
		}
		var stops [4]func() error
		stopped := func(i int) {
			err := stops[i]()
			w.note(i, "ended: %v %s", err, counted(&w.engines[i].Stats))
			w.mu.Lock()
			w.engines[i] = nil
			w.mu.Unlock()
		}
		for i := range stops {
			stops[i] = start(i)
			time.Sleep(time.Duration(w.draw("start", i) % 90_000_000))
		}
		var old *diskJournal
		var mark simplex.Watermark
		for at := range 40 {
			time.Sleep(700*time.Millisecond + time.Duration(w.draw("pace", at)%1_000_000))
			switch at {
			case 3:
				synctest.Wait() // nobody writes to what is copied
				old, mark = journals[3].crash(), guards[3].mark
			case 4:
				stopped(3)
			case 12:
				journals[3] = journals[3].crash()
				if seed%7 == 3 { // its folder comes out of a backup
					journals[3], guards[3].mark = old, mark
				}
				apps[3].restart()
				stops[3] = start(3)
			case 18, 24:
				w.mu.Lock()
				w.cut[2] = at == 18
				w.mu.Unlock()
				for i := range 3 {
					to, other := w.engines[[]int{0, 1, 3}[i]], beacon.Participant([]int{0, 1, 3}[i])
					if at == 18 {
						to.Unlinked(2)
						w.engines[2].Unlinked(other)
					} else {
						to.Linked(2)
						w.engines[2].Linked(other)
					}
					time.Sleep(time.Millisecond)
				}
			}
			for i, e := range w.engines {
				if n := w.draw("asks", at, i); e != nil && n%2 == 0 {
					_ = e.Deliver(beacon.Participant(2+n>>8%4), wire.Append(nil, wire.Request{Round: beacon.Round{View: chain.View(n >> 16 % 100)}}))
					time.Sleep(7 * time.Microsecond)
				}
			}
		}
		for i := range stops {
			stopped(i)
			for _, rec := range append(journals[i].durable, journals[i].buffered...) {
				sum := keccak.Sum256(rec)
				w.note(i, "journal %c %x", rec[0], sum[:6])
			}
			w.note(i, "guard %v", guards[i].mark)
		}
	})
	var all []byte
	for i := range w.out {
		all = append(all, w.out[i].Bytes()...)
	}
	return all
}

// counted returns all counters, but those of wall time.
func counted(s *Stats) string {
	var b bytes.Buffer
	var walk func(name string, v reflect.Value)
	walk = func(name string, v reflect.Value) {
		switch x := v.Addr().Interface().(type) {
		case *atomic.Uint64:
			fmt.Fprintf(&b, " %s=%d", name, x.Load())
			return
		case *atomic.Int64:
			fmt.Fprintf(&b, " %s=%d", name, x.Load())
			return
		case *[NumStages]Durations, *atomic.Bool, *atomic.Pointer[string]:
			return
		}
		switch v.Kind() {
		case reflect.Struct:
			for i := range v.NumField() {
				walk(name+"."+v.Type().Field(i).Name, v.Field(i))
			}
		case reflect.Slice, reflect.Array:
			for i := range v.Len() {
				walk(fmt.Sprint(name, i), v.Index(i))
			}
		}
	}
	walk("", reflect.ValueOf(s).Elem())
	return b.String()
}
