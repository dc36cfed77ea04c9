//spec:implements CIP-2 3-6
//spec:implements resolutions 12.B, 12.C

// Package jobs is the Job Dispatcher at address 0x02: what is asked for, who may do it, who
// was drawn, and until when (CIP-2 §3-§6; resolutions 12.B, 12.C). Jobs come in with their
// escrow from transactions ([Instructions]) and from actors ([Call]), whose dictionaries
// become jobs in package ask. Whoever submits has paid for all that the chain will do for the
// job by itself.
//
// # Flow
//
//	submission           job/, spec/, terms/, fresh/, live/   by an instruction, in block S
//	Dispatch.Snapshot    elig/, root and configuration         at the end of S
//	Dispatch.Assign      seat/, who/, of/, due/                at the beginning of S+1
//	commitments, results                                       by instructions
//	Dispatch.Due         silence, retry/, settlement, pruning  as it falls due
//	Dispatch.Retry       seats of the next attempt             after Due
//	verdict              kept/                                 what the answer has no room for (ADR 236)
//	Dispatch.Promises    lane, lane/                           before Due: what results take of the lane
//
// In: an overlay of the state, parameters, the height, the seed of the block, and by
// interfaces what other services know. Out: writes under [chain.AddrJobDispatcher] and to
// the runners' records, events, or a fault: only the protocol writes there, so a row that
// is malformed, or missing, is one.
//
// # Invariants
//
//   - The balance of the dispatcher is what is held for all jobs; a job that has ended holds
//     nothing.
//   - A job has at most one row under due/, at the height DueAt of its own row, and one under
//     fresh/ or retry/ only while it waits for a draw. Those under due/ and retry/ name the
//     attempt that they are for; a pass drops a row of another attempt or of no job.
//   - A runner's row under of/ stands exactly while it has something to do for a seat, and
//     its record counts them.
//   - Every pass is bounded in a block and in the order of heights and ids; what it leaves is
//     first in the next. No right depends on when it comes.
//   - Keys whose rows are scanned begin with a height or an address, big-endian.
//
// The package is pure.
package jobs
