package soak

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// board lists the API of the nodes, as a client has it: one that was killed is on it with
// the address that it had. Any number of callers may ask; the operator changes addresses.
type board struct {
	mu      sync.Mutex
	urls    []string
	asked   int    // the one that is asked
	reached uint64 // its height, as far as is known
}

// set notes where node i answers, which may be the next one.
func (b *board) set(i int, url string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i == len(b.urls) {
		b.urls = append(b.urls, "")
	}
	b.urls[i] = url
}

// url is that of node i, or of a later one where there are fewer.
func (b *board) url(i int) string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.urls[i%len(b.urls)]
}

func (b *board) current() (i int, url string, reached uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.asked, b.urls[b.asked], b.reached
}

// turn asks another node from now on, unless somebody has turned from i already.
func (b *board) turn(i int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.asked == i {
		b.asked, b.reached = (i+1)%len(b.urls), 0
	}
}

// note keeps the height of node i.
func (b *board) note(i int, h uint64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.asked == i {
		b.reached = max(b.reached, h)
	}
}

// nodePatience is how long a node may be below a height before another is asked.
const nodePatience = 2 * time.Second

// at waits for a node that has a height.
func (b *board) at(ctx context.Context, h uint64) (i int, url string, err error) {
	for began := time.Now(); ; _ = sleepCtx(ctx, 40*time.Millisecond) {
		i, url, reached := b.current()
		if reached >= h {
			return i, url, nil
		}
		var head rpc.HeightReply
		_, err := get(ctx, url+"/height", &head)
		switch {
		case ctx.Err() != nil:
			return 0, "", fmt.Errorf("no node at height %d: %w", h, context.Cause(ctx))
		case err == nil && head.Height >= h:
			b.note(i, head.Height)
			return i, url, nil
		case err != nil || time.Since(began) > nodePatience:
			b.turn(i)
			began = time.Now()
		}
	}
}

// ask gets an answer of a node that has a height; ok is false for 404.
func (b *board) ask(ctx context.Context, h uint64, path string, into any) (ok bool, err error) {
	for {
		i, url, err := b.at(ctx, h)
		if err != nil {
			return false, err
		}
		ok, err := get(ctx, url+path, into)
		if err == nil {
			return ok, nil
		}
		if ctx.Err() != nil {
			return false, fmt.Errorf("%s: %w", path, context.Cause(ctx))
		}
		b.turn(i)
	}
}

// askedAtOnce bounds the requests of one client.
const askedAtOnce = 6

// side does n things side by side and returns the first error.
func side(n int, do func(i int) error) error {
	var all sync.WaitGroup
	var once sync.Once
	var first error
	slots := make(chan struct{}, askedAtOnce)
	for i := range n {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			if err := do(i); err != nil {
				once.Do(func() { first = err })
			}
		})
	}
	all.Wait()
	return first
}
