package exec

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/exec/rent"
	"github.com/cowboy-foundation/cowboy/exec/timers"
	"github.com/cowboy-foundation/cowboy/state"
	stored "github.com/cowboy-foundation/cowboy/state/rent"
)

// rentBlock is what package rent needs of this block.
func (b *block) rentBlock() *rent.Block {
	return &rent.Block{State: b.state, Params: b.in.Params, Height: b.in.Height, Timers: func(a chain.Address) (uint64, error) {
		roster, err := timers.ReadRoster(b.state, a)
		return roster.Active, err
	}}
}

// instructRent runs an instruction to [chain.AddrRent]: anybody may pay anybody's
// rent, and bring back a storage that was evicted (whitepaper, "Rent Payment
// Options", "Storage Restoration").
func (b *block) instructRent(ins chain.Instruction, tx *chain.VerifiedTx, limit chain.Usage) (actor.Outcome, error) {
	r, err := arguments(tx.Tx.Payload)
	if err != nil {
		return actor.Outcome{}, &Fault{"read a payload that was judged", err}
	}
	var target chain.Address
	if err := r.BytesInto(target[:]); err != nil {
		return actor.Outcome{}, &Fault{"read a payload that was judged", err}
	}
	mark := b.state.Snapshot()
	out, err := b.doRent(ins.Opcode, target, &r, tx, limit)
	if err == nil && tx.Tx.Value != 0 {
		err = errValue
	}
	if err == nil {
		return out, nil
	}
	b.state.Revert(mark)
	code, known := codeOfRent(err)
	if !known {
		return actor.Outcome{}, &Fault{"rent", err}
	}
	return actor.Outcome{Code: code, Used: out.Used, Detail: err.Error()}, nil
}

// beginRent does the rent of the block (resolution 3).
func (b *block) beginRent() error {
	w, err := b.rentBlock().Begin()
	if err != nil {
		return &Fault{"rent of the block", err}
	}
	if !add(&b.result.Burned, w.Burned) {
		return &Fault{"burn rent", ErrMoney}
	}
	b.announce(w.Events)
	// Bounded: by 16 evictions a block, and timer.max_per_actor among them.
	for _, evicted := range w.Evicted {
		if err := b.dropTimers(evicted); err != nil {
			return fault("drop the timers of "+evicted.String(), err)
		}
	}
	return nil
}

var errNoActor = errors.New("only actors owe rent")

// doRent does the instruction. Of an error that is a verdict codeOfRent knows the
// code; what it charged stands in the outcome all the same.
func (b *block) doRent(opcode uint64, a chain.Address, r *cbor.Reader, tx *chain.VerifiedTx, limit chain.Usage) (out actor.Outcome, err error) {
	rb := b.rentBlock()
	switch opcode {
	case chain.OpRentPrepay:
		epochs, err := r.Uint()
		if err != nil {
			return out, err
		}
		target, err := b.account(a)
		if err != nil {
			return out, err
		}
		if !target.HasCode() {
			return out, errNoActor
		}
		owed, ahead, err := rb.Cost(a, epochs)
		if err != nil {
			return out, err
		}
		if err := funds.Debit(b.state, tx.Sender, owed+ahead, b.in.Height); err != nil {
			return out, err
		}
		out.Burned = owed + ahead
		return out, rb.Prepay(a, ahead)
	case chain.OpRestoreBegin:
		deadline, err := r.Uint()
		if err != nil {
			return out, err
		}
		out.Burned, err = rb.BeginRestore(a, tx.Sender, chain.Height(deadline))
		return out, err
	case chain.OpRestorePut:
		return b.putRestored(rb, a, r, tx, limit)
	case chain.OpRestoreCommit:
		payer := tx.Sender
		if !r.Null() {
			if err := r.BytesInto(payer[:]); err != nil {
				return out, err
			}
		}
		cost, err := rb.RestoreCost(a)
		if err != nil {
			return out, err
		}
		if err := rb.TakeAllowance(payer, tx.Sender, a, cost); err != nil {
			return out, err
		}
		if err := funds.Debit(b.state, payer, cost, b.in.Height); err != nil {
			return out, err
		}
		e, err := rb.CommitRestore(a, tx.Sender)
		out.Burned, out.Events = cost, []chain.Event{e}
		return out, err
	case chain.OpRestoreAllow:
		return b.allowRestore(rb, a, r, tx.Sender, limit)
	default: // chain.OpRestoreAbort
		out.Burned, err = rb.AbortRestore(a, tx.Sender)
		return out, err
	}
}

