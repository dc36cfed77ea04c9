package node

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/node/datadir"
)

// offenceOf is a proof as consensus hands it over, which has verified it.
func offenceOf(liar byte, view chain.View) attest.Evidence {
	word := func(digest byte) attest.Statement {
		return attest.Statement{Kind: attest.Notarize, Proposal: attest.Proposal{Round: attest.Round{View: view}, Payload: chain.Hash{digest}}}
	}
	return attest.NewEvidence(chain.PeerKey{liar}, word(1), word(2))
}

// evidenceStore is an evidence store of a test, and its log.
type evidenceStore struct {
	*evidence
	said strings.Builder
}

func newEvidenceStore(t *testing.T, dir string) *evidenceStore {
	t.Helper()
	s := &evidenceStore{}
	log := slog.New(slog.NewTextHandler(&s.said, nil))
	v, err := openEvidence(dir, &beacon.ValidatorSet{}, newAlarms(log), log)
	if err != nil {
		t.Fatal(err)
	}
	s.evidence = v
	t.Cleanup(func() { _ = v.Close() })
	return s
}

// has holds the list to the proofs named LIAR@VIEW.
func (s *evidenceStore) has(t *testing.T, when, want string) {
	t.Helper()
	var got []string
	for _, e := range s.All() {
		got = append(got, fmt.Sprintf("%d@%d", e.Accused[0], e.Offence().Round.View))
	}
	if text := strings.Join(got, " "); text != want {
		t.Errorf("%s: %q is kept, want %q", when, text, want)
	}
}

// settle does what Run does with what the submitter said.
func (s *evidenceStore) settle(o attest.Offence) {
	s.close(o)
	s.dropCase(<-s.closed)
}

