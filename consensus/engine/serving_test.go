package engine

import (
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
)

// newAnswering returns the serving part of a validator that has judged the block of view
// 7, has the views to 5 durably, and the notarization of 7.
func newAnswering(t *testing.T, archive bool) *serving {
	t.Helper()
	cfg, stats := partOf(t)
	if archive {
		cfg.Archive = newChainApp(t, chain.Hash{})
	}
	kept := new(blocks)
	b := kept.put(view(7, 1))
	kept.set(b, []byte("block"))
	b.verdict = valid
	m := &fakeMachine{certificates: []simplex.Certificate{{Kind: simplex.Nullify, Proposal: view(6, 0)}, {Kind: simplex.Notarize, Proposal: view(7, 1)}}}
	s := newServing(cfg, stats, m, kept, &deliveries{cfg: cfg, blocks: kept, durable: 5})
	return &s
}

func round(v chain.View) beacon.Round { return beacon.Round{View: v} }

// Certificates alone leave at once; a block waits in line, and goes with its certificate.
func TestServingFromMemory(t *testing.T) {
	s := newAnswering(t, false)
	expect(t, "nothing is there", s.answer(noon, 2, round(9)), send{2, wire.Answered{Round: round(9)}})
	expect(t, "another epoch", s.answer(noon, 2, beacon.Round{Epoch: 1, View: 7}))
	expect(t, "a block", s.answer(noon, 2, round(6)))
	r, ok := s.startAnswer()
	if !ok || r.to != 2 || len(r.pieces) != 2 {
		t.Fatalf("in line: %+v", r)
	}
	ready := r.make(t.Context(), nil, &s.reads.encoded)
	nullify := simplex.AppendCertificate(nil, s.machine.Certificates(6, 1)[0])
	notarize := s.machine.Certificates(7, 1)[0]
	expect(t, "made", s.served(noon, ready), sendEncoded{2, nullify},
		sendEncoded{2, wire.Append(nil, wire.Backfill{Certificate: notarize, Block: []byte("block")})},
		send{2, wire.Answered{Round: round(6)}})
	if n := s.stats.BlocksServed.Load(); n != 1 || s.reads.copying != 0 {
		t.Errorf("%d blocks are served, %d answers in the making", n, s.reads.copying)
	}
}

// The archive is read for one peer once at a time; what is newer comes beside it.
func TestServingFromTheArchive(t *testing.T) {
	s := newAnswering(t, true)
	s.answer(noon, 2, round(3))
	s.answer(noon, 2, round(3))
	first, _ := s.startAnswer()
	second, _ := s.startAnswer()
	if !first.archive || second.archive || !second.beside {
		t.Fatalf("in line: %+v, then %+v", first, second)
	}
	if _, ok := s.startAnswer(); ok {
		t.Error("something else is in line")
	}
	out := s.served(noon, first.make(t.Context(), s.cfg.Archive, &s.reads.encoded))
	if n := len(of[send](out)); n != 1 {
		t.Errorf("%d ends of the answer", n)
	}
	if out := s.served(noon, second.make(t.Context(), s.cfg.Archive, &s.reads.encoded)); len(of[send](out)) != 0 {
		t.Errorf("the part beside it says that the answer is complete: %+v", out)
	}
	if s.guest(2).reading || s.reads.looking != 0 {
		t.Error("the archive is still being read")
	}
}

// Validators go before full nodes, few answers are made at a time, and who asks too often
// is not answered.
func TestServingIsFairAndBounded(t *testing.T) {
	s := newAnswering(t, true)
	for p := range beacon.Participant(200) {
		s.answer(noon, 4+p, round(3))
	}
	if n := len(s.reads.waiting); n > readsWaitingMax || s.stats.AnswersRefused.Load() == 0 && n < readsWaitingMax {
		t.Errorf("%d full nodes wait", n)
	}
	s.answer(noon, 3, round(3))
	if r, ok := s.startAnswer(); !ok || r.to != 3 {
		t.Errorf("%d is answered before validator 3", r.to)
	}
	if r, ok := s.startAnswer(); !ok || !r.stranger {
		t.Error("no full node is answered")
	}
	if r, ok := s.startAnswer(); ok {
		t.Errorf("%+v is made beside another full node's", r)
	}
	answered := 0
	for range 3 * answersPerWindow {
		answered += len(of[send](s.answer(noon, 1, round(9))))
	}
	if answered != answersPerWindow {
		t.Errorf("%d answers in a window, want %d", answered, answersPerWindow)
	}
	if out := s.answer(noon.Add(s.cfg.FetchTimeout), 1, round(9)); len(out) != 1 {
		t.Error("nor in the next one")
	}
	for p := range beacon.Participant(3 * guestsMax) {
		if s.allows(noon, 4+p); len(s.guests) > guestsMax {
			t.Fatalf("%d full nodes are remembered", len(s.guests))
		}
	}
}

// What a full node was sent is billed, and what it asks for again is billed more.
func TestServingBillsFullNodes(t *testing.T) {
	s := newAnswering(t, false)
	var times []int
	s.cfg.Billed = func(to beacon.Participant, blocks, bytes, n int) {
		if to != 9 || blocks != 1 || bytes <= 5 {
			t.Errorf("%d is billed for %d blocks, %d bytes", to, blocks, bytes)
		}
		times = append(times, n)
	}
	for i := range 3 {
		now := noon.Add(time.Duration(i) * time.Second)
		s.answer(now, 9, round(7))
		r, _ := s.startAnswer()
		s.served(now, r.make(t.Context(), nil, &s.reads.encoded))
	}
	if len(times) != 3 || times[0] != 1 || times[1] != 2 || times[2] != 4 {
		t.Errorf("billed %v times over", times)
	}
}
