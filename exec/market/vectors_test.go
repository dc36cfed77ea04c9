package market_test

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/vectors"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
	"github.com/cowboy-foundation/cowboy/state"
)

// number, address and hash are values as the vectors spell them.
type (
	number  uint64
	address chain.Address
	hash    chain.Hash
)

func (n *number) UnmarshalText(text []byte) error {
	v, err := strconv.ParseUint(string(text), 10, 64)
	*n = number(v)
	return err
}

func (a *address) UnmarshalText(text []byte) error { return fill(a[:], text) }
func (h *hash) UnmarshalText(text []byte) error    { return fill(h[:], text) }

func fill(dst, text []byte) error {
	if hex.DecodedLen(len(text)) != len(dst) {
		return fmt.Errorf("%q is not %d bytes", text, len(dst))
	}
	_, err := hex.Decode(dst, text)
	return err
}

// foreignDraw is what the passes need and yield of a draw of the vectors.
type foreignDraw struct {
	Name, Path string
	Candidates []struct {
		Runner     address
		Stake      number
		Reputation number `json:"reputation_x1e9"`
	}
	Root        hash   `json:"candidates_root"`
	BlockHash   hash   `json:"block_hash"`
	JobID       hash   `json:"job_id"`
	FirstSeed   hash   `json:"first_seed"`
	SubmittedAt uint64 `json:"submitted_at"`
	Retry       uint32
	Runners     int
	Excluded    []address
	Committee   []address
	Fixed       []address `json:"committee_if_selection_chained_draw_is_false"`
}

// TestCommitteesOfOthers registers the candidates of the vectors in another order, submits
// the job and lets the passes of two blocks draw: the committees are those of an independent
// implementation.
func TestCommitteesOfOthers(t *testing.T) { // CIP-2 §4-§6, R4, R6, R10, R12
	var draws []foreignDraw
	vectors.Decode(t, "selection/draws.json", &draws)
	n := 0
	for i := range draws {
		d := &draws[i]
		if d.Path != "v2" {
			continue
		}
		n++
		t.Run(d.Name, func(t *testing.T) {
			d.check(t, true, d.Committee)
			d.check(t, false, d.Fixed)
		})
	}
	if n < 20 {
		t.Errorf("%d draws", n)
	}
}

func (f *foreignDraw) check(t *testing.T, chained bool, committee []address) {
	w, id := newWorld(t), chain.Hash(f.JobID)
	w.p.Runner.MinReputation, w.p.Job.SelectionChainedDraw, w.p.Job.FailUnfillable = 0, chained, false
	w.p.Job.MaxRetries = 16
	w.height = chain.Height(f.SubmittedAt) - 1
	w.block(chain.Hash{}, func(d *jobs.Dispatch) {
		for i := range f.Candidates { // the last one first: the order of joining does not matter
			c := &f.Candidates[len(f.Candidates)-1-i]
			enlist(t, d, chain.Address(c.Runner), w.p.Runner.StakeFloor, chain.RateCard{}, 4)
			rewrite(t, d.Book.State, chain.Address(c.Runner), func(v *[rowNumbers]uint64) {
				v[rowStake], v[rowReputation], v[rowStanding] = uint64(c.Stake), uint64(c.Reputation), f.SubmittedAt
			})
		}
		submit(t, d, id, order{runners: uint8(f.Runners), agree: 1, timeout: 100})
	})
	if got := w.job(id).CandidatesRoot; got != chain.Hash(f.Root) {
		t.Fatalf("root %s, want %x", got, f.Root)
	}
	w.memo = jobs.NewMemo() // from the rows alone
	if f.Retry > 0 {
		w.retry(id, f)
	} else {
		w.block(chain.Hash(f.BlockHash), nil)
	}
	j := w.job(id)
	if j.Seed != chain.Hash(f.FirstSeed) || j.Phase != jobs.Assigned || int(j.Attempt) != int(f.Retry) {
		t.Errorf("job %+v", j)
	}
	var got []address
	for _, s := range w.seats(id, uint8(f.Retry)) {
		got = append(got, address(s.Runner))
	}
	if !slices.Equal(got, committee) {
		t.Errorf("committee %x, want %x", got, committee)
	}
	w.proofs(id, f)
}

// retry makes a job whose first attempts have failed draw again.
func (w *world) retry(id chain.Hash, f *foreignDraw) {
	o := state.NewOverlay(w.maps)
	d := w.dispatch(o, chain.Hash{}, w.memo)
	j := w.job(id)
	j.Attempt, j.Phase, j.Seed = uint8(f.Retry), jobs.Assigned, chain.Hash(f.FirstSeed)
	d.Book.Put(id, j)
	for n, a := range f.Excluded {
		d.Book.PutSeat(id, 0, uint8(n), &jobs.Seat{Runner: chain.Address(a), Silent: true})
	}
	o.SetStorage(chain.AddrJobDispatcher, jobs.AtKey(jobs.TableFresh, j.SubmittedAt, id), nil)
	o.SetStorage(chain.AddrJobDispatcher, jobs.AtKey(jobs.TableRetry, w.height, id), []byte{j.Attempt})
	w.maps.Write(o.Delta())
	w.block(chain.Hash{}, nil)
}

// proofs verifies one of each candidate out of the state behind the draw.
func (w *world) proofs(id chain.Hash, f *foreignDraw) {
	w.t.Helper()
	s, ok, err := jobs.Candidates(w.maps, id, w.job(id))
	if err != nil || !ok || len(s.Candidates()) != len(f.Candidates) {
		w.t.Fatalf("candidates %v, %v, %v", s, ok, err)
	}
	var p selection.Proof
	for i := range f.Candidates {
		if p, ok = s.Prove(i); !ok || !p.Verify(chain.Hash(f.Root)) {
			w.t.Errorf("proof %d: %+v", i, p)
		}
	}
}
