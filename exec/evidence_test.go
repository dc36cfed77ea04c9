package exec_test

import (
	"bytes"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/crypto/ed25519"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/staking"
)

// courtView is the view of the court's blocks.
const courtView = 1_000

// court is a chain whose four validators can sign.
type court struct {
	*testChain
	keys  []*ed25519.PrivateKey // by participant
	names attest.Namespaces
}

func newCourt(t testing.TB) *court {
	t.Helper()
	c := &court{testChain: newTestChain(t, testGenesis(t, []chain.Wei{50, 60, 70, 80}, rich(alice), rich(rewardOf(0)), rich(rewardOf(1))))}
	for i := range c.g.Validators {
		key, err := ed25519.NewPrivateKey(bytes.Repeat([]byte{byte(i + 1)}, ed25519.SeedSize))
		if err != nil {
			t.Fatal(err)
		}
		c.keys = append(c.keys, key)
		c.g.Validators[i].PeerKey = chain.PeerKey(key.PublicKey())
	}
	c.names = attest.NewNamespaces(chain.Hash{7})
	return c
}

func (c *court) inputs() exec.Inputs {
	in := c.testChain.inputs()
	in.Genesis, in.Epoch, in.View = chain.Hash{7}, 2, courtView
	return in
}

// says is a statement of validator who.
func (c *court) says(who int, k attest.Kind, view chain.View, digest byte) attest.Statement {
	p := attest.Proposal{Round: attest.Round{Epoch: 2, View: view}, Parent: view - 1, Payload: chain.Hash{digest}}
	if k == attest.Nullify {
		p = attest.Proposal{Round: p.Round}
	}
	return c.signed(who, k, p)
}

func (c *court) signed(who int, k attest.Kind, p attest.Proposal) attest.Statement {
	return attest.Statement{Kind: k, Proposal: p, Individual: c.keys[who].Sign(c.names.SignedBytes(k, p))}
}

// submits is the transaction by which a sender accuses.
func (c *court) submits(from chain.Address, first, second []byte) *chain.VerifiedTx {
	payload := cbor.AppendUint(cbor.AppendArray(nil, 3), chain.OpEvidenceSubmit)
	payload = cbor.AppendBytes(cbor.AppendBytes(payload, first), second)
	to := chain.AddrStaking
	return verified(&chain.Tx{
		ChainID: c.g.ChainID, Nonce: c.nonces[from], To: &to, Payload: payload,
		CyclesLimit: 21_000, CellsLimit: chain.Cells(len(payload)), MaxFeePerCycle: 10, MaxFeePerCell: 10,
	}, from)
}

func (c *court) accuse(from chain.Address, e attest.Evidence) *chain.VerifiedTx {
	return c.submits(from, wordsOf(e)[0], wordsOf(e)[1])
}

func wordsOf(e attest.Evidence) [2][]byte {
	a, b := e.Words()
	return [2][]byte{a, b}
}

// judge executes one block and keeps its state.
func (c *court) judge(txs ...*chain.VerifiedTx) []chain.Receipt {
	c.t.Helper()
	before := c.state.Money()
	r, err := exec.Apply(c.state, c.inputs(), txs)
	if err != nil {
		c.t.Fatal(err)
	}
	c.state = c.state.With(r.Delta)
	if after := c.state.Money(); after != before+r.Issued-r.Burned {
		c.t.Fatalf("balances add up to %d, want %d", after, before+r.Issued-r.Burned)
	}
	c.height++
	for _, tx := range txs {
		c.nonces[tx.Sender] = tx.Tx.Nonce + 1
	}
	return r.Receipts
}

