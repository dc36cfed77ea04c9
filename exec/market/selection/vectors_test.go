package selection_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/vectors"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
)

// The tests of this file hold the package to an independent implementation of the same
// texts, step by step.

// minStake is MIN_STAKE of CIP-2.
const minStake = 10_000 * chain.WeiPerCBY

// configOf is the configuration of the vectors.
func configOf(v selection.Version) *selection.Config {
	return &selection.Config{
		Version: v, StakeFloor: minStake, MinReputation: 50, HalfLifeBlocks: 14 * 86_400,
		Normalizer: selection.Normalizer, WeightFloorE6: 100_000, AverageBasisPoints: 1_000,
	}
}

// number is a decimal string of the vectors.
type number uint64

func (n *number) UnmarshalText(text []byte) error {
	v, err := strconv.ParseUint(string(text), 10, 64)
	*n = number(v)
	return err
}

type address chain.Address

func (a *address) UnmarshalText(text []byte) error { return fill(a[:], text) }

type hash chain.Hash

func (h *hash) UnmarshalText(text []byte) error { return fill(h[:], text) }

func fill(dst, text []byte) error {
	if hex.DecodedLen(len(text)) != len(dst) {
		return fmt.Errorf("%q is not %d bytes", text, len(dst))
	}
	_, err := hex.Decode(dst, text)
	return err
}

// foreign is a candidate as the vectors spell it.
type foreign struct {
	Runner        address
	Stake, Weight number
	Reputation    number `json:"reputation_x1e9"`
}

// all notes every place.
func all(n int) selection.Bitmap { return bytes.Repeat([]byte{0xff}, (n+7)/8) }

// candidates weighs the candidates of a file itself, and holds the weights to it.
func candidates(t *testing.T, list []foreign, v selection.Version) []chain.Candidate {
	t.Helper()
	runners := make([]selection.Runner, len(list))
	for i, f := range list {
		runners[i] = selection.Runner{Address: chain.Address(f.Runner), Stake: chain.Wei(f.Stake), ReputationX1e9: uint64(f.Reputation)}
	}
	out := configOf(v).Weigh(runners, selection.ByAddress(runners), all(len(runners)))
	for i, f := range list {
		if out[i].Runner != chain.Address(f.Runner) || out[i].BaseWeight != uint64(f.Weight) {
			t.Errorf("candidate %d: %v of weight %d, want %x of %d", i, out[i].Runner, out[i].BaseWeight, f.Runner, f.Weight)
		}
	}
	return out
}

type foreignStep struct {
	I             uint64
	Hash          hash
	Index         uint32
	Pool          string
	MRU           bool
	Total, Ticket number
	Runner        address
	Rest          []address
}

type foreignDraw struct {
	Name, Path   string
	Candidates   []foreign
	Root         hash    `json:"candidates_root"`
	BlockHash    hash    `json:"block_hash"`
	JobID        hash    `json:"job_id"`
	FirstSeed    hash    `json:"first_seed"`
	SubmittedAt  uint64  `json:"submitted_at"`
	SeedEpoch    *uint64 `json:"seed_epoch"`
	SeedView     uint64  `json:"seed_view"`
	Signature    string  `json:"seed_signature"`
	Beacon, Seed hash
	Mode         uint8
	Retry        uint32
	Runners      int
	Excluded     []address
	Present      *[]address
	MRU          *address
	Factor       uint32 `json:"mru_factor"`
	Steps        []foreignStep
	Committee    []address
	Fixed        []address `json:"committee_if_selection_chained_draw_is_false"`
}

func TestDrawsOfOthers(t *testing.T) { // CIP-2 §5-6, CIP-11 §9.2-9.3
	var draws []foreignDraw
	vectors.Decode(t, "selection/draws.json", &draws)
	steps := 0
	for i := range draws {
		d := &draws[i]
		t.Run(d.Name, func(t *testing.T) {
			if d.Path == "v2" {
				d.checkV2(t)
			} else {
				d.checkV3(t)
			}
		})
		steps += len(d.Steps)
	}
	if len(draws) < 56 || steps < 200 {
		t.Errorf("%d draws of %d steps", len(draws), steps)
	}
}

