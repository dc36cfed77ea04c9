package soak

import (
	"context"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/fxamacker/cbor/v2"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// habit is what a runner does with some of its jobs; the others it does well.
type habit int

const (
	honest    habit = iota
	lies            // shows what it did not find
	silent          // gives no sign
	withholds       // commits and shows nothing; alone it gives no sign
)

func (h habit) String() string {
	return [...]string{honest: "honest", lies: "lying", silent: "silent", withholds: "withholding"}[h]
}

// Runners by habit: the others are honest.
const (
	numRunners   = 50
	numLiars     = 7
	numSilent    = 4
	numWithholds = 3
	faultsOfTen  = 4 // of such a runner's jobs
)

func habitOf(runner int) habit {
	switch left := numRunners - runner; {
	case left <= numWithholds:
		return withholds
	case left <= numWithholds+numSilent:
		return silent
	case left <= numWithholds+numSilent+numLiars:
		return lies
	}
	return honest
}

// worker is a runner by script.
type worker struct {
	*sender
	habit   habit
	beatAt  uint64 // height of the next heartbeat
	beating bool
	mending bool // it is on its way back into the market
}

// acts is what a runner does in a seat.
func (w *worker) acts(t *task, seat *rpc.SeatReply) habit {
	if (t.number*7+int(seat.Attempt)*3+int(seat.Seat)*5)%10 < faultsOfTen {
		return w.habit
	}
	return honest
}

// result is what a runner finds, or says that it does.
func (w *worker) result(t *task, seat *rpc.SeatReply) []byte {
	if w.acts(t, seat) == lies {
		return resultOf(t.kind.lie(t.number, seat.Seat), seat.Attempt)
	}
	return resultOf(t.kind.truth(t.number, seat.Seat), seat.Attempt)
}

// vouch is a runner's signature of a result (resolution 11.1).
func (w *worker) vouch(digest chain.Hash) (sig [65]byte) {
	s := w.key.Sign(digest)
	copy(sig[:32], s.R[:])
	copy(sig[32:64], s.S[:])
	sig[64] = s.YParity
	return sig
}

func (m *marketPlay) reveal(t *task, seat *rpc.SeatReply) chain.Reveal {
	w := m.at[seat.Runner]
	result := w.result(t, seat)
	return chain.Reveal{Runner: w.addr, Result: result, RunnerSig: w.vouch(chain.ResultDigest(m.chainID, t.id, result))}
}

// instruct gives a runner an instruction about a job.
func (m *marketPlay) instruct(t *task, seat *rpc.SeatReply, what string, until chain.Height, q chain.Request) {
	t.pending++
	m.give(&order{
		by: m.at[seat.Runner].sender, what: what, until: uint64(until),
		tx:   chain.Tx{To: &chain.AddrResultVerifier, Payload: chain.EncodeRequest(q), CyclesLimit: 600_000, CellsLimit: 30_000},
		done: func(*rpc.ReceiptReply) { t.pending-- },
	})
}

// showOwn has a runner show its own result.
func (m *marketPlay) showOwn(t *task, seat *rpc.SeatReply) {
	r := m.reveal(t, seat)
	m.instruct(t, seat, "reveal", t.job.Deadline, &chain.ResultReveal{JobID: t.id, Result: r.Result, RunnerSig: r.RunnerSig})
}

// goOn has the runners of a job do what there is to do.
func (m *marketPlay) goOn(t *task) {
	switch {
	case t.job.AssignedAt == 0:
		t.lookAt = m.height + 1
	case t.stage == taskAsked || t.attempt != t.job.Attempt:
		m.begin(t)
	case t.stage == taskCommits:
		m.gather(t)
	case t.stage == taskLate:
		t.stage = taskShows
		m.showEach(t)
	case t.job.Phase == "closing" && m.height <= uint64(t.job.WindowEnd):
		t.lookAt = uint64(t.job.WindowEnd) + 1
	case t.job.Phase == "closing" || t.job.Phase == "revealing":
		t.lookAt = max(m.height+2, uint64(t.job.Deadline)+1)
	default:
		t.lookAt = m.height + 2
	}
}

// begin lets a committee work. One runner shows its result at once, several commit to theirs.
func (m *marketPlay) begin(t *task) {
	t.attempt, t.stage, t.lookAt = t.job.Attempt, taskCommits, m.height+1
	if t.kind.runners == 1 {
		t.stage = taskShows
	}
	for _, seat := range t.seated() {
		w := m.at[seat.Runner]
		act := w.acts(t, seat)
		switch {
		case act == silent || act == withholds && t.kind.runners == 1:
		case t.kind.runners == 1:
			m.showOwn(t, seat)
		default:
			r := m.reveal(t, seat)
			m.instruct(t, seat, "commit", t.job.CommitBy, &chain.ResultCommit{JobID: t.id, Commitment: chain.ResultCommitment(r.Result, r.RunnerSig)})
		}
	}
}

// gather has the aggregator show the results of all when all have committed, or behind the
// time for that (resolution 12.29). What an attempt with too few of them becomes the chain
// says.
func (m *marketPlay) gather(t *task) {
	var committed []*rpc.SeatReply
	for _, seat := range t.seated() {
		if seat.Commitment != nil {
			committed = append(committed, seat)
		}
	}
	switch {
	case len(committed) < int(t.kind.runners) && t.job.Height <= t.job.CommitBy:
		t.lookAt = uint64(t.job.CommitBy) + 1
		return
	case len(committed) < int(t.kind.threshold):
		t.lookAt = m.height + 1
		return
	}
	best := committed[0]
	for _, s := range committed {
		if s.Reputation > best.Reputation || s.Reputation == best.Reputation && s.Runner < best.Runner {
			best = s
		}
	}
	if m.at[best.Runner].acts(t, best) == withholds {
		t.stage, t.lookAt = taskLate, uint64(t.job.GatherUntil)+1
		return
	}
	t.stage, t.lookAt = taskShows, m.height+1
	var reveals []chain.Reveal
	for _, s := range committed {
		if m.at[s.Runner].acts(t, s) != withholds {
			reveals = append(reveals, m.reveal(t, s))
		}
	}
	m.instruct(t, best, "submit", t.job.Deadline, &chain.ResultSubmit{JobID: t.id, Reveals: reveals})
}

// showEach has everybody show its own result.
func (m *marketPlay) showEach(t *task) {
	t.lookAt = m.height + 1
	for _, s := range t.seated() {
		if s.Commitment != nil && m.at[s.Runner].acts(t, s) != withholds {
			m.showOwn(t, s)
		}
	}
}

// keepUp keeps the runners in the market: heard, with a stake and a reputation.
func (m *marketPlay) keepUp(ctx context.Context) error {
	for _, w := range m.workers {
		if !w.beating && m.height >= w.beatAt {
			w.beating = true
			m.tell(w, "heartbeat", 0, &chain.RunnerHeartbeat{}, func(*rpc.ReceiptReply) { w.beating, w.beatAt = false, m.height+beatBlocks })
		}
	}
	if m.height%upkeepBlocks > 0 {
		return nil
	}
	var list rpc.RunnersReply
	if _, err := m.board.ask(ctx, m.height, fmt.Sprintf("/runners/active?limit=%d", numRunners), &list); err != nil {
		return err
	}
	for i := range list.Runners {
		r := &list.Runners[i]
		w := m.at[r.Address]
		mended := func(*rpc.ReceiptReply) { w.mending = false }
		switch {
		case w == nil || w.mending:
			continue
		case r.Understaked:
			m.tell(w, "stake", soakStakeMore, &chain.RunnerUpdate{}, mended)
		case r.Reputation < 49.5: // the chain rounds to points
			m.tell(w, "return", 0, &chain.RunnerReturn{}, mended)
		default:
			continue
		}
		w.mending = true
	}
	return nil
}

// tell gives a runner an instruction to the registry.
func (m *marketPlay) tell(w *worker, what string, value chain.Wei, q chain.Request, done func(*rpc.ReceiptReply)) {
	m.give(&order{
		by: w.sender, what: what, done: done,
		tx: chain.Tx{To: &chain.AddrRunnerRegistry, Value: value, Payload: chain.EncodeRequest(q), CyclesLimit: 200_000, CellsLimit: 20_000},
	})
}

// Stakes: the least of a devnet is 100 CBY.
const (
	soakStake     = 5_000 * chain.WeiPerCBY
	soakStakeMore = 1_000 * chain.WeiPerCBY
)

// registration makes a runner that attests what an actor asks for (entitlements §5.1).
func (w *worker) registration() chain.Tx {
	a := &chain.RunnerAttestation{
		Runner: w.addr, ValidUntil: 10_000_000,
		Capabilities: inCBOR([]any{map[string]any{"id": "http.fetch", "params": map[string]any{"allowlist_domains": []string{"*"}}}}),
	}
	a.Signature = w.vouch(a.Digest())
	return chain.Tx{
		To: &chain.AddrRunnerRegistry, Value: soakStake, CyclesLimit: 1_000_000, CellsLimit: 60_000,
		Payload: chain.EncodeRequest(&chain.RunnerRegister{
			RateCard: chain.RateCard{HTTPRequestBase: jobPrice}, Attestation: a,
			Capabilities: chain.Capabilities{JobTypes: []chain.JobKind{chain.JobHTTP}, HTTPDomains: []string{"*"}, MaxConcurrentJobs: 64},
		}),
	}
}

// idOf is the job id that an actor's handler answered, in hex.
func idOf(output string) (id chain.Hash, err error) {
	raw, err := hex.DecodeString(strings.TrimPrefix(output, "0x"))
	if err != nil {
		return id, err
	}
	var text string
	if err := cbor.Unmarshal(raw, &text); err != nil {
		return id, fmt.Errorf("answer %x: %w", raw, err)
	}
	return client.ParseHash(text)
}
