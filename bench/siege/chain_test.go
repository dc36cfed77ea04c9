package siege

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/parallel"
	"github.com/cowboy-foundation/cowboy/lanes"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// How many people there are, and what each has.
const (
	honestPeople = 200
	foes         = 120
	wealth       = 200_000 * chain.WeiPerCBY
)

// person is the address of an honest one.
func person(i int) chain.Address { return chain.Address{0: 0xa0, 18: byte(i >> 8), 19: byte(i)} }

// foe is the address of an attacker.
func foe(i int) chain.Address { return chain.Address{0: 0xee, 18: byte(i >> 8), 19: byte(i)} }

// stranger is the address of one of an attacker's crowd.
func stranger(i int) chain.Address { return chain.Address{0: 0xef, 18: byte(i >> 8), 19: byte(i)} }

// siege is a chain under attack. Its methods are for one goroutine.
type siege struct {
	t        testing.TB
	genesis  *chain.Genesis
	order    *bls.SecretKey
	pool     *lanes.Lanes
	proposer *ledger.Ledger
	verifier *ledger.Ledger
	disk     *store.Store // of the verifier
	parent   engine.ParentRef
	height   chain.Height // of the head
	nonces   map[chain.Address]uint64
	bodies   bodies

	mu  sync.Mutex // guards now
	now time.Time

	honest  honest
	last    block
	actors  []chain.Address // whose storages are counted
	hostile map[chain.Hash]bool
	put     struct{ offered, refused int } // of the attack
}

// bodies are the transactions that were made here: nobody signs, so whoever judges a
// block looks them up.
type bodies struct {
	mu    sync.Mutex
	known map[chain.Hash]*chain.VerifiedTx // guarded by mu
}

// VerifyBlock implements ledger.Signatures.
func (b *bodies) VerifyBlock(_ context.Context, list [][]byte) ([]*chain.VerifiedTx, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	txs := make([]*chain.VerifiedTx, len(list))
	for i, body := range list {
		tx, ok := b.known[chain.TxHash(body)]
		if !ok {
			return nil, fmt.Errorf("transaction %d: nobody made it", i)
		}
		txs[i] = tx
	}
	return txs, nil
}

func (b *bodies) add(tx *chain.VerifiedTx) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.known[tx.Hash] = tx
}

// newSiege starts the chain of an attack.
func newSiege(t testing.TB, a *attack) *siege {
	t.Helper()
	s := &siege{
		t: t, now: time.UnixMilli(1_800_000_000_000), nonces: map[chain.Address]uint64{},
		bodies: bodies{known: map[chain.Hash]*chain.VerifiedTx{}}, hostile: map[chain.Hash]bool{},
	}
	s.makeGenesis(a)
	s.verifier, s.disk = s.ledger(nil, parallel.Config{Mode: parallel.Planned, Workers: 2})
	cfg := lanes.DefaultConfig()
	cfg.Validators = s.genesis.Validators
	if a.lanes != nil {
		a.lanes(&cfg)
	}
	head := s.verifier.Head()
	p := &s.genesis.Params
	pool, err := lanes.New(cfg, p, s.genesis.ChainID, lanes.FinalizedHead{View: head.State, BaseFees: ledger.BaseFeesAfter(p, &head.Block.Header)})
	if err != nil {
		t.Fatal(err)
	}
	s.pool = pool
	s.proposer, _ = s.ledger(pool, parallel.Config{})
	s.parent = engine.ParentRef{Digest: s.genesis.Hash()}
	return s
}

func (s *siege) makeGenesis(a *attack) {
	s.t.Helper()
	var err error
	if s.order, err = bls.NewSecretKey(bytes.Repeat([]byte{7}, 32)); err != nil {
		s.t.Fatal(err)
	}
	polynomial, shares, err := bls.DealTrusted(bytes.Repeat([]byte{9}, 32), 1, 1)
	if err != nil {
		s.t.Fatal(err)
	}
	g := chain.DevnetGenesisTemplate()
	g.Params.Machine = chain.MachineTables{CostTable: chain.Hash{0: 1}, ExceptionTexts: chain.Hash{0: 2}}
	if a.params != nil {
		a.params(&g.Params)
	}
	v := chain.Validator{
		PeerKey: chain.PeerKey{1, 2, 3}, BLSKey: s.order.PublicKey().Bytes(), BLSPossession: s.order.ProvePossession(),
		PublicShare: shares[0].Key.PublicKey().Bytes(), Stake: g.Params.Staking.MinValidatorStake, RewardAddress: chain.Address{0: 0xdd},
	}
	var rich []chain.Allocation
	for i := range honestPeople {
		rich = append(rich, chain.Allocation{Name: fmt.Sprint("person", i), Address: person(i), Amount: wealth})
	}
	for i := range foes {
		rich = append(rich, chain.Allocation{Name: fmt.Sprint("foe", i), Address: foe(i), Amount: wealth})
	}
	for i := range a.crowd {
		rich = append(rich, chain.Allocation{Name: fmt.Sprint("stranger", i), Address: stranger(i), Amount: 10 * chain.WeiPerCBY})
	}
	group := polynomial.Group().Bytes()
	if err := g.Complete([]chain.Validator{v}, group, [][96]byte{group}, rich, uint64(s.now.UnixMilli())); err != nil {
		s.t.Fatal(err)
	}
	s.genesis = g
}

