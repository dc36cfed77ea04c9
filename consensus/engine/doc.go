//spec:implements resolutions 1

// Package engine runs one validator's part in consensus: it drives a
// [simplex.Machine] with messages, timers and the answers of the application,
// and carries out what the machine decides.
//
// It is an owner: [Engine.Run] is one goroutine that alone touches the
// machine, the votes and the journal. Application calls run beside it, one
// goroutine each, and come back as replies; Run waits for all of them before
// it returns. It decides nothing that the protocol defines.
//
// # Loop and parts
//
// [Engine] is the loop. What it decides stands in parts: structs with a state of their own
// and methods that take an event, with the time where it matters, and return effects, in
// the order in which the loop is to carry them out before the next event (parts.go). A
// part starts no goroutine, sets no timer, sends nothing and does not know the engine
// (docs/adr/0174; TestPartsAreApart holds them to it).
//
//	part        files                              events in                           effects out
//	records     records                            the machine's records, end of turn  appends, syncs and prunings of the journal
//	fetches     fetch answers ahead rates          what is lacking, what came, time    requests, the alarm of the next look
//	serving     serve again strangers encodings    requests, answers that were read    messages, work in line
//	sharding    sharding relaycheck                shards, bodies put together         shards, bans, a block to judge
//	previewing  previews                           previews                            previews, work in line
//	judging     judging blocks                     wishes of the machine, bytes,       calls of the application, verdicts,
//	                                               verdicts of the application         bans, requests
//	deliveries  deliveries                         finality, what is durable           the next block for the application
//	watch       watch otherlife silence closed     answers, links, time                questions, votes held back, the end of Run
//	bans, patience, leads, refusals                small accounts of peers and views
//
// The loop's own files are engine (the turn), effects (of the machine), parts (effects of
// parts), peers (messages, votes, certificates), calls (of the application) and resume
// (start). What a part asks of another is in its fields: the blocks, the views of the
// machine, and the [stock] of what is here.
//
// # A turn
//
// Run takes what is there, steps the machine until it is quiet, appends the
// records the machine wants kept, passes certificates on and asks the
// application; then it syncs the journal once, and only then sends votes. So
// nothing that this validator said can be forgotten by a crash (whitepaper §5.1,
// resolution 11.2), while what needs no memory does not wait for the disk
// ([simplex.Binding]). With one validator a whole view, from block to finality,
// is one turn and one sync.
//
//	peers ──Deliver──▶ inbox ─┐                        ┌─▶ journal ─ sync
//	timers ───────────────────┼─▶ machine ─▶ effects ──┤        │ then
//	application ── replies ───┘      ▲                 ├─▶ network
//	                                 └─ certificates ◀─┤   application
//	                                    from the tally └─▶ timers
//
// # Votes
//
// Votes wait unverified until a quorum is possible and are then combined in the
// hope that all are good; only the certificate is verified, and the individual
// signatures beside it as one batch. When that fails, votes and seeds are
// searched for the culprits ([simplex.Assemble]). The seed of a view is recovered
// once, from the first quorum of any kind. Our own votes need no verification:
// with one validator they are the quorum. Certificates of peers are verified
// together, those of one turn. A peer that provably misbehaved is ignored for
// [Config.BlockPeerFor]; two contradicting votes with good individual
// signatures become [attest.Evidence] (resolutions 11.2, 11.3).
//
// # Overlap
//
// The next view begins with a notarization, while the block before is still
// being finalized, made durable and delivered. Where execution takes long, a
// leader hands out a preview before it executes its block, and all execute at the
// same time; blocks that travel as shards are executed after the vote.
//
// # Large blocks
//
// With [Config.Shards], a block whose body is long travels as shards (package
// shards). The leader offers each validator its own; that shard, with the block's
// head, is enough to vote, and is in the journal before the vote leaves. The vote
// takes the shard along to all others, once. What others relay is held against its
// root off the loop, in a line with a bound for each sender. When enough shards are here and the
// machine waits for the block, it is rebuilt off the loop and judged, so that an
// invalid one dies in certify, or earlier by a nullify vote. Shards that are no
// codeword are a verdict against the block. If shards do not suffice within a
// fetch timeout of the notarization, the block is fetched whole, as full nodes
// and late validators do, and the next ones at once, until one comes as shards.
//
// # Our own words
//
// Each vote needs leave of the [Guard], which is durable apart from the journal,
// after it and before the vote leaves. Every start asks the others what they heard
// from our key and does not vote before a quorum less one have answered
// ([Config.Watch]): what they heard from an earlier life closes its rounds, and a
// word of our key in a round that began after our start ends Run, for another
// process lives. The same question goes out as long as we run.
//
// # Catching up
//
// What the machine lacks is asked of the peer that answered fastest lately, in bytes a
// second, and of two side by side while too few are known for one of them to be honest.
// Who takes twice as long as the best would is late: another is asked beside it for what
// is still missing, and an answer that brings nothing new sends us on at once. A
// validator that was away asks for the oldest blocks it lacks, and peers answer from
// their [Archive], in bounded pieces: two of them side by side, of two peers, each asked
// for when the one before it has come. Blocks that an answer left out are asked for when
// it ends, before anything else.
//
// Blocks that came and were not executed, in number and in bytes, bound what is asked
// for: a range then waits until half of them are done. A block whose parent is executed
// does not, for the others may be waiting for it. Nothing the machine asked for is
// forgotten meanwhile, since it asks for each once a view.
//
// Full nodes are answered at the same rate and otherwise not listened to.
//
// # Crash and restart
//
// The journal holds our votes, accepted certificates, the application's
// verdicts, and the bytes of every block we voted for or took in. At start the
// application names the last block that it has durably; older records are
// ignored and, from time to time, pruned. Blocks above it are handed to
// [Application.Recover], parents first, and reported final again. A journal
// that lost its unsynced end is a journal from a moment ago. From one that lost
// synced records we still do not vote twice, for the guard refuses; package
// guard has the file.
//
// # Questions
//
// Who owns the state? The goroutine of [Engine.Run], all of it, but for the inbox, the
// marks of links that are away ([Engine.Linked], [Engine.Unlinked]) and [Stats], which any
// goroutine may touch. There is no lock on the loop's way; encodings, which calls beside
// it share, have one.
//
// What runs beside it? One goroutine for each call of the application, hash over a block,
// batch of relayed shards, block put together from shards and answer out of the archive.
// Each gets values, touches nothing of the loop's, and sends one reply. Run waits for all
// of them.
//
// What is durable when? A vote of ours, with its block or our shard of it, in the journal,
// and after that in the guard, before the vote leaves; a verdict, before the vote to
// finalize that follows from it leaves; a final block, when [Application.Finalized]
// returns, before the next one is handed over and before the journal may forget it.
// Certificates, requests, questions and previews leave without waiting for the disk.
//
// In which order do things leave? As the machine decided them, but that what binds us
// waits for the sync and what does not goes first ([simplex.Split]).
//
// What happens on a conflict? Two votes or proposals of one validator that contradict each
// other: both are kept as evidence if their individual signatures hold, and the validator
// is ignored for [Config.BlockPeerFor]; neither counts twice. Different bytes for one
// block: each sender's are kept within its share and judged in turn, the leader's first;
// who sent wrong ones is ignored. Two certificates that contradict each other: more than a
// third of the validators lied, and Run ends. A vote of our own key that we did not make: see
// [Watch]; it closes its round, or ends Run.
//
// What ends Run? Its context; an error of journal, guard or application that is none of
// the answers they are allowed; contradicting certificates; [ErrDoppelganger]. Nothing
// leaves after it. No message of a peer can end it otherwise.
//
// What does a crash lose? What was not synced, and so never left. Bytes of blocks that we
// neither voted for nor took in are fetched again.
//
// What bounds the memory? The inbox has a bound in messages and in bytes, and each
// validator a share; blocks have [Config.PendingBytesMax] and each sender a share; votes
// [Config.TallyBytes]; requests, answers in the making, parked ranges and votes that are
// held back have a number each, in the constants of their files.
//
// What happens to a message when it is too much? [ErrBusy], counted by its sender and in
// the log once a minute; the sender repeats what matters.
//
// Whom does a slow peer hold up? Nobody: [Network] does not block, requests go round by
// how fast peers were, and an answer that takes twice as long as a good one has another
// asked beside it.
//
// Where does a new message go? A row in package wire, a case in receive, a method of the
// part whose matter it is. A part that needs something done that is not its own returns an
// effect; a new kind of effect is a type and a case in parts.go.
//
// How is it tested? A part alone, by events and effects (parts_test.go and those beside
// it); one engine among three voices, in virtual time (play); four engines by seed, to the
// byte (TestTraceIsTheSame, whose traces show that a change alters nothing); whole nodes
// in node/simnode.
package engine
