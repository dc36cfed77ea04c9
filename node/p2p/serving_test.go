package p2p

import (
	"context"
	"io"
	"sync/atomic"
	"testing"
	"time"
)

// TestReadsForGuestsHaveABudget: sixteen hostile full nodes ask for small blocks as fast
// as they can. What is read for them stays within the budget of each and of all, however
// little is sent; what waits for it stays with them; a member pays nothing.
func TestReadsForGuestsHaveABudget(t *testing.T) {
	const guests, each, all = 16, 1 << 20, 4 << 20 // bytes per second
	const blocks, blockBytes = 64, 200
	nodes, cfg := honestAnd(t, func(_ int, cfg *Config) {
		cfg.FullNodesMax, cfg.FullNodesPerNetwork = 2*guests, 2*guests
		cfg.FullNodeBytesPerSecond, cfg.FullNodesBytesPerSecond = each, all
	})
	target := nodes[0]
	var of [guests]atomic.Int64
	var members atomic.Int64
	target.sink.judge = func(from int, class Class, _ []byte) error {
		switch {
		case class != Fetch && class != State:
		case from < 4:
			members.Add(1)
			target.Served(from, blocks, blocks*blockBytes, 1)
		default:
			of[from-4].Add(1)
			target.Served(from, blocks, blocks*blockBytes, 1)
		}
		return nil
	}
	for i := range guests {
		cfg := cfg
		cfg.Key = strangerKey(t, i)
		a, err := attack(t, cfg, target)
		if err != nil {
			t.Fatal(err)
		}
		a.greet()
		go func() {
			for {
				s, err := a.conn.AcceptUniStream(context.Background())
				if err != nil {
					return
				}
				go func() { _, _ = io.Copy(io.Discard, s) }()
			}
		}()
		for _, class := range []Class{Fetch, State} {
			go func() {
				s, err := a.conn.OpenUniStream()
				for first := []byte{byte(class)}; err == nil; first = nil {
					_, err = s.Write(appendFrame(first, []byte("all you have")))
				}
			}()
		}
	}
	eventually(t, "all have asked", func() bool {
		for i := range of {
			if of[i].Load() == 0 {
				return false
			}
		}
		return true
	})
	time.Sleep(2 * time.Second) // what may be had at once is over
	count := func() (out [guests]int64, sum int64) {
		for i := range of {
			out[i] = of[i].Load()
			sum += out[i]
		}
		return out, sum
	}
	before, total := count()
	began := time.Now()
	for i := 0; time.Since(began) < 4*time.Second; i++ {
		asked := members.Load()
		nodes[1].Send(0, Fetch, []byte("what a member wants"))
		eventually(t, "a member is answered", func() bool { return members.Load() > asked })
	}
	after, sum := count()
	spent := time.Since(began).Seconds()
	const cost = blocks * readBytesMin
	if got, most := sum-total, int64(spent*all/cost)+guests; got > most || got < most/4 {
		t.Errorf("%d requests were read in %.1f s, want about %d", got, spent, most)
	}
	for i := range after {
		if got, most := after[i]-before[i], int64(spent*each/cost)+3; got > most {
			t.Errorf("%d requests of guest %d were read, want at most %d", got, i, most)
		}
	}
	bytes, waits := target.FullNodeReads()
	_, later := count()
	if bytes < uint64(sum-guests)*cost || bytes > uint64(later)*cost || waits == 0 {
		t.Errorf("%d bytes were billed for %d requests, want %d each; %d requests waited", bytes, sum, cost, waits)
	}
	honest(t, nodes)
}

// TestWhatIsDearForOneIsPaidByOne: a full node that asks for the same again pays thirty-two
// times over, and nobody else waits for it. Before, three such answers took the budget of
// all for a minute, and a full node that followed the chain fell behind by twenty blocks.
func TestWhatIsDearForOneIsPaidByOne(t *testing.T) {
	const each, all = 512 << 10, 1536 << 10 // bytes per second
	now := time.Unix(1, 0)
	s := serving{all: newBucket(all, all, now)}
	again, fair := newAccount(each, now), newAccount(each, now)
	ask := func(a *account, times float64) time.Duration {
		cost, wait := s.reserve(a, now)
		wait += s.line(cost, now)
		s.bill(a, 64*readBytesMin, times, now)
		return wait
	}
	for range 3 {
		now = now.Add(64 * time.Second) // until its own budget has paid
		ask(&again, 32)
	}
	now = now.Add(2 * time.Second)
	if wait := ask(&fair, 1); wait > 0 {
		t.Errorf("a guest that asked for nothing yet waits %v for another", wait)
	}
	if wait := ask(&again, 1); wait < 55*time.Second {
		t.Errorf("who asked for the same again waits %v, want a minute", wait)
	}
}
