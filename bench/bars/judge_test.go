package bars

import "testing"

func TestJudge(t *testing.T) {
	rounds := []Round{{Ratio: 9}, {Ratio: 16}, {Ratio: 15.5}}
	if r := Judge("rate", "peer", "us", 15, 20, rounds); r.Verdict != VerdictOK || r.RatioMin != 9 || r.RatioMedian != 15.5 {
		t.Errorf("median 15.5 of must 15: %s, min %v", r.Verdict, r.RatioMin)
	}
	if r := Judge("rate", "peer", "us", 15.6, 20, rounds); r.Verdict != VerdictShort {
		t.Errorf("median 15.5 of must 15.6: %s", r.Verdict)
	}
	if r := Judge("rate", "peer", "us", 15, 20, nil); r.Verdict != VerdictNotMeasured || r.Failed {
		t.Errorf("no rounds: %s, failed %v", r.Verdict, r.Failed)
	}
}

func TestWithin(t *testing.T) {
	for _, c := range []struct {
		quantities []float64
		want       string
	}{{[]float64{19, 20, 40}, VerdictOK}, {[]float64{19, 21, 40}, VerdictShort}, {[]float64{0}, VerdictOK}, {nil, VerdictNotMeasured}} {
		if r := Within("cpu", "us", 20, 16, c.quantities); r.Verdict != c.want {
			t.Errorf("%v at most 20: %s, want %s", c.quantities, r.Verdict, c.want)
		}
	}
}