// TestManyOffencesLeaveRoom: 5,000 offences of 33 liars are 33 cases, and the next
// liar's has its place (hostile.md 1.7: 4,096 of them used to fill the store for good).
func TestManyOffencesLeaveRoom(t *testing.T) {
	dir := t.TempDir()
	s := newEvidenceStore(t, dir)
	for i := range 5_000 {
		s.addCase(offenceOf(byte(i%33), chain.View(i)))
	}
	s.addCase(offenceOf(33, 7))
	if n := len(s.All()); n != 34 || s.All()[33].Accused[0] != 33 {
		t.Errorf("%d cases, want 33 and that of the 34th liar", n)
	}
	if n := s.Stats.CaseOpen.Load(); n != 5_000-33 {
		t.Errorf("%d proofs are counted as dropped", n)
	}
	info, err := os.Stat(filepath.Join(dir, datadir.EvidenceFile))
	if err != nil || info.Size() > 34*1024 {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
	for i := range byte(34) {
		s.settle(s.All()[0].Offence())
		if len(s.All()) != 33-int(i) {
			t.Fatal("a convicted case stays")
		}
	}
	if info, err := os.Stat(filepath.Join(dir, datadir.EvidenceFile)); err != nil || info.Size() > 128 {
		t.Errorf("the file of no case has %d bytes, %v", info.Size(), err)
	}
}

// TestTornEvidenceIsSaid: what a crash cut off is one line of the log, and the next start
// has nothing to say.
func TestTornEvidenceIsSaid(t *testing.T) {
	dir := t.TempDir()
	s := newEvidenceStore(t, dir)
	s.addCase(offenceOf(1, 5))
	s.addCase(offenceOf(2, 6))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, datadir.EvidenceFile)
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(name, info.Size()-3); err != nil {
		t.Fatal(err)
	}
	for want := 1; want >= 0; want-- {
		s = newEvidenceStore(t, dir)
		if n := strings.Count(s.said.String(), "evidence.journal did not end with a whole record"); n != want {
			t.Errorf("said %d times, want %d: %s", n, want, s.said.String())
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestOneCaseAtATime: of several offences of one validator the first is open until it
// is convicted; one of a view to come gives way to one that can be submitted, and what
// the state has is not opened again.
func TestOneCaseAtATime(t *testing.T) {
	s := newEvidenceStore(t, t.TempDir())
	head, convicted := chain.View(100), map[attest.Offence]bool{}
	s.view = func() chain.View { return head }
	s.judged = func(o attest.Offence) bool { return convicted[o] }
	s.addCase(offenceOf(1, 1_000_000)) // to hide behind
	s.addCase(offenceOf(2, 50))
	s.addCase(offenceOf(1, 2_000_000))
	s.has(t, "two views to come", "1@1000000 2@50")
	s.addCase(offenceOf(1, 90))
	s.has(t, "a view that has been", "2@50 1@90")
	s.addCase(offenceOf(1, 80))
	s.addCase(offenceOf(2, 51))
	s.addCase(offenceOf(2, 50)) // seen again
	s.has(t, "others", "2@50 1@90")
	convicted[offenceOf(2, 50).Offence()] = true
	s.settle(offenceOf(2, 51).Offence()) // not the one that is open
	s.has(t, "another of the accused is convicted", "2@50 1@90")
	s.settle(offenceOf(2, 50).Offence())
	s.settle(offenceOf(2, 50).Offence())
	s.addCase(offenceOf(2, 50))
	s.has(t, "convicted", "1@90")
	s.addCase(offenceOf(2, 51))
	s.has(t, "the next", "1@90 2@51")
	if open, replaced, closed := s.Stats.CaseOpen.Load(), s.Stats.Replaced.Load(), s.Stats.Closed.Load(); open != 3 || replaced != 1 || closed != 1 {
		t.Errorf("counted %d behind an open case, %d replaced, %d closed", open, replaced, closed)
	}
}

// TestStaleCaseGivesWay: a case that the chain does not take gives way to another proof
// against the same validator, one at a time, and not to one of a view to come.
func TestStaleCaseGivesWay(t *testing.T) {
	dir := t.TempDir()
	s := newEvidenceStore(t, dir)
	stale := map[attest.Offence]bool{}
	s.view = func() chain.View { return 100 }
	s.stale = func(o attest.Offence) bool { return stale[o] }
	for liar := range byte(3) {
		s.addCase(offenceOf(liar, 50))
	}
	s.addCase(offenceOf(1, 60))
	s.has(t, "none is stale", "0@50 1@50 2@50")
	stale[offenceOf(1, 50).Offence()] = true
	s.addCase(offenceOf(1, 50)) // seen again
	s.addCase(offenceOf(1, 200))
	s.has(t, "of a view to come", "0@50 1@50 2@50")
	for view := chain.View(60); view < 100; view++ {
		s.addCase(offenceOf(1, view))
	}
	s.has(t, "another one", "0@50 2@50 1@60")
	info, err := os.Stat(filepath.Join(dir, datadir.EvidenceFile))
	if err != nil || info.Size() > 3*1024 {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
	if s.Stats.Replaced.Load() != 1 {
		t.Errorf("%d replaced", s.Stats.Replaced.Load())
	}
}

// TestDamagedEvidenceIsSetAside: whatever the file holds the node starts, keeps the
// bytes under another name, and says so.
func TestDamagedEvidenceIsSetAside(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, datadir.EvidenceFile)
	for i := range setAsideMax + 3 {
		s := newEvidenceStore(t, dir)
		if damaged := i > 0; s.Stats.SetAside.Load() == 1 != damaged || strings.Contains(s.said.String(), "set aside") != damaged {
			t.Fatalf("start %d: set aside %d, said %q", i, s.Stats.SetAside.Load(), s.said.String())
		}
		s.addCase(offenceOf(1, 5))
		s.has(t, "after the start", "1@5")
		if on, _ := s.alarms.stateOf(alarmEvidence); on {
			t.Error("an alarm for what is mended")
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		switch i % 3 {
		case 0:
			raw[len(raw)/2] ^= 1 // the record, with a good one behind it
			raw = append(raw, raw[len(raw)-8:]...)
			raw[9] ^= 0x80
		case 1:
			raw = []byte("no journal at all, of some bytes that are longer than its head is, as any text is")
		case 2:
			raw = make([]byte, 4096)
		}
		if err := os.WriteFile(name, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := filepath.Glob(name + ".damaged-*"); err != nil || len(found) != setAsideMax {
		t.Errorf("%d files set aside, want at most %d: %v", len(found), setAsideMax, err)
	}
}

// TestEvidenceWithoutAFile: a file that cannot be opened ends nothing. Proofs are
// shown, the alarm is on, and once the file can be written it holds them.
func TestEvidenceWithoutAFile(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, datadir.EvidenceFile)
	if err := os.MkdirAll(filepath.Join(name, "no file"), 0o700); err != nil {
		t.Fatal(err)
	}
	s := newEvidenceStore(t, dir)
	s.addCase(offenceOf(1, 5))
	s.addCase(offenceOf(2, 5))
	s.has(t, "in memory", "1@5 2@5")
	if on, raised := s.alarms.stateOf(alarmEvidence); !on || raised != 1 || s.Stats.Failures.Load() != 3 {
		t.Errorf("alarm %v, raised %d times, %d failures", on, raised, s.Stats.Failures.Load())
	}
	if len(s.alarms.reasons()) != 1 || !strings.Contains(s.alarms.reasons()[0], name) {
		t.Errorf("reasons %q do not name the file", s.alarms.reasons())
	}
	if err := os.RemoveAll(name); err != nil {
		t.Fatal(err)
	}
	s.write(false) // as the ticker does
	if on, _ := s.alarms.stateOf(alarmEvidence); on {
		t.Error("the alarm stays")
	}
	records := 0
	if err := s.file.Replay(func([]byte) error { records++; return nil }); err != nil || records != 2 {
		t.Errorf("%d records in the file, %v", records, err)
	}
	s.file.Close() // every later write fails
	s.addCase(offenceOf(3, 5))
	s.has(t, "after a failed write", "1@5 2@5 3@5")
	if on, _ := s.alarms.stateOf(alarmEvidence); !on {
		t.Error("no alarm for a write that failed")
	}
	s.write(false)
	if on, _ := s.alarms.stateOf(alarmEvidence); on {
		t.Error("the alarm stays")
	}
}

// TestAccuserWaitsForTheView: nothing is submitted of a view that the chain has not
// reached, which execution refuses; a conviction closes the case, and a full node only
// watches.
func TestAccuserWaitsForTheView(t *testing.T) {
	e := proofOf(t, 2_000)
	b := newQuietChain(t, e)
	b.passes(t, 200)
	if len(b.sent) != 0 {
		t.Fatalf("%d transactions for a view to come", len(b.sent))
	}
	b.round = 2_000
	b.passes(t, 1)
	if len(b.sent) != 1 {
		t.Errorf("%d transactions once the view has been", len(b.sent))
	}

	full := newQuietChain(t, proofOf(t, 5))
	full.key, full.quiet = nil, true
	full.passes(t, 10)
	full.convicts(proofOf(t, 5).Offence())
	full.passes(t, 2)
	if len(full.sent) != 0 || strings.Contains(full.log.String(), "account_key") || len(full.closed) == 0 {
		t.Errorf("a full node sent %d, closed %d: %s", len(full.sent), len(full.closed), full.log.String())
	}
}
