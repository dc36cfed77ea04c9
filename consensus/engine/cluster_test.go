package engine

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/shards"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
	"github.com/cowboy-foundation/cowboy/crypto/ed25519"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// committee returns a set of n validators of equal stake and their shares. Of
// several, validator 1 leads view 1.
func committee(t testing.TB, n int) (*beacon.ValidatorSet, []bls.Share, *genesis.Genesis) {
	t.Helper()
	return committeeDrawn(t, n, 0)
}

// committeeDrawn is committee with other leaders after view 1 for each order.
func committeeDrawn(t testing.TB, n, order int) (*beacon.ValidatorSet, []bls.Share, *genesis.Genesis) {
	t.Helper()
	polynomial, shares, err := bls.DealTrusted(bytes.Repeat([]byte{7}, 32), n, chain.Quorum(n))
	if err != nil {
		t.Fatal(err)
	}
	g := &genesis.Genesis{Name: "test", ChainID: 1, Params: params.Default(), Beacon: chain.Hash{1, byte(order)}}
	g.GroupKey = polynomial.Group().Bytes()
	peers := peerKeys(t, n)
	for i := range n {
		g.Validators = append(g.Validators, chain.Validator{
			PeerKey: peers[i].PublicKey(), ShareIndex: uint32(i), Stake: 100,
			PublicShare: polynomial.PublicShare(uint32(i)).Bytes(),
		})
	}
	for {
		set, err := beacon.NewValidatorSet(epoch.First(g))
		if err != nil {
			t.Fatal(err)
		}
		if n == 1 || set.Leader(set.GenesisBeacon()) == 1 {
			return set, shares, g
		}
		g.Beacon[0]++
	}
}

// peerKeys returns the peer keys of n validators, in their canonical order.
func peerKeys(t testing.TB, n int) []*ed25519.PrivateKey {
	t.Helper()
	keys := make([]*ed25519.PrivateKey, n)
	for i := range keys {
		var err error
		if keys[i], err = ed25519.NewPrivateKey(bytes.Repeat([]byte{byte(i + 1)}, ed25519.SeedSize)); err != nil {
			t.Fatal(err)
		}
	}
	slices.SortFunc(keys, func(a, b *ed25519.PrivateKey) int {
		x, y := a.PublicKey(), b.PublicKey()
		return bytes.Compare(x[:], y[:])
	})
	return keys
}

