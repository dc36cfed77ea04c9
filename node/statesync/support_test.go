package statesync

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state/checkpoint"
	"github.com/cowboy-foundation/cowboy/state/store"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// TestOneOfferDeniesNoCheckpoint: a validator that offers the newest final block, whose
// certificate is good and whose state it does not hand out, keeps nobody from the
// checkpoint that the others have: not beside them, not where it is the only one that
// answers in time, not against a single other, and not where the link failed while
// their checkpoint was fetched. It makes no difference that it offers another
// block in answer to every inquiry, also while its last offer is being fetched.
func TestOneOfferDeniesNoCheckpoint(t *testing.T) {
	for _, c := range []struct {
		name   string
		honest int
		newer  bool          // each offer of the liar is of a newer block
		delay  time.Duration // of the others' offers
		failed int           // jobs in which no chunk of the others arrives
	}{
		{"beside the others", 3, false, 0, 0},
		{"before the others", 3, false, 120 * time.Millisecond, 0},
		{"beside the others, always newer", 3, true, 0, 0},
		{"against one, always newer", 1, true, 0, 0},
		{"after the link failed twice, always newer", 3, true, 0, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, s := village(t, 1+c.honest, 1500)
			h.client.cfg.StarvedAfter, h.client.cfg.RestFor = 100*time.Millisecond, 100*time.Millisecond
			height := chain.Height(3)
			h.spoil[0] = func(msg []byte) []byte {
				if msg[0] != tagOffer {
					return nil
				}
				if c.newer {
					height++
				}
				return offer{finalHead(height)}.append(nil)
			}
			link := &failingLink{jobs: c.failed, failed: map[uint64]bool{}}
			for server := 1; server <= c.honest; server++ {
				h.spoil[server] = link.pass
			}
			h.delay = func(server int, msg []byte) time.Duration {
				if server != 0 && msg[0] == tagOffer {
					return c.delay
				}
				return 0
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			if err := h.client.Run(ctx); errors.Is(err, context.DeadlineExceeded) {
				t.Fatal("one validator kept the state away")
			} else if err != nil {
				t.Fatal(err)
			}
			if len(link.failed) != c.failed {
				t.Errorf("the link failed in %d jobs, want %d", len(link.failed), c.failed)
			}
			h.arrived(t, s)
		})
	}
}

// finalHead is the head of a block that is final, whose state nobody has.
func finalHead(height chain.Height) []byte {
	block := &chain.Block{Header: chain.Header{
		Version: chain.HeaderVersion, Height: height, StateRoot: chain.Hash{1}, TxRoot: tree.ListRoot(nil),
		PresenceInput: chain.NewPresentSet(0).Encode(), ConsumedSeeds: chain.EncodeConsumedSeeds(nil),
	}}
	head := checkpoint.Head{Genesis: genesis, Block: block.Encode(), Certificate: seal(block.Header.Digest())}
	return head.Append(nil)
}

// failingLink loses the chunks that answer the first so many jobs.
type failingLink struct {
	jobs   int
	mu     sync.Mutex // guards failed while servers run
	failed map[uint64]bool
}

func (l *failingLink) pass(msg []byte) []byte {
	m, err := decode(msg)
	answer, ok := m.(chunk)
	if err != nil || !ok {
		return msg
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	number := answer.id >> 32
	if !l.failed[number] && len(l.failed) == l.jobs {
		return msg
	}
	l.failed[number] = true
	return nil
}

// TestBegunBySnapshot: an import that a snapshot file began, whose progress says something
// else, is no reason to give up.
func TestBegunBySnapshot(t *testing.T) {
	h, s := village(t, 1, 500)
	rec, _, err := s.BlockByHeight(2)
	check(t, err)
	block, err := chain.DecodeBlock(rec.Block, len(rec.Block))
	check(t, err)
	to, err := store.OpenImport(h.client.cfg.Dir, options(), store.Target{Genesis: genesis, Height: 2, Digest: rec.Digest, Root: block.Header.StateRoot})
	check(t, err)
	check(t, to.Put(make([]byte, 8)))
	check(t, to.Close())
	check(t, h.client.Run(t.Context()))
	h.arrived(t, s)
}

// TestGuestsSupportNothing: however many guests offer a block that is final, the checkpoint
// of the one validator is fetched, and nobody else is asked.
func TestGuestsSupportNothing(t *testing.T) {
	h, s := village(t, 1, 500)
	const members = 1
	for guest := range 20 {
		if err := h.client.Deliver(members+guest, offer{finalHead(9)}.append(nil)); err != nil {
			t.Errorf("guest %d: %v", guest, err)
		}
	}
	if n := len(h.client.inbox); n != 0 {
		t.Errorf("%d messages of guests wait", n)
	}
	if err := h.client.Deliver(members, []byte{0xff}); err == nil {
		t.Error("what is no message is taken of a guest")
	}
	check(t, h.client.Run(t.Context()))
	h.arrived(t, s)
}

// TestSupport: what more peers offer counts more, and who offered in vain counts less each time.
func TestSupport(t *testing.T) {
	low, high := chain.Hash{1}, chain.Hash{2}
	c := NewClient(ClientConfig{})
	for peer, digest := range []chain.Hash{low, low, high} {
		c.offers[peer] = &checkpoint.Anchor{Digest: digest}
	}
	if got := c.support(); got[low] != 2*got[high] {
		t.Errorf("%v", got)
	}
	c.vain[0], c.vain[1] = 1, 1 // a checkpoint of theirs was gone
	if got := c.support(); got[low] != got[high] {
		t.Errorf("after one in vain of both: %v", got)
	}
	c.vain[2] = 100
	if got := c.support(); got[high] != 1 || got[low] <= got[high] {
		t.Errorf("after hundred in vain: %v", got)
	}
}

// TestCharge: who offered the checkpoint that was not to be had is charged, whatever it
// offers by now. Who handed out some of it is charged less, but never nothing: to hand
// out one chunk each time must not keep a liar level with who has a whole checkpoint.
func TestCharge(t *testing.T) {
	wanted, newer := &checkpoint.Anchor{Digest: chain.Hash{1}}, &checkpoint.Anchor{Digest: chain.Hash{2}}
	c := NewClient(ClientConfig{})
	c.offers[0], c.offers[1], c.offers[2] = wanted, wanted, newer
	b := c.backersOf(wanted)
	c.offers[0], c.offers[2] = newer, wanted
	b.gave[1], b.gave[3] = true, true
	c.charge(b)
	if c.vain[0] <= c.vain[1] || c.vain[1] == 0 || c.vain[2] != 0 || c.vain[3] != 0 {
		t.Errorf("charged %v", c.vain)
	}
}

// TestSupportAfterManyInVain: what counts is who offered in vain more often than others,
// however often all did.
func TestSupportAfterManyInVain(t *testing.T) {
	c := NewClient(ClientConfig{})
	c.offers[0], c.offers[1] = &checkpoint.Anchor{Digest: chain.Hash{1}}, &checkpoint.Anchor{Digest: chain.Hash{2}}
	c.vain[0], c.vain[1] = 100, 101
	if got := c.support(); got[chain.Hash{1}] != 2*got[chain.Hash{2}] {
		t.Errorf("%v", got)
	}
}
