package ledger

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

// TestRoomOfALane: a block is packed again for room that one lane has lost, measured by that
// lane, and not for room that nobody stands out for.
func TestRoomOfALane(t *testing.T) {
	byDefault := params.Default()
	p := &byDefault
	runner, user := fees.LaneTarget(p, chain.LaneRunner), fees.LaneTarget(p, chain.LaneUser)
	tests := []struct {
		name          string
		counted, used chain.Usage // of the runner lane
		users         chain.Usage // counted and not used in the user lane
		cut           chain.LaneID
		want          bool
	}{
		{"half of the runner lane unused", runner, half(runner), chain.Usage{}, chain.LaneRunner, true},
		{"half of its cells", chain.Usage{Cells: runner.Cells}, chain.Usage{Cells: runner.Cells / 2}, chain.Usage{}, chain.LaneRunner, true},
		{"all used", runner, runner, chain.Usage{}, chain.LaneRunner, false},
		{"nobody stands out", runner, half(runner), chain.Usage{}, chain.NumLanes, false},
		{"users' room is not runners'", runner, runner, user, chain.LaneRunner, false},
		{"runners' room flows to users", runner, chain.Usage{}, chain.Usage{}, chain.LaneUser, true},
		{"a little of it is not worth it", chain.Usage{Cycles: p.CyclesTarget / refillPart}, chain.Usage{}, chain.Usage{}, chain.LaneUser, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var sel order.Selection
			var used [chain.NumLanes]chain.Usage
			sel.Counted[chain.LaneRunner], used[chain.LaneRunner] = tt.counted, tt.used
			sel.Counted[chain.LaneUser] = tt.users
			if tt.cut < chain.NumLanes {
				sel.Cut[tt.cut] = true
			}
			if got := leavesRoom(&sel, used, p); got != tt.want {
				t.Errorf("packed again: %v, want %v", got, tt.want)
			}
		})
	}
	if half(runner).Cycles > p.CyclesTarget/refillPart {
		t.Errorf("half of the runner lane is %d cycles, a part of the block %d: the first case says nothing", half(runner).Cycles, p.CyclesTarget/refillPart)
	}
}

func half(u chain.Usage) chain.Usage { return chain.Usage{Cycles: u.Cycles / 2, Cells: u.Cells / 2} }