// round checks the seeds and returns the round.
func (d *foreignDraw) round(t *testing.T, first chain.Hash) *selection.Round {
	t.Helper()
	r := &selection.Round{First: first, Number: d.Retry, Runners: d.Runners}
	for _, e := range d.Excluded {
		r.Excluded = append(r.Excluded, chain.Address(e))
	}
	if r.First != chain.Hash(d.FirstSeed) || r.Seed() != chain.Hash(d.Seed) {
		t.Errorf("seeds %v and %v, want %x and %x", r.First, r.Seed(), d.FirstSeed, d.Seed)
	}
	return r
}

func (d *foreignDraw) take(t *testing.T, v selection.Version) *selection.Snapshot {
	t.Helper()
	s := selection.Take(candidates(t, d.Candidates, v))
	if s.CandidatesRoot() != chain.Hash(d.Root) {
		t.Errorf("root %v, want %x", s.CandidatesRoot(), d.Root)
	}
	return s
}

func (d *foreignDraw) checkV2(t *testing.T) {
	r := d.round(t, chain.SelectionSeedV2(chain.Hash(d.BlockHash), chain.Hash(d.JobID), chain.Height(d.SubmittedAt)))
	s := d.take(t, selection.V2)
	got, _ := selection.ReplayV2(s, r, true)
	d.compare(t, s, got, nil)
	if !slices.Equal(got, s.DrawV2(r, true)) {
		t.Error("DrawV2 takes other steps")
	}
	var fixed []address
	for _, step := range s.DrawV2(r, false) {
		fixed = append(fixed, address(s.Candidates()[step.Candidate].Runner))
	}
	if !slices.Equal(fixed, d.Fixed) {
		t.Errorf("not chained: %x, want %x", fixed, d.Fixed)
	}
}

func (d *foreignDraw) checkV3(t *testing.T) {
	if d.SeedEpoch != nil {
		var signature [chain.SeedBytes]byte
		if err := fill(signature[:], []byte(d.Signature)); err != nil {
			t.Fatal(err)
		}
		if b := chain.BeaconHash(chain.Epoch(*d.SeedEpoch), chain.View(d.SeedView), signature); b != chain.Hash(d.Beacon) {
			t.Errorf("beacon %v, want %x", b, d.Beacon)
		}
	}
	r := d.round(t, chain.SelectionSeedV3(chain.Hash(d.Beacon), chain.SelectionMode(d.Mode), chain.Hash(d.JobID), chain.Height(d.SubmittedAt)))
	s := d.take(t, selection.V3)
	p := s.Divide(selection.AllMembers, nil)
	if d.Present != nil {
		p = s.Divide(selection.PresentFirst, func(a chain.Address) bool { return slices.Contains(*d.Present, address(a)) })
	}
	f := selection.MRU{Factor: d.Factor}
	if d.MRU != nil {
		f.Known, f.Runner = true, chain.Address(*d.MRU)
	}
	got, rest := selection.ReplayV3(p, r, f)
	d.compare(t, s, got, rest)
	if !slices.Equal(got, p.DrawV3(r, f)) {
		t.Error("DrawV3 takes other steps")
	}
}

// compare holds steps, and the order of those that are left after each, to the file.
func (d *foreignDraw) compare(t *testing.T, s *selection.Snapshot, got []selection.Step, rest [][]uint32) {
	t.Helper()
	if len(got) != len(d.Steps) || len(got) != len(d.Committee) {
		t.Fatalf("%d steps, want %d for %d seats", len(got), len(d.Steps), len(d.Committee))
	}
	for i, want := range d.Steps {
		step := got[i]
		runner := address(s.Candidates()[step.Candidate].Runner)
		if want.I != uint64(i) || step.Hash != chain.Hash(want.Hash) || step.Place != want.Index || step.MRU != want.MRU ||
			step.Total != [2]uint64{0, uint64(want.Total)} || step.Ticket != uint64(want.Ticket) || runner != want.Runner || runner != d.Committee[i] {
			t.Errorf("step %d: %+v of %x, want %+v", i, step, runner, want)
		}
		if fallback := want.Pool == "fallback"; fallback != (step.Pool == 1) {
			t.Errorf("step %d: pool %d, want %q", i, step.Pool, want.Pool)
		}
		if rest == nil {
			continue
		}
		var left []address
		for _, k := range rest[i] {
			left = append(left, address(s.Candidates()[k].Runner))
		}
		if !slices.Equal(left, want.Rest) {
			t.Errorf("step %d leaves %x, want %x", i, left, want.Rest)
		}
	}
}

