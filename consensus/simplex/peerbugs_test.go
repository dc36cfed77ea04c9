package simplex

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
)

// Faults that were found in ava-labs/simplex, a Go implementation of the same
// protocol, by the numbers of its issues (consensus.md §2). Each test asks
// whether we have the like.

// 546: a second vote of a signer replaced its verified one, unverified.
func TestPeerBug546SecondVoteDoesNotReplaceTheFirst(t *testing.T) {
	schemes, _, _ := committee(t, 4)
	tally := NewTally(3, allViews)
	judge := func(q Quorum) (Certificate, []int, error) {
		return Assemble(schemes[0], q, InTurn)
	}
	tally.AddOwn(schemes[0].Sign(Notarize, p1))
	tally.Add(schemes[1].Sign(Notarize, p1))
	poison := schemes[1].Sign(Notarize, p1)
	poison.Signature = schemes[1].Sign(Notarize, p2).Signature
	if _, added := tally.Add(poison); added != Contradicted {
		t.Error("a second vote of one signer is no conflict")
	}
	again := schemes[0].Sign(Notarize, p1)
	again.Signature = poison.Signature
	tally.Add(again) // in our own name
	tally.Add(schemes[2].Sign(Notarize, p1))
	c, ok, bad, err := counted(tally, 1, Notarize, judge)
	if !ok || err != nil || len(bad) > 0 || !schemes[3].VerifyCertificate(c) {
		t.Errorf("the quorum makes no good certificate: %v, bad %v, %v", ok, bad, err)
	}
}

// 555: a verdict was remembered by the header of what was verified, not by all
// of it.
func TestPeerBug555VerdictsAreNotKeyedByHeader(t *testing.T) {
	schemes, _, _ := committee(t, 4)
	var votes []Vote
	for _, s := range schemes[:3] {
		votes = append(votes, s.Sign(Finalize, p1))
	}
	c, err := schemes[0].Recover(votes)
	if err != nil || !schemes[3].VerifyCertificate(c) {
		t.Fatalf("good certificate refused: %v", err)
	}
	altered := c
	altered.Signature = votes[0].Signature
	swapped := c
	swapped.Signature, swapped.Seed = c.Seed, c.Signature
	if bad := schemes[3].BadCertificates([]Certificate{c, altered, swapped, c}); len(bad) != 2 || bad[0] != 1 || bad[1] != 2 {
		t.Errorf("after a good one of the same header, bad certificates are %v", bad)
	}
	if bad := schemes[3].BadVotes(votes); len(bad) != 0 {
		t.Fatalf("good votes are bad: %v", bad)
	}
	votes[1].Signature = votes[2].Signature
	if bad := schemes[3].BadVotes(votes); len(bad) != 1 || bad[0] != 1 {
		t.Errorf("after good votes of the same header, bad votes are %v", bad)
	}
}

// 280: the path that repeats votes signed finalize for a round that had timed
// out. There is one place here that makes votes; all that lead to it refuse.
func TestPeerBug280NoFinalizeAfterNullifyOnAnyPath(t *testing.T) {
	for _, tt := range []struct {
		path   string
		events []Event
	}{
		{"live", []Event{Resumed{}, timer(1, TimerLeader), cert(Notarize, p1), certified(p1)}},
		{"repeated at the retry timer", []Event{Resumed{}, timer(1, TimerLeader), cert(Notarize, p1), timer(1, TimerRetry), certified(p1), timer(2, TimerRetry)}},
		{"after a restart", []Event{own(Nullify, p1), kept(Notarize, p1), verdictOn(p1, true), Resumed{}, certified(p1)}},
		{"after a restart, repeated", []Event{own(Nullify, p1), kept(Notarize, p1), Resumed{}, certified(p1), timer(2, TimerLeader), timer(2, TimerRetry)}},
		{"late, from a later view", []Event{Resumed{}, timer(1, TimerLeader), null(1), cert(Notarize, p1), certified(p1), timer(2, TimerLeader), timer(2, TimerRetry)}},
	} {
		m, nullified := follower(), false
		for _, e := range tt.events {
			for _, effect := range m.Step(e) {
				b, ok := effect.(Broadcast)
				nullified = nullified || ok && b.Vote.Kind == Nullify && b.Vote.Proposal.Round.View == 1
				if ok && b.Vote.Kind == Finalize && b.Vote.Proposal.Round.View == 1 {
					t.Errorf("%s: finalizes view 1 after its nullify", tt.path)
				}
			}
		}
		if !nullified {
			t.Errorf("%s: never nullified view 1", tt.path)
		}
	}
}

// 551: journal records of an old epoch were replayed into the new one.
func TestPeerBug551OldEpochRecordsAreNotReplayed(t *testing.T) {
	cfg := testConfig(fakeElector{other, other})
	cfg.Epoch = 1
	m := New(cfg)
	for _, e := range []Event{own(Notarize, p1), own(Nullify, p2), kept(Notarize, p1), kept(Finalize, p1), verdictOn(p1, true)} {
		if effects := m.Step(e); len(effects) > 0 {
			t.Errorf("replay of epoch 0: %s", trace(effects))
		}
	}
	if got := trace(m.Step(Resumed{})); got != enter(1) {
		t.Errorf("epoch 1 begins with %q", got)
	}
	if m.Knows(1, Notarize) || m.Knows(1, Finalize) {
		t.Error("a certificate of epoch 0 counts in epoch 1")
	}
}

