package boundary

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/state"
)

// Survey is every case on the worst state, ready to be measured.
type Survey struct {
	grounds []*Ground // one for each group
	ready   []*Ready
	block   *Ready  // the worst one; nil until it is asked for
	Failed  []error // cases that could not be set up
}

// NewSurvey sets all cases up among so many accounts and as many entries of each
// table of the system. No program stays compiled between two blocks.
func NewSurvey(crowd int) (*Survey, error) {
	s := &Survey{}
	for _, cases := range [][]Case{CallCases(), InstructionCases(), MarketCases(), DeliveryCases()} {
		g, err := New(Config{More: Crowd(crowd), Change: MarketParams})
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.grounds = append(s.grounds, g)
		for i := range cases {
			r, err := g.Ready(&cases[i])
			if err == nil {
				err = r.Sample()
			}
			if err != nil {
				s.Failed = append(s.Failed, err)
				continue
			}
			s.ready = append(s.ready, r)
		}
	}
	return s, nil
}

// Close frees the states.
func (s *Survey) Close() (err error) {
	for _, g := range s.grounds {
		err = errors.Join(err, g.Close())
	}
	return err
}

// Round measures every case once more.
func (s *Survey) Round() error {
	for _, r := range s.ready {
		if err := r.Sample(); err != nil {
			return err
		}
	}
	return nil
}

// Slowest lists what all cases took until now, the most nanoseconds a cycle first.
// What pays no cycles at all comes before everything else.
func (s *Survey) Slowest() []Spent {
	list := make([]Spent, 0, len(s.ready))
	for _, r := range s.ready {
		list = append(list, r.Spent)
	}
	slices.SortStableFunc(list, func(a, b Spent) int { return cmp.Compare(b.PerCycle(), a.PerCycle()) })
	return list
}

// Table prints the first of a list.
func Table(w io.Writer, list []Spent, most int) {
	for i := range list[:min(most, len(list))] {
		s := &list[i]
		fmt.Fprintf(w, "  %-12s %-26s %8.1f ns/cycle %9d cycles %8.2f ms %7d cells %8d bytes beyond the smallest transfer\n",
			s.Group, s.Name, s.PerCycle(), s.Used.Cycles, float64(s.Time)/1e6, s.Used.Cells, s.Kept.Beyond())
	}
}

// Crowd makes a state large: so many accounts, and as many entries of each of the
// system's tables that grow with people.
func Crowd(n int) func(*state.Delta) {
	return func(d *state.Delta) {
		value := cbor.AppendUints(nil, 1, 2, 3, 4)
		for i := range n {
			var a chain.Address
			binary.BigEndian.PutUint64(a[:], uint64(i)*0x9e3779b97f4a7c15)
			account := state.NewAccount()
			account.Balance = 1
			d.SetAccount(a, account)
			for _, table := range []chain.Address{chain.AddrActors, chain.AddrTokens, chain.AddrTimers, chain.AddrMailbox} {
				d.SetStorage(table, state.NewStorageKey(state.VMNamespaceSystem, append([]byte("crowd/"), a[:]...)), value)
			}
		}
	}
}

// worstBlock makes the block that takes longest of all that limits allow: the slowest
// calls, each in a message of its own actor with all that the actor may use.
func (s *Survey) worstBlock() error {
	g := s.grounds[0]
	limit := g.Params().Actor.BlockCyclesBurst
	g.wanted = uint64(limit) * 9 / 10
	defer func() { g.wanted = 0 }()
	var txs []*chain.VerifiedTx
	for _, slow := range s.Slowest() {
		c, ok := callNamed(slow.Name)
		if !ok {
			continue // no program's
		}
		block, err := g.looped(&c, g.targets)
		if err != nil {
			continue // its cells end before its cycles
		}
		if txs = append(txs, block()...); len(txs) == blockMessages {
			break
		}
	}
	for i, tx := range txs { // one sender's, one after the other
		again := *tx.Tx
		again.Nonce = g.nonces[Alice] + uint64(i)
		again.CyclesLimit, again.CellsLimit = limit-1_000, g.Params().CellsCap/chain.Cells(2*blockMessages)
		txs[i] = g.Verified(Alice, again)
	}
	s.block = &Ready{Spent: Spent{Name: "the slowest calls", Group: GroupAttack, Time: time.Hour}, g: g, state: g.State, height: g.Height, txs: txs}
	return nil
}

// WorstBlock executes the block that takes longest of all that limits allow, and
// returns what it takes at least where all cycles of a block go to the like of it.
func (s *Survey) WorstBlock() (time.Duration, error) {
	if s.block == nil {
		if err := s.worstBlock(); err != nil {
			return 0, err
		}
	}
	r := s.block
	in := r.g.inputs()
	in.Height, in.TimestampMillis = r.height+1, 1_000*uint64(r.height+1)
	began := bars.ProcessCPU()
	res, err := exec.Build(r.state, in, &order.Selection{Txs: r.txs}, exec.Watch{})
	if err != nil {
		return 0, err
	}
	r.Time = min(r.Time, bars.ProcessCPU()-began)
	if r.Used, _ = spentOf(&res.Result); len(res.Kept) < blockMessages/2 {
		return 0, fmt.Errorf("%d of %d messages are in the worst block: %w", len(res.Kept), len(r.txs), res.Skipped[0])
	}
	return time.Duration(float64(r.Time) * float64(r.g.Params().CyclesCap) / float64(r.Used.Cycles)), nil
}

// blockMessages are as many as use up all cycles of a block, an actor each.
const blockMessages = 10

func callNamed(name string) (call, bool) {
	for _, c := range calls() {
		if c.name == name {
			return c, true
		}
	}
	return call{}, false
}
