package parallel_test

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/statetest"
)

// hunter is what a runner sends.
type hunter struct {
	nonces map[chain.Address]uint64
}

func (w *hunter) tx(from chain.Address, value chain.Wei, payload []byte) *chain.VerifiedTx {
	tx := &chain.Tx{Nonce: w.nonces[from], To: &chain.AddrRunnerRegistry, Value: value, Payload: payload, CyclesLimit: 200_000, CellsLimit: 5_000}
	if payload[1] == chain.OpRunnerHeartbeat {
		tx.CyclesLimit, tx.CellsLimit = 5_000, chain.Cells(len(payload))
	}
	w.nonces[from]++
	return verified(tx, from)
}

func asks(opcode uint64, args ...uint64) []byte {
	b := cbor.AppendUint(cbor.AppendArray(nil, 1+len(args)), opcode)
	for _, n := range args {
		b = cbor.AppendUint(b, n)
	}
	return b
}

func registration() []byte {
	b := cbor.AppendUint(cbor.AppendUint(cbor.AppendArray(nil, 6), chain.OpRunnerRegister), 0)
	b = append(b, (&chain.RateCard{HTTPRequestBase: 1}).Encode()...)
	b = append(b, (&chain.Capabilities{JobTypes: []chain.JobKind{chain.JobHTTP}, HTTPDomains: []string{"*"}, MaxConcurrentJobs: 3}).Encode()...)
	return cbor.AppendText(cbor.AppendNull(b), "https://runner.example/")
}

// submitted writes the rows of a job as its submission in block h does.
func submitted(t *testing.T, m *statetest.Maps, p *params.Params, h chain.Height, id chain.Hash, n uint8) {
	t.Helper()
	spec := &chain.JobSpec{
		JobID: id, JobType: &chain.HTTPJob{URL: "https://example.com/"}, TimeoutBlocks: 5, Submitter: user(0), SubmittedAt: h,
		Verification: chain.Verification{Mode: chain.VerifyMajorityVote, Runners: n, Threshold: n/2 + 1},
	}
	terms := &chain.JobTerms{
		Version: chain.JobTermsVersion, ResultSchema: chain.ResultSchema{MaxReturnBytes: 1, ExpectedExecutionMillis: 1, DataFormat: chain.FormatText},
		JudgeSteps: chain.MinJudgeSteps,
	}
	o := state.NewOverlay(m)
	b := jobs.Book{State: o, Params: p, Height: h}
	b.Put(id, &jobs.Job{
		Submitter: user(0), SubmittedAt: h, Kind: chain.JobHTTP, Runners: n, Threshold: n/2 + 1, Mode: chain.VerifyMajorityVote, TimeoutBlocks: 5,
		Attempts: uint8(p.Job.MaxRetries),
	})
	for k, row := range map[state.StorageKey][]byte{
		jobs.SpecKey(id): spec.Encode(), jobs.TermsKey(id): terms.Encode(),
		jobs.AtKey(jobs.TableFresh, h, id): {}, jobs.AtKey(jobs.TableLive, h, id): {},
	} {
		o.SetStorage(chain.AddrJobDispatcher, k, row)
	}
	m.Write(o.Delta())
}

// TestMarketSameAsSequential: blocks in which runners come, are heard and change their
// stakes, while jobs are drawn for and fall due, in all ways.
func TestMarketSameAsSequential(t *testing.T) {
	pool, events := engines(t, 9), map[string]int{}
	for seed := range uint64(3) {
		rng := rand.New(rand.NewPCG(seed, 19))
		p := params.Default()
		p.Job.MinWindowBlocks = 1 // short windows, for many attempts
		p.Runner.StakeFloor, p.Runner.ProbationSuccesses, p.Runner.SlashThreshold = 10*chain.WeiPerCBY, 1, 1+seed
		p.Job.DuePerBlock, p.Job.RetriesPerBlock, p.Job.KeepBlocks = 4, 2, 3
		m, list := newState(), ways(t, pool[1:], seed)
		w := &hunter{nonces: map[chain.Address]uint64{}}
		for h := chain.Height(1); h <= 24; h++ {
			var txs []*chain.VerifiedTx
			for i := range users {
				switch {
				case h == 1:
					txs = append(txs, w.tx(user(i), 20*chain.WeiPerCBY, registration()))
				case rng.IntN(5) == 0:
					txs = append(txs, w.tx(user(i), 0, asks(chain.OpRunnerUnstake, uint64(1+rng.IntN(9)))))
				case rng.IntN(3) > 0:
					txs = append(txs, w.tx(user(i), 0, asks(chain.OpRunnerHeartbeat)))
				}
			}
			slices.SortStableFunc(txs, func(a, b *chain.VerifiedTx) int { return cmp.Compare(a.Lane, b.Lane) })
			for range rng.IntN(3) {
				submitted(t, m, &p, h, chain.Hash{byte(h), byte(rng.Uint32()), byte(rng.Uint32())}, uint8(1+rng.IntN(3)))
			}
			in := inputs(&p, h)
			in.ParentHash, in.Engine = chain.Hash{byte(seed), byte(h)}, pool[0]
			r, err := exec.Apply(m, in, txs)
			if err != nil {
				t.Fatalf("seed %d, block %d: %v", seed, h, err)
			}
			for i := range r.Receipts {
				for _, e := range r.Receipts[i].Events {
					events[e.Name]++
				}
			}
			want := text(r, err)
			for _, x := range list {
				in := inputs(&p, h)
				in.ParentHash = chain.Hash{byte(seed), byte(h)}
				if got := text(x.Apply(m, in, txs)); got != want {
					t.Fatalf("seed %d, block %d, %s:\n%s\nwant\n%s", seed, h, x.name, got, want)
				}
			}
			m.Write(r.Delta)
		}
	}
	for _, name := range []string{jobs.EventAssigned, jobs.EventRetried, jobs.EventFailed, jobs.EventSlashed} {
		if events[name] == 0 {
			t.Errorf("no %s: %v", name, events)
		}
	}
}
