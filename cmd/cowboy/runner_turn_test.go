package main

import (
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// TestTurn: who may reveal in the next block, and until when the others wait (resolutions
// 11.27, 12.29).
func TestTurn(t *testing.T) {
	hash := "0x01"
	seat := func(runner string, points float64, committed bool) rpc.SeatReply {
		s := rpc.SeatReply{Runner: runner, Attempt: 1, Reputation: points}
		if committed {
			s.Commitment = &hash
		}
		return s
	}
	job := &rpc.JobReply{CommitBy: 20, GatherUntil: 30, Deadline: 40}
	job.Attempt = 1
	all := []rpc.SeatReply{seat("b", 50, true), seat("a", 50, true), seat("c", 49, true), {Runner: "z", Attempt: 0, Reputation: 99, Commitment: &hash}}
	some := []rpc.SeatReply{seat("b", 50, true), seat("a", 50, false), seat("c", 49, true)}
	shown := []rpc.SeatReply{seat("a", 50, true)}
	shown[0].RevealedAt = 12
	over := *job
	over.Attempt = 2
	for _, tt := range []struct {
		name  string
		job   *rpc.JobReply
		seats []rpc.SeatReply
		me    string
		head  chain.Height
		until chain.Height
		fails bool
	}{
		{"the aggregator, when all have committed", job, all, "a", 10, 0, false},
		{"another of as many points", job, all, "b", 10, 31, false},
		{"one of fewer, at the last block of the aggregator", job, all, "c", 29, 31, false},
		{"the same behind it", job, all, "c", 30, 0, false},
		{"before all have committed", job, some, "b", 19, 31, false},
		{"when nobody else can commit any more", job, some, "b", 20, 0, false},
		{"without a commitment", job, some, "a", 10, 0, true},
		{"at the deadline", job, all, "a", 40, 0, true},
		{"of another attempt", &over, all, "a", 10, 0, true},
		{"who was not drawn", job, all, "y", 10, 0, true},
		{"whose result is shown", job, shown, "a", 13, 0, true},
	} {
		w := &work{attempt: 1}
		until, err := w.mayReveal(tt.job, tt.seats, tt.me, tt.head)
		if until != tt.until || (err != nil) != tt.fails || errors.Is(err, errShown) != (tt.name == "whose result is shown") {
			t.Errorf("%s: block %d, %v", tt.name, until, err)
		}
	}
}
