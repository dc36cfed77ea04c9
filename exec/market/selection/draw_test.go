package selection_test

import (
	"encoding/binary"
	"encoding/hex"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
)

// seven are runners whose addresses, stakes and reputations stand in no order.
func seven() []selection.Runner {
	out := make([]selection.Runner, 7)
	for i, r := range []struct {
		runner     byte
		cby        chain.Wei
		reputation uint64
	}{{0x70, 10_000, 50}, {0x20, 10_240_000, 73}, {0x50, 30_000, 50}, {0x10, 70_000, 200}, {0x60, 15_000, 51}, {0x40, 1_000_000, 99}, {0x30, 20_000, 61}} {
		out[i] = selection.Runner{Address: chain.Address{r.runner}, Stake: r.cby * chain.WeiPerCBY, ReputationX1e9: r.reputation * selection.Point}
	}
	return out
}

func takeSeven(v selection.Version) *selection.Snapshot {
	runners := seven()
	return selection.Take(configOf(v).Weigh(runners, selection.ByAddress(runners), all(7)))
}

// committee returns the first byte of each drawn address.
func committee(s *selection.Snapshot, steps []selection.Step) string {
	var out []byte
	for _, step := range steps {
		out = append(out, s.Candidates()[step.Candidate].Runner[0])
	}
	return hex.EncodeToString(out)
}

