package timers

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/state"
)

// poor is a purse of actors that have nothing. It counts what is burned and comes back.
type poor struct {
	funds.Purse
	burned, back chain.Wei
}

func (p *poor) Withheld(chain.Address, chain.Wei) (bool, error) { return false, nil }

func (p *poor) Debit(from chain.Address, _ chain.Wei) error {
	if from != chain.AddrTimers {
		return funds.ErrShort
	}
	return nil
}

func (p *poor) Credit(_ chain.Address, amount chain.Wei) error {
	p.back += amount
	return nil
}

func (p *poor) Burn(amount chain.Wei) error {
	p.burned += amount
	return nil
}

// crowd is a queue with timers that cannot pay, and one more of an actor that can for
// every block.
type crowd struct {
	t     *testing.T
	o     *state.Overlay
	c     Clock
	purse poor
	looks map[ID]int // at those that cannot pay
	seen  int        // all of them
	gone  int        // of these
	busy  bool       // their receivers are busy, instead
}

const honest = 0xbb

func newCrowd(t *testing.T, change func(*params.Timer)) *crowd {
	w := &crowd{t: t, o: state.NewOverlay(state.Empty{}), looks: map[ID]int{}}
	w.c = Clock{Params: testParams(t, change), Height: 10, Base: chain.FeePair{PerCycle: 1, PerCell: 1}}
	return w
}

func poorActor(n int) chain.Address {
	a := spec(1, 0).Actor
	binary.BigEndian.PutUint32(a[8:], uint32(n))
	return a
}

// set sets timers of the actors from one number to another for a height.
func (w *crowd) set(from, to, each int, h chain.Height) {
	w.t.Helper()
	for range each {
		for n := from; n < to; n++ {
			s := spec(1, h)
			s.Actor, s.To = poorActor(n), poorActor(n)
			s.Limits.Cycles = 20_000
			if _, _, err := Set(w.o, w.c, s); err != nil {
				w.t.Fatal(err)
			}
		}
	}
}

// honestly sets timers of an actor that can pay.
func (w *crowd) honestly(h chain.Height, n int) {
	w.t.Helper()
	for range n {
		s := spec(1, h)
		s.Actor[0] = honest
		if _, _, err := Set(w.o, w.c, s); err != nil {
			w.t.Fatal(err)
		}
	}
}

// block goes through a block as exec does. It returns how late the latest timer of the
// honest actor was that fired.
func (w *crowd) block() (fired int, late chain.Height) {
	w.t.Helper()
	w.c.Height++
	head, err := Advance(w.o, w.c)
	if err != nil {
		w.t.Fatal(err)
	}
	ids, err := Ready(w.o, head, int(w.c.limits().CandidatesPerBlock))
	if err != nil {
		w.t.Fatal(err)
	}
	for _, id := range ids {
		timer := mustLoad(w.t, w.o, id)
		if timer.Actor[0] == honest {
			if _, err := fireOff(w.o, w.c, id); err != nil {
				w.t.Fatal(err)
			}
			fired, late = fired+1, max(late, w.c.Height-timer.Height)
			continue
		}
		wait := WaitUnfunded
		if w.busy {
			wait = Wait
		}
		look, err := wait(&w.purse, w.o, w.c, timer)
		if err != nil {
			w.t.Fatal(err)
		}
		w.looks[id]++
		w.seen++
		if look.Ended {
			w.gone++
		}
	}
	return fired, late
}

// TestUnfundedCrowd: twenty thousand timers that cannot pay make no timer of another actor
// late beyond what a tip buys, neither in the block for which all are set nor afterwards.
func TestUnfundedCrowd(t *testing.T) { // ADR 207
	const actors, each, due = 1_250, 16, 12
	w := newCrowd(t, nil)
	w.set(0, actors, each, due)
	w.honestly(due, 3) // set last
	set, fired := 3, 0
	var latest chain.Height // of those three, and of one for each block after
	for w.c.Height < due+60 {
		n, late := w.block()
		fired, latest = fired+n, max(latest, late)
		if w.c.Height > due && w.c.Height < due+50 {
			w.honestly(w.c.Height+1, 1)
			set++
		}
	}
	t.Logf("the latest came %d blocks late", latest) // the third for the block of the crowd
	if fired != set || latest > TipBlocksMax {
		t.Errorf("of %d timers that can pay %d fired, up to %d blocks late", set, fired, latest)
	}
}

