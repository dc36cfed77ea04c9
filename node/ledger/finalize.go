package ledger

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/governance"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// inputs is everything besides state and transactions that execution reads.
func (l *Ledger) inputs(h *chain.Header, params *params.Params) exec.Inputs {
	in := inputsOf(l.cfg.Genesis, l.cfg.Proposers.epochs, h, l.parentBeacon(h))
	in.Params = params
	return in
}

// inputsOf builds the execution inputs of a block from chain data alone, so
// that a replay without consensus gives the same result. The validators are those of the
// block's epoch, which is on record: its order was checked, or it is our own. The
// parameters are the genesis's.
func inputsOf(g *genesis.Genesis, epochs *epoch.Schedule, h *chain.Header, parentBeacon chain.Hash) exec.Inputs {
	in := exec.Inputs{
		Params:          &g.Params,
		ChainID:         g.ChainID,
		Genesis:         epochs.Chain(),
		Epoch:           h.Epoch,
		View:            h.View,
		Height:          h.Height,
		TimestampMillis: h.TimestampMillis,
		BaseFees:        h.BaseFees,
		ParentHash:      h.Parent,
		ParentBeacon:    parentBeacon,
		PresenceInput:   h.PresenceInput,
		ConsumedSeeds:   h.ConsumedSeeds,
	}
	if r, err := epochs.At(h.Epoch); err == nil {
		in.Validators = r.Validators
		if v := r.Find(h.Proposer); v != nil {
			in.Proposer = v.RewardAddress
		}
	}
	return in
}

// Finalized commits the block with the digest, which must be a child of the
// head, in one synced batch, and announces it. It implements
// engine.Application, which calls it again when it has returned. A block that is
// already final is done.
//
// The disk is written by the goroutine that calls, beside the owner, who goes on
// building and verifying what follows, at most [commitsAhead] blocks of it. Nobody
// hears that the block is final before that is durable.
func (l *Ledger) Finalized(ctx context.Context, f engine.Finalization) error {
	e, err := call(ctx, l, func(context.Context) (*Executed, error) { return l.beginCommit(f) })
	if e == nil || err != nil {
		return err
	}
	began := time.Now()
	room, ok := l.records.Get().(*recordRoom)
	if !ok {
		room = &recordRoom{}
	}
	errCommit := l.cfg.Store.Commit(e.State, room.of(e, joinCertificates(f.Certificate, f.Own)))
	l.records.Put(room)
	if errCommit != nil {
		errCommit = &fault{fmt.Errorf("commit block %d: %w", e.Height(), errCommit)}
	} else if l.cfg.Committed != nil {
		l.cfg.Committed(e.Height())
	}
	l.Stats.CommitNanos.Add(uint64(time.Since(began)))
	_, err = call(ctx, l, func(ctx context.Context) (struct{}, error) { return struct{}{}, l.endCommit(ctx, e, errCommit) })
	if errCommit != nil {
		return errCommit // also where the owner has ended and did not hear of it
	}
	return err
}

// commitsAhead is how many blocks above one that is being committed are executed
// meanwhile: with a disk that stands, that is where the chain stands.
const commitsAhead = 2

// behind returns what to wait for before a block is executed on the parent: nil, unless
// the disk is too far behind. The owner asks.
func (l *Ledger) behind(parent *Executed) <-chan struct{} {
	if l.committing == nil || parent.Height() < l.committing.Height()+commitsAhead {
		return nil
	}
	return l.moved
}

// beginCommit returns the block to commit, nil if it is final already. The error is a
// fault.
func (l *Ledger) beginCommit(f engine.Finalization) (*Executed, error) {
	head := l.head.Load()
	if f.Digest == head.Digest {
		return nil, nil
	}
	e := l.tree.get(f.Digest)
	if e == nil {
		var err error
		if e, err = l.reexecuteFinal(f.Digest); err != nil {
			return nil, err
		}
		head = l.head.Load()
	}
	if e.Height() <= head.Height() {
		return nil, nil
	}
	if e.Block.Header.Parent != head.Digest {
		return nil, &fault{fmt.Errorf("finalized block %d does not extend the head %d", e.Height(), head.Height())}
	}
	l.committing = e
	return e, nil
}

// endCommit makes the block that was committed the head, and announces it. The error is
// a fault.
func (l *Ledger) endCommit(ctx context.Context, e *Executed, err error) error {
	l.committing = nil
	if err != nil {
		return err
	}
	l.Stats.Finalized.Add(1)
	l.Stats.TxsFinalized.Add(uint64(len(e.Txs)))
	l.tree.prune(e)
	l.rejected = slices.DeleteFunc(l.rejected, func(d rejected) bool { return d.block.Header.Height <= e.Height() })
	l.head.Store(e)
	close(l.moved)
	l.moved = make(chan struct{})
	select {
	case l.events <- Event{Block: e.Block, Encoded: e.Encoded, Digest: e.Digest, Txs: e.Txs, Receipts: e.Receipts, State: e.State, Params: e.Force.Params}:
	case <-ctx.Done():
	}
	return nil
}