// TestDrawsArePinned: committees and roots that were computed once; a change is a hard fork.
func TestDrawsArePinned(t *testing.T) {
	v2, v3 := takeSeven(selection.V2), takeSeven(selection.V3)
	first := chain.SelectionSeedV2(chain.Hash{1}, chain.Hash{2}, 1000)
	later := chain.SelectionSeedV3(chain.Hash{3}, chain.SelectDelayed, chain.Hash{2}, 1000)
	everybody := v3.Divide(selection.AllMembers, nil)
	two := func(a chain.Address) bool { return a[0] == 0x70 || a[0] == 0x30 }
	fav := selection.MRU{Known: true, Runner: chain.Address{0x70}, Factor: 4}
	var none selection.MRU
	for _, c := range []struct {
		name, want string
		s          *selection.Snapshot
		steps      []selection.Step
	}{
		{"v2", "704020", v2, v2.DrawV2(&selection.Round{First: first, Runners: 3}, true)},
		{"v2, all and more", "70402050106030", v2, v2.DrawV2(&selection.Round{First: first, Runners: 9}, true)},
		{"v2, not chained", "701040", v2, v2.DrawV2(&selection.Round{First: first, Runners: 3}, false)},
		{"v2, again", "103070", v2, v2.DrawV2(&selection.Round{First: first, Number: 1, Runners: 3, Excluded: []chain.Address{{0x20}, {0x99}, {0x20}}}, true)},
		{"v3", "204010", v3, everybody.DrawV3(&selection.Round{First: later, Runners: 3}, none)},
		{"v3, into the fallback", "7030204060", v3, v3.Divide(selection.PresentFirst, two).DrawV3(&selection.Round{First: later, Runners: 5}, fav)},
		{"v3, Mode A", "7030", v3, v3.Divide(selection.PresentOnly, two).DrawV3(&selection.Round{First: later, Runners: 5}, fav)},
		{"v3, again", "4010", v3, everybody.DrawV3(&selection.Round{First: later, Number: 2, Runners: 2, Excluded: []chain.Address{{0x20}}}, fav)},
	} {
		if got := committee(c.s, c.steps); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if got := v2.CandidatesRoot().String(); got != "0x080971c52d420bc4c7c02b654b5357db02558b1c3400ca9d084b7f0ab8cccea1" {
		t.Errorf("v2 root %s", got)
	}
	if got := v3.CandidatesRoot().String(); got != "0x33a7687c9da1b29a97c9d5793713d6f7571642cc57cbf70024cfc60f3d110f9c" {
		t.Errorf("v3 root %s", got)
	}
}

// TestWeightsOfZero: who weighs nothing is never drawn, and where nobody of a pool weighs
// anything the draw ends without asking the next pool (CIP-11 §9.2).
func TestWeightsOfZero(t *testing.T) {
	list := make([]chain.Candidate, 4)
	for i := range list {
		list[i].Runner[0] = byte(i)
	}
	list[2].BaseWeight = 7
	s := selection.Take(list)
	r := &selection.Round{First: chain.Hash{1}, Runners: 4}
	even := func(a chain.Address) bool { return a[0]%2 == 0 }
	odd := func(a chain.Address) bool { return a[0]%2 == 1 }
	for name, c := range map[string]struct {
		steps []selection.Step
		want  string
	}{
		"v2":               {s.DrawV2(r, true), "02"},
		"v3":               {s.Divide(selection.AllMembers, nil).DrawV3(r, selection.MRU{}), "02"},
		"weightless first": {s.Divide(selection.PresentFirst, odd).DrawV3(r, selection.MRU{}), ""},
		"weightless then":  {s.Divide(selection.PresentFirst, even).DrawV3(r, selection.MRU{}), "02"},
		"an MRU":           {s.Divide(selection.PresentFirst, odd).DrawV3(r, selection.MRU{Known: true, Runner: chain.Address{1}, Factor: 4}), ""},
		"nobody":           {selection.Take(nil).DrawV2(r, true), ""},
	} {
		if got := committee(s, c.steps); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestLargestTree: the tree of a full registry, and of one more, is the plain one.
func TestLargestTree(t *testing.T) {
	if testing.Short() {
		t.Skip("hashes half a million nodes: left out of -short runs, runs in make test")
	}
	for _, n := range []int{1 << 16, 1<<16 + 1} {
		list := make([]chain.Candidate, n)
		for i := range list {
			binary.BigEndian.PutUint32(list[i].Runner[:], uint32(i))
		}
		s := selection.Take(list)
		root := chain.CandidatesRoot(list)
		if s.CandidatesRoot() != root {
			t.Errorf("of %d: another root", n)
		}
		for _, i := range []int{0, n / 2, n - 1} {
			if p, ok := s.Prove(i); !ok || !p.Verify(root) || len(p.Siblings) < 16 {
				t.Errorf("%d of %d is not proven", i, n)
			}
		}
	}
}

func TestMembersOf(t *testing.T) { // CIP-11 §7.3, §15.9
	for _, c := range []struct {
		validators, runners int
		hard                bool
		want                selection.Members
	}{
		{1, 1, false, selection.PresentFirst},
		{1, 5, false, selection.PresentFirst},
		{4, 1, false, selection.PresentFirst},
		{4, 2, false, selection.AllMembers},
		{4, 2, true, selection.PresentOnly},
		{1, 1, true, selection.PresentOnly},
	} {
		if got := selection.MembersOf(c.validators, c.runners, c.hard); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

func TestMRU(t *testing.T) { // CIP-11 §9.3-9.4
	for _, c := range []struct {
		noted, now chain.Height
		want       bool
	}{{10, 1_290, true}, {10, 1_291, false}, {10, 3, true}, {0, ^chain.Height(0), false}} {
		if got := selection.Fresh(c.noted, c.now, 1_280); got != c.want {
			t.Errorf("noted at %d, at %d: %v", c.noted, c.now, got)
		}
	}
	seats := []chain.Address{{9}, {3}, {5}}
	for _, c := range []struct {
		matching []bool
		want     chain.Address
		ok       bool
	}{{[]bool{false, true, true}, chain.Address{3}, true}, {[]bool{false, false, false}, chain.Address{}, false}} {
		if got, ok := selection.Served(seats, func(seat int) bool { return c.matching[seat] }); got != c.want || ok != c.ok {
			t.Errorf("%v: %v, %v", c.matching, got, ok)
		}
	}
}

// TestStandings: what each event is worth under both versions (resolutions 11.4, 12.6,
// 12.7, 12.35).
func TestStandings(t *testing.T) {
	points := &selection.Points{PerResult: 1, PerTimeout: 5, PerDisagreement: 1, PerFailure: 3, Max: 200}
	for _, c := range []struct {
		event          selection.Event
		from, v2, v3   uint64 // billionths
		fromMax, fromZ uint64 // v2, from 200 points and from half a point
	}{
		{selection.Verified, 50e9, 51e9, 55e9, 200e9, 1.5e9},
		{selection.Gathered, 50e9, 51e9, 56e9, 200e9, 1.5e9},
		{selection.Silent, 50e9, 45e9, 45e9, 195e9, 0},
		{selection.Disagreed, 50e9, 49e9, 45e9, 199e9, 0},
		{selection.Withheld, 50e9, 50e9, 45e9, 200e9, 0.5e9},
		{selection.Abandoned, 50e9, 47e9, 50e9, 197e9, 0},
	} {
		after := func(from uint64, v selection.Version) uint64 {
			return selection.Standing{ReputationX1e9: from, Height: 5}.After(c.event, 5, configOf(v), points).ReputationX1e9
		}
		got := []uint64{after(c.from, selection.V2), after(c.from, selection.V3), after(200e9, selection.V2), after(0.5e9, selection.V2)}
		if want := []uint64{c.v2, c.v3, c.fromMax, c.fromZ}; !slices.Equal(got, want) {
			t.Errorf("event %d: %v, want %v", c.event, got, want)
		}
	}
	c := configOf(selection.V2)
	s := selection.Standing{ReputationX1e9: 60e9, Height: 0}.After(selection.Verified, chain.Height(c.HalfLifeBlocks), c, points)
	if s.ReputationX1e9 != 56e9 || s.Height != chain.Height(c.HalfLifeBlocks) {
		t.Errorf("decays before it rises: %+v", s)
	}
	if s := (selection.Standing{ReputationX1e9: 60e9, Height: 9}).After(selection.Silent, 3, c, points); s.ReputationX1e9 != 55e9 || s.Height != 9 {
		t.Errorf("an event before the standing: %+v", s)
	}
	for from, want := range map[uint64]uint64{199.5e9: 200e9, 200e9: 200e9, 201e9: 200e9, 1 << 63: 200e9} {
		if s := (selection.Standing{ReputationX1e9: from}).After(selection.Verified, 0, c, points); s.ReputationX1e9 != want {
			t.Errorf("from %d to %d, want the ceiling", from, s.ReputationX1e9)
		}
	}
	if got := selection.Cap(0, 0, 10); got != 0 {
		t.Errorf("a cap of none is %d", got)
	}
}
