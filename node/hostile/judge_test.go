package hostile

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/lanes"
	"github.com/cowboy-foundation/cowboy/state"
)

// answer is what became of a transaction: a refusal or a receipt.
type answer struct {
	refused error
	receipt *chain.Receipt
}

func (a answer) String() string {
	if a.refused != nil {
		return "refused: " + a.refused.Error()
	}
	return chain.CodeName(a.receipt.Code)
}

// judge hands a transaction to the lanes, and to execution in each of its ways, and
// holds them to one answer and the answer to the rules.
func (w *world) judge(tx *chain.VerifiedTx) (answer, error) {
	admitted := w.lanes.Admit(context.Background(), []*chain.VerifiedTx{tx})[0]
	if admitted == nil {
		if err := w.lanes.Discard(context.Background(), []*chain.VerifiedTx{tx}); err != nil {
			return answer{}, err
		}
	}
	r, err := exec.Apply(w.state, w.inputs(), []*chain.VerifiedTx{tx})
	want := render(r, err)
	for i, x := range w.executors {
		if got := render(x.Apply(w.state, w.inputs(), []*chain.VerifiedTx{tx})); got != want {
			return answer{}, fmt.Errorf("executor %d: %s, want %s", i, got, want)
		}
	}
	var invalid *exec.InvalidTx
	switch {
	case errors.As(err, &invalid):
		return answer{refused: invalid.Err}, sameReason(admitted, invalid.Err)
	case err != nil:
		return answer{}, err
	case admitted != nil:
		return answer{}, fmt.Errorf("lanes refuse what a block takes: %w", admitted)
	}
	a := answer{receipt: &r.Receipts[0]}
	if err := w.conserves(&r); err != nil {
		return a, err
	}
	if a.receipt.Code != chain.CodeOK {
		return a, w.paidOnly(tx, &r)
	}
	return a, nil
}

// sameReason wants lanes to refuse for the reason for which a block does. A nonce is
// named by two types: to the pool one that is ahead is welcome.
func sameReason(admitted, invalid error) error {
	var low *lanes.NonceTooLowError
	switch {
	case admitted == nil && exec.MayPass(invalid):
		return nil
	case admitted == nil:
		return fmt.Errorf("lanes take what no block takes: %w", invalid)
	case errors.As(admitted, &low), admitted.Error() == invalid.Error():
		return nil
	}
	return fmt.Errorf("lanes: %w; block: %w", admitted, invalid)
}

// render writes out what all ways of execution must agree on.
func render(r exec.Result, err error) string {
	if err != nil {
		return err.Error()
	}
	var s strings.Builder
	for i := range r.Receipts {
		fmt.Fprintf(&s, "%x\n", r.Receipts[i].Encode())
	}
	fmt.Fprintln(&s, r.Used, r.Burned, r.Issued, r.Tips)
	for _, c := range r.Delta.Accounts() {
		fmt.Fprintln(&s, c.Address, c.Cleared, c.Account)
		for _, e := range c.Storage {
			fmt.Fprintf(&s, "  %q %v %x\n", e.Key, e.Value == nil, e.Value)
		}
	}
	return s.String()
}

// conserves holds the balances that a block changes to what it issued and burned.
func (w *world) conserves(r *exec.Result) error {
	gained := int64(0)
	for _, c := range r.Delta.Accounts() {
		if c.Account == nil {
			continue
		}
		before, _, err := w.state.Account(c.Address)
		if err != nil {
			return err
		}
		gained += int64(c.Account.Balance) - int64(before.Balance)
	}
	if want := int64(r.Issued) - int64(r.Burned); gained != want {
		return fmt.Errorf("balances grew by %d, want %d", gained, want)
	}
	return nil
}

// place is an account, or an entry of its storage.
type place struct {
	addr chain.Address
	key  state.StorageKey
}

// wrote returns the places that a block writes.
func (w *world) wrote(r exec.Result) map[place]bool {
	out := map[place]bool{}
	for _, c := range r.Delta.Accounts() {
		if c.Account != nil || c.Cleared {
			out[place{addr: c.Address}] = true
		}
		for _, e := range c.Storage {
			out[place{c.Address, e.Key}] = true
		}
	}
	return out
}

// paidOnly wants a failed transaction to have changed its sender's nonce and
// balance, what the block changes anyway, and what the actor may use in the block.
func (w *world) paidOnly(tx *chain.VerifiedTx, r *exec.Result) error {
	receipt := &r.Receipts[0]
	for at := range w.wrote(*r) {
		ledger := at.addr == chain.AddrActors && strings.Contains(string(at.key), "ledger")
		if at != (place{addr: tx.Sender}) && !w.idle[at] && !ledger {
			return fmt.Errorf("%s wrote %s %q", chain.CodeName(receipt.Code), at.addr, at.key)
		}
	}
	if len(receipt.Output) > 0 {
		return fmt.Errorf("%s has an answer", chain.CodeName(receipt.Code))
	}
	before, after, err := w.balance(tx.Sender, r)
	if err != nil {
		return err
	}
	if tx.Sender == alice {
		before += w.wage
	}
	if after != before-receipt.Fee {
		return fmt.Errorf("sender had %d and has %d, the fee is %d", before, after, receipt.Fee)
	}
	return nil
}

// balance returns the balance of an account before and after a block.
func (w *world) balance(addr chain.Address, r *exec.Result) (before, after chain.Wei, err error) {
	a, _, err := w.state.Account(addr)
	before, after = a.Balance, a.Balance
	for _, c := range r.Delta.Accounts() {
		if c.Address == addr && c.Account != nil {
			after = c.Account.Balance
		}
	}
	return before, after, err
}
