package lanes

import (
	"errors"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/state/statetest"
)

// TestLargeLimitsTakeNoSpace: a transfer's unused limit is not taken from the
// others (resolution 11.14), only the largest one is kept free once.
func TestLargeLimitsTakeNoSpace(t *testing.T) {
	params := params.Default()
	view := wealthy()
	l := idle(t, params, view)
	var m maker
	for i := range byte(200) {
		if err := l.Admit(t.Context(), []*chain.VerifiedTx{m.transfer(i, 0, 1, params.MaxTxCycles)})[0]; err != nil {
			t.Fatal(err)
		}
	}
	// The user lane alone has 20 M cycles: 10 M for one limit, the rest for what
	// transfers use, 21,000 each.
	if txs := mustPack(t, l, request(&params, view)); len(txs) != 200 {
		t.Errorf("packed %d of 200 transfers with limits of %d", len(txs), params.MaxTxCycles)
	}
}

// TestBudgetCascade: resolutions 2.1-2.4, 11.14 on the default parameters, with
// a target of 10 M cycles: 0.5 M system, 2 M timer, 2.5 M runner, 5 M user.
func TestBudgetCascade(t *testing.T) {
	const million = 1_000_000
	fill := func(lane chain.LaneID, n int, limit chain.Cycles) func(m *maker, from byte) []*chain.VerifiedTx {
		return func(m *maker, from byte) (out []*chain.VerifiedTx) {
			for i := range n {
				out = append(out, m.in(lane, m.transfer(from+byte(i), 0, 1, limit)))
			}
			return out
		}
	}
	type group = func(*maker, byte) []*chain.VerifiedTx
	tests := []struct {
		name string
		have []group
		want [chain.NumLanes]int
	}{
		{"a lane alone gets what cascades down to it and no more", []group{fill(chain.LaneSystem, 9, 100_000)}, [chain.NumLanes]int{chain.LaneSystem: 5}},
		{"system and timer shares cascade to the runner lane", []group{fill(chain.LaneRunner, 60, 100_000)}, [chain.NumLanes]int{chain.LaneRunner: 50}},
		{"what the system lane takes does not cascade", []group{fill(chain.LaneSystem, 9, 100_000), fill(chain.LaneRunner, 60, 100_000)}, [chain.NumLanes]int{chain.LaneSystem: 5, chain.LaneRunner: 45}},
		{"the user lane takes all that is left up to the cap", []group{fill(chain.LaneUser, 50, million)}, [chain.NumLanes]int{chain.LaneUser: 20}},
		{"users cannot crowd runners out", []group{fill(chain.LaneUser, 50, million), fill(chain.LaneRunner, 2, million)}, [chain.NumLanes]int{chain.LaneRunner: 2, chain.LaneUser: 18}},
		{"a transaction above its lane's share waits", []group{fill(chain.LaneSystem, 1, 600_000), fill(chain.LaneUser, 1, million)}, [chain.NumLanes]int{chain.LaneUser: 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			params := params.Default()
			view := wealthy()
			l := idle(t, params, view)
			var m maker
			for i, g := range tt.have {
				mustAdmit(t, l, g(&m, byte(64*i))...)
			}
			var got [chain.NumLanes]int
			for _, tx := range mustPack(t, l, request(&params, view)) {
				got[tx.Lane]++
			}
			if got != tt.want {
				t.Errorf("packed %v, want %v", got, tt.want)
			}
		})
	}
}

