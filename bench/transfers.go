package bench

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/bench/workload"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
)

// account is one sender of the load.
type account struct {
	key     *secp256k1.PrivateKey
	address chain.Address
	nonce   uint64    // first one not used on the chain
	kind    int       // of the mix: what it sends
	need    chain.Wei // most that its transactions take
}

func newAccount(key *secp256k1.PrivateKey) account {
	return account{key: key, address: key.PublicKey().Address()}
}

// deriveAccounts makes n accounts from the seed. The same seed gives the same
// accounts, so that a second run finds them funded.
func deriveAccounts(seed uint64, n int) ([]account, error) {
	accounts := make([]account, n)
	err := workload.InParallel(n, func(i int) error {
		key, err := workload.Key(seed, i)
		if err != nil {
			return err
		}
		accounts[i] = newAccount(key)
		return nil
	})
	return accounts, err
}

// accountsOf makes the senders of a mix: each kind has accounts of its own, so
// that no transaction waits for one of another lane, and at least one on each
// connection. Approvals come from the one development governor.
func accountsOf(c *LoadConfig) ([]account, error) {
	numbers, total := make([]int, len(c.Mix.Kinds)), 0
	for k := range c.Mix.Kinds {
		numbers[k] = max(c.Connections, c.Accounts*c.Mix.Kinds[k].Percent/100)
		total += numbers[k]
	}
	accounts, err := deriveAccounts(c.Seed, total)
	if err != nil {
		return nil, err
	}
	out, rest := make([]account, 0, total), accounts
	for k, n := range numbers {
		if c.Mix.Kinds[k].Kind == KindGovernance {
			secret := genesis.DevelopmentKey("governor-1")
			key, err := secp256k1.ParsePrivateKey(secret[:])
			if err != nil {
				return nil, fmt.Errorf("key of the governor: %w", err)
			}
			rest[0], n = newAccount(key), 1
		}
		for i := range n {
			rest[i].kind = k
		}
		out, rest = append(out, rest[:n]...), rest[n:]
	}
	return out, nil
}

// prices are the terms on which transactions are sent.
type prices struct {
	chainID        uint64
	intrinsic      params.IntrinsicCosts
	all            params.Params // in force
	registered     uint64        // runners of the chain, those of the load included
	maxFeePerCycle chain.Wei
	maxFeePerCell  chain.Wei
	tipPerCycle    chain.Wei
}

// costMax is the most that one transfer of value can take from its sender. A
// plain transfer has no payload and so no cells (resolution 2.10).
func (p *prices) costMax(value chain.Wei) chain.Wei {
	return value + chain.Wei(p.intrinsic.TransferCycles)*p.maxFeePerCycle
}

// signed is a transaction ready to send.
type signed struct {
	hash chain.Hash
	wire []byte // length prefix and body
}

// sign completes a draft.
func (a *account) sign(tx chain.Tx, nonce uint64) signed {
	tx.Nonce = nonce
	sig := a.key.Sign(tx.SigningHash())
	tx.Signature = &chain.TxSignature{YParity: sig.YParity, R: sig.R, S: sig.S}
	body := tx.Encode()
	return signed{hash: chain.TxHash(body), wire: tx.AppendWire(nil)}
}

// transfer signs one transfer.
func (p *prices) transfer(from *account, nonce uint64, to chain.Address, value chain.Wei) signed {
	tx := p.draft(&Kind{Kind: KindTransfer}, to)
	tx.Value = value
	return from.sign(tx, nonce)
}

// plan holds every transaction of a run and who sends it.
type plan struct {
	kinds    []Kind
	accounts []account
	txs      []signed
	sender   []int32 // account of each transaction
	ordinal  []int32 // which of its sender's it is
	index    map[chain.Hash]int32
	streams  [][]int32 // per connection: transactions in the order in which they are sent
}

// kind is that of a transaction, as a number of the mix.
func (pl *plan) kind(i int32) int { return pl.accounts[pl.sender[i]].kind }

// newPlan says who sends what in so many requests of batch transactions each, and
// what that takes from the accounts.
func newPlan(accounts []account, requests int, c *LoadConfig, p *prices) (*plan, error) {
	total := requests * c.Batch
	pl := &plan{
		kinds: c.Mix.Kinds, accounts: accounts, txs: make([]signed, total), sender: make([]int32, 0, total), ordinal: make([]int32, 0, total),
		index: make(map[chain.Hash]int32, total), streams: make([][]int32, c.Connections),
	}
	sent := make([]int32, len(accounts))
	for conn := range c.Connections {
		turns, err := newTurns(accounts, conn, c)
		if err != nil {
			return nil, err
		}
		share := requests / c.Connections
		if conn < requests%c.Connections {
			share++
		}
		stream := make([]int32, share*c.Batch)
		for i := range stream {
			a := turns.nextSender()
			stream[i] = int32(len(pl.sender))
			pl.sender, pl.ordinal = append(pl.sender, a), append(pl.ordinal, sent[a])
			sent[a]++
		}
		pl.streams[conn] = stream
	}
	for a := range accounts {
		tx := p.draft(&c.Mix.Kinds[accounts[a].kind], chain.Address{})
		each, err := fees.MaxCost(&tx)
		if err != nil {
			return nil, fmt.Errorf("fee headroom %d: %w", c.FeeHeadroom, err)
		}
		n := chain.Wei(sent[a])
		if accounts[a].need = each * n; n != 0 && accounts[a].need/n != each {
			return nil, fmt.Errorf("fee headroom %d needs more money for each account than exists", c.FeeHeadroom)
		}
	}
	return pl, nil
}

