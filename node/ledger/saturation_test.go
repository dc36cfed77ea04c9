package ledger

import (
	"errors"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/crypto/vrf"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

const (
	quietBlocks    = int(clockFirst) + clockBlocks - 3 // until the last timer is due
	overloadBlocks = 4
	overloadFactor = 10
)

// runnersEach is how many heartbeats take four fifths of their lane's target.
func runnersEach(p *params.Params) int {
	return int(fees.LaneTarget(p, chain.LaneRunner).Cycles * 4 / 5 / rushBeat)
}

// usersOfABlock is the most user transactions that fit a block in which nothing
// else happens but due timers.
func usersOfABlock(p *params.Params) int {
	return int((p.CyclesCap - fees.LaneTarget(p, chain.LaneTimer).Cycles) / rushTransfer)
}

// TestSaturation offers the user lane ten times what blocks hold, while timers
// fire in every block and runner instructions arrive steadily: both must be
// served as without it, under either lane table (whitepaper §6.3, §6.4, §17.9;
// resolutions 2.1-2.4, 11.14).
func TestSaturation(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of blocks: left out of -short runs, runs in make test")
	}
	for _, profile := range params.LaneProfiles() {
		t.Run(profile, func(t *testing.T) {
			t.Parallel()
			quiet, loaded := newRush(t, profile), newRush(t, profile)
			runners := runnersEach(&quiet.f.genesis.Params)
			for range quietBlocks {
				quiet.offerRunners(runners)
				quiet.heldToRules(quiet.block())
			}
			users := overloadFactor * usersOfABlock(&loaded.f.genesis.Params)
			for n := 0; n < quietBlocks || len(loaded.waiting) > 0; n++ {
				if n < overloadBlocks {
					loaded.offerUsers(users)
				}
				if n < quietBlocks {
					loaded.offerRunners(runners)
				}
				loaded.heldToRules(loaded.block())
				if n > 2*overloadFactor*overloadBlocks {
					t.Fatalf("%d user transactions are left over: the lowest tier starves", len(loaded.waiting))
				}
			}
			sameService(t, "runner instructions", quiet.runnerLatency, loaded.runnerLatency, runners*quietBlocks)
			sameService(t, "timers", quiet.timerLateness, loaded.timerLateness, clockActors*clockEach*clockBlocks)
			loaded.usersWaited()
			loaded.feesFollow()
		})
	}
}

// sameService wants every item to have been served, and none later than without
// overload by more than a block.
func sameService(t *testing.T, what string, quiet, loaded []uint64, n int) {
	t.Helper()
	if len(quiet) != n || len(loaded) != n {
		t.Fatalf("%s: %d served in quiet, %d under load, want %d", what, len(quiet), len(loaded), n)
	}
	slices.Sort(quiet)
	slices.Sort(loaded)
	t.Logf("%s in blocks, quiet and loaded: p50 %d, %d; p99 %d, %d", what, quiet[n/2], loaded[n/2], quiet[n*99/100], loaded[n*99/100])
	for i := range n {
		if loaded[i] > quiet[i]+1 {
			t.Fatalf("%s: number %d of %d took %d blocks under load and %d without", what, i, n, loaded[i], quiet[i])
		}
	}
}

// usersWaited wants the overload to have been one, and the tiers to have mattered.
func (r *rush) usersWaited() {
	r.t.Helper()
	var worst [numClasses]uint64
	for class := range worst {
		worst[class] = slices.Max(r.userLatency[class])
	}
	r.t.Logf("user transactions waited at most %d blocks at the lowest tier, %d, and %d at the highest", worst[classLow], worst[classMid], worst[classHigh])
	if worst[classLow] < overloadFactor*overloadBlocks/2 || worst[classLow] <= worst[classMid] || worst[classMid] <= worst[classHigh] {
		r.t.Errorf("user transactions waited at most %v blocks by class: no overload", worst)
	}
}

// feesFollow wants the user lane's base fee to have risen in every block that was
// full, and to fall when the crowd is gone.
func (r *rush) feesFollow() {
	r.t.Helper()
	peak := slices.Max(r.baseFees)
	at := slices.Index(r.baseFees, peak)
	if at < overloadFactor*overloadBlocks/2 || !slices.IsSorted(r.baseFees[2:at+1]) {
		r.t.Errorf("base fees of the user lane %v: want a rise until the crowd is gone", r.baseFees)
	}
	others := r.proposer.Head().Block.Header.BaseFees
	for range 5 {
		r.heldToRules(r.block())
	}
	fall := r.baseFees[len(r.baseFees)-5:]
	for i := range fall[1:] {
		if fall[i+1] >= fall[i] {
			r.t.Errorf("base fees after the overload %v: want a fall", fall)
		}
	}
	if others[chain.LaneRunner].PerCycle > 1 || others[chain.LaneTimer].PerCycle > 1 {
		r.t.Errorf("base fees %+v: the crowd of the user lane made other lanes dearer", others)
	}
}

// heldToRules checks a final block: each lane within what it may take, and of the
// user transactions those that came first in the highest tiers, as many as fit.
func (r *rush) heldToRules(e Event) {
	r.t.Helper()
	h, p := &e.Block.Header, &r.f.genesis.Params
	var used, most chain.Cycles // up to the lane at hand: what is left over flows down
	for lane := range chain.NumLanes {
		used += h.Used[lane].Cycles
		if most += fees.LaneTarget(p, lane).Cycles; lane == chain.LaneUser {
			most = p.CyclesCap
		}
		if used > most {
			r.t.Fatalf("block %d: %d cycles up to the %s lane, which has %d", h.Height, used, lane, most)
		}
	}
	r.selected(e)
}

