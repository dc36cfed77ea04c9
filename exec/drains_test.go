package exec_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/rent"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/roles"
)

// errDrained says that a block took from a sender what the table of instructions does not
// say of what it sent.
var errDrained = errors.New("a block took more from a sender than the table says")

// means are what a sender has of what its transactions need.
type means struct {
	balance chain.Wei
	runner  bool
	spender bool // it has paid for another's restoration, as it had allowed
}

// meansOf looks at the senders of a block in a state.
func meansOf(v state.View, txs []*chain.VerifiedTx) (map[chain.Address]means, error) {
	all := map[chain.Address]means{}
	for _, tx := range txs {
		a, _, err := v.Account(tx.Sender)
		if err != nil {
			return nil, err
		}
		is, err := roles.IsRunner(v, tx.Sender)
		if err != nil {
			return nil, err
		}
		all[tx.Sender] = means{balance: a.Balance, runner: is}
	}
	return all, nil
}

// sponsors notes who paid for another's restoration: its allowance is used up.
func sponsors(all map[chain.Address]means, d *state.Delta) {
	c, _ := d.Change(chain.AddrRent)
	for a, m := range all {
		m.spender = slices.ContainsFunc(c.Storage, func(s state.StorageChange) bool {
			return s.Value == nil && strings.Contains(string(s.Key), "s/"+string(a[:]))
		})
		all[a] = m
	}
}

// behind is a view behind a block: with its writes on top.
type behind struct {
	state.View
	delta *state.Delta
}

func (w behind) Account(a chain.Address) (state.Account, bool, error) {
	if c, ok := w.delta.Change(a); ok && c.Account != nil {
		return *c.Account, true, nil
	}
	return w.View.Account(a)
}

func (w behind) Storage(a chain.Address, k state.StorageKey) ([]byte, error) {
	c, _ := w.delta.Change(a)
	for i := range c.Storage {
		if c.Storage[i].Key == k {
			return c.Storage[i].Value, nil
		}
	}
	return w.View.Storage(a, k)
}

// drained holds a block to the table of instructions, which what packs blocks trusts (ADR
// 211). No sender loses more money than the fees and values of its transactions, and none
// its role as a runner, but by rows that say so. left is what senders have behind them.
func drained(view state.View, left map[chain.Address]means, txs []*chain.VerifiedTx, r *exec.Result) error {
	began, err := meansOf(view, txs)
	if err != nil {
		return err
	}
	paid, drains := map[chain.Address]chain.Wei{}, map[chain.Address]chain.Means{}
	for i, tx := range txs {
		ins, err := tx.Tx.Classify()
		if err != nil {
			return err
		}
		paid[tx.Sender] += r.Receipts[i].Fee
		if r.Receipts[i].Code == chain.CodeOK {
			paid[tx.Sender] += tx.Tx.Value
		}
		drains[tx.Sender] |= ins.Drains
	}
	sponsors(left, r.Delta)
	for a, before := range began {
		now := left[a]
		if lost := before.balance - min(now.balance, before.balance); lost > paid[a] && drains[a]&chain.MeansFunds == 0 && !now.spender {
			return fmt.Errorf("%w: %s lost %d, its transactions were %d", errDrained, a, lost, paid[a])
		}
		if before.runner && !now.runner && drains[a]&chain.MeansRole == 0 {
			return fmt.Errorf("%w: %s is no runner any more", errDrained, a)
		}
	}
	return nil
}

// TestDrainsOfTheTable has every row that is said to take more than value and fee do so, and
// the row that is said to end a role.
func TestDrainsOfTheTable(t *testing.T) { // ADR 211
	seen := map[uint64]bool{}
	pays := func(opcode uint64, balance func() chain.Wei, send func() chain.Receipt) {
		t.Helper()
		before := balance()
		r := send()
		if lost := before - balance(); r.Code != chain.CodeOK || lost <= r.Fee {
			t.Errorf("instruction %d: %s, %d lost and a fee of %d", opcode, chain.CodeName(r.Code), lost, r.Fee)
		}
		seen[opcode] = true
	}

	w := newWorkshop(t, nil)
	own := w.only(textOf(t, w.call("at", uintArg(200)).Output))
	name, more := cbor.AppendBytes(nil, own.ID[:]), cbor.AppendText(cbor.AppendMap(nil, 1), "cycles_limit")
	for opcode, tx := range map[uint64]func() *chain.VerifiedTx{
		chain.OpTimerSchedule: func() *chain.VerifiedTx { return w.scheduled(uint64(w.height)+60, "at") },
		chain.OpTimerExtend:   func() *chain.VerifiedTx { return w.order(alice, chain.OpTimerExtend, name, uintArg(300)) },
		chain.OpTimerConfig: func() *chain.VerifiedTx {
			return w.order(alice, chain.OpTimerConfig, name, append(more, uintArg(300_000)...))
		},
	} {
		pays(opcode, func() chain.Wei { return w.state.Balance(alice) }, func() chain.Receipt { return w.step(tx()).Receipts[0] })
	}

	r := newRanch(t, func(p *params.Params) { p.Rent.PricePerByteYear = 1_000_000_000_000_000 })
	r.deploy(100*chain.WeiPerCBY, "econ.hold_balance", "econ.transfer", "storage.kv", "timer.schedule")
	entries := rent.Arrange(r.stored)
	ofBob := func(opcode uint64, more ...[]byte) {
		t.Helper()
		pays(opcode, func() chain.Wei { return r.balance(bob) }, func() chain.Receipt { return r.one(r.rentTx(bob, opcode, more...)) })
	}
	ofBob(chain.OpRentPrepay, uintArg(2))
	r.until(rent.Dormant)
	ofBob(chain.OpRestoreBegin, uintArg(uint64(r.height)+50))
	for _, part := range [][]state.StorageChange{entries[:12], entries[12:]} {
		tx := r.rentTx(bob, chain.OpRestorePut, chunkOf(part)).Tx
		tx.CellsLimit = 100_000
		if got := r.one(verified(tx, bob)); got.Code != chain.CodeOK {
			t.Fatalf("put: %s", chain.CodeName(got.Code))
		}
	}
	ofBob(chain.OpRestoreCommit, cbor.AppendNull(nil))

	c := marketChain(t, rich(alice))
	c.runnerDoes(alice, 30*chain.WeiPerCBY, plainRegistration(0))
	was, _ := roles.IsRunner(c.state, alice)
	c.runnerDoes(alice, 0, opPayload(chain.OpRunnerDeregister))
	if is, err := roles.IsRunner(c.state, alice); !was || is || err != nil {
		t.Errorf("a runner before: %v, and after it has deregistered: %v, %v", was, is, err)
	}
	seen[chain.OpRunnerDeregister] = true

	for _, row := range chain.InstructionTable() {
		if row.Drains != 0 && !seen[row.Opcode] {
			t.Errorf("%s is said to take something, and nothing here shows it", row.Name)
		}
	}
}
