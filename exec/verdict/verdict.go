// Package verdict is how an operation of a system service says no: with a reason, and a
// text for people. The reason decides what a receipt says of a transaction and what a
// program catches: the first by the table of this package, the second by that of package
// actor.
//
// The package is pure.
package verdict

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Reason is why an operation was not done. It is finer than the code of a receipt, as
// programs tell apart what receipts do not.
type Reason uint8

// The reasons.
const (
	Argument     Reason = iota // an argument is out of its range
	Past                       // a height that is not ahead
	TooFar                     // a height that is too far ahead
	Limit                      // no more of these
	Depth                      // calls are nested too deep
	Missing                    // what is named does not exist
	NotBegun                   // what is named was not begun by the caller
	Exists                     // it exists already
	Forbidden                  // the caller may not
	State                      // too early, too late, or done already
	Proof                      // evidence or data that do not hold
	Stake                      // of a runner, too small for what it declares
	Funds                      // the balance is too small
	Reserve                    // the rest of the balance is held for rent
	Overflow                   // a balance beyond 64 bits
	Quota                      // of an actor's storage
	TokenBalance               // the balance of a token is too small
	Allowance                  // less is approved
	Frozen                     // the token account is frozen
	Hook                       // the token's hooks do not agree, or fail
	Cycles                     // the limit of cycles is reached
	Reasons                    // how many there are
)

// codes are the receipts' codes of the reasons.
var codes = [Reasons]uint16{
	Argument: chain.CodeBadArgument, Past: chain.CodeBadArgument, TooFar: chain.CodeBadArgument,
	Limit: chain.CodeLimitReached, Depth: chain.CodeLimitReached,
	Missing: chain.CodeNotFound, NotBegun: chain.CodeNotFound, Exists: chain.CodeExists,
	Forbidden: chain.CodeForbidden, State: chain.CodeWrongState, Proof: chain.CodeBadProof, Stake: chain.CodeStakeTooLow,
	Funds: chain.CodeInsufficientBalance, Reserve: chain.CodeInsufficientBalance, Overflow: chain.CodeBalanceOverflow, Quota: chain.CodeQuotaExceeded,
	TokenBalance: chain.CodeTokenBalance, Allowance: chain.CodeTokenAllowance, Frozen: chain.CodeTokenFrozen, Hook: chain.CodeTokenHook,
	Cycles: chain.CodeCyclesExhausted,
}

// Code returns the code of a receipt.
func (r Reason) Code() uint16 { return codes[r] }

// Verdict refuses an operation, which has then changed nothing but what it was charged.
// Whoever refuses with more to say wraps it.
type Verdict struct {
	Reason Reason
	Text   string
}

// New returns a verdict.
func New(r Reason, text string) *Verdict { return &Verdict{r, text} }

func (v *Verdict) Error() string { return v.Text }

// Of returns the verdict that an error is or wraps, with the text of the whole; false
// for what is none.
func Of(err error) (Verdict, bool) {
	var v *Verdict
	if !errors.As(err, &v) {
		return Verdict{}, false
	}
	return Verdict{v.Reason, err.Error()}, true
}
