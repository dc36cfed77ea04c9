package lanes

import (
	"encoding/binary"
	"errors"
	"runtime"
	"sync"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// TestResizeKeepsWhatWaits: a pool that is made smaller than what it holds sheds nothing by
// itself; it is full, and who pays more pushes out one who pays less.
func TestResizeKeepsWhatWaits(t *testing.T) {
	cfg := DefaultConfig()
	cfg.SenderTxs, cfg.NonceGap = 8, 2
	cfg.LaneTxs[chain.LaneUser] = 40
	view := accounts{}
	for n := range byte(50) {
		view = view.with(chain.Address{n}, 0, chain.WeiPerCBY)
	}
	l := running(t, cfg, view)
	var m maker
	var txs []*chain.VerifiedTx
	for n := range byte(10) {
		for nonce := range uint64(4) {
			txs = append(txs, m.transfer(n, nonce, 1, 30_000))
		}
	}
	if err := errors.Join(l.Admit(t.Context(), txs)...); err != nil {
		t.Fatal(err)
	}
	resize := func(to, want Depth) {
		t.Helper()
		if now, err := l.Resize(to); err != nil || now != want {
			t.Errorf("resized to %v, %v, want %v", now, err, want)
		}
	}
	held := func(want int) {
		t.Helper()
		if n := l.Stats().Lanes[chain.LaneUser].Txs; n != want {
			t.Errorf("%d transactions wait, want %d", n, want)
		}
	}
	resize(Depth{UserTxs: 10, SenderTxs: 3}, Depth{UserTxs: 40, SenderTxs: 3})
	held(40)

	admit := func(tx *chain.VerifiedTx) error { return l.Admit(t.Context(), []*chain.VerifiedTx{tx})[0] }
	var laneFull *LaneFullError
	if err := admit(m.transfer(20, 0, 1, 30_000)); !errors.As(err, &laneFull) {
		t.Errorf("one more of the same worth: %v, want a full lane", err)
	}
	var senderFull *SenderFullError
	if err := admit(m.transfer(3, 4, 100, 30_000)); !errors.As(err, &senderFull) || senderFull.Max != 3 {
		t.Errorf("a fifth of a sender of whom three may wait: %v", err)
	}
	evicted := l.Stats().Evicted
	if err := admit(m.transfer(21, 0, 100, 30_000)); err != nil {
		t.Errorf("one that pays more: %v", err)
	}
	if n := l.Stats().Evicted - evicted; n != 1 {
		t.Errorf("it pushed out %d, want 1", n)
	}
	held(40)

	// A block takes most of it; then the pool can be as small as it should be.
	view = accounts{}
	for n := range byte(50) {
		view = view.with(chain.Address{n}, 4, chain.WeiPerCBY)
	}
	if err := l.Finalized(t.Context(), FinalizedHead{Height: 1, View: view, BaseFees: evenFees(1), Txs: txs}); err != nil {
		t.Fatal(err)
	}
	resize(Depth{UserTxs: 10, SenderTxs: 3}, Depth{UserTxs: 10, SenderTxs: 3})
	resize(Depth{UserTxs: 60, SenderTxs: 20}, Depth{UserTxs: 60, SenderTxs: 20})
	for nonce := range uint64(20) {
		if err := admit(m.transfer(30, 4+nonce, 1, 30_000)); err != nil {
			t.Fatalf("transaction %d of a sender who may have 20: %v", nonce, err)
		}
	}
	for _, bad := range []Depth{{UserTxs: DepthMax + 1, SenderTxs: 20}, {UserTxs: 60, SenderTxs: 0}, {UserTxs: 60, SenderTxs: 2}} {
		if now, err := l.Resize(bad); err == nil || now != (Depth{UserTxs: 60, SenderTxs: 20}) {
			t.Errorf("depth %v: %v, %v, want a refusal and what was", bad, now, err)
		}
	}
}

// TestResizeFollowsDownUnderAFlood: of a pool that is made smaller while it is full, what a
// block takes leaves no place behind, though others ask for one at once; until it is as small
// as it should be, and from then on it has all its places again.
func TestResizeFollowsDownUnderAFlood(t *testing.T) {
	cfg := DefaultConfig()
	cfg.SenderTxs, cfg.NonceGap = 8, 2
	cfg.LaneTxs[chain.LaneUser] = 40
	view := accounts{}
	for n := range byte(200) {
		view = view.with(chain.Address{n}, 0, chain.WeiPerCBY)
	}
	l := running(t, cfg, view)
	var m maker
	var flood []*chain.VerifiedTx
	for n := range byte(200) {
		flood = append(flood, m.transfer(n, 0, 1, 30_000))
	}
	waiting := map[chain.Hash]*chain.VerifiedTx{}
	rush := func() {
		for _, tx := range flood {
			if l.Admit(t.Context(), []*chain.VerifiedTx{tx})[0] == nil {
				waiting[tx.Hash] = tx
			}
		}
	}
	rush()
	if now, err := l.Resize(Depth{UserTxs: 16, SenderTxs: 8}); err != nil || now.UserTxs != 40 {
		t.Fatalf("resized to %v, %v", now, err)
	}
	for block, want := range []int{32, 24, 16, 16} {
		var taken []*chain.VerifiedTx
		for _, tx := range flood {
			if waiting[tx.Hash] != nil && len(taken) < 8 {
				taken = append(taken, tx)
				delete(waiting, tx.Hash)
				view = view.with(tx.Sender, 1, chain.WeiPerCBY)
			}
		}
		if err := l.Finalized(t.Context(), FinalizedHead{Height: chain.Height(block + 1), View: view, BaseFees: evenFees(1), Txs: taken}); err != nil {
			t.Fatal(err)
		}
		rush()
		if n := l.Stats().Lanes[chain.LaneUser].Txs; n != want {
			t.Errorf("after block %d %d wait, want %d", block+1, n, want)
		}
	}
}

// TestResizeBesideAdmission: caps hold exactly while others admit and the pool changes.
func TestResizeBesideAdmission(t *testing.T) {
	const senders, each, most = 64, 64, 512
	view := accounts{}
	for n := range byte(senders) {
		view = view.with(chain.Address{n}, 0, chain.WeiPerCBY)
	}
	cfg := DefaultConfig()
	cfg.LaneTxs[chain.LaneUser] = most / 4
	l := running(t, cfg, view)
	made := make([][]*chain.VerifiedTx, 4)
	var m maker
	for n := range byte(senders) {
		for nonce := range uint64(each) {
			made[n%4] = append(made[n%4], m.transfer(n, nonce, chain.Wei(1+nonce%8), 30_000))
		}
	}
	var crew sync.WaitGroup
	for _, txs := range made {
		crew.Go(func() {
			for i := range txs {
				l.Admit(t.Context(), txs[i:i+1])
			}
		})
	}
	crew.Go(func() {
		for i := range 200 {
			asked := Depth{UserTxs: most / 4 * (1 + i%4), SenderTxs: 65 + 64*(i%2)}
			now, err := l.Resize(asked)
			if err != nil || now.UserTxs < asked.UserTxs || now.UserTxs > most {
				t.Errorf("asked for %v, got %v, %v", asked, now, err)
			}
			if held := l.Stats().Lanes[chain.LaneUser].Txs; held > most {
				t.Errorf("%d wait, at most %d may", held, most)
			}
		}
	})
	crew.Wait()
	held := l.Stats().Lanes[chain.LaneUser].Txs
	if now, err := l.Resize(Depth{UserTxs: 1, SenderTxs: 256}); err != nil || now.UserTxs != held || held == 0 {
		t.Errorf("%d wait, and the cap is %v, %v", held, now, err)
	}
}

// TestHeadsNarrowBesideAdmission: a pool that is to be smaller narrows with each head while
// others ask for every place, and never holds more than its cap, which never rises.
func TestHeadsNarrowBesideAdmission(t *testing.T) {
	const senders, each, most, least = 64, 24, 512, 64
	at := func(nonce uint64) (view accounts) {
		view = accounts{of: map[chain.Address]state.Account{}}
		for n := range byte(senders) {
			a := state.NewAccount()
			a.Nonce, a.Balance = nonce, chain.WeiPerCBY
			view.of[chain.Address{n}] = a
		}
		return view
	}
	cfg := DefaultConfig()
	cfg.LaneTxs[chain.LaneUser] = most
	l := running(t, cfg, at(0))
	var m maker
	made := make([][]*chain.VerifiedTx, 3)
	for nonce := range uint64(each) {
		for n := range byte(senders) {
			made[n%3] = append(made[n%3], m.transfer(n, nonce, 1, 30_000))
		}
	}
	flood := func() {
		var crew sync.WaitGroup
		for _, txs := range made {
			crew.Go(func() {
				for i := range txs {
					l.Admit(t.Context(), txs[i:i+1])
				}
			})
		}
		crew.Wait()
	}
	flood()
	if _, err := l.Resize(Depth{UserTxs: least, SenderTxs: 256}); err != nil {
		t.Fatal(err)
	}
	var touched []chain.Address // whose nonces each head moves
	for n := range byte(senders) {
		touched = append(touched, chain.Address{n})
	}
	r := &l.pool.lanes[chain.LaneUser]
	was := r.txsMax.Load()
	for height := chain.Height(1); height < each; height++ {
		var crew sync.WaitGroup
		crew.Go(flood)
		crew.Go(func() {
			if err := l.Finalized(t.Context(), FinalizedHead{Height: height, View: at(uint64(height)), BaseFees: evenFees(1), Touched: touched}); err != nil {
				t.Error(err)
			}
		})
		crew.Wait()
		now := r.txsMax.Load()
		if held, _ := unpack(r.held.Load()); int64(held) > now || now > was || now < least {
			t.Fatalf("height %d: %d wait, the cap is %d and was %d", height, held, now, was)
		}
		was = now
	}
	if was != least {
		t.Errorf("the cap came down to %d, want %d", was, least)
	}
}

// TestWhatATransactionTakes holds the heap that the dearest small transactions take, each
// of a sender of its own and full of addresses, to what the pool's budget reckons with.
func TestWhatATransactionTakes(t *testing.T) {
	const n = 4_000
	view := accounts{of: map[chain.Address]state.Account{}}
	var bodies [][]byte
	tx := chain.Tx{ChainID: testChain, To: &chain.Address{9}, CyclesLimit: 40_000, CellsLimit: 2_000, MaxFeePerCycle: 10, MaxFeePerCell: 10, TipPerCycle: 1, Signature: &chain.TxSignature{R: [32]byte{1}, S: [32]byte{1}}}
	for i := byte(0); ; i++ {
		longer := tx
		longer.AccessList = append(tx.AccessList[:i:i], chain.AccessEntry{Address: chain.Address{1, i, 19: 1}})
		if len(longer.Encode()) > DefaultConfig().SmallBytes {
			break
		}
		tx = longer
	}
	sender := func(i int) (a chain.Address) {
		binary.BigEndian.PutUint64(a[:], uint64(i)+1)
		return a
	}
	for i := range n {
		view.of[sender(i)] = state.Account{Balance: chain.WeiPerCBY}
		tx.Value = chain.Wei(i)
		bodies = append(bodies, tx.Encode())
	}
	l := running(t, DefaultConfig(), view)
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	for i, body := range bodies {
		body = append([]byte(nil), body...)
		decoded, err := chain.DecodeTx(body)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Admit(t.Context(), []*chain.VerifiedTx{{Tx: decoded, Body: body, Hash: chain.TxHash(body), Sender: sender(i), Lane: chain.LaneUser}})[0]; err != nil {
			t.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	each := (int(after.HeapAlloc) - int(before.HeapAlloc)) / n
	t.Logf("%d bytes each, of bodies of %d", each, len(bodies[0]))
	if each > SmallTxBytes || each < SmallTxBytes/4 {
		t.Errorf("a transaction takes %d bytes, the budget reckons with %d", each, SmallTxBytes)
	}
	runtime.KeepAlive(l)
	runtime.KeepAlive(bodies)
}
