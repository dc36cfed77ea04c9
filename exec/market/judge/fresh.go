package judge

import (
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
)

// time returns when a result's data is of, in milliseconds, and whether that is when the job
// wants it to be (whitepaper, "Freshness Requirements"; resolution 12.46). A result of an HTTP
// job says where it comes from, where anything is judged at all.
func (r *rules) time(q *Question, o *Output) (uint64, error) {
	if r.spec.Verification.Mode == chain.VerifyNone {
		return o.Result.TimestampMillis, nil
	}
	fetch, isHTTP := r.spec.JobType.(*chain.HTTPJob)
	source := o.Result.Source
	if isHTTP && (source == nil || source.URL == "" || source.Status == 0) {
		return 0, ErrSource
	}
	var wants *chain.Freshness
	if isHTTP {
		wants = fetch.Freshness
	}
	millis := o.Result.TimestampMillis
	switch {
	case source != nil && source.DataTimestampMillis != 0:
		millis = source.DataTimestampMillis
	case wants != nil && wants.TimestampField != nil:
		return 0, ErrStale // the job says where the time stands
	}
	if at, within, asked := r.window(q, o, wants); asked && max(at, millis)-min(at, millis) > within {
		return 0, ErrStale
	}
	return millis, nil
}

// window returns the moment that data must be of and how far from it, both in milliseconds.
func (r *rules) window(q *Question, o *Output, wants *chain.Freshness) (at, within uint64, asked bool) {
	ref := r.terms.FreshnessReference
	if ref == nil && wants == nil {
		return 0, 0, false
	}
	at = o.BlockMillis
	if ref != nil {
		within = ref.ToleranceMillis
		switch ref.Reference {
		case chain.FreshAtTime:
			return ref.TimestampMillis, within, true
		case chain.FreshAtSubmission:
			at = q.SubmittedMillis
		}
	}
	if wants != nil {
		within = millisOf(wants.MaxAgeSeconds)
	}
	return at, within, true
}

// millisOf saturates.
func millisOf(seconds uint64) uint64 {
	high, low := bits.Mul64(seconds, 1_000)
	if high > 0 {
		return ^uint64(0)
	}
	return low
}
