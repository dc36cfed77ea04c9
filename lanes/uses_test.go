package lanes

import (
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/state"
)

// message is the payload of a call of a handler.
func message(handler string) []byte {
	return cbor.AppendBytes(cbor.AppendText(cbor.AppendArray(nil, 2), handler), nil)
}

// TestLimitsKeepNobodyOut: transactions whose limits are as large as a block and which
// use next to nothing of them take the room that they use (attack B5 of the soundness
// review: 2 of 202 were packed). A crowd of honest transfers fills the block beside them
// to nine tenths at least.
func TestLimitsKeepNobodyOut(t *testing.T) {
	params := params.Default()
	view := wealthy()
	for i := range 4 { // with code
		a := view.of[chain.Address{byte(i)}]
		a.CodeHash = chain.Hash{1}
		view.of[chain.Address{0xac, byte(i)}] = a
	}
	full := int(params.CyclesCap / params.Intrinsic.TransferCycles)
	to := chain.Address{0xac}
	tests := []struct {
		name    string
		hostile func(m *maker, i byte) *chain.VerifiedTx
		learned chain.Cycles // what the handler is known to use; 0: nothing is known
	}{
		{"transfers with the largest limit", func(m *maker, i byte) *chain.VerifiedTx { return m.transfer(i, 0, 3, params.MaxTxCycles) }, 0},
		{"two such transfers of each sender", func(m *maker, i byte) *chain.VerifiedTx { return m.transfer(i/2, uint64(i%2), 3, params.MaxTxCycles) }, 0},
		{"transfers with a memo", func(m *maker, i byte) *chain.VerifiedTx {
			tx := m.transfer(i, 0, 3, params.MaxTxCycles)
			tx.Tx.Payload, tx.Tx.CellsLimit = []byte{0x80}, 1
			return tx
		}, 0},
		{"large limits of cells, with a tip on them", func(m *maker, i byte) *chain.VerifiedTx {
			tx := m.transfer(i, 0, 0, 21_000)
			tx.Tx.CellsLimit, tx.Tx.TipPerCell, tx.Tx.MaxFeePerCell = params.MaxTxCells, 1_000, 1_010
			return tx
		}, 0},
		{"messages to a handler that is known to do little", func(m *maker, i byte) *chain.VerifiedTx {
			tx := m.transfer(i, 0, 3, 1_900_000)
			tx.Tx.To, tx.Tx.Payload, tx.Tx.CellsLimit = &to, message("idle"), 100
			return tx
		}, 25_000},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := asInProduction(t, params, view)
			var m maker
			if tt.learned > 0 {
				txs := []*chain.VerifiedTx{tt.hostile(&m, 200)}
				l.uses.learn(txs, []chain.Receipt{{TxHash: txs[0].Hash, CyclesUsed: tt.learned}})
			}
			hostile := map[chain.Hash]bool{}
			for i := range byte(40) {
				tx := tt.hostile(&m, i)
				hostile[tx.Hash] = true
				if err := l.Admit(t.Context(), []*chain.VerifiedTx{tx})[0]; err != nil {
					t.Fatal(err)
				}
			}
			for i := range 1_000 {
				if err := l.Admit(t.Context(), []*chain.VerifiedTx{m.transfer(byte(50+i/10), uint64(i%10), 1, 21_000)})[0]; err != nil {
					t.Fatal(err)
				}
			}
			honest := 0
			for _, tx := range mustPack(t, l, request(&params, view)) {
				if !hostile[tx.Hash] {
					honest++
				}
			}
			t.Logf("%d of the %d that a block holds", honest, full)
			if 10*(honest+40) < 9*full {
				t.Errorf("%d honest transfers packed beside 40 hostile transactions, want 90 %% of %d", honest, full)
			}
		})
	}
}

// TestGuessesLeaveRoom: what nobody has ever seen run may reserve a quarter of a lane,
// or be the only one; the rest is for what is known, and what that leaves is theirs.
func TestGuessesLeaveRoom(t *testing.T) {
	params := params.Default()
	view := wealthy()
	var m maker
	l := idle(t, params, view)
	deploy := func(i byte, limit chain.Cycles) *chain.VerifiedTx {
		tx := m.transfer(i, 0, 3, limit)
		tx.Tx.To, tx.Tx.CellsLimit = nil, 100
		return tx
	}
	put := func(tx *chain.VerifiedTx) {
		t.Helper()
		answers := make([]error, 1)
		o := l.offer(tx)
		if tx.Tx.To == nil { // whose payload here is none that deploys
			o = offer{Tx: tx, Cost: 1, Key: l.uses.keyOf(tx)}
		}
		if l.pool.admit([]offer{o}, answers); answers[0] != nil {
			t.Fatal(answers[0])
		}
	}
	count := func() (deployments, transfers int) {
		for _, tx := range mustPack(t, l, request(&params, view)) {
			if tx.Tx.To == nil {
				deployments++
			} else {
				transfers++
			}
		}
		return deployments, transfers
	}
	for i := range byte(20) {
		put(deploy(i, 2_000_000))
	}
	if d, _ := count(); d != 10 {
		t.Errorf("%d deployments alone, want the 10 whose limits a block holds", d)
	}
	for i := range 1_000 {
		put(m.transfer(byte(50+i/10), uint64(i%10), 1, 21_000))
	}
	if d, n := count(); d != 2 || n < 740 {
		t.Errorf("%d deployments and %d transfers, want a quarter of the block for the former", d, n)
	}
}

