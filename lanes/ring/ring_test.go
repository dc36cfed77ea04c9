package ring

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// TestRingMatchesASlice drives a ring and a slice with the same random
// operations, over many laps.
func TestRingMatchesASlice(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 4))
			r := New[*int](1 + rng.IntN(20))
			var want []*int
			for range 20_000 {
				switch rng.IntN(5) {
				case 0, 1, 2:
					v := new(int)
					ok := r.Push(v)
					if ok != (len(want) < r.Room()) {
						t.Fatalf("push into %d of %d: %v", len(want), r.Room(), ok)
					}
					if ok {
						want = append(want, v)
					}
				case 3:
					v, ok := r.Pop()
					if ok != (len(want) > 0) || ok && v != want[0] {
						t.Fatalf("pop of %d: %v", len(want), ok)
					}
					if ok {
						want = want[1:]
					}
				case 4:
					n := rng.IntN(6)
					got := r.Drain(nil, n)
					if len(got) != min(n, len(want)) {
						t.Fatalf("drained %d of %d, limit %d", len(got), len(want), n)
					}
					for i := range got {
						if got[i] != want[i] {
							t.Fatalf("drained another value at %d", i)
						}
					}
					want = want[len(got):]
				}
				if r.Empty() != (len(want) == 0) {
					t.Fatalf("empty = %v with %d", r.Empty(), len(want))
				}
			}
			for range r.places {
				r.Pop()
			}
			for i := range r.places {
				if r.places[i].value != nil {
					t.Fatal("an empty ring holds on to a value")
				}
			}
		})
	}
}

// stamped is a value with the times at which its push began and ended.
type stamped struct{ producer, number, call, back uint64 }

// TestRingIsAQueueOfManyProducers: nothing is lost or doubled, and a push that
// ended before another began comes out first. The consumer parks whenever it
// finds nothing: a lost wake-up would hang the test.
func TestRingIsAQueueOfManyProducers(t *testing.T) {
	const producers, each = 4, 20_000
	for _, room := range []int{2, 64, 4_096} {
		t.Run(fmt.Sprintf("room=%d", room), func(t *testing.T) {
			r, bell := New[*stamped](room), NewBell()
			var clock atomic.Uint64
			var all sync.WaitGroup
			for p := range uint64(producers) {
				all.Go(func() {
					for n := range uint64(each) {
						v := &stamped{producer: p, number: n, call: clock.Add(1)}
						for !r.Push(v) {
							runtime.Gosched()
						}
						atomic.StoreUint64(&v.back, clock.Add(1))
						bell.Ring()
					}
				})
			}
			var out []*stamped
			var next [producers]uint64
			for len(out) < producers*each {
				before := len(out)
				out = r.Drain(out, 100)
				if len(out) == before {
					bell.Wait(t.Context(), nil, r.Empty)
				}
			}
			all.Wait()
			var latestCall uint64
			for i, v := range out {
				if v.number != next[v.producer] {
					t.Fatalf("place %d: producer %d's value %d, want %d", i, v.producer, v.number, next[v.producer])
				}
				next[v.producer]++
				if back := atomic.LoadUint64(&v.back); back < latestCall {
					t.Fatalf("place %d: push %d-%d comes after one that began at %d", i, v.call, back, latestCall)
				}
				latestCall = max(latestCall, v.call)
			}
		})
	}
}

// TestBellReportsTheAlarm: an alarm that was taken does not fire again, so it is
// reported even if the bell rings at the same moment. A batch would else wait for
// a submission that its own submitters hold back.
func TestBellReportsTheAlarm(t *testing.T) {
	b := NewBell()
	met := map[bool]int{}
	for range 1_000 {
		alarm := make(chan time.Time, 1)
		alarm <- time.Time{}
		rang := b.Wait(t.Context(), alarm, func() bool { b.Ring(); return true })
		if taken := len(alarm) == 0; rang == taken {
			t.Fatalf("alarm taken: %v, reported as rung: %v", taken, rang)
		}
		met[rang]++
	}
	if met[true] == 0 || met[false] == 0 {
		t.Errorf("met %v: want both", met)
	}
}

func TestBellWakesForEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBell()
		idle := func() bool { return true }
		if b.Wait(t.Context(), nil, func() bool { return false }) != true {
			t.Error("work that came while parking was not seen")
		}
		go func() {
			time.Sleep(time.Second)
			b.Ring()
			b.Ring() // nobody is parked any more
		}()
		begin := time.Now()
		if !b.Wait(t.Context(), time.After(time.Minute), idle) || time.Since(begin) != time.Second {
			t.Errorf("woke after %v, want the ring after a second", time.Since(begin))
		}
		if b.Wait(t.Context(), time.After(time.Minute), idle) || time.Since(begin) != 61*time.Second {
			t.Errorf("woke after %v, want the alarm, not the ring that came while nobody waited", time.Since(begin))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if b.Wait(ctx, nil, idle) {
			t.Error("the end of the context passed for a ring")
		}
		if len(b.wake) != 0 || b.parked.Load() {
			t.Error("a token or a sleeper was left behind")
		}
	})
}

func BenchmarkRing(b *testing.B) {
	for _, producers := range []int{1, 2, 4} {
		for _, batch := range []int{1, 50} {
			b.Run(fmt.Sprintf("producers=%d/batch=%d", producers, batch), func(b *testing.B) {
				r, bell := New[[]int](8_192), NewBell()
				values := make([]int, batch)
				var all sync.WaitGroup
				for range producers {
					all.Go(func() {
						for range b.N / batch / producers {
							for !r.Push(values) {
								runtime.Gosched()
							}
							bell.Ring()
						}
					})
				}
				var got [][]int
				for n := 0; n < b.N/batch/producers*producers; n += len(got) {
					if got = r.Drain(got[:0], 64); len(got) == 0 {
						bell.Wait(b.Context(), nil, r.Empty)
					}
				}
				all.Wait()
			})
		}
	}
}

func BenchmarkChannel(b *testing.B) {
	for _, producers := range []int{1, 2, 4} {
		b.Run(fmt.Sprintf("producers=%d", producers), func(b *testing.B) {
			c := make(chan []int, 8_192)
			values := make([]int, 1)
			var all sync.WaitGroup
			for range producers {
				all.Go(func() {
					for range b.N / producers {
						c <- values
					}
				})
			}
			for range b.N / producers * producers {
				<-c
			}
			all.Wait()
		})
	}
}
