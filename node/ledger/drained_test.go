package ledger

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
)

// drainage is a chain on which some accounts have an actor each, so that an instruction can
// take their money, and others do nothing but pay.
type drainage struct {
	*fixture
	t       *testing.T
	l       *Ledger
	thieves []*secp256k1.PrivateKey
	payers  []*secp256k1.PrivateKey
	made    engine.Proposed
}

const (
	thiefMoney = 100 * chain.WeiPerCBY
	// drainTransfer is what a payment takes here: twenty times as much as on a chain, so that
	// some fifty fill a block.
	drainTransfer = 420_000
)

func newDrainage(t *testing.T, thieves, payers int) *drainage {
	t.Helper()
	d := &drainage{t: t}
	var rich []genesis.Allocation
	for n := range thieves + payers {
		key := person(t, n)
		rich = append(rich, genesis.Allocation{Name: fmt.Sprint("person-", n), Address: key.PublicKey().Address(), Amount: thiefMoney})
		if n < thieves {
			d.thieves = append(d.thieves, key)
		} else {
			d.payers = append(d.payers, key)
		}
	}
	d.fixture = newFixtureOf(t, func(p *params.Params) {
		p.Intrinsic.TransferCycles = drainTransfer
	}, rich...)
	p := &pool{}
	for _, key := range d.thieves {
		p.txs = append(p.txs, d.signed(key, chain.Tx{Payload: actor.AppendPayload(nil, d.henchman()), CyclesLimit: 2_000_000, CellsLimit: 10_000}, 1))
	}
	d.l = d.ledger(t, p)
	d.made = d.propose(t, d.l)
	if err := d.l.Finalized(t.Context(), engine.Finalization{Round: firstRound(), Digest: d.made.Digest, Certificate: []byte("c")}); err != nil {
		t.Fatal(err)
	}
	for _, r := range (<-d.l.Events()).Receipts {
		if r.Code != chain.CodeOK {
			t.Fatalf("first block: %+v", r)
		}
	}
	d.now = d.now.Add(time.Minute) // so that the next one is due
	return d
}

func (d *drainage) henchman() *actor.Deployment {
	return &actor.Deployment{
		Source: []byte("def tick(msg):\n    return 1\n"), Salt: []byte{1}, Manifest: manifest.Manifest("econ.hold_balance", "timer.schedule"),
	}
}

// signed is a transaction with a tip that the fee caps leave whole.
func (d *drainage) signed(key *secp256k1.PrivateKey, tx chain.Tx, tip chain.Wei) *chain.VerifiedTx {
	tx.ChainID, tx.MaxFeePerCycle, tx.MaxFeePerCell, tx.TipPerCycle = d.genesis.ChainID, 10+tip, 10, tip
	return signedBy(d.t, key, &tx)
}

// paysOnce are payments of a tip of 1, one of each payer.
func (d *drainage) paysOnce() (txs []*chain.VerifiedTx) {
	to := chain.Address(d.account.PublicKey().Address())
	for _, key := range d.payers {
		txs = append(txs, d.signed(key, chain.Tx{To: &to, Value: 1, CyclesLimit: drainTransfer}, 1))
	}
	return txs
}

// scheduled is an instruction that takes ten CBY and more from a thief.
func (d *drainage) scheduled(key *secp256k1.PrivateKey, nonce uint64, tip chain.Wei) *chain.VerifiedTx {
	who := chain.Address(key.PublicKey().Address())
	h := d.henchman()
	its := actor.AddressOf(who, h.Salt, h.Source)
	null := cbor.AppendNull(nil)
	b := cbor.AppendUint(cbor.AppendArray(nil, 6), chain.OpTimerSchedule)
	b = cbor.AppendUint(cbor.AppendBytes(b, its[:]), 100_000)
	b = append(b, null...)
	b = cbor.AppendBytes(cbor.AppendText(b, "tick"), null)
	to := chain.AddrActors
	return d.signed(key, chain.Tx{Nonce: nonce, To: &to, Payload: b, CyclesLimit: 60_000, CellsLimit: 2_000}, tip)
}

// drains are an instruction that takes a thief's money, at one tip, and behind it, at
// another, payments that it could all make without that: the first for all that the others
// leave, the rest for nothing.
func (d *drainage) drains(key *secp256k1.PrivateKey, payments int, tips [2]chain.Wei) []*chain.VerifiedTx {
	d.t.Helper()
	who := chain.Address(key.PublicKey().Address())
	account, _, err := d.l.Head().State.Account(who)
	if err != nil {
		d.t.Fatal(err)
	}
	txs := []*chain.VerifiedTx{d.scheduled(key, account.Nonce, tips[0])}
	cost := 60_000*(10+tips[0]) + 2_000*10 + chain.Wei(payments)*drainTransfer*(10+tips[1])
	for n := range payments {
		tx := chain.Tx{Nonce: account.Nonce + 1 + uint64(n), To: &who, CyclesLimit: drainTransfer}
		if n == 0 {
			tx.Value = account.Balance - cost
		}
		txs = append(txs, d.signed(key, tx, tips[1]))
	}
	return txs
}

