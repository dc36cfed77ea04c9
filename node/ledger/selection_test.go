package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/lanes"
)

// busy has a handler that leaves the actor less than a block's cycles.
const busy = `
from cowboy_sdk import actor, public

@actor
class Busy:
    @public
    def go(self, msg):
        n = 0
        for i in range(20000):
            n += i
`

// sent signs a transaction of any kind.
func (f *fixture) sent(key *secp256k1.PrivateKey, tx chain.Tx) *chain.VerifiedTx {
	tx.ChainID, tx.MaxFeePerCycle, tx.MaxFeePerCell, tx.TipPerCycle = f.genesis.ChainID, 10, 10, max(tx.TipPerCycle, 1)
	sig := key.Sign(tx.SigningHash())
	tx.Signature = &chain.TxSignature{YParity: sig.YParity, R: sig.R, S: sig.S}
	body := tx.Encode()
	return &chain.VerifiedTx{Tx: &tx, Body: body, Hash: chain.TxHash(body), Sender: key.PublicKey().Address(), Lane: chain.LaneUser}
}

// person returns the key of an account of these tests.
func person(t *testing.T, n int) *secp256k1.PrivateKey {
	t.Helper()
	seed := keccak.Sum256(fmt.Appendf(nil, "person %d", n))
	key, err := secp256k1.ParsePrivateKey(seed[:])
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// crowded is a chain whose first block made people rich and an actor.
func (f *fixture) crowded(t *testing.T, people int) (l *Ledger, p *pool, to chain.Address, parent engine.ParentRef, first []byte) {
	t.Helper()
	d := actor.Deployment{Source: []byte(busy), Salt: []byte{1}, Manifest: append(cbor.AppendText(cbor.AppendMap(nil, 1), "entitlements"), 0x80)}
	to = actor.AddressOf(f.account.PublicKey().Address(), d.Salt, d.Source)
	p = &pool{txs: []*chain.VerifiedTx{f.sent(f.account, chain.Tx{Payload: actor.AppendPayload(nil, &d), CyclesLimit: 2_000_000, CellsLimit: 10_000})}}
	for n := range people {
		who := chain.Address(person(t, n).PublicKey().Address())
		p.txs = append(p.txs, f.sent(f.account, chain.Tx{Nonce: uint64(n + 1), To: &who, Value: chain.WeiPerCBY, CyclesLimit: 21_000}))
	}
	l = f.ledger(t, p)
	made := f.propose(t, l)
	if err := l.Finalized(t.Context(), engine.Finalization{Round: firstRound(), Digest: made.Digest, Certificate: []byte("c")}); err != nil {
		t.Fatal(err)
	}
	if e := <-l.Events(); len(e.Receipts) != people+1 || e.Receipts[0].Code != chain.CodeOK {
		t.Fatalf("first block: %+v", e.Receipts)
	}
	p.txs = nil
	f.now = f.now.Add(time.Minute) // so that the next one is due
	return l, p, to, engine.ParentRef{Round: firstRound(), Digest: made.Digest}, made.Block
}

// TestPoisonLeavesTheRest fills the pool with transactions that no block takes, and
// with those that this block does not take: the others are in it all the same, and
// what never will be valid is gone from the pool.
func TestPoisonLeavesTheRest(t *testing.T) {
	f := newFixture(t)
	l, p, to, parent, first := f.crowded(t, 60)
	message := func(limit chain.Cycles, payload []byte) chain.Tx {
		return chain.Tx{To: &to, Payload: payload, CyclesLimit: limit, CellsLimit: 100}
	}
	burn := actor.AppendMessage(nil, "go", cbor.AppendNull(nil))
	pay := func(nonce uint64) chain.Tx {
		return chain.Tx{Nonce: nonce, To: &chain.Address{0xaa}, Value: 1, CyclesLimit: 21_000}
	}
	var good, never, waits []*chain.VerifiedTx
	who := 0
	next := func(list *[]*chain.VerifiedTx, txs ...chain.Tx) {
		for _, tx := range txs {
			*list = append(*list, f.sent(person(t, who), tx))
		}
		who++
	}
	for range 12 {
		next(&never, message(100_000, []byte{0x80})) // nothing that an actor reads
		next(&never, message(2_021_001, burn))       // more than an actor ever has for a block
		next(&waits, message(2_021_000, burn))       // all that an actor has for a block: one runs
		next(&good, pay(0))
	}
	bad := message(100_000, []byte{0x80})
	bad.Nonce = 1
	next(&good, pay(0))
	who--
	next(&never, bad)
	who--
	next(&waits, pay(2)) // behind one that is never valid
	p.txs = slices.Concat(never, waits, good)

	req := engine.ProposeRequest{Round: beacon.Round{View: 2}, Parent: parent}
	made, err := l.Propose(t.Context(), req)
	if err != nil {
		t.Fatal(err)
	}
	block, err := chain.DecodeBlock(made.Block, len(made.Block))
	if err != nil {
		t.Fatal(err)
	}
	included := map[chain.Hash]bool{}
	for _, body := range block.Txs {
		included[chain.TxHash(body)] = true
	}
	for i, tx := range good {
		if !included[tx.Hash] {
			t.Errorf("good transaction %d was left out", i)
		}
	}
	if len(included) != len(good)+1 {
		t.Errorf("%d transactions, want all %d good ones and one that uses the actor up", len(included), len(good))
	}
	for i, tx := range never {
		if slices.Contains(p.txs, tx) {
			t.Errorf("transaction %d is never valid and still in the pool", i)
		}
	}
	for i, tx := range waits {
		if !slices.Contains(p.txs, tx) {
			t.Errorf("transaction %d may wait and is gone from the pool", i)
		}
	}
	f.verifiesSecond(t, first, parent, made)
}

// verifiesSecond holds a second block to a ledger that has executed the first.
func (f *fixture) verifiesSecond(t *testing.T, first []byte, parent engine.ParentRef, second engine.Proposed) {
	t.Helper()
	l := f.ledger(t, &pool{})
	for _, req := range []engine.VerifyRequest{
		{Round: firstRound(), Parent: f.genesisParent(), Digest: parent.Digest, Block: first},
		{Round: beacon.Round{View: 2}, Parent: parent, Digest: second.Digest, Block: second.Block},
	} {
		if ok, err := l.Verify(t.Context(), req); !ok || err != nil {
			t.Fatalf("block of view %d elsewhere: %v, %v", req.Round.View, ok, err)
		}
	}
}

// TestShedKeepsTheOrder: what is left out moves the other transactions of its
// sender, so that the block is made anew until it is in order.
func TestShedKeepsTheOrder(t *testing.T) {
	f := newFixture(t)
	l, p, to, parent, first := f.crowded(t, 20)
	for n := range 20 {
		for nonce := range uint64(4) {
			tx := chain.Tx{Nonce: nonce, To: &chain.Address{0xaa}, Value: 1, CyclesLimit: 21_000}
			if nonce == uint64(n%4) {
				tx = chain.Tx{Nonce: nonce, To: &to, Payload: []byte{0x80}, CyclesLimit: 50_000, CellsLimit: 100}
			}
			p.txs = append(p.txs, f.sent(person(t, n), tx))
		}
	}
	made, err := l.Propose(t.Context(), engine.ProposeRequest{Round: beacon.Round{View: 2}, Parent: parent})
	if err != nil {
		t.Fatal(err)
	}
	block, err := chain.DecodeBlock(made.Block, len(made.Block))
	if err != nil {
		t.Fatal(err)
	}
	if want := 5 * (0 + 1 + 2 + 3); len(block.Txs) != want {
		t.Errorf("%d transactions, want %d", len(block.Txs), want)
	}
	f.verifiesSecond(t, first, parent, made)
}

// TestABusyActorTakesNobodysRoom: messages that an actor has no cycles for pay
// nothing, so they must not keep others out of a block, however many of them wait
// and however early they came.
func TestABusyActorTakesNobodysRoom(t *testing.T) {
	const crowd, others = 40, 200 // each of the crowd has the limit of a hundred others
	f := newFixture(t)
	l, _, to, parent, first := f.crowded(t, crowd+others)
	var txs []*chain.VerifiedTx
	for n := range crowd {
		burn := chain.Tx{To: &to, Payload: actor.AppendMessage(nil, "go", cbor.AppendNull(nil)), CyclesLimit: 2_021_000, CellsLimit: 100}
		txs = append(txs, f.sent(person(t, n), burn))
	}
	for n := range others {
		txs = append(txs, f.sent(person(t, crowd+n), chain.Tx{To: &chain.Address{0xaa}, Value: 1, CyclesLimit: 21_000, CellsLimit: 100}))
	}
	f.fill(t, l, txs[:crowd], txs[crowd:])
	made, second := proposed(t, l, parent)
	if len(second.Txs) != 1+others {
		t.Errorf("%d transactions, want one for the actor and those of %d others", len(second.Txs), others)
	}
	f.verifiesSecond(t, first, parent, made)
}

// fill gives the ledger a real pool, with transactions in the order in which they
// come.
func (f *fixture) fill(t *testing.T, l *Ledger, came ...[]*chain.VerifiedTx) {
	t.Helper()
	head, params := l.Head(), &f.genesis.Params
	room, err := lanes.New(lanes.DefaultConfig(), params, f.genesis.ChainID, lanes.FinalizedHead{
		Height: head.Height(), View: head.State, BaseFees: BaseFeesAfter(params, &head.Block.Header),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, txs := range came {
		if err := errors.Join(room.Admit(t.Context(), txs)...); err != nil {
			t.Fatal(err)
		}
	}
	l.cfg.Pool = room
}

// proposed makes the second block, with one execution.
func proposed(t *testing.T, l *Ledger, parent engine.ParentRef) (engine.Proposed, *Executed) {
	t.Helper()
	before := l.Stats.Exec().Blocks
	made, err := l.Propose(t.Context(), engine.ProposeRequest{Round: beacon.Round{View: 2}, Parent: parent})
	if err != nil {
		t.Fatal(err)
	}
	if n := l.Stats.Exec().Blocks - before; n != 1 {
		t.Errorf("%d executions, want one", n)
	}
	e, err := call(t.Context(), l, func(context.Context) (*Executed, error) { return l.executed(made.Digest) })
	if err != nil {
		t.Fatal(err)
	}
	return made, e
}

// watchedPool remembers what it has packed.
type watchedPool struct {
	Pool
	packed order.Selection
}

func (w *watchedPool) Pack(ctx context.Context, req lanes.PackRequest) (_ order.Selection, err error) {
	w.packed, err = w.Pool.Pack(ctx, req)
	return w.packed, err
}

// TestMessagesRunWhileTheirActorCan: messages that use a part of their limits leave
// cycles to others, which a block takes as long as there are some, and room to those
// who call nobody.
func TestMessagesRunWhileTheirActorCan(t *testing.T) {
	const crowd, others, limit = 60, 100, 721_000
	f := newFixture(t)
	l, _, to, parent, first := f.crowded(t, crowd+others)
	var messages, payments []*chain.VerifiedTx
	for n := range crowd {
		burn := chain.Tx{To: &to, Payload: actor.AppendMessage(nil, "go", cbor.AppendNull(nil)), CyclesLimit: limit, CellsLimit: 100}
		messages = append(messages, f.sent(person(t, n), burn))
	}
	for n := range others {
		payments = append(payments, f.sent(person(t, crowd+n), chain.Tx{To: &chain.Address{0xaa}, Value: 1, CyclesLimit: 121_000, CellsLimit: 200}))
	}
	f.fill(t, l, messages, payments)
	watched := &watchedPool{Pool: l.cfg.Pool}
	l.cfg.Pool = watched
	made, second := proposed(t, l, parent)
	ran := len(second.Txs) - others
	record, err := actor.ReadQuota(second.State, to)
	if err != nil {
		t.Fatal(err)
	}
	// The order of the block says which spares run: those that stand before messages
	// which have their limits promised run besides these, those behind them as long as
	// there are cycles.
	p := &f.genesis.Params.Actor
	took := (p.BlockCyclesBurst - record.Left(p, second.Height())) / chain.Cycles(ran)
	left, promised, want, sure := p.BlockCyclesBurst, chain.Cycles(0), 0, 0
	for i, tx := range watched.packed.Txs {
		if len(tx.Tx.Payload) > 0 && !watched.packed.Overcommitted[i] {
			promised += limit
			sure++
		}
	}
	for i, tx := range watched.packed.Txs {
		switch {
		case len(tx.Tx.Payload) == 0:
			continue
		case !watched.packed.Overcommitted[i]:
			promised -= limit
		case limit-21_000 > left-min(left, promised):
			continue
		}
		left -= took
		want++
	}
	if ran != want || sure != int(p.BlockCyclesBurst/(limit-21_000)) || ran <= 2*sure {
		t.Errorf("%d messages ran, of which %d were sure to, want %d; each takes %d of %d cycles", ran, sure, want, took, p.BlockCyclesBurst)
	}
	f.verifiesSecond(t, first, parent, made)
}

// TestFirsts: who only pays keeps all transactions where payers may, as nobody else's
// message keeps a payment from running; of others the first is left.
func TestFirsts(t *testing.T) {
	tx := func(sender byte, nonce uint64, payload ...byte) *chain.VerifiedTx {
		return &chain.VerifiedTx{Sender: chain.Address{sender}, Tx: &chain.Tx{Nonce: nonce, Payload: payload}}
	}
	pays := []*chain.VerifiedTx{tx(1, 7), tx(1, 8), tx(1, 9)}
	runs := []*chain.VerifiedTx{tx(2, 3), tx(2, 4, 1)}
	calls := []*chain.VerifiedTx{tx(3, 0, 1), tx(3, 1, 1)}
	all := []*chain.VerifiedTx{pays[0], runs[0], calls[0], runs[1], pays[1], calls[1], pays[2]}
	for payers, want := range map[bool][]*chain.VerifiedTx{
		true:  {pays[0], runs[0], calls[0], pays[1], pays[2]},
		false: {pays[0], runs[0], calls[0]},
	} {
		if got := firsts(all, payers); !slices.Equal(got, want) {
			t.Errorf("payers keep all: %v; %d are left, want %d", payers, len(got), len(want))
		}
	}
}