func TestPackRules(t *testing.T) {
	params := params.Default()
	view := wealthy()
	var m maker
	const limit = 30_000
	byNonce := func(txs []*chain.VerifiedTx) string {
		txs = slices.Clone(txs)
		slices.SortFunc(txs, func(a, b *chain.VerifiedTx) int {
			return slices.Compare([]uint64{uint64(a.Sender[0]), a.Tx.Nonce}, []uint64{uint64(b.Sender[0]), b.Tx.Nonce})
		})
		return names(txs)
	}
	tests := []struct {
		name   string
		have   []*chain.VerifiedTx
		change func(*PackRequest)
		want   string
	}{
		{
			"nonces below an unfinalized parent's are passed over",
			[]*chain.VerifiedTx{m.transfer(1, 0, 1, limit), m.transfer(1, 1, 1, limit), m.transfer(1, 2, 1, limit)},
			func(r *PackRequest) { r.Parent, r.Height = view.with(chain.Address{1}, 2, 1<<40), 2 }, "[01/2]",
		},
		{
			"the parent's balance counts, not the head's",
			[]*chain.VerifiedTx{m.transfer(1, 0, 1, limit), m.transfer(1, 1, 1, limit)},
			func(r *PackRequest) { r.Parent, r.Height = view.with(chain.Address{1}, 0, limit*11+limit*11-1), 2 }, "[01/0]",
		},
		{
			"a base fee above the fee cap leaves the sender out",
			[]*chain.VerifiedTx{m.transfer(1, 0, 1, limit), m.transfer(1, 1, 90, limit), m.transfer(2, 0, 90, limit)},
			func(r *PackRequest) { r.BaseFees = evenFees(12); r.BaseFees[chain.LaneUser].PerCell = 1 }, "[02/0]",
		},
		{
			"a predecessor in an earlier lane is enough",
			[]*chain.VerifiedTx{m.in(chain.LaneRunner, m.transfer(1, 0, 1, limit)), m.transfer(1, 1, 90, limit)},
			nil, "[01/0 01/1]",
		},
		{
			"a predecessor in a later lane is not (resolution 11.15)",
			[]*chain.VerifiedTx{m.transfer(1, 0, 1, limit), m.in(chain.LaneRunner, m.transfer(1, 1, 90, limit)), m.transfer(1, 2, 1, limit)},
			nil, "[01/0]",
		},
		{
			"queued ones wait",
			[]*chain.VerifiedTx{m.transfer(1, 1, 90, limit), m.transfer(2, 0, 1, limit)},
			nil, "[02/0]",
		},
		{
			"the byte cap counts frames",
			[]*chain.VerifiedTx{m.transfer(1, 0, 1, limit), m.transfer(2, 0, 1, limit), m.transfer(3, 0, 1, limit)},
			func(r *PackRequest) { r.MaxBytes = 2*105 + 104 }, "[01/0 02/0]",
		},
		{
			"what does not fit lets smaller ones by",
			[]*chain.VerifiedTx{m.transfer(1, 0, 90, 10_000_000), m.transfer(2, 0, 50, 9_990_000), m.transfer(3, 0, 20, 20_000), m.transfer(4, 0, 1, limit), m.transfer(5, 0, 1, 10_000)},
			func(r *PackRequest) { p := *r.Params; p.CyclesCap = 20_000_000; r.Params = &p }, "[01/0 02/0 05/0]",
		},
		{"nothing", nil, nil, "[]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l := idle(t, params, view)
			mustAdmit(t, l, tt.have...)
			req := request(&params, view)
			if tt.change != nil {
				tt.change(req)
			}
			if got := byNonce(mustPack(t, l, req)); got != tt.want {
				t.Errorf("packed %s, want %s", got, tt.want)
			}
		})
	}
}

// TestPackReportsFaults: a read error is no verdict on a transaction.
func TestPackReportsFaults(t *testing.T) {
	params := params.Default()
	var m maker
	bad := m.transfer(1, 0, 1, 30_000)
	broken := statetest.Broken{View: wealthy(), At: bad.Sender}
	l := idle(t, params, broken)
	var fault *ReadError
	if err := l.Admit(t.Context(), []*chain.VerifiedTx{bad})[0]; !errors.As(err, &fault) || fault.Address != bad.Sender || !errors.Is(err, statetest.ErrDisk) {
		t.Errorf("admit: %v, want a read error", err)
	}
	l = idle(t, params, wealthy())
	mustAdmit(t, l, bad)
	req := request(&params, broken)
	req.Height = 2 // else the account is known from the head
	if _, err := l.Pack(t.Context(), *req); !errors.As(err, &fault) {
		t.Errorf("pack: %v, want a read error", err)
	}
}
