package ledger

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/consensus/shards"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/lanes"
	"github.com/cowboy-foundation/cowboy/lanes/sigverify"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/statetest"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// pool hands out the transactions a test put into it, arranged by Pack's rule.
type pool struct {
	txs    []*chain.VerifiedTx
	before [][]*chain.VerifiedTx // as the last request named them
}

func (p *pool) Pack(_ context.Context, req lanes.PackRequest) (order.Selection, error) {
	p.before = req.Before
	return order.Selection{Txs: order.Arrange(req.VRFOut, p.txs)}, nil
}

func (p *pool) Executable() int { return len(p.txs) }

func (p *pool) Reconsider(context.Context, []*chain.VerifiedTx) error { return nil }

func (p *pool) Shun(ctx context.Context, txs []*chain.VerifiedTx) error { return p.Discard(ctx, txs) }

func (p *pool) Discard(_ context.Context, txs []*chain.VerifiedTx) error {
	p.txs = slices.DeleteFunc(p.txs, func(tx *chain.VerifiedTx) bool { return slices.Contains(txs, tx) })
	return nil
}

// fixture is a chain of one validator with a funded account.
type fixture struct {
	genesis *genesis.Genesis
	order   *bls.SecretKey
	share   *bls.SecretKey
	account *secp256k1.PrivateKey
	now     time.Time
	shards  *shards.Code // of all ledgers of the fixture
	runners uint64       // entries that the registry of runners says it has

	inMemory bool          // nothing reaches a disk, for tests of many blocks
	broken   chain.Address // zero, or has code and no record, which no execution leaves: to call it is a fault
}

var testPeer = chain.PeerKey{1, 2, 3}

func newFixture(t *testing.T) *fixture { return newFixtureOf(t, func(*params.Params) {}) }

