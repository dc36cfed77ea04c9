package simtest

import (
	"flag"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// The scenarios carry the numbers of the acceptance list (consensus.md §6).

// 1: without faults every view has its one block and nobody gives up.
func TestScenario01AllOnline(t *testing.T) {
	w := enact(t, Config{Validators: 5, Latency: 200 * time.Millisecond})
	w.until("100 views", 5*time.Minute, func() bool { return w.viewsNow()[0] > 100 })
	for v := chain.View(1); v <= 100; v++ {
		if !w.certified(v, simplex.Notarize) || w.certified(v, simplex.Nullify) {
			t.Errorf("view %d: notarized %v, nullified %v", v, w.certified(v, simplex.Notarize), w.certified(v, simplex.Nullify))
		}
	}
	for p := range beacon.Participant(5) {
		if n, f, null := w.votes(p, simplex.Notarize), w.votes(p, simplex.Finalize), w.votes(p, simplex.Nullify); n < 95 || f < 95 || null != 0 {
			t.Errorf("validator %d: %d notarizes, %d finalizes, %d nullifies", p, n, f, null)
		}
	}
	w.clean()
}

// 2: a node outside the set follows every certificate and says nothing.
func TestScenario02Observer(t *testing.T) {
	w := enact(t, Config{Validators: 4, Observers: 1, Latency: 20 * time.Millisecond})
	w.all(50, 2*time.Minute)
	if n := len(w.validators[4].app.chain); n < 50 {
		t.Errorf("the observer has %d blocks", n)
	}
	for k := simplex.Notarize; k <= simplex.Finalize; k++ {
		if n := w.votes(4, k); n != 0 {
			t.Errorf("the observer gave %d %s votes", n, k)
		}
	}
	w.clean()
}

// 3: the whole cluster dies again and again; only the journals are left.
func TestScenario03UncleanShutdown(t *testing.T) {
	w := enact(t, Config{Validators: 5, Latency: 20 * time.Millisecond, Jitter: 30 * time.Millisecond})
	for range 20 {
		w.pass(w.between(100*time.Millisecond, 6*time.Second))
		for _, v := range w.validators {
			if v.up {
				v.crash(time.Second)
			}
		}
	}
	w.all(100, 5*time.Minute)
	w.clean()
}

// 4: one was never there; nullifications pile up; another is cut off; the first
// joins and finds its way.
func TestScenario04Backfill(t *testing.T) {
	w := enact(t, Config{Validators: 4, Latency: 10 * time.Millisecond, Stopped: []beacon.Participant{3}})
	w.all(20, 2*time.Minute)
	w.eachPair(func(a, b int) {
		w.link(a, b).Latency, w.link(b, a).Latency = 4*time.Second, 4*time.Second
	})
	w.pass(time.Minute)
	for i := range 3 {
		w.cut(0, i)
		w.cut(0, 3)
	}
	w.validators[3].start()
	w.pass(10 * time.Second)
	w.eachPair(func(a, b int) {
		*w.link(a, b), *w.link(b, a) = Link{Latency: 10 * time.Millisecond}, Link{Latency: 10 * time.Millisecond}
	})
	w.cut(0, 1)
	w.cut(0, 2)
	w.cut(0, 3)
	w.until("chain of the late one", 5*time.Minute, func() bool { return len(w.validators[3].app.chain) >= 60 })
	w.clean()
}

// 5: a dead validator costs its views and nothing else.
func TestScenario05OneOffline(t *testing.T) {
	w := enact(t, Config{Validators: 5, Latency: 20 * time.Millisecond, Stopped: []beacon.Participant{2}})
	w.all(100, 5*time.Minute)
	nullified := 0
	for v := range w.validators[0].machine.View() {
		if w.certified(v, simplex.Nullify) {
			nullified++
		}
	}
	if nullified == 0 || w.report.Timeouts == 0 {
		t.Errorf("%d nullified views, %d timeouts, though a leader is dead", nullified, w.report.Timeouts)
	}
	w.clean()
}

// 6: a validator that takes 10 s to look at a block has no part, and stops
// nobody.
func TestScenario06SlowValidator(t *testing.T) {
	w := enact(t, Config{Validators: 5, Latency: 20 * time.Millisecond})
	w.validators[1].slowness = 10 * time.Second
	w.until("100 blocks of the others", 10*time.Minute, func() bool { return len(w.validators[0].app.chain) >= 100 })
	if n, f := w.votes(1, simplex.Notarize), w.votes(1, simplex.Finalize); n != 0 || f > 2 {
		t.Errorf("the slow one gave %d notarizes and %d finalizes", n, f)
	}
	w.clean()
}

// 7: while messages take longer than the timers nothing is final; after that
// all is well at once.
func TestScenario07AllRecovery(t *testing.T) {
	w := enact(t, Config{Validators: 5, Latency: 3 * time.Second})
	w.pass(time.Minute)
	if n := len(w.ledger.chain); n != 0 {
		t.Errorf("%d blocks became final over links slower than every timer", n)
	}
	w.eachPair(func(a, b int) { w.link(a, b).Latency, w.link(b, a).Latency = 10*time.Millisecond, 10*time.Millisecond })
	w.all(10, 30*time.Second)
	start := w.validators[0].machine.View()
	w.all(50, time.Minute)
	notarized := 0
	for v := start; v < start+50; v++ {
		if w.certified(v, simplex.Notarize) {
			notarized++
		}
	}
	if notarized < 48 {
		t.Errorf("%d of 50 views after the recovery are notarized", notarized)
	}
	w.clean()
}

// 8: everybody dies between "my nullify is durable" and its sending.
func TestScenario08AllCrashAfterNullify(t *testing.T) {
	w := enact(t, Config{Validators: 4, Latency: 20 * time.Millisecond, Stopped: []beacon.Participant{3}})
	died := map[beacon.Participant]bool{}
	for _, v := range w.validators[:3] {
		v.dies = func(out []simplex.Effect) bool {
			for _, e := range out {
				if b, ok := e.(simplex.Broadcast); ok && b.Vote.Kind == simplex.Nullify && !died[v.id] {
					died[v.id] = true
					return true
				}
			}
			return false
		}
	}
	w.until("three deaths", time.Minute, func() bool { return len(died) == 3 })
	w.all(10, time.Minute)
	w.clean()
}

// 9: two halves decide nothing, together they go on.
func TestScenario09Partition(t *testing.T) {
	w := enact(t, Config{Validators: 10, Latency: 10 * time.Millisecond})
	w.all(10, time.Minute)
	for i := range w.side {
		w.side[i] = i % 2
	}
	w.pass(time.Second)
	before := len(w.ledger.chain)
	w.pass(5 * time.Minute)
	if n := len(w.ledger.chain); n != before {
		t.Errorf("%d blocks became final in halves", n-before)
	}
	clear(w.side)
	w.all(20, time.Minute)
	w.clean()
}

// 10: half of all messages are lost, the rest is slow.
func TestScenario10SlowAndLossyLinks(t *testing.T) {
	w := enact(t, Config{Validators: 5, Latency: 50 * time.Millisecond, Jitter: 300 * time.Millisecond, Loss: 0.5})
	w.all(50, time.Hour)
	w.clean()
}

// 11: one seed is one run; another seed, or another scheme, is another.
func TestScenario11Determinism(t *testing.T) {
	seen := map[[32]byte]string{}
	for seed := uint64(1); seed <= 5; seed++ {
		for _, real := range []bool{false, true} {
			cfg := Config{
				Seed: seed, Validators: 4, RealKeys: real, Latency: 30 * time.Millisecond, Jitter: 200 * time.Millisecond,
				Loss: 0.1, Crash: 0.01, Faults: 3 * time.Second, Quiet: 14 * time.Second,
			}
			if real && seed > 1 {
				continue
			}
			first, err1 := Run(cfg)
			second, err2 := Run(cfg)
			if first != second || err1 != nil || err2 != nil {
				t.Errorf("seed %d real %v: %x, then %x (%v, %v)", seed, real, first.Audit, second.Audit, err1, err2)
			}
			name := fmt.Sprint(seed, real)
			if other, twice := seen[first.Audit]; twice {
				t.Errorf("%s and %s are one run", name, other)
			}
			seen[first.Audit] = name
		}
	}
}

// withLiar plays four validators of which the first is the named player, and
// returns when the honest ones have 30 blocks.
func withLiar(t *testing.T, name string, n int) *world {
	t.Helper()
	w := enact(t, Config{Validators: n, Player: playerNamed(t, name), Latency: 10 * time.Millisecond, Jitter: 20 * time.Millisecond})
	w.all(30, 5*time.Minute)
	for p := 1; p < n; p++ {
		if w.bannedBy(beacon.Participant(p)) > 0 {
			t.Errorf("honest validator %d is banned", p)
		}
	}
	return w
}

func (w *world) wantBanned(faults bool) {
	w.t.Helper()
	if w.bannedBy(0) == 0 {
		w.t.Error("nobody banned the liar")
	}
	if faults != (w.report.Equivocations > 0) {
		w.t.Errorf("%d faults recorded, want some: %v", w.report.Equivocations, faults)
	}
}

// 12: conflicting votes are the fault of their signer alone.
func TestScenario12Conflicter(t *testing.T) { withLiar(t, "conflicter", 4).wantBanned(true) }

// 13: wrong signatures are found in the batch; no fault is recorded, for they
// prove nothing.
func TestScenario13Invalid(t *testing.T) {
	for _, name := range []string{"invalid signer", "spoiler of seeds", "unsigned voter"} {
		t.Run(name, func(t *testing.T) { withLiar(t, name, 4).wantBanned(false) })
	}
}

// 14: who signs for others is banned, not they.
func TestScenario14Impersonator(t *testing.T) { withLiar(t, "impersonator", 4).wantBanned(false) }

// 15: different proposals to different peers, and one honest validator down
// and up again meanwhile.
func TestScenario15Equivocator(t *testing.T) {
	w := enact(t, Config{Validators: 7, Player: playerNamed(t, "equivocator"), Latency: 10 * time.Millisecond})
	w.all(10, 2*time.Minute)
	w.validators[3].crash(20 * time.Second)
	w.pass(30 * time.Second)
	w.all(20, 2*time.Minute)
	for p := beacon.Participant(1); p < 7; p++ {
		if w.bannedBy(p) > 0 {
			t.Errorf("honest validator %d is banned", p)
		}
	}
}

// 16: votes of another epoch get their sender banned.
func TestScenario16Reconfigurer(t *testing.T) { withLiar(t, "reconfigurer", 4).wantBanned(false) }

// 17: nullify and finalize in one view are a fault.
func TestScenario17Nuller(t *testing.T) { withLiar(t, "nuller", 4).wantBanned(true) }

// 18: old votes are useless, and no fault.
func TestScenario18Outdated(t *testing.T) {
	if w := withLiar(t, "outdated", 4); w.report.Bans != 0 || w.report.Equivocations != 0 {
		t.Errorf("%d bans, %d faults for old votes", w.report.Bans, w.report.Equivocations)
	}
}

// split keeps view v apart: holders alone get its notarize votes, the others
// alone its nullify votes, and no certificate of it goes from one group to the
// other.
func (w *world) split(groups map[chain.View]map[int]bool) {
	w.passes = func(from, to *validator, m message) bool {
		holders, here := groups[m.viewOf()]
		if !here {
			return m.vote != nil || m.certificate != nil // nobody can ask
		}
		switch {
		case m.vote == nil:
			return m.certificate != nil && holders[from.node] == holders[to.node]
		case m.vote.Kind == simplex.Notarize:
			return m.block != nil || holders[to.node]
		case m.vote.Kind == simplex.Nullify:
			return !holders[to.node]
		}
		return false
	}
}

// 19: groups that left views F+1 and F+2 by different certificates find
// together again.
func TestScenario19SplitViewsNoLockup(t *testing.T) {
	w := enact(t, Config{Validators: 10, Latency: 10 * time.Millisecond})
	few := func(nodes ...int) map[int]bool {
		out := map[int]bool{}
		for _, n := range nodes {
			out[n] = true
		}
		return out
	}
	w.split(map[chain.View]map[int]bool{3: few(0, 1, 2), 4: few(3, 4, 5)})
	w.until("a view both notarized and nullified", 2*time.Minute, func() bool { return w.report.BothEnds > 0 })
	w.pass(20 * time.Second)
	w.passes = nil
	w.all(20, time.Minute)
	w.clean()
}

// 20: one holds the notarization of view 3, others its nullification, perhaps
// one neither.
func TestScenario20CertifiedSplitHeals(t *testing.T) {
	for holder := range 3 {
		t.Run(fmt.Sprint("holder=", holder), func(t *testing.T) {
			w := enact(t, Config{Validators: 4, Latency: 10 * time.Millisecond, Seed: uint64(holder + 1)})
			w.split(map[chain.View]map[int]bool{3: {holder: true}})
			w.until("a view both notarized and nullified", time.Minute, func() bool { return w.report.BothEnds > 0 })
			w.pass(5 * time.Second)
			w.passes = nil
			w.all(10, time.Minute)
			w.clean()
		})
	}
}

// 21: blocks that certify rejects are never final; the chain goes on without
// their leader.
func TestScenario21DishonestLeaderCertificationRejected(t *testing.T) {
	w := enact(t, Config{Validators: 4, Latency: 10 * time.Millisecond})
	proposer := map[chain.Hash]bool{}
	w.passes = func(from, _ *validator, m message) bool {
		if m.vote != nil && m.block != nil && from.id == 1 {
			proposer[m.vote.Proposal.Payload] = true
		}
		return true
	}
	w.rejects = func(p simplex.Proposal) bool { return proposer[p.Payload] }
	w.all(50, 5*time.Minute)
	if len(proposer) == 0 {
		t.Fatal("validator 1 never proposed")
	}
	for _, p := range w.ledger.chain {
		if proposer[p.Payload] {
			t.Errorf("the rejected block of view %d is final", p.Round.View)
		}
	}
	w.clean()
}

// 22: a validator with one link cannot make certificates, and follows those
// that its peer passes on.
func TestScenario22ReceivedCertificatesAreReported(t *testing.T) {
	w := enact(t, Config{Validators: 4, Latency: 10 * time.Millisecond})
	w.cut(0, 2)
	w.cut(0, 3)
	w.all(50, 5*time.Minute)
	if n := len(w.validators[0].app.chain); n < 50 {
		t.Errorf("validator 0 has %d blocks", n)
	}
	w.clean()
}

// 23: a minute of messages at once.
func TestScenario23SurvivesBurst(t *testing.T) {
	w := enact(t, Config{Validators: 4, Latency: 10 * time.Millisecond})
	w.passes = func(_, to *validator, _ message) bool {
		if to.node == 3 {
			w.link(0, 3).Latency = max(10*time.Millisecond, time.Minute-w.now)
			*w.link(1, 3), *w.link(2, 3) = *w.link(0, 3), *w.link(0, 3)
		}
		return true
	}
	w.pass(time.Minute)
	w.all(20, time.Minute)
	w.clean()
}

// 24: a thousand views of ten over ordinary bad links.
func TestScenario24Run1k(t *testing.T) {
	views := chain.View(1000)
	if testing.Short() {
		views = 100
	}
	w := enact(t, Config{Validators: 10, Latency: 70 * time.Millisecond, Jitter: 20 * time.Millisecond, Loss: 0.02})
	w.until("all views", time.Hour, func() bool { return w.viewsNow()[0] > views })
	w.clean()
}

// 25: random kills and restarts every 15 views; the same again is the same.
func TestScenario25Hailstorm(t *testing.T) {
	play := func() [32]byte {
		w := enact(t, Config{Validators: 5, Latency: 10 * time.Millisecond, Jitter: 30 * time.Millisecond, Seed: 25})
		for range 10 {
			goal := w.viewsNow()[w.rng.IntN(5)] + 15
			w.until("15 views", 5*time.Minute, func() bool {
				for _, v := range w.viewsNow() {
					if v >= goal {
						return true
					}
				}
				return false
			})
			victim := w.validators[w.rng.IntN(5)]
			if victim.up {
				victim.crash(w.between(time.Second, 10*time.Second))
			}
		}
		w.all(10, time.Minute)
		w.clean()
		w.closeReport()
		return w.report.Audit
	}
	if first, second := play(), play(); first != second {
		t.Errorf("audit %x, then %x", first, second)
	}
}

var missedBlocks = flag.Int("missed", 1500, "blocks that the late one of scenario 29 misses")

// 29: one joins from an old finalization, thousands of blocks behind, and
// catches up while the others go on. -missed=10000 takes half a minute.
func TestScenario29NonGenesisFloorJoiner(t *testing.T) {
	missed := *missedBlocks
	if testing.Short() {
		missed = 300
	}
	w := enact(t, Config{Validators: 4, Latency: 5 * time.Millisecond})
	w.all(20, time.Minute)
	late := w.validators[3]
	late.up = false
	w.until("blocks to miss", 10*time.Hour, func() bool { return len(w.ledger.chain) > missed })
	if n := len(late.app.chain); n > 30 {
		t.Fatalf("the one that was away has %d blocks", n)
	}
	late.start()
	w.all(50, 30*time.Minute)
	w.clean()
}

// invalid_certificate_blocks_sender, of the row "batcher": who passes on a
// certificate that does not verify is banned; whoever it is about is not.
func TestBatcherInvalidCertificateBlocksSender(t *testing.T) {
	for _, sharded := range []bool{false, true} {
		w := enact(t, Config{Validators: 4, Sharded: sharded, Player: playerNamed(t, "certificate forger"), Latency: 10 * time.Millisecond})
		w.all(30, 5*time.Minute)
		if w.bannedBy(0) != 3 {
			t.Errorf("%d of 3 ban the forger", w.bannedBy(0))
		}
	}
}

// A validator that fell behind asks a liar about blocks like anybody else. It
// bans the liar for the first wrong one, asks the others, and catches up.
func TestLiarAboutBlocksIsPassedOver(t *testing.T) {
	for _, sharded := range []bool{false, true} {
		cfg := Config{Validators: 4, Latency: 20 * time.Millisecond, Sharded: sharded, Player: playerNamed(t, "liar about blocks"), Stopped: []beacon.Participant{3}}
		w := enact(t, cfg)
		w.all(60, 5*time.Minute)
		w.validators[3].start()
		w.all(10, time.Minute)
		if !w.validators[3].banned[0] {
			t.Errorf("shards %v: the late validator listens to the liar still", sharded)
		}
	}
	cfg := Draw(2244) // partitions, crashes, and a liar that a validator kept asking
	cfg.Player = playerNamed(t, "liar about blocks")
	if r, err := Run(cfg); err != nil {
		t.Errorf("%v\n%+v", err, r)
	}
}

// More views in a row are nullified than an answer holds; then comes a block that
// one validator misses, and no finality that would have peers look into their
// stores. It asks for what it lacks, not for the nullifications that it has.
func TestBlockAfterManyNullifications(t *testing.T) {
	w := enact(t, Config{Validators: 4, Latency: 20 * time.Millisecond})
	w.all(5, time.Minute)
	w.passes = func(_, _ *validator, m message) bool { return m.block == nil }
	from := w.viewsNow()[0]
	w.until("views without a block", 5*time.Minute, func() bool { return slices.Min(w.viewsNow()) > from+2*answersMax })
	final := func(m message) bool {
		return m.vote != nil && m.vote.Kind == simplex.Finalize || m.certificate != nil && m.certificate.Kind == simplex.Finalize
	}
	start, missed := w.viewsNow()[0]+1, chain.View(0)
	w.passes = func(from, to *validator, m message) bool {
		about := m.viewOf()
		if missed == 0 && m.vote != nil && m.block != nil && from.id != 2 && about > start {
			missed = about
		}
		return !final(m) && (missed == 0 && m.block == nil || missed != 0 && (about < missed || to.id != 2))
	}
	w.until("a block", 5*time.Minute, func() bool { return missed != 0 && w.certified(missed, simplex.Notarize) })
	w.until("a child of it", 5*time.Minute, func() bool { return w.validators[0].machine.View() > missed+3 })
	w.passes = func(_, to *validator, m message) bool {
		return !final(m) && m.block == nil && (to.id != 2 || m.certificate != nil && m.certificate.Kind == simplex.Nullify)
	}
	w.until("a jump over it", 5*time.Minute, func() bool { return w.validators[2].machine.View() > missed+3 })
	w.pass(10 * time.Second) // what it asked before is forgotten
	w.passes = func(_, _ *validator, m message) bool { return !final(m) }
	w.until("the block where it was missed", time.Minute, func() bool {
		b := w.validators[2].blocks[blockKey{missed, w.ledger.certs[certKey{missed, simplex.Notarize}].Payload}]
		return b != nil && b.judged
	})
	w.passes = nil
	w.all(5, time.Minute)
	w.clean()
}

// A dead leader costs the timers of its views as long as it is waited for, and
// next to nothing once it is known to be silent. When it is back it leads again.
func TestSilentLeaderIsSkipped(t *testing.T) {
	pace := func(skipAfter int) (time.Duration, *world) {
		w := enact(t, Config{Validators: 4, Latency: 20 * time.Millisecond, Stopped: []beacon.Participant{3}, SkipAfter: skipAfter})
		w.all(20, 2*time.Minute) // and by then it has been silent for long
		before := w.now
		w.all(50, 10*time.Minute)
		return w.now - before, w
	}
	waited, w := pace(0)
	if w.report.Skips != 0 {
		t.Errorf("%d views skipped without the parameter", w.report.Skips)
	}
	skipped, w := pace(10)
	if skipped > waited/2 || w.report.Skips < 30 {
		t.Errorf("50 blocks in %v with %d skips, %v without", skipped, w.report.Skips, waited)
	}
	t.Logf("50 blocks beside a dead validator of four: %v, and %v when it is skipped", waited, skipped)
	w.validators[3].start()
	w.all(20, time.Minute)
	skips, made := w.report.Skips, 0
	w.all(40, time.Minute)
	for _, p := range w.ledger.chain[len(w.ledger.chain)-40:] {
		if who, known := w.validators[0].machine.LeaderOf(p.Round.View, p.Parent); known && who == 3 {
			made++
		}
	}
	if w.report.Skips != skips || made == 0 {
		t.Errorf("back again it leads %d of 40 blocks, and is skipped %d times", made, w.report.Skips-skips)
	}
	w.clean()
}

// Who hears nobody skips nobody, and when the halves meet again nobody is taken
// for silent who speaks.
func TestNobodyIsSkippedInAPartition(t *testing.T) {
	w := enact(t, Config{Validators: 6, Latency: 20 * time.Millisecond, SkipAfter: 2})
	w.all(20, time.Minute)
	for a := range 3 {
		for b := 3; b < 6; b++ {
			w.cut(a, b)
		}
	}
	w.pass(5 * time.Minute)
	if w.report.Skips != 0 {
		t.Errorf("%d views skipped in halves without a quorum", w.report.Skips)
	}
	clear(w.links)
	w.all(50, time.Minute)
	if w.report.Skips != 0 {
		t.Errorf("%d views skipped after that", w.report.Skips)
	}
	w.clean()
}
