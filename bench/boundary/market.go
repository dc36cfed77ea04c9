package boundary

import (
	"fmt"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
)

const (
	// marketRunners are registered before a case of the market is measured.
	marketRunners = 256
	// marketOffered is how many domains the offer of each has: about as many as fit.
	marketOffered = 48
)

// MarketParams let runners change their offers at once, and stay silent for as long as the
// other cases take.
func MarketParams(p *params.Params) {
	p.Runner.OfferCooldownBlocks, p.Runner.HeartbeatTimeoutBlocks, p.Runner.ProbationSuccesses = 1, 1<<20, 0
}

// worker is a runner with a key.
type worker struct {
	key     *secp256k1.PrivateKey
	address chain.Address
}

// MarketCases are the instructions of the runner market, each by as many runners as a block
// of cases has, among many with the largest offers. The block pays for its passes as well:
// candidates are looked for in the block of a submission, verdicts given in that of a result.
func MarketCases() []Case {
	byRunners := func(name string, q func(g *Ground, i int) chain.Request) Case {
		return market(name, func(g *Ground) (txs []*chain.VerifiedTx, err error) {
			for i := range instructionsOfABlock {
				txs = append(txs, g.request(g.workers[i].address, chain.AddrRunnerRegistry, 0, q(g, i)))
			}
			return txs, nil
		})
	}
	return []Case{
		byRunners("runner_heartbeat", func(*Ground, int) chain.Request { return &chain.RunnerHeartbeat{} }),
		byRunners("runner_pause", func(*Ground, int) chain.Request { return &chain.RunnerPause{Paused: true} }),
		byRunners("runner_unstake", func(*Ground, int) chain.Request { return &chain.RunnerUnstake{Amount: 1} }),
		byRunners("runner_deregister", func(*Ground, int) chain.Request { return &chain.RunnerDeregister{} }),
		byRunners("runner_update-largest", func(_ *Ground, i int) chain.Request {
			card, can := largestOffer(i + 1_000)
			return &chain.RunnerUpdate{RateCard: card, Capabilities: can}
		}),
		market("runner_register-largest", func(g *Ground) (txs []*chain.VerifiedTx, err error) {
			for i := range instructionsOfABlock {
				card, can := largestOffer(i + 2_000)
				q := &chain.RunnerRegister{RateCard: *card, Capabilities: *can}
				txs = append(txs, g.request(g.people[i], chain.AddrRunnerRegistry, g.Params().Runner.StakeFloor, q))
			}
			return txs, nil
		}),
		market("job_submit", func(g *Ground) ([]*chain.VerifiedTx, error) { return g.submissions(40, 1, 10), nil }),
		market("job_submit-sixteen", func(g *Ground) ([]*chain.VerifiedTx, error) { return g.submissions(5, 16, 10), nil }),
		market("job_submit-long", func(g *Ground) ([]*chain.VerifiedTx, error) { return g.submissions(40, 1, 1_900), nil }),
		market("result_commit", func(g *Ground) (txs []*chain.VerifiedTx, err error) {
			return txs, g.eachSeat(20, 3, func(id chain.Hash, w *worker) {
				txs = append(txs, g.request(w.address, chain.AddrResultVerifier, 0, &chain.ResultCommit{JobID: id, Commitment: chain.Hash{1}}))
			})
		}),
		market("result_reveal", func(g *Ground) ([]*chain.VerifiedTx, error) { return g.results(12, 100) }),
		market("result_reveal-long", func(g *Ground) ([]*chain.VerifiedTx, error) { return g.results(5, 8_000) }),
	}
}

func market(name string, block func(g *Ground) ([]*chain.VerifiedTx, error)) Case {
	return Case{Name: name, Group: GroupInstruction, Setup: func(g *Ground) (func() []*chain.VerifiedTx, error) {
		if err := g.enlist(); err != nil {
			return nil, err
		}
		txs, err := block(g)
		return func() []*chain.VerifiedTx { return txs }, err
	}}
}

// request is a sender's only transaction of a block, with limits that leave room for others
// in it: what is used of them counts alone.
func (g *Ground) request(from, to chain.Address, value chain.Wei, q chain.Request) *chain.VerifiedTx {
	tx := g.Tx(from, &to, value, chain.EncodeRequest(q), chain.Usage{Cycles: 4_000_000, Cells: 100_000})
	if _, beat := q.(*chain.RunnerHeartbeat); beat {
		tx.Tx.CyclesLimit, tx.Tx.CellsLimit = g.Params().Intrinsic.HeartbeatCycles, chain.Cells(len(tx.Tx.Payload))
	}
	copy(tx.Tx.Signature.R[1:], from[:]) // tells the transactions of two senders apart
	return g.Verified(from, *tx.Tx)
}

// largestOffer is one with about as many texts as an offer may have; no two are the same.
func largestOffer(n int) (*chain.RateCard, *chain.Capabilities) {
	can := &chain.Capabilities{JobTypes: []chain.JobKind{chain.JobHTTP}, MaxConcurrentJobs: 1_000}
	for i := range marketOffered {
		can.HTTPDomains = append(can.HTTPDomains, fmt.Sprintf("*.a-domain-with-a-rather-long-name-%04d-%02d.example", n, i))
	}
	slices.Sort(can.HTTPDomains)
	can.HTTPDomains = append([]string{"*"}, can.HTTPDomains...)
	return &chain.RateCard{HTTPRequestBase: 1}, can
}