// voiceOf returns what validator i signs and verifies with.
func voiceOf(t testing.TB, set *beacon.ValidatorSet, shares []bls.Share, i int) *simplex.Threshold {
	t.Helper()
	keys := simplex.Keys{Share: shares[i].Key, Peer: peerKeys(t, set.Len())[i]}
	voice, err := simplex.NewThreshold(set, beacon.Participant(i), keys, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return voice
}

func testConfig(t testing.TB, set *beacon.ValidatorSet, share bls.Share, genesis chain.Hash) Config {
	t.Helper()
	p := params.Default()
	cfg := DefaultConfig(&p)
	cfg.Set, cfg.Self, cfg.Share = set, beacon.Participant(share.Index), share.Key
	cfg.Peer = peerKeys(t, set.Len())[share.Index]
	cfg.Weights = rand.Reader
	cfg.LastFinalized = Floor{Digest: genesis}
	return cfg
}

// chainApp is an application whose blocks hold only their place. It is
// durable: what Finalized returned for survives a new engine, all else is lost
// by restart.
type chainApp struct {
	pad        int // bytes behind each block
	t          testing.TB
	blockTime  time.Duration
	unreadable error // of the archive
	late       bool  // this node's clock is behind: every block is early

	mu       sync.Mutex
	executed map[chain.Hash]uint64 // height by digest, in memory
	final    []Finalization        // durable, by height-1
	floor    Floor
	wanted   int
	reached  chan struct{}
	skip     map[chain.View]bool   // views in which Propose passes
	stuckAt  uint64                // height that Finalized never finishes; 0: none
	bytes    map[chain.Hash][]byte // of all blocks ever executed
	leader   chain.PeerKey         // of the newest Verify
	reads    int                   // of the archive
	code     *shards.Code          // with it, blocks have bodies that travel as shards
}

func newChainApp(t testing.TB, genesis chain.Hash) *chainApp {
	return &chainApp{
		t: t, floor: Floor{Digest: genesis}, executed: map[chain.Hash]uint64{genesis: 0},
		reached: make(chan struct{}), bytes: map[chain.Hash][]byte{},
	}
}

// restart forgets what was not durable.
func (a *chainApp) restart() {
	a.executed = map[chain.Hash]uint64{a.floor.Digest: uint64(len(a.final))}
}

// want makes reached be closed when the chain has n blocks.
func (a *chainApp) want(n int) <-chan struct{} {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.wanted, a.reached = n, make(chan struct{})
	return a.reached
}

func encodeBlock(r beacon.Round, parent ParentRef, height uint64) []byte {
	b := append([]byte("block"), parent.Digest[:]...)
	b = append(b, parent.Seed[:]...)
	b = binary.BigEndian.AppendUint64(b, uint64(r.View))
	return binary.BigEndian.AppendUint64(b, height)
}

func digestOf(block []byte) chain.Hash { return keccak.Sum256(block) }

func (a *chainApp) Propose(ctx context.Context, req ProposeRequest) (Proposed, error) {
	if a.skip[req.Round.View] {
		return Proposed{}, ErrNoProposal
	}
	if a.blockTime > 0 {
		select {
		case <-ctx.Done():
			return Proposed{}, ctx.Err()
		case <-time.After(a.blockTime):
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	h, ok := a.executed[req.Parent.Digest]
	if !ok {
		return Proposed{}, fmt.Errorf("parent %v was never executed", req.Parent.Digest)
	}
	b := a.block(req.Round, req.Parent, h+1)
	d := a.digest(b)
	a.executed[d], a.bytes[d] = h+1, b
	return Proposed{Digest: d, Block: b}, nil
}

func (a *chainApp) Prepare(context.Context, PrepareRequest) error { return nil }

func (a *chainApp) Fits(digest chain.Hash, block []byte) (bool, error) {
	if a.digest(block) != digest {
		return false, nil
	}
	if a.code == nil {
		return true, nil
	}
	_, body, err := splitFormat.Split(block)
	if err != nil {
		return false, nil
	}
	root, err := a.code.Root(body)
	if err != nil {
		return false, err
	}
	return bytes.HasSuffix(block[:headBytes], root[:]), nil
}

func (a *chainApp) Verify(ctx context.Context, req VerifyRequest) (bool, error) {
	if a.late {
		return false, ErrEarly
	}
	return a.Recover(ctx, req)
}

func (a *chainApp) Recover(_ context.Context, req VerifyRequest) (bool, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.leader = req.Leader
	h, ok := a.executed[req.Parent.Digest]
	if !ok {
		return false, fmt.Errorf("parent %v was never executed", req.Parent.Digest)
	}
	if fits, err := a.Fits(req.Digest, req.Block); err != nil {
		return false, err
	} else if !fits {
		return false, ErrWrongBlock
	}
	if !bytes.Equal(req.Block, a.block(req.Round, req.Parent, h+1)) {
		return false, nil
	}
	a.executed[req.Digest], a.bytes[req.Digest] = h+1, req.Block
	return true, nil
}

func (a *chainApp) Finalized(ctx context.Context, f Finalization) error {
	a.mu.Lock()
	if a.stuckAt != 0 && uint64(len(a.final))+1 == a.stuckAt {
		a.mu.Unlock()
		<-ctx.Done()
		return ctx.Err()
	}
	a.mu.Unlock()
	a.mu.Lock()
	defer a.mu.Unlock()
	h, ok := a.executed[f.Digest]
	if !ok {
		return fmt.Errorf("finalized block %v was never executed", f.Digest)
	}
	if h != uint64(len(a.final))+1 {
		return fmt.Errorf("finalized height %d after %d", h, len(a.final))
	}
	a.final = append(a.final, f)
	a.floor = Floor{Round: f.Round, Digest: f.Digest, Certificate: f.Certificate, Own: f.Own}
	if len(a.final) == a.wanted {
		close(a.reached)
	}
	return nil
}

// diskJournal is a journal in memory that loses what was not synced.
type diskJournal struct {
	durable, buffered [][]byte
	op, failOp        int  // operation number failOp fails; 0: none
	lands             bool // and yet takes effect
}

var errDisk = errors.New("disk is gone")

// operate counts an operation and says whether it takes effect and fails.
func (j *diskJournal) operate() (effect bool, err error) {
	j.op++
	if j.failOp != 0 && j.op >= j.failOp {
		return j.lands && j.op == j.failOp, errDisk
	}
	return true, nil
}

func (j *diskJournal) Append(rec []byte) error {
	effect, err := j.operate()
	if effect {
		j.buffered = append(j.buffered, bytes.Clone(rec))
	}
	return err
}

func (j *diskJournal) Sync() error {
	effect, err := j.operate()
	if effect {
		j.durable = append(j.durable, j.buffered...)
		j.buffered = nil
	}
	return err
}

func (j *diskJournal) Replay(f func([]byte) error) error {
	for _, rec := range j.durable {
		if err := f(rec); err != nil {
			return err
		}
	}
	return nil
}

func (j *diskJournal) Prune(keep func([]byte) bool) error {
	effect, err := j.operate()
	if effect {
		var kept [][]byte
		for _, rec := range append(j.durable, j.buffered...) {
			if keep(rec) {
				kept = append(kept, rec)
			}
		}
		j.durable, j.buffered = kept, nil
	}
	return err
}

// crash returns the journal that a new process would open.
func (j *diskJournal) crash() *diskJournal {
	return &diskJournal{durable: append([][]byte(nil), j.durable...)}
}

// mesh connects engines in memory. It drops messages to full inboxes.
type mesh struct {
	engines []*Engine
	mu      sync.Mutex
	sent    [][][]byte // by sender, when recording
	record  bool
}

type port struct {
	mesh *mesh
	self beacon.Participant
}

func (p port) Broadcast(msg []byte) {
	p.mesh.note(p.self, msg)
	for i, e := range p.mesh.engines {
		if beacon.Participant(i) != p.self && e != nil {
			_ = e.Deliver(p.self, msg)
		}
	}
}

func (p port) Send(to beacon.Participant, msg []byte) {
	p.mesh.note(p.self, msg)
	if e := p.mesh.engines[to]; e != nil {
		_ = e.Deliver(p.self, msg)
	}
}

func (m *mesh) note(from beacon.Participant, msg []byte) {
	if m.record {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.sent[from] = append(m.sent[from], msg)
	}
}

// newHistory makes a chain of n final blocks with real certificates. Every
// third block has only a notarization of its own and is final by its child; two
// views are nullified after every seventh.
func newHistory(t testing.TB, set *beacon.ValidatorSet, shares []bls.Share, genesis chain.Hash, n int) *history {
	t.Helper()
	var voices []*simplex.Threshold
	for i := range set.Quorum() {
		voices = append(voices, voiceOf(t, set, shares, i))
	}
	sign := func(k simplex.Kind, p simplex.Proposal) simplex.Certificate {
		var votes []simplex.Vote
		for _, v := range voices {
			votes = append(votes, v.Sign(k, p))
		}
		c, err := voices[0].Recover(votes)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	h := &history{bytes: map[chain.Hash][]byte{}}
	parent := ParentRef{Digest: genesis}
	v := chain.View(0)
	var waiting int // blocks without a finalization
	for height := 1; height <= n; height++ {
		v++
		if height%7 == 0 {
			v += 2
		}
		r := beacon.Round{View: v}
		body := encodeBlock(r, parent, uint64(height))
		p := simplex.Proposal{Round: r, Parent: parent.Round.View, Payload: digestOf(body)}
		kind := simplex.Finalize
		if height%3 == 0 && height < n {
			kind = simplex.Notarize
		}
		own := sign(kind, p)
		raw := simplex.AppendCertificate(nil, own)
		h.bytes[p.Payload] = body
		h.final = append(h.final, Finalization{Round: r, Digest: p.Payload, Seed: own.Seed, Own: raw})
		waiting++
		if kind == simplex.Finalize {
			for i := range waiting {
				h.final[len(h.final)-1-i].Certificate = raw
			}
			waiting = 0
			h.floor = Floor{Round: r, Digest: p.Payload, Certificate: raw, Own: raw}
		}
		parent = ParentRef{Round: r, Digest: p.Payload, Seed: own.Seed}
	}
	return h
}
