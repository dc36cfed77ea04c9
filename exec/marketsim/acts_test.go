package marketsim

import (
	"math/big"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// to the registry, the dispatcher and the verifier.

func (g *game) toRegistry(name string, from chain.Address, value *big.Int, q chain.Request, do func(tx chain.Hash) uint16) *act {
	return &act{name: name, from: from, to: chain.AddrRunnerRegistry, value: value, payload: fixed(chain.EncodeRequest(q)), do: do}
}

// offered are terms on which a runner may work.
func (g *game) offered() offer {
	r := g.rng
	o := offer{
		card: chain.RateCard{
			LLMInputToken: chain.Wei(r.IntN(4)), LLMOutputToken: chain.Wei(r.IntN(6)), HTTPRequestBase: chain.Wei(r.IntN(30)),
			ComputeSecond: chain.Wei(r.IntN(40)), MemoryMB: chain.Wei(r.IntN(5)),
		},
		can: chain.Capabilities{
			JobTypes: []chain.JobKind{chain.JobLLM, chain.JobHTTP, chain.JobCustom}, HTTPDomains: []string{"*"}, MaxConcurrentJobs: uint16(1 + r.IntN(5)),
		},
	}
	for n := range byte(2) {
		if r.IntN(2) == 0 {
			o.card.SupportedModels = append(o.card.SupportedModels, chain.Hash{1 + n})
		}
	}
	switch r.IntN(20) {
	case 0:
		o.can.HTTPDomains = nil
	case 3:
		o.can.HTTPDomains = []string{"*.a.example", "b.example"}
	case 4:
		o.can.HTTPDomains = []string{"a.example", "b.example"}
	case 5:
		o.can.HTTPDomains = []string{host}
	case 1:
		o.can.JobTypes = o.can.JobTypes[:1+r.IntN(2)]
	case 2:
		o.card.ComputeSecond = ^chain.Wei(0)
	}
	return o
}

// ofRunner is something that a runner does to its record; nil for nothing.
func (g *game) ofRunner(p *player) *act {
	m, r, a, none := g.m, g.rng, p.addr, new(big.Int)
	known := m.registered(a)
	if known == nil {
		if r.IntN(3) == 0 && m.runners[a] != nil {
			return g.toRegistry("withdraw", a, none, &chain.RunnerWithdraw{}, func(chain.Hash) uint16 { return m.withdraw(a) })
		}
		stake, largest, o := wei(900+r.Uint64N(30_000)), wei(r.Uint64N(6_000)), g.offered()
		q := &chain.RunnerRegister{MaxJobValue: chain.Wei(largest.Uint64()), RateCard: o.card, Capabilities: o.can, Endpoint: "https://r.example/"}
		if g.actor != (chain.Address{}) && r.IntN(4) > 0 {
			o.attested = g.height + r.Uint64N(90)
			q.Attestation = g.attests(p, o.attested)
		}
		return g.toRegistry("register", a, stake, q, func(chain.Hash) uint16 { return m.register(a, stake, largest, o) })
	}
	switch r.IntN(9) {
	case 0:
		more, q := wei(r.Uint64N(2_000)), &chain.RunnerUpdate{}
		if r.IntN(2) == 0 {
			o := g.offered()
			q.RateCard, q.Capabilities = &o.card, &o.can
		}
		if g.actor != (chain.Address{}) && r.IntN(2) == 0 {
			q.Attestation = g.attests(p, g.height+r.Uint64N(90))
		}
		if r.IntN(3) == 0 {
			q.MaxJobValue = ref(chain.Wei(r.Uint64N(9_000)))
		}
		return g.toRegistry("update", a, more, q, func(chain.Hash) uint16 { return m.update(a, more, q) })
	case 1, 2:
		amount := wei(1 + r.Uint64N(3_000))
		switch edge := r.IntN(4); { // where it begins to be refused
		case edge == 0 && known.stake.Cmp(known.bonded) >= 0:
			amount = plus(minus(known.stake, known.bonded), wei(r.IntN(2)))
		case edge == 1 && !known.under:
			amount = plus(minus(known.stake, m.required(known.largest)), wei(r.IntN(2)))
		}
		if amount.Sign() <= 0 { // a vote may ask for more than it has
			return nil
		}
		return g.toRegistry("unstake", a, none, &chain.RunnerUnstake{Amount: chain.Wei(amount.Uint64())}, func(chain.Hash) uint16 { return m.unstake(a, amount) })
	case 3:
		return g.toRegistry("withdraw", a, none, &chain.RunnerWithdraw{}, func(chain.Hash) uint16 { return m.withdraw(a) })
	case 4:
		paused := r.IntN(4) == 0
		return g.toRegistry("pause", a, none, &chain.RunnerPause{Paused: paused}, func(chain.Hash) uint16 { return m.pause(a, paused) })
	case 5:
		if r.IntN(4) == 0 {
			return g.toRegistry("deregister", a, none, &chain.RunnerDeregister{}, func(chain.Hash) uint16 { return m.deregister(a) })
		}
	case 6:
		return g.toRegistry("return", a, none, &chain.RunnerReturn{}, func(chain.Hash) uint16 { return m.comeBack(a) })
	case 7:
		stake, o := wei(2_000), g.offered()
		q := &chain.RunnerRegister{RateCard: o.card, Capabilities: o.can}
		return g.toRegistry("register", a, stake, q, func(chain.Hash) uint16 { return m.register(a, stake, none, o) })
	}
	return nil
}

// topUp adds to a runner's stake.
func (g *game) topUp(a chain.Address, more *big.Int) *act {
	q := &chain.RunnerUpdate{}
	return g.toRegistry("top up", a, more, q, func(chain.Hash) uint16 { return g.m.update(a, more, q) })
}

func (g *game) heartbeat(a chain.Address) *act {
	payload := cbor.AppendUint(cbor.AppendArray(nil, 1), chain.OpRunnerHeartbeat)
	return &act{
		name: "heartbeat", from: a, to: chain.AddrRunnerRegistry, value: new(big.Int), payload: fixed(payload),
		do: func(chain.Hash) uint16 { return g.m.heartbeat(a) },
	}
}

// asks is a job that somebody submits, and now and then takes back at once.
func (g *game) asks(by chain.Address) (list []*act) {
	q := g.order()
	if g.rng.IntN(6) == 0 {
		g.spoil(q)
	}
	value := plus(wei(q.Spec.MaxPrice), wei(q.Spec.Tip))
	if g.rng.IntN(20) == 0 {
		value = plus(value, wei(1))
	}
	submit := g.submits(by, q)
	if submit.value = value; !value.IsUint64() {
		submit.value = wei(q.Spec.MaxPrice)
	}
	tag := submit.tag
	list = append(list, submit)
	if g.rng.IntN(5) > 0 {
		return list
	}
	from := by
	if g.rng.IntN(3) == 0 {
		from = g.askers[g.rng.IntN(len(g.askers))]
	}
	var id chain.Hash
	return append(list, &act{
		name: "cancel", from: from, to: chain.AddrJobDispatcher, value: new(big.Int),
		payload: func(before map[string]chain.Hash) []byte {
			id = before[tag]
			return chain.EncodeRequest(&chain.JobCancel{JobID: id})
		},
		do: func(chain.Hash) uint16 { return g.m.cancel(from, id) },
	})
}

// regrets is somebody who wants to take back any job that there is.
func (g *game) regrets(by chain.Address) *act {
	all := g.m.byID(func(*job) bool { return true })
	if len(all) == 0 {
		return nil
	}
	id := all[g.rng.IntN(len(all))].id
	return &act{
		name: "cancel late", from: by, to: chain.AddrJobDispatcher, value: new(big.Int), payload: fixed(chain.EncodeRequest(&chain.JobCancel{JobID: id})),
		do: func(chain.Hash) uint16 { return g.m.cancel(by, id) },
	}
}

// submits is a job that somebody submits with its escrow.
func (g *game) submits(by chain.Address, q *chain.JobSubmit) *act {
	a := &act{
		name: "submit", from: by, to: chain.AddrJobDispatcher, value: plus(wei(q.Spec.MaxPrice), wei(q.Spec.Tip)),
		payload: fixed(chain.EncodeRequest(q)), tag: by.String(),
	}
	a.do = func(tx chain.Hash) uint16 { return g.m.submit(by, a.value, tx, q) }
	return a
}

// promised names a seat.
type promised struct {
	job     chain.Hash
	attempt int
	runner  chain.Address
}

// promise is what a runner will show in its seat. It is made once.
func (g *game) promise(p *player, j *job) *signed {
	at := promised{j.id, j.attempt(), p.addr}
	if s := g.promises[at]; s != nil {
		return s
	}
	s := g.sign(p, j.id, g.answer(p, j).Encode())
	g.promises[at] = s
	return s
}

func (g *game) sign(p *player, id chain.Hash, result []byte) *signed {
	sig := p.key.Sign(chain.ResultDigest(chainID, id, result))
	s := &signed{Reveal: chain.Reveal{Runner: p.addr, Result: result}, signer: p.addr}
	copy(s.RunnerSig[:32], sig.R[:])
	copy(s.RunnerSig[32:64], sig.S[:])
	s.RunnerSig[64] = sig.YParity
	return s
}

func (g *game) commits(a chain.Address, id, commitment chain.Hash) *act {
	q := &chain.ResultCommit{JobID: id, Commitment: commitment}
	return &act{
		name: "commit", from: a, to: chain.AddrResultVerifier, value: new(big.Int), payload: fixed(chain.EncodeRequest(q)),
		do: func(chain.Hash) uint16 { return g.m.commit(a, q) },
	}
}

func (s *signed) commitment() chain.Hash { return keccak.Sum256(s.Result, s.RunnerSig[:]) }

func (g *game) reveals(a chain.Address, id chain.Hash, s signed) *act {
	s.Runner = a
	q := &chain.ResultReveal{JobID: id, Result: s.Result, RunnerSig: s.RunnerSig}
	return &act{
		name: "reveal", from: a, to: chain.AddrResultVerifier, value: new(big.Int), payload: fixed(chain.EncodeRequest(q)),
		do: func(chain.Hash) uint16 { return g.m.reveal(a, id, s) }, signers: g.recovered(s.signer),
	}
}

// recovered is what a signature pipeline hands over, or nothing.
func (g *game) recovered(signers ...chain.Address) []chain.Address {
	if g.rng.IntN(2) == 0 {
		return nil
	}
	return signers
}

func (g *game) gathers(a chain.Address, id chain.Hash, all []signed) *act {
	q := &chain.ResultSubmit{JobID: id}
	var signers []chain.Address
	for _, s := range all {
		q.Reveals = append(q.Reveals, s.Reveal)
		signers = append(signers, s.signer)
	}
	return &act{
		name: "gather", from: a, to: chain.AddrResultVerifier, value: new(big.Int), payload: fixed(chain.EncodeRequest(q)),
		do: func(chain.Hash) uint16 { return g.m.showAll(a, id, all) }, signers: g.recovered(signers...),
	}
}
