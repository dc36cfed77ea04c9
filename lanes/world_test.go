package lanes

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/statetest"
)

const testChain = 7

// accounts is a state of accounts: lanes read nothing else.
type accounts struct {
	statetest.Unread
	of map[chain.Address]state.Account
}

func (a accounts) Account(addr chain.Address) (state.Account, bool, error) {
	if acc, ok := a.of[addr]; ok {
		return acc, true, nil
	}
	return state.NewAccount(), false, nil
}

// with returns a copy in which an account has the given nonce and balance.
func (a accounts) with(addr chain.Address, nonce uint64, balance chain.Wei) accounts {
	out := accounts{of: map[chain.Address]state.Account{}}
	maps.Copy(out.of, a.of)
	acc := state.NewAccount()
	acc.Nonce, acc.Balance = nonce, balance
	out.of[addr] = acc
	return out
}

// evenFees is one base fee for every lane and meter.
func evenFees(fee chain.Wei) (out [chain.NumLanes]chain.FeePair) {
	for i := range out {
		out[i] = chain.FeePair{PerCycle: fee, PerCell: fee}
	}
	return out
}

// order of lanes that hold transactions
var txLanes = []chain.LaneID{chain.LaneSystem, chain.LaneRunner, chain.LaneUser}

// maker makes transactions with distinct hashes.
type maker struct{ serial uint64 }

// transfer returns a transfer of 100 bytes in the user lane that pays the given
// tip per cycle and costs at most limit·(10+tip).
func (m *maker) transfer(sender byte, nonce uint64, tip chain.Wei, limit chain.Cycles) *chain.VerifiedTx {
	m.serial++
	tx := &chain.VerifiedTx{
		Tx: &chain.Tx{
			ChainID: testChain, Nonce: nonce, To: &chain.Address{0xcc, 1},
			CyclesLimit: limit, MaxFeePerCycle: 10 + tip, MaxFeePerCell: 10, TipPerCycle: tip,
		},
		Body:   make([]byte, 100),
		Sender: chain.Address{sender},
		Lane:   chain.LaneUser,
	}
	binary.BigEndian.PutUint64(tx.Hash[:], m.serial)
	return tx
}

func names(txs []*chain.VerifiedTx) string {
	var out []string
	for _, tx := range txs {
		out = append(out, fmt.Sprintf("%x/%d", tx.Sender[:1], tx.Tx.Nonce))
	}
	return fmt.Sprint(out)
}

func (m *maker) in(lane chain.LaneID, tx *chain.VerifiedTx) *chain.VerifiedTx {
	tx.Lane = lane
	return tx
}

// idle returns lanes that nobody runs or stops, and that look at everything when
// they pack.
func idle(t testing.TB, params params.Params, view state.View) *Lanes {
	t.Helper()
	cfg := DefaultConfig()
	cfg.PackMisses = 1 << 30
	l, err := New(cfg, &params, testChain, FinalizedHead{View: view, BaseFees: evenFees(1)})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// wealthy is a state in which everyone is rich.
func wealthy() accounts {
	a := accounts{}
	for i := range 256 {
		a = a.with(chain.Address{byte(i)}, 0, 1_000*chain.WeiPerCBY)
	}
	return a
}

func request(params *params.Params, view state.View) *PackRequest {
	return &PackRequest{Parent: view, Params: params, BaseFees: evenFees(1), Height: 1, VRFOut: chain.Hash{9}, MaxBytes: 1 << 20}
}

func mustPack(t *testing.T, l *Lanes, req *PackRequest) []*chain.VerifiedTx {
	t.Helper()
	packed, err := l.Pack(context.Background(), *req)
	if err != nil {
		t.Fatal(err)
	}
	return packed.Txs
}

// mustAdmit puts transactions into the pool without the checks of what they
// are, so that every lane can be filled with plain transfers.
func mustAdmit(t *testing.T, l *Lanes, txs ...*chain.VerifiedTx) {
	t.Helper()
	for i, tx := range txs {
		if err := admitUnclassified(l, tx); err != nil {
			t.Fatalf("admit %s: %v", names(txs[i:i+1]), err)
		}
	}
}

func admitUnclassified(l *Lanes, tx *chain.VerifiedTx) error {
	cost, err := fees.MaxCost(tx.Tx)
	if err != nil {
		return err
	}
	answer := make([]error, 1)
	l.pool.admit([]offer{{Tx: tx, Cost: cost}}, answer)
	return answer[0]
}

// running starts the owner of lanes and stops it with the test.
func running(t *testing.T, cfg Config, view state.View) *Lanes {
	t.Helper()
	params := params.Default()
	l, err := New(cfg, &params, testChain, FinalizedHead{View: view, BaseFees: evenFees(1)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run = %v, want the context's error", err)
		}
	})
	return l
}

func accountWithCode() state.Account {
	a := state.NewAccount()
	a.CodeHash = chain.Hash{1}
	return a
}
