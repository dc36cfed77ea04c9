package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/crypto/vrf"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/lanes"
)

// ErrUnknownParent means that the parent of a proposal is neither the head nor
// an executed block above it.
var ErrUnknownParent = errors.New("parent is not executed here")

// Propose builds a block for the round on the parent once the block time has
// passed, executes it and remembers it. It implements engine.Application, to which
// the reason for passing says nothing: the log has it.
func (l *Ledger) Propose(ctx context.Context, req engine.ProposeRequest) (engine.Proposed, error) {
	parent, err := l.awaitExecuted(ctx, req.Parent.Digest)
	if errors.Is(err, ErrUnknownParent) {
		l.cfg.Log.Error("no proposal", "view", req.Round.View, "err", err)
		return engine.Proposed{}, engine.ErrNoProposal
	}
	if err != nil {
		return engine.Proposed{}, err
	}
	at := timing{parent.Block.Header.TimestampMillis, l.blockMillis(parent), parent.Force.Params.MaxClockDriftMillis}
	advancing, err := l.pace.wait(ctx, l.cfg.Now, at, func() { l.Stats.ClockWaits.Add(1) })
	if err != nil {
		return engine.Proposed{}, err
	}
	return call(ctx, l, func(runCtx context.Context) (engine.Proposed, error) {
		began := time.Now()
		e, err := l.buildBlock(runCtx, ctx, req, parent, advancing)
		if errors.Is(err, errOvertaken) {
			l.size.built(0, time.Since(began), true)
		}
		if err != nil {
			return engine.Proposed{}, err
		}
		l.size.built(len(e.Encoded), time.Since(began), ctx.Err() != nil)
		if e.Block.Header.TimestampMillis < at.parentMillis+at.blockMillis && !advancing {
			l.Stats.Early.Add(1)
		}
		l.pace.early.built(len(e.Txs), len(e.Encoded), l.size.limit, time.Since(began))
		l.tree.put(e)
		l.Stats.Proposed.Add(1)
		codeword := e.codeword
		e.codeword = nil // as large as several blocks
		return engine.Proposed{Digest: e.Digest, Block: e.Encoded, Shards: codeword}, nil
	})
}

// waiting is how many transactions could stand in the next block: those that the pool may
// give away less those in blocks that are not final yet, which it still holds.
func (l *Ledger) waiting() int64 { return int64(l.cfg.Pool.Executable()) - l.tree.txs.Load() }

// blockMillis is the block time of a child: that in force after its parent, so that
// it changes at one height on all nodes. Until a block that raised it is final, the
// time before holds beside it: the engine's timeouts follow the last final block,
// and a child that waits longer than they do would never be voted for.
func (l *Ledger) blockMillis(parent *Executed) uint64 {
	return min(parent.Force.Params.BlockTimeMillis, l.head.Load().Force.Params.BlockTimeMillis)
}

func (l *Ledger) executed(digest chain.Hash) (*Executed, error) {
	e := l.tree.get(digest)
	if e == nil {
		return nil, fmt.Errorf("%s: %w", digest, ErrUnknownParent)
	}
	return e, nil
}

// errOvertaken means that the view ended before its proposal was built. Nobody hears
// it: who asked has gone.
var errOvertaken = errors.New("the view ended before its proposal was built")

// proposal is a block that is being built.
type proposal struct {
	l      *Ledger
	ctx    context.Context // of the ledger
	header chain.Header
	parent *Executed
	vrfOut chain.Hash
	watch  *watch
	// used is what transactions used when they were executed for this block; nil: nothing
	// is known before the first packing but what was learned of others. That is not to be
	// trusted once doubt is set.
	used  map[chain.Hash]chain.Usage
	ran   []*chain.VerifiedTx        // those in used
	busy  map[chain.Address]struct{} // actors that had no cycles left for somebody's message then
	short map[chain.Address]struct{} // senders of whom something was refused unpaid then that lacked money or a right
	doubt bool
	anew  bool // the next packing makes the selection again that led to doubt

	opening *exec.Steps // the block begun, for packing; nil: not yet
}

