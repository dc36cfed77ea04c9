package statesync

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state/checkpoint"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// TestOneOfferDeniesNoCheckpoint: a validator that offers the newest final block, whose
// certificate is good and whose state it does not hand out, keeps nobody from the
// checkpoint that the others have: not beside them, and not where it is the only one that
// answers in time.
func TestOneOfferDeniesNoCheckpoint(t *testing.T) {
	for _, c := range []struct {
		name  string
		delay time.Duration // of the others' offers
	}{
		{"beside the others", 0},
		{"before the others", 120 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			h, s := village(t, 4, 1500)
			h.client.cfg.StarvedAfter, h.client.cfg.RestFor = 100*time.Millisecond, 100*time.Millisecond
			rec, _, err := s.BlockByHeight(3)
			check(t, err)
			head := checkpoint.Head{Genesis: genesis, Block: rec.Block, Certificate: rec.Certificate}
			h.spoil[0] = func(msg []byte) []byte {
				if msg[0] == tagOffer {
					return offer{head.Append(nil)}.append(nil)
				}
				return nil
			}
			h.delay = func(server int, msg []byte) time.Duration {
				if server != 0 && msg[0] == tagOffer {
					return c.delay
				}
				return 0
			}
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			if err := h.client.Run(ctx); errors.Is(err, context.DeadlineExceeded) {
				t.Fatal("one validator kept the state away")
			} else if err != nil {
				t.Fatal(err)
			}
			h.arrived(t, s)
		})
	}
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
