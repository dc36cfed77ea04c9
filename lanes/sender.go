package lanes

import (
	"math/bits"
	"slices"
	"sort"

	"github.com/cowboy-foundation/cowboy/chain"
)

// account is what the scheduler needs to know of a sender at the head.
type account struct {
	Nonce     uint64 // next nonce that the chain takes
	Spendable chain.Wei
	Height    chain.Height // of the head at which it was read
}

// sender is the nonce chain of one account.
type sender struct {
	account
	waiting []*entry  // ascending nonces, all >= account.Nonce
	cost    chain.Wei // sum of their costs; admission keeps it within Spendable
	pick    pickState // of the pick at hand
	bytes   int       // of their bodies
	counted int       // of them are counted by targets
	inLane  [chain.NumLanes]uint32
	stops   int    // of them bar those behind them
	stopAt  uint64 // nonce of the first of these, if there are any
	stale   bool   // anchors are out of date; false between operations
}

// stopped reports whether e must wait for one that may find no room for long.
func (s *sender) stopped(e *entry) bool { return s.stops > 0 && e.nonce > s.stopAt }

// noteStop finds the first that bars others, after the chain changed.
func (s *sender) noteStop() {
	if s.stops == 0 {
		return
	}
	i := slices.IndexFunc(s.waiting, func(e *entry) bool { return e.stops })
	s.stopAt = s.waiting[i].nonce
}

// executable returns how many of the waiting transactions can run one after
// another from the head's nonce.
func (s *sender) executable() int {
	n := len(s.waiting)
	if n == 0 || s.waiting[n-1].nonce == s.Nonce+uint64(n-1) {
		return n // no gap, the usual case: nonces are distinct and ascend
	}
	return sort.Search(n, func(i int) bool {
		return s.waiting[i].nonce != s.Nonce+uint64(i)
	})
}

// indexOf returns the place of a nonce in waiting and whether it is there.
func (s *sender) indexOf(nonce uint64) (int, bool) {
	if n := len(s.waiting); n == 0 || s.waiting[n-1].nonce < nonce {
		return n, false
	}
	return slices.BinarySearchFunc(s.waiting, nonce, func(e *entry, n uint64) int {
		switch {
		case e.nonce < n:
			return -1
		case e.nonce > n:
			return 1
		}
		return 0
	})
}

// worth is the level that counts when e, at place i of its sender, competes for
// room: no better than that of the transactions it must wait for. In another
// lane a predecessor's tier says nothing about when it runs, so there it only
// counts if it cannot run at all.
func (s *sender) worth(i int, e *entry) level {
	if e.level == levelQueued {
		return levelQueued
	}
	least := e.level
	for _, before := range s.waiting[:i] {
		if before.lane == e.lane || before.level < levelTier0 {
			least = min(least, before.level)
		}
	}
	return least
}

// checkChain holds a transaction against its sender's nonce chain and balance. Its nonce
// is not below the account's; old is the waiting transaction of the same nonce, if there
// is one.
func (s *sender) checkChain(tx *chain.VerifiedTx, cost chain.Wei, old *entry, cfg *Config) error {
	nonce, next := tx.Tx.Nonce, s.Nonce+uint64(s.executable())
	if nonce > next && nonce-next > cfg.NonceGap {
		return &NonceGapError{Got: nonce, Next: next, GapMax: cfg.NonceGap}
	}
	bytes := s.bytes + len(tx.Body)
	if old != nil {
		bytes -= old.bytes
	}
	others := s.cost
	if old != nil {
		if err := checkReplace(old.tx.Tx, tx.Tx, bumpAfter(cfg.BumpPercent, old.replaced)); err != nil {
			return err
		}
		others -= old.cost
	} else if len(s.waiting) >= cfg.SenderTxs {
		return &SenderFullError{Waiting: len(s.waiting), Max: cfg.SenderTxs}
	}
	if cfg.SenderBytes > 0 && bytes > cfg.SenderBytes {
		return &SenderFullError{Waiting: len(s.waiting), Max: cfg.SenderTxs, Bytes: bytes, MaxBytes: cfg.SenderBytes}
	}
	// others <= Spendable holds unless the head has taken money away since the
	// last refresh, so the difference is computed only when it exists.
	if others > s.Spendable || cost > s.Spendable-others {
		return &BalanceError{Spendable: s.Spendable, Waiting: others, Cost: cost}
	}
	return nil
}

// cheapReplacements is how often a waiting transaction is replaced for the least rise.
// Every one is spread and verified by all nodes, and one of them at most is paid.
const cheapReplacements = 8

// doubling is the rise that the next need: prices have 64 bits, and balances less.
const doubling = 100

// bumpAfter is the rise in percent that a replacement needs, after so many.
func bumpAfter(percent uint64, replaced uint8) uint64 {
	if replaced < cheapReplacements {
		return percent
	}
	return max(percent, doubling)
}

// checkReplace reports the first price of tx that is not high enough to take
// old's place. Each of the four prices must be at least old's plus percent of
// it, rounded up: 100 needs 110, 1 needs 2, and 0 needs 0. At least one price
// must truly rise, else a transaction with all prices 0 could be replaced for
// nothing forever.
func checkReplace(old, tx *chain.Tx, percent uint64) error {
	prices := [...]struct {
		name     string
		old, new chain.Wei
	}{
		{"max_fee_per_cycle", old.MaxFeePerCycle, tx.MaxFeePerCycle},
		{"max_fee_per_cell", old.MaxFeePerCell, tx.MaxFeePerCell},
		{"tip_per_cycle", old.TipPerCycle, tx.TipPerCycle},
		{"tip_per_cell", old.TipPerCell, tx.TipPerCell},
	}
	rises := false
	for _, price := range prices {
		if needed := bumped(price.old, percent); price.new < needed {
			return &ReplaceError{Nonce: tx.Nonce, Price: price.name, Offered: price.new, Needed: needed}
		}
		rises = rises || price.new > price.old
	}
	if !rises {
		return &ReplaceError{Nonce: tx.Nonce, Price: prices[0].name, Offered: prices[0].new, Needed: prices[0].old + 1}
	}
	return nil
}

// bumped returns ceil(price·(100+percent)/100), or the largest price when that
// does not fit.
func bumped(price chain.Wei, percent uint64) chain.Wei {
	hi, lo := bits.Mul64(uint64(price), 100+percent)
	lo, carry := bits.Add64(lo, 99, 0)
	if hi += carry; hi >= 100 {
		return ^chain.Wei(0)
	}
	q, _ := bits.Div64(hi, lo, 100)
	return chain.Wei(q)
}
