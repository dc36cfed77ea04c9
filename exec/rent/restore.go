package rent

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/state"
	stored "github.com/cowboy-foundation/cowboy/state/rent"
)

// RestoreCost returns what it takes to wake an evicted actor: its missed rent, a
// part of it on top, and an epoch's rent (whitepaper, "Storage Restoration").
func (b *Block) RestoreCost(a chain.Address) (chain.Wei, error) {
	acct, used, dormant, err := b.readAccount(a)
	if err != nil {
		return 0, err
	}
	if !dormant {
		return 0, stored.ErrNotDormant
	}
	price, err := PriceOf(b.State, b.Params)
	if err != nil {
		return 0, err
	}
	fee := chain.Wei(mulDiv(uint64(acct.Debt), b.Params.Rent.RestorationBasisPoints, params.BasisPoints))
	return plus(plus(acct.Debt, fee), price.PerEpoch(used, 0)), nil
}

// session names a restoration to package state/rent.
func (b *Block) session(a, by chain.Address) stored.Session {
	return stored.Session{Actor: a, By: by, Height: b.Height}
}

// BeginRestore opens a restoration in chunks, until deadline, and takes its bond. One
// that has lapsed, or whose deadline has passed, gives way to it: its bond is burned,
// and returned here.
func (b *Block) BeginRestore(a, by chain.Address, deadline chain.Height) (burned chain.Wei, err error) {
	if err := b.waits(a); err != nil {
		return 0, err
	}
	s, err := StakeOf(b.State, a)
	if err != nil {
		return 0, err
	}
	if b.lapsed(&s) {
		if err := stored.Drop(b.State, a); err != nil {
			return 0, err
		}
	}
	if err := stored.Begin(b.State, b.session(a, by), deadline); err != nil {
		return 0, err
	}
	if burned, err = b.forfeit(a); err != nil {
		return 0, err
	}
	return burned, b.pledge(a, by)
}

// waits refuses what would drop a restoration that is to be compared: its deadline
// may pass before its turn comes.
func (b *Block) waits(a chain.Address) error {
	data, err := b.State.Storage(chain.AddrRent, pendingKey(a))
	if err == nil && data != nil {
		err = stored.ErrRestoring
	}
	return err
}

// Put adds a chunk.
func (b *Block) Put(a, by chain.Address, chunk []state.StorageChange) error {
	if err := stored.Put(b.State, b.session(a, by), chunk); err != nil {
		return err
	}
	size, err := stored.Cost(chunk)
	if err != nil {
		return err
	}
	return b.moved(a, size.Bytes)
}

// CommitRestore wakes the actor. The caller has burned what RestoreCost says,
// and takes that back after an error.
func (b *Block) CommitRestore(a, by chain.Address) (chain.Event, error) {
	if err := stored.Commit(b.State, b.session(a, by)); err != nil {
		return chain.Event{}, err
	}
	return b.awake(a)
}

// AbortRestore drops what was put in chunks, and burns the bond, which it returns.
// Anybody may drop one that has lapsed.
func (b *Block) AbortRestore(a, by chain.Address) (burned chain.Wei, err error) {
	if err := b.waits(a); err != nil {
		return 0, err
	}
	s, err := StakeOf(b.State, a)
	if err != nil {
		return 0, err
	}
	if b.lapsed(&s) {
		err = stored.Drop(b.State, a)
	} else {
		err = stored.Abort(b.State, b.session(a, by))
	}
	if err != nil {
		return 0, err
	}
	return b.forfeit(a)
}

// awake makes a restored actor owe rent from now on and nothing of before, and returns
// the bond of who restored it.
func (b *Block) awake(a chain.Address) (chain.Event, error) {
	if err := b.redeem(a); err != nil {
		return chain.Event{}, err
	}
	acct, used, _, err := b.readAccount(a)
	if err != nil {
		return chain.Event{}, err
	}
	acct.Debt, acct.Since, acct.Rest = 0, 0, 0
	if used > b.Params.Rent.ExemptBytes && acct.Listed == 0 {
		if err := b.enlist(a, &acct); err != nil {
			return chain.Event{}, err
		}
	}
	acct.store(b.State, a)
	account, _, err := b.State.Account(a)
	if err != nil {
		return chain.Event{}, err
	}
	data := cbor.AppendBytes(cbor.AppendArray(nil, 2), a[:])
	return chain.Event{Emitter: chain.AddrRent, Name: EventRestored, Data: cbor.AppendBytes(data, account.StorageRoot[:])}, nil
}

// compareBlocks is how long after a restoration in one message its root is known.
const compareBlocks = 1

// pending is a restoration in one message: its data is put, its root is known a
// block later.
type pending struct {
	by, payer chain.Address
	paid      chain.Wei // kept at AddrRent until then
}

func pendingKey(a chain.Address) state.StorageKey { return key([]byte("r/"), a[:]) }