// TestEvidenceConvicts: each contradiction of resolution 11.2 is recorded once,
// with what a penalty has to know, and costs what the table says.
func TestEvidenceConvicts(t *testing.T) {
	c := newCourt(t)
	pairs := []struct {
		rule string
		a, b attest.Statement
	}{
		{"two proposals", c.says(2, attest.Notarize, 5, 1), c.says(2, attest.Notarize, 5, 2)},
		{"two finalizes", c.says(2, attest.Finalize, 6, 1), c.says(2, attest.Finalize, 6, 2)},
		{"notarize one, finalize another", c.says(2, attest.Notarize, 7, 1), c.says(2, attest.Finalize, 7, 2)},
		{"nullify and finalize", c.says(2, attest.Nullify, 8, 1), c.says(2, attest.Finalize, 8, 1)},
	}
	for i, p := range pairs {
		e := attest.NewEvidence(c.g.Validators[2].PeerKey, p.a, p.b)
		tx := c.accuse(rewardOf(0), e)
		r := c.judge(tx)[0]
		want := chain.Receipt{
			TxHash: tx.Hash, Lane: chain.LaneSystem, Status: chain.StatusSucceeded,
			CyclesUsed: 21_000, CellsUsed: chain.Cells(len(tx.Tx.Payload)), Fee: 21_000 + chain.Wei(len(tx.Tx.Payload)),
		}
		if !reflect.DeepEqual(r, want) {
			t.Errorf("%s: receipt %+v, want %+v", p.rule, r, want)
		}
		number, err := staking.ConvictionOf(c.state, e.Offence())
		if err != nil || number != uint64(i+1) {
			t.Fatalf("%s: conviction %d, %v", p.rule, number, err)
		}
		got, err := staking.ReadConviction(c.state, number)
		is := staking.Conviction{
			Offence:   attest.Offence{Accused: c.g.Validators[2].PeerKey, Round: attest.Round{Epoch: 2, View: chain.View(i + 5)}},
			Validator: 2, Stake: 70_000 * chain.WeiPerCBY, Height: chain.Height(i + 1), Submitter: rewardOf(0),
		}
		if err != nil || got != is {
			t.Errorf("%s: %+v, %v, want %+v", p.rule, got, err, is)
		}
	}
	if n, err := staking.Convictions(c.state); err != nil || n != uint64(len(pairs)) {
		t.Errorf("%d convictions, %v", n, err)
	}
	if _, err := staking.ReadConviction(c.state, 99); !errors.Is(err, staking.ErrNoConviction) {
		t.Errorf("conviction 99: %v", err)
	}
}

// TestEvidenceRefused: what convicts nobody is paid for, has its code, and
// leaves no trace in the list.
func TestEvidenceRefused(t *testing.T) {
	c := newCourt(t)
	key := func(i int) chain.PeerKey { return c.g.Validators[i].PeerKey }
	a, b := c.says(2, attest.Notarize, 5, 1), c.says(2, attest.Notarize, 5, 2)
	good := attest.NewEvidence(key(2), a, b)
	words := wordsOf(good)
	stranger, err := ed25519.NewPrivateKey(bytes.Repeat([]byte{99}, ed25519.SeedSize))
	if err != nil {
		t.Fatal(err)
	}
	c.keys = append(c.keys, stranger)
	strange := attest.NewEvidence(chain.PeerKey(stranger.PublicKey()), c.says(4, attest.Notarize, 5, 1), c.says(4, attest.Notarize, 5, 2))
	old := func(digest byte) attest.Statement {
		return c.signed(2, attest.Notarize, attest.Proposal{Round: attest.Round{Epoch: 1, View: 5}, Payload: chain.Hash{digest}})
	}
	home := c.names
	c.names = attest.NewNamespaces(chain.Hash{8})
	foreign := attest.NewEvidence(key(2), c.says(2, attest.Notarize, 5, 1), c.says(2, attest.Notarize, 5, 2))
	c.names = home
	flipped := good
	flipped.Second.Individual[3] ^= 1
	relabelled := good
	relabelled.First.Kind, relabelled.Second.Kind = attest.Finalize, attest.Finalize
	pair := func(e attest.Evidence) [2][]byte { return wordsOf(e) }
	of := func(i int, s attest.Statement, t attest.Statement) [2][]byte {
		return pair(attest.NewEvidence(key(i), s, t))
	}
	tests := []struct {
		rule string
		args [2][]byte
		want uint16
	}{
		{"a flipped signature", pair(flipped), chain.CodeBadProof},
		{"signed as another kind", pair(relabelled), chain.CodeBadProof},
		{"another validator's words", of(1, a, b), chain.CodeBadProof},
		{"another chain", pair(foreign), chain.CodeBadProof},
		{"the same twice", of(2, a, a), chain.CodeBadProof},
		{"notarize and finalize one", of(2, a, c.says(2, attest.Finalize, 5, 1)), chain.CodeBadProof},
		{"notarize and nullify", of(2, a, c.says(2, attest.Nullify, 5, 1)), chain.CodeBadProof},
		{"two views", of(2, a, c.says(2, attest.Notarize, 6, 2)), chain.CodeBadProof},
		{"an epoch that is over", of(2, old(1), old(2)), chain.CodeWrongState},
		{"no validator", pair(strange), chain.CodeNotFound},
		{"descending order", [2][]byte{words[1], words[0]}, chain.CodeBadArgument},
		{"two keys", [2][]byte{words[0], wordsOf(attest.NewEvidence(key(1), a, b))[1]}, chain.CodeBadArgument},
		{"cut short", [2][]byte{words[0], words[1][:len(words[1])-1]}, chain.CodeBadArgument},
		{"a byte more", [2][]byte{append(slices.Clone(words[0]), 0), words[1]}, chain.CodeBadArgument},
		{"no kind", [2][]byte{words[0], append(slices.Clone(words[1][:32]), 9)}, chain.CodeBadArgument},
		{"nothing", [2][]byte{{}, {}}, chain.CodeBadArgument},
	}
	for _, test := range tests {
		t.Run(test.rule, func(t *testing.T) {
			tx := c.submits(rewardOf(1), test.args[0], test.args[1])
			r := c.judge(tx)[0]
			if r.Status != chain.StatusFailed || r.Code != test.want || r.Fee != 21_000+chain.Wei(len(tx.Tx.Payload)) {
				t.Errorf("status %v, code %s, fee %d; want %s", r.Status, chain.CodeName(r.Code), r.Fee, chain.CodeName(test.want))
			}
			if n, err := staking.Convictions(c.state); err != nil || n != 0 {
				t.Errorf("%d convictions, %v", n, err)
			}
		})
	}
	t.Run("with money", func(t *testing.T) {
		tx := c.accuse(rewardOf(1), good)
		tx.Tx.Value = 5
		tx = verified(tx.Tx, rewardOf(1))
		before := c.state.Balance(chain.AddrStaking)
		if r := c.judge(tx)[0]; r.Code != chain.CodeBadArgument || c.state.Balance(chain.AddrStaking) != before {
			t.Errorf("code %s, staking has %d, had %d", chain.CodeName(r.Code), c.state.Balance(chain.AddrStaking), before)
		}
	})
	t.Run("twice, by other words of the same round", func(t *testing.T) {
		again := attest.NewEvidence(key(2), a, c.says(2, attest.Finalize, 5, 3))
		first := c.accuse(rewardOf(0), good)
		r := c.judge(first, c.accuse(rewardOf(1), again))
		codes := []uint16{r[0].Code, r[1].Code}
		slices.Sort(codes)
		if !slices.Equal(codes, []uint16{chain.CodeOK, chain.CodeExists}) {
			t.Errorf("in one block: %v", codes)
		}
		if r := c.judge(c.accuse(rewardOf(1), good))[0]; r.Code != chain.CodeExists {
			t.Errorf("in a later block: %s", chain.CodeName(r.Code))
		}
		if n, err := staking.Convictions(c.state); err != nil || n != 1 {
			t.Errorf("%d convictions, %v", n, err)
		}
	})
}

