package flood

import (
	"context"
	"fmt"
	"time"
)

// sender owns one connection and its stream.
type sender struct {
	run      *run
	number   int
	stream   *stream
	requests []request // those that were written, in order
	accepted int
	dry      bool // the stream ended before the time did
}

// request is what became of one.
type request struct {
	due    time.Duration // when it was due, or written where there is no rate
	answer time.Duration // from writing to answer
}

// send sends until the time, the stream or ctx ends.
func (s *sender) send(ctx context.Context, conn *Conn) error {
	r := s.run
	for i, body := range s.stream.requests {
		due, ok := s.wait(ctx, i)
		if !ok {
			return nil
		}
		written := time.Since(r.start)
		if r.cfg.Rate == 0 {
			due = written
		}
		s.requests = append(s.requests, request{due: due})
		answer, err := conn.Do(body)
		if err != nil {
			return fmt.Errorf("connection %d, request %d: %w", s.number, i, err)
		}
		s.requests[i].answer = time.Since(r.start) - written
		n, err := r.chain.Accepted(answer)
		s.accepted += n
		if err == nil && n != r.load.Batch {
			err = fmt.Errorf("%d of %d transactions accepted: %q", n, r.load.Batch, clip(answer))
		}
		if err != nil {
			return fmt.Errorf("connection %d, request %d: %w", s.number, i, err)
		}
	}
	s.dry = true
	return nil
}

// wait returns when request i may be written; false means that the time is over.
func (s *sender) wait(ctx context.Context, i int) (due time.Duration, ok bool) {
	r := s.run
	if r.cfg.Rate > 0 {
		gap := time.Duration(float64(r.load.Batch) / r.cfg.Rate * float64(time.Second))
		due = gap * time.Duration(i*len(r.load.streams)+s.number)
		if due >= r.cfg.Warm+r.cfg.Window {
			return due, false
		}
		time.Sleep(due - time.Since(r.start))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.sent+r.load.Batch-r.included > r.cfg.Limit && ctx.Err() == nil && time.Since(r.start) < r.cfg.Warm+r.cfg.Window {
		r.room.Wait()
	}
	if ctx.Err() != nil || time.Since(r.start) >= r.cfg.Warm+r.cfg.Window {
		return due, false
	}
	r.sent += r.load.Batch
	return due, true
}
