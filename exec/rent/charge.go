package rent

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/state"
	stored "github.com/cowboy-foundation/cowboy/state/rent"
)

// Bounds of a block's work, whatever the number of actors. Those that a block evicts have no
// more timers together than one actor may set, or are one: all these end with it.
const (
	ChargesPerBlock   = 256
	WarningsPerBlock  = 256
	EvictionsPerBlock = 16
	CommitsPerBlock   = 16
)

// Each announces one event at most, which the bound of a stored block counts on:
// this does not compile where the sum exceeds it.
const _ = uint(params.RentWorkMax - ChargesPerBlock - WarningsPerBlock - EvictionsPerBlock - CommitsPerBlock)

// Work is what a block's rent did.
type Work struct {
	Burned  chain.Wei
	Events  []chain.Event
	Evicted []chain.Address // whose timers are to be dropped

	timers uint64 // of these
}

// Block is what the package needs of the block under execution.
type Block struct {
	State  *state.Overlay
	Params *params.Params
	Height chain.Height
	// Timers tells how many timers an actor has, for evictions.
	Timers func(chain.Address) (uint64, error)
}

// Events of the package. Their data is a CBOR array that begins with the actor.
const (
	EventOverdue  = "RentOverdue"      // [actor, missed]
	EventWarning  = "EvictionImminent" // [actor, owed, eviction height]
	EventEvicted  = "StorageEvicted"   // [actor, root, bytes]
	EventSettled  = "RentSettled"      // [actor, paid]
	EventRestored = "StorageRestored"  // [actor, root]
)

func event(name string, a chain.Address, numbers ...uint64) chain.Event {
	b := cbor.AppendBytes(cbor.AppendArray(nil, 1+len(numbers)), a[:])
	// Bounded: by the numbers of an event.
	for _, n := range numbers {
		b = cbor.AppendUint(b, n)
	}
	return chain.Event{Emitter: chain.AddrRent, Name: name, Data: b}
}

// Begin does the rent of a block, before its transactions: charges, warnings,
// evictions, restorations to be compared, and once a rent epoch the rate.
func (b *Block) Begin() (w Work, err error) {
	// Bounded: by the four parts.
	for _, part := range []struct {
		queue queue
		wait  uint64 // blocks
		most  int
		room  func(item) (bool, error)
		do    func(item, *Work) error
	}{
		{charges, b.Params.Rent.ChargeBlocks, ChargesPerBlock, always, b.charge},
		{warnings, b.graceBlocks(), WarningsPerBlock, always, b.warn},
		{evictions, b.evictionBlocks(), EvictionsPerBlock, func(it item) (bool, error) { return b.mayEvict(it, &w) }, b.evict},
		{commits, compareBlocks, CommitsPerBlock, always, b.compare},
	} {
		// Bounded: by 256 charges, 256 warnings, 16 evictions and 16 restorations a block.
		for range part.most {
			it, ok, err := part.queue.pop(b.State, b.Height, part.wait, part.room)
			if err != nil {
				return Work{}, err
			}
			if !ok {
				break
			}
			if err := part.do(it, &w); err != nil {
				return Work{}, fmt.Errorf("rent of %s: %w", it.Actor, err)
			}
		}
	}
	return w, b.adjust()
}

// adjust moves the rate at the first block of each rent epoch.
func (b *Block) adjust() error {
	if uint64(b.Height)%b.Params.Rent.ChargeBlocks != 0 {
		return nil
	}
	t, err := ReadTotals(b.State)
	if err != nil {
		return err
	}
	t.Moved = b.Height
	t.advanceFactor(&b.Params.Rent)
	t.store(b.State)
	return nil
}

// charge takes one day's rent and lists the actor for the next. An item that is
// not the one of the actor's next charge is left over from before an eviction.
func (b *Block) charge(it item, w *Work) error {
	acct, used, dormant, err := b.readAccount(it.Actor)
	if err != nil || dormant || acct.Listed != it.From {
		return err
	}
	price, err := PriceOf(b.State, b.Params)
	if err != nil {
		return err
	}
	taxed := price.taxed(used, acct.Quota)
	if taxed == 0 && acct.Debt == 0 {
		acct.Listed, acct.Rest = 0, 0
		acct.store(b.State, it.Actor)
		return nil
	}
	var due chain.Wei
	due, acct.Rest = price.daily(taxed, acct.Rest)
	if err := b.collect(it.Actor, &acct, due, price, w); err != nil {
		return err
	}
	next := item{it.Actor, it.From + chain.Height(b.Params.Rent.ChargeBlocks)}
	if acct.Listed, err = charges.push(b.State, next); err != nil {
		return err
	}
	acct.store(b.State, it.Actor)
	return nil
}

// collect pays what is due: out of what is prepaid, then out of the balance, the
// reserve included. In arrears, all of them and the fee must be covered.
func (b *Block) collect(a chain.Address, acct *Account, due chain.Wei, price Price, w *Work) error {
	ahead := min(acct.Prepaid, due)
	want := due - ahead
	if acct.Debt > 0 {
		want = plus(want, price.WithFee(acct.Debt))
	}
	err := b.burn(a, want, w)
	switch {
	case err == nil && acct.Debt > 0:
		acct.Debt, acct.Since = 0, 0
		w.Events = append(w.Events, event(EventSettled, a, uint64(want)))
	case err == nil:
	case isShort(err):
		return b.miss(a, acct, due-ahead, ahead, w)
	default:
		return err
	}
	acct.Prepaid -= ahead
	return nil
}