// provide says what the runners that do the jobs take: what they may send for all of them,
// evenly, and twice as much for those that are drawn more often.
func (pl *plan) provide(workers []account, c *LoadConfig, p *prices) error {
	k := c.Mix.jobs()
	if k == nil {
		return nil
	}
	jobs := 0
	for i := range pl.txs {
		if pl.kinds[pl.kind(int32(i))].Kind == KindMarket {
			jobs++
		}
	}
	commit, show := p.bindResult(chain.Hash{}, chain.Hash{}), p.showResults(chain.Hash{}, k.Committee, sampleReveals(k))
	each, err := fees.MaxCost(&commit)
	if err != nil {
		return fmt.Errorf("fee headroom %d: %w", c.FeeHeadroom, err)
	}
	shown, err := fees.MaxCost(&show)
	if err != nil {
		return fmt.Errorf("fee headroom %d: %w", c.FeeHeadroom, err)
	}
	seats := chain.Wei(2*jobs*k.Committee/len(workers) + spareSeats)
	for i := range workers {
		workers[i].need = seats * (each + shown)
	}
	return nil
}

// spareSeats are provided for on top: of few jobs one runner may get most.
const spareSeats = 4

// sampleReveals are results as long as those of a job.
func sampleReveals(k *Kind) []chain.Reveal {
	reveals := make([]chain.Reveal, k.Committee)
	for i := range reveals {
		reveals[i].Result = resultOf(k, 0)
	}
	return reveals
}

// sign signs everything. Every account sends to the next one, so that the accounts
// stay funded and the state does not grow.
func (pl *plan) sign(p *prices) error {
	err := workload.InParallel(len(pl.txs), func(i int) error {
		from := &pl.accounts[pl.sender[i]]
		to := pl.accounts[(int(pl.sender[i])+1)%len(pl.accounts)].address
		pl.txs[i] = from.sign(p.draft(&pl.kinds[from.kind], to), from.nonce+uint64(pl.ordinal[i]))
		return nil
	})
	for i := range pl.txs {
		pl.index[pl.txs[i].hash] = int32(i)
	}
	return err
}

// turns deals the transactions of one connection to kinds by their shares and,
// inside a kind, to its accounts in turns.
type turns struct {
	own    [][]int32 // accounts of each kind
	weight []int
	credit []int
	sent   []int
	total  int
}

func newTurns(accounts []account, conn int, c *LoadConfig) (*turns, error) {
	n := len(c.Mix.Kinds)
	t := &turns{own: make([][]int32, n), weight: make([]int, n), credit: make([]int, n), sent: make([]int, n)}
	first := 0
	for a := range accounts {
		if a > 0 && accounts[a].kind != accounts[a-1].kind {
			first = a
		}
		if (a-first)%c.Connections == conn {
			t.own[accounts[a].kind] = append(t.own[accounts[a].kind], int32(a))
		}
	}
	alone := 0 // percent of what only the first connection sends
	for k := range c.Mix.Kinds {
		if c.Mix.Kinds[k].Kind == KindGovernance {
			alone += c.Mix.Kinds[k].Percent
		}
	}
	first = alone * c.Connections // of the first connection's transactions
	if first > 100 || first == 100 && alone < 100 {
		return nil, fmt.Errorf("%d %% of the transactions come from one account and so over one of %d connections, which has less: use fewer connections", alone, c.Connections)
	}
	for k := range c.Mix.Kinds {
		switch kind := &c.Mix.Kinds[k]; {
		case len(t.own[k]) == 0:
		case kind.Kind == KindGovernance:
			t.weight[k] = kind.Percent * c.Connections * max(1, 100-alone)
		case conn == 0:
			t.weight[k] = kind.Percent * (100 - first)
		default:
			t.weight[k] = kind.Percent
		}
		t.total += t.weight[k]
	}
	return t, nil
}

// nextSender returns the account that sends next: of the kind that is furthest behind
// its share.
func (t *turns) nextSender() int32 {
	best := 0
	for k := range t.credit {
		t.credit[k] += t.weight[k]
		if t.credit[k] > t.credit[best] {
			best = k
		}
	}
	t.credit[best] -= t.total
	a := t.own[best][t.sent[best]%len(t.own[best])]
	t.sent[best]++
	return a
}

// transferValue is what each transfer moves: the least that is not nothing.
const transferValue chain.Wei = 1
