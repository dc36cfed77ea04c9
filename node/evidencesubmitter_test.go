package node

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/crypto/ed25519"
	"github.com/cowboy-foundation/cowboy/exec/staking"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/setup"
	"github.com/cowboy-foundation/cowboy/state"
)

// quietChain is an evidence submitter without a chain: what it reads and sends is the test's.
type quietChain struct {
	*evidenceSubmitter
	overlay *state.Overlay
	height  chain.Height
	round   chain.View // of the newest final block
	closed  []attest.Offence
	sent    []*chain.Tx
	when    []int // in blocks since the start
	refuse  error
	log     strings.Builder
}

func newQuietChain(t *testing.T, proofs ...attest.Evidence) *quietChain {
	t.Helper()
	b := &quietChain{overlay: state.NewOverlay(state.Empty{}), height: 100, round: 1000}
	costs := params.Default().Intrinsic
	b.evidenceSubmitter = &evidenceSubmitter{
		chainID: 7, costs: func() *params.IntrinsicCosts { return &costs }, key: setup.DevValidator(0).Key,
		turn:     func(attest.Offence) chain.Height { return 2 },
		proofs:   func() []attest.Evidence { return proofs },
		head:     func() (state.View, chain.Height, chain.View) { return b.overlay, b.height, b.round },
		close:    func(o attest.Offence) { b.closed = append(b.closed, o) },
		baseFees: func() chain.FeePair { return chain.FeePair{PerCycle: 3, PerCell: 5} },
		nonce:    func(context.Context, chain.Address) (uint64, error) { return 40, nil },
		submit: func(_ context.Context, body []byte) error {
			tx, err := chain.DecodeTx(body)
			if err != nil {
				t.Fatal(err)
			}
			b.sent, b.when = append(b.sent, tx), append(b.when, int(b.height-100))
			return b.refuse
		},
		log: slog.New(slog.NewTextHandler(&b.log, nil)), cases: map[attest.Offence]*accusation{},
	}
	return b
}

// passes lets so many blocks become final.
func (b *quietChain) passes(t *testing.T, blocks int) {
	t.Helper()
	for range blocks {
		if err := b.submitDue(t.Context()); err != nil {
			t.Fatal(err)
		}
		b.height++
	}
}

// convicts puts a conviction where execution does.
func (b *quietChain) convicts(o attest.Offence) {
	name := append([]byte("offence/"), o.Accused[:]...)
	name = append(name, 0, 0, 0, 0, 0, 0, 0, byte(o.Round.Epoch), 0, 0, 0, 0, 0, 0, 0, byte(o.Round.View))
	b.overlay.SetStorage(chain.AddrStaking, state.NewStorageKey(state.VMNamespaceSystem, name), cbor.AppendUint(nil, 1))
}

func proofOf(t *testing.T, view chain.View) attest.Evidence {
	t.Helper()
	key, err := ed25519.NewPrivateKey(make([]byte, ed25519.SeedSize))
	if err != nil {
		t.Fatal(err)
	}
	word := func(digest byte) attest.Statement {
		return attest.Statement{Kind: attest.Notarize, Proposal: attest.Proposal{Round: attest.Round{View: view}, Payload: chain.Hash{digest}}}
	}
	return attest.NewEvidence(chain.PeerKey(key.PublicKey()), word(1), word(2))
}

// TestAccuserSubmitsOnce: a proof is sent when it is this validator's turn, is
// what execution reads, and is not sent again once the state has the conviction;
// the next one follows only then.
func TestAccuserSubmitsOnce(t *testing.T) {
	first, second := proofOf(t, 5), proofOf(t, 6)
	b := newQuietChain(t, first, second)
	b.passes(t, 2)
	if len(b.sent) != 0 {
		t.Fatal("out of turn")
	}
	b.passes(t, accuseAgain-1)
	if len(b.sent) != 1 {
		t.Fatalf("%d transactions, want 1", len(b.sent))
	}
	tx := b.sent[0]
	ins, err := tx.Classify()
	if err != nil || ins.Name != "evidence_submit" || tx.Nonce != 40 || tx.MaxFeePerCycle != 12 || tx.MaxFeePerCell != 20 {
		t.Fatalf("sent %+v, %v", tx, err)
	}
	if need := b.costs().Of(ins); tx.CyclesLimit != need.Cycles || tx.CellsLimit != need.Cells {
		t.Errorf("limits %d and %d, the instruction costs %+v", tx.CyclesLimit, tx.CellsLimit, need)
	}
	b.convicts(first.Offence())
	if number, err := staking.ConvictionOf(b.overlay, first.Offence()); err != nil || number != 1 {
		t.Fatalf("the test writes no conviction: %d, %v", number, err)
	}
	b.passes(t, 3*accuseAgain)
	for i, tx := range b.sent[1:] {
		r := cbor.NewReader(tx.Payload)
		_, _ = r.Array(3)
		_, _ = r.Uint()
		words := [2][]byte{}
		for j := range words {
			if words[j], err = r.Bytes(chain.MaxTxBytes); err != nil {
				t.Fatal(err)
			}
		}
		if e, err := attest.FromWords(words[0], words[1]); err != nil || e != second {
			t.Errorf("transaction %d is about %+v, %v", i+1, e.Offence(), err)
		}
	}
	if len(b.sent) < 2 {
		t.Error("the second proof is not sent")
	}
}

