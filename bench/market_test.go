package bench

import (
	"bytes"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/judge"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// TestJobsCanBeJudged: what is asked for passes the judge's rules, and what is answered is
// what the judge counts, for every size of a committee and of a result.
func TestJobsCanBeJudged(t *testing.T) {
	for _, k := range []Kind{
		{Kind: KindMarket, Percent: 100, Committee: 1, ResultBytes: resultBytesMin},
		{Kind: KindMarket, Percent: 100, Committee: 1, ResultBytes: resultsBytesMax},
		{Kind: KindMarket, Percent: 100, Committee: 3, ResultBytes: 512},
		{Kind: KindMarket, Percent: 100, Committee: committeeMax, ResultBytes: resultsBytesMax / committeeMax},
	} {
		if err := k.check(); err != nil {
			t.Fatal(err)
		}
		q := jobOf(&k)
		data := jobData(k.ResultBytes)
		if err := judge.Check(&q.Spec, &q.Terms); err != nil {
			t.Errorf("%+v: %v", k, err)
		}
		if err := judge.Accepts(&q.Spec, &q.Terms, data); err != nil || len(data) != k.ResultBytes {
			t.Errorf("%+v: %d bytes, %v", k, len(data), err)
		}
		r, err := chain.DecodeRunnerResult(resultOf(&k, 2))
		if err != nil || r.Attempt != 2 || !bytes.Equal(r.Data, data) {
			t.Errorf("%+v: %+v, %v", k, r, err)
		}
		tx := testPrices().showResults(chain.Hash{}, k.Committee, sampleReveals(&k))
		if _, err := tx.Classify(); err != nil || len(tx.Payload) > 128<<10 {
			t.Errorf("%+v: %d bytes, %v", k, len(tx.Payload), err)
		}
	}
}

func TestAggregatorIsTheBestAndLowest(t *testing.T) {
	f := func(want int, seats ...rpc.SeatReply) {
		t.Helper()
		if got := aggregator(seats); got != &seats[want] {
			t.Errorf("%+v shows the results, want seat %d", got, want)
		}
	}
	f(0, rpc.SeatReply{Runner: "0x02", Reputation: 50})
	f(1, rpc.SeatReply{Runner: "0x02", Reputation: 50}, rpc.SeatReply{Runner: "0x01", Reputation: 50})
	f(0, rpc.SeatReply{Runner: "0x02", Reputation: 51}, rpc.SeatReply{Runner: "0x01", Reputation: 50})
	f(1, rpc.SeatReply{Runner: "0x01", Reputation: 50}, rpc.SeatReply{Runner: "0x03", Reputation: 51}, rpc.SeatReply{Runner: "0x02", Reputation: 50.5})
}

// TestFaultsOfAMarket: what was accepted and is not in a block, or stands in one and was not
// applied, and jobs that did not end well, are faults; jobs for which no runner was free are
// none.
func TestFaultsOfAMarket(t *testing.T) {
	f := func(want string, change func(*MarketReport)) {
		t.Helper()
		r := &MarketReport{
			Runners: 3, Jobs: 2, Outcomes: map[string]int64{"ok": 1, "no_candidates": 1},
			Commitments: StepReport{Sent: 4, Accepted: 3, Final: 3, Applied: 3}, Results: StepReport{Sent: 1, Accepted: 1, Final: 1, Applied: 1},
			Heartbeats: StepReport{Sent: 3, Accepted: 3, Final: 3}, Refused: map[string]int64{"4001 #": 2}, LastError: "broken",
		}
		change(r)
		if got := r.fault(); (got == "") != (want == "") || !strings.Contains(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
		var table bytes.Buffer
		if err := r.writeMarket(&table); err != nil || !strings.Contains(table.String(), "jobs for 3 runners:") || !strings.Contains(table.String(), "refused 2: 4001 #") || !strings.Contains(table.String(), "broken") {
			t.Errorf("%v\n%s", err, table.String())
		}
	}
	f("", func(*MarketReport) {})
	f("", func(r *MarketReport) { r.Outcomes = map[string]int64{"ok": 1, OutcomeForeign: 1} })
	f("1 accepted", func(r *MarketReport) { r.Commitments.Final = 2 })
	f("1 accepted", func(r *MarketReport) { r.Heartbeats.Final = 2 })
	f("2 and 1 are applied", func(r *MarketReport) { r.Commitments.Applied = 2 })
	f("3 and 0 are applied", func(r *MarketReport) { r.Results.Applied = 0 })
	f("outcome open", func(r *MarketReport) { r.Outcomes[OutcomeOpen] = 1 })
	f("outcome refused", func(r *MarketReport) { r.Outcomes[OutcomeRefused] = 1 })
	f("outcome timeout", func(r *MarketReport) { r.Outcomes["timeout"] = 1 })
	f("no job has", func(r *MarketReport) { r.Outcomes = map[string]int64{"no_candidates": 2} })
	if (*MarketReport)(nil).fault() != "" {
		t.Error("a mix without jobs has a fault")
	}
}
