package chain

import (
	"encoding/hex"
	"strconv"
	"testing"

	"github.com/cowboy-foundation/cowboy/crypto/vectors"
)

// The tests of this file hold preimages of runner selection to an independent
// implementation of the same texts.

func hashOf(t *testing.T, s string) (h Hash) {
	t.Helper()
	if n, err := hex.Decode(h[:], []byte(s)); err != nil || n != len(h) {
		t.Fatalf("hash %q", s)
	}
	return h
}

func wordOf(t *testing.T, s string) uint64 {
	t.Helper()
	v, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// foreignCandidate is a [Candidate] as the vectors spell it.
type foreignCandidate struct {
	Runner, Stake, Weight string
	Reputation            string `json:"reputation_x1e9"`
}

func (c *foreignCandidate) candidate(t *testing.T) Candidate {
	runner, err := hex.DecodeString(c.Runner)
	if err != nil || len(runner) != len(Address{}) {
		t.Fatalf("runner %q", c.Runner)
	}
	return Candidate{
		Runner: Address(runner), EffectiveStake: Wei(wordOf(t, c.Stake)),
		ReputationX1e9: wordOf(t, c.Reputation), BaseWeight: wordOf(t, c.Weight),
	}
}

func TestCandidatesOfOthers(t *testing.T) { // CIP-11 §9.2
	var trees []struct {
		Candidates []foreignCandidate
		Leaves     []string
		Root       string
	}
	vectors.Decode(t, "selection/tree.json", &trees)
	for _, tree := range trees {
		var list []Candidate
		for i := range tree.Candidates {
			list = append(list, tree.Candidates[i].candidate(t))
			if got := CandidateLeaf(uint32(i), list[i]); got != hashOf(t, tree.Leaves[i]) {
				t.Errorf("leaf %d of %d: %v, want %s", i, len(tree.Candidates), got, tree.Leaves[i])
			}
		}
		if got := CandidatesRoot(list); got != hashOf(t, tree.Root) {
			t.Errorf("root of %d: %v, want %s", len(list), got, tree.Root)
		}
	}
	if len(trees) < 12 {
		t.Errorf("%d trees", len(trees))
	}
}

func TestSelectionSeedsOfOthers(t *testing.T) { // CIP-2 §5-6, CIP-11 §9.2
	var draws []struct {
		Name, Path, Beacon, Seed string
		BlockHash                string `json:"block_hash"`
		JobID                    string `json:"job_id"`
		FirstSeed                string `json:"first_seed"`
		Root                     string `json:"candidates_root"`
		Mode                     SelectionMode
		Retry                    uint32
		SubmittedAt              Height `json:"submitted_at"`
		Candidates               []foreignCandidate
	}
	vectors.Decode(t, "selection/draws.json", &draws)
	for _, d := range draws {
		job := hashOf(t, d.JobID)
		var first Hash
		if d.Path == "v2" {
			first = SelectionSeedV2(hashOf(t, d.BlockHash), job, d.SubmittedAt)
		} else {
			first = SelectionSeedV3(hashOf(t, d.Beacon), d.Mode, job, d.SubmittedAt)
		}
		seed := first
		if d.Retry > 0 {
			seed = RetrySeed(first, d.Retry)
		}
		if first != hashOf(t, d.FirstSeed) || seed != hashOf(t, d.Seed) {
			t.Errorf("%s: seeds %v and %v, want %s and %s", d.Name, first, seed, d.FirstSeed, d.Seed)
		}
		var list []Candidate
		for i := range d.Candidates {
			list = append(list, d.Candidates[i].candidate(t))
		}
		if got := CandidatesRoot(list); got != hashOf(t, d.Root) {
			t.Errorf("%s: root %v, want %s", d.Name, got, d.Root)
		}
	}
	if len(draws) < 50 {
		t.Errorf("%d draws", len(draws))
	}
}

func TestSubsetsOfOthers(t *testing.T) { // CIP-11 §5.1
	var rest struct {
		Sizes   []int `json:"subset_sizes"`
		Subsets []struct {
			Runner     string `json:"runner_key"`
			Validators []string
			Subset     []string
		}
	}
	vectors.Decode(t, "selection/rest.json", &rest)
	for n, want := range rest.Sizes {
		if got := SubsetSize(n); got != want {
			t.Errorf("of %d: %d, want %d", n, got, want)
		}
	}
	for _, s := range rest.Subsets {
		var peers []PeerKey
		for _, v := range s.Validators {
			peers = append(peers, PeerKey(hashOf(t, v)))
		}
		runner, err := hex.DecodeString(s.Runner)
		if err != nil {
			t.Fatal(err)
		}
		got := Subset(RunnerKey(runner), peers)
		for i, want := range s.Subset {
			if len(got) != len(s.Subset) || got[i] != PeerKey(hashOf(t, want)) {
				t.Errorf("subset of %d: %x, want %v", len(peers), got, s.Subset)
				break
			}
		}
	}
	if len(rest.Sizes) < 100 || len(rest.Subsets) < 5 {
		t.Errorf("%d sizes, %d subsets", len(rest.Sizes), len(rest.Subsets))
	}
}
