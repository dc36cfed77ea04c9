package statesync

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cowboy-foundation/cowboy/state/checkpoint"
	"github.com/cowboy-foundation/cowboy/state/snapshot"
)

// errList means that a peer sent another list than the state commits to.
var errList = errors.New("list of candidates has another root")

// lists fetches the candidate lists of the jobs that the state, which is here by
// now, has live (resolution 11.19). Each is held to its root in the state.
func (j *job) lists(ctx context.Context) ([]checkpoint.JobRoot, error) {
	v, err := j.to.State()
	if err != nil {
		return nil, fmt.Errorf("state sync: %w", err)
	}
	live, err := j.cfg.Trust.Live(v)
	if err != nil {
		return nil, fmt.Errorf("state sync: live jobs: %w", err)
	}
	j.keptAt = time.Now() // to compute the root may have taken long
	id := uint64(1 << 31) // above all that the fetch of accounts can have used
	for _, want := range live {
		var list *checkpoint.List
		for list == nil {
			id++
			if list, err = j.handleList(ctx, want, j.number<<32|id); err != nil {
				return nil, err
			}
		}
		piece, _ := snapshot.PieceOf(list)
		if err := j.to.Put(j.fetch.Progress(), piece); err != nil {
			return nil, fmt.Errorf("state sync: %w", err)
		}
	}
	return live, nil
}

// handleList asks one peer for a list, and another beside it when it is late. It returns nil
// if they did not help.
func (j *job) handleList(ctx context.Context, want checkpoint.JobRoot, id uint64) (*checkpoint.List, error) {
	peer, ok := j.nextPeer()
	if !ok {
		if peer, ok = j.rouse(); !ok {
			return nil, errStarved
		}
	}
	q := checkpoint.Request{Kind: checkpoint.AskList, From: want.Job}
	ask := func(peer int) { j.cfg.Network.Send(peer, get{id, j.anchor.Digest, q}.append(nil)) }
	asked := []int{peer}
	ask(peer)
	deadline := time.NewTimer(j.cfg.RequestTimeout)
	defer deadline.Stop()
	late := time.NewTimer(j.lateAfter())
	defer late.Stop()
	for {
		var d delivery
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-late.C:
			j.passed[peer] = true
			if other, ok := j.nextPeer(); ok && !slices.Contains(asked, other) {
				asked = append(asked, other)
				ask(other)
			}
			continue
		case <-deadline.C:
			for _, peer := range asked {
				j.resting[peer] = time.Now().Add(j.cfg.RestFor)
			}
			return nil, nil
		case d = <-j.inbox:
			j.took(d)
		}
		if !slices.Contains(asked, d.from) {
			continue
		}
		switch m := d.msg.(type) {
		case none:
			if m.id == id {
				j.without[d.from] = true
				return nil, nil
			}
		case chunk:
			if m.id != id {
				continue
			}
			c, err := checkpoint.DecodeChunk(m.payload)
			list, ok := c.(*checkpoint.List)
			if err != nil || !ok || list.Root() != want {
				j.blame(d.from, errors.Join(errList, err))
				return nil, nil
			}
			j.keptAt = time.Now()
			j.backers.gave[d.from] = true
			return list, nil
		}
	}
}

// nextPeer returns a peer that may be asked, the one after the last in turn, of those
// that were not late, or else of all.
func (j *job) nextPeer() (int, bool) {
	var peers, quick []int
	for peer, a := range j.offers {
		if a.Height() >= j.anchor.Height() && !j.without[peer] && !time.Now().Before(j.resting[peer]) {
			peers = append(peers, peer)
			if !j.passed[peer] {
				quick = append(quick, peer)
			}
		}
	}
	if len(quick) > 0 {
		peers = quick
	}
	if len(peers) == 0 {
		return 0, false
	}
	slices.Sort(peers)
	j.turn++
	return peers[j.turn%len(peers)], true
}
