package main

import (
	"context"
	"encoding/hex"
	"io"
	"os"
	"strings"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

type transactionGroup struct {
	Submit   transactionSubmit `cmd:"" help:"Send a signed transaction."`
	Get      transactionGet    `cmd:"" help:"Show a transaction."`
	Status   transactionStatus `cmd:"" help:"Show how far a transaction is."`
	SignHash signHash          `cmd:"" name:"sign-hash" help:"Sign a 32-byte hash."`
}

type transactionSubmit struct {
	Raw     string        `placeholder:"HEX" help:"The signed transaction: its CBOR body, or with its length prefix."`
	File    string        `placeholder:"FILE" help:"The same in a file, as hex or bytes; - is stdin."`
	Wait    bool          `help:"Wait until it is final and print the result."`
	Timeout time.Duration `default:"30s" help:"How long --wait waits."`
}

// Help teaches the command.
func (transactionSubmit) Help() string {
	return "Example:\n\n    cowboy --json transfer --to 0x… --amount 1 --dry-run   # on the machine with the key\n    cowboy transaction submit --raw 0x8d01… --wait"
}

// Run sends a transaction that was signed elsewhere.
func (c *transactionSubmit) Run(ctx context.Context, s *session) error {
	signed, err := c.read(s)
	if err != nil {
		return err
	}
	if c.Wait {
		return sendAndWait(ctx, s, signed, c.Timeout)
	}
	return send(ctx, s, signed)
}

// read takes either form and checks it here, where the error can say more than
// a node's verdict.
func (c *transactionSubmit) read(s *session) (client.Signed, error) {
	if (c.Raw == "") == (c.File == "") {
		return client.Signed{}, usagef("give the transaction with --raw or --file")
	}
	text := []byte(c.Raw)
	if c.File != "" {
		in := s.world.stdin
		if c.File != "-" {
			f, err := os.Open(c.File)
			if err != nil {
				return client.Signed{}, err
			}
			defer f.Close()
			in = f
		}
		var err error
		if text, err = io.ReadAll(io.LimitReader(in, 4*chain.MaxTxBytes)); err != nil {
			return client.Signed{}, err
		}
	}
	body := text
	digits := strings.TrimPrefix(strings.TrimSpace(string(text)), "0x")
	if decoded, err := hex.DecodeString(digits); err == nil {
		body = decoded
	} else if c.Raw != "" {
		return client.Signed{}, usagef("--raw is not hex")
	}
	if bodies, err := chain.DecodeWireTxs(body, 1); err == nil {
		body = bodies[0]
	}
	tx, err := chain.DecodeTx(body)
	if err != nil {
		return client.Signed{}, usagef("this is no transaction: %w", err)
	}
	if tx.Signature == nil {
		return client.Signed{}, usagef("this transaction is not signed")
	}
	return client.Signed{Tx: tx, Hash: chain.TxHash(body), Wire: tx.AppendWire(nil)}, nil
}

// unsentReply is a signed transaction that was not sent.
type unsentReply struct {
	Hash string `json:"tx_hash"`
	Raw  string `json:"raw"`
}

func showUnsent(s *session, signed client.Signed) error {
	reply := unsentReply{Hash: signed.Hash.String(), Raw: "0x" + hex.EncodeToString(signed.Tx.Encode())}
	text := &lines{}
	text.add("Transaction hash: %s", reply.Hash)
	text.add("Signed, not sent: %s", reply.Raw)
	return s.show(reply, text)
}

// txRef names a transaction in either spelling.
type txRef struct {
	TxHash string `arg:"" optional:"" name:"tx-hash" help:"Hash of the transaction."`
	Hash   string `name:"hash" placeholder:"0x…" help:"The same as a flag."`
}

func (r txRef) resolve() (chain.Hash, error) {
	text, err := exactlyOne("hash", r.TxHash, r.Hash)
	if err != nil {
		return chain.Hash{}, err
	}
	hash, err := client.ParseHash(text)
	return hash, asUsage(err)
}

type transactionGet struct{ txRef }

// Help teaches the command.
func (transactionGet) Help() string { return "Example:\n\n    cowboy transaction get 0x…" }

// Run shows a transaction.
func (c *transactionGet) Run(ctx context.Context, s *session) error {
	hash, api, err := ask(s, c.resolve)
	if err != nil {
		return err
	}
	tx, err := api.Transaction(ctx, hash)
	if err != nil {
		return err
	}
	return s.show(tx, txText(tx))
}

// statusReply is what transaction status prints as JSON.
type statusReply struct {
	Hash    string            `json:"tx_hash"`
	State   string            `json:"state"` // "finalized", or a pool state
	Receipt *rpc.ReceiptReply `json:"receipt"`
}

type transactionStatus struct{ txRef }

// Help teaches the command.
func (transactionStatus) Help() string { return "Example:\n\n    cowboy transaction status 0x…" }

// Run shows the receipt of a final transaction or the place of a waiting one.
func (c *transactionStatus) Run(ctx context.Context, s *session) error {
	hash, api, err := ask(s, c.resolve)
	if err != nil {
		return err
	}
	receipt, err := api.Receipt(ctx, hash)
	switch {
	case err == nil:
		return s.show(statusReply{hash.String(), "finalized", receipt}, receiptText(receipt))
	case !client.IsCode(err, rpc.CodeReceiptPending):
		return err
	}
	state := "pending"
	if waiting, err := api.PoolTx(ctx, hash); err == nil {
		state = waiting.State
	}
	text := &lines{}
	text.add("Transaction hash: %s", hash)
	text.add("Status: %s", state)
	return s.show(statusReply{hash.String(), state, nil}, text)
}
