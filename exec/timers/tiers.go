package timers

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/state"
)

// ends are the first and the last timer of a slot or an epoch.
type ends struct{ first, last ID }

func decodeEnds(b []byte) (e ends, err error) {
	r := fields{r: cbor.NewReader(b)}
	r.array(2)
	r.id(&e.first)
	r.id(&e.last)
	if r.err == nil && (e.first == ID{} || e.last == ID{}) {
		r.refuse(errLength)
	}
	return e, r.end("list")
}

func (q *queue) loadEnds(p place, k state.StorageKey) (ends, error) {
	b, err := q.o.Storage(p.home(), k)
	if err != nil || b == nil {
		return ends{}, err
	}
	return decodeEnds(b)
}

func (q *queue) saveEnds(p place, k state.StorageKey, e ends) {
	if e.first == (ID{}) {
		q.o.SetStorage(p.home(), k, nil)
		return
	}
	b := appendID(cbor.AppendArray(make([]byte, 0, 72), 2), &e.first)
	q.o.SetStorage(p.home(), k, appendID(b, &e.last))
}

// listKey is the key of the list that a timer of the ring or the epoch queue is in.
func (q *queue) listKey(l *link) state.StorageKey {
	if l.place == inRing {
		return q.slot(l.due, l.line)
	}
	return key(keyEpoch, number(q.epochOf(l.due)))
}

// slot is the key of a line's list in a block's slot. Two heights a ring apart share it: the later
// one's timers come only when the earlier block is past, and then behind what is
// left of it, because nothing joins a slot of the past.
func (q *queue) slot(h chain.Height, l line) state.StorageKey {
	return key(keyRing, number(uint64(h)%q.limits().RingBlocks), []byte{byte(l)})
}

// put files a timer under its due height and saves it.
func (q *queue) put(t *Timer) error {
	t.place = q.tier(t.due)
	err := q.house(t)
	if err != nil {
		return err
	}
	switch t.place {
	case inReady:
		return q.putReady(t)
	case inTree:
		k := newNodeKey(uint64(t.due), t.ID)
		q.farRoot, _, err = farTree(q.o).insert(q.farRoot, k)
		if q.farFirst == 0 || t.due < q.farFirst {
			q.farFirst = t.due
		}
	default:
		err = q.push(t)
	}
	q.saveLink(t)
	return err
}

// push appends a timer to its list.
func (q *queue) push(t *Timer) error {
	k := q.listKey(&t.link)
	e, err := q.loadEnds(t.place, k)
	if err != nil {
		return err
	}
	t.prev, t.next = e.last, ID{}
	if e.last == (ID{}) {
		e.first = t.ID
	} else if err := q.relink(t, e.last, func(l *link) { l.next = t.ID }); err != nil {
		return err
	}
	e.last = t.ID
	q.saveEnds(t.place, k, e)
	return nil
}

// relink changes the record of a neighbour of t.
func (q *queue) relink(t *Timer, id ID, change func(*link)) error {
	l, err := loadLink(q.o, t.home, id)
	if err != nil {
		return err
	}
	change(&l)
	q.saveLink(&Timer{ID: id, home: t.home, link: l})
	return nil
}

// putReady files a timer among those that are due, by its bid.
func (q *queue) putReady(t *Timer) error {
	t.place, t.rank = inReady, Rank(t.due, q.offer(t).tipPerCycle(q.leastUse()), q.floor())
	var err error
	q.readyRoot, _, err = readyTree(q.o).insert(q.readyRoot, newNodeKey(t.rank, t.ID))
	q.Ready++
	q.saveLink(t)
	return err
}

// removeFromTier gets a timer out of its tier. It does not save it.
func (q *queue) removeFromTier(t *Timer) (err error) {
	switch t.place {
	case inReady:
		q.readyRoot, _, err = readyTree(q.o).remove(q.readyRoot, newNodeKey(t.rank, t.ID))
		q.Ready--
	case inTree:
		if q.farRoot, _, err = farTree(q.o).remove(q.farRoot, newNodeKey(uint64(t.due), t.ID)); err != nil {
			return err
		}
		if t.due == q.farFirst { // else the lowest stays
			var first nodeKey
			first, err = farTree(q.o).first(q.farRoot)
			q.farFirst = chain.Height(first.number())
		}
	case inRing, inEpoch:
		err = q.unlink(t)
	}
	t.place = nowhere
	return err
}

// unlink takes a timer out of its list.
func (q *queue) unlink(t *Timer) error {
	k := q.listKey(&t.link)
	e, err := q.loadEnds(t.place, k)
	if err != nil {
		return err
	}
	if t.prev == (ID{}) {
		e.first = t.next
	} else if err := q.relink(t, t.prev, func(l *link) { l.next = t.next }); err != nil {
		return err
	}
	if t.next == (ID{}) {
		e.last = t.prev
	} else if err := q.relink(t, t.next, func(l *link) { l.prev = t.prev }); err != nil {
		return err
	}
	if (e.first == ID{}) != (e.last == ID{}) {
		return fmt.Errorf("%w: list of %s has one end", ErrRecord, t.ID)
	}
	if t.prev == (ID{}) || t.next == (ID{}) {
		q.saveEnds(t.place, k, e)
	}
	t.prev, t.next = ID{}, ID{}
	return nil
}
