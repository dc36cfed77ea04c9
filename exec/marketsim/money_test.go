package marketsim

import (
	"math/big"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Money of the model is a big integer that nobody changes in place.

func wei[N ~uint64 | ~uint32 | ~uint16 | ~int](n N) *big.Int {
	return new(big.Int).SetUint64(uint64(n))
}

func plus(a, b *big.Int) *big.Int  { return new(big.Int).Add(a, b) }
func minus(a, b *big.Int) *big.Int { return new(big.Int).Sub(a, b) }
func times(a, b *big.Int) *big.Int { return new(big.Int).Mul(a, b) }
func over(a, b *big.Int) *big.Int  { return new(big.Int).Quo(a, b) } // floored: nothing here is negative

func least(a, b *big.Int) *big.Int {
	if a.Cmp(b) < 0 {
		return a
	}
	return b
}

// part is floor(a · basisPoints / 10,000).
func part(a *big.Int, basisPoints uint64) *big.Int {
	return over(times(a, wei(basisPoints)), wei(uint64(10_000)))
}

// ledger is who has how much. An account that is not there has nothing.
type ledger map[chain.Address]*big.Int

func (l ledger) of(a chain.Address) *big.Int {
	if b := l[a]; b != nil {
		return b
	}
	return new(big.Int)
}

func (l ledger) credit(a chain.Address, n *big.Int) { l[a] = plus(l.of(a), n) }

// debit takes what must be there.
func (l ledger) debit(a chain.Address, n *big.Int) {
	if l[a] = minus(l.of(a), n); l[a].Sign() < 0 {
		panic("the model spends what an account does not have")
	}
}

func (l ledger) move(from, to chain.Address, n *big.Int) {
	l.debit(from, n)
	l.credit(to, n)
}

func (l ledger) total() *big.Int {
	sum := new(big.Int)
	for _, n := range l {
		sum.Add(sum, n)
	}
	return sum
}
