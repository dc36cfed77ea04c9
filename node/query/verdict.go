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
func verdictOf(v sigverify.Verdict) rpc.Verdict {
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

// txCode names the error of a transaction. The order matters only where one
// error wraps another.
func txCode(err error) rpc.Code {
	if code, ok := sentinelCode(err); ok {
		return code
	}
	return typedCode(err)
}

// sentinelCode knows the errors that are values.
func sentinelCode(err error) (rpc.Code, bool) {
	table := []struct {
		err  error
		code rpc.Code
	}{
		{sigverify.ErrStopped, rpc.CodeNotReady},
		{lanes.ErrStopped, rpc.CodeNotReady},
		{lanes.ErrKnown, rpc.CodeTxKnown},
		{chain.ErrTxTooLarge, rpc.CodeTxTooLarge},
		{chain.ErrHighS, rpc.CodeTxSignature},
		{chain.ErrUnsigned, rpc.CodeTxSignature},
		{secp256k1.ErrScalarRange, rpc.CodeTxSignature},
		{secp256k1.ErrHighS, rpc.CodeTxSignature},
		{secp256k1.ErrRecoveryID, rpc.CodeTxSignature},
		{secp256k1.ErrNotOnCurve, rpc.CodeTxSignature},
		{secp256k1.ErrInfinity, rpc.CodeTxSignature},
		{chain.ErrReservedAddress, rpc.CodeTxNotAllowed},
		{fees.ErrChainID, rpc.CodeTxChainID},
		{fees.ErrKindUnsupported, rpc.CodeTxUnsupported},
		{fees.ErrRehearsal, rpc.CodeTxUnsupported},
		{fees.ErrRole, rpc.CodeTxNotAllowed},
		{fees.ErrNonceMax, rpc.CodeTxRejected},
		{fees.ErrLane, rpc.CodeTxRejected},
		{lanes.ErrShunned, rpc.CodeTxRejected},
	}
	for _, row := range table {
		if errors.Is(err, row.err) {
			return row.code, true
		}
	}
	return 0, false
}

// typedCode knows the errors that carry numbers. What none of them is came
// from the decoder.
func typedCode(err error) rpc.Code {
	switch {
	case errors.As(err, new(*sigverify.SizeError)):
		return rpc.CodeTxTooLarge
	case errors.As(err, new(*chain.UnknownInstructionError)):
		return rpc.CodeTxUnsupported
	case errors.As(err, new(*fees.LimitError)):
		return rpc.CodeLimitTooHigh
	case errors.As(err, new(*fees.IntrinsicError)):
		return rpc.CodeLimitTooLow
	case errors.As(err, new(*fees.OverflowError)):
		return rpc.CodeTxAmountOverflow
	case errors.As(err, new(*fees.BaseFeeError)):
		return rpc.CodeFeeTooLow
	case errors.As(err, new(*fees.FundsError)), errors.As(err, new(*lanes.BalanceError)):
		return rpc.CodeInsufficient
	case errors.As(err, new(*fees.NonceError)):
		return rpc.CodeNonceTooLow
	case errors.As(err, new(*lanes.NonceTooLowError)):
		return rpc.CodeNonceTooLow
	case errors.As(err, new(*lanes.NonceGapError)):
		return rpc.CodeNonceTooHigh
	case errors.As(err, new(*lanes.ReplaceError)):
		return rpc.CodeReplacement
	case errors.As(err, new(*lanes.SenderFullError)):
		return rpc.CodeSenderLimit
	case errors.As(err, new(*lanes.LaneFullError)):
		return rpc.CodeBusy
	}
	return rpc.CodeTxMalformed
}
