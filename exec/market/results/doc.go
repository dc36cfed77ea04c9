// Package results is the Result Verifier at address 0x03: what becomes of the results of
// jobs, from a runner's commitment to the last unit of the escrow (CIP-2 §8, §9;
// resolutions 12.C-12.F).
//
// In: instructions of runners that were drawn for a job ([Instructions]); from the passes
// of a block the jobs with new results ([Book.JudgeTouched]), those whose attempt is over
// ([Book.AtDeadline]), and those whose window is over ([Book.Settle]). Out: writes on rows
// of packages jobs and runners, money moved by a [funds.Purse], answers to who asked
// ([Callback]), events of the protocol. Every error that is no verdict is a fault.
//
// # A result's way
//
//	result_commit   the commitment, in the runner's seat
//	result_reveal   the result under body/, what is known of it in the seat, the job under
//	result_submit   touched/: transactions write the rows of a seat, none of the job's
//	judge           behind all else of the block: marks of the seats, outcome of the job,
//	                its answer to the next block; the job closes
//	deadline        what was promised and not shown is slashed; without an outcome the
//	                attempt is over
//	window end      the escrow is divided, what was frozen burns; the job has ended
//
// # Invariants
//
//   - 0x02 holds what jobs that have not ended hold, to the base unit: an escrow leaves
//     once, whole, by [Escrow.Settle].
//   - What is slashed stays with the balance of 0x01, in its seat, until its job ends
//     (resolution 12.81; ADR 217).
//   - What a job came to is in its answer, or named there and under kept/ of 0x02 until the rows
//     of the job go, never longer than the job allows (ADR 236).
//   - A result is paid if it agrees with the outcome and came by the deadline, whoever
//     showed it and however late in the block order (resolution 11.28).
//   - Judging takes less than job.judge_steps_per_block in a block and the steps of one job,
//     and looks at [params.JudgedJobsMax] jobs. What counts is what was used, never what was
//     declared. What finds no room waits in order, heavy jobs under heavy/ and the others
//     under ready/, each of which have half of a block (ADR 221). A job is judged once in a
//     block. Rights are judged by the heights of transactions, never by when a pass finds time.
//
// The package is pure.
package results
