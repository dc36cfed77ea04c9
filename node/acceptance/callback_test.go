package acceptance_test

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/fxamacker/cbor/v2"

	"github.com/cowboy-foundation/cowboy/chain"
)

// toldSource is an actor that is told results: it notes when, by whom and what, or fails.
const toldSource = `from cowboy_sdk import actor, public, submit_job, current_block

@actor
class Told:
    @public
    def ask(self, msg):
        return submit_job(msg.payload, msg.payload["reply_handler"])

    @public
    def answered(self, msg):
        self.storage["at"] = current_block()
        self.storage["output"] = msg.payload["output"]

    @public
    def fails(self, msg):
        self.storage["failed"] = 1
        raise ValueError("no")
`

var kv = entitlement("storage.kv", nil)

// r27: the answer is a message in a later block, and one that fails changes nothing of the
// settlement and is counted.
func r27(p *probe) {
	s := p.scene("r27")
	r := s.runners(1)[0]
	told := s.clientOf("", toldSource, kv, fetches(s.domain))
	s.always(r, fetches("*"))
	run := func(handler string) chain.Height {
		j := s.askAs(told, s.wish(map[string]any{
			"reply_handler": handler, "verification": map[string]any{"dispute_window_blocks": uint64(1), "mode": "none", "runners": uint64(1), "threshold": uint64(1)},
		}))
		s.drawn(j.id, 0)
		before := s.balance(r.addr)
		o := s.must(r, s.reveal(r, j.id, s.finds("hello", 0)))
		end := s.ended(j.id)
		if end.Outcome != "ok" {
			s.errorf("the job that is told to %s ends %q", handler, end.Outcome)
		}
		s.reach(max(end.Height, end.VerdictAt+2))
		cost := s.seats(j.id, 0)[0].Cost
		if cost != price {
			s.errorf("a request at %d costs %d", price, cost)
		}
		treasury := cost / 100 // resolution 12.13
		if got, want := s.balance(r.addr), before-o.receipt.Fee+cost-treasury; got != want {
			s.errorf("the runner of the job that is told to %s has %d, want %d of %d", handler, got, want, before)
		}
		return end.VerdictAt
	}
	verdict := run("answered")
	if at := s.stored(told, "at"); !laterThan(at, verdict) {
		s.errorf("the verdict is of block %d, the answer of block %s", verdict, at)
	}
	if got := s.stored(told, "output"); got != `"hello"` {
		s.errorf("the actor was told %s", got)
	}
	if failed := s.callbacks(told); failed != [2]uint64{1, 0} {
		s.errorf("behind one answer the actor has %v sent and failed", failed)
	}
	run("fails")
	if got := s.stored(told, "failed"); got != "" && got != "null" {
		s.errorf("a handler that failed has written %s", got)
	}
	if failed := s.callbacks(told); failed != [2]uint64{2, 1} {
		s.errorf("behind an answer that failed the actor has %v sent and failed", failed)
	}
}

// laterThan compares a stored height.
func laterThan(stored string, h chain.Height) bool {
	var at chain.Height
	return json.Unmarshal([]byte(stored), &at) == nil && at > h
}

// callbacks are how many answers an actor was sent, and how many failed: a row of the
// dispatcher's storage, which every node proves.
func (p *probe) callbacks(actor chain.Address) (counts [2]uint64) {
	slot := "00" + hex.EncodeToString(append([]byte("calls/"), actor[:]...))
	answer, err := http.Get(fmt.Sprintf("%s/account/%s/storage/0x%s", p.net.nodes[0].URL(), chain.AddrJobDispatcher, slot))
	p.check(err)
	defer answer.Body.Close()
	var reply struct {
		Value string `json:"value"`
	}
	p.check(json.NewDecoder(answer.Body).Decode(&reply))
	raw, err := hex.DecodeString(strings.TrimPrefix(reply.Value, "0x"))
	p.check(err)
	if len(raw) > 0 {
		p.check(cbor.Unmarshal(raw, &counts))
	}
	return counts
}
