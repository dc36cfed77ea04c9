//spec:implements whitepaper 3.2

package rent

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/exec/verdict"
)

// The verdicts of the package, besides those of funds and of state/rent.
var (
	// ErrEpochs means a number of epochs that is 0 or costs more than 64 bits.
	ErrEpochs = verdict.New(verdict.Argument, "number of epochs out of range")
	// ErrQuota means a quota outside of what a bond can buy, or below what is
	// stored.
	ErrQuota = verdict.New(verdict.Quota, "quota out of range, or more is stored")
)

func isShort(err error) bool { return errors.Is(err, funds.ErrShort) }

// burn takes rent out of a balance. Nobody gets it.
func (b *Block) burn(a chain.Address, amount chain.Wei, w *Work) error {
	if err := funds.Debit(b.State, a, amount, b.Height); err != nil {
		return err
	}
	sum, carry := bits.Add64(uint64(w.Burned), uint64(amount), 0)
	if carry != 0 {
		return fmt.Errorf("burn: %w", funds.ErrOverflow)
	}
	w.Burned = chain.Wei(sum)
	return nil
}

// State is a stage on the way to eviction.
type State uint8

// The stages.
const (
	Paid State = iota
	Grace
	Warning
	Dormant
)

// String returns the stage as RPC shows it.
func (s State) String() string {
	return [...]string{"paid", "grace", "warning", "dormant"}[min(s, Dormant)]
}

// Status is how an actor stands.
type Status struct {
	State        State
	PaidThrough  uint64       // epoch
	Prepaid      uint64       // epochs of what is prepaid, at the present size and rate
	PrepaidWei   chain.Wei    // what is prepaid
	Owed         chain.Wei    // with the catch-up fee
	PerEpoch     chain.Wei    // at the present size and rate
	Reserve      chain.Wei    // of the balance that only rent may use
	Bytes, Quota uint64       // stored, and allowed
	Bond         chain.Wei    // behind the quota
	EvictionAt   chain.Height // 0: not in arrears
}

// Status returns how an actor stands; of an address without storage, a status
// that owes nothing.
func (b *Block) Status(a chain.Address) (Status, error) {
	acct, used, dormant, err := b.readAccount(a)
	if err != nil {
		return Status{}, err
	}
	price, err := PriceOf(b.State, b.Params)
	if err != nil {
		return Status{}, err
	}
	s := Status{
		PrepaidWei: acct.Prepaid, Owed: price.WithFee(acct.Debt), PerEpoch: price.PerEpoch(used, acct.Quota),
		Reserve: price.Reserve(used, acct.Quota), Bytes: used, Quota: b.quota(&acct), Bond: acct.Bond,
	}
	if s.PerEpoch > 0 {
		s.Prepaid = uint64(acct.Prepaid / s.PerEpoch)
	}
	s.PaidThrough = uint64(b.Height)/b.Params.EpochBlocks + s.Prepaid
	if acct.Since != 0 {
		s.State, s.EvictionAt = Grace, b.evictionAt(acct.Since)
		if b.Height >= acct.Since+chain.Height(b.graceBlocks()) {
			s.State = Warning
		}
	}
	if dormant {
		s.State = Dormant
	}
	return s, nil
}

// Cost returns what Prepay takes: arrears with their fee, then so many epochs at
// the present size and rate.
func (b *Block) Cost(a chain.Address, epochs uint64) (owed, ahead chain.Wei, err error) {
	acct, used, _, err := b.readAccount(a)
	if err != nil {
		return 0, 0, err
	}
	price, err := PriceOf(b.State, b.Params)
	if err != nil {
		return 0, 0, err
	}
	hi, lo := bits.Mul64(epochs, uint64(price.PerEpoch(used, acct.Quota)))
	owed = price.WithFee(acct.Debt)
	if _, carry := bits.Add64(lo, uint64(owed), 0); epochs == 0 || hi != 0 || carry != 0 {
		return 0, 0, ErrEpochs
	}
	return owed, chain.Wei(lo), nil
}

// Prepay books what the caller has burned for an actor's rent: what Cost said,
// which ends the arrears of an actor that is not evicted (whitepaper, "Rent
// Payment Options"; rent.prepay, rent.sponsor).
func (b *Block) Prepay(a chain.Address, ahead chain.Wei) error {
	acct, _, dormant, err := b.readAccount(a)
	if err != nil {
		return err
	}
	sum, carry := bits.Add64(uint64(acct.Prepaid), uint64(ahead), 0)
	if carry != 0 {
		return ErrEpochs
	}
	acct.Prepaid, acct.Debt = chain.Wei(sum), 0
	if !dormant {
		acct.Since = 0
	}
	acct.store(b.State, a)
	return nil
}

// Reserved returns what of an actor's balance only rent may use.
func (b *Block) Reserved(a chain.Address) (chain.Wei, error) {
	acct, used, dormant, err := b.readAccount(a)
	if err != nil || dormant {
		return 0, err
	}
	price, err := PriceOf(b.State, b.Params)
	return price.Reserve(used, acct.Quota), err
}

// Withholds reports whether an actor has an amount only together with what rent
// alone may use.
func (b *Block) Withholds(a chain.Address, amount chain.Wei) (bool, error) {
	reserved, err := b.Reserved(a)
	if err != nil || reserved == 0 {
		return false, err
	}
	balance, err := funds.Balance(b.State, a)
	return amount > balance-min(reserved, balance) && amount <= balance, err
}

// Quota returns the bytes that an actor may keep (whitepaper §3.2; resolution
// 2.17).
func (b *Block) Quota(a chain.Address) (uint64, error) {
	acct, err := Read(b.State, a)
	return b.quota(&acct), err
}

func (b *Block) quota(acct *Account) uint64 {
	return max(acct.Quota, b.Params.Actor.StorageQuotaBytes)
}

// Bond sets an actor's quota and returns what it adds to the bond, or gives back
// of it: the caller moves it between the actor and [chain.AddrRent].
func (b *Block) Bond(a chain.Address, bytes uint64) (more, back chain.Wei, err error) {
	acct, used, dormant, err := b.readAccount(a)
	if err != nil {
		return 0, 0, err
	}
	free := b.Params.Actor.StorageQuotaBytes
	if bytes < free || bytes > b.Params.Actor.StorageQuotaBondBytes || used > bytes || dormant {
		return 0, 0, ErrQuota
	}
	hi, lo := bits.Mul64(bytes-free, uint64(b.Params.Actor.StorageBondPerByte))
	if hi != 0 {
		return 0, 0, ErrQuota
	}
	bond := chain.Wei(lo)
	more, back = bond-min(bond, acct.Bond), acct.Bond-min(bond, acct.Bond)
	acct.Bond, acct.Quota = bond, bytes
	if bytes == free {
		acct.Quota = 0
	}
	if acct.Listed == 0 && acct.Quota > b.Params.Rent.ExemptBytes {
		if err := b.enlist(a, &acct); err != nil {
			return 0, 0, err
		}
	}
	acct.store(b.State, a)
	return more, back, nil
}

// enlist puts an actor into the queue of charges; the caller stores the record.
func (b *Block) enlist(a chain.Address, acct *Account) (err error) {
	acct.Listed, err = charges.push(b.State, item{a, b.Height})
	return err
}
