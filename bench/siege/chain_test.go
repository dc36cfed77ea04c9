package siege

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
	"github.com/cowboy-foundation/cowboy/exec/parallel"
	"github.com/cowboy-foundation/cowboy/lanes"
	"github.com/cowboy-foundation/cowboy/node/ledger"
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
	genesis  *genesis.Genesis
	order    *bls.SecretKey
	lanes    lanes.Config
	makers   []*node // who propose, in turns
	verifier *node   // who only judges
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
	s.lanes = lanes.DefaultConfig()
	s.lanes.Epochs = epoch.Of(s.genesis)
	if a.lanes != nil {
		a.lanes(&s.lanes)
	}
	s.verifier = s.newNode(parallel.Config{Mode: parallel.Planned, Workers: 2})
	s.run(s.verifier)
	for range max(1, a.makers) {
		n := s.newNode(parallel.Config{})
		s.fill(n)
		s.run(n)
		s.makers = append(s.makers, n)
	}
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
	g := genesis.DevnetTemplate()
	g.Params.Machine = params.MachineTables{CostTable: chain.Hash{0: 1}, ExceptionTexts: chain.Hash{0: 2}}
	if a.params != nil {
		a.params(&g.Params)
	}
	v := chain.Validator{
		PeerKey: chain.PeerKey{1, 2, 3}, BLSKey: s.order.PublicKey().Bytes(), BLSPossession: s.order.ProvePossession(),
		PublicShare: shares[0].Key.PublicKey().Bytes(), Stake: g.Params.Staking.MinValidatorStake, RewardAddress: chain.Address{0: 0xdd},
	}
	var rich []genesis.Allocation
	for i := range honestPeople {
		rich = append(rich, genesis.Allocation{Name: fmt.Sprint("person", i), Address: person(i), Amount: wealth})
	}
	for i := range foes {
		rich = append(rich, genesis.Allocation{Name: fmt.Sprint("foe", i), Address: foe(i), Amount: wealth})
	}
	for i := range a.crowd {
		rich = append(rich, genesis.Allocation{Name: fmt.Sprint("stranger", i), Address: stranger(i), Amount: 10 * chain.WeiPerCBY})
	}
	group := polynomial.Group().Bytes()
	if err := g.Complete([]chain.Validator{v}, group, [][96]byte{group}, rich, uint64(s.now.UnixMilli())); err != nil {
		s.t.Fatal(err)
	}
	s.genesis = g
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
func (s *siege) params() *params.Params { return &s.genesis.Params }

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
	maker := s.makers[int(s.height)%len(s.makers)]
	made, err := maker.Propose(s.t.Context(), engine.ProposeRequest{Round: round, Parent: s.parent})
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
	final := simplex.Certificate{Kind: simplex.Finalize, Proposal: simplex.Proposal{Round: round, Parent: s.parent.Round.View, Payload: made.Digest}}
	certificate := simplex.AppendCertificate(nil, final) // nobody looks at signatures
	for _, n := range append([]*node{s.verifier}, s.makers...) {
		if n != s.verifier && n != maker {
			if err := n.Judge(s.t.Context(), req); err != nil {
				s.t.Fatalf("block %d: %v", s.height+1, err)
			}
		}
		if err := n.Finalized(s.t.Context(), engine.Finalization{Round: round, Digest: made.Digest, Certificate: certificate}); err != nil {
			s.t.Fatalf("block %d: %v", s.height+1, err)
		}
		b.event = <-n.Events()
		if n.pool == nil {
			continue
		}
		if err := n.pool.Finalized(s.t.Context(), b.event.Head()); err != nil {
			s.t.Fatal(err)
		}
	}
	for _, tx := range b.event.Txs {
		s.nonces[tx.Sender] = max(s.nonces[tx.Sender], tx.Tx.Nonce+1) // a twin may have come in
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

// home is the node to which somebody submits, and that keeps it over a crash.
func (s *siege) home(who chain.Address) *node { return s.makers[int(who[19])%len(s.makers)] }

// offer hands a transaction in where its sender does and reports whether the pool took it.
func (s *siege) offer(tx *chain.VerifiedTx) error {
	err := s.submit(tx)
	for _, n := range s.makers {
		if err == nil && n != s.home(tx.Sender) {
			_ = s.pool(n, tx) // it was told; what it makes of it is its own matter
		}
	}
	return err
}

// submit hands a transaction to the home of its sender alone.
func (s *siege) submit(tx *chain.VerifiedTx) error {
	n := s.home(tx.Sender)
	err := s.pool(n, tx)
	if err == nil && len(s.makers) > 1 {
		n.own = append(n.own, tx)
	}
	if err == nil && tx.Tx.Nonce == s.nonces[tx.Sender] {
		s.nonces[tx.Sender]++
	}
	return err
}

// pool offers a transaction to the pool of a node.
func (s *siege) pool(n *node, tx *chain.VerifiedTx) error {
	s.bodies.add(tx)
	return n.pool.Admit(s.t.Context(), []*chain.VerifiedTx{tx})[0]
}

// strike offers a transaction of the attack.
func (s *siege) strike(from chain.Address, tx chain.Tx) error {
	return s.strikeAs(s.tx(from, tx))
}

// strikeAs offers one that is made. The other makers get twins of it, before they can be told:
// of all of them one comes into the chain, and what waits elsewhere was for nothing.
func (s *siege) strikeAs(v *chain.VerifiedTx) error {
	s.put.offered++
	err := s.submit(v)
	for i, n := range s.makers {
		if n == s.home(v.Sender) {
			continue
		}
		tx := *v.Tx
		tx.CellsLimit += chain.Cells(i + 1)
		if twin := s.verified(v.Sender, tx); s.pool(n, twin) == nil {
			s.hostile[twin.Hash] = true
		}
	}
	if err != nil {
		s.put.refused++
		return err
	}
	s.hostile[v.Hash] = true
	return nil
}
