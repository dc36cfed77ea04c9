package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

func TestHealthyNodeLosesNothing(t *testing.T) {
	t.Parallel()
	n := newFakeNode(t)
	r := n.run(n.quickLoad())
	if r.Verdict != VerdictPass || r.Scheduled != 300 || r.Accepted != 300 || r.Finalized != 300 || r.Included != 300 || r.Rejected != 0 {
		t.Errorf("%s (%s): %+v, want all 300 final", r.Verdict, r.Reason, r)
	}
	if n.accepted != 300 {
		t.Errorf("node took %d, want 300", n.accepted)
	}
	if r.ExitCode() != 0 {
		t.Errorf("exit code %d, want 0", r.ExitCode())
	}
	var final int64
	for _, c := range r.FinalizedEach {
		final += c
	}
	if final != 300 {
		t.Errorf("seconds add up to %d, want 300", final)
	}
}

// The same seed must give the same accounts: the second run funds nothing, needs
// no key for it, and starts from the nonces that the first one left.
func TestSecondRunGoesOnWhereTheFirstEnded(t *testing.T) {
	t.Parallel()
	n := newFakeNode(t)
	cfg := n.quickLoad()
	cfg.Duration = 100 * time.Millisecond
	first := n.run(cfg)
	n.mu.Lock()
	spent := n.final[n.bank]
	for addr := range n.money {
		n.money[addr] += 1 << 40
	}
	n.mu.Unlock()
	cfg.FundKey = [32]byte{}
	second := n.run(cfg)
	if first.Verdict != VerdictPass || second.Verdict != VerdictPass || n.final[n.bank] != spent {
		t.Errorf("%s, then %s with %d more fundings; want two passes and none", first.Reason, second.Reason, n.final[n.bank]-spent)
	}
}

func TestLostTransfersAreReported(t *testing.T) {
	t.Parallel()
	n := newFakeNode(t)
	n.lose = func(i int) bool { return i%100 == 50 }
	cfg := n.quickLoad()
	cfg.Drain = 3 * time.Second
	r := n.run(cfg)
	if r.Verdict != VerdictFail || r.Lost != 3 || r.Accepted != 300 || r.Finalized != 297 || len(r.LostHashes) != 3 || r.ExitCode() != 1 {
		t.Errorf("%s (%s): accepted %d finalized %d lost %d %v; want 3 of 300 lost", r.Verdict, r.Reason, r.Accepted, r.Finalized, r.Lost, r.LostHashes)
	}
}

func TestRejectionsAreCountedByReason(t *testing.T) {
	t.Parallel()
	n := newFakeNode(t)
	n.refuse = func(i int, _ *chain.Tx) rpc.Code {
		switch {
		case i == 10:
			return rpc.CodeFeeTooLow // for good: the account is out
		case i >= 100 && i < 108:
			return rpc.CodeSenderLimit // for now: sent again
		}
		return rpc.CodeOK
	}
	r := n.run(n.quickLoad())
	if r.Verdict != VerdictPass || r.Lost != 0 || r.Finalized != r.Accepted {
		t.Errorf("%s (%s): %+v, want a pass", r.Verdict, r.Reason, r)
	}
	if got := r.Reasons["4008 refused: nonce # of #"]; got != 1 {
		t.Errorf("%d refused for the fee, want 1: %v", got, r.Reasons)
	}
	// Those behind a refused nonce come too early, so they may be refused as well.
	if got := r.Reasons["4012 refused: nonce # of #"]; got != 8 {
		t.Errorf("%d refused for the sender's limit, want 8: %v", got, r.Reasons)
	}
	if r.Unsent == 0 {
		t.Error("the broken account's later transfers were sent")
	}
}

func TestBusyRequestsAreSentAgain(t *testing.T) {
	t.Parallel()
	n := newFakeNode(t)
	n.status = func(request int) (int, rpc.Code) {
		if request%5 == 0 {
			return http.StatusServiceUnavailable, rpc.CodeBusy
		}
		return 0, 0
	}
	r := n.run(n.quickLoad())
	if r.Verdict != VerdictPass || r.Accepted != int64(n.accepted) || r.Rejected != 15*4 || r.Accepted != 300-r.Rejected {
		t.Errorf("%s (%s): accepted %d rejected %d %v; want 60 refused as busy and the rest accepted", r.Verdict, r.Reason, r.Accepted, r.Rejected, r.Reasons)
	}
}

// An answer that never comes leaves open whether the node took the transfers.
// They are sent again, the node knows them, and nothing counts as lost or twice.
func TestLostAnswers(t *testing.T) {
	t.Parallel()
	n := newFakeNode(t)
	n.swallow = func(request int) bool { return request == 7 || request == 20 }
	cfg := n.quickLoad()
	r := n.run(cfg)
	if r.Verdict != VerdictPass || r.Unanswered != 8 || r.Reasons["4004 refused: nonce # of #"] != 8 || r.Accepted != 300-16 {
		t.Errorf("%s (%s): accepted %d unanswered %d %v", r.Verdict, r.Reason, r.Accepted, r.Unanswered, r.Reasons)
	}
	if r.Finalized != r.Accepted+8 && r.Finalized != int64(n.accepted) {
		t.Errorf("finalized %d, node took %d", r.Finalized, n.accepted)
	}
}

