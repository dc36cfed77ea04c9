//spec:implements resolutions 1
//spec:implements whitepaper 6.1

// Package simplex is the consensus protocol of the chain as a pure state
// machine: Simplex (Chan and Pass, TCC 2023) with threshold certificates and a
// random seed for every view (resolution 1.2). Events go in, effects come out
// in the order in which they must be done; time, disk, network and the
// application are the driver's (package engine, or the simulator in simtest).
//
// The machine does not know how many validators there are. It sees
// certificates, the word of a quorum; [Tally] and a [Verifier] make them out
// of votes. (To tell who is silent it is told the numbers, see [Skip].) A chain of one validator runs the same code.
//
// # Protocol per view
//
// View 0 is genesis. In each view v >= 1:
//
//   - On entry the leader and certification timers start. The leader is drawn
//     by stake on the seed of v-1; if v-1 was nullified, past the validator
//     drawn on the seed of v-2 (resolution 11.16).
//   - The leader proposes a block on a parent p such that p is genesis, final,
//     or notarized and certified, and every view between p and v is nullified.
//     It votes notarize for its block, and the vote is the proposal.
//   - A validator that sees an admissible proposal asks the application to
//     verify it. Valid: it votes notarize, for one digest per view. Invalid:
//     it votes nullify.
//   - 2f+1 notarize votes are a notarization. Each validator then asks the
//     application to certify the block, that is to hold and execute it. Yes:
//     it votes finalize, unless it voted nullify, and enters v+1. No: it votes
//     nullify.
//   - When no proposal comes in time, the leader was silent for long, the view does not end in time, the
//     application has no block or rejects it, or the leader itself gives up,
//     a validator votes nullify, unless it voted finalize. 2f+1 of these are a
//     nullification: enter v+1.
//   - 2f+1 finalize votes are a finalization: the block and its ancestors are
//     final; enter v+1. This is the commit certificate of whitepaper §5.
//   - Each certificate is sent on once by everybody. In a view that does not
//     end, votes and the certificates that led into it are repeated at each
//     retry timer, and missing ones are asked for.
//
// A notarization and a nullification can both exist for one view, and
// validators may leave it by either.
//
// Every vote carries its signer's own signature over what the partial signs, so
// that contradictions convict ([Evidence], resolutions 11.2 and 11.3), and a
// second partial signature, over the round alone. A quorum of any kind recovers
// the same seed from those, so every view has exactly one seed, nullified views
// too (CIP-11 §9.2). The seed of a view can be known to f+1 validators and a
// liar before the view ends: nothing executed in a view may depend on its own
// seed (resolution 1.12).
//
// # Deviations from the paper
//
//   - Voting for the dummy block is a vote kind of its own, nullify.
//   - Two timers instead of one: without a proposal there is no need to wait
//     for the rest. A third one skips a leader of whom nothing was heard for a
//     number of views in which a quorum was heard: its views cost a message each
//     way. Each validator judges for itself, by what reached it; nobody is
//     excluded, for a vote ends the silence.
//   - A proposal names its parent's view and digest; missing certificates are
//     fetched instead of sent along.
//   - A notarized block must be certified before the view is left by it, so
//     that execution and fetching may take place after the vote.
//   - Views without a block are skipped: heights and views differ.
//   - The leader is random by a threshold seed instead of an oracle. Its rule
//     depends on how v-1 ended, which validators may see differently; the
//     parent named by a proposal tells which case it claims, and is checked.
//   - Terms have length 1. Longer ones would leave views without a seed.
//
// # Safety
//
//  1. n >= 3f+1 and a quorum is n-f, so two quorums share an honest validator.
//  2. An honest validator votes notarize for at most one digest per view.
//  3. So at most one digest is notarized per view.
//  4. An honest validator does not vote both finalize(v) and nullify(v).
//  5. So a finalization and a nullification of one view cannot both exist.
//  6. Let c be final at v. A block proposed at w > v names a parent at p < w
//     and needs nullifications of all views in (p, w).
//  7. p < v would need a nullification of v, which cannot exist: p >= v.
//  8. p = v: the parent is the one digest notarized at v, which is c.
//  9. p > v: the same holds for the block at p; views decrease, so the
//     ancestry reaches v, and contains c.
//  10. Two final blocks are thus on one chain. Nothing here uses time.
//
// Points 2 and 4 must survive a crash, so a vote is durable before it is sent
// ([Persist]) and a restart begins with the journal ([Replayed]); and the loss
// of the journal, so a [Watermark] kept apart from it must permit each vote. A machine
// that sees certificates that break 3 or 5 emits [Halt].
//
// # Driving the machine
//
// A driver has five duties; the example of this package is one on a page.
//
//  1. At the start, hand back every record of the journal as [Replayed], in its order,
//     then [Resumed], and only then anything else.
//
//  2. Turn what happens into events, after checking the signatures in it, and apply them
//     with [Machine.Step], one after the other, on one goroutine.
//
//  3. Gather the effects of as many steps as there are events at hand. Write the record
//     of each [Persist] to the journal. [Split] the effects; carry out at once those
//     that it calls free; sync the journal; then carry out the bound ones. The order
//     within each of the two is that of the machine. (Each Persist may also be synced
//     alone and every effect done in order: that is right and slow.)
//
//  4. Answer every request: [RequestProposal] by [ProposalReady] or [ProposalFailed],
//     [RequestVerify] by [Verified], [RequestCertify] by [Certified], [ArmTimer] by
//     [TimerFired], unless the view is left first. Answers may take as long as they
//     take. [Fetch] has no answer but the [CertificateReceived] of what comes.
//
//  5. Count votes, one's own from [Broadcast] too, in a [Tally], which says what is due to
//     be counted, and apply the certificates that it makes as CertificateReceived. After
//     [Halt], stop for good.
//
//     for {
//     e := next() // a message, an answer, a timer: whichever is first
//     gathered = append(gathered, machine.Step(e)...)
//     for more() {
//     gathered = append(gathered, machine.Step(next())...)
//     }
//     write(gathered)                    // records of Persist
//     free, bound := simplex.Split(gathered)
//     carryOut(free)                     // requests, timers, most certificates
//     journal.Sync()
//     carryOut(bound)                    // our votes, and what only the journal can prove
//     gathered = gathered[:0]
//     }
//
// # Diagram
//
//	enter v ─▶ propose, or wait for the proposal
//	               │                  │ timers, no block,
//	               ▼                  │ invalid, leader gave up
//	           notarize(v)            ▼
//	               │ 2f+1         nullify(v)
//	               ▼                  │ 2f+1
//	          notarization            ▼
//	               │             nullification ─▶ enter v+1
//	               ▼
//	            certify ── no ─▶ nullify(v)
//	               │ yes
//	               ▼
//	 enter v+1 ◀─ finalize(v), unless nullify(v) was said
//	               │ 2f+1
//	               ▼
//	          finalization ─▶ the block and its ancestors are final
package simplex
