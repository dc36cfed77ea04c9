package actor

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
)

// Tokens runs an operation on tokens by an account, at a price in cycles, as the
// first of the run, and then what its hooks have sent. The error is a fault.
func (r *Run) Tokens(by chain.Address, price chain.Cycles, do func(c *TokenCall) ([]byte, error)) (Outcome, error) {
	m := r.mark()
	if price > r.cycles {
		r.cycles = 0
		return r.finish(m, refused(chain.CodeCyclesExhausted, "the operation costs %d cycles", price))
	}
	r.cycles -= price
	c := &TokenCall{run: r, by: by, depth: 1, left: r.cycles}
	output, err := do(c)
	r.cycles -= c.used
	v := verdict{output: output}
	if err != nil {
		var refusal *host.Refusal
		var trap bool
		if errors.As(err, &refusal) {
			v = refused(codeOfRefusal(refusal.Code), "%s", refusal.Text)
		} else if v, trap = trapped(err); !trap {
			return Outcome{}, err
		}
	}
	return r.finish(m, v)
}

// codeOfRefusal is the receipt's code where no program is there to catch a
// refusal.
func codeOfRefusal(code string) uint16 {
	switch code {
	case host.RefusedFunds:
		return chain.CodeTokenBalance
	case host.RefusedAllowance:
		return chain.CodeTokenAllowance
	case host.RefusedFrozen:
		return chain.CodeTokenFrozen
	case host.RefusedPermission:
		return chain.CodeForbidden
	case host.RefusedTarget:
		return chain.CodeNotFound
	case host.RefusedLimit, host.RefusedReentrancy:
		return chain.CodeLimitReached
	case host.RefusedFailed:
		return chain.CodeTokenHook
	}
	return chain.CodeBadArgument
}