// RestoreAll puts a whole storage back for by, who gives the bond, paid by payer, whose
// money is kept until the next block compares the root: then it is burned, or comes
// back. It returns what was burned of one that gave way to it.
func (b *Block) RestoreAll(a, by, payer chain.Address, entries []state.StorageChange) (burned chain.Wei, err error) {
	cost, err := b.RestoreCost(a)
	if err != nil {
		return 0, err
	}
	mark := b.State.Snapshot()
	burned, err = b.restoreAll(a, pending{by, payer, cost}, entries)
	if err != nil {
		b.State.Revert(mark)
		return 0, err
	}
	return burned, nil
}

func (b *Block) restoreAll(a chain.Address, p pending, entries []state.StorageChange) (burned chain.Wei, err error) {
	if err := b.TakeAllowance(p.payer, p.by, a, p.paid); err != nil {
		return 0, err
	}
	if err := funds.Move(b.State, p.payer, chain.AddrRent, p.paid, b.Height); err != nil {
		return 0, err
	}
	if burned, err = b.BeginRestore(a, p.by, b.Height+compareBlocks); err != nil {
		return 0, err
	}
	if _, err := stored.Cost(entries); err != nil { // bounds them before they are hashed
		return 0, err
	}
	if err := b.Put(a, p.by, Arrange(entries)); err != nil {
		return 0, err
	}
	data := cbor.AppendBytes(cbor.AppendArray(nil, 3), p.by[:])
	data = cbor.AppendUint(cbor.AppendBytes(data, p.payer[:]), uint64(p.paid))
	b.State.SetStorage(chain.AddrRent, pendingKey(a), data)
	_, err = commits.push(b.State, item{a, b.Height})
	return burned, err
}

// Arrange returns entries in the order in which they are put: that of the hashes
// of their keys.
func Arrange(entries []state.StorageChange) []state.StorageChange {
	keys := make([][]byte, len(entries))
	order := make([]int, len(entries))
	// Paid: by storage_write for each entry, in sdk, or the bytes of the transaction; 4,096 at most.
	for i := range entries {
		keys[i], order[i] = []byte(entries[i].Key), i
	}
	sums := make([][32]byte, len(entries))
	keccak.SumMany(keys, sums)
	// Paid: by storage_write for each entry, in sdk, or the bytes of the transaction; 4,096 at most.
	slices.SortFunc(order, func(x, y int) int { return bytes.Compare(sums[x][:], sums[y][:]) })
	sorted := make([]state.StorageChange, len(entries))
	// Paid: by storage_write for each entry, in sdk, or the bytes of the transaction; 4,096 at most.
	for i, n := range order {
		sorted[i] = entries[n]
	}
	return sorted
}

// compare ends a restoration in one message. It judges at the block that the item
// was due for: who had to wait behind others is not late for it.
func (b *Block) compare(it item, w *Work) error {
	p, err := b.pending(it.Actor)
	if err != nil {
		return err
	}
	b.State.SetStorage(chain.AddrRent, pendingKey(it.Actor), nil)
	s := stored.Session{Actor: it.Actor, By: p.by, Height: it.From + compareBlocks}
	switch err := stored.Commit(b.State, s); {
	case err == nil:
		e, err := b.awake(it.Actor)
		if err != nil {
			return err
		}
		w.Events = append(w.Events, e)
		return b.burn(chain.AddrRent, p.paid, w)
	case !isVerdict(err):
		return err
	}
	if err := stored.Abort(b.State, s); err != nil && !isVerdict(err) {
		return err
	}
	burned, err := b.forfeit(it.Actor)
	if err != nil {
		return err
	}
	w.Burned = plus(w.Burned, burned)
	return funds.Move(b.State, chain.AddrRent, p.payer, p.paid, b.Height)
}

// isVerdict tells a restoration that failed from a fault of this node.
func isVerdict(err error) bool {
	// Bounded: by the verdicts, six.
	for _, v := range []error{
		stored.ErrNotDormant, stored.ErrNotRestoring, stored.ErrLate, stored.ErrUnsettled, stored.ErrIncomplete, stored.ErrRootMismatch,
	} {
		if errors.Is(err, v) {
			return true
		}
	}
	return false
}

func (b *Block) pending(a chain.Address) (p pending, err error) {
	data, err := b.State.Storage(chain.AddrRent, pendingKey(a))
	if err != nil {
		return p, err
	}
	var paid uint64
	r := cbor.NewReader(data)
	err = errors.Join(r.ArrayOf(3), r.BytesInto(p.by[:]), r.BytesInto(p.payer[:]))
	if err == nil {
		paid, err = r.Uint()
	}
	if err == nil {
		err = r.End()
	}
	if err != nil {
		return p, fmt.Errorf("%w: restoration of %s: %w", ErrRecord, a, err)
	}
	p.paid = chain.Wei(paid)
	return p, nil
}
