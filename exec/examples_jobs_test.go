package exec_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	dispatcher "github.com/cowboy-foundation/cowboy/exec/market/jobs"
)

// TestPriceOracleExample: the median of five runners, of whom one lies and one is silent, comes
// to the actor; too few leave the price as it was.
func TestPriceOracleExample(t *testing.T) { // whitepaper, "Example: Price Feed Oracle"; resolutions 12.37, 12.53
	a := startAsking(t, "price_oracle", "null")
	a.refused(bob, "refresh", "null")
	id := a.asks("refresh", "null", 0)
	a.refused(alice, "refresh", "null") // an answer is awaited
	forged := fmt.Sprintf(`{"job_id":{"$bytes":"%x"},"status":"done","output":{"price":1},"runners":[]}`, id[:])
	a.refused(bob, "priced", forged)
	a.refused(alice, "priced", forged)
	a.settled(id, dispatcher.OK, `{"price":42000}`, `{"price":42100.5}`, `{"price":41900}`, `{"price":99999}`, silent)
	a.says("price", "null", fmt.Sprintf(`{"height":%d,"runners":3,"usd":42000}`, a.height))
	id = a.asks("refresh", "null", 1)
	a.settled(id, dispatcher.NoAgreement, `{"price":1}`, `{"price":2}`, `{"price":3}`, `{"price":4}`, `{"price":5}`)
	if got := a.does("price", "null"); !strings.Contains(got, `"usd":42000`) {
		t.Errorf("a price without agreement: %s", got)
	}
	id = a.asks("refresh", "null", 2)
	a.settled(id, dispatcher.Timeout, silent, silent, silent, silent, silent)
	a.asks("refresh", "null", 3) // it may ask again
}

// TestWebExtractionExample: what two of three runners took out of a page is kept.
func TestWebExtractionExample(t *testing.T) { // whitepaper, "Extraction-Based Verification"
	a := startAsking(t, "web_extraction", "null")
	row, other := `{"ticker":"CBY","type":"buy","amount":"5"}`, `{"ticker":"BTC","type":"buy","amount":"5"}`
	id := a.asks("read", "null", 0)
	forged := `{"context":{"number":1},"status":"done","outcome":"ok","output":{"ticker":"EVIL","type":"buy"}}`
	a.refused(bob, "extracted", forged)
	a.refused(alice, "extracted", forged)
	a.settled(id, dispatcher.OK, other, row, row)
	a.says("entry", `{"number":1}`, `{"amount":"5","ticker":"CBY","type":"buy"}`)
	a.settled(a.asks("read", "null", 1), dispatcher.NoAgreement, row, other, `{"ticker":"ETH","type":"sell","amount":"1"}`)
	a.says("entry", `{"number":2}`, "null")
}

// TestJobTimeoutExample: answer, timer and owner take a question off; what comes behind the
// first of them changes nothing.
func TestJobTimeoutExample(t *testing.T) { // whitepaper, "Timeout and Failure Handling"
	a := startAsking(t, "job_timeout", "null")
	ask := func(n uint64, blocks int) (chain.Hash, string) {
		t.Helper()
		correlation := a.does("ask", fmt.Sprintf(`{"question":"why?","blocks":%d}`, blocks))
		return chain.ActorJobID(a.at, n, a.height), `{"correlation_id":` + correlation + `}`
	}
	id, which := ask(0, 200)
	forged := strings.TrimSuffix(which, "}") + `,"status":"done","result":"evil","context":{"question":"?"}}`
	a.refused(bob, "answered", forged)
	a.refused(alice, "answered", forged)
	a.refused(alice, "late", which)
	a.refused(bob, "withdraw", which)
	a.settled(id, dispatcher.OK, "because")
	answer := a.does("answer", which)
	if !strings.Contains(answer, `"because"`) {
		t.Errorf("the answer is %s", answer)
	}
	a.refused(alice, "withdraw", which) // it is answered

	id, which = ask(1, 3)
	for range 5 {
		a.block()
	}
	a.says("answer", which, `{"error":"late"}`)
	a.settled(id, dispatcher.OK, "too late")
	a.says("answer", which, `{"error":"late"}`)

	id, which = ask(2, 200)
	a.block()
	a.says("withdraw", which, "false") // a runner has it
	a.settled(id, dispatcher.OK, "in vain")
	a.says("answer", which, "null")
}

