package rent

import (
	"encoding/binary"
	"flag"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/statetest"
)

var actors = flag.Int("actors", 100_000, "actors of the largest state of TestWorkIsFlat")

// ledger is a state of records under AddrRent, in a map, above accounts that are
// made up as they are read: whoever is of the herd has a storage, and nothing to
// pay with. It counts what is read.
type ledger struct {
	statetest.Unread
	params   params.Params
	accounts map[chain.Address]state.Account // written over those made up
	records  map[state.StorageKey]string
	reads    int
	timers   uint64 // of every actor
}

const stock = 0xaa // first byte of the herd's addresses

func newLedger() *ledger {
	l := &ledger{params: params.Default(), accounts: map[chain.Address]state.Account{}, records: map[state.StorageKey]string{}}
	l.params.Rent.GraceEpochs, l.params.Rent.WarningEpochs = 1, 1
	return l
}

func (l *ledger) Account(addr chain.Address) (state.Account, bool, error) {
	l.reads++
	a, ok := l.accounts[addr]
	if !ok {
		a = state.NewAccount()
		if addr[0] == stock {
			a.CodeHash, a.StorageRoot, a.StorageSize = chain.Hash{1}, chain.Hash{2}, state.StorageSize{Bytes: 20_480, Entries: 5}
		}
	}
	return a, true, nil
}

func (l *ledger) Storage(addr chain.Address, key state.StorageKey) ([]byte, error) {
	l.reads++
	if v, ok := l.records[key]; ok && addr == chain.AddrRent {
		return []byte(v), nil
	}
	return nil, nil
}

// block executes a block and returns what it read and wrote.
func (l *ledger) block(t *testing.T, h chain.Height, do func(b *Block)) (cost [2]int, w Work) { // reads, writes
	t.Helper()
	l.reads = 0
	b := &Block{State: state.NewOverlay(l), Params: &l.params, Height: h, Timers: func(chain.Address) (uint64, error) { return l.timers, nil }}
	w, err := b.Begin()
	if err == nil && do != nil {
		do(b)
	}
	if err == nil {
		err = b.End(l)
	}
	if err != nil {
		t.Fatalf("block %d: %v", h, err)
	}
	cost[0] = l.reads
	for _, c := range b.State.Delta().Accounts() {
		if c.Account != nil {
			l.accounts[c.Address] = *c.Account
			cost[1]++
		}
		cost[1] += len(c.Storage)
		if c.Address == chain.AddrRent {
			l.keep(c.Storage)
		}
	}
	return cost, w
}

func (l *ledger) keep(changes []state.StorageChange) {
	for _, s := range changes {
		if s.Value == nil {
			delete(l.records, s.Key)
			continue
		}
		l.records[s.Key] = string(s.Value)
	}
}

func member(i int) (a chain.Address) {
	a[0] = stock
	binary.BigEndian.PutUint32(a[16:], uint32(i+1))
	return a
}

// list enters the members [from, to) as their storages grow, ten thousand of them
// a block.
func (l *ledger) list(t *testing.T, h chain.Height, from, to int) {
	t.Helper()
	for at := from; at < to; at += 10_000 {
		l.block(t, h, func(b *Block) {
			for i := at; i < min(at+10_000, to); i++ {
				if err := b.notice(member(i), 20_480); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// blocks executes one block of each kind beside a herd of n, five of whom come
// before the others and never pay, and returns what each read and wrote. The last
// two are those in which the others crowd all queues.
func blocks(t *testing.T, n int) (kinds []string, costs [][2]int) {
	t.Helper()
	const first, since = 5, chain.Height(2 + day)
	l := newLedger()
	l.accounts[payer] = state.Account{Balance: rich, CodeHash: state.EmptyCodeHash, StorageRoot: state.EmptyRoot}
	l.list(t, 2, 0, first)
	l.list(t, 1+day, first, n) // due after all that is measured but the crowd
	var evicted int
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, m := range []struct {
		kind string
		h    chain.Height
		do   func(b *Block)
	}{
		{"five miss a charge", since, nil},
		{"idle", since + 1, nil},
		{"a bond", since + 2, func(b *Block) { _, _, err := b.Bond(member(n), 2<<20); must(err) }},
		{"a prepayment", since + 3, func(b *Block) { must(b.Prepay(member(n-1), 1)) }},
		{"a storage grows", since + 4, func(b *Block) { must(b.notice(member(n+1), 20_480)) }},
		{"five are warned", since + epoch, nil},
		{"five are evicted", since + 3*epoch, nil},
		{"a restoration", since + 3*epoch + 1, func(b *Block) {
			_, err := b.RestoreAll(member(0), payer, payer, []state.StorageChange{{Key: "\x01k", Value: []byte{1}}})
			must(err)
		}},
		{"its root is compared", since + 3*epoch + 2, nil},
		{"the rate moves", 2 * day, nil},
		{"a crowd misses a charge", 1 + 2*day, nil},
		{"a crowd is in all queues", 1 + 2*day + 3*epoch, nil},
	} {
		cost, w := l.block(t, m.h, m.do)
		kinds, costs, evicted = append(kinds, m.kind), append(costs, cost), evicted+len(w.Evicted)
	}
	if want := first + min(n-first, EvictionsPerBlock); evicted != want {
		t.Errorf("%d of %d were evicted, want %d", evicted, n, want)
	}
	return kinds, costs
}

// TestWorkIsFlat holds what each kind of block reads and writes to the same
// numbers however many owe rent; a crowd is served in bounded parts.
func TestWorkIsFlat(t *testing.T) { // whitepaper, "State Rent Model"
	kinds, few := blocks(t, 10)
	_, some := blocks(t, 10_000)
	_, many := blocks(t, *actors)
	for i, kind := range kinds {
		crowd := i >= len(kinds)-2 // ten are none
		if many[i] != some[i] || !crowd && few[i] != some[i] {
			t.Errorf("%s: reads and writes %v beside 10 actors, %v beside 10,000, %v beside %d", kind, few[i], some[i], many[i], *actors)
		}
		t.Logf("%-26s %4d reads, %4d writes beside %d actors", kind, many[i][0], many[i][1], *actors)
	}
}

// TestEvictionsEndSoManyTimers: the evicted of a block have no more timers than one actor may
// set; nobody is forgotten, and one goes in each block, however many timers it has.
func TestEvictionsEndSoManyTimers(t *testing.T) {
	const crowd, since = 40, chain.Height(2 + day)
	for _, tt := range []struct {
		timers uint64 // of each
		most   int    // evictions in a block
	}{{0, 16}, {64, 16}, {65, 15}, {68, 15}, {512, 2}, {513, 1}, {1_023, 1}, {1_024, 1}, {5_000, 1}} {
		l := newLedger()
		l.timers = tt.timers
		l.list(t, 2, 0, crowd)
		l.block(t, since, nil)
		at, evicted := since+3*epoch, 0
		for range (crowd + tt.most - 1) / tt.most {
			_, w := l.block(t, at, nil)
			if want := min(tt.most, crowd-evicted); len(w.Evicted) != want {
				t.Errorf("%d timers each, block %d: %d evicted, want %d", tt.timers, at, len(w.Evicted), want)
			}
			evicted += len(w.Evicted)
			at++
		}
		if evicted != crowd {
			t.Errorf("%d timers each: %d of %d were evicted", tt.timers, evicted, crowd)
		}
	}
}
