package exec_test

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// TestRefusalLeavesNothing has a program catch the refusal of a deposit and then
// ask for it back.
func TestRefusalLeavesNothing(t *testing.T) {
	c := messages(t)
	beastly := c.deployed(`
from cowboy_sdk import actor, public, storage, CowboyError

@actor
class Poor:
    @public
    def init(self, msg):
        pass

    @public
    def go(self, msg):
        try:
            storage.bond(8 << 20)
        except CowboyError as e:
            refused = e.code
        storage.bond(1 << 20)
        return refused
`, 1, "storage.kv")
	r := c.block(c.post(alice, beastly, 0, "go", cbor.AppendNull(nil))).Receipts[0]
	if r.Code != chain.CodeOK || string(r.Output) != "\x65E1101" {
		t.Errorf("%s, output %q", chain.CodeName(r.Code), r.Output)
	}
	if got := c.state.Balance(beastly); got != 0 {
		t.Errorf("a bond that was never paid came back as %d", got)
	}
}
