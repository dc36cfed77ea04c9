package bench

import (
	"runtime"
	"sync"
	"sync/atomic"

	"github.com/cowboy-foundation/cowboy/bench/workload"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
)

// account is one sender of the load.
type account struct {
	key     *secp256k1.PrivateKey
	address chain.Address
	nonce   uint64 // first one not used on the chain
}

// deriveAccounts makes n accounts from the seed. The same seed gives the same
// accounts, so that a second run finds them funded.
func deriveAccounts(seed uint64, n int) ([]account, error) {
	accounts := make([]account, n)
	err := parallel(n, func(i int) error {
		key, err := workload.Key(seed, i)
		if err != nil {
			return err
		}
		accounts[i] = account{key: key, address: key.PublicKey().Address()}
		return nil
	})
	return accounts, err
}

// prices are the terms on which a transfer is sent.
type prices struct {
	chainID        uint64
	cyclesLimit    chain.Cycles
	maxFeePerCycle chain.Wei
	maxFeePerCell  chain.Wei
	tipPerCycle    chain.Wei
}

// costMax is the most that one transfer of value can take from its sender. A
// plain transfer has no payload and so no cells (resolution 2.10).
func (p *prices) costMax(value chain.Wei) chain.Wei {
	return value + chain.Wei(p.cyclesLimit)*p.maxFeePerCycle
}

// signed is a transfer ready to send.
type signed struct {
	hash chain.Hash
	wire []byte // length prefix and body
}

// transfer signs one transfer.
func (p *prices) transfer(from *account, nonce uint64, to chain.Address, value chain.Wei) signed {
	tx := chain.Tx{
		ChainID: p.chainID, Nonce: nonce, To: &to, Value: value,
		CyclesLimit:    p.cyclesLimit,
		MaxFeePerCycle: p.maxFeePerCycle, MaxFeePerCell: p.maxFeePerCell,
		TipPerCycle: p.tipPerCycle,
	}
	sig := from.key.Sign(tx.SigningHash())
	tx.Signature = &chain.TxSignature{YParity: sig.YParity, R: sig.R, S: sig.S}
	body := tx.Encode()
	return signed{hash: chain.TxHash(body), wire: tx.AppendWire(nil)}
}

// plan holds every transfer of a run and who sends it.
type plan struct {
	txs     []signed
	sender  []int32 // account of each transfer
	index   map[chain.Hash]int32
	streams [][]int32 // per connection: transfers in the order in which they are sent
}

// newPlan signs the transfers that requests of batch transfers each need. Every
// account sends to the next one, so that the accounts stay funded and the state
// does not grow.
func newPlan(accounts []account, requests int, c *LoadConfig, p prices) (*plan, error) {
	total := requests * c.Batch
	pl := &plan{
		txs: make([]signed, total), sender: make([]int32, total),
		index: make(map[chain.Hash]int32, total), streams: make([][]int32, c.Connections),
	}
	nonces := make([]uint64, total)
	next := make([]uint64, len(accounts))
	for i := range accounts {
		next[i] = accounts[i].nonce
	}
	at := 0
	for conn := range c.Connections {
		var own []int32
		for a := conn; a < len(accounts); a += c.Connections {
			own = append(own, int32(a))
		}
		share := requests / c.Connections
		if conn < requests%c.Connections {
			share++
		}
		stream := make([]int32, share*c.Batch)
		for i := range stream {
			a := own[i%len(own)]
			stream[i], pl.sender[at], nonces[at] = int32(at), a, next[a]
			next[a]++
			at++
		}
		pl.streams[conn] = stream
	}
	err := parallel(total, func(i int) error {
		a := int(pl.sender[i])
		to := accounts[(a+1)%len(accounts)].address
		pl.txs[i] = p.transfer(&accounts[a], nonces[i], to, transferValue)
		return nil
	})
	for i := range pl.txs {
		pl.index[pl.txs[i].hash] = int32(i)
	}
	return pl, err
}

// transferValue is what each transfer moves: the least that is not nothing.
const transferValue chain.Wei = 1

// mostPerAccount is the largest number of transfers that one account sends.
func mostPerAccount(requests int, c *LoadConfig) int {
	perConnection := (requests + c.Connections - 1) / c.Connections * c.Batch
	accounts := c.Accounts / c.Connections // the smallest share has the most work
	return (perConnection + accounts - 1) / accounts
}

// parallel calls f for 0 to n-1 on all cores and returns one of the errors.
func parallel(n int, f func(i int) error) error {
	var next atomic.Int64
	var failed atomic.Pointer[error]
	var workers sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		workers.Go(func() {
			for failed.Load() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if err := f(i); err != nil {
					failed.Store(&err)
				}
			}
		})
	}
	workers.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	return nil
}
