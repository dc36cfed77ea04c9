package token

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/state"
)

// Bounds of a token (CIP-20).
const (
	MaxNameBytes   = 64
	MaxSymbolBytes = 16
	MaxDecimals    = 38 // digits of 2^128-1, less one
	MaxPayments    = 256
)

// ID names a token: keccak256(creator ‖ symbol ‖ nonce) (CIP-20).
type ID = chain.Hash

// Token is what the chain keeps of a token beside its accounts.
type Token struct {
	Name, Symbol string
	Decimals     uint8
	Supply       chain.Amount
	Max          *chain.Amount // nil: no bound but that of amounts
	Creator      chain.Address
	Owner        *chain.Address // nil: given up
	Hooks        *chain.Address // actor that is asked about transfers; nil: none
	Number       uint64         // among all tokens, from 1
}

// ErrRecord means a record in the state that does not decode: a fault. Only the
// protocol writes there: programs write their own accounts, restorations those of
// dormant actors (exec's TestFaultSites lists every use).
var ErrRecord = errors.New("record of a token is malformed")

// NewID returns the id of a creator's next token: nonce is the number of tokens
// that it has created before, as 8 big-endian bytes.
func NewID(creator chain.Address, symbol string, nonce uint64) ID {
	return keccak.Sum256(creator[:], []byte(symbol), binary.BigEndian.AppendUint64(nil, nonce))
}

func key(kind byte, parts ...[]byte) state.StorageKey {
	b := make([]byte, 0, 1+32+2*20)
	b = append(b, kind)
	// Bounded: an id and two addresses at most.
	for _, p := range parts {
		b = append(b, p...)
	}
	return state.NewStorageKey(state.VMNamespaceSystem, b)
}

func countKey() state.StorageKey                      { return key('n') }
func createdKey(a chain.Address) state.StorageKey     { return key('c', a[:]) }
func tokenKey(id ID) state.StorageKey                 { return key('t', id[:]) }
func numberKey(n uint64) state.StorageKey             { return key('i', binary.BigEndian.AppendUint64(nil, n)) }
func heldKey(id ID, a chain.Address) state.StorageKey { return key('b', id[:], a[:]) }
func frozenKey(id ID, a chain.Address) state.StorageKey {
	return key('f', id[:], a[:])
}

func allowedKey(id ID, owner, spender chain.Address) state.StorageKey {
	return key('a', id[:], owner[:], spender[:])
}

// Reader is a state as this package reads it; every [state.View] is one.
type Reader interface {
	// Storage returns a value, nil for none.
	Storage(addr chain.Address, key state.StorageKey) ([]byte, error)
}

// Read returns a token; nil when there is none.
func Read(v Reader, id ID) (*Token, error) {
	b, err := v.Storage(chain.AddrTokens, tokenKey(id))
	if err != nil || b == nil {
		return nil, err
	}
	t, err := decode(b)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrRecord, id, err)
	}
	return t, nil
}

// At returns the id of the token with a number, of 1 to [Count].
func At(v Reader, number uint64) (ID, error) {
	b, err := v.Storage(chain.AddrTokens, numberKey(number))
	if err == nil && len(b) != len(ID{}) {
		err = fmt.Errorf("%w: number %d", ErrRecord, number)
	}
	if err != nil {
		return ID{}, err
	}
	return ID(b), nil
}

// Count returns how many tokens there are.
func Count(v Reader) (uint64, error) { return readCount(v, countKey()) }

// Created returns how many tokens an account has created.
func Created(v Reader, a chain.Address) (uint64, error) { return readCount(v, createdKey(a)) }

// Balance returns what an account holds of a token.
func Balance(v Reader, id ID, a chain.Address) (chain.Amount, error) {
	return readAmount(v, heldKey(id, a))
}

// Allowance returns what spender may move of owner's.
func Allowance(v Reader, id ID, owner, spender chain.Address) (chain.Amount, error) {
	return readAmount(v, allowedKey(id, owner, spender))
}

// Frozen tells whether an account neither sends nor receives a token.
func Frozen(v Reader, id ID, a chain.Address) (bool, error) {
	b, err := v.Storage(chain.AddrTokens, frozenKey(id, a))
	return b != nil, err
}