// putRestored charges a chunk as a write of its bytes and adds it.
func (b *block) putRestored(rb *rent.Block, a chain.Address, r *cbor.Reader, tx *chain.VerifiedTx, limit chain.Usage) (out actor.Outcome, err error) {
	chunk, err := readChunk(r)
	if err != nil {
		return out, err
	}
	size, err := stored.Cost(chunk)
	if err != nil {
		return out, err
	}
	if out.Used, err = b.pricePut(size, limit); err != nil {
		return out, err
	}
	return out, rb.Put(a, tx.Sender, chunk)
}

// pricePut returns what it takes to write so many entries of so many bytes together, whose
// keys are put in order by their hashes, or what is left with the error that it is too
// little.
func (b *block) pricePut(size state.StorageSize, limit chain.Usage) (used chain.Usage, err error) {
	api := &b.in.Params.API
	need := chain.Usage{
		Cycles: api.StorageWriteCycles + chain.Cycles(size.Entries)*api.HashCycles + chain.Cycles(size.Bytes)*api.StorageWriteByteCycles,
		Cells:  chain.Cells(size.Bytes) * api.StorageWriteByteCells,
	}
	used = chain.Usage{Cycles: min(need.Cycles, limit.Cycles), Cells: min(need.Cells, limit.Cells)}
	switch {
	case need.Cycles > limit.Cycles:
		return used, errCycles
	case need.Cells > limit.Cells:
		return used, errCells
	}
	return used, nil
}

// allowRestore notes that the sender pays for what a restorer will restore.
func (b *block) allowRestore(rb *rent.Block, restorer chain.Address, r *cbor.Reader, payer chain.Address, limit chain.Usage) (out actor.Outcome, err error) {
	var a chain.Address
	if err := r.BytesInto(a[:]); err != nil {
		return out, err
	}
	var n [2]uint64
	if err := r.Uints(n[:]); err != nil {
		return out, err
	}
	if out.Used, err = b.pricePut(state.StorageSize{Bytes: rent.AllowanceBytes}, limit); err != nil {
		return out, err
	}
	return out, rb.Allow(payer, restorer, a, chain.Wei(n[0]), chain.Height(n[1]))
}

// readChunk reads [[key, value], …].
func readChunk(r *cbor.Reader) ([]state.StorageChange, error) {
	n, err := r.Array(stored.MaxChunkEntries)
	if err != nil {
		return nil, errors.Join(stored.ErrChunk, err)
	}
	chunk := make([]state.StorageChange, 0, n)
	// Paid: by the bytes of the transaction; 4,096 entries at most.
	for range n {
		if err := r.ArrayOf(2); err != nil {
			return nil, errors.Join(stored.ErrChunk, err)
		}
		key, err := r.Bytes(stored.MaxChunkBytes)
		if err != nil {
			return nil, errors.Join(stored.ErrChunk, err)
		}
		value, err := r.Bytes(stored.MaxChunkBytes)
		if err != nil {
			return nil, errors.Join(stored.ErrChunk, err)
		}
		chunk = append(chunk, state.StorageChange{Key: state.StorageKey(key), Value: append([]byte{}, value...)})
	}
	return chunk, nil
}

// codeOfRent is the receipt's code of a verdict; false for what is none.
func codeOfRent(err error) (uint16, bool) {
	return verdicts{
		{chain.CodeCyclesExhausted, []error{errCycles}},
		{chain.CodeCellsExhausted, []error{errCells}},
		{chain.CodeInsufficientBalance, []error{funds.ErrShort}},
		{chain.CodeNotFound, []error{errNoActor, stored.ErrNotDormant, stored.ErrNotRestoring}},
		{chain.CodeExists, []error{stored.ErrRestoring}},
		{chain.CodeForbidden, []error{rent.ErrNotAllowed}},
		{chain.CodeWrongState, []error{stored.ErrLate, stored.ErrUnsettled, stored.ErrDormant}},
		{chain.CodeBadProof, []error{stored.ErrRootMismatch, stored.ErrIncomplete}},
		{chain.CodeBadArgument, []error{rent.ErrEpochs, stored.ErrDeadline, stored.ErrChunk, stored.ErrOrder, stored.ErrTooMuch, errValue}},
	}.codeOf(err)
}
