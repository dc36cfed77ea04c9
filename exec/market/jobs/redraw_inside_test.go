package jobs

import (
	"bytes"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
	"github.com/cowboy-foundation/cowboy/state"
)

// TestShareOfDraws: who has many jobs waiting leaves three quarters of a block's draws to
// others, and takes all where nobody else waits.
func TestShareOfDraws(t *testing.T) {
	queue := func(by string) (all []retry) {
		for n, c := range by {
			all = append(all, retry{id: chain.Hash{byte(n)}, job: &Job{Submitter: chain.Address{byte(c)}}})
		}
		return all
	}
	for _, c := range []struct {
		waiting string
		most    int
		want    string // by places
	}{
		{"aaaaaaaaab", 8, "01923456"},
		{"aaaaaaaaaaa", 8, "01234567"},
		{"aaabbbcccddd", 8, "0134679:"},
		{"aabb", 2, "02"},
		{"ab", 1, "0"},
		{"", 4, ""},
		{"a", 4, "0"},
	} {
		var got []byte
		for _, w := range shareOut(queue(c.waiting), c.most) {
			got = append(got, '0'+w.id[0])
		}
		if string(got) != c.want {
			t.Errorf("%s, %d draws: %s, want %s", c.waiting, c.most, got, c.want)
		}
	}
}

// TestRedrawsAreBounded: candidates of one root count once in a block, the first of a block
// always have room, and what finds none waits.
func TestRedrawsAreBounded(t *testing.T) {
	b := &Book{State: state.NewOverlay(state.Empty{})}
	waits := func(n, root, candidates byte) retry {
		b.set(EligibleKey(chain.Hash{n}), bytes.Repeat([]byte{0x81}, int(candidates)/2))
		return retry{id: chain.Hash{n}, job: &Job{CandidatesRoot: chain.Hash{root}}}
	}
	r := redraws{left: 30, papers: 100, made: map[chain.Hash]bool{}}
	for i, c := range []struct {
		of   retry
		want bool
	}{
		{waits(1, 1, 40), true}, {waits(2, 1, 40), true}, {waits(3, 2, 2), false},
	} {
		if got, err := r.takes(b, c.of); err != nil || got != c.want {
			t.Errorf("%d: %v, %v", i, got, err)
		}
	}
	r = redraws{left: 30, papers: 100, made: map[chain.Hash]bool{}}
	for i, c := range []struct {
		of   retry
		want bool
	}{
		{waits(1, 1, 20), true}, {waits(2, 2, 10), false}, {waits(3, 3, 8), true}, {waits(4, 4, 0), false},
	} {
		if got, err := r.takes(b, c.of); err != nil || got != c.want {
			t.Errorf("%d of many: %v, %v", i, got, err)
		}
	}
}

// TestPapersOfRedrawsAreBounded: what jobs ask for is read for a retry, and so much of it in a
// block and no more, but for the first; what falls due counts by it too.
func TestPapersOfRedrawsAreBounded(t *testing.T) {
	b := &Book{State: state.NewOverlay(state.Empty{})}
	r := redraws{left: 30, papers: 100, made: map[chain.Hash]bool{}}
	for i, c := range []struct {
		papers uint32
		want   bool
	}{{60, true}, {41, false}, {40, true}, {1, false}, {0, true}} {
		if got, err := r.takes(b, retry{id: chain.Hash{byte(i)}, job: &Job{Papers: c.papers}}); err != nil || got != c.want {
			t.Errorf("%d: %v, %v", i, got, err)
		}
	}
	r = redraws{left: 30, papers: 100, made: map[chain.Hash]bool{}}
	if got, err := r.takes(b, retry{job: &Job{Papers: 101}}); err != nil || !got {
		t.Errorf("the first of a block: %v, %v", got, err)
	}
	j := &Job{Runners: 9, Papers: 3*PaperBytes - 1}
	for e, want := range map[Event]uint64{AtCommitDeadline: 4, AtDeadline: 4, AtWindowEnd: 2} {
		if got := j.weighs(e); got != want {
			t.Errorf("event %d counts as %d more, want %d", e, got, want)
		}
	}
}

// TestMemoDropsTheOldest: a snapshot that is used stays, whenever it was made.
func TestMemoDropsTheOldest(t *testing.T) {
	of := func(first byte, n int) *selection.Snapshot {
		list := make([]chain.Candidate, n)
		for i := range list {
			list[i] = chain.Candidate{Runner: chain.Address{first, byte(i >> 16), byte(i >> 8), byte(i)}, BaseWeight: 1}
		}
		return selection.Take(list)
	}
	m, s := NewMemo(), []*selection.Snapshot{of(1, snapshotsRoom/4), of(2, snapshotsRoom/4), of(3, snapshotsRoom/2-3)}
	for _, one := range s {
		m.keep(one)
	}
	if m.used != snapshotsRoom {
		t.Errorf("%d of %d in use", m.used, snapshotsRoom)
	}
	if m.snapshot(s[0].CandidatesRoot()) != s[0] {
		t.Error("the first is gone though there was room")
	}
	m.keep(of(4, 0))
	if m.snapshot(s[1].CandidatesRoot()) != nil {
		t.Error("the one that was used longest ago is still there")
	}
	if m.snapshot(s[0].CandidatesRoot()) == nil || m.snapshot(s[2].CandidatesRoot()) == nil || len(m.snapshots) != 3 || m.latest.Len() != 3 {
		t.Errorf("%d snapshots", len(m.snapshots))
	}
}
