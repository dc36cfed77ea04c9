package jobs

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

// TestHalfOfTheLaneIsNotTooMuch: a job with the least timeout that it may have, whatever the
// size of its results, does not promise too much of the lane by itself: what is rounded up is
// rounded up once.
func TestHalfOfTheLaneIsNotTooMuch(t *testing.T) {
	if l := (lane{promised: shareOf([3]meter{{1, 3}, {1, 7}, {0, 1}}, 3, 2)}); l.promised != millionths/LaneParts || l.full() {
		t.Errorf("three thirds of a block in two blocks are %d millionths", l.promised)
	}
	p := params.Default()
	halves := 0
	for _, runners := range []uint8{1, 3, 5, 7, 16} {
		for bytes := uint32(1); bytes <= 64<<10; bytes += 97 {
			spec := &chain.JobSpec{JobType: &chain.CustomJob{Params: []byte{}}, Verification: chain.Verification{Runners: runners}}
			terms := &chain.JobTerms{Version: chain.JobTermsVersion, ResultSchema: chain.ResultSchema{MaxReturnBytes: bytes}}
			least, ok := LeastTimeout(&p, spec, terms)
			if !ok {
				t.Fatalf("%d bytes fit no block", bytes)
			}
			j := &Job{Runners: runners, AssignedAt: 100, Deadline: 100 + chain.Height(least) - 1}
			j.CommitBy, j.GatherUntil = windows(&p.Job, j)
			l := lane{promised: shareOf(metersOf(&p, Shown(&p, spec, terms)), uint64(runners), uint64(j.Deadline-j.opens()))}
			if l.full() {
				t.Fatalf("%d results of %d bytes in %d blocks promise %d millionths", runners, bytes, least, l.promised)
			}
			if l.promised > millionths/LaneParts-2_000 {
				halves++
			}
		}
	}
	if halves == 0 {
		t.Error("none comes close to half of the lane")
	}
}