// enlist makes the runners, once, and people with money.
func (g *Ground) enlist() error {
	if g.workers != nil {
		return nil
	}
	var workers []worker
	for i := range marketRunners {
		secret := keccak.Sum256(fmt.Append(nil, "runner ", i))
		key, err := secp256k1.ParsePrivateKey(secret[:])
		if err != nil {
			return err
		}
		workers = append(workers, worker{key, key.PublicKey().Address()})
	}
	for i := range instructionsOfABlock {
		g.people = append(g.people, chain.Address{0: 0x99, 19: byte(i)})
	}
	need := 2*g.Params().Runner.StakeFloor + 1_000*chain.WeiPerCBY
	paid := g.people
	for i := range workers {
		paid = append(paid, workers[i].address)
	}
	for part := range slices.Chunk(paid, instructionsOfABlock) {
		var txs []*chain.VerifiedTx
		for i := range part {
			tx := g.Tx(Alice, &part[i], need, nil, chain.Usage{Cycles: g.Params().Intrinsic.TransferCycles})
			tx.Tx.Nonce += uint64(i)
			txs = append(txs, g.Verified(Alice, *tx.Tx))
		}
		if err := g.all(txs); err != nil {
			return fmt.Errorf("money: %w", err)
		}
	}
	for part := range slices.Chunk(workers, instructionsOfABlock/4) { // their pages are dear
		var txs []*chain.VerifiedTx
		for i := range part {
			card, can := largestOffer(i)
			q := &chain.RunnerRegister{RateCard: *card, Capabilities: *can}
			txs = append(txs, g.request(part[i].address, chain.AddrRunnerRegistry, 2*g.Params().Runner.StakeFloor, q))
		}
		if err := g.all(txs); err != nil {
			return fmt.Errorf("registrations: %w", err)
		}
	}
	g.workers = workers
	return g.Empty(1 + int(g.Params().Runner.OfferCooldownBlocks))
}

// all keeps a block of transactions, each of which must succeed.
func (g *Ground) all(txs []*chain.VerifiedTx) error {
	r, err := g.Block(txs...)
	if err != nil {
		return err
	}
	for i := range txs {
		if code := r.Receipts[i].Code; code != chain.CodeOK {
			return fmt.Errorf("transaction %d of block %d: %s", i, g.Height, chain.CodeName(code))
		}
	}
	return nil
}

// submissions are n jobs of as many people, for some runners each, with an address of so
// many bytes.
func (g *Ground) submissions(n int, runners uint8, bytes int) (txs []*chain.VerifiedTx) {
	for i, p := range g.people[:n] {
		url := append(fmt.Appendf(nil, "https://a.example/%d/", i), slices.Repeat([]byte{'x'}, bytes)...)
		vote, mode, format := "$.v", chain.VerifyNone, chain.FormatText
		if runners > 1 {
			mode, format = chain.VerifyMajorityVote, chain.FormatJSON
		}
		q := &chain.JobSubmit{
			Spec: chain.JobSpec{
				JobType: &chain.HTTPJob{URL: string(url), Method: "GET"}, Bounds: chain.ResourceBounds{MaxWallTimeSeconds: 1, MaxMemoryMB: 1},
				Verification: chain.Verification{Mode: mode, Runners: runners, Threshold: runners/2 + 1, DisputeWindowBlocks: 1}, MaxPrice: 1_000, TimeoutBlocks: 1_000,
			},
			Terms: chain.JobTerms{
				Version: chain.JobTermsVersion, JudgeSteps: 30_000,
				ResultSchema: chain.ResultSchema{MaxReturnBytes: 10_000, ExpectedExecutionMillis: 1, DataFormat: format},
			},
		}
		if runners > 1 {
			q.Terms.VoteField = &vote
		}
		txs = append(txs, g.request(p, chain.AddrJobDispatcher, q.Spec.MaxPrice, q))
	}
	return txs
}

// eachSeat submits n jobs of some runners each, lets these be drawn, and calls do for one of
// the runners of each job, another one for each.
func (g *Ground) eachSeat(n int, runners uint8, do func(id chain.Hash, w *worker)) error {
	asked := g.submissions(n, runners, 10)
	if err := g.all(asked); err != nil {
		return fmt.Errorf("jobs: %w", err)
	}
	at := g.Height
	if err := g.Empty(1); err != nil {
		return err
	}
	busy := map[chain.Address]bool{}
	for _, tx := range asked {
		id := chain.JobID(tx.Hash, at)
		seats, err := jobs.ReadSeats(g.State, id, 0)
		if err != nil {
			return err
		}
		for _, s := range seats {
			i := slices.IndexFunc(g.workers, func(w worker) bool { return w.address == s.Runner })
			if i < 0 || busy[s.Runner] {
				continue
			}
			busy[s.Runner] = true
			do(id, &g.workers[i])
			break
		}
	}
	if len(busy) < n/2 {
		return fmt.Errorf("only %d runners were drawn for %d jobs", len(busy), len(asked))
	}
	return nil
}

// results are what the runners of n jobs answer, of so many bytes. Nobody has recovered
// their signatures.
func (g *Ground) results(n, bytes int) (txs []*chain.VerifiedTx, err error) {
	result := (&chain.RunnerResult{
		Version: chain.RunnerResultVersion, Data: slices.Repeat([]byte{'x'}, bytes), Usage: chain.RunnerUsage{WallMillis: 1, Requests: 1},
		Source: &chain.ResultSource{URL: "https://a.example/", Status: 200},
	}).Encode()
	return txs, g.eachSeat(n, 1, func(id chain.Hash, w *worker) {
		q := &chain.ResultReveal{JobID: id, Result: result}
		s := w.key.Sign(chain.ResultDigest(g.Genesis.ChainID, id, result))
		copy(q.RunnerSig[:32], s.R[:])
		copy(q.RunnerSig[32:64], s.S[:])
		q.RunnerSig[64] = s.YParity
		txs = append(txs, g.request(w.address, chain.AddrResultVerifier, 0, q))
	})
}