// recordRoom is the memory for the lists of a record, which a later one has: the store
// keeps none of them.
type recordRoom struct {
	ids     []chain.Hash
	senders []chain.Address
}

// of returns the record of a block. It is good until the next call.
func (r *recordRoom) of(e *Executed, certificate []byte) store.BlockRecord {
	r.ids = slices.Grow(r.ids[:0], len(e.Receipts))
	for i := range e.Receipts {
		r.ids = append(r.ids, e.Receipts[i].TxHash)
	}
	r.senders = slices.Grow(r.senders[:0], len(e.Txs))
	for _, tx := range e.Txs {
		r.senders = append(r.senders, tx.Sender)
	}
	return store.BlockRecord{
		Height: e.Height(), Digest: e.Digest, Block: e.Encoded, Certificate: certificate,
		Receipts: e.receipts, ReceiptIDs: r.ids, Senders: r.senders, Emitters: emittersOf(e.Receipts), Jobs: e.jobs,
	}
}

// emittersOf says which receipts have events of whom.
func emittersOf(receipts []chain.Receipt) (list []store.Emitter) {
	at := map[chain.Address]int{}
	for slot := range receipts {
		for i := range receipts[slot].Events {
			emitter := receipts[slot].Events[i].Emitter
			n, ok := at[emitter]
			if !ok {
				n = len(list)
				at[emitter] = n
				list = append(list, store.Emitter{Address: emitter})
			}
			if e := &list[n]; len(e.Slots) == 0 || e.Slots[len(e.Slots)-1] != slot {
				e.Slots = append(e.Slots, slot)
			}
		}
	}
	slices.SortFunc(list, func(a, b store.Emitter) int { return bytes.Compare(a.Address[:], b.Address[:]) })
	return list
}

// loadHead reads the last committed block, or frames the genesis.
func loadHead(s *store.Store, g *genesis.Genesis) (*Executed, error) {
	version := s.Head()
	height, digest := s.HeadInfo()
	force, err := governance.Genesis(&g.Params).At(version)
	if err != nil {
		return nil, fmt.Errorf("parameters: %w", err)
	}
	runners, err := countRunners(version)
	if err != nil {
		return nil, err
	}
	if height == 0 {
		block := &chain.Block{Header: genesisHeader(g, version.Root())}
		return &Executed{Block: block, Digest: g.Hash(), State: version, Force: force, runners: runners}, nil
	}
	rec, ok, err := s.BlockByHeight(height)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("block %d is the head but is not stored", height)
	}
	block, err := chain.DecodeBlock(rec.Block, len(rec.Block))
	if err != nil {
		return nil, fmt.Errorf("decode block %d: %w", height, err)
	}
	certificate, own, err := splitCertificates(rec.Certificate)
	if err != nil {
		return nil, fmt.Errorf("block %d: %w", height, err)
	}
	if block.Header.StateRoot != version.Root() {
		return nil, errors.New("state root of the head differs from its header: run cowboyd verify")
	}
	return &Executed{
		Block: block, Encoded: rec.Block, Digest: digest, Round: roundOf(&block.Header),
		State: version, Force: force, runners: runners, Certificate: certificate, Own: own,
	}, nil
}

// HeadHeader returns the header of the last committed block, or the one that
// stands for genesis.
func HeadHeader(s *store.Store, g *genesis.Genesis) (chain.Header, error) {
	head, err := loadHead(s, g)
	if err != nil {
		return chain.Header{}, fmt.Errorf("load head: %w", err)
	}
	return head.Block.Header, nil
}

// HeadParams returns the parameters in force in the block after the last
// committed one.
func HeadParams(s *store.Store, g *genesis.Genesis) (*params.Params, error) {
	force, err := governance.Genesis(&g.Params).At(s.Head())
	if err != nil {
		return nil, fmt.Errorf("parameters: %w", err)
	}
	return force.Params, nil
}

// genesisHeader stands for block 0, which has no proposer and no votes. Its
// base fees are those of block 1.
func genesisHeader(g *genesis.Genesis, root chain.Hash) chain.Header {
	h := chain.Header{Version: chain.HeaderVersion, TimestampMillis: g.TimestampMillis, StateRoot: root}
	for lane := range h.BaseFees {
		h.BaseFees[lane] = g.Params.InitialBaseFee
	}
	return h
}