// TestAccuserGoesOn: a chain that does not take a proof is asked for more each time, in
// the place of the transaction that waits, and from the fifth time on at the same price
// after pauses that grow up to a bound. Other proofs wait no longer for that one.
func TestAccuserGoesOn(t *testing.T) {
	for _, refusal := range []error{nil, errors.New("pool is full")} {
		b := newQuietChain(t, proofOf(t, 5))
		b.refuse = refusal
		b.passes(t, 30_000)
		at := []int{2, 22, 42, 62, 82, 102, 142, 222, 382, 702, 1342, 2622, 5182, 10_302, 20_542} // then each 10,240
		if !slices.Equal(b.when, at) {
			t.Errorf("refusal %v: sent at blocks %d, want %d", refusal, b.when, at)
		}
		for i, tx := range b.sent[1:] {
			times := min(2*b.sent[i].MaxFeePerCycle, 64*3)
			if tx.Nonce != 0 || tx.MaxFeePerCycle != times {
				t.Errorf("refusal %v: attempt %d has nonce %d and pays %d, want %d", refusal, i+2, tx.Nonce, tx.MaxFeePerCycle, times)
			}
		}
		if n := strings.Count(b.log.String(), "does not take evidence"); n != 1 || b.overdue.Load() != 1 {
			t.Errorf("refusal %v: said %d times, %d cases overdue", refusal, n, b.overdue.Load())
		}
		b.refuse = nil
		b.convicts(proofOf(t, 5).Offence())
		b.passes(t, 2)
		if len(b.closed) == 0 || b.overdue.Load() != 0 {
			t.Errorf("refusal %v: closed %d, overdue %d after the conviction", refusal, len(b.closed), b.overdue.Load())
		}
	}
}

// TestCasesGetStale: a case is stale when all prices were offered and time has passed
// since its turn; one of a view to come never is, nor one that was settled.
func TestCasesGetStale(t *testing.T) {
	b := newQuietChain(t, proofOf(t, 5), proofOf(t, 2000))
	now, later := proofOf(t, 5).Offence(), proofOf(t, 2000).Offence()
	b.passes(t, 2+accuseStale)
	if b.isStale(now) {
		t.Error("stale too early")
	}
	b.passes(t, 1)
	if !b.isStale(now) || b.isStale(later) {
		t.Errorf("stale: %v, of a view to come: %v", b.isStale(now), b.isStale(later))
	}
	b.round = 2000
	b.passes(t, 2*accuseStale)
	if !b.isStale(later) {
		t.Error("never stale")
	}
	b.convicts(now)
	b.passes(t, 2)
	if b.isStale(now) {
		t.Error("convicted, and stale")
	}
	b = newQuietChain(t, proofOf(t, 5))
	b.key = nil
	if b.passes(t, 3+accuseStale); !b.isStale(now) {
		t.Error("never stale without a key: others submit it")
	}
}

// TestOverdueProofHoldsUpNone: while the first proof waits to be sent again, the second
// is sent and convicted.
func TestOverdueProofHoldsUpNone(t *testing.T) {
	b := newQuietChain(t, proofOf(t, 5), proofOf(t, 6))
	b.passes(t, 2+6*accuseAgain+1)
	about := b.sent[len(b.sent)-1]
	r := cbor.NewReader(about.Payload)
	_, _ = r.Array(3)
	_, _ = r.Uint()
	first, _ := r.Bytes(chain.MaxTxBytes)
	if want, _ := proofOf(t, 6).Words(); !bytes.Equal(first, want) {
		t.Error("the last transaction is not about the second proof")
	}
}

// TestAccuserWithoutKey says so once and sends nothing.
func TestAccuserWithoutKey(t *testing.T) {
	b := newQuietChain(t, proofOf(t, 5), proofOf(t, 6))
	b.key = nil
	b.passes(t, 50)
	if n := strings.Count(b.log.String(), "account_key"); n != 1 || len(b.sent) != 0 {
		t.Errorf("said %d times, sent %d", n, len(b.sent))
	}
}

// TestAccountKeyIsChecked: the key file's account is the one that the genesis
// pays, or the node does not start.
func TestAccountKeyIsChecked(t *testing.T) {
	dir, g := dealt(t, 4)
	k, err := datadir.LoadKeys(datadir.DealtFolder(dir, 1))
	if err != nil {
		t.Fatal(err)
	}
	if k.Account == nil || k.Account.PublicKey().Address() != g.Validators[1].RewardAddress {
		t.Fatal("a dealt validator cannot submit evidence")
	}
	if err := k.CheckAgainst(g); err != nil {
		t.Error(err)
	}
	k.Account = setup.DevValidator(2).Key
	if err := k.CheckAgainst(g); err == nil {
		t.Error("another validator's account is taken")
	}
	k.Account = nil
	if err := k.CheckAgainst(g); err != nil {
		t.Errorf("without an account: %v", err)
	}
}
