package query

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/lanes"
	"github.com/cowboy-foundation/cowboy/lanes/sigverify"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// ingressError turns the pipeline's answers into the API's.
func ingressError(err error) error {
	switch {
	case errors.Is(err, sigverify.ErrBusy):
		return rpc.ErrBusy
	case errors.Is(err, sigverify.ErrStopped), errors.Is(err, lanes.ErrStopped):
		return rpc.ErrNotReady
	}
	return err
}

// verdictOf shapes the judgment on one submitted transaction. The texts of the
// errors say what the sender can do; the code is for programs.
func verdictOf(v *sigverify.Verdict) rpc.Verdict {
	if v.Err == nil {
		return rpc.Verdict{Hash: v.Hash, Code: rpc.CodeOK}
	}
	if errors.As(v.Err, new(*lanes.ReadError)) {
		// A fault of this node says nothing about the transaction, and its text
		// may name files.
		return rpc.Verdict{Hash: v.Hash, Code: rpc.CodeInternal, Message: "the node failed on this transaction; its log has the cause"}
	}
	return rpc.Verdict{Hash: v.Hash, Code: txCode(v.Err), Message: v.Err.Error()}
}

// txCode names the error of a transaction. What is in no row came from the decoder.
func txCode(err error) rpc.Code {
	for _, row := range codes() {
		if row.matches(err) {
			return row.code
		}
	}
	return rpc.CodeTxMalformed
}

// codeOf is a row of the table from errors to codes of the API.
type codeOf struct {
	matches func(error) bool
	code    rpc.Code
}

// codes is that table. The order matters only where one error wraps another: the first
// row that matches counts.
func codes() []codeOf {
	return []codeOf{
		{is(sigverify.ErrStopped), rpc.CodeNotReady},
		{is(lanes.ErrStopped), rpc.CodeNotReady},
		{is(lanes.ErrKnown), rpc.CodeTxKnown},
		{is(chain.ErrTxTooLarge), rpc.CodeTxTooLarge},
		{is(chain.ErrHighS), rpc.CodeTxSignature},
		{is(chain.ErrUnsigned), rpc.CodeTxSignature},
		{is(secp256k1.ErrScalarRange), rpc.CodeTxSignature},
		{is(secp256k1.ErrHighS), rpc.CodeTxSignature},
		{is(secp256k1.ErrRecoveryID), rpc.CodeTxSignature},
		{is(secp256k1.ErrNotOnCurve), rpc.CodeTxSignature},
		{is(secp256k1.ErrInfinity), rpc.CodeTxSignature},
		{is(chain.ErrReservedAddress), rpc.CodeTxNotAllowed},
		{is(fees.ErrChainID), rpc.CodeTxChainID},
		{is(fees.ErrKindUnsupported), rpc.CodeTxUnsupported},
		{is(fees.ErrRole), rpc.CodeTxNotAllowed},
		{is(fees.ErrNonceMax), rpc.CodeTxRejected},
		{is(fees.ErrLane), rpc.CodeTxRejected},
		{is(lanes.ErrShunned), rpc.CodeTxRejected},
		{is(rpc.ErrOtherSender), rpc.CodeTxSender},
		{is(rpc.ErrOtherInstruction), rpc.CodeTxInstruction},

		{as[*sigverify.SizeError], rpc.CodeTxTooLarge},
		{as[*chain.UnknownInstructionError], rpc.CodeTxUnsupported},
		{as[*fees.LimitError], rpc.CodeLimitTooHigh},
		{as[*fees.IntrinsicError], rpc.CodeLimitTooLow},
		{as[*fees.OverflowError], rpc.CodeTxAmountOverflow},
		{as[*fees.BaseFeeError], rpc.CodeFeeTooLow},
		{as[*fees.FundsError], rpc.CodeInsufficient},
		{as[*lanes.BalanceError], rpc.CodeInsufficient},
		{as[*fees.NonceError], rpc.CodeNonceTooLow},
		{as[*lanes.NonceTooLowError], rpc.CodeNonceTooLow},
		{as[*lanes.NonceGapError], rpc.CodeNonceTooHigh},
		{as[*lanes.ReplaceError], rpc.CodeReplacement},
		{as[*lanes.SenderFullError], rpc.CodeSenderLimit},
		{as[*lanes.LaneFullError], rpc.CodeBusy},
	}
}

// is matches an error that is a value.
func is(target error) func(error) bool {
	return func(err error) bool { return errors.Is(err, target) }
}

// as matches an error that carries numbers, by its type.
func as[E error](err error) bool {
	var target E
	return errors.As(err, &target)
}