func TestTreesOfOthers(t *testing.T) { // CIP-11 §9.2
	var trees []struct {
		Candidates []foreign
		Root       hash
		Proofs     [][]hash
	}
	vectors.Decode(t, "selection/tree.json", &trees)
	for _, tree := range trees {
		s := selection.Take(candidates(t, tree.Candidates, selection.V3))
		if s.CandidatesRoot() != chain.Hash(tree.Root) {
			t.Errorf("root of %d: %v, want %x", len(tree.Candidates), s.CandidatesRoot(), tree.Root)
		}
		for i, want := range tree.Proofs {
			p, ok := s.Prove(i)
			if !ok || len(p.Siblings) != len(want) || !p.Verify(chain.Hash(tree.Root)) {
				t.Errorf("proof %d of %d: %v", i, len(tree.Candidates), p)
				continue
			}
			for k := range want {
				if p.Siblings[k] != chain.Hash(want[k]) {
					t.Errorf("proof %d of %d: sibling %d is %v, want %x", i, len(tree.Candidates), k, p.Siblings[k], want[k])
				}
			}
		}
	}
	if len(trees) < 12 {
		t.Errorf("%d trees", len(trees))
	}
}

func TestWeightsOfOthers(t *testing.T) { // CIP-2 §5, CIP-11 §9.3
	var file struct {
		V2 []struct {
			Stake  number
			Weight uint64
		}
		V3 []struct {
			Stake, Weight number
			Reputation    number `json:"reputation_x1e9"`
		}
	}
	vectors.Decode(t, "selection/weights.json", &file)
	for _, w := range file.V2 {
		if got := configOf(selection.V2).Weight(chain.Wei(w.Stake), 0); got != w.Weight {
			t.Errorf("v2 weight of %d: %d, want %d", w.Stake, got, w.Weight)
		}
	}
	for _, w := range file.V3 {
		if got := configOf(selection.V3).Weight(chain.Wei(w.Stake), uint64(w.Reputation)); got != uint64(w.Weight) {
			t.Errorf("v3 weight of %d at %d: %d, want %d", w.Stake, w.Reputation, got, w.Weight)
		}
	}
	if len(file.V2) < 17 || len(file.V3) < 90 {
		t.Errorf("%d and %d weights", len(file.V2), len(file.V3))
	}
}

func TestReputationOfOthers(t *testing.T) { // resolutions 11.4, 12.6
	var file struct {
		HalfLife uint64 `json:"half_life_blocks"`
		Decay    []struct {
			Reputation number `json:"reputation_x1e9"`
			Blocks     number
			Decayed    number
			Rounded    uint64
		}
		EMA []struct {
			Before, After number
			Score         uint64
		}
		Back uint64 `json:"blocks_until_45_is_selectable"`
	}
	vectors.Decode(t, "selection/reputation.json", &file)
	for _, d := range file.Decay {
		s := selection.Standing{ReputationX1e9: uint64(d.Reputation), Height: 7}
		got := s.At(7+chain.Height(d.Blocks), file.HalfLife)
		if got != uint64(d.Decayed) || selection.Rounded(got) != d.Rounded {
			t.Errorf("%d after %d blocks: %d, want %d", d.Reputation, d.Blocks, got, d.Decayed)
		}
	}
	events := map[uint64]selection.Event{100: selection.Verified, 110: selection.Gathered, 0: selection.Disagreed}
	for _, e := range file.EMA {
		s := selection.Standing{ReputationX1e9: uint64(e.Before), Height: 9}
		if got := s.After(events[e.Score], 9, configOf(selection.V3), nil); got.ReputationX1e9 != uint64(e.After) {
			t.Errorf("%d and a score of %d: %d, want %d", e.Before, e.Score, got.ReputationX1e9, e.After)
		}
	}
	fallen := selection.Standing{ReputationX1e9: 45 * selection.Point}
	before, at := fallen.At(chain.Height(file.Back-1), file.HalfLife), fallen.At(chain.Height(file.Back), file.HalfLife)
	if selection.Rounded(before) != 49 || selection.Rounded(at) != 50 {
		t.Errorf("45 is %d and then %d after %d blocks", before, at, file.Back)
	}
	if len(file.Decay) < 140 || len(file.EMA) < 9 || file.Back == 0 {
		t.Errorf("%d decays, %d averages", len(file.Decay), len(file.EMA))
	}
}
