package simnode

import (
	"fmt"
	"time"
)

// tick is how often the storm draws, and looks after machines that ended.
const tick = 100 * time.Millisecond

// downMax is the longest that a machine stays off.
const downMax = 20 * time.Second

// storm starts all machines and plays the faults.
func (r *run) storm() error {
	for _, m := range r.machines {
		if err := m.start(); err != nil {
			return err
		}
	}
	r.net.set(r.plan.Weather)
	back := map[int]time.Time{} // when a machine is switched on again
	var joined time.Time        // when the links are whole again
	end := time.Now().Add(r.plan.Storm)
	for now := time.Now(); now.Before(end); now = time.Now() {
		if err := r.pause(tick); err != nil {
			return err
		}
		r.budgets()
		if err := r.arrive(); err != nil {
			return err
		}
		if err := r.withhold(now); err != nil {
			return err
		}
		for i, at := range back {
			if time.Now().After(at) {
				delete(back, i)
				if err := r.machines[i].start(); err != nil {
					return err
				}
			}
		}
		if err := r.revive(); err != nil {
			return err
		}
		if r.happens(r.plan.Crash) {
			m := r.machines[r.rng.IntN(len(r.machines))]
			if m.life == nil {
				continue
			}
			back[m.place] = time.Now().Add(r.span(r.crash(m)))
		}
		if !joined.IsZero() && time.Now().After(joined) {
			r.net.join()
			joined = time.Time{}
			r.trace.note("links join")
		}
		if r.happens(r.plan.Partition) {
			r.divide()
			joined = time.Now().Add(r.span(20 * time.Second))
		}
		if r.happens(r.plan.DiskFails) {
			m := r.machines[r.rng.IntN(len(r.machines))]
			if m.life != nil {
				m.disk.failAfter(r.rng.IntN(2) == 0, r.rng.IntN(20), r.rng.IntN(2) == 0)
				m.doomed = true
				r.report.States["disk failed"]++
			}
		}
		if r.happens(r.plan.ClockSteps) {
			m := r.machines[r.rng.IntN(len(r.machines))]
			m.skew.Store(int64(r.span(20*time.Second) - 10*time.Second))
			r.trace.note("clock of %d is %v off", m.id, time.Duration(m.skew.Load()))
			r.report.States["clock stepped"]++
		}
	}
	for i := range back {
		if err := r.machines[i].start(); err != nil {
			return err
		}
	}
	return nil
}

// crash takes a machine's power away, and with it, now and then, its vote journal. It
// returns how long the machine stays off at most.
func (r *run) crash(m *machine) time.Duration {
	keep := []int{0, 30, 70, 100}[r.rng.IntN(4)]
	m.cut(keep)
	r.report.States[fmt.Sprintf("power cut, %d%% kept", keep)]++
	const soon = time.Second // while others are still in the view
	switch r.rng.IntN(8) {
	case 0:
		m.disk.lose(nil)
		r.report.States["vote journal lost"]++
		return soon
	case 1:
		m.disk.lose(m.backup)
		r.report.States["older vote journal put back"]++
		return soon
	}
	m.backup = m.disk.copyOfVotes()
	return downMax
}

// withholdFrom is when votes begin to be withheld.
const withholdFrom = 20 * time.Second

// withhold switches an honest validator off for the time in which nothing is to become
// final, and lets the hoarders keep their votes back.
func (r *run) withhold(now time.Time) error {
	if r.plan.Withheld == 0 {
		return nil
	}
	since := now.Sub(r.trace.began) - withholdFrom
	on := since >= 0 && since < r.plan.Withheld
	switch m := r.machines[0]; {
	case on && m.life != nil:
		r.withholds.Store(true)
		m.cut(100)
	case !on && r.withholds.CompareAndSwap(true, false) && m.life == nil:
		return m.start()
	}
	return nil
}

// happens draws whether something that comes so often a minute comes in this tick.
func (r *run) happens(perMinute float64) bool {
	return perMinute > 0 && r.rng.Float64() < perMinute*tick.Minutes()
}

// divide cuts one direction, one machine off, or the machines in two parts.
func (r *run) divide() {
	n := len(r.machines)
	switch r.rng.IntN(3) {
	case 0:
		from, to := r.rng.IntN(n), r.rng.IntN(n)
		r.net.sever(from, to, true)
		r.trace.note("link %d>%d is cut", from, to)
		r.report.States["one-way cut"]++
	case 1:
		lone := r.rng.IntN(n)
		for i := range n {
			r.net.sever(lone, i, true)
			r.net.sever(i, lone, true)
		}
		r.trace.note("machine %d is cut off", lone)
		r.report.States["machine cut off"]++
	case 2:
		side := make([]bool, n)
		for i := range side {
			side[i] = r.rng.IntN(2) == 0
		}
		for i := range n {
			for j := range n {
				if side[i] != side[j] {
					r.net.sever(i, j, true)
				}
			}
		}
		r.trace.note("parts %v", side)
		r.report.States["partition"]++
	}
}

// pause lets virtual time pass, or returns the breach that came.
func (r *run) pause(d time.Duration) error {
	select {
	case <-r.witness.broken:
		return r.witness.broke()
	case <-time.After(d):
		return nil
	}
}

// revive starts machines again whose process ended by itself, as the devnet's
// keeper does. An honest one may end only where its disk failed.
func (r *run) revive() error {
	for _, m := range r.machines {
		if m.life == nil {
			continue
		}
		select {
		case err := <-m.life.done:
			m.life.reached()
			m.off()
			r.trace.note("machine %d ended: %v", m.id, err)
			if m.honest() && !m.doomed {
				return fmt.Errorf("%w: %d: %w", ErrEnded, m.id, err)
			}
			m.doomed = false
			m.disk.repair()
			r.report.States["ended by its disk"]++
			if err := m.start(); err != nil {
				return err
			}
		default:
		}
	}
	return nil
}

// calm ends the faults and demands progress of everybody, and that what was accepted is
// final. Wallets and strangers end with leave, two thirds before the end.
func (r *run) calm(leave func()) error {
	r.net.join()
	r.net.set(Fair)
	for _, m := range r.machines {
		m.skew.Store(0)
		m.disk.slowness(0)
		if m.doomed {
			m.disk.repair()
		}
	}
	_, high, from := r.witness.level(r.honest)
	r.trace.note("the faults end: height %d, view %d", high, from)
	healed := false
	for end := time.Now().Add(r.plan.Calm); time.Now().Before(end); {
		if err := r.pause(tick); err != nil {
			return err
		}
		if time.Until(end) < r.plan.Calm*2/3 {
			leave()
		}
		r.budgets()
		if err := r.arrive(); err != nil {
			return err
		}
		if err := r.revive(); err != nil {
			return err
		}
		low, _, view := r.witness.level(r.honest)
		if !healed && low >= high+3 {
			healed, r.report.Healed = true, view-from
			r.trace.note("all are level at %d after %d views", low, view-from)
		}
	}
	low, top, view := r.witness.level(r.honest)
	switch {
	case !healed:
		return fmt.Errorf("%w: the lowest is at %d, the highest at %d, after %d at the end of the faults, %d views later", ErrStalled, low, top, high, view-from)
	case r.report.Healed > healViews:
		return fmt.Errorf("%w: level only after %d views, want %d at most", ErrStalled, r.report.Healed, healViews)
	case low+3 < top:
		return fmt.Errorf("%w: the lowest is at %d, the highest at %d, long after the faults ended", ErrStalled, low, top)
	}
	if err := r.joined(); err != nil {
		return err
	}
	return r.settled()
}
