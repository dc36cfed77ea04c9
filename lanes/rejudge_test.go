package lanes

import (
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/state"
)

// TestChangedParametersJudgeThePool: when governance raises what a transfer costs, what was
// signed for less leaves at once, whatever it pays, and what was signed for more counts
// with the new cost, its chain in its order.
func TestChangedParametersJudgeThePool(t *testing.T) {
	params, view := params.Default(), wealthy()
	l := idle(t, params, view)
	var m maker
	const crowd, chained = 100, 20
	for i := range byte(crowd) { // at the old price, and above everybody
		mustAdmit(t, l, m.transfer(100+i, 0, 1_000, params.Intrinsic.TransferCycles))
	}
	for nonce := range uint64(chained) {
		if err := l.Admit(t.Context(), []*chain.VerifiedTx{m.transfer(1, nonce, 1, 60_000)})[0]; err != nil {
			t.Fatal(err)
		}
	}
	dearer := params
	dearer.Intrinsic.TransferCycles *= 2
	head := FinalizedHead{Height: 1, View: view, BaseFees: evenFees(1), Params: &dearer}
	if err := l.Finalized(t.Context(), head); err != nil {
		t.Fatal(err)
	}
	if n := l.Stats().Lanes[chain.LaneUser].Txs; n != chained {
		t.Errorf("%d transactions wait, want the %d that pay the new price", n, chained)
	}
	req := request(&dearer, view)
	req.Height = 2
	packed, err := l.Pack(t.Context(), *req)
	if err != nil {
		t.Fatal(err)
	}
	if want := chain.Cycles(chained) * dearer.Intrinsic.TransferCycles; len(packed.Txs) != chained || packed.Counted[chain.LaneUser].Cycles != want {
		t.Errorf("packed %s, counted with %d cycles, want %d of %d", names(packed.Txs), packed.Counted[chain.LaneUser].Cycles, chained, want)
	}
	head.Height++
	if err := l.Finalized(t.Context(), head); err != nil || l.Stats().Lanes[chain.LaneUser].Txs != chained {
		t.Errorf("the same parameters once more: %v, %d wait", err, l.Stats().Lanes[chain.LaneUser].Txs)
	}
	if err := l.Admit(t.Context(), []*chain.VerifiedTx{m.transfer(2, 0, 1, params.Intrinsic.TransferCycles)})[0]; err == nil || errors.Is(err, ErrKnown) {
		t.Errorf("one at the old price: %v", err)
	}
}

// TestChangedParametersJudgeThePoolAfterAnError: a head whose state cannot be read any more
// is given again, and the change that came with it is not forgotten.
func TestChangedParametersJudgeThePoolAfterAnError(t *testing.T) {
	params, view := params.Default(), wealthy()
	l := idle(t, params, view)
	var m maker
	tx := m.transfer(1, 0, 1, params.Intrinsic.TransferCycles)
	mustAdmit(t, l, tx)
	dearer := params
	dearer.Intrinsic.TransferCycles *= 2
	gone := errors.New("gone")
	head := FinalizedHead{Height: 1, View: unreadable{err: gone}, BaseFees: evenFees(1), Params: &dearer, Touched: []chain.Address{tx.Sender}}
	if err := l.Finalized(t.Context(), head); !errors.Is(err, gone) {
		t.Fatalf("a head that cannot be read: %v", err)
	}
	head.View = view
	if err := l.Finalized(t.Context(), head); err != nil {
		t.Fatal(err)
	}
	if n := l.Stats().Lanes[chain.LaneUser].Txs; n != 0 {
		t.Errorf("%d transactions wait at the old price", n)
	}
}

// unreadable is a state that is gone.
type unreadable struct {
	state.View
	err error
}

func (u unreadable) Account(chain.Address) (state.Account, bool, error) {
	return state.Account{}, false, u.err
}