// buildBlock packs, orders and executes one block. view ends with the view that it is for.
func (l *Ledger) buildBlock(ctx, view context.Context, req engine.ProposeRequest, parent *Executed, advancing bool) (*Executed, error) {
	header := l.frame(req, parent)
	l.size.applyParams(parent.Force.Params)
	if advancing {
		header.TimestampMillis = parent.Block.Header.TimestampMillis + l.blockMillis(parent)
		l.pace.built(l.cfg.Now(), header.TimestampMillis)
	}
	parentBeacon := l.parentBeacon(&header)
	proof, vrfOut := vrf.Prove(l.cfg.OrderKey, l.cfg.Proposers.namespace, order.Message(header.Height, parentBeacon))
	header.OrderProof = proof

	p := &proposal{l: l, ctx: ctx, header: header, parent: parent, vrfOut: vrfOut, watch: l.newWatch(view, parent)}
	var sel order.Selection
	if full := l.unfinalFull(); full {
		l.Stats.Crowded.Add(1)
	} else if !advancing {
		var err error
		if sel, err = p.pack(); err != nil {
			return nil, err
		}
	}
	if req.Preview != nil && sel.Overcommitted == nil && l.previewPays(sel.Txs) {
		req.Preview(previewOf(header, sel.Txs))
	}
	s, err := p.build(&sel)
	if err == nil {
		s, err = p.refill(&sel, s)
	}
	if err != nil {
		return nil, err
	}
	e, err := l.seal(header, parent, s.Kept, &s.Result, func() txList { return l.list(s.Kept) })
	if err != nil {
		return nil, err
	}
	e.Encoded = e.Block.Encode()
	return e, l.commitBody(e)
}

// frame fills the header fields that are known before packing.
func (l *Ledger) frame(req engine.ProposeRequest, parent *Executed) chain.Header {
	h := chain.Header{
		Version: chain.HeaderVersion,
		Parent:  parent.Digest,
		Height:  parent.Height() + 1,
		Epoch:   req.Round.Epoch, View: req.Round.View,
		ParentEpoch: req.Parent.Round.Epoch, ParentView: req.Parent.Round.View,
		ParentSeed:      req.Parent.Seed,
		TimestampMillis: max(l.pace.nowMillis(l.cfg.Now()), parent.Block.Header.TimestampMillis+1),
		Proposer:        l.cfg.PeerKey,
		BaseFees:        BaseFeesAfter(parent.Force.Params, &parent.Block.Header),
	}
	leaveInputsEmpty(&h)
	return h
}

// parentBeacon is the randomness that the block may use (CIP-11 §9.2): the
// genesis beacon for the first block, the hashed seed of the parent's round
// after it.
func (l *Ledger) parentBeacon(h *chain.Header) chain.Hash {
	if h.Height == 1 {
		return l.cfg.Genesis.Beacon
	}
	return chain.BeaconHash(h.ParentEpoch, h.ParentView, h.ParentSeed)
}

// blockEnvelopeBytes is kept free for header and framing when packing to the
// block limit; what a header's inputs take beyond it is added by pack.
const blockEnvelopeBytes = 2 * chain.HeaderFixedBytes

// pack selects transactions.
func (p *proposal) pack() (order.Selection, error) {
	l, h, parent := p.l, &p.header, p.parent
	began := time.Now()
	opening, err := p.opened()
	if err != nil {
		return order.Selection{}, fmt.Errorf("pack: %w", err)
	}
	sel, err := l.cfg.Pool.Pack(p.ctx, lanes.PackRequest{
		Reserved: opening.Reserved(),
		Parent:   parent.State,
		Params:   parent.Force.Params,
		Height:   h.Height,
		BaseFees: h.BaseFees,
		VRFOut:   p.vrfOut,
		Used:     p.used,
		Ran:      p.ran,
		Busy:     p.busy,
		Short:    p.short,
		Doubt:    p.doubt,
		Anew:     p.anew,
		MaxBytes: l.size.limit - len(h.PresenceInput) - len(h.ConsumedSeeds),
		Before:   l.before(parent),
		Left:     opening.LeftOf,
	})
	if err != nil {
		return order.Selection{}, fmt.Errorf("pack: %w", err)
	}
	l.Stats.PackNanos.Add(uint64(time.Since(began)))
	return sel, nil
}

// opened is the block begun, without a transaction: what its due timers hold of their lane
// and of their actors' cycles follows from whom it chooses among them, which is the same
// whatever it is filled with (ADR 167).
func (p *proposal) opened() (*exec.Steps, error) {
	if p.opening != nil {
		return p.opening, nil
	}
	s, err := p.l.executor.OpenBlock(p.parent.State, p.l.inputs(&p.header, p.parent.Force.Params))
	if err == nil {
		p.opening = s
	}
	return s, err
}

