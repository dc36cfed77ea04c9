package parallel

// none is before the first transaction.
const none = -1

// plan finds for each transaction, in order, the last one before it that it has
// to wait for. Only what is committed is ever read, so writes wait for no readers,
// and to wait for the last of several is to wait for all, as commits are in order.
//
// A credit waits for nobody: credits commute. A read or write waits for the last write and
// the last credit, since both change the balance. It belongs to the commit role, as memory
// does, and has an entry for each resource that a footprint of the block names.
type plan struct {
	last map[resource]last
}

// last are the latest transactions that touched a resource, or none.
type last struct{ write, credit int32 }

func newPlan(n int) *plan { return &plan{last: make(map[resource]last, 2*n)} }

// addTransaction enters transaction i and returns whom it waits for.
func (p *plan) addTransaction(i int, touches []touch) int {
	after := int32(none)
	for j := range touches {
		t := &touches[j]
		l, ok := p.last[t.resource]
		if !ok {
			l = last{none, none}
		}
		switch t.mode {
		case credits:
			l.credit = int32(i)
		case writes:
			after = max(after, l.write, l.credit)
			l.write = int32(i)
		case reads:
			after = max(after, l.write, l.credit)
		}
		if ok || t.mode != reads {
			p.last[t.resource] = l
		}
	}
	return int(after)
}

// planNext plans the next transaction of the window. The caller holds the lock.
func (r *run) planNext() {
	i := r.admitted
	r.admitted++
	j := &r.jobs[i]
	after := none
	c, message := r.callOf(i)
	if message {
		r.warm.expect(i, c.code)
	}
	if r.mode == Planned && r.payments < len(r.txs) {
		if j.footprint.message { // without code, nothing is known of it
			r.memory.foresee(c, &j.footprint)
			r.willUse(i)
		}
		after = r.plan.addTransaction(i, j.footprint.touches)
	}
	r.waitsFor[i] = int32(after)
	if after != none {
		r.waited++
		if r.depth[i] = r.depth[after] + 1; r.depth[i] > r.deepest {
			r.deepest, r.deepestAt = r.depth[i], i
		}
	}
	if r.pays[i] || r.isBarred(i) {
		r.alone[i] = true
	}
	switch {
	case r.builder.overcommitted(i), r.alone[i]: // executed at its commit index
		return
	case after < r.commitIndex:
		r.ready.push(i)
		return
	}
	r.waiting[after] = append(r.waiting[after], i)
}

// willUse notes the code of those that a message is expected to call or to send to,
// which it pays for if nobody has before it. A handler leaves its marks on whom it has
// run, and none but credits on whom it pays.
func (r *run) willUse(i int) {
	f := &r.jobs[i].footprint
	for j := f.declared; j < len(f.touches); j++ {
		t := &f.touches[j]
		if t.mode != writes || t.key != "" || t.addr.IsSystem() {
			continue
		}
		if a, err := r.committed.codeAndMeta(t.addr); err == nil && a.HasCode() {
			r.warm.expect(i, a.CodeHash)
		}
	}
}

// callOf names the handler of a message by the code of its target, as it is now; false
// for what is no message, and for one to an account without code.
func (r *run) callOf(i int) (call, bool) {
	j, tx := &r.jobs[i], r.txs[i].Tx
	if tx.To == nil || len(tx.Payload) == 0 || tx.To.IsSystem() {
		return call{}, false
	}
	a, err := r.committed.codeAndMeta(*r.txs[i].Tx.To)
	if err != nil || !a.HasCode() {
		return call{}, false
	}
	return call{a.CodeHash, j.footprint.handler}, true
}

// lessons is of how many committed messages one is learned from, besides those that had
// to run again: what handlers touch, they mostly touch again and again.
const lessons = 8

// learn remembers what a committed message has touched, and counts what was not
// foreseen.
func (r *run) learn(i int, again bool) {
	j := &r.jobs[i]
	if r.mode != Planned || !j.footprint.message || !again && i%lessons != 0 {
		return
	}
	j.footprint.observe(&r.observed, &j.execution.view, j.execution.over)
	if c, ok := r.callOf(i); ok {
		r.memory.learn(c, &j.footprint, &r.observed)
	}
	if j.footprint.mispredicted(&r.observed) {
		r.mispredicted++
	}
}

// queue holds the transactions that may run, the first of the block on top: a binary heap
// of indices. What stands first in the block is what the commit index waits for. It is
// written out, as container/heap would make an interface value of each index. Guarded by
// run.mu.
type queue []int

func (q *queue) push(i int) {
	*q = append(*q, i)
	for c := len(*q) - 1; c > 0; {
		up := (c - 1) / 2
		if (*q)[up] <= (*q)[c] {
			return
		}
		(*q)[up], (*q)[c] = (*q)[c], (*q)[up]
		c = up
	}
}

func (q *queue) pop() int {
	h := *q
	top, n := h[0], len(h)-1
	h[0] = h[n]
	h = h[:n]
	*q = h
	for at := 0; ; {
		low := 2*at + 1
		if low >= n {
			return top
		}
		if low+1 < n && h[low+1] < h[low] {
			low++
		}
		if h[at] <= h[low] {
			return top
		}
		h[at], h[low] = h[low], h[at]
		at = low
	}
}
