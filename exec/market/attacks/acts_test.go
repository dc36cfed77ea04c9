package attacks

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
)

// rate is what each runner asks for a request of the web: what a result costs its requester.
const rate = chain.WeiPerCBY / 10

// pay is what a runner gets of it: a hundredth is the Treasury's.
const pay = int64(rate - rate/100)

// offer is that of a runner of the web.
func offer(price chain.Wei) *chain.RunnerRegister {
	return &chain.RunnerRegister{
		RateCard:     chain.RateCard{HTTPRequestBase: price},
		Capabilities: chain.Capabilities{JobTypes: []chain.JobKind{chain.JobHTTP}, HTTPDomains: []string{"*"}, MaxConcurrentJobs: 100},
		Endpoint:     "https://runner.example/",
	}
}

// registers makes somebody a runner with a stake.
func registers(a *person, amount chain.Wei) act {
	return ask(a, chain.AddrRunnerRegistry, amount, offer(rate))
}

// enlist makes people runners with the least stake.
func (m *market) enlist(all ...*person) {
	m.Helper()
	var acts []act
	for _, a := range all {
		acts = append(acts, registers(a, stake))
	}
	m.does(acts...)
}

// order is a job of runners who fetch a page, of whom so many must agree: one is enough where
// one works.
func order(runners, threshold uint8, change ...func(*chain.JobSubmit)) *chain.JobSubmit {
	q := &chain.JobSubmit{
		Spec: chain.JobSpec{
			JobType:      &chain.HTTPJob{URL: "https://a.example/", Method: "GET"},
			Bounds:       chain.ResourceBounds{MaxWallTimeSeconds: 10, MaxMemoryMB: 64},
			Verification: chain.Verification{Mode: chain.VerifyMajorityVote, Runners: runners, Threshold: threshold},
			MaxPrice:     rate * chain.Wei(runners), TimeoutBlocks: 41, Callback: chain.Callback{Context: []byte{}},
		},
		Terms: chain.JobTerms{
			Version: chain.JobTermsVersion, JudgeSteps: 10_000,
			ResultSchema: chain.ResultSchema{MaxReturnBytes: 64, ExpectedExecutionMillis: 1, DataFormat: chain.FormatText},
		},
	}
	if runners == 1 {
		q.Spec.Verification.Mode = chain.VerifyNone
	}
	for _, f := range change {
		f(q)
	}
	return q
}

func submits(by *person, q *chain.JobSubmit) act {
	return ask(by, chain.AddrJobDispatcher, q.Spec.MaxPrice+q.Spec.Tip, q)
}

// submitted is the next block, in which somebody submits a job and others do what they do.
func (m *market) submitted(by *person, q *chain.JobSubmit, beside ...act) chain.Hash {
	m.Helper()
	acts := append([]act{submits(by, q)}, beside...)
	for _, tx := range m.sent(acts) {
		if tx.Sender == by.addr {
			id := chain.JobID(tx.Hash, m.height+1)
			m.does(acts...)
			return id
		}
	}
	m.Fatal("nobody submits")
	return chain.Hash{}
}

// assigned is submitted, with the block of the draw.
func (m *market) assigned(by *person, q *chain.JobSubmit) chain.Hash {
	m.Helper()
	id := m.submitted(by, q)
	m.block()
	if got, want := m.job(id).Phase, jobs.Assigned; got != want {
		m.Fatalf("the job is %s, want %s", got, want)
	}
	return id
}

// result is a result of the first attempt, a page in one request.
func result(data string, change ...func(*chain.RunnerResult)) []byte {
	r := &chain.RunnerResult{
		Version: chain.RunnerResultVersion, Data: []byte(data), Usage: chain.RunnerUsage{WallMillis: 1_000, Requests: 1},
		Source: &chain.ResultSource{URL: "https://a.example/", Status: 200},
	}
	for _, f := range change {
		f(r)
	}
	return r.Encode()
}

// signed is a result of somebody for a job.
func signed(a *person, id chain.Hash, bytes []byte) chain.Reveal {
	s := a.key.Sign(chain.ResultDigest(chainID, id, bytes))
	r := chain.Reveal{Runner: a.addr, Result: bytes}
	copy(r.RunnerSig[:32], s.R[:])
	copy(r.RunnerSig[32:64], s.S[:])
	r.RunnerSig[64] = s.YParity
	return r
}

func commits(a *person, id chain.Hash, bytes []byte) act {
	r := signed(a, id, bytes)
	return ask(a, chain.AddrResultVerifier, 0, &chain.ResultCommit{JobID: id, Commitment: chain.ResultCommitment(r.Result, r.RunnerSig)})
}

// shows is somebody who shows a result, under whosever signature it is.
func shows(a *person, id chain.Hash, r chain.Reveal) act {
	return ask(a, chain.AddrResultVerifier, 0, &chain.ResultReveal{JobID: id, Result: r.Result, RunnerSig: r.RunnerSig})
}

func reveals(a *person, id chain.Hash, bytes []byte) act { return shows(a, id, signed(a, id, bytes)) }

// gathers is an aggregator that shows results.
func gathers(a *person, id chain.Hash, all ...chain.Reveal) act {
	return ask(a, chain.AddrResultVerifier, 0, &chain.ResultSubmit{JobID: id, Reveals: all})
}

func heartbeat(a *person) act {
	payload := cbor.AppendUint(cbor.AppendArray(nil, 1), chain.OpRunnerHeartbeat)
	return act{by: a, to: to(chain.AddrRunnerRegistry), payload: payload, cycles: 5_000, cells: chain.Cells(len(payload))}
}

// committee are the people of a committee in the order of their seats.
func (m *market) committee(id chain.Hash) (all []*person) {
	m.Helper()
	for _, s := range m.seats(id, m.job(id).Attempt) {
		for _, a := range m.people {
			if a.addr == s.Runner {
				all = append(all, a)
			}
		}
	}
	return all
}

// says is what each of some people found.
type says map[*person]string

// promise is a block in which people commit to what they say.
func (m *market) promise(id chain.Hash, all says) {
	m.Helper()
	var acts []act
	for _, a := range m.people {
		if data, speaks := all[a]; speaks {
			acts = append(acts, commits(a, id, result(data)))
		}
	}
	m.does(acts...)
}

// show is a block, behind the time of the aggregator, in which people show what they say.
func (m *market) show(id chain.Hash, all says) {
	m.Helper()
	m.until(m.job(id).GatherUntil)
	var acts []act
	for _, a := range m.people {
		if data, speaks := all[a]; speaks {
			acts = append(acts, reveals(a, id, result(data)))
		}
	}
	m.does(acts...)
}

// plays lets people commit and show what they say, and waits for the settlement.
func (m *market) plays(id chain.Hash, all says) {
	m.Helper()
	m.promise(id, all)
	m.show(id, all)
	m.over(id)
}

// all gives everybody the same to say.
func all(data string, people ...*person) says {
	s := says{}
	for _, a := range people {
		s[a] = data
	}
	return s
}