// TestJobTimeoutOfAnother: an answer that another actor has ordered to a handler is that
// actor's message.
func TestJobTimeoutOfAnother(t *testing.T) { // resolution 12.53
	a := startAsking(t, "job_timeout", "null")
	correlation := a.does("ask", `{"question":"why?","blocks":200}`)
	victim := a.at
	a.at = a.deployed(`
from cowboy_sdk import actor, public, send, RUNNER

@actor
class Evil:
    @public
    def init(self, msg):
        pass

    @public
    def order(self, msg):
        return send(RUNNER, {"type": "llm", "prompt": "evil", "correlation_id": msg.correlation, "reply_to": msg.to, "reply_handler": "answered"})
`, 9, "oracle.llm", "storage.kv", "econ.hold_balance")
	a.give(a.at, chain.WeiPerCBY)
	id := a.asks("order", fmt.Sprintf(`{"correlation":%s,"to":%q}`, correlation, victim), 0)
	a.until(id, dispatcher.Assigned)
	told := a.settle(id, "evil")
	if len(told) != 1 || told[0].Code == chain.CodeOK {
		t.Errorf("the forged answer: %+v", told)
	}
	a.at = victim
	a.says("answer", `{"correlation_id":`+correlation+`}`, "null")
}

// TestAskModelExample: a handler that waits goes on with the answer, with what it captured,
// and with the outcome where there is none.
func TestAskModelExample(t *testing.T) { // whitepaper, "SDK Ergonomics"
	a := startAsking(t, "ask_model", `{"text":"a fine day"}`)
	a.refused(bob, "judge", "null")
	id := a.asks("judge", "null", 0)
	forged := fmt.Sprintf(`{"job_id":{"$bytes":"%x"},"output":"evil"}`, id[:])
	a.refused(bob, "__continuation__", forged)
	a.refused(alice, "__continuation__", forged)
	a.settled(id, dispatcher.OK, " Happy\n")
	a.says("mood", "null", `"happy"`)
	a.refused(bob, "__continuation__", forged)
	id = a.asks("judge", "null", 1)
	a.does("write", `{"text":"rain"}`)
	a.settled(id, dispatcher.OK, "sad")
	a.says("mood", "null", `"happy"`)
	a.settled(a.asks("judge", "null", 2), dispatcher.Timeout, silent)
	a.says("mood", "null", `"happy"`)
	a.settled(a.asks("judge", "null", 3), dispatcher.OK, "wet")
	a.says("mood", "null", `"wet"`)
}

// TestTradingBotExample: two jobs one behind the other, the second by a committee, and a
// position that must be what it was.
func TestTradingBotExample(t *testing.T) { // whitepaper, "The Message-Passing Continuation Model"
	a := startAsking(t, "trading_bot", fmt.Sprintf(`{"cash":1000,"most_per_trade":500,"analyst":%q}`, bob))
	a.settled(a.asks("ask", `{"pair":"CBY"}`, 0), dispatcher.OK, `{"price":100}`)
	second := chain.ActorJobID(a.at, 1, a.height)
	buy, hold := `{"action":"buy"}`, `{"action":"hold"}`
	a.settled(second, dispatcher.OK, buy, hold, buy, hold, `{"action":"buy","why":"it rises"}`)
	a.says("position", "null", `{"cash":500,"coins":5}`)
	a.settled(a.asks("ask", `{"pair":"CBY"}`, 2), dispatcher.OK, `{"price":100}`)
	second = chain.ActorJobID(a.at, 3, a.height)
	a.must(a.program(bob, &a.at, actor.AppendMessage(nil, "decide", value(t, `{"action":"sell","price":50}`))))
	if told := a.settle(second, buy, buy, buy, silent, silent); len(told) != 1 || told[0].Code == chain.CodeOK {
		t.Errorf("a decision about another position: %+v", told)
	}
	a.says("position", "null", `{"cash":750,"coins":0}`)
}

