package results

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
)

// Names of the events of [chain.AddrResultVerifier]. An outcome is its number.
const (
	EventVerdict = "job_verdict" // [job, outcome, canonical seat, hash of the output]
	EventSettled = "job_settled" // [job, outcome, what runners got, what burned]
	EventFailed  = "job_failed"  // [job, outcome]
)

// tell announces something about a job.
func (b *Book) tell(name string, id chain.Hash, rest ...uint64) {
	data := cbor.AppendBytes(cbor.AppendArray(nil, 1+len(rest)), id[:])
	// Bounded: by three numbers.
	for _, n := range rest {
		data = cbor.AppendUint(data, n)
	}
	b.Events = append(b.Events, chain.Event{Emitter: chain.AddrResultVerifier, Name: name, Data: data})
}

// tellVerdict announces an outcome: as failed what nobody is paid by agreement for.
func (b *Book) tellVerdict(d *docket) {
	if d.job.Outcome != jobs.OK {
		b.tell(EventFailed, d.id, uint64(d.job.Outcome))
		return
	}
	data := cbor.AppendBytes(cbor.AppendArray(nil, 4), d.id[:])
	data = cbor.AppendUint(cbor.AppendUint(data, uint64(d.job.Outcome)), uint64(d.job.CanonicalSeat))
	b.Events = append(b.Events, chain.Event{
		Emitter: chain.AddrResultVerifier, Name: EventVerdict, Data: cbor.AppendBytes(data, d.job.DataHash[:]),
	})
}

// tellSlashed announces what a runner has lost at once, as the dispatcher does.
func (b *Book) tellSlashed(runner chain.Address, burned chain.Wei) {
	data := cbor.AppendBytes(cbor.AppendArray(nil, 2), runner[:])
	b.Events = append(b.Events, chain.Event{
		Emitter: chain.AddrRunnerRegistry, Name: jobs.EventSlashed, Data: cbor.AppendUint(data, uint64(burned)),
	})
}
