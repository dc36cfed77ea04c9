package exec_test

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/state"
)

// What a failing transaction leaves is its fee and its use: its sender has paid, the
// proposer has the tip, and the buckets of actors are lower. Nothing that it wrote, sent,
// reserved or put into escrow stays.

var errLeft = errors.New("a failing transaction has left something")

// leavesNothing holds the first transaction of a block to that, where it fails by itself.
func leavesNothing(view state.View, in exec.Inputs, txs []*chain.VerifiedTx) error {
	if len(txs) == 0 {
		return nil
	}
	in.Engine.Watch(nil)
	with, err := exec.Apply(view, in, txs[:1])
	if err != nil || with.Receipts[0].Code == chain.CodeOK {
		return nil // of another's nonce, or nothing failed
	}
	without, err := exec.Apply(view, in, nil)
	if err != nil || len(with.Receipts)+len(without.Receipts) > 1 || without.Used != (exec.Result{}).Used {
		return err // what runs after it finds its code loaded and its buckets lower
	}
	paid := map[chain.Address]bool{txs[0].Sender: true, in.Proposer: true}
	was := written(without.Delta)
	for at, value := range written(with.Delta) {
		switch now, ok := was[at]; {
		case ok && now == value, at.slot == "" && paid[at.addr], at.addr == chain.AddrTreasury:
			continue // supply and meter are the Treasury's
		case at.addr == chain.AddrActors && strings.HasPrefix(at.slot[1:], "ledger/"):
			continue // a bucket
		case at.addr == chain.AddrTimers && at.slot == "\x00h":
			continue // what the block used, which agents are told
		case !ok && value == before(view, at):
			continue
		}
		return fmt.Errorf("%w: %s (%s) wrote %s %q: %.120s", errLeft, txs[0].Hash, chain.CodeName(with.Receipts[0].Code), at.addr, at.slot, value)
	}
	return nil
}

// spot is an account, or a slot of its storage.
type spot struct {
	addr chain.Address
	slot string
}

// written is what a delta writes, by place.
func written(d *state.Delta) map[spot]string {
	out := map[spot]string{}
	for _, c := range d.Accounts() {
		if c.Cleared || c.Account != nil {
			out[spot{c.Address, ""}] = fields(c.Account)
		}
		for _, w := range c.Storage {
			out[spot{c.Address, string(w.Key)}] = fmt.Sprintf("%x", w.Value)
		}
	}
	for _, c := range d.Codes() {
		out[spot{slot: "code " + c.Hash.String()}] = fmt.Sprint(len(c.Code))
	}
	return out
}

// before is what stood at a place.
func before(view state.View, at spot) string {
	if at.slot != "" {
		v, err := view.Storage(at.addr, state.StorageKey(at.slot))
		return fmt.Sprintf("%x", v) + errText(err)
	}
	a, there, err := view.Account(at.addr)
	if !there {
		return "" + errText(err)
	}
	return fields(&a) + errText(err)
}

func errText(err error) string {
	if err != nil {
		return err.Error()
	}
	return ""
}

func fields(a *state.Account) string {
	if a == nil {
		return "none"
	}
	return fmt.Sprint(a.Nonce, a.Balance, a.CodeHash, a.Meta)
}