// TestEvidenceOfViewsToCome: nobody is convicted of a view above the block's. A leaked
// key signs for any view, and would give convictions without end (hostile.md 1.7).
func TestEvidenceOfViewsToCome(t *testing.T) {
	c := newCourt(t)
	f := func(view chain.View, want uint16) {
		t.Helper()
		e := attest.NewEvidence(c.g.Validators[2].PeerKey, c.says(2, attest.Notarize, view, 1), c.says(2, attest.Notarize, view, 2))
		if r := c.judge(c.accuse(rewardOf(0), e))[0]; r.Code != want {
			t.Errorf("view %d in a block of view %d: %s, want %s", view, courtView, chain.CodeName(r.Code), chain.CodeName(want))
		}
	}
	f(courtView+1, chain.CodeWrongState)
	f(1<<62, chain.CodeWrongState)
	f(courtView, chain.CodeOK)
	f(courtView-1, chain.CodeOK)
	if n, err := staking.Convictions(c.state); err != nil || n != 2 {
		t.Errorf("%d convictions, %v; want 2", n, err)
	}
}

// TestEvidenceIsForValidators: from anyone else it makes the block invalid
// (resolution 11.13).
func TestEvidenceIsForValidators(t *testing.T) {
	c := newCourt(t)
	e := attest.NewEvidence(c.g.Validators[2].PeerKey, c.says(2, attest.Notarize, 5, 1), c.says(2, attest.Notarize, 5, 2))
	if _, err := exec.Apply(c.state, c.inputs(), []*chain.VerifiedTx{c.accuse(alice, e)}); !errors.Is(err, fees.ErrRole) {
		t.Errorf("from alice: %v, want %v", err, fees.ErrRole)
	}
	if _, err := exec.Apply(c.state, c.inputs(), []*chain.VerifiedTx{c.accuse(rewardOf(1), e)}); err != nil {
		t.Errorf("from a validator: %v", err)
	}
	tx := c.accuse(rewardOf(1), e)
	tx.Tx.CellsLimit--
	if _, err := exec.Apply(c.state, c.inputs(), []*chain.VerifiedTx{verified(tx.Tx, rewardOf(1))}); !errors.As(err, new(*fees.IntrinsicError)) {
		t.Errorf("limits below the table's cost: %v", err)
	}
}
