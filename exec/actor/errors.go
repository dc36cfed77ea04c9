package actor

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Trap ends a handler past every except of its program, with this code: a limit
// of the run, or a missing entitlement, which is a deterministic trap of the
// machine (entitlements §11).
type Trap struct {
	Code uint16 // of a receipt
	Text string // for logs
}

func (t *Trap) Error() string { return fmt.Sprintf("%s: %s", chain.CodeName(t.Code), t.Text) }
