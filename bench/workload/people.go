package workload

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
)

// Key is that of person i of a seed.
func Key(seed uint64, i int) (*secp256k1.PrivateKey, error) {
	return keyOf("cowboy-bench account", seed, i)
}

// RunnerKey is that of runner i of a seed, who does the jobs of a load.
func RunnerKey(seed uint64, i int) (*secp256k1.PrivateKey, error) {
	return keyOf("cowboy-bench runner", seed, i)
}

func keyOf(domain string, seed uint64, i int) (*secp256k1.PrivateKey, error) {
	var number [16]byte
	binary.BigEndian.PutUint64(number[:8], seed)
	binary.BigEndian.PutUint64(number[8:], uint64(i))
	secret := keccak.Sum256([]byte(domain), number[:])
	key, err := secp256k1.ParsePrivateKey(secret[:])
	if err != nil {
		return nil, fmt.Errorf("key of account %d: %w", i, err)
	}
	return key, nil
}

// Person signs transactions and counts them.
type Person struct {
	Key     *secp256k1.PrivateKey
	Address chain.Address
	Nonce   uint64 // of the next transaction
}

// NewPerson is the owner of a key that has sent nothing.
func NewPerson(key *secp256k1.PrivateKey) *Person {
	return &Person{Key: key, Address: key.PublicKey().Address()}
}

// People returns the first n persons of a seed.
func People(seed uint64, n int) ([]*Person, error) { return crowd("cowboy-bench account", seed, n) }

// runners are accounts beside the people.
func runners(seed uint64, n int) ([]*Person, error) { return crowd("cowboy-bench runner", seed, n) }

func crowd(domain string, seed uint64, n int) ([]*Person, error) {
	out := make([]*Person, n)
	err := InParallel(n, func(i int) error {
		key, err := keyOf(domain, seed, i)
		if err == nil {
			out[i] = NewPerson(key)
		}
		return err
	})
	return out, err
}

// Order is a transaction to be signed.
type Order struct {
	From    *Person
	To      *chain.Address // nil deploys
	Value   chain.Wei
	Payload []byte
	Limit   chain.Usage
	Access  []chain.AccessEntry

	spoil spoil
}

// spoil is what is wrong with a transaction on purpose.
type spoil uint8

const (
	sound        spoil = iota
	badSignature       // of nobody
	badNonce           // long past
	lowFee             // below the least
)

// Prices of all transactions: far above the base fee of a chain that is not full.
const (
	maxFee chain.Wei = 10
	tip    chain.Wei = 1
)

// Sign signs orders, each with the next nonce of who sends it, and returns the
// bodies.
func Sign(chainID uint64, orders []Order) ([][]byte, error) {
	txs := make([]chain.Tx, len(orders))
	for i := range orders {
		o := &orders[i]
		txs[i] = chain.Tx{
			ChainID: chainID, Nonce: o.From.Nonce, To: o.To, Value: o.Value, Payload: o.Payload,
			CyclesLimit: o.Limit.Cycles, CellsLimit: o.Limit.Cells, AccessList: o.Access,
			MaxFeePerCycle: maxFee, MaxFeePerCell: maxFee, TipPerCycle: tip,
		}
		switch o.spoil {
		case sound:
			o.From.Nonce++
		case badNonce:
			txs[i].Nonce = o.From.Nonce + 1<<32
		case lowFee:
			txs[i].MaxFeePerCycle, txs[i].TipPerCycle = 0, 0
		}
	}
	bodies := make([][]byte, len(orders))
	err := InParallel(len(orders), func(i int) error {
		sig := orders[i].From.Key.Sign(txs[i].SigningHash())
		if orders[i].spoil == badSignature {
			sig.R = [32]byte{31: 5} // no point of the curve has this x
		}
		txs[i].Signature = &chain.TxSignature{YParity: sig.YParity, R: sig.R, S: sig.S}
		bodies[i] = txs[i].Encode()
		return nil
	})
	return bodies, err
}

// InParallel calls f for 0 to n-1 on all cores. It returns the errors with which
// each of them stopped.
func InParallel(n int, f func(i int) error) error {
	workers := min(n, runtime.GOMAXPROCS(0))
	errs := make([]error, workers)
	var crew sync.WaitGroup
	for w := range workers {
		crew.Go(func() {
			for i := w; i < n && errs[w] == nil; i += workers {
				errs[w] = f(i)
			}
		})
	}
	crew.Wait()
	return errors.Join(errs...)
}