// selected checks the user transactions of a block against the order in which
// they must be taken: tiers first, arrival inside a tier (whitepaper §6.4).
func (r *rush) selected(e Event) {
	r.t.Helper()
	h, p := &e.Block.Header, &r.f.genesis.Params
	in := map[chain.Hash]bool{}
	for _, tx := range e.Txs {
		if tx.Lane == chain.LaneUser {
			in[tx.Hash] = true
		}
	}
	for _, a := range r.waiting[:min(len(in), len(r.waiting))] {
		if !in[a.tx.Hash] {
			r.t.Fatalf("block %d leaves out the user transaction %d of class %d and takes later ones", h.Height, a.seq, a.class)
		}
		r.userLatency[a.class] = append(r.userLatency[a.class], uint64(h.Height-a.at))
	}
	r.waiting = r.waiting[len(in):]
	opening, err := r.verifier.executor.OpenBlock(r.before, r.verifier.inputs(h, p)) // the owner rests
	if err != nil {
		r.t.Fatal(err)
	}
	left := p.CyclesCap - opening.Reserved().Cycles - h.Used[chain.LaneRunner].Cycles - h.Used[chain.LaneUser].Cycles
	if len(r.waiting) > 0 && left >= rushTransfer {
		r.t.Fatalf("block %d has room for %d cycles and leaves %d user transactions out", h.Height, left, len(r.waiting))
	}
}

// TestSaturatedBlocksAreJudged alters blocks of a full chain one rule at a time:
// the other node refuses each for the reason that it has.
func TestSaturatedBlocksAreJudged(t *testing.T) {
	r := newRush(t, params.LaneProfile63)
	p := &r.f.genesis.Params
	for r.height+1 < clockFirst {
		r.block()
	}
	r.offerUsers(2 * usersOfABlock(p))
	r.offerRunners(runnersEach(p))
	made, req := r.propose()
	block, err := chain.DecodeBlock(made.Block, len(made.Block))
	if err != nil {
		t.Fatal(err)
	}
	e := r.proposer.tree.get(made.Digest) // the owner rests
	firstUser := slices.IndexFunc(e.Txs, func(tx *chain.VerifiedTx) bool { return tx.Lane == chain.LaneUser })
	if firstUser != runnersEach(p) || len(e.Txs)-firstUser < 2 {
		t.Fatalf("block of %d transactions, %d before the user lane", len(e.Txs), firstUser)
	}
	key := r.f.order.PublicKey()
	proposers := r.verifier.cfg.Proposers
	out, ok := vrf.Verify(key, proposers.namespace, order.Message(block.Header.Height, r.verifier.parentBeacon(&block.Header)), block.Header.OrderProof)
	if !ok {
		t.Fatal("order proof of a proposal does not hold")
	}
	f := func(rule, verdict string, is func(error) bool, txs []*chain.VerifiedTx) {
		t.Helper()
		changed := *block
		changed.Txs = nil
		for _, tx := range txs {
			changed.Txs = append(changed.Txs, tx.Body)
		}
		changed.Header.TxRoot = tree.ListRoot(changed.Txs)
		again := req
		again.Digest, again.Block = changed.Header.Digest(), changed.Encode()
		err := r.verifier.Judge(t.Context(), again)
		var v *Verdict
		if !errors.As(err, &v) || v.Rule != verdict || !is(err) {
			t.Errorf("%s: %v, want a verdict on the %s", rule, err, verdict)
		}
	}
	misplaced := func(err error) bool { return errors.As(err, new(*order.Error)) }
	full := func(err error) bool {
		return errors.As(err, new(*exec.InvalidTx)) && errors.Is(err, exec.ErrLaneFull)
	}
	swapped := slices.Clone(e.Txs)
	swapped[firstUser], swapped[firstUser+1] = swapped[firstUser+1], swapped[firstUser]
	f("two user transactions change places", "order", misplaced, swapped)
	usersFirst := slices.Concat(e.Txs[firstUser:], e.Txs[:firstUser])
	f("the user lane before the runner lane", "order", misplaced, usersFirst)
	more := slices.Clone(e.Txs)
	promised := clockActors * clockEach * p.Timer.DefaultCycles // to the timers that fire in this block
	left := p.CyclesCap - promised - block.Header.Used[chain.LaneRunner].Cycles - block.Header.Used[chain.LaneUser].Cycles
	for _, a := range r.waiting[len(e.Txs)-firstUser:][:left/rushTransfer+1] {
		more = append(more, a.tx)
	}
	f("one user transaction more than due timers leave room for", "execution", full, order.Arrange(out, more))
	runners := slices.Clone(e.Txs[:firstUser])
	for range int((fees.LaneTarget(p, chain.LaneSystem).Cycles+fees.LaneTarget(p, chain.LaneTimer).Cycles+fees.LaneTarget(p, chain.LaneRunner).Cycles)/rushBeat) + 1 - firstUser {
		runners = append(runners, r.beat())
	}
	f("more runner instructions than their lane has, in a block with room", "execution", full, order.Arrange(out, runners))

	// Execution keeps the lanes apart by itself, whoever ordered the transactions.
	parent := r.proposer.Head()
	in := r.proposer.inputs(&block.Header, parent.Force.Params)
	if in.Engine, err = NewEngine(); err != nil {
		t.Fatal(err)
	}
	_, err = exec.Apply(parent.State, in, usersFirst)
	if !errors.As(err, new(*exec.InvalidTx)) || !errors.Is(err, exec.ErrLaneOrder) {
		t.Errorf("execution of the user lane before the runner lane: %v", err)
	}
	if err := r.verifier.Judge(t.Context(), req); err != nil {
		t.Errorf("the unaltered block is refused after the altered ones: %v", err)
	}
}
