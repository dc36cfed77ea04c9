package workload

import (
	"encoding/binary"
	"math"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// Workload is a named way to fill a block.
type Workload struct {
	Name  string
	About string
	// Spoiled is the share of transactions that are refused on purpose, in
	// hundredths.
	Spoiled int

	most int                        // transactions in a block; 0: any number
	make func(t *Town, i int) Order // transaction i of a block
}

// Most returns how many of so many transactions fit a block of the workload.
func (w *Workload) Most(txs int) int {
	if w.most > 0 {
		return min(txs, w.most)
	}
	return txs
}

// Find returns the workload of a name.
func Find(name string) (*Workload, bool) {
	for i := range table {
		if table[i].Name == name {
			return &table[i], true
		}
	}
	return nil, false
}

// Names lists all workloads.
func Names() []string {
	names := make([]string, len(table))
	for i := range table {
		names[i] = table[i].Name
	}
	return names
}

// table holds the workloads of node-ops.md §1.5 that this chain can run. Those of
// runners wait for their market.
var table = []Workload{
	{Name: "transfer-uncontended", About: "everybody pays an account of their own", make: func(t *Town, i int) Order {
		return transfer(t.person(i), chain.Address{0xee, byte(i), byte(i >> 8), 19: 1}, 1)
	}},
	{Name: "transfer-random", About: "everybody pays anybody", make: func(t *Town, i int) Order {
		return transfer(t.person(i), t.anybody().Address, 1)
	}},
	{Name: "transfer-zipf-1.1", About: "a few are paid often", make: func(t *Town, i int) Order {
		return transfer(t.person(i), t.People[t.zipf()].Address, 1)
	}},
	{Name: "transfer-zipf-both", About: "a few pay often, and are paid often", make: func(t *Town, _ int) Order {
		return transfer(t.People[t.zipf()], t.People[t.zipf()].Address, 1)
	}},
	{Name: "transfer-hot-receiver", About: "everybody pays one account", make: func(t *Town, i int) Order {
		return transfer(t.person(i), hot, 1)
	}},
	{Name: "transfer-hot-10pct", About: "every tenth pays one account", make: func(t *Town, i int) Order {
		if i%10 == 0 {
			return transfer(t.person(i), hot, 1)
		}
		return transfer(t.person(i), t.anybody().Address, 1)
	}},
	{Name: "nonce-chain", About: "eight senders, long chains of nonces", most: 8 * 200, make: func(t *Town, i int) Order {
		return transfer(t.person(i%8), t.anybody().Address, 1)
	}},
	{Name: "actor-uncontended", About: "everybody calls an actor of their own", make: func(t *Town, i int) Order {
		return message(t.person(i), t.worker(i), "work", nil)
	}},
	{Name: "actor-counter", About: "everybody calls one actor", make: func(t *Town, i int) Order {
		return message(t.person(i), t.worker(0), "work", nil)
	}},
	{Name: "actor-sharded-100", About: "a hundred actors, each called by a hundredth", make: func(t *Town, i int) Order {
		return message(t.person(i), t.worker(i%100), "work", nil)
	}},
	{Name: "actor-token", About: "one token in Python, many holders", make: func(t *Town, i int) Order {
		return message(t.person(i), t.Coin, "pay", bytesOf(t.anybody().Address))
	}},
	{Name: "token-transfer", About: "one CIP-20 token, many holders", make: func(t *Town, i int) Order {
		return t.payToken(t.person(i), t.anybody().Address, 1)
	}},
	{Name: "actor-swap-1", About: "one pool", make: func(t *Town, i int) Order { return t.swap(i, 1) }},
	{Name: "actor-swap-100", About: "a hundred pools", make: func(t *Town, i int) Order { return t.swap(i, 100) }},
	{Name: "actor-cascade-depth-8", About: "messages of messages, eight deep", most: 500, make: func(t *Town, i int) Order {
		return message(t.person(i), t.worker(i), "pass_on", t.targets(8))
	}},
	{Name: "actor-cascade-fan-64", About: "a message that sends sixty-four", most: 100, make: func(t *Town, i int) Order {
		o := message(t.person(i), t.worker(i), "spread", t.targets(64))
		o.Limit = chain.Usage{Cycles: 9_000_000, Cells: 400_000}
		return o
	}},
	{Name: "access-list-exact", About: "calls of an actor by an actor, as the list says", make: func(t *Town, i int) Order {
		return t.callAnother(i, func(target chain.Address) []chain.AccessEntry { return []chain.AccessEntry{{Address: target}} })
	}},
	{Name: "access-list-missing", About: "the same without a list", make: func(t *Town, i int) Order {
		return t.callAnother(i, func(chain.Address) []chain.AccessEntry { return nil })
	}},
	{Name: "access-list-wrong", About: "the same with the name of another", make: func(t *Town, i int) Order {
		return t.callAnother(i, func(chain.Address) []chain.AccessEntry { return []chain.AccessEntry{{Address: t.worker(i + 7)}} })
	}},
	{Name: "timer-storm", About: "everybody sets as many timers for a block as cost no surcharge; those set before fire", most: 32, make: func(t *Town, i int) Order {
		return message(t.person(i), t.worker(i), "later", timersAhead(1, 16))
	}},
	{Name: "lane-mix", About: "40 transfers, 20 calls of own actors, 10 of the Python token, 10 of shards, 10 token transfers, 5 timers, 5 deployments in a hundred", make: laneMix},
	{Name: "deploy-mix", About: "every fifth deploys an actor", make: func(t *Town, i int) Order {
		if i%5 == 0 {
			return t.deployment(i)
		}
		return transfer(t.person(i), t.anybody().Address, 1)
	}},
	{Name: "invalid-5pct", About: "random payments, every twentieth with a bad signature, nonce or fee", Spoiled: 5, make: func(t *Town, i int) Order {
		o := transfer(t.person(i), t.anybody().Address, 1)
		if i%20 == 0 {
			o.spoil = badSignature + spoil(i/20%3)
		}
		return o
	}},
	{Name: "large-payload-64k", About: "messages of 64 KiB", most: 200, make: func(t *Town, i int) Order {
		o := message(t.person(i), t.worker(i), "swallow", cbor.AppendBytes(nil, make([]byte, 64000)))
		o.Limit.Cells = 200_000
		return o
	}},
}

// hot is one account that everybody pays.
var hot = chain.Address{7, 7, 7}

func laneMix(t *Town, i int) Order {
	switch k := i % 20; {
	case k < 8:
		return transfer(t.person(i), t.anybody().Address, 1)
	case k < 12:
		return message(t.person(i), t.worker(i), "work", nil)
	case k < 14:
		return message(t.person(i), t.Coin, "pay", bytesOf(t.anybody().Address))
	case k < 16:
		return message(t.person(i), t.worker(i%100), "work", nil)
	case k < 18:
		return t.payToken(t.person(i), t.anybody().Address, 1)
	case k < 19:
		return message(t.person(i), t.worker(i), "later", timersAhead(1, 2))
	}
	return t.deployment(i)
}

func (t *Town) person(i int) *Person       { return t.People[i%len(t.People)] }
func (t *Town) anybody() *Person           { return t.People[t.rng.IntN(len(t.People))] }
func (t *Town) worker(i int) chain.Address { return t.Workers[i%len(t.Workers)] }

// zipf draws a number of a person: the k-th with a likelihood that falls with
// k^1.1, by inverting the integral of that.
func (t *Town) zipf() int {
	const s = 1.1
	n := float64(len(t.People))
	u := t.rng.Float64()
	x := math.Pow(1+u*(math.Pow(n, 1-s)-1), 1/(1-s))
	return min(int(x)-1, len(t.People)-1)
}

// swap exchanges at one of so many pools.
func (t *Town) swap(i, pools int) Order {
	return message(t.person(i), t.Markets[i%min(pools, len(t.Markets))], "swap", cbor.AppendUint(nil, uint64(1+i%1000)))
}

// callAnother has one worker call another.
func (t *Town) callAnother(i int, list func(target chain.Address) []chain.AccessEntry) Order {
	target := t.worker(t.rng.IntN(100))
	o := message(t.person(i), t.worker(i), "ask", bytesOf(target))
	o.Access = list(target)
	return o
}

// targets is a list of n workers.
func (t *Town) targets(n int) []byte {
	b := cbor.AppendArray(nil, n)
	for range n {
		b = append(b, bytesOf(t.worker(t.rng.IntN(len(t.Workers))))...)
	}
	return b
}

// deployment is a new worker of somebody's.
func (t *Town) deployment(i int) Order {
	t.salts++
	o, _ := deploy(t.person(i), worker, binary.BigEndian.AppendUint64(nil, t.salts), nil, 0)
	return o
}

func timersAhead(ahead, count uint64) []byte {
	return cbor.AppendUint(cbor.AppendUint(cbor.AppendArray(nil, 2), ahead), count)
}

func bytesOf(a chain.Address) []byte { return cbor.AppendBytes(nil, a[:]) }