// TestLooksArePaid: a timer that cannot pay is looked at ten times in an hour, and burns the
// price of a firing for each time but the first and the last, which ends it; one whose escrow
// is gone is ended before.
func TestLooksArePaid(t *testing.T) { // resolution 11.23; ADR 207
	w := newCrowd(t, nil)
	w.set(0, 1, 1, 12)
	var at []chain.Height
	for w.c.Height < 4_000 {
		before := w.seen
		if w.block(); w.seen > before {
			at = append(at, w.c.Height-12)
		}
	}
	if want := []chain.Height{0, 8, 16, 32, 64, 128, 256, 512, 1_024, 2_048, 3_600}; !slices.Equal(at, want) || w.gone != 1 {
		t.Errorf("looked at %v blocks after it was due, %d ended", at, w.gone)
	}
	price := chain.Wei(w.c.Params.API.FiringCycles)
	all := 10*chain.WeiPerCBY + 2*20_100
	if w.purse.burned != 9*price || w.purse.back != all-9*price {
		t.Errorf("burned %d and gave back %d of %d", w.purse.burned, w.purse.back, all)
	}
	w = newCrowd(t, nil)
	w.set(0, 1, 1, 12)
	w.c.Base.PerCycle = 15 // a look costs 30,000 of an escrow of 40,200
	for w.c.Height < 100 {
		w.block()
	}
	if w.gone != 1 || w.purse.burned != 15*price {
		t.Errorf("%d ended, %d burned", w.gone, w.purse.burned)
	}
}

// TestWaitsForABusyReceiverEnd: who sends timers to an actor that stays busy waits longer
// each time, up to 64 blocks, as long as it pays.
func TestWaitsForABusyReceiverEnd(t *testing.T) { // resolution 7.4; ADR 207
	w := newCrowd(t, func(p *params.Timer) { p.MaxUnfundedDeferrals = 100 })
	w.set(0, 1, 1, 12)
	w.busy = true
	var at []chain.Height
	for w.c.Height < 3_000 {
		before := w.purse.burned
		w.block()
		if w.purse.burned > before {
			at = append(at, w.c.Height-12)
		}
	}
	want := []chain.Height{8, 16, 32, 64, 128, 192, 256}
	if len(at) < len(want) || !slices.Equal(at[:len(want)], want) {
		t.Errorf("looks were paid %v blocks after it was due, want first %v", at, want)
	}
	if paid := 2 * 20_100 / uint64(w.c.Params.API.FiringCycles); uint64(len(at)) != paid || w.gone != 1 {
		t.Errorf("%d looks were paid of an escrow for %d, %d ended", len(at), paid, w.gone)
	}
}

// TestLinesShareTheMoves: a crowd of actors that set one timer for each block leaves an
// eighth of the moves to the further timers of another, and to those that were put off.
func TestLinesShareTheMoves(t *testing.T) { // ADR 207
	w := newCrowd(t, func(p *params.Timer) { p.MovesPerBlock = 40 })
	const due, patient = 12, 100
	for h := chain.Height(due); h < due+20; h++ {
		w.set(0, 45, 1, h) // more than a block moves
	}
	w.set(patient, patient+1, 9, due)
	seen := func() (n int) {
		for id, looks := range w.looks {
			if timer := mustLoad(t, w.o, id); timer.Actor == poorActor(patient) {
				n += looks
			}
		}
		return n
	}
	for w.c.Height < due {
		w.block()
	}
	if n := seen(); n < 8 {
		t.Errorf("in their block %d timers of nine were looked at", n)
	}
	for w.c.Height < due+18 {
		w.block()
	}
	if n := seen(); n < 16 {
		t.Errorf("eighteen blocks later timers were looked at %d times", n)
	}
}
