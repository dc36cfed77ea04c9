package actor

import (
	"errors"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/rent"
)

// frame is one handler under way: the chain that its program sees.
type frame struct {
	run     *Run
	msg     *Envelope
	rec     *Record
	grants  manifest.Grants
	machine *vm.Machine
	env     host.Env
	parent  uint64            // of what it sends: 0, or 1 + its place in the trace
	counts  map[string]uint64 // uses of entitlements in this execution
	marks   []mark            // where the functions of the library under way began
}

func (r *Run) frame(e *Envelope, a *state.Account, rec *Record) (*frame, error) {
	grants, err := r.grants(rec)
	if err != nil {
		return nil, err
	}
	return &frame{
		run: r, msg: e, rec: rec, grants: grants, parent: uint64(len(r.trace)),
		env: host.Env{
			ChainID: r.block.ChainID, Height: uint64(r.block.Height), Timestamp: r.block.TimestampMillis,
			Self: e.To, Sender: e.From, Origin: r.start.Origin, Creator: rec.Creator,
			Value: uint64(e.Value), CodeHash: a.CodeHash, CallID: r.callID(),
		},
	}, nil
}

// Attach implements pvm.Host.
func (f *frame) Attach(m *vm.Machine) { f.machine = m }

// Begin implements host.Undoing: a refusal that the program catches leaves
// nothing behind.
func (f *frame) Begin() { f.marks = append(f.marks, f.run.mark()) }

// End implements host.Undoing.
func (f *frame) End() { f.marks = f.marks[:len(f.marks)-1] }

// Undo implements host.Undoing. What the messages taken back had reserved stays
// charged.
func (f *frame) Undo() { f.run.undo(f.marks[len(f.marks)-1]) }

// Env implements host.Chain.
func (f *frame) Env() host.Env { return f.env }

// changes refuses in a run that only reads.
func (f *frame) changes() error {
	if f.run.start.ReadOnly {
		return &host.Refusal{Code: host.RefusedReadOnly, Text: "this call only reads"}
	}
	return nil
}

// checkText refuses what is not UTF-8 before it goes into a record, a receipt or a hash. The
// machine makes no such strings; if it ever does, that one call fails, and no block does
// whose records cannot be read.
func checkText(texts ...string) error {
	// Bounded: by the texts in the source, two.
	for _, s := range texts {
		if !utf8.ValidString(s) {
			return &host.Refusal{Code: host.RefusedArgument, Text: "text is not UTF-8"}
		}
	}
	return nil
}

// money turns the verdicts of package funds into refusals.
func money(err error) error {
	switch {
	case errors.Is(err, funds.ErrShort):
		return &host.Refusal{Code: host.RefusedFunds, Text: "the balance is too small"}
	case errors.Is(err, funds.ErrOverflow):
		return &host.Refusal{Code: host.RefusedLimit, Text: "the receiver's balance would exceed 64 bits"}
	}
	return err
}

// Actor implements host.Chain.
func (f *frame) Actor(addr chain.Address) (host.Actor, bool, error) {
	a, ok, err := f.run.state.Account(addr)
	if err != nil || !ok {
		return host.Actor{}, false, err
	}
	out := host.Actor{}
	if !a.HasCode() {
		return out, true, nil
	}
	rec, err := f.run.record(addr)
	if err != nil {
		return out, false, err
	}
	out.Code, out.Creator, out.Deployed = a.CodeHash, rec.Creator, uint64(rec.Deployed)
	if out.Dormant = rent.Dormant(&a); out.Dormant {
		return out, true, nil // what its storage holds is a claim of who restores it
	}
	size, err := f.run.state.StorageSize(addr)
	out.Storage = size.Bytes
	return out, true, err
}

// Balance implements host.Balances.
func (f *frame) Balance(addr chain.Address) (uint64, error) {
	n, err := funds.Balance(f.run.state, addr)
	return uint64(n), err
}

// Transfer implements host.Balances.
func (f *frame) Transfer(to chain.Address, amount uint64) error {
	if err := f.changes(); err != nil {
		return err
	}
	if err := f.spend(amount); err != nil {
		return err
	}
	if to.IsSystem() && to != chain.AddrTreasury {
		return &host.Refusal{Code: host.RefusedTarget, Text: "a system actor takes no transfers"}
	}
	if err := f.mayReceive(to); err != nil {
		return err
	}
	if err := f.debit(chain.Wei(amount)); err != nil {
		return err
	}
	return money(f.run.credit(to, chain.Wei(amount)))
}

// spend passes money that leaves the actor through econ.transfer: max_amount
// bounds one transfer, max_per_block their sum (entitlements §9.7).
func (f *frame) spend(amount uint64) error {
	if amount == 0 {
		return nil
	}
	g, err := f.need(manifest.Transfer)
	if err != nil {
		return err
	}
	if most, ok := g.Uint(manifest.MaxAmount); ok && amount > most {
		return &Trap{chain.CodeEntitlementQuota, "econ.transfer/max_amount"}
	}
	most, ok := g.Uint(manifest.MaxPerBlock)
	if !ok {
		return nil
	}
	l, err := ReadQuota(f.run.state, f.env.Self)
	if err != nil {
		return err
	}
	if l.PaidAt != f.run.block.Height {
		l.Paid, l.PaidAt = 0, f.run.block.Height
	}
	if amount > most-min(uint64(l.Paid), most) {
		return &Trap{chain.CodeEntitlementQuota, "econ.transfer/max_per_block"}
	}
	l.Paid += chain.Wei(amount)
	WriteQuota(f.run.state, f.env.Self, l)
	return nil
}
