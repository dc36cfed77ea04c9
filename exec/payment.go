package exec

import (
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/state"
)

// payment is a transfer without payload between accounts without code that is valid and
// succeeds, worked out and not written. It takes two looks at accounts and no record of
// what was there before, where [block.execute], which is the rule, takes seven and three.
//
// It is that rule's result: [fees.Validity] judges with the same standing, and whatever is
// not a plain success is left to the rule, before anything is written (ADR 187).
type payment struct {
	accounts Accounts // that hold from and to
	from, to state.Held
	nonce    uint64    // of the sender, afterwards
	left     chain.Wei // to the sender
	received chain.Wei // the balance of another receiver, afterwards
	result   Execution
}

// IsPayment reports whether a transaction may be a payment, as far as it says itself.
func IsPayment(tx *chain.VerifiedTx) bool {
	return len(tx.Tx.Payload) == 0 && tx.Tx.To != nil && !tx.Tx.To.IsSystem()
}

// Accounts are where payments look up and change accounts: a [state.Overlay], or several
// that are one state (package exec/parallel).
type Accounts interface {
	Hold(chain.Address) (state.Held, bool)
	Drop(*state.Held)
	SetHeld(h *state.Held, nonce uint64, balance chain.Wei)
}

// payable works out a payment, which is good until the next call. It writes nothing.
func (b *block) payable(tx *chain.VerifiedTx, in Accounts) (p *payment, ok bool) {
	if !IsPayment(tx) {
		return nil, false
	}
	p = b.payment
	*p = payment{accounts: in}
	if p.from, ok = in.Hold(tx.Sender); !ok {
		return nil, false
	}
	p.to = p.from
	if *tx.Tx.To != tx.Sender {
		if p.to, ok = in.Hold(*tx.Tx.To); !ok {
			in.Drop(&p.from)
			return nil, false
		}
	}
	if ok = b.work(p, tx); !ok {
		p.drop()
	}
	return p, ok
}

// drop gives up a payment.
func (p *payment) drop() {
	if !p.to.Same(&p.from) {
		p.accounts.Drop(&p.to)
	}
	p.accounts.Drop(&p.from)
}

// work does the sums of a payment. It is false for all that is not a plain success.
func (b *block) work(p *payment, tx *chain.VerifiedTx) bool {
	from, to := p.from.Account(), p.to.Account()
	if from.HasCode() || to.HasCode() {
		return false
	}
	ins, err := b.judge(tx, from, placeWithoutCode{b})
	if err != nil {
		return false
	}
	exists := to.Own() || p.to.Same(&p.from) // who sends has a nonce
	cost, ok := b.costOf(ins, tx, exists)
	if !ok {
		return false
	}
	var carry uint64
	received, carry := bits.Add64(uint64(to.Balance), uint64(tx.Tx.Value), 0)
	if p.received = chain.Wei(received); carry != 0 && !p.to.Same(&p.from) {
		return false // it fails, and pays
	}
	p.nonce, p.result = from.Nonce+1, cost.execution()
	p.left = from.Balance - cost.fee() // the rule covers fee and value
	if !p.to.Same(&p.from) {
		p.left -= tx.Tx.Value
	}
	return true
}

// paymentCost is what a payment uses and pays besides its value.
type paymentCost struct {
	used        chain.Usage
	burned, tip chain.Wei
}

func (d *paymentCost) fee() chain.Wei { return d.burned + d.tip }

func (d *paymentCost) execution() (a Execution) {
	a.out.Used, a.burned, a.tip = d.used, d.burned, d.tip
	return a
}

// costOf is false where the limits do not cover the account that the payment makes.
func (b *block) costOf(ins chain.Instruction, tx *chain.VerifiedTx, exists bool) (d paymentCost, ok bool) {
	d.used = b.in.Params.Intrinsic.Of(ins)
	if !exists && tx.Tx.Value > 0 {
		cells := b.foundingCells()
		if cells > tx.Tx.CellsLimit-d.used.Cells { // the rule has compared these two
			return d, false
		}
		d.used.Cells += cells
	}
	var err error
	_, d.burned, d.tip, err = fees.Charge(tx.Tx, b.in.BaseFees[tx.Lane], d.used)
	return d, err == nil
}

// placeWithoutCode is a place in the block whose target is known to have no code.
type placeWithoutCode struct{ *block }

// Target implements [fees.Place].
func (placeWithoutCode) Target(*chain.Tx) (fees.Target, error) { return fees.Target{}, nil }

// takePayment writes a payment and books it. The error is a [*Fault].
func (b *block) takePayment(tx *chain.VerifiedTx, p *payment) error {
	p.accounts.SetHeld(&p.from, p.nonce, p.left)
	if tx.Tx.Value > 0 && !p.to.Same(&p.from) {
		p.accounts.SetHeld(&p.to, p.to.Account().Nonce, p.received)
	} else {
		p.drop()
	}
	return b.commit(tx, &p.result)
}
