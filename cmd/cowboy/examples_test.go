package main

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

const examples = pythonSDK + "/examples/"

// as returns the flags with which a development account sends.
func as(account int) []string {
	return []string{"--private-key", client.KeyHex(setup.DevAccounts()[account].Key)}
}

func dev(account int) string { return setup.DevAccounts()[account].Address.String() }

// TestExamplesOnDevnet deploys every example with the command alone and holds it to
// what it promises. What runners would send comes as a plain message.
func TestExamplesOnDevnet(t *testing.T) {
	l := newLive(t)
	t.Run("counter", func(t *testing.T) {
		at := l.deploy(examples+"counter.py", "--init-args", "2")
		if r := l.execute(at, "add", "5", as(1)...); string(r.Value) != "7" || r.Events[0].Name != "added" {
			t.Errorf("add: %+v", r)
		}
		l.refused(append([]string{"actor", "execute", "--actor", at, "--handler", "reset"}, as(1)...)...)
		l.execute(at, "reset", "null")
		if got := l.read(at, "get", "null"); got != "0" {
			t.Errorf("after reset: %s", got)
		}
	})
	t.Run("price_oracle_consumer", func(t *testing.T) {
		at := l.deploy(examples+"price_oracle_consumer.py", "--init-args", fmt.Sprintf(`{"reporters":[%q,%q],"quorum":2}`, dev(1), dev(2)))
		l.execute(at, "report", `{"price":100,"round":1}`, as(1)...)
		if r := l.execute(at, "report", `{"price":104,"round":1}`, as(2)...); string(r.Value) != "102" || r.Events[0].Name != "price" {
			t.Errorf("second report: %+v", r)
		}
		l.refused(append([]string{"actor", "execute", "--actor", at, "--handler", "report", "--args", `{"price":100,"round":2}`}, as(3)...)...)
		if got := l.read(at, "price", "null"); got != "102" {
			t.Errorf("price: %s", got)
		}
	})
	t.Run("token_treasury", func(t *testing.T) {
		at := l.deploy(examples+"token_treasury.py", "--init-args", fmt.Sprintf(`{"members":[%q,%q],"quorum":2,"supply":1000}`, dev(1), dev(2)))
		number := l.execute(at, "propose", fmt.Sprintf(`{"to":%q,"amount":300}`, dev(3)), as(1)...)
		if r := l.execute(at, "agree", fmt.Sprintf(`{"number":%s}`, number.Value), as(2)...); string(r.Value) != "true" {
			t.Errorf("agree: %+v", r)
		}
		var status struct{ Left, Supply int }
		if err := json.Unmarshal([]byte(l.read(at, "status", "null")), &status); err != nil || status.Left != 700 || status.Supply != 1000 {
			t.Errorf("status: %+v, %v", status, err)
		}
	})
	t.Run("scans", func(t *testing.T) { // neighbours §14
		at := l.deploy("testdata/orders.py")
		l.execute(at, "place", `{"é":1,"b":2,"a/2":3,"a/1":4,"c":5}`)
		if got, want := l.read(at, "book", `["order/a/",100]`), `[["order/a/1",4],["order/a/2",3]]`; got != want {
			t.Errorf("orders of a: %s, want %s", got, want)
		}
		if r := l.execute(at, "close", "2"); string(r.Value) != `[["order/a/1","order/a/2"],["order/b","order/c","order/é"]]` {
			t.Errorf("closed, and what is left in the same call: %+v", r)
		}
		if got, want := l.read(at, "book", `["order/",1000]`), `[["order/b",2],["order/c",5],["order/é",1]]`; got != want {
			t.Errorf("what is left: %s, want %s", got, want)
		}
		var first, second rpc.ActorReply
		l.do(&first, "actor", "get", at, "--prefix", "order/", "--limit", "2")
		l.do(&second, "actor", "get", at, "--prefix", "order/", "--limit", "2", "--from", first.StorageNext)
		if len(first.Storage) != 2 || string(first.Storage["order/c"]) != "5" || len(second.Storage) != 1 || string(second.Storage["order/é"]) != "1" || second.StorageNext != "" {
			t.Errorf("pages: %v, then from %s %v %s", first.Storage, first.StorageNext, second.Storage, second.StorageNext)
		}
	})
	t.Run("trading_bot", func(t *testing.T) {
		at := l.deploy(examples+"trading_bot.py", "--init-args", fmt.Sprintf(`{"cash":1000,"most_per_trade":500,"analyst":%q}`, dev(1)))
		if r := l.execute(at, "decide", `{"action":"buy","price":100}`, as(1)...); string(r.Value) != "5" || r.Events[0].Name != "traded" {
			t.Errorf("decide: %+v", r)
		}
		if got := l.read(at, "position", "null"); got != `{"cash":500,"coins":5}` {
			t.Errorf("position: %s", got)
		}
		var a rpc.ActorReply
		l.do(&a, "actor", "get", at)
		if ids := fmt.Sprint(a.Entitlements); len(a.Entitlements) != 4 {
			t.Errorf("the bot's manifest is %s", ids)
		}
	})
}

// TestTimersOnDevnet runs the example that schedules itself: blocks are made at once
// until its timers have fired.
func TestTimersOnDevnet(t *testing.T) {
	l := newLive(t)
	at := l.deploy(examples+"timer_scheduler.py", "--amount", "50")
	first := l.execute(at, "remind", `{"blocks":5,"text":"tea"}`, as(1)...)
	second := l.execute(at, "remind", `{"blocks":400,"text":"cake"}`, as(1)...)
	l.refused(append([]string{"actor", "execute", "--actor", at, "--handler", "wake", "--args", fmt.Sprintf(`{"number":%s}`, first.Value)}, as(1)...)...)
	if r := l.execute(at, "forget", fmt.Sprintf(`{"number":%s}`, second.Value), as(1)...); string(r.Value) != "true" {
		t.Errorf("forget: %+v", r)
	}
	l.execute(at, "start", `{"every":3}`)
	l.advance(20)
	var logs rpc.LogsReply
	if l.do(&logs, "actor", "logs", at); len(logs.Logs) != 1 || logs.Logs[0].Name != "reminder" {
		t.Errorf("logs: %+v", logs)
	}
	var beats int
	if err := json.Unmarshal([]byte(l.read(at, "beats", "null")), &beats); err != nil || beats < 4 {
		t.Errorf("%d beats in 20 blocks, %v", beats, err)
	}
}
