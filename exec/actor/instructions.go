package actor

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/exec/service"
	"github.com/cowboy-foundation/cowboy/exec/timers"
	"github.com/cowboy-foundation/cowboy/exec/verdict"
	"github.com/cowboy-foundation/cowboy/state"
)

// Instructions returns those at [chain.AddrActors], with which people see to actors and
// their timers.
func Instructions() service.Table {
	return service.Table{Address: chain.AddrActors, Instructions: append([]service.Instruction{
		{Opcode: chain.OpActorFund, Value: service.TakesValue, OwnGrowth: true, Read: readFunded, Run: fund},
		{Opcode: chain.OpActorUpgrade, Read: readReplacement, Run: replace},
	}, timers.Instructions()...)}
}

func readFunded(r *cbor.Reader) (service.Args, error) {
	var to chain.Address
	err := r.BytesInto(to[:])
	return to, err
}

// fund gives an actor the value, whose code does not run.
func fund(c *service.Call, a service.Args) ([]byte, error) {
	to := a.(chain.Address)
	account, _, err := c.State.Account(to)
	switch {
	case err != nil:
		return nil, err
	case !account.HasCode():
		return nil, &Trap{chain.CodeNoCode, to.String() + " has no code"}
	case c.Value == 0:
		return nil, verdict.New(verdict.Argument, "there is no value to give")
	}
	code, err := Endow(c.State, c.Params, to, c.Value)
	if err == nil && code != chain.CodeOK {
		err = &Trap{code, chain.CodeMeaning(code)}
	}
	return nil, err
}

// Endow credits an actor with money that was taken elsewhere, without a message. One that
// may not hold a balance gets none (resolution 11.25). It returns the code of a receipt;
// the error is a fault.
func Endow(o *state.Overlay, p *params.Params, to chain.Address, value chain.Wei) (uint16, error) {
	if value == 0 {
		return chain.CodeOK, nil
	}
	if p.Actor.EnforceHoldBalance {
		may, err := MayHold(o, to)
		if err != nil {
			return 0, err
		}
		if !may {
			return chain.CodeBalanceHeld, nil
		}
	}
	err := funds.Credit(o, to, value)
	if errors.Is(err, funds.ErrOverflow) {
		return chain.CodeBalanceOverflow, nil
	}
	return chain.CodeOK, err
}

func readReplacement(r *cbor.Reader) (service.Args, error) {
	p := new(Replacement)
	if err := r.BytesInto(p.Actor[:]); err != nil {
		return nil, err
	}
	source, err := r.Bytes(chain.MaxTxBytes)
	p.Source = source
	return p, err
}

// UpgradeFor puts other source in place of that of an actor, by decision of governance,
// with so many cycles, of which it returns what it took. failed is why it did not.
func UpgradeFor(c *service.Call, addr chain.Address, source []byte, most chain.Cycles) (used chain.Cycles, failed, err error) {
	r := c.Run.(*serving).run
	code, used, err := r.block.Upgrade(r.state, r.engine, addr, source, most)
	if err == nil && code != chain.CodeOK {
		failed = &Trap{code, chain.CodeMeaning(code)}
	}
	return used, failed, err
}
