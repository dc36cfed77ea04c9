package sigverify

import (
	"bytes"

	"github.com/cowboy-foundation/cowboy/chain"
)

// leastShown is how many bytes a result takes at least that a transaction shows: its
// signature and, if it is empty, its head.
const leastShown = 2 + 65 + 1

// targetEnds is where the target of a transaction ends at the latest: behind the head of the
// array, two numbers, and the head of the address (see [chain.Tx]).
const targetEnds = 1 + 9 + 9 + 1 + 20

// workOf is how many signatures a body has at most: its own, and those of the results that it
// shows. It looks at no more than whether the actor that takes results is named where the
// target stands: who names it in a memo would else have transfers verified three at a time.
func workOf(body []byte) int {
	if len(body) < leastShown || !bytes.Contains(body[:targetEnds], chain.AddrResultVerifier[:]) {
		return 1
	}
	return 1 + min(chain.MaxSigners, len(body)/leastShown)
}

// fit is how many bodies off the front have no more than so many signatures, and one at
// least; and how many these have at most.
func fit(bodies [][]byte, most int) (n, work int) {
	for _, body := range bodies {
		next := workOf(body)
		if n > 0 && work+next > most {
			break
		}
		n, work = n+1, work+next
	}
	return n, work
}