// newFixtureOf returns a chain with other parameters and with more accounts.
func newFixtureOf(t *testing.T, change func(*params.Params), accounts ...genesis.Allocation) *fixture {
	t.Helper()
	secret := keccak.Sum256([]byte("ledger test account"))
	account, err := secp256k1.ParsePrivateKey(secret[:])
	if err != nil {
		t.Fatal(err)
	}
	order, err := bls.NewSecretKey(bytes.Repeat([]byte{8}, 32))
	if err != nil {
		t.Fatal(err)
	}
	polynomial, shares, err := bls.DealTrusted(bytes.Repeat([]byte{9}, 32), 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	g := genesis.DevnetTemplate()
	g.Params.Machine = params.MachineTables{CostTable: chain.Hash{0: 1}, ExceptionTexts: chain.Hash{0: 2}}
	validator := chain.Validator{
		PeerKey: testPeer, BLSKey: order.PublicKey().Bytes(), BLSPossession: order.ProvePossession(),
		PublicShare: shares[0].Key.PublicKey().Bytes(), Stake: g.Params.Staking.MinValidatorStake,
		RewardAddress: chain.Address{0xee, 0xee},
	}
	f := &fixture{genesis: g, order: order, share: shares[0].Key, account: account, now: time.UnixMilli(1_800_000_000_000)}
	change(&g.Params)
	accounts = append(accounts, genesis.Allocation{Name: "test", Address: account.PublicKey().Address(), Amount: 1000 * chain.WeiPerCBY})
	group := polynomial.Group().Bytes()
	if err := g.Complete([]chain.Validator{validator}, group, [][96]byte{group}, accounts, uint64(f.now.UnixMilli())); err != nil {
		t.Fatal(err)
	}
	return f
}

// ledger starts a ledger of its own on the fixture's chain.
func (f *fixture) ledger(t *testing.T, p Pool) *Ledger {
	t.Helper()
	l := f.made(t, p)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("ledger ended with %v", err)
		}
		if err := l.cfg.Store.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// stopped starts a ledger that the test stops, and returns what its run ends with.
func (f *fixture) stopped(t *testing.T, p Pool) (l *Ledger, ended <-chan error) {
	t.Helper()
	l = f.made(t, p)
	done := make(chan error, 1)
	go func() { done <- l.Run(t.Context()) }()
	return l, done
}

// made opens a ledger of its own on the fixture's chain.
func (f *fixture) made(t *testing.T, p Pool) *Ledger {
	t.Helper()
	options := store.DefaultOptions()
	if f.inMemory {
		options.FS = vfs.NewMem()
	}
	s, err := store.Open(t.TempDir(), options)
	if err != nil {
		t.Fatal(err)
	}
	delta, err := exec.GenesisDelta(f.genesis)
	if err != nil {
		t.Fatal(err)
	}
	if f.runners > 0 {
		delta = withRunners(delta, f.runners)
	}
	if f.broken != (chain.Address{}) {
		delta = withBroken(delta, f.broken)
	}
	if err := s.Init(store.GenesisRecord{Hash: f.genesis.Hash(), Delta: delta}); err != nil {
		t.Fatal(err)
	}
	proposers, err := NewProposers(epoch.Of(f.genesis))
	if err != nil {
		t.Fatal(err)
	}
	signatures, err := sigverify.New(sigverify.DefaultConfig(runtime.GOMAXPROCS(0)), nil)
	if err != nil {
		t.Fatal(err)
	}
	l, err := New(Config{
		Genesis: f.genesis, Store: s, Pool: p, Signatures: signatures, Proposers: proposers, Shards: f.shards,
		PeerKey: testPeer, OrderKey: f.order, Now: func() time.Time { return f.now.Add(time.Minute) },
		Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// withBroken adds an account that no execution leaves.
func withBroken(d *state.Delta, at chain.Address) *state.Delta {
	all, code := statetest.NewMaps(d), []byte("def go(msg):\n    return 1\n")
	a := state.NewAccount()
	a.CodeHash = keccak.Sum256(code)
	all.Accounts[at], all.Codes[a.CodeHash] = a, code
	return all.Delta()
}

// withRunners adds a registry that says how many runners it has, and has none of their rows.
func withRunners(d *state.Delta, n uint64) *state.Delta {
	all := statetest.NewMaps(d)
	registry := state.NewOverlay(all)
	registry.SetStorage(chain.AddrRunnerRegistry, state.NewStorageKey(state.VMNamespaceSystem, []byte("count")), cbor.AppendUint(nil, n))
	all.Write(registry.Delta())
	return all.Delta()
}

func (f *fixture) transfer(t *testing.T, nonce uint64) *chain.VerifiedTx {
	t.Helper()
	tx := &chain.Tx{
		ChainID: f.genesis.ChainID, Nonce: nonce, To: &chain.Address{0xaa, byte(nonce)}, Value: 5,
		CyclesLimit: 21_000, MaxFeePerCycle: 10, MaxFeePerCell: 10, TipPerCycle: 1,
	}
	return signedBy(t, f.account, tx)
}

// signedBy signs a transaction and says what sigverify would say of it.
func signedBy(t *testing.T, key *secp256k1.PrivateKey, tx *chain.Tx) *chain.VerifiedTx {
	t.Helper()
	sig := key.Sign(tx.SigningHash())
	tx.Signature = &chain.TxSignature{YParity: sig.YParity, R: sig.R, S: sig.S}
	body := tx.Encode()
	ins, err := tx.Classify()
	if err != nil {
		t.Fatal(err)
	}
	return &chain.VerifiedTx{Tx: tx, Body: body, Hash: chain.TxHash(body), Sender: key.PublicKey().Address(), Lane: ins.Lane}
}

// genesisParent is the parent of the first block.
func (f *fixture) genesisParent() engine.ParentRef { return engine.ParentRef{Digest: f.genesis.Hash()} }

func firstRound() beacon.Round { return beacon.Round{View: 1} }

// propose builds the first block.
func (f *fixture) propose(t *testing.T, l *Ledger) engine.Proposed {
	t.Helper()
	p, err := l.Propose(t.Context(), engine.ProposeRequest{Round: firstRound(), Parent: f.genesisParent()})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (f *fixture) verify(t *testing.T, l *Ledger, block *chain.Block) (bool, error) {
	t.Helper()
	return l.Verify(t.Context(), engine.VerifyRequest{
		Round: firstRound(), Parent: f.genesisParent(), Digest: block.Header.Digest(), Block: block.Encode(),
	})
}
