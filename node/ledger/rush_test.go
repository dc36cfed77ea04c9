package ledger

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/lanes"
	"github.com/cowboy-foundation/cowboy/state"
)

// rush is a chain under load: the real lanes, a ledger that proposes and one of
// another node that judges every block, on a clock that goes on when the test
// says so. Nothing waits and nothing is measured but blocks.
type rush struct {
	t        *testing.T
	f        *fixture
	pool     *lanes.Lanes
	proposer *Ledger
	verifier *Ledger
	parent   engine.ParentRef
	height   chain.Height // of the head
	before   state.View   // of the head's parent

	payers  []*payer // of user transactions, by class and number
	runner  *payer
	maker   *payer // of the actors whose timers fire
	arrived uint64
	waiting []arrival // in the user lane, in the order in which they must be taken

	runnerLatency []uint64 // blocks from arrival to inclusion, in the order of inclusion
	runnerSent    map[chain.Hash]chain.Height
	timerLateness []uint64 // blocks after the height that the timer was set for
	userLatency   map[int][]uint64
	baseFees      []chain.Wei // of the user lane, by block
}

// payer is an account that sends.
type payer struct {
	key   *secp256k1.PrivateKey
	nonce uint64
}

func newPayer(t *testing.T, name string) *payer {
	t.Helper()
	secret := keccak.Sum256([]byte(name))
	key, err := secp256k1.ParsePrivateKey(secret[:])
	if err != nil {
		t.Fatal(err)
	}
	return &payer{key: key}
}

func (p *payer) address() chain.Address { return p.key.PublicKey().Address() }

// arrival is a user transaction that waits.
type arrival struct {
	tx    *chain.VerifiedTx
	class int
	seq   uint64
	at    chain.Height // the head when it came
}

// Classes of user transactions: a fee tier each, with tips that differ inside it.
const (
	classLow  = iota // no tip
	classMid         // 8 to 15 a cycle
	classHigh        // 64 to 127
	numClasses
)

const (
	rushPayers   = 30 // of each class
	rushTransfer = 210_000
	rushBeat     = 110_000 // cycles of a heartbeat: made dear likewise
	rushMaxFee   = 10_000_000
	clockActors  = 3
	clockEach    = 2 // firings of each actor in a block
	clockFirst   = chain.Height(6)
	clockBlocks  = 24
)

// clockSource is an actor whose timers say for which block they were set.
const clockSource = `
from cowboy_sdk import actor, public, emit_event, set_timer

@actor
class Clock:
    @public
    def plan(self, msg):
        first, blocks, each = msg.payload
        for height in range(first, first + blocks):
            for _ in range(each):
                set_timer(height, "tick", height)

    def tick(self, msg):
        emit_event("tick", msg.payload)
`

// newRush starts a chain with a lane profile and sets its timers. A user
// transaction is made dear, so that ten times what a block holds are hundreds and
// not thousands.
func newRush(t *testing.T, profile string) *rush {
	r := &rush{t: t, runnerSent: map[chain.Hash]chain.Height{}, userLatency: map[int][]uint64{}}
	var accounts []genesis.Allocation
	add := func(name string) *payer {
		p := newPayer(t, name)
		accounts = append(accounts, genesis.Allocation{Name: name, Address: p.address(), Amount: 1_000_000 * chain.WeiPerCBY})
		return p
	}
	for i := range rushPayers * numClasses {
		r.payers = append(r.payers, add(fmt.Sprintf("rush-payer-%d", i)))
	}
	r.runner, r.maker = add("rush-runner"), add("rush-maker")
	r.f = newFixtureOf(t, func(p *params.Params) {
		p.Intrinsic.TransferCycles, p.Intrinsic.HeartbeatCycles = rushTransfer, rushBeat
		if err := p.SetLaneProfile(profile); err != nil {
			t.Fatal(err)
		}
	}, accounts...)
	r.f.inMemory = true
	r.verifier = r.f.ledger(t, &pool{})
	r.pool = r.lanes()
	r.proposer = r.f.ledger(t, r.pool)
	r.parent = r.f.genesisParent()
	r.setTimers()
	return r
}

