package chain_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"strconv"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
)

// foreignTx is a transaction that an independent implementation encoded and
// signed; crypto/interop says how it was made. Bytes are hex, numbers decimal.
type foreignTx struct {
	Name        string
	Address     string
	BodyHex     string `json:"body_hex"`
	TxHash      string `json:"tx_hash"`
	SigningHash string `json:"signing_hash"`
	Fields      struct {
		ChainID        string `json:"chain_id"`
		Nonce          string
		To             *string
		Value          string
		CyclesLimit    string `json:"cycles_limit"`
		CellsLimit     string `json:"cells_limit"`
		MaxFeePerCycle string `json:"max_fee_per_cycle"`
		MaxFeePerCell  string `json:"max_fee_per_cell"`
		TipPerCycle    string `json:"tip_per_cycle"`
		TipPerCell     string `json:"tip_per_cell"`
		AccessList     []struct {
			Address string
			Keys    []string
		} `json:"access_list"`
		Payload string
	}
	Signature struct {
		YParity uint8 `json:"y_parity"`
		R, S    string
	}
}

func readForeign(t *testing.T) []foreignTx {
	t.Helper()
	text, err := os.ReadFile("../crypto/interop/testdata/signed_transactions.json")
	if err != nil {
		t.Fatal(err)
	}
	var entries []foreignTx
	if err := json.Unmarshal(text, &entries); err != nil {
		t.Fatal(err)
	}
	return entries
}

func foreignBytes(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func foreignNumber(t *testing.T, s string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// tx builds the transaction from the readable fields.
func (f *foreignTx) tx(t *testing.T) *chain.Tx {
	t.Helper()
	tx := &chain.Tx{
		ChainID:        foreignNumber(t, f.Fields.ChainID),
		Nonce:          foreignNumber(t, f.Fields.Nonce),
		Value:          chain.Wei(foreignNumber(t, f.Fields.Value)),
		CyclesLimit:    chain.Cycles(foreignNumber(t, f.Fields.CyclesLimit)),
		CellsLimit:     chain.Cells(foreignNumber(t, f.Fields.CellsLimit)),
		MaxFeePerCycle: chain.Wei(foreignNumber(t, f.Fields.MaxFeePerCycle)),
		MaxFeePerCell:  chain.Wei(foreignNumber(t, f.Fields.MaxFeePerCell)),
		TipPerCycle:    chain.Wei(foreignNumber(t, f.Fields.TipPerCycle)),
		TipPerCell:     chain.Wei(foreignNumber(t, f.Fields.TipPerCell)),
		Payload:        foreignBytes(t, f.Fields.Payload),
		Signature: &chain.TxSignature{
			YParity: f.Signature.YParity,
			R:       [32]byte(foreignBytes(t, f.Signature.R)),
			S:       [32]byte(foreignBytes(t, f.Signature.S)),
		},
	}
	if f.Fields.To != nil {
		to := chain.Address(foreignBytes(t, *f.Fields.To))
		tx.To = &to
	}
	if f.Fields.AccessList != nil {
		tx.AccessList = []chain.AccessEntry{}
	}
	for _, entry := range f.Fields.AccessList {
		out := chain.AccessEntry{Address: chain.Address(foreignBytes(t, entry.Address))}
		for _, key := range entry.Keys {
			out.Keys = append(out.Keys, chain.Hash(foreignBytes(t, key)))
		}
		tx.AccessList = append(tx.AccessList, out)
	}
	return tx
}

// sender recovers who signed tx, with the rules of admission.
func sender(tx *chain.Tx) (chain.Address, error) {
	if tx.Signature == nil {
		return chain.Address{}, chain.ErrUnsigned
	}
	sig := secp256k1.Signature{R: tx.Signature.R, S: tx.Signature.S, YParity: tx.Signature.YParity}
	pub, err := secp256k1.Recover(tx.SigningHash(), sig)
	if err != nil {
		return chain.Address{}, err
	}
	return pub.Address(), nil
}

// TestForeignTransactions: encoding, both hashes and the sender agree with an
// implementation that shares no code with ours (whitepaper §2.1, resolution
// 11.12).
func TestForeignTransactions(t *testing.T) {
	for _, f := range readForeign(t) {
		t.Run(f.Name, func(t *testing.T) {
			body := foreignBytes(t, f.BodyHex)
			tx, err := chain.DecodeTx(body)
			if err != nil {
				t.Fatal(err)
			}
			if got := tx.Encode(); !bytes.Equal(got, body) {
				t.Errorf("decoded and encoded again: %x, want %x", got, body)
			}
			if got := f.tx(t).Encode(); !bytes.Equal(got, body) {
				t.Errorf("encoded from its fields: %x, want %x", got, body)
			}
			if got := tx.SigningHash(); got != chain.Hash(foreignBytes(t, f.SigningHash)) {
				t.Errorf("signing hash %v, want 0x%s", got, f.SigningHash)
			}
			if got := chain.TxHash(body); got != chain.Hash(foreignBytes(t, f.TxHash)) {
				t.Errorf("transaction hash %v, want 0x%s", got, f.TxHash)
			}
			got, err := sender(tx)
			if err != nil || got != chain.Address(foreignBytes(t, f.Address)) {
				t.Errorf("sender %v, %v; want 0x%s", got, err, f.Address)
			}
		})
	}
}

// TestNoBitOfForeignTransactionsCanBeFlipped: a changed body is refused or is
// somebody else's transaction, never another one of the same sender.
func TestNoBitOfForeignTransactionsCanBeFlipped(t *testing.T) {
	const bodyBytesMax = 400 // a recovery per bit: longer bodies only repeat the payload's case
	flipped, decoded, signed := 0, 0, 0
	for i, f := range readForeign(t) {
		body := foreignBytes(t, f.BodyHex)
		if len(body) > bodyBytesMax || testing.Short() && i > 1 || i > 1 && i%7 != 0 {
			continue
		}
		want := chain.Address(foreignBytes(t, f.Address))
		for bit := range 8 * len(body) {
			body[bit/8] ^= 1 << (bit % 8)
			flipped++
			if tx, err := chain.DecodeTx(body); err == nil {
				decoded++
				if !bytes.Equal(tx.Encode(), body) {
					t.Errorf("%s: bit %d: accepted in a form that is not canonical", f.Name, bit)
				}
				got, err := sender(tx)
				if err == nil {
					signed++
				}
				if err == nil && got == want {
					t.Errorf("%s: bit %d does not matter", f.Name, bit)
				}
			}
			body[bit/8] ^= 1 << (bit % 8)
		}
	}
	t.Logf("%d bits flipped: %d bodies still decode, %d of them name another sender", flipped, decoded, signed)
}
