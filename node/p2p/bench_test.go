package p2p

import (
	"fmt"
	"testing"
	"time"
)

// echo answers every vote with itself.
type echo struct {
	t    *Transport
	back chan struct{}
}

func (e *echo) Deliver(from int, class Class, msg []byte) error {
	switch {
	case class != Votes:
	case e.back != nil:
		e.back <- struct{}{}
	default:
		e.t.Send(from, Votes, msg)
	}
	return nil
}

func (e *echo) Transactions(_ int, bodies [][]byte) (int, error) { return len(bodies), nil }

// BenchmarkVoteRoundTrip sends a vote and waits for its echo, alone and while
// blocks fill the same connection.
func BenchmarkVoteRoundTrip(b *testing.B) {
	for _, load := range []int{0, 256 << 10} {
		b.Run(fmt.Sprintf("blockBytes=%d", load), func(b *testing.B) {
			receivers := []*echo{{back: make(chan struct{}, 1)}, {}}
			s := setup{testKeys(2), func(_ int, cfg *Config) {
				for class := range cfg.Limits {
					cfg.Limits[class].MessagesPerSecond, cfg.Limits[class].BytesPerSecond = 1e9, 1e12
				}
			}}
			nodes := pair(b, s, receivers[0], receivers[1])
			receivers[0].t, receivers[1].t = nodes[0], nodes[1]
			vote, block := make([]byte, 200), make([]byte, max(1, load))
			for b.Loop() {
				if load > 0 && nodes[0].members[1].queues[Blocks].len() < 4 {
					nodes[0].Send(1, Blocks, block)
				}
				nodes[0].Send(1, Votes, vote)
				<-receivers[0].back
			}
		})
	}
}

// counted counts transactions.
type counted struct{ ch chan int }

func (c *counted) Deliver(int, Class, []byte) error { return nil }
func (c *counted) Transactions(_ int, bodies [][]byte) (int, error) {
	c.ch <- len(bodies)
	return len(bodies), nil
}

// BenchmarkTransactions floods transactions of 256 bytes to one peer.
func BenchmarkTransactions(b *testing.B) {
	const per = 50 // what one submission may hold (resolution 11.12)
	got := &counted{make(chan int, 1<<16)}
	s := setup{testKeys(2), func(_ int, cfg *Config) {
		cfg.Limits[Transactions].MessagesPerSecond, cfg.Limits[Transactions].BytesPerSecond = 1e9, 1e12
	}}
	nodes := pair(b, s, &counted{make(chan int, 1<<16)}, got)
	arrived, sent := 0, 0
	for b.Loop() {
		bodies := make([][]byte, per)
		for i := range bodies {
			bodies[i] = make([]byte, 256)
			copy(bodies[i], fmt.Sprint(sent))
			sent++
		}
		nodes[0].Flood(-1, bodies)
		for sent-arrived > 20_000 {
			arrived += <-got.ch
		}
	}
	for arrived < sent {
		arrived += <-got.ch
	}
	b.ReportMetric(float64(arrived)/b.Elapsed().Seconds(), "txs/s")
}

// pair runs two connected transports.
func pair(b *testing.B, s setup, first, second Receiver) []*Transport {
	var out []*Transport
	receivers := []Receiver{first, second}
	for i := range 2 {
		cfg := s.config(i)
		if i == 1 {
			cfg.Addresses[out[0].selfKey] = out[0].Addr()
		}
		tr, err := New(cfg)
		if err != nil {
			b.Fatal(err)
		}
		if err := tr.Listen(); err != nil {
			b.Fatal(err)
		}
		done := make(chan struct{})
		go func() { defer close(done); _ = tr.Run(b.Context(), receivers[i]) }()
		b.Cleanup(func() { <-done; tr.Close() })
		out = append(out, tr)
	}
	for {
		l, _ := out[0].members[1].current()
		m, _ := out[1].members[0].current()
		if l != nil && m != nil {
			return out
		}
		time.Sleep(time.Millisecond)
	}
}
