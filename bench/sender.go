package bench

import (
	"context"
	"errors"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// sender owns one connection and the accounts on it. It has one request
// outstanding at a time: a slot that comes due meanwhile waits, and the wait is
// part of the latency of its transfers.
type sender struct {
	cfg    *LoadConfig
	node   *nodeClient
	tally  *tally
	slots  chan time.Duration // when a request is due; from the pacer
	ack    *hdrhistogram.Histogram
	stream []int32 // transfers not sent yet, in order
	again  []int32 // transfers to send once more, before the stream
	broken map[int32]bool
	batch  []int32 // scratch
	body   []byte  // scratch
}

func newSender(cfg *LoadConfig, t *tally, stream []int32) *sender {
	return &sender{
		cfg: cfg, node: newNodeClient(cfg.RPC, cfg.RequestTimeout), tally: t,
		// Room for every slot that may be unanswered: the pacer never waits.
		slots:  make(chan time.Duration, cfg.MaxInFlight/cfg.Batch+1),
		ack:    newHistogram(),
		stream: stream, broken: map[int32]bool{},
	}
}

// run sends until slots is closed.
func (s *sender) run(ctx context.Context) {
	defer s.node.close()
	for due := range s.slots {
		if ctx.Err() == nil {
			s.fillSlot(ctx, due)
		}
		s.tally.inFlight.Add(-int64(s.cfg.Batch))
	}
}

// drawTransfers moves the next transfers into batch. An account that can go no further
// is passed over.
func (s *sender) drawTransfers() {
	s.batch = s.batch[:0]
	for len(s.batch) < s.cfg.Batch && len(s.again)+len(s.stream) > 0 {
		from := &s.again
		if len(*from) == 0 {
			from = &s.stream
		}
		i := (*from)[0]
		*from = (*from)[1:]
		if !s.broken[s.tally.plan.sender[i]] {
			s.batch = append(s.batch, i)
		}
	}
}

// fillSlot fills one slot of the schedule with the next transfers.
func (s *sender) fillSlot(ctx context.Context, due time.Duration) {
	if s.drawTransfers(); len(s.batch) == 0 {
		return // every account here is broken or done
	}
	s.body = s.body[:0]
	for _, i := range s.batch {
		s.body = append(s.body, s.tally.plan.txs[i].wire...)
		s.tally.due[i].Store(int64(due))
		s.tally.heads[i].Store(s.tally.head.Load())
		s.tally.fates[i].Store(fateInFlight)
	}
	n := int64(len(s.batch))
	s.tally.sent.Add(n)
	if time.Since(s.tally.start)-due > s.cfg.LateAfter {
		s.tally.late.Add(n)
	}
	results, err := s.node.submit(ctx, s.body)
	took := time.Since(s.tally.start) - due
	var r *refusal
	switch {
	case errors.As(err, &r):
		results = results[:0]
		for range s.batch {
			results = append(results, rpc.Verdict{Code: r.Code, Message: r.Message})
		}
	case err != nil || len(results) != len(s.batch):
		s.unanswered()
		return
	}
	for range s.batch {
		record(s.ack, took)
	}
	s.countResults(results)
}

// unanswered puts the batch up for sending again: the node may have it already,
// and then says so.
func (s *sender) unanswered() {
	s.tally.unanswered.Add(int64(len(s.batch)))
	for _, i := range s.batch {
		s.tally.fates[i].Store(fateUnanswered)
	}
	s.again = append(append([]int32(nil), s.batch...), s.again...)
}

func (s *sender) countResults(results []rpc.Verdict) {
	var again []int32
	for k, i := range s.batch {
		t := s.tally
		if results[k].Code == rpc.CodeOK {
			t.fates[i].Store(fateAccepted)
			t.accepted.Add(1)
			continue
		}
		answer := respond(results[k].Code)
		t.reject(reason(results[k].Code, results[k].Message))
		switch answer {
		case arrived:
			// Not counted as accepted: the answer that took it was lost, so the
			// node owes us nothing that we know of.
			t.fates[i].Store(fateUnanswered)
		case sendAgain:
			t.fates[i].Store(fateRejected)
			again = append(again, i)
		default:
			t.fates[i].Store(fateRejected)
			s.broken[t.plan.sender[i]] = true
		}
	}
	s.again = append(again, s.again...)
}
