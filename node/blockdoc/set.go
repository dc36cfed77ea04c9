package blockdoc

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
)

// ErrPath means that a document has no such field.
var ErrPath = errors.New("no such field")

// Set gives the field at path another value. A path is the names on the way
// down, with dots between: header.state_root, header.used.user.cycles, place.view,
// txs.0, and txs.0.value for a field of a transaction. The value is a number or
// 0x and hex digits, as the field has it; or
//
//	+N, -N    more or less than what is there, for numbers
//	flip      the first bit of bytes turned over
//	cut, pad  bytes with one byte less or more at the end
//	remove, repeat      a transaction left out, or there twice
//	reverse   the transactions in the opposite order (of txs)
//
// On an error the document is as it was.
func (d *Document) Set(path, value string) error {
	name, rest, deep := strings.Cut(path, ".")
	if name == "txs" {
		txs, err := d.setTxs(rest, value, deep)
		if err != nil {
			return fmt.Errorf("set %s: %w", path, err)
		}
		d.Block.Txs = txs
		return nil
	}
	if name != "header" && name != "place" && name != "genesis" {
		return fmt.Errorf("set %s: %w", path, ErrPath)
	}
	raw, err := d.Encode()
	if err != nil {
		return err
	}
	altered, err := setIn(raw, strings.Split(path, "."), value)
	if err != nil {
		return fmt.Errorf("set %s: %w", path, err)
	}
	out, err := Parse(altered)
	if err != nil {
		return fmt.Errorf("set %s: %w", path, err)
	}
	*d = *out
	return nil
}

// setIn alters one value of a JSON text.
func setIn(raw []byte, path []string, value string) ([]byte, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var tree any
	if err := dec.Decode(&tree); err != nil {
		return nil, err
	}
	at := tree
	for i, name := range path {
		object, ok := at.(map[string]any)
		if !ok || object[name] == nil {
			return nil, ErrPath
		}
		if i < len(path)-1 {
			at = object[name]
			continue
		}
		leaf, err := altered(object[name], value)
		if err != nil {
			return nil, err
		}
		object[name] = leaf
	}
	return json.Marshal(tree)
}

// altered returns a leaf with another value, of the kind that it has.
func altered(leaf any, value string) (any, error) {
	switch old := leaf.(type) {
	case json.Number:
		return number(old.String(), value)
	case string:
		return digits(old, value)
	}
	return nil, fmt.Errorf("%w: it has fields of its own", ErrPath)
}

// number adds to a number, or replaces it. It must stay within 64 bits.
func number(old, value string) (json.Number, error) {
	n, ok := new(big.Int).SetString(strings.TrimPrefix(value, "+"), 10)
	if !ok {
		return "", fmt.Errorf("%q is no number", value)
	}
	if value[0] == '+' || value[0] == '-' {
		before, _ := new(big.Int).SetString(old, 10)
		n.Add(n, before)
	}
	if !n.IsUint64() {
		return "", fmt.Errorf("%s is not within 0 and 2^64-1", n)
	}
	return json.Number(n.String()), nil
}

// digits alters bytes that are written in hex, or replaces them.
func digits(old, value string) (string, error) {
	b, err := hex.DecodeString(strings.TrimPrefix(old, "0x"))
	if err != nil {
		return "", err
	}
	b, err = alteredBytes(b, value)
	return "0x" + hex.EncodeToString(b), err
}

func alteredBytes(old []byte, value string) ([]byte, error) {
	b := slices.Clone(old)
	switch {
	case value == "pad":
		return append(b, 0), nil
	case (value == "flip" || value == "cut") && len(b) == 0:
		return nil, errors.New("there are no bytes")
	case value == "flip":
		b[0] ^= 0x80
		return b, nil
	case value == "cut":
		return b[:len(b)-1], nil
	case !strings.HasPrefix(value, "0x"):
		return nil, fmt.Errorf("%q: want 0x and hex digits, flip, cut or pad", value)
	}
	return hex.DecodeString(value[2:])
}

// setTxs returns the bodies with an alteration.
func (d *Document) setTxs(path, value string, deep bool) ([][]byte, error) {
	txs := slices.Clone(d.Block.Txs)
	if !deep {
		if value != "reverse" {
			return nil, fmt.Errorf("%q: want reverse, or txs.NUMBER", value)
		}
		slices.Reverse(txs)
		return txs, nil
	}
	index, field, deeper := strings.Cut(path, ".")
	i, err := strconv.Atoi(index)
	if err != nil || i < 0 || i >= len(txs) {
		return nil, fmt.Errorf("%w: there are %d transactions", ErrPath, len(txs))
	}
	switch {
	case deeper:
		txs[i], err = setTx(txs[i], field, value)
	case value == "remove":
		txs = slices.Delete(txs, i, i+1)
	case value == "repeat":
		txs = slices.Insert(txs, i, txs[i])
	default:
		txs[i], err = alteredBytes(txs[i], value)
	}
	return txs, err
}

// setTx alters a field of one transaction and leaves its signature as it was.
func setTx(body []byte, field, value string) ([]byte, error) {
	tx, err := chain.DecodeTx(body)
	if err != nil {
		return nil, err
	}
	numbers := map[string]*uint64{
		"chain_id": &tx.ChainID, "nonce": &tx.Nonce,
		"value": (*uint64)(&tx.Value), "cycles_limit": (*uint64)(&tx.CyclesLimit), "cells_limit": (*uint64)(&tx.CellsLimit),
		"max_fee_per_cycle": (*uint64)(&tx.MaxFeePerCycle), "max_fee_per_cell": (*uint64)(&tx.MaxFeePerCell),
		"tip_per_cycle": (*uint64)(&tx.TipPerCycle), "tip_per_cell": (*uint64)(&tx.TipPerCell),
	}
	if at := numbers[field]; at != nil {
		n, err := number(strconv.FormatUint(*at, 10), value)
		if err != nil {
			return nil, err
		}
		if *at, err = strconv.ParseUint(string(n), 10, 64); err != nil {
			return nil, err
		}
		return tx.Encode(), nil
	}
	switch {
	case field == "to" && tx.To != nil:
		b, err := alteredBytes(tx.To[:], value)
		if err == nil {
			err = fill(tx.To[:], "to", b)
		}
		return tx.Encode(), err
	case field == "payload":
		tx.Payload, err = alteredBytes(tx.Payload, value)
		return tx.Encode(), err
	case field == "signature" && value == "flip" && tx.Signature != nil:
		tx.Signature.YParity ^= 1
		return tx.Encode(), nil
	}
	return nil, fmt.Errorf("%w in a transaction, or not with this value", ErrPath)
}