// lanes opens the pool on the genesis.
func (r *rush) lanes() *lanes.Lanes {
	r.t.Helper()
	head := r.verifier.Head()
	p := &r.f.genesis.Params
	l, err := lanes.New(lanes.DefaultConfig(), p, r.f.genesis.ChainID, lanes.FinalizedHead{
		View: head.State, BaseFees: BaseFeesAfter(p, &head.Block.Header),
	})
	if err != nil {
		r.t.Fatal(err)
	}
	return l
}

// setTimers makes the actors and lets them set every timer of the test, before
// any load.
func (r *rush) setTimers() {
	r.t.Helper()
	manifest := manifest.Manifest("econ.hold_balance", "timer.schedule")
	plan := cbor.AppendUint(cbor.AppendArray(nil, 3), uint64(clockFirst))
	plan = cbor.AppendUint(cbor.AppendUint(plan, clockBlocks), clockEach)
	var deploys, plans []*chain.VerifiedTx
	for i := range clockActors {
		d := actor.Deployment{Source: []byte(clockSource), Salt: []byte{byte(i)}, Manifest: manifest}
		deploys = append(deploys, r.program(nil, actor.AppendPayload(nil, &d), 10_000*chain.WeiPerCBY))
	}
	for i := range clockActors {
		to := actor.AddressOf(r.maker.address(), []byte{byte(i)}, []byte(clockSource))
		plans = append(plans, r.program(&to, actor.AppendMessage(nil, "plan", plan), 0))
	}
	for _, txs := range [][]*chain.VerifiedTx{append(deploys, r.register()), plans} {
		r.admit(txs...)
		for _, receipt := range r.block().Receipts {
			if receipt.Code != chain.CodeOK {
				r.t.Fatalf("setting up: %s", chain.CodeName(receipt.Code))
			}
		}
	}
}

func (r *rush) program(to *chain.Address, payload []byte, value chain.Wei) *chain.VerifiedTx {
	return r.send(r.maker, &chain.Tx{To: to, Payload: payload, Value: value, CyclesLimit: 1_500_000, CellsLimit: 60_000})
}

// send signs a payer's next transaction.
func (r *rush) send(p *payer, tx *chain.Tx) *chain.VerifiedTx {
	tx.ChainID, tx.Nonce = r.f.genesis.ChainID, p.nonce
	tx.MaxFeePerCycle, tx.MaxFeePerCell = rushMaxFee, rushMaxFee
	p.nonce++
	return signedBy(r.t, p.key, tx)
}

// register signs what makes the runner one.
func (r *rush) register() *chain.VerifiedTx {
	q := &chain.RunnerRegister{Capabilities: chain.Capabilities{MaxConcurrentJobs: 1}}
	return r.send(r.runner, &chain.Tx{
		To: &chain.AddrRunnerRegistry, Payload: chain.EncodeRequest(q), Value: r.f.genesis.Params.Runner.StakeFloor,
		CyclesLimit: 1_500_000, CellsLimit: 60_000,
	})
}

// beat signs the runner's next heartbeat, whose limits are what it costs.
func (r *rush) beat() *chain.VerifiedTx {
	payload := chain.EncodeRequest(&chain.RunnerHeartbeat{})
	return r.send(r.runner, &chain.Tx{
		To: &chain.AddrRunnerRegistry, Payload: payload, CyclesLimit: rushBeat, CellsLimit: chain.Cells(len(payload)),
	})
}

func (r *rush) admit(txs ...*chain.VerifiedTx) {
	r.t.Helper()
	for i, err := range r.pool.Admit(r.t.Context(), txs) {
		if err != nil {
			r.t.Fatalf("transaction %d refused: %v", i, err)
		}
	}
}

// offerRunners hands in n runner instructions.
func (r *rush) offerRunners(n int) {
	for range n {
		tx := r.beat()
		r.runnerSent[tx.Hash] = r.height
		r.admit(tx)
	}
}

