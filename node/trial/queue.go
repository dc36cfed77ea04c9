package trial

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"time"
)

// queue hands trials to workers, first those of the client whose trials took the least
// time lately, of equals in turn: who asks for many, or for long ones, waits for himself,
// and many such clients wait for one another. Of one client at most each are worked on at a time, so that a
// worker is left for others, and no more than a quarter of the room that others leave
// is held.
type queue struct {
	most, perClient, each int

	mu      sync.Mutex // guards all below
	came    *sync.Cond // a trial came, or a worker is free, or the bench ends
	waiting map[netip.Addr][]job
	turns   []netip.Addr // of clients with trials that wait, the next one first
	running map[netip.Addr]int
	held    map[netip.Addr]int // that wait or are worked on
	n       int                // of all clients
	took    map[netip.Addr]time.Duration
	all     time.Duration // that trials took since took was last halved
}

// tookKept is the work after which what clients took counts for half, and tookLeast what
// is forgotten then. They bound how many clients are remembered.
const (
	tookKept  = 20 * time.Second
	tookLeast = time.Millisecond
)

func newQueue(cfg *Config) *queue {
	q := &queue{
		most: cfg.Workers + cfg.Queue, perClient: cfg.PerClient, each: max(1, cfg.Workers-1),
		waiting: map[netip.Addr][]job{}, running: map[netip.Addr]int{}, held: map[netip.Addr]int{},
		took: map[netip.Addr]time.Duration{},
	}
	q.came = sync.NewCond(&q.mu)
	return q
}

// queuePart: of the room that others leave, a client may hold a part in so many.
const queuePart = 4

// put takes a trial in, false if there is no room for it.
func (q *queue) put(j job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	held := q.held[j.client]
	share := min(q.perClient, max(1, (q.most-q.n+held)/queuePart))
	if q.n >= q.most || j.client.IsValid() && held >= share {
		return false
	}
	if len(q.waiting[j.client]) == 0 {
		q.turns = append(q.turns, j.client)
	}
	q.waiting[j.client] = append(q.waiting[j.client], j)
	q.held[j.client]++
	q.n++
	q.came.Signal()
	return true
}

// dequeue waits for a trial, false when ctx has ended.
func (q *queue) dequeue(ctx context.Context) (job, bool) {
	defer context.AfterFunc(ctx, func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.came.Broadcast()
	})()
	q.mu.Lock()
	defer q.mu.Unlock()
	for ctx.Err() == nil {
		if i := q.nextClient(); i >= 0 {
			return q.startTrial(i), true
		}
		q.came.Wait()
	}
	return job{}, false
}

// nextClient finds whose turn it is, -1 if nobody's: of those with a place at the workers, the
// one whose trials took the least. The caller holds mu.
func (q *queue) nextClient() int {
	best := -1
	for i, client := range q.turns {
		if client.IsValid() && q.running[client] >= q.each {
			continue
		}
		if best < 0 || q.took[client] < q.took[q.turns[best]] {
			best = i
		}
	}
	return best
}

// startTrial takes the first trial of the client of a turn. The caller holds mu.
func (q *queue) startTrial(turn int) job {
	client := q.turns[turn]
	list := q.waiting[client]
	j := list[0]
	q.turns = slices.Delete(q.turns, turn, turn+1)
	if list = list[1:]; len(list) > 0 {
		q.waiting[client] = list
		q.turns = append(q.turns, client)
	} else {
		delete(q.waiting, client)
	}
	q.running[client]++
	return j
}

// done takes note that a trial has ended, and how long it took.
func (q *queue) done(client netip.Addr, took time.Duration) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, count := range []map[netip.Addr]int{q.running, q.held} {
		if count[client]--; count[client] == 0 {
			delete(count, client)
		}
	}
	q.n--
	q.took[client] += took
	if q.all += took; q.all >= tookKept {
		q.all = 0
		for c := range q.took {
			if q.took[c] /= 2; q.took[c] < tookLeast {
				delete(q.took, c)
			}
		}
	}
	q.came.Signal()
}
