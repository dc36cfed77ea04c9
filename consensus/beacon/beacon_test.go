package beacon

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// genesis returns a record of validators with the given stakes, and the key
// that signs for the group.
func testGenesis(t testing.TB, stakes ...chain.Wei) (*genesis.Genesis, []bls.Share) {
	t.Helper()
	n := len(stakes)
	polynomial, shares, err := bls.DealTrusted(bytes.Repeat([]byte{4}, 32), n, chain.Quorum(n))
	if err != nil {
		t.Fatal(err)
	}
	g := &genesis.Genesis{Name: "test", ChainID: 1, Beacon: chain.Hash{1}}
	g.GroupKey = polynomial.Group().Bytes()
	for i, stake := range stakes {
		g.Validators = append(g.Validators, chain.Validator{
			PeerKey: chain.PeerKey{byte(i + 1)}, ShareIndex: uint32(i), Stake: stake,
			PublicShare: polynomial.PublicShare(uint32(i)).Bytes(),
		})
	}
	return g, shares
}

func set(t testing.TB, stakes ...chain.Wei) *ValidatorSet {
	t.Helper()
	g, _ := testGenesis(t, stakes...)
	s, err := NewValidatorSet(epoch.First(g))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// draws returns n beacons.
func draws(n int) []chain.Hash {
	out := make([]chain.Hash, n)
	for i := range out {
		out[i] = keccak.Sum256(binary.BigEndian.AppendUint64(nil, uint64(i)))
	}
	return out
}

// Quorum counts validators: n - floor((n-1)/3), so two quorums share an honest
// one.
func TestQuorum(t *testing.T) {
	for n, want := range map[int]int{1: 1, 2: 2, 3: 3, 4: 3, 5: 4, 7: 5, 10: 7} {
		stakes := make([]chain.Wei, n)
		stakes[0] = 1 << 60 // stake does not count
		s := set(t, stakes...)
		if got := s.Quorum(); got != want || s.Len() != n {
			t.Errorf("quorum of %d = %d, want %d", s.Len(), got, want)
		}
	}
}

func TestNewValidatorSetRefuses(t *testing.T) {
	f := func(name, want string, change func(*genesis.Genesis)) {
		t.Helper()
		g, _ := testGenesis(t, 1, 2, 3, 4)
		change(g)
		if _, err := NewValidatorSet(epoch.First(g)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	f("no validators", "empty", func(g *genesis.Genesis) { g.Validators = nil })
	f("wrong order", "order", func(g *genesis.Genesis) { g.Validators[1].PeerKey = chain.PeerKey{9} })
	f("a key twice", "order", func(g *genesis.Genesis) { g.Validators[1].PeerKey = g.Validators[0].PeerKey })
	f("a share of another position", "share", func(g *genesis.Genesis) { g.Validators[1].ShareIndex = 3 })
	f("no stake", "stake", func(g *genesis.Genesis) {
		for i := range g.Validators {
			g.Validators[i].Stake = 0
		}
	})
	f("stake beyond 64 bits", "64 bits", func(g *genesis.Genesis) { g.Validators[1].Stake = math.MaxUint64 })
	f("group key that is no point", "group key", func(g *genesis.Genesis) { g.GroupKey = [96]byte{1} })
	f("share that is no point", "public share", func(g *genesis.Genesis) { g.Validators[2].PublicShare = [96]byte{1} })
}

func TestFindAndAt(t *testing.T) {
	s := set(t, 1, 2, 3)
	p, ok := s.Find(chain.PeerKey{2})
	if !ok || p != 1 || s.At(p).Stake != 2 {
		t.Errorf("Find = %d, %v", p, ok)
	}
	if _, ok := s.Find(chain.PeerKey{9}); ok {
		t.Error("found a stranger")
	}
}

// The leader is drawn by stake (resolution 11.16): over many beacons each
// leads as often as its share says.
func TestLeaderIsDrawnByStake(t *testing.T) {
	s := set(t, 100, 0, 300, 600)
	var led [4]int
	const n = 20_000
	for _, b := range draws(n) {
		led[s.Leader(b)]++
	}
	for i, share := range []float64{0.1, 0, 0.3, 0.6} {
		want := share * n
		if got := float64(led[i]); math.Abs(got-want) > 5*math.Sqrt(n*share*(1-share))+1e-9 {
			t.Errorf("validator %d led %v times, want about %v", i, got, want)
		}
	}
}

// After a nullified view the leader of that view is passed over, and nobody
// else (resolution 11.16).
func TestLeaderPastANullifiedView(t *testing.T) {
	s := set(t, 100, 200, 300, 400)
	beacons := draws(4001)
	var redrawn [4]int
	for i := range beacons[1:] {
		before, prev := beacons[i], beacons[i+1]
		past, plain := s.Leader(before), s.Leader(prev)
		got := s.LeaderPast(prev, before)
		switch {
		case got == past:
			t.Fatalf("draw %d: %d leads again", i, got)
		case plain != past && got != plain:
			t.Fatalf("draw %d: %d was passed over for %d without need", i, plain, got)
		case plain == past:
			redrawn[got]++
		}
	}
	for i, n := range redrawn {
		if n == 0 {
			t.Errorf("validator %d never leads by a second draw", i)
		}
	}
}

// With one validator, or one with all the stake, there is nobody else to draw.
func TestLeaderPastNobodyElse(t *testing.T) {
	for _, s := range []*ValidatorSet{set(t, 5), set(t, 0, 7, 0, 0)} {
		want := s.Leader(chain.Hash{1})
		if got := s.LeaderPast(chain.Hash{2}, chain.Hash{3}); got != want {
			t.Errorf("leader %d, want %d", got, want)
		}
	}
}

// The draws are consensus-critical: these are frozen.
func TestLeaderIsFrozen(t *testing.T) {
	s := set(t, 100, 200, 300, 400)
	var got []Participant
	beacons := draws(13)
	for i := range beacons[1:] {
		got = append(got, s.Leader(beacons[i]), s.LeaderPast(beacons[i+1], beacons[i]))
	}
	const want = "233112122323322123323232"
	var b strings.Builder
	for _, p := range got {
		b.WriteByte('0' + byte(p))
	}
	if b.String() != want {
		t.Errorf("leaders %s, want %s", b.String(), want)
	}
}

// A seed is the group's signature of varint(epoch) ‖ varint(view) under
// N ‖ "_SEED" (consensus.md §1.3).
func TestVerifySeed(t *testing.T) {
	g, shares := testGenesis(t, 1)
	s, err := NewValidatorSet(epoch.First(g))
	if err != nil {
		t.Fatal(err)
	}
	hash := g.Hash()
	ns := append(append([]byte("cowboy-simplex-v1"), hash[:]...), "_SEED"...)
	seed := shares[0].Key.Sign(ns, []byte{0x00, 0xac, 0x02}) // with one validator, the share signs for the group
	if !s.VerifySeed(Round{View: 300}, seed) {
		t.Error("seed of view 300 does not verify")
	}
	for _, r := range []Round{{View: 299}, {Epoch: 1, View: 300}, {}} {
		if s.VerifySeed(r, seed) {
			t.Errorf("seed of view 300 verifies for %v", r)
		}
	}
	if s.VerifySeed(Round{View: 300}, bls.Signature{}) {
		t.Error("no seed verifies")
	}
}

// advance_round counts views within the known schedule (CIP-11 §9.2).
func TestAdvanceRound(t *testing.T) {
	if got, err := AdvanceRound(Round{View: 7}, 3); err != nil || got != (Round{View: 10}) {
		t.Errorf("7 and 3 views = %v, %v", got, err)
	}
	for _, r := range []Round{{Epoch: 1, View: 7}, {View: math.MaxUint64 - 1}} {
		if _, err := AdvanceRound(r, 3); !errors.Is(err, ErrUnmapped) {
			t.Errorf("%v and 3 views: %v, want ErrUnmapped", r, err)
		}
	}
}

// FuzzReadRound: encode(decode(x)) == x for whatever is accepted.
func FuzzReadRound(f *testing.F) {
	f.Add([]byte{0, 1})
	f.Add([]byte{0x80, 0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01, 7})
	f.Add([]byte{0x80, 0x00, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, rest, err := attest.ReadRound(b)
		if err != nil {
			if !errors.Is(err, attest.ErrVarint) {
				t.Errorf("%x: %v is no attest.ErrVarint", b, err)
			}
			return
		}
		if back := append(r.Append(nil), rest...); !bytes.Equal(back, b) {
			t.Errorf("%x decodes to %v, which encodes to %x", b, r, back)
		}
		if n := len(b) - len(rest); n > attest.RoundBytesMax {
			t.Errorf("a round of %d bytes", n)
		}
	})
}
