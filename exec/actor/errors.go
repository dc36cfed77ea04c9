package actor

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
)

// ErrNoEngine means code to run for a caller that cannot run any: a fault.
var ErrNoEngine = errors.New("no engine for programs")

// ready says whether there is an engine, before code is compiled or run.
func ready(e *pvm.Engine) error {
	if e == nil {
		return ErrNoEngine
	}
	return nil
}

// Trap ends a handler past every except of its program, with this code: a limit
// of the run, or a missing entitlement, which is a deterministic trap of the
// machine (entitlements §11).
type Trap struct {
	Code uint16 // of a receipt
	Text string // for logs
}

func (t *Trap) Error() string { return fmt.Sprintf("%s: %s", chain.CodeName(t.Code), t.Text) }
