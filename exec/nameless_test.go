package exec_test

import (
	"fmt"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// nameless writes and then fails with an exception whose class has no name.
const nameless = `
from cowboy_sdk import *

class E(Exception):
    pass
E.__name__ = E.__qualname__ = ""

@public
def init(msg):
    storage.set("kept", 1)

@public
def renamed(msg):
    storage.set("lost", 1)
    raise E()

@public
def made(msg):
    storage.set("lost", 1)
    raise type("", (Exception,), {})()

@public
def named(msg):
    storage.set("lost", 1)
    raise ValueError()

@public
def calls(msg):
    try:
        call(msg.payload[0], msg.payload[1], None, cycles_limit=900000)
    except CowboyError:
        storage.set("raised", 1)
`

// TestNamelessExceptionsFail: the name of a class is the program's to choose, so a handler
// fails by what it raises, whatever that is called.
func TestNamelessExceptionsFail(t *testing.T) {
	c := messages(t)
	outer, inner := c.deployed(nameless, 1, "storage.kv"), c.deployed(nameless, 2, "storage.kv")
	wrote := func(tx *chain.VerifiedTx) (*chain.Receipt, string) {
		t.Helper()
		r := c.block(tx)
		own := map[string]string{}
		for at, value := range written(r.Delta) {
			if at.addr == outer && at.slot != "" || at.addr == inner && at.slot != "" {
				own[at.slot[1:]] = value // without the byte of its kind
			}
		}
		return &r.Receipts[0], fmt.Sprint(own)
	}
	for _, handler := range []string{"named", "renamed", "made"} {
		r, own := wrote(c.post(alice, outer, 0, handler, cbor.AppendNull(nil)))
		if r.Code != chain.CodeReverted || r.Status == chain.StatusSucceeded || own != "map[]" {
			t.Errorf("%s: code %s, status %d, wrote %s", handler, chain.CodeName(r.Code), r.Status, own)
		}
		r, own = wrote(c.post(alice, outer, 0, "calls", both(cbor.AppendText(nil, inner.String()), cbor.AppendText(nil, handler))))
		if r.Code != chain.CodeOK || own != "map[raised:01]" {
			t.Errorf("call of %s: code %s, wrote %s", handler, chain.CodeName(r.Code), own)
		}
	}
}
