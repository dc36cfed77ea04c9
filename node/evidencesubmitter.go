package node

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/exec/staking"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/state"
)

const (
	// accuseAgain is after how many blocks a conviction that did not come is asked
	// for once more.
	accuseAgain = 20
	// accusationsMax is how often that is done for ever more, each time at twice the
	// price. What the chain has not taken by then it may take later: the account was
	// empty, or every leader left the proof out. It is asked for at the same price as
	// the last time, after pauses that double.
	accusationsMax = 5
	// accusePauseMax is the longest of them, in blocks: some hours. A proof that is never
	// taken costs the fees of an instruction that is refused so often, and no more.
	accusePauseMax = 10_240
	// accuseTurn is how many blocks each validator leaves to the one before it, so
	// that not all pay for one conviction.
	accuseTurn = 3
	// accuseStale is after how many blocks since its turn a case is one that the chain does
	// not take: all prices were offered. Another proof against the same validator may then
	// take its place, which the chain may well take.
	accuseStale = 2 * accuseAgain * accusationsMax
)

// evidenceSubmitter is the owner of what this validator submits against others: it wakes
// with each final block and sends the proofs that the state has no conviction
// for, one at a time, from the validator's own account (resolution 11.13).
type evidenceSubmitter struct {
	chainID  uint64
	costs    func() *params.IntrinsicCosts // in force
	key      *secp256k1.PrivateKey         // of the reward account; nil: others have to submit
	turn     func(attest.Offence) chain.Height
	proofs   func() []attest.Evidence
	head     func() (state.View, chain.Height, chain.View) // of the newest final block
	close    func(attest.Offence)                          // of a proof that is convicted
	baseFees func() chain.FeePair                          // of the system lane
	nonce    func(context.Context, chain.Address) (uint64, error)
	submit   func(ctx context.Context, body []byte) error
	changed  func() <-chan struct{} // closed with the next final block
	log      *slog.Logger

	cases   map[attest.Offence]*accusation
	quiet   bool         // it was said that there is no key, or there need not be one
	overdue atomic.Int64 // cases that the chain did not take accusationsMax times
	stale   atomic.Pointer[[]attest.Offence]
}

// accusation is what became of one proof so far. It does not outlive the
// process: the state tells what is convicted.
type accusation struct {
	turn      chain.Height // when it was due first; 0: its view is still to come
	due       chain.Height // when it is to be sent, or sent again
	until     chain.Height // others wait till then: it is under way
	sent      int
	convicted bool
}

// again returns after how many blocks a proof that was sent so often is due again.
func (c *accusation) again() chain.Height {
	pause := chain.Height(accuseAgain)
	for range c.sent - accusationsMax {
		pause = min(2*pause, accusePauseMax)
	}
	return pause
}

// newEvidenceSubmitter returns the submitter of a node whose parts are built.
func newEvidenceSubmitter(n *Node) *evidenceSubmitter {
	s := n.answers
	return &evidenceSubmitter{
		chainID: n.genesis.ChainID, costs: func() *params.IntrinsicCosts { return &n.ledger.Head().Force.Params.Intrinsic }, key: n.keys.Account,
		turn: n.turnToAccuse, proofs: n.evidence.All, nonce: n.lanes.PendingNonce,
		head: func() (state.View, chain.Height, chain.View) {
			head := n.ledger.Head()
			return head.State, head.Height(), head.Round.View
		},
		close: n.evidence.close, quiet: !n.keys.Validates(),
		baseFees: func() chain.FeePair { return s.BaseFees().Fees[chain.LaneSystem] },
		submit: func(ctx context.Context, body []byte) error {
			// Not kept over a restart: the proof is.
			verdicts, err := s.SubmitUnkept(ctx, [][]byte{body})
			if err == nil && verdicts[0].Code != rpc.CodeOK {
				err = fmt.Errorf("%v: %s", verdicts[0].Code, verdicts[0].Message)
			}
			return err
		},
		changed: s.Changed, log: n.log, cases: map[attest.Offence]*accusation{},
	}
}

// turnToAccuse is how many blocks this validator waits for others to submit: the
// view of the offence says who is first.
func (n *Node) turnToAccuse(o attest.Offence) chain.Height {
	self, ok := n.set.Find(chain.PeerKey(n.keys.Peer.PublicKey()))
	if !ok {
		return 0
	}
	size := uint64(n.set.Len())
	return accuseTurn * chain.Height((uint64(self)+uint64(o.Round.View))%size)
}

// isConvicted reports whether the state of the newest final block has the conviction.
func (n *Node) isConvicted(o attest.Offence) bool {
	number, err := staking.ConvictionOf(n.ledger.Head().State, o)
	return err == nil && number != 0
}

// Run looks at the proofs after each final block until ctx ends.
func (a *evidenceSubmitter) Run(ctx context.Context) error {
	for {
		next := a.changed() // before looking, so that no block falls between
		if err := a.submitDue(ctx); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-next:
		}
	}
}