// miss notes rent that was not paid. The first time begins the grace period.
func (b *Block) miss(a chain.Address, acct *Account, missed, ahead chain.Wei, w *Work) error {
	acct.Prepaid -= ahead
	acct.Debt = plus(acct.Debt, missed)
	if acct.Since != 0 {
		return nil
	}
	acct.Since = b.Height
	w.Events = append(w.Events, event(EventOverdue, a, uint64(missed)))
	if _, err := warnings.push(b.State, item{a, b.Height}); err != nil {
		return err
	}
	_, err := evictions.push(b.State, item{a, b.Height})
	return err
}

func (b *Block) graceBlocks() uint64 { return b.Params.Rent.GraceEpochs * b.Params.EpochBlocks }

// evictionBlocks is how long after its first missed rent an actor is evicted: in
// epoch N+241 by default, or after two years in the other mode (resolution 3.2).
func (b *Block) evictionBlocks() uint64 {
	r := &b.Params.Rent
	if r.EvictionMode == params.EvictionDebt {
		return r.EvictionUnpaidDays * r.ChargeBlocks
	}
	return (r.GraceEpochs + r.WarningEpochs + 1) * b.Params.EpochBlocks
}

func (b *Block) evictionAt(since chain.Height) chain.Height {
	return since + chain.Height(b.evictionBlocks())
}

// warn announces that an actor is about to be evicted.
func (b *Block) warn(it item, w *Work) error {
	acct, err := Read(b.State, it.Actor)
	if err != nil || acct.Since != it.From {
		return err
	}
	price, err := PriceOf(b.State, b.Params)
	if err != nil {
		return err
	}
	w.Events = append(w.Events, event(EventWarning, it.Actor, uint64(price.WithFee(acct.Debt)), uint64(b.evictionAt(it.From))))
	return nil
}

// always is room for an item of a queue that is bounded by its number alone.
func always(item) (bool, error) { return true, nil }

// mayEvict reports whether a block has room for the timers of an actor to end beside those of
// the actors that it has evicted; else the actor waits, as it does behind so many others. An
// actor may have more timers than it could set by now, and is then evicted alone.
func (b *Block) mayEvict(it item, w *Work) (bool, error) {
	if len(w.Evicted) == 0 {
		return true, nil
	}
	timers, err := b.Timers(it.Actor)
	return w.timers+timers <= b.Params.Timer.MaxPerActor, err
}

// evict drops the storage of an actor that is still in the same arrears.
func (b *Block) evict(it item, w *Work) error {
	acct, used, dormant, err := b.readAccount(it.Actor)
	if err != nil || dormant || acct.Since != it.From {
		return err
	}
	if used == 0 { // nothing to take: only a bond was unpaid
		return b.foreclose(it.Actor, &acct, w)
	}
	account, _, err := b.State.Account(it.Actor)
	if err != nil {
		return err
	}
	if _, err := stored.Evict(b.State, it.Actor); err != nil {
		return err
	}
	timers, err := b.Timers(it.Actor)
	if err != nil {
		return err
	}
	w.timers += timers
	w.Evicted = append(w.Evicted, it.Actor)
	w.Events = append(w.Events, evicted(it.Actor, account.StorageRoot, used))
	acct.Listed = 0 // a dormant actor owes no more than it does
	return b.forfeitBond(it.Actor, acct, w)
}

// foreclose gives up a quota whose rent was not paid, with its bond and the debt.
func (b *Block) foreclose(a chain.Address, acct *Account, w *Work) error {
	bond := acct.Bond
	*acct = Account{Bond: bond}
	return b.forfeitBond(a, *acct, w)
}

// forfeitBond burns the bond of a quota and ends the quota. The bond covers missed rent
// as far as it goes, and what it exceeds that by is not returned (resolution 14.5).
func (b *Block) forfeitBond(a chain.Address, acct Account, w *Work) error {
	bond := acct.Bond
	acct.Debt -= min(acct.Debt, bond)
	acct.Bond, acct.Quota = 0, 0
	acct.store(b.State, a)
	return b.burn(chain.AddrRent, bond, w)
}

func evicted(a chain.Address, root chain.Hash, used uint64) chain.Event {
	b := cbor.AppendBytes(cbor.AppendArray(nil, 3), a[:])
	b = cbor.AppendUint(cbor.AppendBytes(b, root[:]), used)
	return chain.Event{Emitter: chain.AddrRent, Name: EventEvicted, Data: b}
}

// readAccount returns an actor's rent, the bytes it keeps, and whether it is evicted.
func (b *Block) readAccount(a chain.Address) (acct Account, used uint64, dormant bool, err error) {
	if acct, err = Read(b.State, a); err != nil {
		return acct, 0, false, err
	}
	account, _, err := b.State.Account(a)
	if err != nil {
		return acct, 0, false, err
	}
	if stored.Dormant(&account) {
		rec, err := stored.RecordOf(b.State, a)
		if err != nil {
			return acct, 0, true, err
		}
		return acct, rec.Size.Bytes, true, nil
	}
	size, err := b.State.StorageSize(a)
	return acct, size.Bytes, false, err
}
