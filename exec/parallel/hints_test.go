package parallel

import (
	"encoding/hex"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// TestNamed: addresses are found in arguments as bytes and as text, and nothing
// hostile costs more than its bounds.
func TestNamed(t *testing.T) {
	a, b := chain.Address{1, 19: 2}, chain.Address{3, 19: 4}
	pair := cbor.AppendText(cbor.AppendBytes(cbor.AppendArray(nil, 2), a[:]), b.String())
	var many []byte
	for i := range 2 * mostNamed {
		many = cbor.AppendBytes(many, append([]byte{9, byte(i)}, make([]byte, 18)...))
	}
	for name, row := range map[string]struct {
		arg  []byte
		want int
	}{
		"none":          {cbor.AppendNull(nil), 0},
		"both forms":    {pair, 2},
		"cut in bytes":  {pair[:20], 0},
		"cut in text":   {pair[:len(pair)-1], 1},
		"no digits":     {cbor.AppendText(nil, "0x"+string(make([]byte, 40))), 0},
		"a system's":    {cbor.AppendBytes(nil, chain.AddrTreasury[:]), 0},
		"too many":      {many, mostNamed},
		"far behind":    {append(make([]byte, mostScanned), pair...), 0},
		"across bounds": {append(make([]byte, mostScanned-10), pair...), 0},
	} {
		if got := named(row.arg); len(got) != row.want {
			t.Errorf("%s: %v, want %d", name, got, row.want)
		}
	}
	if got := named(pair); len(got) == 2 && (got[0] != a || got[1] != b) {
		t.Errorf("got %v, want %v and %v", got, a, b)
	}
}

// TestTrust: what is made of the addresses that a message names follows what its
// handler does with them, which for lists is at first what they say.
func TestTrust(t *testing.T) {
	target, other := chain.Address{5, 19: 5}, chain.Address{6, 19: 6}
	c := call{handler: "ask"}
	m := newMemory()
	message := func() footprint {
		return footprint{message: true, hints: hints{inList: {other}, inArgument: {target}}}
	}
	foreseen := func(a chain.Address) bool {
		f := message()
		m.foresee(c, &f)
		return has(f.touches, resource{addr: a})
	}
	if !foreseen(other) || foreseen(target) {
		t.Error("without experience a list is not waited for, or an argument is")
	}
	learn := func(touched chain.Address) {
		f, s := message(), observed{}
		s.add(&f, resource{addr: touched}, writes)
		m.learn(c, &f, &s)
	}
	for range most {
		learn(target)
	}
	if foreseen(other) || !foreseen(target) {
		t.Error("a list that is wrong is waited for, or an argument that is right is not")
	}
	for range most {
		learn(other)
	}
	if !foreseen(other) || foreseen(target) {
		t.Error("what handlers do no more is remembered for ever")
	}
	if h := m.calls[c]; len(h.touches) != 0 {
		t.Errorf("what messages name is remembered as the handler's own: %v", h.touches)
	}
}

// TestListsReserveLittle: a false access list makes others wait for a few addresses
// at most, that of a transfer for none, and to read the longest takes no comparison of
// its entries with each other.
func TestListsReserveLittle(t *testing.T) {
	sender, to := chain.Address{1, 19: 1}, chain.Address{2, 19: 2}
	list := []chain.AccessEntry{{Address: chain.AddrTreasury}, {Address: sender}, {Address: to}}
	for i := range chain.MaxAccessEntries - len(list) {
		list = append(list, chain.AccessEntry{Address: chain.Address{3, byte(i >> 8), byte(i), 19: 1}})
	}
	message, _ := hex.DecodeString("82" + "6178" + "41f6")
	for name, row := range map[string]struct {
		to      chain.Address
		payload []byte
		touches int // besides the sender and a plain target
		hints   int
	}{
		"a transfer":     {to, nil, 0, 0},
		"a message":      {to, message, 0, mostNamed},
		"an instruction": {chain.AddrActors, message, mostReserved, 0},
	} {
		tx := chain.VerifiedTx{Tx: &chain.Tx{To: &row.to, Payload: row.payload, AccessList: list}, Sender: sender}
		f := foresee(&tx)
		own := 1
		if !row.to.IsSystem() {
			own = 2
		}
		if len(f.touches)-own != row.touches || f.declared != len(f.touches) || len(f.hints[inList]) != row.hints {
			t.Errorf("%s reserves %d addresses and hints at %d, want %d and %d",
				name, len(f.touches)-own, len(f.hints[inList]), row.touches, row.hints)
		}
		if f.touches[0] != (touch{resource{addr: sender}, writes}) {
			t.Errorf("%s: the sender is touched as %+v", name, f.touches[0])
		}
	}
}
