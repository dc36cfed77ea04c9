package examples_test

import (
	"context"
	"flag"
	"fmt"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

var onDevnet = flag.Bool("devnet", false, "run the examples on a devnet of four validators")

// TestExamples runs every example that asks for work on one devnet, side by side.
func TestExamples(t *testing.T) {
	if !*onDevnet {
		t.Skip("starts four validators for most of a minute: runs in make soak-examples")
	}
	net := start(t)
	stageFor := func(t *testing.T) *stage {
		ctx, cancel := context.WithTimeoutCause(t.Context(), patience, errPatience)
		t.Cleanup(cancel)
		return &stage{T: t, devnet: net, ctx: ctx}
	}
	stageFor(t).hire()
	for _, tt := range []struct {
		name, init string
		run        func(*stage)
	}{
		{"price_oracle", "null", priceOracle},
		{"web_extraction", "null", webExtraction},
		{"job_timeout", "null", jobTimeout},
		{"ask_model", `{"text":"a fine day"}`, askModel},
		{"trading_bot", `{"cash":1000,"most_per_trade":500}`, tradingBot},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := stageFor(t)
			s.owner, s.other = newAccount(t, tt.name+" owner"), newAccount(t, tt.name+" stranger")
			s.fund(1_000*chain.WeiPerCBY, s.owner, s.other)
			s.actor = s.deploy(s.owner, source(t, tt.name), tt.init)
			tt.run(s)
		})
	}
}

func has(part string) func(string) bool {
	return func(got string) bool { return strings.Contains(got, part) }
}

func priceOracle(s *stage) { // whitepaper, "Example: Price Feed Oracle"
	s.refused(s.other, "refresh", "null")
	id, _ := s.asks("refresh", "null", 0)
	forged := fmt.Sprintf(`{"job_id":{"$bytes":"0x%x"},"status":"done","output":{"price":1},"runners":[]}`, id[:])
	s.refused(s.other, "priced", forged)
	s.refused(s.owner, "priced", forged)
	s.settle(id, "ok", `{"price":42000}`, `{"price":42100}`, `{"price":41900}`, `{"price":99999}`, silent)
	s.comes("price", "null", has(`"usd":42000`))
	s.refused(s.owner, "priced", forged)
	s.comes("price", "null", has(`"runners":3`))
}

func webExtraction(s *stage) { // whitepaper, "Extraction-Based Verification"
	id, _ := s.asks("read", "null", 0)
	forged := `{"context":{"number":1},"status":"done","outcome":"ok","output":{"ticker":"EVIL","type":"buy"}}`
	s.refused(s.other, "extracted", forged)
	s.refused(s.owner, "extracted", forged)
	row := `{"ticker":"CBY","type":"buy","amount":"5"}`
	s.settle(id, "ok", `{"ticker":"BTC","type":"buy","amount":"5"}`, row, row)
	s.comes("entry", `{"number":1}`, has(`"ticker":"CBY"`))
}

func jobTimeout(s *stage) { // whitepaper, "Timeout and Failure Handling"
	ask := func(number uint64, blocks int) (chain.Hash, string) {
		id, r := s.asks("ask", fmt.Sprintf(`{"question":"why?","blocks":%d}`, blocks), number)
		return id, fmt.Sprintf(`{"correlation_id":%s}`, r.Value)
	}
	id, which := ask(0, 2_000)
	forged := strings.TrimSuffix(which, "}") + `,"status":"done","result":"evil","context":{"question":"?"}}`
	s.refused(s.other, "answered", forged)
	s.refused(s.owner, "answered", forged)
	s.refused(s.other, "late", which)
	s.settle(id, "ok", "because")
	s.comes("answer", which, has(`"because"`))
	s.refused(s.owner, "withdraw", which)

	id, which = ask(1, 2)
	s.comes("answer", which, has(`"late"`))
	end := s.settle(id, "ok", "too late")
	s.reach(end.VerdictAt + 20)
	if got := s.reads("answer", which); !strings.Contains(got, `"late"`) {
		s.Errorf("an answer behind the timer stands: %s", got)
	}

	id, which = ask(2, 2_000)
	if r := s.must(s.owner, s.message("withdraw", which)); string(r.Value) != "false" {
		s.Errorf("a job that runners have is taken back: %s", r.Value)
	}
	end = s.settle(id, "ok", "in vain")
	s.reach(end.VerdictAt + 20)
	if got := s.reads("answer", which); got != "null" {
		s.Errorf("an answer to what was withdrawn stands: %s", got)
	}
	s.orderedByAnother(ask)
}

// orderedByAnother has another actor order an answer of its own making to the example.
func (s *stage) orderedByAnother(ask func(uint64, int) (chain.Hash, string)) { // resolution 12.53
	_, which := ask(3, 2_000)
	correlation := strings.TrimSuffix(strings.TrimPrefix(which, `{"correlation_id":`), "}")
	evil := &stage{T: s.T, devnet: s.devnet, ctx: s.ctx, owner: s.other}
	evil.actor = evil.deploy(s.other, []byte(`
from cowboy_sdk import RUNNER, public, send

@public
def order(msg):
    return send(RUNNER, {"type": "llm", "prompt": "evil", "correlation_id": msg.correlation, "reply_to": msg.to, "reply_handler": "answered"})
`), "")
	id, _ := evil.asks("order", fmt.Sprintf(`{"correlation":%s,"to":%q}`, correlation, s.actor), 0)
	end := evil.settle(id, "ok", "evil")
	s.reach(end.VerdictAt + 20)
	if got := s.reads("answer", which); got != "null" {
		s.Errorf("an answer that another has ordered stands: %s", got)
	}
}

func askModel(s *stage) { // whitepaper, "SDK Ergonomics"
	id, _ := s.asks("judge", "null", 0)
	forged := fmt.Sprintf(`{"job_id":{"$bytes":"0x%x"},"output":"evil"}`, id[:])
	s.refused(s.other, "__continuation__", forged)
	s.refused(s.owner, "__continuation__", forged)
	s.settle(id, "ok", " Happy\n")
	s.comes("mood", "null", has(`"happy"`))
	s.refused(s.other, "__continuation__", forged)
	id, _ = s.asks("judge", "null", 1)
	s.must(s.owner, s.message("write", `{"text":"rain"}`))
	end := s.settle(id, "ok", "sad")
	s.reach(end.VerdictAt + 20)
	if got := s.reads("mood", "null"); got != `"happy"` {
		s.Errorf("the mood of another text stands: %s", got)
	}
}

func tradingBot(s *stage) { // whitepaper, "The Message-Passing Continuation Model"
	id, _ := s.asks("ask", `{"pair":"CBY"}`, 0)
	quoted := s.settle(id, "ok", `{"price":100}`)
	buy, hold := `{"action":"buy"}`, `{"action":"hold"}`
	s.settle(s.next(quoted, 1), "ok", buy, hold, buy, hold, `{"action":"buy","why":"it rises"}`)
	s.comes("position", "null", has(`"coins":5`))
}