// ledger starts a ledger on a store of its own. The one that proposes executes one
// transaction after the other and the one that judges does not: they must agree.
func (s *siege) ledger(p ledger.Pool, x parallel.Config) (*ledger.Ledger, *store.Store) {
	s.t.Helper()
	options, dir := store.DefaultOptions(), "siege"
	if *siegeFor == 0 {
		options.FS = vfs.NewMem()
	} else { // thousands of blocks are gigabytes
		dir = s.t.TempDir()
	}
	db, err := store.Open(dir, options)
	if err != nil {
		s.t.Fatal(err)
	}
	delta, err := exec.GenesisDelta(s.genesis)
	if err == nil {
		err = db.Init(store.GenesisRecord{Hash: s.genesis.Hash(), Delta: delta})
	}
	if err != nil {
		s.t.Fatal(err)
	}
	proposers, err := ledger.NewProposers(s.genesis)
	if err != nil {
		s.t.Fatal(err)
	}
	l, err := ledger.New(ledger.Config{
		Genesis: s.genesis, Store: db, Pool: p, Signatures: &s.bodies, Proposers: proposers,
		PeerKey: s.genesis.Validators[0].PeerKey, OrderKey: s.order, Exec: x, Now: s.clock, Log: slog.New(slog.NewTextHandler(io.Discard, nil)),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	s.t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			s.t.Errorf("ledger ended with %v", err)
		}
		if err := db.Close(); err != nil {
			s.t.Error(err)
		}
	})
	return l, db
}

func (s *siege) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now
}

func (s *siege) tick() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(time.Duration(s.genesis.Params.BlockTimeMillis+1) * time.Millisecond)
}

// params are those of the genesis.
func (s *siege) params() *chain.Params { return &s.genesis.Params }

// block is what one block was and took, in processor time of this process.
type block struct {
	event         ledger.Event
	build, verify time.Duration
}

// pass is next, and books what the block has of the honest.
func (s *siege) pass() block {
	b := s.next()
	s.note(&b)
	return b
}

// next makes the next block, has it judged by the other node, and makes it final.
func (s *siege) next() block {
	s.t.Helper()
	s.tick()
	round := beacon.Round{View: chain.View(s.height + 1)}
	began := bars.ProcessCPU()
	made, err := s.proposer.Propose(s.t.Context(), engine.ProposeRequest{Round: round, Parent: s.parent})
	if err != nil {
		s.t.Fatalf("block %d: %v", s.height+1, err)
	}
	b := block{build: bars.ProcessCPU() - began}
	began = bars.ProcessCPU()
	req := engine.VerifyRequest{Round: round, Parent: s.parent, Leader: s.genesis.Validators[0].PeerKey, Digest: made.Digest, Block: made.Block}
	if err := s.verifier.Judge(s.t.Context(), req); err != nil {
		s.t.Fatalf("block %d: %v", s.height+1, err)
	}
	b.verify = bars.ProcessCPU() - began
	for _, l := range []*ledger.Ledger{s.verifier, s.proposer} {
		if err := l.Finalized(s.t.Context(), engine.Finalization{Round: round, Digest: made.Digest, Certificate: []byte("c")}); err != nil {
			s.t.Fatalf("block %d: %v", s.height+1, err)
		}
		b.event = <-l.Events()
	}
	if err := s.pool.Finalized(s.t.Context(), b.event.Head()); err != nil {
		s.t.Fatal(err)
	}
	s.height, s.parent = b.event.Block.Header.Height, engine.ParentRef{Round: round, Digest: made.Digest}
	s.last = b
	return b
}

// tx is a sender's next transaction. Whether the pool takes it is for offer to say.
func (s *siege) tx(from chain.Address, tx chain.Tx) *chain.VerifiedTx {
	tx.Nonce = s.nonces[from]
	return s.verified(from, tx)
}

// verified is a transaction as signature recovery hands it on.
func (s *siege) verified(from chain.Address, tx chain.Tx) *chain.VerifiedTx {
	tx.ChainID = s.genesis.ChainID
	if tx.MaxFeePerCycle == 0 {
		tx.MaxFeePerCycle, tx.MaxFeePerCell = 100, 100
	}
	// Bodies must differ and nobody looks at the signature.
	tx.Signature = &chain.TxSignature{R: [32]byte{1}, S: [32]byte{0: 1, 12: from[0], 30: from[18], 31: from[19]}}
	body := tx.Encode()
	v := &chain.VerifiedTx{Tx: &tx, Body: body, Hash: chain.TxHash(body), Sender: from, Lane: chain.LaneUser}
	if ins, err := tx.Classify(); err == nil {
		v.Lane = ins.Lane
	}
	return v
}

// offer hands a transaction in and reports whether the pool took it.
func (s *siege) offer(tx *chain.VerifiedTx) error {
	s.bodies.add(tx)
	err := s.pool.Admit(s.t.Context(), []*chain.VerifiedTx{tx})[0]
	if err == nil && tx.Tx.Nonce == s.nonces[tx.Sender] {
		s.nonces[tx.Sender]++
	}
	return err
}

// strike offers a transaction of the attack.
func (s *siege) strike(from chain.Address, tx chain.Tx) error {
	return s.strikeAs(s.tx(from, tx))
}

func (s *siege) strikeAs(v *chain.VerifiedTx) error {
	s.put.offered++
	err := s.offer(v)
	if err != nil {
		s.put.refused++
		return err
	}
	s.hostile[v.Hash] = true
	return nil
}
