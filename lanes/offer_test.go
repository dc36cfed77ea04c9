package lanes

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/state"
)

// TestOffer: of a payment it is known beforehand what it uses, whatever its target is
// or becomes. With a payload it may use all of its limits; it is a message, which
// takes from its actor what it does not pay to be there, where the last head has code.
func TestOffer(t *testing.T) {
	actor, account := chain.Address{0xac}, chain.Address{0xcc}
	params := params.Default()
	without := wealthy()
	with := without.with(actor, 0, 0)
	code := state.NewAccount()
	code.CodeHash = chain.Hash{1}
	with.of[actor] = code
	message := cbor.AppendBytes(cbor.AppendText(cbor.AppendArray(nil, 2), "go"), cbor.AppendNull(nil))

	const cyclesLimit, cellsLimit = 100_000, 500
	var m maker
	judged := func(l *Lanes, to chain.Address, payload []byte) offer {
		t.Helper()
		tx := m.transfer(1, 0, 1, cyclesLimit)
		tx.Tx.To, tx.Tx.Payload, tx.Tx.CellsLimit = &to, payload, cellsLimit
		o := l.offer(tx)
		if o.Err != nil {
			t.Fatal(o.Err)
		}
		return o
	}
	intrinsic := func(to chain.Address, payload []byte, hasCode bool) chain.Usage {
		tx := chain.Tx{To: &to, Payload: payload}
		ins, err := tx.Classify()
		if err != nil {
			t.Fatal(err)
		}
		return params.Intrinsic.Of(ins.WithCode(hasCode))
	}
	tests := []struct {
		name    string
		to      chain.Address
		payload []byte
		calls   bool // once the target has code
	}{
		{"a payment", account, nil, false},
		{"a payment to an actor", actor, nil, false},
		{"a payment with a payload", account, message, false},
		{"a message", actor, message, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			held := func(o offer, calls bool) {
				t.Helper()
				var unused chain.Usage // what runs a program may use it all
				if !calls {
					uses := intrinsic(tt.to, tt.payload, false)
					unused = chain.Usage{Cycles: cyclesLimit - uses.Cycles, Cells: cellsLimit - uses.Cells}
				}
				if (o.Key != 0) != calls {
					t.Errorf("key %d: only what runs a program is learned about", o.Key)
				}
				if o.Unused != unused {
					t.Errorf("unused %+v, want %+v", o.Unused, unused)
				}
				switch most := cyclesLimit - intrinsic(tt.to, tt.payload, true).Cycles; {
				case !calls && o.Calls != (call{}):
					t.Errorf("takes %+v from an actor, want nothing", o.Calls)
				case calls && (o.Calls.Actor == nil || *o.Calls.Actor != tt.to || o.Calls.Most != most):
					t.Errorf("takes %+v, want %d from its target", o.Calls, most)
				}
			}
			held(judged(idle(t, params, with), tt.to, tt.payload), tt.calls) // the first head's

			l := idle(t, params, without)
			held(judged(l, tt.to, tt.payload), false)
			if err := l.Finalized(t.Context(), FinalizedHead{Height: 1, View: with, BaseFees: evenFees(1)}); err != nil {
				t.Fatal(err)
			}
			held(judged(l, tt.to, tt.payload), tt.calls)
		})
	}
}