// TestProgramsOfThePage: the actors of docs/sdk.md do on the chain what the page says of them.
func TestProgramsOfThePage(t *testing.T) {
	page, err := os.ReadFile("../docs/sdk.md")
	if err != nil {
		t.Fatal(err)
	}
	var actors [][]byte
	for _, block := range regexp.MustCompile("(?ms)^```python\n(.*?)^```$").FindAllSubmatch(page, -1) {
		if bytes.Contains(block[1], []byte("@actor")) {
			actors = append(actors, block[1])
		}
	}
	if len(actors) != 2 {
		t.Fatalf("%d actors on the page", len(actors))
	}
	a := startSource(t, actors[0], "null")
	id := a.asks("ask", `{"day":1}`, 0)
	a.refused(alice, "answered", fmt.Sprintf(`{"job_id":{"$bytes":"%x"},"status":"done"}`, id[:]))
	a.settled(id, dispatcher.OK, `{"sky":"blue"}`)
	a.says("sky", `{"day":1}`, `"blue"`)
	a.settled(a.asks("ask", `{"day":2}`, 1), dispatcher.Timeout, silent)
	a.says("sky", `{"day":2}`, "null")
	a = startSource(t, actors[1], `{"draft":"All is well."}`)
	a.settled(a.asks("review", "null", 0), dispatcher.OK, `{"fit":true,"why":"short"}`, `{"fit":false}`, `{"fit":true}`)
	a.says("verdict", "null", "true")
}

// TestAnotherAwait: a handler that goes on with an answer can ask again, if it was bought the
// cycles, with which the cells come.
func TestAnotherAwait(t *testing.T) { // ADR 226
	const source = `
from cowboy_sdk import actor, public, runner

@actor
class Twice:
    def init(self, msg):
        self.storage["n"] = 0

    @public
    @runner.continuation
    async def go(self, msg):
        first = await runner.llm("p", callback_cycles=msg.payload)
        second = await runner.llm(first.output)
        self.storage["n"] = [first.output, second.output]

    @public
    def got(self, msg):
        return self.storage["n"]
`
	a := startSource(t, []byte(source), "null")
	told := a.settle(a.asks("go", "100000", 0), "one")
	if len(told) != 1 || told[0].Code != chain.CodeCellsExhausted && told[0].Code != chain.CodeCyclesExhausted {
		t.Errorf("with the default: %+v", told)
	}
	a.settled(a.asks("go", "400000", 1), dispatcher.OK, "one")
	a.settled(chain.ActorJobID(a.at, 2, a.height), dispatcher.OK, "two")
	a.says("got", "null", `["one","two"]`)
}

// TestFirstUseTable holds what docs/pvm.md says that the first use of an example costs.
func TestFirstUseTable(t *testing.T) { // ADR 58
	page, err := os.ReadFile("../docs/pvm.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../sdk/python/examples/*.py")
	if err != nil || len(files) < 9 {
		t.Fatalf("%v, %v", files, err)
	}
	init := map[string]string{
		"counter": "2", "ask_model": `{"text":"x"}`, "price_oracle_consumer": `{"reporters":"x"}`, "token_treasury": `{"members":"x","quorum":1,"supply":1}`,
		"trading_bot": `{"cash":1}`,
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f), ".py")
		document := init[name]
		if document == "" {
			document = "null"
		}
		a := startAsking(t, name, document)
		rec, err := actor.ReadRecord(a.state, a.at)
		if err != nil {
			t.Fatal(err)
		}
		row := fmt.Sprintf("| %s.py | %d,%03d |\n", name, rec.Load/1_000, rec.Load%1_000)
		if !bytes.Contains(page, []byte(row)) {
			t.Errorf("docs/pvm.md has no row %s", row)
		}
	}
}
