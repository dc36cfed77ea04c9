package main

import (
	"context"
	"errors"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// priceFlags are the parts of a transaction that have a default.
type priceFlags struct {
	Nonce          *uint64 `placeholder:"N" help:"Nonce; default: the next one behind waiting transactions."`
	CyclesLimit    *uint64 `placeholder:"N" name:"cycles-limit" help:"Most cycles to use; default: what the transaction needs."`
	CellsLimit     *uint64 `placeholder:"N" name:"cells-limit" help:"Most cells to use; default: what the transaction needs."`
	TipPerCycle    uint64  `placeholder:"N" name:"tip-per-cycle" help:"Tip in base units; a higher one is served first."`
	TipPerCell     uint64  `placeholder:"N" name:"tip-per-cell" help:"Tip in base units."`
	MaxFeePerCycle *uint64 `placeholder:"N" name:"max-fee-per-cycle" help:"Most to pay in base units; default: twice the base fee plus the tip."`
	MaxFeePerCell  *uint64 `placeholder:"N" name:"max-fee-per-cell" help:"Most to pay in base units; default: twice the base fee plus the tip."`
}

type transferCommand struct {
	To      string        `required:"" placeholder:"ADDRESS" help:"Account to pay."`
	Amount  string        `required:"" placeholder:"AMOUNT" help:"In CBY (1.5) or base units (1500000000wei)."`
	Wait    bool          `help:"Wait until it is final and print the result."`
	Timeout time.Duration `default:"30s" help:"How long --wait waits."`
	DryRun  bool          `name:"dry-run" help:"Sign and print it, send nothing."`
	priceFlags
}

// Help teaches the command.
func (transferCommand) Help() string {
	return "Example:\n\n    cowboy transfer --to 0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a --amount 1.5 --wait"
}

// Run signs and sends a transfer.
func (c *transferCommand) Run(ctx context.Context, s *session) error {
	to, err := client.ParseAddress(c.To)
	if err != nil {
		return usageError{err}
	}
	amount, err := client.ParseAmount(c.Amount)
	if err != nil {
		return usageError{err}
	}
	found, err := s.key()
	if err != nil {
		return err
	}
	tx := &chain.Tx{To: &to, Value: amount}
	if err := c.fill(ctx, s, tx, client.AddressOf(found.Key)); err != nil {
		return err
	}
	signed := client.SignTx(found.Key, tx)
	if c.DryRun {
		return showUnsent(s, signed)
	}
	if c.Wait {
		return sendAndWait(ctx, s, signed, c.Timeout)
	}
	return send(ctx, s, signed)
}

// fill completes tx with the chain's id, the nonce, limits and prices.
func (f *priceFlags) fill(ctx context.Context, s *session, tx *chain.Tx, sender chain.Address) error {
	api, err := s.api()
	if err != nil {
		return err
	}
	quote, err := api.BaseFee(ctx)
	if err != nil {
		return err
	}
	tx.ChainID = quote.ChainID
	if f.Nonce != nil {
		tx.Nonce = *f.Nonce
	} else {
		account, err := s.accountOrEmpty(ctx, sender)
		if err != nil {
			return err
		}
		tx.Nonce = account.PendingNext
	}
	costs, err := api.IntrinsicCosts(ctx)
	if err != nil {
		return err
	}
	limits, err := client.IntrinsicLimits(tx, costs)
	if err != nil {
		return usagef("%s is a system actor: %w", tx.To, err)
	}
	override(&limits.Cycles, f.CyclesLimit)
	override(&limits.Cells, f.CellsLimit)
	maxima := chain.Usage{Cycles: chain.Cycles(quote.MaxTx.Cycles), Cells: chain.Cells(quote.MaxTx.Cells)}
	limits, notes := client.ClampLimits(limits, maxima)
	for _, n := range notes {
		s.note("%s", n)
	}
	tx.CyclesLimit, tx.CellsLimit = limits.Cycles, limits.Cells
	tips := chain.FeePair{PerCycle: chain.Wei(f.TipPerCycle), PerCell: chain.Wei(f.TipPerCell)}
	fees := client.MaxFees(chain.FeePair{PerCycle: quote.Cycle, PerCell: quote.Cell}, tips)
	override(&fees.PerCycle, f.MaxFeePerCycle)
	override(&fees.PerCell, f.MaxFeePerCell)
	tx.TipPerCycle, tx.TipPerCell = tips.PerCycle, tips.PerCell
	tx.MaxFeePerCycle, tx.MaxFeePerCell = fees.PerCycle, fees.PerCell
	return nil
}

func override[T ~uint64](field *T, flag *uint64) {
	if flag != nil {
		*field = T(*flag)
	}
}

// rejected is a node's verdict on our own transaction.
func rejected(r rpc.SubmitResult) error {
	return &client.Error{Code: r.Code, Message: "transaction refused: " + r.Message, Path: "/submit"}
}

// send submits without waiting.
func send(ctx context.Context, s *session, signed client.Signed) error {
	result, err := submitted(ctx, s, signed)
	if err != nil {
		return err
	}
	text := &lines{}
	text.add("Transaction hash: %s", signed.Hash)
	status := "submitted"
	if !result.Accepted { // the node knows it, and says since when
		status = result.Message
	}
	text.add("Status: %s; see `cowboy transaction status %s`", status, signed.Hash)
	return s.show(result, text)
}

// submitted hands a transaction to the node, which accepts it or knows it.
func submitted(ctx context.Context, s *session, signed client.Signed) (*rpc.SubmitResult, error) {
	api, err := s.api()
	if err != nil {
		return nil, err
	}
	reply, err := api.Submit(ctx, signed.Wire)
	if err != nil {
		return nil, err
	}
	if len(reply.Results) != 1 {
		return nil, errors.New("the node answered for another number of transactions than were sent")
	}
	result := &reply.Results[0]
	if !result.Accepted && result.Code != rpc.CodeTxKnown {
		return nil, rejected(*result)
	}
	return result, nil
}

// sendAndWait submits and waits for the receipt. A transaction that fails on
// the chain is printed and is an error: the money did not move.
func sendAndWait(ctx context.Context, s *session, signed client.Signed, timeout time.Duration) error {
	receipt, err := awaitReceipt(ctx, s, signed, timeout)
	if err != nil {
		return err
	}
	if err := s.show(receipt, receiptText(receipt)); err != nil {
		return err
	}
	if receipt.Status != "success" {
		return failedOnChain(receipt)
	}
	return nil
}

// failedOnChain says how a final transaction failed.
func failedOnChain(receipt *rpc.ReceiptReply) error {
	return errors.New("the transaction is final but failed: " + reason(receipt.Code, receipt.RevertReason))
}

// reason adds to the name of a receipt's code what it means.
func reason(code uint16, name string) string {
	if meaning := chain.CodeMeaning(code); meaning != "" {
		return name + ": " + meaning
	}
	return name
}

// awaitReceipt submits signed, again and again until it is final: a repeated
// transaction is known to the node and only waited for.
func awaitReceipt(ctx context.Context, s *session, signed client.Signed, timeout time.Duration) (*rpc.ReceiptReply, error) {
	api, err := s.api()
	if err != nil {
		return nil, err
	}
	deadline := time.Now().Add(timeout)
	limits := rpc.DefaultConfig()
	for {
		wait := min(max(time.Until(deadline), limits.WaitMin), limits.WaitMax)
		reply, err := api.SubmitWait(ctx, signed.Wire, wait)
		if err != nil {
			return nil, err
		}
		if len(reply.Results) != 1 {
			return nil, errors.New("the node answered for another number of transactions than were sent")
		}
		result := reply.Results[0]
		switch {
		case result.Receipt != nil:
			return result.Receipt, nil
		case !result.Accepted && result.Code != rpc.CodeTxKnown:
			return nil, rejected(result.SubmitResult)
		case !time.Now().Before(deadline):
			return nil, errors.New("not final after " + timeout.String() + ": it may still be; ask `cowboy transaction status " + signed.Hash.String() + "`")
		}
	}
}
