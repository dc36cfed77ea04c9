package parallel

// memory is what handlers have touched in the past, beyond what their messages
// say. It is a guess at what they will touch: nothing depends on it but time.
//
// Owner: the commit role, which learns and in whose advance the next transactions are
// planned; before the workers start, the caller. It has at most mostCalls patterns of
// mostTouches touches.
type memory struct {
	calls map[call]*pattern
}

// mostCalls bounds a memory, which starts anew when it is full.
const mostCalls = 4096

// pattern is what one handler was seen to touch: its learned access pattern.
type pattern struct {
	touches  []touch
	scores   []int8 // how sure each of them is
	reliance [hintPlaces]reliance
}

// A touch that is seen gains, one that is not loses; at sure it is foreseen. These are
// saturating counters as of branch predictors (Smith, "A Study of Branch Prediction
// Strategies", 1981): two sightings make a touch sure, and from most it takes six misses
// until it is no longer.
const (
	gain = 2
	loss = 1
	sure = 3
	most = 8
)

func newMemory() *memory { return &memory{calls: map[call]*pattern{}} }

// foresee adds to a footprint the learned pattern of the call, and what its
// message names if the handler is known to follow that.
func (m *memory) foresee(c call, f *footprint) {
	h, told := m.calls[c], firstReliance
	if h != nil {
		told = h.reliance
		for i := range h.touches {
			if h.scores[i] >= sure {
				f.add(h.touches[i])
			}
		}
	}
	for place := range f.hints {
		if f.reliedOn[place] = told[place].score >= sure; !f.reliedOn[place] {
			continue
		}
		for _, a := range f.hints[place] {
			f.add(touch{resource{addr: a}, told[place].mode})
		}
	}
}

// learn notes what a call has touched beyond what its message says for sure.
func (m *memory) learn(c call, f *footprint, seen *observed) {
	h := m.calls[c]
	if h == nil {
		if len(seen.touches) == 0 && !f.hints.any() {
			return
		}
		if len(m.calls) == mostCalls {
			clear(m.calls)
		}
		h = &pattern{reliance: firstReliance}
		m.calls[c] = h
	}
	for i := range h.scores {
		h.scores[i] -= loss
	}
	for i := range seen.touches {
		h.reinforce(&seen.touches[i])
	}
	h.expire()
	for place := range h.reliance {
		if len(f.hints[place]) > 0 {
			h.reliance[place].recordTouch(seen.hinted[place].found, seen.hinted[place].how)
		}
	}
}

func (h *pattern) reinforce(t *touch) {
	for i := range h.touches {
		if h.touches[i].resource == t.resource {
			h.scores[i] = min(h.scores[i]+loss+gain, most)
			h.touches[i].mode = max(h.touches[i].mode, t.mode)
			return
		}
	}
	if len(h.touches) < mostTouches {
		h.touches, h.scores = append(h.touches, *t), append(h.scores, gain)
	}
}

// expire drops what has not been seen for long.
func (h *pattern) expire() {
	kept := 0
	for i := range h.touches {
		if h.scores[i] > 0 {
			h.touches[kept], h.scores[kept] = h.touches[i], h.scores[i]
			kept++
		}
	}
	clear(h.touches[kept:])
	h.touches, h.scores = h.touches[:kept], h.scores[:kept]
}
