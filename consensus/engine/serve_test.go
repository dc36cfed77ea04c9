package engine

import (
	"bytes"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
)

// backfills returns the messages with blocks that a peer was sent.
func (s *scene) backfills(to beacon.Participant) (out [][]byte) {
	for _, msg := range s.net.sent[to] {
		if len(msg) > 0 && msg[0] == wire.TagBackfill {
			out = append(out, msg)
		}
	}
	return out
}

// grow makes n blocks of the given size notarized, one in each view.
func (s *scene) grow(n chain.View, size int) {
	s.t.Helper()
	parent := s.parent
	s.app.pad = size
	for v := chain.View(1); v <= n; v++ {
		at := beacon.Round{View: v}
		block := s.app.block(at, parent, uint64(v))
		p := simplex.Proposal{Round: at, Parent: parent.Round.View, Payload: digestOf(block)}
		c := s.certificate(simplex.Notarize, p)
		s.hear(1, wire.Append(nil, wire.Backfill{Certificate: c, Block: block}))
		parent = ParentRef{Round: at, Digest: p.Payload, Seed: c.Seed}
	}
}

// TestBlocksAreEncodedOnce: however many peers ask for the tip, they are sent the same
// bytes, which were put together off the loop, and each block once in an answer.
func TestBlocksAreEncodedOnce(t *testing.T) {
	play(t, func(s *scene) {
		const blocks = 3
		s.grow(blocks, 50)
		s.net.sent = nil
		for from := range beacon.Participant(40) {
			if from != 0 {
				s.hear(from, wire.Append(nil, wire.Request{Round: beacon.Round{View: 1}}))
			}
		}
		first := s.backfills(1)
		if len(first) != blocks-1 && len(first) != blocks {
			t.Fatalf("%d blocks were sent, want %d", len(first), blocks)
		}
		for to := range beacon.Participant(40) {
			if to == 0 {
				continue
			}
			got := s.backfills(to)
			if len(got) != len(first) {
				t.Fatalf("peer %d got %d blocks, want %d", to, len(got), len(first))
			}
			for i := range got {
				if &got[i][0] != &first[i][0] {
					t.Errorf("block %d was put together anew for peer %d", i, to)
				}
			}
			last := s.net.sent[to][len(s.net.sent[to])-1]
			if !bytes.Equal(last, wire.Append(nil, wire.Answered{Round: beacon.Round{View: 1}})) {
				t.Errorf("the answer to peer %d does not end with its end", to)
			}
		}
	})
}

// TestAnswersFromMemoryHaveABound: one request brings answerBytes of blocks or the first
// of them, and what is kept encoded is bounded too.
func TestAnswersFromMemoryHaveABound(t *testing.T) {
	const size = answerBytes / 3
	playWith(t, func(c *Config) { c.MaxBlockBytes = size + 1<<10; c.PendingBytesMax = 32 * c.MaxBlockBytes }, func(s *scene) {
		s.grow(8, size)
		s.net.sent = nil
		for from := chain.View(1); from <= 8; from++ {
			s.net.sent = nil
			s.hear(2, wire.Append(nil, wire.Request{Round: beacon.Round{View: from}}))
			sum, n := 0, 0
			for _, msg := range s.backfills(2) {
				sum += len(msg)
				n++
			}
			if most := answerBytes + n*(1+simplex.CertificateBytesMax) + size; sum > most || n > 4 {
				t.Errorf("from view %d: %d bytes of %d blocks, want at most %d", from, sum, n, most)
			}
			if from < 7 && n == 0 {
				t.Errorf("from view %d: no blocks", from)
			}
		}
		if kept := s.engine.serving.reads.encoded.bytes; kept > encodedBytesMax {
			t.Errorf("%d bytes are kept encoded, want at most %d", kept, encodedBytesMax)
		}
	})
}

// TestEncodingsForget: the oldest leave, the newest stays whatever it takes.
func TestEncodingsForget(t *testing.T) {
	var e encodings
	for i := range 100 {
		block := make([]byte, encodedBytesMax/10)
		msg := e.withBlock([]byte{byte(i), 1}, block)
		if want := append([]byte{wire.TagBackfill, byte(i), 1}, block...); !bytes.Equal(msg, want) {
			t.Fatalf("block %d is encoded wrongly", i)
		}
		sum := 0
		for _, m := range e.by {
			sum += len(m)
		}
		if sum != e.bytes || sum > encodedBytesMax || len(e.by) != len(e.order) {
			t.Fatalf("%d bytes in %d messages are kept, %d counted, %d in order", sum, len(e.by), e.bytes, len(e.order))
		}
	}
	if e.withBlock([]byte("large"), make([]byte, 3*encodedBytesMax)); len(e.by) != 1 {
		t.Errorf("%d messages are kept beside a large one", len(e.by)-1)
	}
}