// 552: two engines of different epochs were alive at once. Ours could at worst
// share one memory of what the key said, and that has one order over epochs.
func TestPeerBug552OlderEpochIsSilentOnceANewerSpoke(t *testing.T) {
	var w Watermark
	older := func(v chain.View) Proposal { return Proposal{Round: beacon.Round{Epoch: 3, View: v}} }
	newer := func(v chain.View) Proposal { return Proposal{Round: beacon.Round{Epoch: 4, View: v}} }
	if err := errors.Join(w.Permit(Notarize, older(3600)), w.Permit(Notarize, newer(1))); err != nil {
		t.Fatal(err)
	}
	for k := Notarize; k <= Finalize; k++ {
		if err := w.Permit(k, older(3601)); !errors.Is(err, ErrBelowWatermark) {
			t.Errorf("%s in the older epoch: %v", k, err)
		}
	}
	if err := w.Permit(Finalize, newer(1)); err != nil {
		t.Errorf("the newer epoch is hindered: %v", err)
	}
}

// 543, 544: stale votes of former validators installed a forged set, by way of a
// certificate that was filed under the number that it gave itself before it was
// verified.
func TestPeerBug543CertificatesCountForTheirOwnRoundOnly(t *testing.T) {
	schemes, _, _ := committee(t, 4)
	var votes []Vote
	for _, s := range schemes[:3] {
		votes = append(votes, s.Sign(Finalize, p1))
	}
	c, err := schemes[0].Recover(votes)
	if err != nil {
		t.Fatal(err)
	}
	f := func(name string, change func(*Certificate)) {
		t.Helper()
		stale := c
		change(&stale)
		if schemes[3].VerifyCertificate(stale) {
			t.Errorf("a certificate under another %s verifies", name)
		}
	}
	f("view", func(c *Certificate) { c.Proposal.Round.View = 1 << 40 })
	f("epoch", func(c *Certificate) { c.Proposal.Round.Epoch = 7 })
	f("block", func(c *Certificate) { c.Proposal.Payload[0]++ })

	m := follower()
	m.Step(Resumed{})
	strange := cert(Finalize, Proposal{Round: beacon.Round{Epoch: 7, View: 1 << 40}, Parent: 1})
	if effects := m.Step(strange); len(effects) > 0 || m.View() != 1 {
		t.Errorf("a certificate of another epoch moves us to view %d: %s", m.View(), trace(effects))
	}
}

// 559, 562, 563: buffers and counters grew with numbers that an attacker chose.
func TestPeerBug559NothingGrowsWithChosenNumbers(t *testing.T) {
	m := follower()
	m.Step(Resumed{})
	rng := rand.New(rand.NewPCG(559, 1))
	for i := range 20_000 {
		who := beacon.Participant(rng.Uint32())
		v := chain.View(rng.Uint64() >> rng.IntN(63))
		m.Step(ProposalReceived{who, prop(v, 0, byte(i))})
		m.Step(VoteSeen{who, v, Nullify})
		m.Step(TimerFired{v, Timer(i % 4)})
		m.Step(Verified{View: v, OK: i%2 == 0})
		m.Step(Certified{View: v, OK: i%2 == 0})
		m.Step(ProposalReady{View: v})
	}
	offers := 0
	for _, s := range m.views {
		offers += len(s.offers)
	}
	if len(m.views) > 3 || offers > 3*maxOffers || len(m.uncertified)+len(m.named)+len(m.finals) > 0 {
		t.Errorf("%d views with %d offers are kept", len(m.views), offers)
	}
}

// 557, 568: leaders were excluded without evidence, so that f validators could
// exclude honest ones. Here no vote but the leader's own ends its view early,
// and a nullified view costs its leader the next draw alone (resolution 11.16).
func TestPeerBug557NobodyIsExcludedWithoutEvidence(t *testing.T) {
	play(t, follower, []scenario{
		{"others nullify the view of an honest leader", []Event{Resumed{}, VoteSeen{From: 2, View: 1, Kind: Nullify}, VoteSeen{From: 3, View: 1, Kind: Nullify}}, ""},
		{"its proposal still counts", []Event{Resumed{}, VoteSeen{From: 2, View: 1, Kind: Nullify}, from(other, p1)}, "verify 1:1 on 0"},
		{"the leader's own word ends it", []Event{Resumed{}, VoteSeen{From: other, View: 1, Kind: Nullify}}, "keep nullify 1; send nullify 1; arm retry 1"},
	})
	m := New(testConfig(fakeElector{leader: other, past: 2}))
	onNull := prop(2, 0, 2)
	on2 := prop(3, 2, 3)
	for _, e := range []Event{Resumed{}, null(1)} {
		m.Step(e)
	}
	if who, known := m.expected(); !known || who != 2 {
		t.Errorf("after its nullified view the leader is drawn again: %d", who)
	}
	for _, e := range []Event{from(2, onNull), verified(onNull), cert(Notarize, onNull), certified(onNull)} {
		m.Step(e)
	}
	if who, known := m.expected(); !known || who != other {
		t.Errorf("two views on validator %d leads, not the one that the draw names", who)
	}
	if got := trace(m.Step(from(other, on2))); got != "verify 3:3 on 2" {
		t.Errorf("its proposal: %q", got)
	}
}

// 486: the journal got a record of the same empty vote again and again.
func TestPeerBug486OneRecordPerVote(t *testing.T) {
	m, records, sent := follower(), 0, 0
	events := []Event{Resumed{}, timer(1, TimerLeader), timer(1, TimerCertification), VoteSeen{From: other, View: 1, Kind: Nullify}}
	for range 10 {
		events = append(events, timer(1, TimerRetry))
	}
	for _, e := range events {
		for _, effect := range m.Step(e) {
			if p, ok := effect.(Persist); ok {
				if _, vote := p.Record.(Vote); vote {
					records++
				}
			}
			if _, ok := effect.(Broadcast); ok {
				sent++
			}
		}
	}
	if records != 1 || sent != 11 {
		t.Errorf("%d records of a vote sent %d times, want 1 and 11", records, sent)
	}
}
