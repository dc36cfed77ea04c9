package main

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/node/light"
)

// provenFor is what a verified proof shows, as proof verify prints it.
type provenFor struct {
	Kind            light.Kind      `json:"kind"`
	Height          uint64          `json:"height"`
	BlockHash       string          `json:"block_hash"`
	TimestampMillis uint64          `json:"timestamp_ms"`
	StateRoot       string          `json:"state_root"`
	Accounts        []provenAccount `json:"accounts,omitempty"`
	Transaction     *provenTx       `json:"transaction,omitempty"`
	Receipt         *provenReceipt  `json:"receipt,omitempty"`
}

type provenAccount struct {
	Address string         `json:"address"`
	Exists  bool           `json:"exists"`
	Fields  *accountFields `json:"account,omitempty"`
	Slots   []provenSlot   `json:"slots,omitempty"`
}

// accountFields are those of [state.Account].
type accountFields struct {
	Nonce          uint64    `json:"nonce"`
	Balance        chain.Wei `json:"balance"`
	StorageRoot    string    `json:"storage_root"`
	CodeHash       string    `json:"code_hash"`
	StorageBytes   uint64    `json:"storage_bytes"`
	StorageEntries uint64    `json:"storage_entries"`
	Meta           string    `json:"meta"`
}

type provenSlot struct {
	Slot   string `json:"slot"`
	Exists bool   `json:"exists"`
	Value  string `json:"value"`
}

type provenTx struct {
	Hash    string    `json:"hash"`
	Slot    uint32    `json:"slot"`
	Sender  string    `json:"sender"`
	To      *string   `json:"to"`
	Nonce   uint64    `json:"nonce"`
	Value   chain.Wei `json:"value"`
	Payload string    `json:"payload"`
}

type provenReceipt struct {
	TxHash     string    `json:"tx_hash"`
	Slot       uint32    `json:"slot"`
	Status     string    `json:"status"`
	Code       uint16    `json:"code"`
	CyclesUsed uint64    `json:"cycles_used"`
	CellsUsed  uint64    `json:"cells_used"`
	Fee        chain.Wei `json:"fee"`
	Events     int       `json:"events"`
}

func proven(s *light.Shown) *provenFor {
	out := &provenFor{
		Kind: s.Kind, Height: uint64(s.Height), BlockHash: s.BlockHash.String(),
		TimestampMillis: s.TimestampMillis, StateRoot: s.StateRoot.String(),
	}
	for i := range s.Accounts {
		out.Accounts = append(out.Accounts, provenAccountOf(&s.Accounts[i]))
	}
	if s.Tx != nil {
		out.Transaction = provenTxOf(s.Tx)
	}
	if s.Receipt != nil {
		r := s.Receipt.Receipt
		out.Receipt = &provenReceipt{
			TxHash: r.TxHash.String(), Slot: s.Receipt.Index, Status: "failed", Code: r.Code,
			CyclesUsed: uint64(r.CyclesUsed), CellsUsed: uint64(r.CellsUsed), Fee: r.Fee, Events: len(r.Events),
		}
		if r.Status == chain.StatusSucceeded {
			out.Receipt.Status = "success"
		}
	}
	return out
}

func provenAccountOf(a *light.ShownAccount) provenAccount {
	out := provenAccount{Address: a.Address.String(), Exists: a.Exists}
	if a.Exists {
		out.Fields = &accountFields{
			Nonce: a.Account.Nonce, Balance: a.Account.Balance,
			StorageRoot: a.Account.StorageRoot.String(), CodeHash: a.Account.CodeHash.String(),
			StorageBytes: a.Account.StorageSize.Bytes, StorageEntries: a.Account.StorageSize.Entries,
			Meta: hex0x(a.Account.Meta),
		}
	}
	for _, slot := range a.Slots {
		out.Slots = append(out.Slots, provenSlot{Slot: hex0x([]byte(slot.Slot)), Exists: slot.Exists, Value: hex0x(slot.Value)})
	}
	return out
}

// provenTxOf recovers the sender from the signature: the chain takes no other.
func provenTxOf(t *light.ShownTx) *provenTx {
	out := &provenTx{
		Hash: t.Hash.String(), Slot: t.Index, Nonce: t.Tx.Nonce, Value: t.Tx.Value, Payload: hex0x(t.Tx.Payload),
	}
	if t.Tx.To != nil {
		to := t.Tx.To.String()
		out.To = &to
	}
	if sig := t.Tx.Signature; sig != nil {
		key, err := secp256k1.Recover(t.Tx.SigningHash(), secp256k1.Signature{R: sig.R, S: sig.S, YParity: sig.YParity})
		if err == nil {
			out.Sender = chain.Address(key.Address()).String()
		}
	}
	return out
}

func provenText(p *provenFor) *lines {
	text := &lines{}
	text.add("Proven: %s, by the certificate of the chain's validators", p.Kind)
	text.add("After block: %d of %s", p.Height, when(p.TimestampMillis))
	text.add("Block hash: %s", p.BlockHash)
	for i := range p.Accounts {
		p.Accounts[i].text(text)
	}
	if t := p.Transaction; t != nil {
		to := "none (deploys an actor)"
		if t.To != nil {
			to = *t.To
		}
		text.add("Transaction hash: %s", t.Hash)
		text.add("Place in the block: %d", t.Slot)
		text.add("From: %s nonce %d", t.Sender, t.Nonce)
		text.add("To: %s", to)
		text.add("Amount: %s", cby(t.Value))
	}
	if r := p.Receipt; r != nil {
		text.add("Transaction hash: %s", r.TxHash)
		text.add("Place in the block: %d", r.Slot)
		text.add("Status: %s (code %d)", r.Status, r.Code)
		text.add("Fee: %s (%d cycles, %d cells)", cby(r.Fee), r.CyclesUsed, r.CellsUsed)
		text.add("Events: %d", r.Events)
	}
	return text
}

func (a *provenAccount) text(text *lines) {
	if a.Exists {
		text.add("Account: %s", a.Address)
		a.fields(text)
	} else {
		text.add("Account: %s does not exist", a.Address)
	}
	for _, slot := range a.Slots {
		if slot.Exists {
			text.add("  Slot %s: %s", slot.Slot, slot.Value)
		} else {
			text.add("  Slot %s: none", slot.Slot)
		}
	}
}

func (a *provenAccount) fields(text *lines) {
	f := a.Fields
	text.add("  Nonce: %d", f.Nonce)
	text.add("  Balance: %s", cby(f.Balance))
	text.add("  Storage root: %s (%d bytes in %d entries)", f.StorageRoot, f.StorageBytes, f.StorageEntries)
	text.add("  Code hash: %s", f.CodeHash)
	text.add("  Metadata: %s", f.Meta)
}

func hex0x(b []byte) string { return fmt.Sprintf("0x%x", b) }

func unhex(text string) ([]byte, error) {
	return hex.DecodeString(strings.TrimPrefix(strings.TrimSpace(text), "0x"))
}