// submitDue closes the cases that the state has convicted and sends the first proof that is
// due. While one is under way the others wait: their nonces would depend on it.
func (a *evidenceSubmitter) submitDue(ctx context.Context) error {
	view, height, round := a.head()
	proofs := a.proofs()
	a.dropStale(proofs)
	a.age(height)
	for _, e := range proofs {
		o := e.Offence()
		c := a.cases[o]
		if c == nil {
			c = &accusation{due: height + a.turn(o)}
			a.cases[o] = c
		}
		if c.turn == 0 && o.Round.View <= round {
			c.turn = max(c.due, height)
		}
		number, err := staking.ConvictionOf(view, o)
		switch {
		case err != nil:
			a.log.Debug("convictions not read", "err", err) // the head moved on: the next block tells
			return nil
		case number != 0:
			if !c.convicted {
				a.log.Info("validator is convicted", "validator", o.Accused, "view", o.Round.View, "conviction", number)
			}
			c.convicted = true
			a.close(o)
		case o.Round.View > round: // the chain convicts for what has been
		case a.key == nil:
			a.sayNoKey(o)
		case height < c.until:
			return nil // under way
		case height < c.due:
		default:
			if c.sent == accusationsMax {
				a.log.Error("the chain does not take evidence: it stays open and is sent again after pauses that grow; has the validator's account money for fees?",
					"validator", o.Accused, "view", o.Round.View, "attempts", c.sent)
			}
			c.sent++
			c.until, c.due = height+accuseAgain, height+c.again()
			a.countOverdue()
			if err := a.accuse(ctx, view, e, c.sent); err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				a.log.Warn("evidence not submitted", "validator", o.Accused, "view", o.Round.View, "err", err)
			}
			return nil
		}
	}
	return nil
}

// countOverdue says how many cases wait longer than they should.
func (a *evidenceSubmitter) countOverdue() {
	n := int64(0)
	for _, c := range a.cases {
		if c.sent > accusationsMax && !c.convicted {
			n++
		}
	}
	a.overdue.Store(n)
}

// age notes which cases the chain does not take.
func (a *evidenceSubmitter) age(height chain.Height) {
	var stale []attest.Offence
	for o, c := range a.cases {
		offered := a.key == nil || c.sent >= accusationsMax
		if !c.convicted && offered && c.turn > 0 && height >= c.turn+accuseStale {
			stale = append(stale, o)
		}
	}
	a.stale.Store(&stale)
}

// isStale reports whether the chain does not take a case. Any goroutine may call it.
func (a *evidenceSubmitter) isStale(o attest.Offence) bool {
	stale := a.stale.Load()
	return stale != nil && slices.Contains(*stale, o)
}

// dropStale drops what was known of proofs that are no longer there.
func (a *evidenceSubmitter) dropStale(proofs []attest.Evidence) {
	maps.DeleteFunc(a.cases, func(o attest.Offence, _ *accusation) bool {
		return !slices.ContainsFunc(proofs, func(e attest.Evidence) bool { return e.Offence() == o })
	})
	a.countOverdue()
}

func (a *evidenceSubmitter) sayNoKey(o attest.Offence) {
	if !a.quiet {
		a.quiet = true
		a.log.Warn("evidence is kept but not submitted: the key file has no account_key; any validator may submit what GET /evidence shows", "validator", o.Accused)
	}
}

// accuse signs and submits one proof. Later attempts pay more and take the place
// of an earlier one that still waits.
func (a *evidenceSubmitter) accuse(ctx context.Context, view state.View, e attest.Evidence, attempt int) error {
	self := a.key.PublicKey().Address()
	nonce, err := a.nonce(ctx, self)
	if attempt > 1 {
		var account state.Account
		account, _, err = view.Account(self)
		nonce = account.Nonce
	}
	if err != nil {
		return fmt.Errorf("nonce of %s: %w", self, err)
	}
	body := a.transaction(e, nonce, chain.Wei(1)<<(min(attempt, accusationsMax)+1))
	if err := a.submit(ctx, body); err != nil {
		return err
	}
	a.log.Info("evidence is submitted", "validator", e.Accused, "view", e.Offence().Round.View, "tx", chain.TxHash(body), "attempt", attempt)
	return nil
}

// transaction is the signed instruction, its fee caps so many times the base
// fees.
func (a *evidenceSubmitter) transaction(e attest.Evidence, nonce uint64, times chain.Wei) []byte {
	first, second := e.Words()
	payload := cbor.AppendUint(cbor.AppendArray(nil, 3), chain.OpEvidenceSubmit)
	payload = cbor.AppendBytes(cbor.AppendBytes(payload, first), second)
	to, base := chain.AddrStaking, a.baseFees()
	tx := &chain.Tx{
		ChainID: a.chainID, Nonce: nonce, To: &to, Payload: payload, CyclesLimit: a.costs().InstructionCycles,
		CellsLimit:     chain.Cells(len(payload)) * a.costs().PayloadByteCells,
		MaxFeePerCycle: times * max(1, base.PerCycle), MaxFeePerCell: times * max(1, base.PerCell), TipPerCycle: 1,
	}
	sig := a.key.Sign(tx.SigningHash())
	tx.Signature = &chain.TxSignature{YParity: sig.YParity, R: sig.R, S: sig.S}
	return tx.Encode()
}
