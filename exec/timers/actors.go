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
	newest ID
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
	r.array(3)
	s.Active, s.Set = r.uint(), r.uint()
	r.id(&s.newest)
	return s, r.end("roster")
}

func (q *queue) saveRoster(actor chain.Address, s Roster) {
	b := cbor.AppendUint(cbor.AppendArray(make([]byte, 0, 52), 3), s.Active)
	q.o.SetStorage(chain.AddrTimers, key(keyActor, actor[:]), appendID(cbor.AppendUint(b, s.Set), &s.newest))
}

// joinActor puts a timer into its actor's list.
func (q *queue) joinActor(t *Timer, s Roster) error {
	t.older, t.newer = s.newest, ID{}
	if s.newest != (ID{}) {
		if err := q.relink(s.newest, func(l *link) { l.newer = t.ID }); err != nil {
			return err
		}
	}
	s.newest = t.ID
	s.Active++
	s.Set++
	q.saveRoster(t.Actor, s)
	return nil
}

// leaveActor takes a timer out of its actor's list.
func (q *queue) leaveActor(t *Timer) error {
	s, err := ReadRoster(q.o, t.Actor)
	if err != nil {
		return err
	}
	if t.newer == (ID{}) {
		s.newest = t.older
	} else if err := q.relink(t.newer, func(l *link) { l.older = t.older }); err != nil {
		return err
	}
	if t.older != (ID{}) {
		if err := q.relink(t.older, func(l *link) { l.newer = t.newer }); err != nil {
			return err
		}
	}
	s.Active--
	q.saveRoster(t.Actor, s)
	return nil
}

func targetKey(actor chain.Address, h chain.Height) state.StorageKey {
	return key(keyTarget, actor[:], number(uint64(h)))
}

// target returns how many timers of an actor are set for a block.
func (q *queue) target(actor chain.Address, h chain.Height) (uint64, error) {
	b, err := q.o.Storage(chain.AddrTimers, targetKey(actor, h))
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

func (q *queue) saveTarget(actor chain.Address, h chain.Height, n uint64) {
	var b []byte
	if n > 0 {
		b = cbor.AppendUint(nil, n)
	}
	q.o.SetStorage(chain.AddrTimers, targetKey(actor, h), b)
}

// aim counts a timer for the block of its height and returns its ordinal there.
func (q *queue) aim(t *Timer, h chain.Height) (uint64, error) {
	n, err := q.target(t.Actor, h)
	if err != nil {
		return 0, err
	}
	q.saveTarget(t.Actor, h, n+1)
	t.Height, t.target, t.due, t.aimed = h, h, h, true
	return n + 1, nil
}

// unaim takes a timer out of the count of its block: it left, or the block came.
func (q *queue) unaim(t *Timer) error {
	if !t.aimed {
		return nil
	}
	n, err := q.target(t.Actor, t.target)
	if err != nil {
		return err
	}
	q.saveTarget(t.Actor, t.target, n-min(n, 1))
	t.aimed = false
	return nil
}