func TestUsesAreMeans(t *testing.T) {
	u := newUses()
	var m maker
	to := chain.Address{0xac}
	call := func(sender byte, handler string) *chain.VerifiedTx {
		tx := m.transfer(sender, 0, 0, 1)
		tx.Tx.To, tx.Tx.Payload = &to, message(handler)
		return tx
	}
	learn := func(txs []*chain.VerifiedTx, used ...chain.Cycles) {
		var receipts []chain.Receipt
		for i, tx := range txs {
			receipts = append(receipts, chain.Receipt{TxHash: tx.Hash, CyclesUsed: used[i]})
		}
		u.learn(txs, receipts)
	}
	expect := func(handler string) chain.Cycles {
		e, _ := u.expect(u.keyOf(call(0, handler)))
		return e.Cycles
	}
	if _, ok := u.expect(u.keyOf(call(0, "go"))); ok {
		t.Error("something is known of what never ran")
	}
	learn([]*chain.VerifiedTx{call(1, "go"), call(2, "other")}, 80_000, 8)
	if got := expect("go"); got != 90_000 {
		t.Errorf("expects %d after one use of 80,000, want an eighth more", got)
	}
	// A hundred messages of one sender are one lesson.
	var crowd []*chain.VerifiedTx
	var burn []chain.Cycles
	for range 100 {
		crowd, burn = append(crowd, call(7, "go")), append(burn, 1_680_000)
	}
	learn(crowd, burn...)
	if got := expect("go"); got != (80_000+200_000)*9/8 {
		t.Errorf("expects %d after one sender's hundred, want an eighth of the way", got)
	}
	for range 100 {
		learn([]*chain.VerifiedTx{call(1, "go")}, 80_000)
	}
	if got := expect("go"); got != 90_000 {
		t.Errorf("expects %d again after a hundred blocks, want 90,000", got)
	}
	if got := expect("other"); got != 9 {
		t.Errorf("another handler expects %d", got)
	}
	if k := u.keyOf(m.transfer(1, 0, 0, 1)); k != 0 {
		t.Error("a transfer without a payload has a key")
	}
}

// TestUsesAreBounded: a flood of handlers costs a bounded table, and what is in use
// stays in it.
func TestUsesAreBounded(t *testing.T) {
	u := newUses()
	for i := range uint64(5 * usesKept) {
		u.teach(&lesson{key: i + 10, total: chain.Usage{Cycles: 1}, n: 1})
		if i%1_000 == 0 {
			u.teach(&lesson{key: 1, total: chain.Usage{Cycles: 1}, n: 1})
		}
		if len(u.now)+len(u.old) > 2*usesKept {
			t.Fatalf("%d means kept", len(u.now)+len(u.old))
		}
	}
	if _, ok := u.expect(1); !ok {
		t.Error("what is in use was forgotten")
	}
}

// asInProduction returns lanes that nobody runs or stops, with the bounds of a validator.
func asInProduction(t testing.TB, params params.Params, view state.View) *Lanes {
	t.Helper()
	l, err := New(DefaultConfig(), &params, testChain, FinalizedHead{View: view, BaseFees: evenFees(1)})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestShunned: what was dropped for its time is refused for a while, and a flood of such
// makes the node forget the oldest.
func TestShunned(t *testing.T) {
	params, view := params.Default(), wealthy()
	l := idle(t, params, view)
	var m maker
	tx := m.transfer(1, 0, 1, 21_000)
	admit := func() error { return l.Admit(t.Context(), []*chain.VerifiedTx{tx})[0] }
	if err := admit(); err != nil {
		t.Fatal(err)
	}
	if err := l.Shun(t.Context(), []*chain.VerifiedTx{tx}); err != nil {
		t.Fatal(err)
	}
	if _, ok, _ := l.Lookup(t.Context(), tx.Hash); ok {
		t.Error("it is still in the pool")
	}
	at := func(h chain.Height) {
		t.Helper()
		if err := l.Finalized(t.Context(), FinalizedHead{Height: h, View: view, BaseFees: evenFees(1)}); err != nil {
			t.Fatal(err)
		}
	}
	at(shunnedBlocks - 1)
	if err := admit(); !errors.Is(err, ErrShunned) {
		t.Errorf("admitted again: %v", err)
	}
	at(shunnedBlocks)
	if err := admit(); err != nil {
		t.Errorf("after its time: %v", err)
	}
	var s shunned
	for i := range 2 * shunnedMost {
		s.add([]chain.Hash{{byte(i), byte(i >> 8)}}, 1)
	}
	if len(s.order) != shunnedMost || len(s.until) != shunnedMost || s.has(chain.Hash{}) {
		t.Errorf("%d and %d kept, want %d", len(s.order), len(s.until), shunnedMost)
	}
}
