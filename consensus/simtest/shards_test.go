package simtest

import (
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// Dissemination by shards (consensus.md §5 and the additions to the acceptance
// list of §6).

func sharded(cfg Config) Config {
	cfg.Sharded = true
	if cfg.Latency == 0 {
		cfg.Latency = 20 * time.Millisecond
	}
	return cfg
}

// Without faults every block is rebuilt by everybody and none is fetched.
func TestShardsAllOnline(t *testing.T) {
	for _, n := range []int{4, 7, 10} {
		w := enact(t, sharded(Config{Validators: n}))
		w.all(50, 5*time.Minute)
		w.clean()
		if r := w.report; r.BlocksFetched != 0 || r.BlocksRebuilt < 50*(n-1) || r.ShardsRefused != 0 {
			t.Errorf("n = %d: %d fetched, %d rebuilt, %d refused", n, r.BlocksFetched, r.BlocksRebuilt, r.ShardsRefused)
		}
	}
}

// The vote needs the own shard alone: with all relays lost blocks are notarized,
// and nobody finalizes one that it cannot rebuild or fetch.
func TestShardsVotePrecedesBody(t *testing.T) {
	w := enact(t, sharded(Config{Validators: 4}))
	w.passes = func(_, _ *validator, m message) bool { return m.relay == nil && m.request == 0 }
	w.pass(30 * time.Second)
	notarized := 0
	for v := range w.viewsNow()[0] {
		if w.certified(v, simplex.Notarize) {
			notarized++
		}
	}
	if len(w.ledger.chain) != 0 || notarized == 0 {
		t.Errorf("%d blocks final, %d views notarized", len(w.ledger.chain), notarized)
	}
	w.passes = nil
	w.all(20, 5*time.Minute)
	w.clean()
}

// A withholder of shards delays nobody: what it leads is rebuilt from others, or
// fetched, or nullified.
func TestShardWithholder(t *testing.T) {
	w := enact(t, sharded(Config{Validators: 4, Player: playerNamed(t, "shard withholder")}))
	w.all(60, 10*time.Minute)
	if w.report.Bans != 0 {
		t.Errorf("%d bans for silence", w.report.Bans)
	}
}

// Shards of two proposals of one view, shards of another index and altered
// shards are refused at receipt by everybody who gets them, and nobody but the
// sender is blamed.
func TestShardLiars(t *testing.T) {
	for _, name := range []string{"shard equivocator", "wrong-index relayer", "spoiler of shards"} {
		w := enact(t, sharded(Config{Validators: 7, Player: playerNamed(t, name)}))
		w.all(60, 10*time.Minute)
		if w.report.ShardsRefused == 0 || w.report.Bans < w.report.ShardsRefused {
			t.Errorf("%s: %d shards refused, %d bans", name, w.report.ShardsRefused, w.report.Bans)
		}
	}
}

// A leader whose shards are no codeword has its blocks refused by every honest
// validator alike, and none of them is final.
func TestShardsBadCodewordLeader(t *testing.T) {
	w := enact(t, sharded(Config{Validators: 4, Player: playerNamed(t, "bad-codeword leader")}))
	w.all(60, 10*time.Minute)
	found := 0
	for _, p := range w.ledger.chain {
		if good, seen := w.ledger.codewords[p.Payload]; seen && !good {
			t.Errorf("view %d: a block without a codeword is final", p.Round.View)
		}
	}
	for _, good := range w.ledger.codewords {
		if !good {
			found++
		}
	}
	if found == 0 || w.report.NotCodeword < 3*found-2 {
		t.Errorf("%d bad codewords, found %d times", found, w.report.NotCodeword)
	}
}

// An equivocating leader with two codewords splits the shards and is caught.
func TestShardsEquivocatingLeader(t *testing.T) {
	w := enact(t, sharded(Config{Validators: 7, Player: playerNamed(t, "equivocator")}))
	w.all(60, 10*time.Minute)
	if w.report.Equivocations == 0 && w.report.BlocksRebuilt == 0 {
		t.Error("nothing happened")
	}
}

// Own shards outlive crashes: the whole cluster dies between votes and bodies,
// again and again.
func TestShardsUncleanShutdown(t *testing.T) {
	w := enact(t, sharded(Config{Validators: 5, Jitter: 30 * time.Millisecond}))
	for range 20 {
		w.pass(w.between(100*time.Millisecond, 6*time.Second))
		for _, v := range w.validators {
			if v.up {
				v.crash(time.Second)
			}
		}
	}
	w.all(50, 5*time.Minute)
	w.clean()
}

// A crash right after each vote for a block whose body is not here.
func TestShardsCrashAfterVote(t *testing.T) {
	w := enact(t, sharded(Config{Validators: 4}))
	died := 0
	for _, v := range w.validators {
		v.dies = func(out []simplex.Effect) bool {
			for _, effect := range out {
				if x, ok := effect.(simplex.Broadcast); ok && x.Vote.Kind == simplex.Notarize && died < 25 && w.chance(0.3) {
					died++
					return true
				}
			}
			return false
		}
	}
	w.all(60, 10*time.Minute)
	if died < 10 {
		t.Errorf("%d crashes", died)
	}
	w.clean()
}

// A node outside the set and a validator that was away get blocks whole.
func TestShardsObserverAndLateJoiner(t *testing.T) {
	w := enact(t, sharded(Config{Validators: 4, Observers: 1, Stopped: []beacon.Participant{3}}))
	w.pass(time.Minute)
	w.validators[3].start()
	w.all(30, 5*time.Minute)
	if a, b := len(w.validators[4].app.chain), len(w.validators[3].app.chain); a < 30 || b < 30 {
		t.Errorf("observer at %d, late joiner at %d", a, b)
	}
	w.clean()
}
