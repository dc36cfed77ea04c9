package bars

// Judge makes the result of a bar whose rounds were measured elsewhere, such as of whole
// nodes in processes of their own. Of a bar against a limit the rounds hold the quantity
// in place of a time.
func Judge(name, peer, unit string, must, aim float64, rounds []Round) Result {
	r := Result{Name: name, Peer: peer, Unit: unit, Must: must, Aim: aim, Rounds: rounds}
	if len(rounds) == 0 {
		return notMeasured(r, "no round of it was run", false)
	}
	summarize(&r)
	r.judge()
	return r
}

// Within makes the result of a bar of a quantity that is to be at most must.
func Within(name, unit string, must, aim float64, quantities []float64) Result {
	rounds := make([]Round, len(quantities))
	for i, v := range quantities {
		rounds[i] = against(must, v)
	}
	return Judge(name, peerLimit, unit, 1, must/aim, rounds)
}

// peerLimit stands in place of a peer where a quantity has a limit.
const peerLimit = "limit"

// against holds a quantity to its limit. One of nothing at all is infinitely good, which
// JSON cannot say; a millionth of the limit is as good as that.
func against(limit, v float64) Round {
	return Round{Ours: Sample{NanosPerOp: v}, Peer: Sample{NanosPerOp: limit}, Ratio: limit / max(v, limit/1e6)}
}

// judge gives the verdict on the ratio.
func (r *Result) judge() {
	r.Verdict = VerdictOK
	if r.Ratio < r.Must {
		r.Verdict = VerdictShort
	}
}
