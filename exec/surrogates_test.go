package exec_test

import (
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
)

// surrogates is a program with text that is no UTF-8 where %s puts it, which it hands to
// whatever writes a record.
const surrogates = `
%future
from cowboy_sdk import *
from typing import ForwardRef

class Bad:
    %class

def bad():
    %function

def noted(x: %note = 1):
    pass

class Taken:
    def __getitem__(self, text):
        self.text = text
        return int

def annotated():
    taken = Taken()
    ForwardRef("F['%forward']")._evaluate({}, {"F": taken}, frozenset())
    return taken.text

def text():
    return %text

@actor
class Broken:
    @public
    def init(self, msg):
        pass

    @public
    def act(self, msg):
        at = current_block() + 2
        for do in (
            lambda: set_timer(at, text()),
            lambda: set_interval(2, text()),
            lambda: create_deferred_tx(self.address, text(), None, height=at),
            lambda: send(self.address, None, text()),
            lambda: emit_event(text(), 1),
            lambda: emit_event("e", text()),
            lambda: self.storage.set("k", [text()]),
            lambda: self.storage.set(text(), 1),
            lambda: submit_job({"type": "llm", "prompt": "p"}, text()),
            lambda: token_create(text(), "T"),
            lambda: token_create("T", text()),
        ):
            try:
                do()
            except (CowboyError, ValueError, SyntaxError, TypeError):
                pass

    @public
    def answer(self, msg):
        return text()

    @public
    def fail(self, msg):
        raise ValueError(text())

    def tick(self, msg):
        pass
`

// surrogateProgram fills the program's places; places that are not named are harmless.
func surrogateProgram(places map[string]string) string {
	source := surrogates
	if places["module"] != "" {
		source = places["module"] + source
	}
	for _, row := range [][2]string{{"future", ""}, {"class", "pass"}, {"function", "pass"}, {"note", "int"}, {"forward", "x"}, {"text", "'tick'"}} {
		with := row[1]
		if s, ok := places[row[0]]; ok {
			with = s
		}
		source = strings.ReplaceAll(source, "%"+row[0], with)
	}
	return source
}

// TestSurrogatesReachNoRecord: an escape of a surrogate made a string that was no UTF-8 where
// a docstring or an annotation held it. As the handler of a timer it made a record that no
// validator could read, so that every later block ended in a fault.
func TestSurrogatesReachNoRecord(t *testing.T) { // resolution 11.48; ADR 243
	for _, row := range []struct {
		name     string
		places   map[string]string
		compiles bool
	}{
		{"module's docstring", map[string]string{"module": `"\ud800"`, "text": "__doc__"}, false},
		{"class's docstring", map[string]string{"class": `"\udfff"`, "text": "Bad.__doc__"}, false},
		{"function's docstring", map[string]string{"function": `"\ud800"`, "text": "bad.__doc__"}, false},
		{"docstring of two halves", map[string]string{"function": `"\ud83d" "\ude00"`, "text": "bad.__doc__"}, false},
		{"long escape", map[string]string{"function": `"\U0000dc00"`, "text": "bad.__doc__"}, false},
		{"annotation", map[string]string{"future": "from __future__ import annotations", "note": `f"\ud800{x}"`, "text": `noted.__annotations__["x"]`}, false},
		{"literal", map[string]string{"text": `"\ud800"`}, false},
		{"evaluated annotation", map[string]string{"forward": `\\ud800`, "text": "annotated()"}, true},
		{"character", map[string]string{"text": "chr(0xd800)"}, true},
		{"format", map[string]string{"text": `"%c" % 0xd800`}, true},
		{"bytes", map[string]string{"text": `b"\xed\xa0\x80".decode("utf-8", "surrogatepass")`}, true},
		{"escaped bytes", map[string]string{"text": `b"\xff".decode("utf-8", "surrogateescape")`}, true},
		{"translation", map[string]string{"text": `"x".translate({120: 0xd800})`}, true},
		{"nothing bad", map[string]string{"function": `"tick"`, "text": "bad.__doc__"}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			c := oneValidator(t)
			c.engine = testEngine(t)
			code := c.writeTexts(surrogateProgram(row.places))
			if want := map[bool]uint16{true: chain.CodeOK, false: chain.CodeCodeInvalid}[row.compiles]; code != want {
				t.Errorf("deployed: %s, want %s", chain.CodeName(code), chain.CodeName(want))
			}
		})
	}
}

// writeTexts deploys a program, calls it and goes on for four blocks. It returns the code of
// the deployment. Every receipt must be one that can be read again.
func (c *testChain) writeTexts(source string) uint16 {
	c.t.Helper()
	d := actor.Deployment{
		Source: []byte(source), Salt: []byte{1}, Manifest: manifest.Manifest("econ.hold_balance", "storage.kv", "timer.schedule"),
	}
	addr := actor.AddressOf(alice, d.Salt, d.Source)
	run := func(to *chain.Address, payload []byte, value chain.Wei) uint16 {
		c.t.Helper()
		tx := c.program(alice, to, payload).Tx
		tx.Value = value
		r := c.block(verified(tx, alice)).Receipts[0]
		if _, err := chain.DecodeReceipt(r.Encode()); err != nil {
			c.t.Errorf("block %d: receipt: %v", c.height, err)
		}
		return r.Code
	}
	code := run(nil, actor.AppendPayload(nil, &d), 100*chain.WeiPerCBY)
	for _, handler := range []string{"act", "answer", "fail"} {
		run(&addr, actor.AppendMessage(nil, handler, cbor.AppendNull(nil)), 0)
	}
	for range 4 {
		c.block()
	}
	return code
}

// FuzzTextsOfPrograms puts text between the quotes of a docstring, an annotation or a literal:
// whatever it is, and whatever it makes of the program, no block is a fault.
func FuzzTextsOfPrograms(f *testing.F) {
	for i, text := range []string{`\ud800`, `tick`, `\ud83d\ude00`, `a\U0000dfff`, `\xed\xa0\x80`, `\ud7ff\ue000`, "é\u0301"} {
		f.Add(text, byte(i))
	}
	engine := testEngine(f)
	f.Fuzz(func(t *testing.T, text string, place byte) {
		quoted := `"` + text + `"`
		places := []map[string]string{
			{"module": quoted, "text": "__doc__"},
			{"class": quoted, "text": "Bad.__doc__"},
			{"function": quoted, "text": "bad.__doc__"},
			{"future": "from __future__ import annotations", "note": "f" + quoted, "text": `noted.__annotations__["x"]`},
			{"forward": strings.ReplaceAll(text, `\`, `\\`), "text": "annotated()"},
			{"text": quoted},
		}
		c := oneValidator(t)
		c.engine = engine
		c.writeTexts(surrogateProgram(places[int(place)%len(places)]))
	})
}
