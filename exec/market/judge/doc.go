// Package judge is how results of runners become a verdict (CIP-2 §9; resolutions 12.34 to
// 12.46).
//
// In: what a job asks for, and the results that were revealed. Out: whether they agree, with
// whom, on what, and what it took. [Check] says at submission whether a job asks for
// something that can be judged; [Accepts] lets a runner hold its own result to the job before
// it commits; [Verdict] judges what was revealed, and [Late] what comes after a verdict.
//
// The modes none, economic_bond, majority_vote and structured_match are judged, the last one
// by fields that are equal, with the snapshots first_valid, median, majority and latest, and
// by an actor that the job names. Everything else is refused by name when it is submitted.
//
// # Invariants
//
// Functions of their arguments alone: neither the order in which results are given nor the
// clock changes a verdict. Each result is read on a budget of its own, JobTerms.judge_steps,
// so that none can use up another's; one that runs out of it does not count, and is no fault
// (resolution 12.42). No work is done that no step was taken for, but what a committee of 255
// seats bounds. A panic while a result is read is a result that does not count, and is
// counted.
package judge
