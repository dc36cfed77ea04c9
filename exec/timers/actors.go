package timers

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/state"
)

// Roster is what there is of an actor's timers as a whole.
type Roster struct {
	Active uint64 // timers it has
	Set    uint64 // timers it ever set: makes ids distinct
	newest ID     // of its timers that are near
	asleep ID     // the newest of those that sleep
}

// headOf returns the head of the list of an actor's timers that have a home.
func (s *Roster) headOf(home chain.Address) *ID {
	if home == chain.AddrTimersFar {
		return &s.asleep
	}
	return &s.newest
}

// ReadRoster returns an actor's roster; zero for one that never set a timer.
func ReadRoster(v state.View, actor chain.Address) (Roster, error) {
	b, err := v.Storage(chain.AddrTimers, key(keyActor, actor[:]))
	if err != nil || b == nil {
		return Roster{}, err
	}
	return decodeRoster(b)
}

func decodeRoster(b []byte) (s Roster, err error) {
	r := fields{r: cbor.NewReader(b)}
	r.array(4)
	s.Active, s.Set = r.uint(), r.uint()
	r.id(&s.newest)
	r.id(&s.asleep)
	return s, r.end("roster")
}

func (q *queue) saveRoster(actor chain.Address, s Roster) {
	b := cbor.AppendUint(cbor.AppendArray(make([]byte, 0, 87), 4), s.Active)
	b = appendID(cbor.AppendUint(b, s.Set), &s.newest)
	q.o.SetStorage(chain.AddrTimers, key(keyActor, actor[:]), appendID(b, &s.asleep))
}

// joinHome puts a timer into the list of its actor's timers at its home.
func (q *queue) joinHome(t *Timer, s *Roster) error {
	newest := s.headOf(t.home)
	t.older, t.newer = *newest, ID{}
	if *newest != (ID{}) {
		if err := q.relink(t, *newest, func(l *link) { l.newer = t.ID }); err != nil {
			return err
		}
	}
	*newest = t.ID
	return nil
}

// leaveHome takes a timer out of that list, and its records out of its home.
func (q *queue) leaveHome(t *Timer, s *Roster) error {
	if t.newer == (ID{}) {
		*s.headOf(t.home) = t.older
	} else if err := q.relink(t, t.newer, func(l *link) { l.older = t.older }); err != nil {
		return err
	}
	if t.older != (ID{}) {
		if err := q.relink(t, t.older, func(l *link) { l.newer = t.newer }); err != nil {
			return err
		}
	}
	q.o.SetStorage(t.home, key(keySpec, t.ID[:]), nil)
	q.o.SetStorage(t.home, key(keyLink, t.ID[:]), nil)
	return nil
}

func targetKey(actor chain.Address, h chain.Height) state.StorageKey {
	return key(keyTarget, actor[:], number(uint64(h)))
}

// target returns how many timers of an actor at a home are set for a block.
func (q *queue) target(home, actor chain.Address, h chain.Height) (uint64, error) {
	b, err := q.o.Storage(home, targetKey(actor, h))
	if err != nil || b == nil {
		return 0, err
	}
	return decodeCount(b)
}

func decodeCount(b []byte) (uint64, error) {
	r := fields{r: cbor.NewReader(b)}
	n := r.uint()
	return n, r.end("count")
}

func (q *queue) saveTarget(home, actor chain.Address, h chain.Height, n uint64) {
	var b []byte
	if n > 0 {
		b = cbor.AppendUint(nil, n)
	}
	q.o.SetStorage(home, targetKey(actor, h), b)
}

// aim counts a timer for the block of its height, where [queue.put] will house
// it, and returns its ordinal among all of that block. Both homes have some while
// an epoch moves into the ring.
func (q *queue) aim(t *Timer, h chain.Height) (uint64, error) {
	near, err := q.target(chain.AddrTimers, t.Actor, h)
	if err != nil {
		return 0, err
	}
	asleep, err := q.target(chain.AddrTimersFar, t.Actor, h)
	if err != nil {
		return 0, err
	}
	if q.tier(h).home() == chain.AddrTimers {
		q.saveTarget(chain.AddrTimers, t.Actor, h, near+1)
	} else {
		q.saveTarget(chain.AddrTimersFar, t.Actor, h, asleep+1)
	}
	t.Height, t.target, t.due, t.aimed = h, h, h, true
	return near + asleep + 1, nil
}

// unaim takes a timer out of the count of its block: it left, or the block came.
func (q *queue) unaim(t *Timer) error {
	if !t.aimed {
		return nil
	}
	n, err := q.target(t.home, t.Actor, t.target)
	if err != nil {
		return err
	}
	q.saveTarget(t.home, t.Actor, t.target, n-min(n, 1))
	t.aimed = false
	return nil
}
