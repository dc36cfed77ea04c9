// Package transfers makes the same signed transfers, and the accounts that send
// them, for our code and for go-ethereum.
package transfers

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"math/rand/v2"
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"
	gethcrypto "github.com/ethereum/go-ethereum/crypto"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
)

const (
	// ChainID is that of go-ethereum's test configurations.
	ChainID = 1
	// Limit is what a transfer costs on both sides, in cycles and in gas.
	Limit = 21_000
	// maxFee is far above the base fee of 1, so that all transfers can run.
	maxFee = 1_000_000
)

// Receiver is the account that every transfer goes to.
var Receiver = chain.Address{0: 1, 19: 0x77}

// Pair is the same transfer in both encodings.
type Pair struct {
	Ours *chain.VerifiedTx
	Peer *types.Transaction
}

// Make returns perSender transfers of each of the senders, with random tips.
// They stand sender by sender, nonces ascending. All of them are really signed
// and both sides know the sender without recovering it again.
func Make(senders, perSender int) ([]Pair, error) {
	list := make([]Pair, senders*perSender)
	errs := make([]error, senders)
	var workers sync.WaitGroup
	for w := range 2 {
		workers.Go(func() {
			for s := w; s < senders; s += 2 {
				errs[s] = signAll(s, list[s*perSender:(s+1)*perSender])
			}
		})
	}
	workers.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}

func signAll(sender int, into []Pair) error {
	secret := keccak.Sum256([]byte("lanes bar"), binary.BigEndian.AppendUint32(nil, uint32(sender)))
	key, err := secp256k1.ParsePrivateKey(secret[:])
	if err != nil {
		return fmt.Errorf("key of sender %d: %w", sender, err)
	}
	gethKey, err := gethcrypto.ToECDSA(secret[:])
	if err != nil {
		return fmt.Errorf("peer's key of sender %d: %w", sender, err)
	}
	signer := types.LatestSignerForChainID(big.NewInt(ChainID))
	address := chain.Address(key.PublicKey().Address())
	to := Receiver
	rng := rand.New(rand.NewPCG(uint64(sender), 1))
	for nonce := range into {
		tip := 1 + rng.Uint64N(1000)
		tx := &chain.Tx{
			ChainID: ChainID, Nonce: uint64(nonce), To: &to, Value: 1,
			CyclesLimit: Limit, MaxFeePerCycle: maxFee, MaxFeePerCell: maxFee, TipPerCycle: chain.Wei(tip),
		}
		sig := key.Sign(tx.SigningHash())
		tx.Signature = &chain.TxSignature{YParity: sig.YParity, R: sig.R, S: sig.S}
		body := tx.Encode()
		peerTo := common.Address(to)
		signed, err := types.SignNewTx(gethKey, signer, &types.DynamicFeeTx{
			ChainID: big.NewInt(ChainID), Nonce: uint64(nonce), To: &peerTo, Value: big.NewInt(1),
			Gas: Limit, GasFeeCap: big.NewInt(maxFee), GasTipCap: new(big.Int).SetUint64(tip),
		})
		if err != nil {
			return fmt.Errorf("sign for the peer: %w", err)
		}
		from, err := types.Sender(signer, signed) // remembered inside the transaction
		if err != nil {
			return fmt.Errorf("peer's sender: %w", err)
		}
		if chain.Address(from) != address {
			return fmt.Errorf("peer's sender %s is not ours %s", from, address)
		}
		into[nonce] = Pair{
			Ours: &chain.VerifiedTx{Tx: tx, Body: body, Hash: chain.TxHash(body), Sender: address, Lane: chain.LaneUser},
			Peer: signed,
		}
	}
	return nil
}
