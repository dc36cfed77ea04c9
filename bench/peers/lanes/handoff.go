package main

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/lanes/ring"
)

const (
	handOffs      = 1 << 20
	handOffBatch  = 64    // what one submission of a busy peer brings to a worker
	handOffRoom   = 8_192 // items under way
	handOffDrains = 16    // batches that the consumer takes at once
)

// handOffBars race transactions from several producers to one consumer, each
// looked at on arrival. Ours passes them as our stages do, a submission at a
// time through a ring whose consumer parks at a bell; the peer is what a Go
// program does first, a buffered channel of the items.
func handOffBars() []bars.Bar {
	var list []bars.Bar
	for _, producers := range []int{1, 2, 4} {
		list = append(list, bars.Bar{
			Name: fmt.Sprintf("hand-off-%d-producers", producers), Peer: "buffered channel of single items",
			Must: 1, Aim: 2, Ops: handOffs, Iterations: 1,
			Setup: func() (bars.Contest, error) {
				items := make([][]byte, handOffs)
				body := make([]byte, 1)
				for i := range items {
					items[i] = body
				}
				return bars.Contest{
					Ours: bars.Side{Run: func(int) error { return throughRing(items, producers) }},
					Peer: bars.Side{Run: func(int) error { return throughChannel(items, producers) }},
				}, nil
			},
		})
	}
	return list
}

func throughRing(items [][]byte, producers int) error {
	queue, bell := ring.New[[][]byte](handOffRoom/handOffBatch), ring.NewBell()
	var running sync.WaitGroup
	each := len(items) / producers
	for p := range producers {
		running.Go(func() {
			mine := items[p*each : (p+1)*each]
			for at := 0; at < len(mine); at += handOffBatch {
				for !queue.Push(mine[at : at+handOffBatch]) {
					runtime.Gosched()
				}
				bell.Ring()
			}
		})
	}
	seen := 0
	var got [][][]byte
	for seen < len(items) {
		if got = queue.Drain(got[:0], handOffDrains); len(got) == 0 {
			bell.Wait(context.Background(), nil, queue.Empty)
		}
		for _, batch := range got {
			for _, item := range batch {
				seen += len(item)
			}
		}
	}
	running.Wait()
	return nil
}

func throughChannel(items [][]byte, producers int) error {
	queue := make(chan []byte, handOffRoom)
	var running sync.WaitGroup
	each := len(items) / producers
	for p := range producers {
		running.Go(func() {
			for _, item := range items[p*each : (p+1)*each] {
				queue <- item
			}
		})
	}
	for seen := 0; seen < len(items); {
		seen += len(<-queue)
	}
	running.Wait()
	return nil
}