// offerUsers hands in n user transactions: a fifth at the highest tier, half at
// the lowest, in turns.
func (r *rush) offerUsers(n int) {
	for range n {
		class, tip := classLow, chain.Wei(0)
		switch r.arrived % 10 {
		case 0, 5:
			class, tip = classHigh, 64+chain.Wei(r.arrived*7%64)
		case 1, 4, 7:
			class, tip = classMid, 8+chain.Wei(r.arrived*5%8)
		}
		p := r.payers[class*rushPayers+int(r.arrived/10)%rushPayers]
		to := chain.Address{0: 0xaa, 19: byte(r.arrived)}
		tx := r.send(p, &chain.Tx{To: &to, Value: 1, CyclesLimit: rushTransfer, TipPerCycle: tip})
		r.admit(tx)
		r.waiting = append(r.waiting, arrival{tx, class, r.arrived, r.height})
		r.arrived++
	}
	slices.SortFunc(r.waiting, func(a, b arrival) int {
		return cmp.Or(cmp.Compare(b.class, a.class), cmp.Compare(a.seq, b.seq))
	})
}

// propose lets the proposer build the next block.
func (r *rush) propose() (engine.Proposed, engine.VerifyRequest) {
	r.t.Helper()
	r.f.now = r.f.now.Add(time.Minute)
	round := beacon.Round{View: chain.View(r.height + 1)}
	made, err := r.proposer.Propose(r.t.Context(), engine.ProposeRequest{Round: round, Parent: r.parent})
	if err != nil {
		r.t.Fatal(err)
	}
	return made, engine.VerifyRequest{Round: round, Parent: r.parent, Leader: testPeer, Digest: made.Digest, Block: made.Block}
}

// block makes the next block, has it judged by the other node, and makes it
// final on both and in the pool.
func (r *rush) block() Event {
	r.t.Helper()
	made, req := r.propose()
	if err := r.verifier.Judge(r.t.Context(), req); err != nil {
		r.t.Fatalf("block %d: %v", r.height+1, err)
	}
	return r.finalize(made, req)
}

func (r *rush) finalize(made engine.Proposed, req engine.VerifyRequest) Event {
	r.t.Helper()
	var e Event
	r.before = r.proposer.Head().State
	for _, l := range []*Ledger{r.verifier, r.proposer} {
		if err := l.Finalized(r.t.Context(), engine.Finalization{Round: req.Round, Digest: made.Digest, Certificate: []byte("c")}); err != nil {
			r.t.Fatal(err)
		}
		e = <-l.Events()
	}
	h := &e.Block.Header
	head := lanes.FinalizedHead{Height: h.Height, View: e.State, BaseFees: BaseFeesAfter(e.Params, h), Params: e.Params, Txs: e.Txs}
	if err := r.pool.Finalized(r.t.Context(), head); err != nil {
		r.t.Fatal(err)
	}
	r.height, r.parent = h.Height, engine.ParentRef{Round: req.Round, Digest: made.Digest}
	r.note(e)
	return e
}

// note measures a block in blocks.
func (r *rush) note(e Event) {
	r.t.Helper()
	h := &e.Block.Header
	r.baseFees = append(r.baseFees, h.BaseFees[chain.LaneUser].PerCycle)
	for _, tx := range e.Txs {
		if sent, ours := r.runnerSent[tx.Hash]; ours {
			r.runnerLatency = append(r.runnerLatency, uint64(h.Height-sent))
			delete(r.runnerSent, tx.Hash)
		}
	}
	for i := range e.Receipts {
		for _, event := range e.Receipts[i].Events {
			if event.Name != "tick" {
				continue
			}
			c := cbor.NewReader(event.Data)
			due, err := c.Uint()
			if err != nil {
				r.t.Fatalf("block %d: event %x: %v", h.Height, event.Data, err)
			}
			r.timerLateness = append(r.timerLateness, uint64(h.Height)-due)
		}
	}
}
