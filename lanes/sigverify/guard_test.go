package sigverify

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

// TestGuard: what the guard of a submission refuses enters no lane, with the guard's error as
// its verdict, and neither it nor another submission of the same batch is mixed up with it.
func TestGuard(t *testing.T) {
	lanes := &taker{refuse: map[uint64]error{7: errors.New("lanes")}}
	cfg := DefaultConfig(1)
	p, cancel := background(t, cfg, lanes)
	defer cancel()
	odd := errors.New("odd")
	guard := func(tx *chain.VerifiedTx) error {
		if tx.Sender != key(t, 1).PublicKey().Address() {
			t.Errorf("the guard sees the sender %s", tx.Sender)
		}
		if tx.Tx.Nonce%2 == 1 && tx.Tx.Nonce != 7 {
			return odd
		}
		return nil
	}
	var bodies, free [][]byte
	for nonce := range uint64(8) {
		bodies, free = append(bodies, signed(t, 1, nonce)), append(free, signed(t, 2, nonce))
	}
	bodies = append(bodies, []byte("no transaction"))
	done := make(chan []Verdict, 2)
	reply := func(v []Verdict) { done <- v }
	for _, g := range []struct {
		guard  Guard
		bodies [][]byte
	}{{nil, free}, {guard, bodies}} {
		if err := p.SubmitOf(netip.MustParseAddr("10.0.0.1"), g.guard, g.bodies, nil, reply); err != nil {
			t.Fatal(err)
		}
	}
	one, two := <-done, <-done
	if len(one) != len(free) {
		one, two = two, one
	}
	for i, v := range one {
		if (v.Err == nil) != (i != 7) {
			t.Errorf("without a guard, nonce %d: %v", i, v.Err)
		}
	}
	for i, v := range two {
		want := error(nil)
		switch {
		case i == 7:
			want = lanes.refuse[7]
		case i == 8:
			want = v.Err
		case i%2 == 1:
			want = odd
		}
		if v.Err != want || i == 8 && v.Err == nil || v.Hash != chain.TxHash(bodies[i]) || (v.Tx == nil) != (want == odd || i == 8) {
			t.Errorf("nonce %d: %+v, want %v", i, v, want)
		}
	}
	for _, tx := range lanes.taken {
		if tx.Sender == key(t, 1).PublicKey().Address() && tx.Tx.Nonce%2 == 1 {
			t.Errorf("nonce %d is in the lanes", tx.Tx.Nonce)
		}
	}
	if len(lanes.taken) != 7+4 {
		t.Errorf("%d are in the lanes", len(lanes.taken))
	}
}