// before returns the transactions of a block, of the one before it, and so on
// down to the head, of which the pool may not have heard yet.
func (l *Ledger) before(e *Executed) (txs [][]*chain.VerifiedTx) {
	for ; e != nil; e = l.tree.get(e.Block.Header.Parent) {
		txs = append(txs, e.Txs)
	}
	return txs
}

// commitBody puts the root of the shards into the header of a block of our own.
func (l *Ledger) commitBody(e *Executed) error {
	_, body, err := chain.SplitBlock(e.Encoded)
	if err != nil {
		return &fault{fmt.Errorf("cut own block: %w", err)}
	}
	if l.cfg.Shards == nil || l.cfg.Shards.Whole(len(body)) {
		return nil
	}
	if e.codeword, err = l.cfg.Shards.Encode(body); err != nil {
		return &fault{fmt.Errorf("body root: %w", err)}
	}
	h := &e.Block.Header
	h.BodyRoot = e.codeword.Root
	e.Encoded, e.Digest = chain.JoinBlock(chain.EncodeHeader(h), body), h.Digest()
	return nil
}

// execute runs the transactions on the parent's state and returns the block
// with its roots filled in. list is the transactions' bytes and their root.
func (l *Ledger) execute(h chain.Header, parent *Executed, txs []*chain.VerifiedTx, list txList) (*Executed, error) {
	began := time.Now()
	result, err := l.executor.Apply(parent.State, l.inputs(&h, parent.Force.Params), txs)
	l.Stats.noteExec(l.executor.Stats())
	if err != nil {
		return nil, err
	}
	l.ahead.recordDuration(len(txs), time.Since(began))
	l.Stats.ExecNanos.Add(uint64(time.Since(began)))
	return l.seal(h, parent, txs, &result, func() txList { return list })
}

// txList is the transactions of a block as bytes, and the root over them.
type txList struct {
	bodies [][]byte
	root   chain.Hash
}

// rootWorkers is by how many goroutines the root of a list is computed.
func (l *Ledger) rootWorkers() int { return max(l.cfg.Exec.Workers, 1) }

// list makes the list of transactions that are to be a block.
func (l *Ledger) list(txs []*chain.VerifiedTx) txList {
	bodies := make([][]byte, len(txs))
	for i, tx := range txs {
		bodies[i] = tx.Body
	}
	return txList{bodies, l.roots.RootBy(l.rootWorkers(), bodies)}
}

// seal makes a block of what was executed on the parent's state, all but its encoding,
// which is here already where somebody else proposed it. The root of its transactions,
// where it is not known yet, is computed beside the state's and the receipts'.
func (l *Ledger) seal(h chain.Header, parent *Executed, txs []*chain.VerifiedTx, result *exec.Result, list func() txList) (*Executed, error) {
	began := time.Now()
	l.reportDefects(result.Defects)
	var listed txList
	var listing sync.WaitGroup
	listing.Go(func() { listed = list() })
	defer listing.Wait()
	deltaBytes := 0
	if result.Delta != nil {
		deltaBytes = result.Delta.Bytes()
	}
	version, err := parent.State.Apply(result.Delta)
	if err != nil {
		return nil, &fault{fmt.Errorf("state root: %w", err)}
	}
	force, err := parent.Force.At(version)
	if err != nil {
		return nil, &fault{fmt.Errorf("parameters: %w", err)}
	}
	runners, err := countRunners(version)
	if err != nil {
		return nil, err
	}
	receipts, receiptBytes := chain.EncodeReceipts(result.Receipts), 0
	for i := range receipts {
		receiptBytes += len(receipts[i])
	}
	h.ReceiptsRoot = l.roots.RootBy(l.rootWorkers(), receipts)
	h.StateRoot = version.Root()
	h.Used = result.Used
	listing.Wait()
	h.TxRoot = listed.root
	l.Stats.RootNanos.Add(uint64(time.Since(began)))
	block := &chain.Block{Header: h, Txs: listed.bodies}
	e := &Executed{
		Block: block, Digest: h.Digest(),
		Round: roundOf(&h), Txs: txs, Receipts: result.Receipts, receipts: receipts, State: version, Force: force, runners: runners,
	}
	if e.jobs, err = jobsOf(result.Delta, version); err != nil {
		return nil, &fault{fmt.Errorf("index of jobs: %w", err)}
	}
	e.bytes = weigh(e, receiptBytes, deltaBytes)
	return e, nil
}

// reportDefects hands on what went wrong in the Python machine.
func (l *Ledger) reportDefects(defects []pvm.Dump) {
	if l.cfg.Defect == nil {
		return
	}
	for i := range defects {
		l.cfg.Defect(defects[i])
	}
}