func readCount(v Reader, k state.StorageKey) (uint64, error) {
	b, err := v.Storage(chain.AddrTokens, k)
	if err != nil || b == nil {
		return 0, err
	}
	n, err := cbor.DecodeUint(b)
	if err != nil {
		return 0, fmt.Errorf("%w: count: %w", ErrRecord, err)
	}
	return n, nil
}

func readAmount(v Reader, k state.StorageKey) (chain.Amount, error) {
	b, err := v.Storage(chain.AddrTokens, k)
	if err != nil || b == nil {
		return chain.Amount{}, err
	}
	r := cbor.NewReader(b)
	n, err := chain.ReadAmount(&r)
	if err == nil {
		err = r.End()
	}
	if err != nil {
		return chain.Amount{}, fmt.Errorf("%w: amount: %w", ErrRecord, err)
	}
	return n, nil
}

func writeCount(o *state.Overlay, k state.StorageKey, n uint64) {
	o.SetStorage(chain.AddrTokens, k, cbor.AppendUint(nil, n))
}

func writeAmount(o *state.Overlay, k state.StorageKey, n chain.Amount) {
	if n == (chain.Amount{}) {
		o.SetStorage(chain.AddrTokens, k, nil)
		return
	}
	o.SetStorage(chain.AddrTokens, k, chain.AppendAmount(nil, n))
}

func write(o *state.Overlay, id ID, t *Token) {
	o.SetStorage(chain.AddrTokens, tokenKey(id), t.append(nil))
}

// append writes what decode reads.
func (t *Token) append(dst []byte) []byte {
	dst = cbor.AppendText(cbor.AppendArray(dst, 9), t.Name)
	dst = cbor.AppendUint(cbor.AppendText(dst, t.Symbol), uint64(t.Decimals))
	dst = chain.AppendAmount(dst, t.Supply)
	dst = AppendMax(dst, t.Max)
	dst = cbor.AppendBytes(dst, t.Creator[:])
	dst = AppendAddress(AppendAddress(dst, t.Owner), t.Hooks)
	return cbor.AppendUint(dst, t.Number)
}

func decode(b []byte) (*Token, error) {
	r := cbor.NewReader(b)
	t := new(Token)
	var err error
	step := func(e error) {
		if err == nil {
			err = e
		}
	}
	var e error
	step(r.ArrayOf(9))
	t.Name, e = r.Text(MaxNameBytes)
	step(e)
	t.Symbol, e = r.Text(MaxSymbolBytes)
	step(e)
	decimals, e := r.Uint()
	step(e)
	t.Supply, e = chain.ReadAmount(&r)
	step(e)
	t.Max, e = ReadMax(&r)
	step(e)
	step(r.BytesInto(t.Creator[:]))
	t.Owner, e = ReadAddress(&r)
	step(e)
	t.Hooks, e = ReadAddress(&r)
	step(e)
	t.Number, e = r.Uint()
	step(e)
	step(r.End())
	if err == nil && (decimals > MaxDecimals || t.Number == 0) {
		err = errors.New("a number out of its range")
	}
	t.Decimals = uint8(decimals)
	return t, err
}

// AppendMax writes an amount or null; [ReadMax] reads it.
func AppendMax(dst []byte, n *chain.Amount) []byte {
	if n == nil {
		return cbor.AppendNull(dst)
	}
	return chain.AppendAmount(dst, *n)
}

// ReadMax reads an amount, nil for null.
func ReadMax(r *cbor.Reader) (*chain.Amount, error) {
	if r.Null() {
		return nil, nil
	}
	n, err := chain.ReadAmount(r)
	return &n, err
}

// AppendAddress writes an address or null; [ReadAddress] reads it.
func AppendAddress(dst []byte, a *chain.Address) []byte {
	if a == nil {
		return cbor.AppendNull(dst)
	}
	return cbor.AppendBytes(dst, a[:])
}

// ReadAddress reads an address, nil for null.
func ReadAddress(r *cbor.Reader) (*chain.Address, error) {
	if r.Null() {
		return nil, nil
	}
	a := new(chain.Address)
	return a, r.BytesInto(a[:])
}
