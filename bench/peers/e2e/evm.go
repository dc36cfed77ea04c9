package main

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/cowboy-foundation/cowboy/bench/flood"
	"github.com/cowboy-foundation/cowboy/bench/internal/quicksign"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/state/rlp"
)

const (
	evmChainID  = 1337 // of geth --dev, and of the application of signed transfers
	evmGas      = 21_000
	gwei        = 1_000_000_000
	evmTip      = gwei
	evmMaxFee   = 1000 * gwei
	evmNonces   = 1024
	dynamicFee  = 2 // type of an EIP-1559 transaction
	emptyString = 0x80
	emptyList   = 0xc0
)

// evm is a set of accounts whose transfers are EIP-1559 transactions of Ethereum.
type evm struct {
	keys      []quicksign.Key
	receivers [][20]byte
	nonces    *quicksign.Nonces
}

func newEVM(accounts int) (*evm, error) {
	e := &evm{nonces: quicksign.NewNonces(evmNonces)}
	for i := range accounts {
		key, err := quicksign.NewKey(1, i)
		if err != nil {
			return nil, fmt.Errorf("account %d: %w", i, err)
		}
		hash := keccak.Sum256([]byte("receiver"), binary.BigEndian.AppendUint64(nil, uint64(i)))
		e.keys, e.receivers = append(e.keys, key), append(e.receivers, [20]byte(hash[12:]))
	}
	return e, nil
}

// appendTransfer appends the signed transfer of one wei of a turn. scratch is for what is
// signed.
func (e *evm) appendTransfer(dst, scratch []byte, t flood.Turn, number uint64) (out, signed []byte) {
	fields := appendFields(scratch[:0], t.Nonce, e.receivers[t.Account])
	head := rlp.AppendListHeader([]byte{dynamicFee}, len(fields))
	signature := e.nonces.Sign(&e.keys[t.Account], keccak.Sum256(head, fields), number)
	fields = rlp.AppendUint(fields, uint64(signature.YParity))
	fields = rlp.AppendString(fields, bytes.TrimLeft(signature.R[:], "\x00"))
	fields = rlp.AppendString(fields, bytes.TrimLeft(signature.S[:], "\x00"))
	dst = append(dst, dynamicFee)
	dst = rlp.AppendListHeader(dst, len(fields))
	return append(dst, fields...), fields
}

// appendFields appends what is signed, without the list's head.
func appendFields(dst []byte, nonce uint64, to [20]byte) []byte {
	for _, v := range []uint64{evmChainID, nonce, evmTip, evmMaxFee, evmGas} {
		dst = rlp.AppendUint(dst, v)
	}
	dst = rlp.AppendString(dst, to[:])
	dst = rlp.AppendUint(dst, 1)
	return append(dst, emptyString, emptyList) // no data, no access list
}
