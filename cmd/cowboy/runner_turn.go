package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// errShown means that the aggregator has shown the own result in the meantime.
var errShown = errors.New("the result is shown")

// shownReply is what runner reveal prints as JSON where it sends nothing.
type shownReply struct {
	Job   string `json:"job_id"`
	Shown bool   `json:"shown"`
}

// awaitTurn returns when the own result may be revealed: at once by the aggregator when all
// have committed, by others behind its time. The error errShown says that there is nothing left to do.
func (w *work) awaitTurn(ctx context.Context, s *session) error {
	api, err := s.api()
	if err != nil {
		return err
	}
	me := client.AddressOf(w.key).String()
	for told := chain.Height(0); ; {
		job, err := api.Job(ctx, w.job)
		if err != nil {
			return err
		}
		seats, err := api.JobRunners(ctx, w.job)
		if err != nil {
			return err
		}
		head, err := api.Height(ctx)
		if err != nil {
			return err
		}
		until, err := w.mayReveal(job, seats.Runners, me, head)
		if err != nil || until == 0 {
			return err
		}
		if told != until {
			told = until
			s.note("waiting for block %d: the aggregator alone reveals yet, as soon as all have committed", until)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(jobPoll):
		}
	}
}

// mayReveal returns from which block on a runner may reveal, 0 for the next one. head is the
// newest final block.
func (w *work) mayReveal(job *rpc.JobReply, seats []rpc.SeatReply, me string, head chain.Height) (until chain.Height, err error) {
	var mine *rpc.SeatReply
	first, committed := "", true
	var best float64
	for i := range seats {
		seat := &seats[i]
		if seat.Attempt != w.attempt {
			continue
		}
		if seat.Runner == me {
			mine = seat
		}
		if seat.Commitment == nil {
			committed = committed && head >= job.CommitBy // it is too late for it
			continue
		}
		if first == "" || seat.Reputation > best || seat.Reputation == best && seat.Runner < first { // resolution 12.29
			first, best = seat.Runner, seat.Reputation
		}
	}
	switch {
	case mine == nil || job.Attempt != w.attempt || job.Deadline <= head:
		return 0, fmt.Errorf("attempt %d of the job is over: cowboy job status %s", w.attempt+1, w.job)
	case mine.RevealedAt > 0:
		return 0, errShown
	case mine.Commitment == nil:
		return 0, errors.New("no commitment is in a block: cowboy runner commit first")
	case committed && first == me || head >= job.GatherUntil:
		return 0, nil
	}
	return job.GatherUntil + 1, nil
}
