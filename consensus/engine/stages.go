package engine

import (
	"math/bits"
	"sync/atomic"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Stage is a part of a block's way, in the order in which a block passes them.
// They overlap between blocks, and the last three contain those before.
type Stage int

// The stages.
const (
	StagePropose   Stage = iota // Propose, block time included
	StageRebuild                // a block put together from shards
	StagePrepare                // Prepare: a preview executed ahead of its proposal
	StageVerify                 // Verify and Recover: signatures, execution, root
	StageSync                   // journal and guard made durable
	StageQuorum                 // a certificate made of votes
	StageAdmit                  // certificates of peers verified
	StageFinalize               // Finalized, to durable
	StageNotarized              // from the sight of a proposal to its notarization
	StageFinal                  // from there to its finalization
	StageDurable                // from there to the end of Finalized
	NumStages
)

// String returns the stage as a word.
func (s Stage) String() string {
	return [...]string{
		"propose", "rebuild", "prepare", "verify", "sync", "quorum", "admit", "finalize",
		"proposal_to_notarization", "proposal_to_finalization", "proposal_to_durable",
	}[s]
}

// Durations counts durations in buckets that double. The zero value is empty;
// anyone may read it while one adds.
type Durations struct {
	counts [DurationBuckets]atomic.Uint64
	nanos  atomic.Uint64
}

const (
	// DurationBuckets is the number of buckets: up to 16 seconds, and above.
	DurationBuckets = 19
	// bucketBase is the bound of the first bucket: a hundred microseconds or so.
	bucketBase = 1 << 17 * time.Nanosecond
)

// BucketBound returns the largest duration that bucket i counts; the last one
// has no bound.
func BucketBound(i int) time.Duration { return bucketBase << i }

// add counts one duration.
func (d *Durations) add(took time.Duration) {
	took = max(0, took)
	i := bits.Len64(uint64(max(0, took-1)) / uint64(bucketBase))
	d.counts[min(i, DurationBuckets-1)].Add(1)
	d.nanos.Add(uint64(took))
}

// Counts returns how many durations each bucket counted.
func (d *Durations) Counts() (counts [DurationBuckets]uint64) {
	for i := range counts {
		counts[i] = d.counts[i].Load()
	}
	return counts
}

// Sum returns all durations together.
func (d *Durations) Sum() time.Duration { return time.Duration(d.nanos.Load()) }

// sightings remembers when the proposals of recent views were first seen.
type sightings [64]sighting

type sighting struct {
	view chain.View
	at   time.Time
}

func (s *sightings) see(v chain.View) {
	if e := &s[v%chain.View(len(s))]; e.view < v {
		*e = sighting{v, time.Now()}
	}
}

// since counts the time from the sight of the proposal of view v until now.
func (s *sightings) since(v chain.View, d *Durations) {
	if e := &s[v%chain.View(len(s))]; e.view == v {
		d.add(time.Since(e.at))
	}
}
