package pvm

import (
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/pvm/sdk"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// Call is one call of a deployed program, within what the chain allows it.
type Call struct {
	Program *Program
	Host    Host
	Costs   host.Costs
	Limits  sdk.Limits
	Imports map[string]bool // modules that it may import; nil: all there are
	Cycles  code.Cycles     // that it may use
	Item    code.Cycles     // of these, for each name and constant that the machine makes ready
	Memory  int64           // modelled bytes that it may hold
	Brief   bool            // of an exception that nobody caught the class is enough
}

// Host is the chain as one call sees it. It meters on the machine what it does.
type Host interface {
	host.Host
	// Attach tells it the machine of the call, before anything runs there.
	Attach(*vm.Machine)
}

// Answer is how a call ended.
type Answer struct {
	Output    []byte      // what enter returned
	Cycles    code.Cycles // that were used
	Scratch   int         // most bytes that its files under /tmp had at once (resolution 7.10)
	Failed    bool        // nobody caught an exception
	Raised    string      // name of its class, which the program chooses: it may be empty
	Traceback string      // of it, or its class alone
}

// Call loads the program into a clean machine and enters it there, by [sdk.Entry.Deliver] or
// what calls it. An error is a *[vm.Abort], of which the
// answer says what was used, or [ErrReserved] within an attempt.
func (e *Engine) Call(c *Call, enter func(*vm.Machine) ([]byte, error)) (a Answer, err error) {
	session := sdk.NewSession(c.Host, c.Costs, c.Limits)
	err = e.With(session, func(m *vm.Machine) error {
		c.Host.Attach(m)
		m.Imports, m.Brief = c.Imports, c.Brief
		m.LimitHeap(c.Memory)
		out, res, err := m.Serve(c.Program.Code, c.Cycles, code.Cycles(c.Program.Items)*c.Item, enter)
		a.Output, a.Cycles = out, res.Cycles
		if res.Raised != nil { // the machine's own until it is reused
			a.Failed = true
			a.Raised, a.Traceback = res.Raised.ClassName(), res.Traceback
		}
		return err
	})
	a.Scratch = session.ScratchPeak()
	return a, err
}