func TestBrokenAndSilentStreamsLoseNothing(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name      string
		misbehave func(*fakeNode)
		fetched   bool // the stream cannot bring the blocks; a new one that resumes can
	}{
		{"stream ends in the middle", func(n *fakeNode) { n.breakAt = 12 }, false},
		{"stream says nothing", func(n *fakeNode) { n.silent = true }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := newFakeNode(t)
			tt.misbehave(n)
			cfg := n.quickLoad()
			cfg.Drain = 3 * time.Second // then what did not come is fetched
			r := n.run(cfg)
			if r.Verdict != VerdictPass || r.Finalized != 300 || tt.fetched && r.Backfills == 0 {
				t.Errorf("%s (%s): finalized %d with %d blocks fetched; want 300, and some where the stream is silent", r.Verdict, r.Reason, r.Finalized, r.Backfills)
			}
		})
	}
}

// A slow node must not slow the schedule: its delay shows as latency and, past
// the bound, as skipped slots, never as fewer transfers asked for.
func TestSlowNodeDoesNotStretchTheSchedule(t *testing.T) {
	t.Parallel()
	n := newFakeNode(t)
	n.delay = 50 * time.Millisecond
	cfg := n.quickLoad()
	cfg.MaxInFlight = 40
	r := n.run(cfg)
	if r.Scheduled != 300 || r.Skipped == 0 || r.Verdict != VerdictPass {
		t.Errorf("%s: scheduled %d skipped %d; want 300 with some skipped", r.Verdict, r.Scheduled, r.Skipped)
	}
	// Three connections serve 60 requests a second of 150 asked for: whoever
	// waits behind 40 unanswered transfers waits for some rounds.
	if r.Ack.P50 < 100 || r.Late == 0 {
		t.Errorf("ack p50 %.1f ms, %d late; the wait for the connection must count", r.Ack.P50, r.Late)
	}
}

func TestUselessRunsFail(t *testing.T) {
	t.Parallel()
	t.Run("nothing accepted", func(t *testing.T) {
		n := newFakeNode(t)
		n.refuse = func(int, *chain.Tx) rpc.Code { return rpc.CodeTxUnsupported }
		if r := n.run(n.quickLoad()); r.Verdict != VerdictFail || r.Accepted != 0 || r.Unsent == 0 {
			t.Errorf("%s (%s), want a failure", r.Verdict, r.Reason)
		}
	})
	t.Run("pacer late", func(t *testing.T) {
		n := newFakeNode(t)
		cfg := n.quickLoad()
		cfg.LatenessMax = time.Nanosecond
		if r := n.run(cfg); r.Verdict != VerdictInvalid || r.ExitCode() != 3 {
			t.Errorf("%s (%s), want invalid", r.Verdict, r.Reason)
		}
	})
	for _, tt := range []struct {
		name, want string
		change     func(*fakeNode, *LoadConfig)
	}{
		{"no stream", "node answered 503", func(n *fakeNode, _ *LoadConfig) { n.noEvents = true }},
		{"poor fund key", "can spend 0", func(_ *fakeNode, c *LoadConfig) { c.FundKey[0] = 1 }},
		{"no node", "base fee", func(_ *fakeNode, c *LoadConfig) { c.RPC = "http://127.0.0.1:1" }},
		{"no key", "no fund key", func(_ *fakeNode, c *LoadConfig) { c.FundKey = [32]byte{} }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			n := newFakeNode(t)
			cfg := n.quickLoad()
			tt.change(n, &cfg)
			if _, err := Run(t.Context(), cfg, ".", new(strings.Builder)); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q in it", err, tt.want)
			}
		})
	}
}

func TestCancelledRunEnds(t *testing.T) {
	t.Parallel()
	n := newFakeNode(t)
	cfg := n.quickLoad()
	cfg.Duration = time.Minute
	cfg.Rate = 20
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	start := time.Now()
	if _, err := Run(ctx, cfg, ".", new(strings.Builder)); err == nil || time.Since(start) > cfg.Duration {
		t.Errorf("error %v after %v, want the context's soon", err, time.Since(start))
	}
}

func TestReportReadsWell(t *testing.T) {
	t.Parallel()
	n := newFakeNode(t)
	cfg := n.quickLoad()
	cfg.Duration = 100 * time.Millisecond
	cfg.Drain = 3 * time.Second
	n.lose = func(i int) bool { return i == 1 }
	r := n.run(cfg)
	var table, text bytes.Buffer
	if err := r.WriteTable(&table); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`ceiling: genesis "fake": 952 transfers/s (952 a block by cycles, block time 1000 ms); 476/s at the fee target`,
		"FAIL: 1 accepted transfers were lost", "lost: 0x", "handed out",
	} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("no %q in\n%s", want, table.String())
		}
	}
	if err := r.WriteJSON(&text); err != nil {
		t.Fatal(err)
	}
	var back LoadReport
	if err := json.Unmarshal(text.Bytes(), &back); err != nil || back.Kind != KindLoad || back.Lost != 1 {
		t.Errorf("%v, kind %q, lost %d", err, back.Kind, back.Lost)
	}
	if key := "0000000000000007"; strings.Contains(text.String(), key) {
		t.Error("the report holds the fund key")
	}
}
