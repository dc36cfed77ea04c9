package host

import "github.com/cowboy-foundation/cowboy/chain"

// Job is work for runners. The answer goes to Handler of the actor.
type Job struct {
	Spec        []byte // canonical, finite floats only (resolution 11.45), at most 64 KiB
	Handler     string // empty: what the specification says
	Correlation ID     // given back with the answer; zero: the job's own id
}

// JobState is where a job is.
type JobState uint8

// The states of a job.
const (
	JobUnknown JobState = iota
	JobPending
	JobAssigned
	JobDone
	JobFailed
	JobCancelled
)

// String returns the state as programs see it.
func (s JobState) String() string {
	return [...]string{"unknown", "pending", "assigned", "done", "failed", "cancelled"}[min(s, JobCancelled)]
}

// JobOutput is what a job came to, as the runners found it.
type JobOutput struct {
	Format chain.DataFormat // how the data are read
	Data   []byte           // at most 64 KiB
}

// Secret is a secret for runners in enclaves. The value is sealed by whoever
// stores it: the chain never sees it in plain text (resolution 11.10).
type Secret struct {
	Name   string // 1 to 256 bytes
	Sealed []byte // at most 64 KiB
	Policy []byte // canonical map: runners, entitlements, job_types; nil: the actor's own jobs
}

// Runners is the market of off-chain work (CIP-2, CIP-11).
type Runners interface {
	// SubmitJob escrows the price and the tip of the specification out of the
	// actor's balance and returns the job's id (resolution 11.36). Refuses with
	// RefusedFunds, RefusedArgument for a specification that the dispatcher does
	// not take, RefusedEntitlement, RefusedQuota. Charge: submit_job, and the host
	// charges what the job costs a transaction.
	SubmitJob(j Job) (ID, error)
	// CancelJob tells whether a job of the actor was pending and unassigned; the
	// escrow comes back. Charge: submit_job, and the host for the rows of the job.
	CancelJob(id ID) (bool, error)
	// JobStatus of any job. Charge: get_block_info, and the host for the row.
	JobStatus(id ID) (JobState, error)
	// JobResult of a job whose answer went to the actor and names its output by hash and
	// length. It is there from the verdict on, as long as the job is. Refuses with
	// RefusedTarget where nothing is kept, or for another. Charge: storage_read, and
	// storage_read_byte of the data by pay, before they are looked at.
	JobResult(id ID, pay func(bytes int)) (JobOutput, error)
	// StoreSecret replaces a secret of that name. Charge: system,
	// storage_write_byte per byte.
	StoreSecret(s Secret) error
	// DeleteSecret tells whether there was one. Charge: system.
	DeleteSecret(name string) (bool, error)
}
