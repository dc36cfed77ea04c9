package ledger

import (
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/exec/market/runners"
	"github.com/cowboy-foundation/cowboy/state/statetest"
)

// TestPresenceInputIsAsLongAsTheRegistry: any bytes, and none, up to 1,024 and 4 for each
// runner; one more is refused (resolution 12.84).
func TestPresenceInputIsAsLongAsTheRegistry(t *testing.T) {
	for _, c := range []struct {
		runners uint32
		most    int
	}{{0, 1_024}, {1, 1_028}, {5_000, 21_024}, {65_536, 263_168}, {1<<32 - 1, 1024 + 4*(1<<32-1)}} {
		h := &chain.Header{ConsumedSeeds: chain.EncodeConsumedSeeds(nil)}
		for _, length := range []int{0, 1, min(c.most, chain.MaxPresenceBytes)} {
			h.PresenceInput = make([]byte, length)
			if err := checkInputs(h, c.runners); err != nil {
				t.Errorf("%d runners, %d bytes: %v", c.runners, length, err)
			}
		}
		if c.most > 1<<20 {
			continue
		}
		h.PresenceInput = make([]byte, c.most+1)
		if err := checkInputs(h, c.runners); !errors.Is(err, ErrPresenceSize) {
			t.Errorf("%d runners, %d bytes: %v, want %v", c.runners, c.most+1, err, ErrPresenceSize)
		}
	}
}

// TestHonestSetsFitWhereTheParentIsAhead: a full set over the parent's registry passes a
// look that knows an older one, however many runners joined between.
func TestHonestSetsFitWhereTheParentIsAhead(t *testing.T) {
	for _, joined := range []int{0, 256, 8_000} {
		all := chain.NewPresentSet(joined)
		for i := range joined {
			all.Add(uint32(i))
		}
		h := &chain.Header{PresenceInput: all.Encode(), ConsumedSeeds: chain.EncodeConsumedSeeds(nil)}
		if err := checkInputs(h, 0); err != nil {
			t.Errorf("%d runners joined since: %v", joined, err)
		}
	}
}

// TestRegistryOfTheParentCounts: what is refused over an empty registry passes where the
// parent's state lists runners, at first sight and executed; the next block knows them too.
func TestRegistryOfTheParentCounts(t *testing.T) {
	f := sharded(t)
	f.runners = 10
	l := f.ledger(t, &pool{})
	if got := l.Head().runners; got != 10 {
		t.Fatalf("%d runners, want 10", got)
	}
	p := f.propose(t, l)
	for length, want := range map[int]bool{1_024 + 40: true, 1_024 + 41: false} {
		block, err := chain.DecodeBlock(p.Block, len(p.Block))
		if err != nil {
			t.Fatal(err)
		}
		block.Header.PresenceInput = make([]byte, length)
		if ok, err := f.verify(t, l, block); ok != want || err != nil {
			t.Errorf("%d bytes: %v, %v, want %v", length, ok, err, want)
		}
		req := engine.VerifyRequest{
			Round: firstRound(), Parent: f.genesisParent(), Leader: testPeer,
			Digest: block.Header.Digest(), Block: chain.EncodeHeader(&block.Header),
		}
		if got := l.Glance(req); got != want {
			t.Errorf("%d bytes at first sight: %v, want %v", length, got, want)
		}
	}
	if err := l.Finalized(t.Context(), engine.Finalization{Round: firstRound(), Digest: p.Digest, Certificate: []byte("c")}); err != nil {
		t.Fatal(err)
	}
	<-l.Events()
	if got := l.Head().runners; got != 10 {
		t.Errorf("%d runners behind the first block, want 10", got)
	}
}

// TestRegistryThatCannotBeReadIsAFault: it is no verdict on a block.
func TestRegistryThatCannotBeReadIsAFault(t *testing.T) {
	if _, err := countRunners(statetest.Unread{}); !isFault(err) || !errors.Is(err, statetest.ErrRead) {
		t.Errorf("%v, want a fault", err)
	}
	damaged := statetest.NewMaps(withRunners(nil, 1<<32))
	if _, err := countRunners(damaged); !isFault(err) || !errors.Is(err, runners.ErrRecord) {
		t.Errorf("%v, want a fault", err)
	}
}