// second makes the second block and returns it with how often it was executed.
func (d *drainage) second() (e *Executed, executions uint64) {
	d.t.Helper()
	before := d.l.Stats.Exec().Blocks
	parent := engine.ParentRef{Round: firstRound(), Digest: d.made.Digest}
	made, err := d.l.Propose(d.t.Context(), engine.ProposeRequest{Round: beacon.Round{View: 2}, Parent: parent})
	if err == nil {
		e, err = call(d.t.Context(), d.l, func(context.Context) (*Executed, error) { return d.l.executed(made.Digest) })
	}
	if err != nil {
		d.t.Fatal(err)
	}
	d.verifiesSecond(d.t, d.made.Block, parent, made)
	return e, uint64(d.l.Stats.Exec().Blocks - before)
}

// of counts whose transactions stand in a block.
func (e *Executed) of(keys []*secp256k1.PrivateKey) (n int) {
	theirs := map[chain.Address]bool{}
	for _, key := range keys {
		theirs[key.PublicKey().Address()] = true
	}
	for _, tx := range e.Txs {
		if theirs[tx.Sender] {
			n++
		}
	}
	return n
}

// TestDrainedSendersTakeNobodysRoom: who takes its own money away with an instruction, and
// has payments behind it that cannot be made then, keeps nobody else out of a block, though
// these pay a hundredth of what it offers. So it is where they come in layers, which take
// the room of each other when a block is packed again.
func TestDrainedSendersTakeNobodysRoom(t *testing.T) { // ADR 211
	const thieves, payers = 24, 45
	for name, tips := range map[string]func(n int) [2]chain.Wei{
		"at once":     func(int) [2]chain.Wei { return [2]chain.Wei{100, 100} },
		"five layers": func(n int) [2]chain.Wei { return [2]chain.Wei{400, 160 >> (n % 5)} },
	} {
		t.Run(name, func(t *testing.T) {
			d := newDrainage(t, thieves, payers)
			var theirs []*chain.VerifiedTx
			for n, key := range d.thieves {
				theirs = append(theirs, d.drains(key, 15, tips(n))...)
			}
			d.fill(t, d.l, theirs, d.paysOnce())
			e, executions := d.second()
			t.Logf("%d of %d honest ones and %d of %d others, %d executions", e.of(d.payers), payers, e.of(d.thieves), len(theirs), executions)
			if n := e.of(d.payers); n < payers*9/10 {
				t.Errorf("%d of %d payments are in the block", n, payers)
			}
		})
	}
}

// TestAnHonestCreatorIsNotSlowed: some instructions and payments behind them are in the next
// block where there is room, and in a full one as far as they pay more.
func TestAnHonestCreatorIsNotSlowed(t *testing.T) { // ADR 211
	for name, payers := range map[string]int{"with room": 25, "in a full block": 75} {
		t.Run(name, func(t *testing.T) {
			d := newDrainage(t, 2, payers)
			var theirs []*chain.VerifiedTx
			for _, key := range d.thieves {
				nonce := uint64(1)
				for ; nonce <= 3; nonce++ {
					theirs = append(theirs, d.scheduled(key, nonce, 5))
				}
				for ; nonce <= 4; nonce++ {
					theirs = append(theirs, d.signed(key, chain.Tx{Nonce: nonce, To: &chain.Address{0xaa}, CyclesLimit: drainTransfer}, 5))
				}
			}
			d.fill(t, d.l, d.paysOnce(), theirs)
			e, _ := d.second()
			if n := e.of(d.thieves); n != len(theirs) {
				t.Errorf("%d of %d transactions of who sets timers and pays are in the block, of %d others %d", n, len(theirs), payers, e.of(d.payers))
			}
		})
	}
}

// TestWhoIsShort: what lacks money, a role or a form leaves its sender short, and so does a
// fault; what stands behind another of its sender, or finds no room or time, does not.
func TestWhoIsShort(t *testing.T) { // ADR 211
	tx := func(n byte) *chain.VerifiedTx { return &chain.VerifiedTx{Sender: chain.Address{n}, Tx: &chain.Tx{}} }
	sel := &order.Selection{}
	var list []*exec.InvalidTx
	for i, err := range []error{
		&fees.FundsError{Need: 2, Spendable: 1}, fees.ErrRole, fmt.Errorf("message: %w", chain.ErrPayload), exec.Panicked("a defect"), // 0 to 3
		&fees.NonceError{Got: 2, Next: 1}, fmt.Errorf("%w: full", exec.ErrLaneFull), fmt.Errorf("%w: busy", exec.ErrActorBusy), exec.ErrLaneOrder, exec.ErrTime,
	} {
		sel.Txs = append(sel.Txs, tx(byte(i)))
		list = append(list, &exec.InvalidTx{Index: i, Err: err})
	}
	p := &proposal{}
	p.noteShort(sel, list)
	for i := range list {
		if _, short := p.short[chain.Address{byte(i)}]; short != (i < 4) {
			t.Errorf("%v: short %v", list[i].Err, short)
		}
	}
}
