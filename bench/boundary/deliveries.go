package boundary

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/entitlements"
	"github.com/cowboy-foundation/cowboy/exec/token"
)

// InstructionCases are the cases of the instructions of system accounts and of the
// transactions that are none.
func InstructionCases() []Case {
	id := token.NewID(Alice, "TOK", 0)
	do := func(name string, opcode uint64, to chain.Address, args func(g *Ground, i int) [][]byte) Case {
		return Case{Name: name, Group: GroupInstruction, Setup: func(g *Ground) (func() []*chain.VerifiedTx, error) {
			if err := g.furnish(); err != nil {
				return nil, err
			}
			return g.many(instructionsOfABlock, func(i int) *chain.VerifiedTx {
				return g.Instruction(Alice, to, opcode, args(g, i)...)
			}), nil
		}}
	}
	other := func(i int) []byte { a := chain.Address{0: 0x77, 18: byte(i >> 8), 19: byte(i)}; return raw(a[:]) }
	tok := func(args ...func(int) []byte) func(g *Ground, i int) [][]byte {
		return func(_ *Ground, i int) [][]byte {
			out := [][]byte{raw(id[:])}
			for _, a := range args {
				out = append(out, a(i))
			}
			return out
		}
	}
	one := func(int) []byte { return number(1) }
	target := func(more ...[]byte) func(g *Ground, i int) [][]byte {
		return func(g *Ground, _ int) [][]byte { return append([][]byte{raw(g.target[:])}, more...) }
	}
	return append(plainCases(), []Case{
		do("token_transfer", chain.OpTokenTransfer, chain.AddrTokens, tok(other, one)),
		do("token_approve", chain.OpTokenApprove, chain.AddrTokens, tok(other, one)),
		do("token_mint", chain.OpTokenMint, chain.AddrTokens, tok(other, one)),
		do("token_freeze", chain.OpTokenFreeze, chain.AddrTokens, tok(other)),
		do("token_create", chain.OpTokenCreate, chain.AddrTokens, func(_ *Ground, i int) [][]byte {
			return [][]byte{text("T"), text(fmt.Sprint("S", i)), number(2), number(1), null(), null()}
		}),
		do("timer_schedule", chain.OpTimerSchedule, chain.AddrActors, target(number(60_000), null(), text("ping"), raw(null()))),
		do("timer_schedule-far", chain.OpTimerSchedule, chain.AddrActors, target(number(5_000_000), null(), text("ping"), raw(null()))),
		do("timer_schedule-large", chain.OpTimerSchedule, chain.AddrActors, target(number(60_000), null(), text("ping"), raw(raw(make([]byte, 3_000))))),
		do("rent_prepay", chain.OpRentPrepay, chain.AddrRent, target(number(1))),
		{Name: "actor_fund", Group: GroupInstruction, Setup: func(g *Ground) (func() []*chain.VerifiedTx, error) {
			if err := g.furnish(); err != nil {
				return nil, err
			}
			return g.many(instructionsOfABlock, func(int) *chain.VerifiedTx {
				return g.Tx(Alice, &chain.AddrActors, 1, array(number(chain.OpActorFund), raw(g.target[:])), g.Most())
			}), nil
		}},
		do("entitlement_grant", chain.OpEntitlementGrant, chain.AddrEntitlements, func(g *Ground, i int) [][]byte {
			scope, act := g.permission()
			return [][]byte{other(i), raw(scope.Append(nil)), raw(act.Append(nil)), raw((&entitlements.Constraints{}).Append(nil))}
		}),
		do("role_create", chain.OpRoleCreate, chain.AddrEntitlements, func(g *Ground, i int) [][]byte {
			scope, act := g.permission()
			return [][]byte{
				raw(fmt.Append(nil, "role", i)), raw(entitlements.AppendScopes(nil, []entitlements.Scope{scope})),
				raw(entitlements.AppendActions(nil, []entitlements.Action{act})), raw((&entitlements.Constraints{}).Append(nil)),
			}
		}),
	}...)
}

// plainCases are those of transactions that are no instructions of system accounts.
func plainCases() []Case {
	return []Case{
		{Name: "transfer", Group: GroupInstruction, Setup: func(g *Ground) (func() []*chain.VerifiedTx, error) {
			return g.many(instructionsOfABlock, func(int) *chain.VerifiedTx { return g.Tx(Alice, &Bob, 1, nil, g.Most()) }), nil
		}},
		{Name: "transfer-new-account", Group: GroupInstruction, Setup: func(g *Ground) (func() []*chain.VerifiedTx, error) {
			return g.many(instructionsOfABlock, func(i int) *chain.VerifiedTx {
				return g.Tx(Alice, &chain.Address{0: 0x78, 18: byte(i >> 8), 19: byte(i)}, 1, nil, g.Most())
			}), nil
		}},
		{Name: "transfer-to-actor", Group: GroupInstruction, Setup: func(g *Ground) (func() []*chain.VerifiedTx, error) {
			if err := g.furnish(); err != nil {
				return nil, err
			}
			return g.many(instructionsOfABlock, func(int) *chain.VerifiedTx { return g.Tx(Alice, &g.target, 1, nil, g.Most()) }), nil
		}},
		{Name: "message", Group: GroupInstruction, Setup: func(g *Ground) (func() []*chain.VerifiedTx, error) {
			if err := g.furnish(); err != nil {
				return nil, err
			}
			limits := chain.Usage{Cycles: 60_000, Cells: 10_000}
			return g.many(20, func(int) *chain.VerifiedTx {
				return g.Tx(Alice, &g.target, 0, actor.AppendMessage(nil, "ping", null()), limits)
			}), nil
		}},
		{Name: "deploy", Group: GroupInstruction, Setup: func(g *Ground) (func() []*chain.VerifiedTx, error) {
			return g.largestDeployment(0)
		}},
		{Name: "deploy-small", Group: GroupInstruction, Setup: func(g *Ground) (func() []*chain.VerifiedTx, error) {
			return g.deployment(0, int(g.Params().API.CodeFreeBytes)) // for which its payload pays
		}},
	}
}

// permission is to call a handler of the actor of Alice.
func (g *Ground) permission() (entitlements.Scope, entitlements.Action) {
	return entitlements.Scope{Kind: entitlements.ScopeActor, Name: string(g.target[:])}, entitlements.Action{Kind: entitlements.ActionActorExecuteHandler, Name: "ping"}
}

// instructionsOfABlock are as many as a block measures of one instruction.
const instructionsOfABlock = 60

// many makes transactions of one sender.
func (g *Ground) many(n int, of func(i int) *chain.VerifiedTx) func() []*chain.VerifiedTx {
	return func() (txs []*chain.VerifiedTx) {
		was := g.nonces[Alice]
		for i := range n {
			tx := of(i)
			// All start with limits that leave room for those behind them.
			tx.Tx.CyclesLimit = min(tx.Tx.CyclesLimit, 250_000)
			tx.Tx.CellsLimit = min(tx.Tx.CellsLimit, 8_000)
			txs = append(txs, g.Verified(tx.Sender, *tx.Tx))
			g.nonces[Alice]++
		}
		g.nonces[Alice] = was
		return txs
	}
}

// furnish makes what instructions act on, once.
func (g *Ground) furnish() error {
	if g.target != (chain.Address{}) {
		return nil
	}
	if _, err := g.fatTargets(); err != nil {
		return err
	}
	ping, err := g.Deploy(pinged, "pinged", FatManifest(g.manifest), nil, 1_000_000*chain.WeiPerCBY)
	if err != nil {
		return err
	}
	g.target = ping
	_, err = g.One(g.Instruction(Alice, chain.AddrTokens, chain.OpTokenCreate, text("Token"), text("TOK"), number(2), number(1_000_000), null(), null()))
	return err
}

// pinged does nothing, at great length.
const pinged = `
from cowboy_sdk import public

@public
def ping(msg):
    pass
`

// largestDeployment is a deployment of the largest source there may be.
func (g *Ground) largestDeployment(shape int) (func() []*chain.VerifiedTx, error) {
	return g.deployment(shape, 120_000, 60_000, 20_000)
}

// deployment is one of the first size that is taken.
func (g *Ground) deployment(shape int, sizes ...int) (func() []*chain.VerifiedTx, error) {
	for _, size := range sizes {
		d := &actor.Deployment{Source: Large(shape, size, 0), Salt: []byte{1}, Manifest: EncodeManifest(All())}
		tx := g.Tx(Alice, nil, 0, actor.AppendPayload(nil, d), g.Most())
		r, err := g.Try(tx)
		if err != nil {
			continue // beyond what a transaction may be
		}
		if r.Receipts[0].Code == chain.CodeOK {
			return func() []*chain.VerifiedTx { return []*chain.VerifiedTx{tx} }, nil
		}
	}
	return nil, fmt.Errorf("no source of %d bytes is taken", sizes[0])
}

// Large is a source of so many bytes, of which little runs: what it costs is that it
// is compiled. number makes it another one.
func Large(shape, size, number int) []byte {
	head := fmt.Sprintf("#%d\nfrom cowboy_sdk import public\n@public\ndef ping(msg):\n    pass\n", number)
	body, end := "def never(a):\n return [", "]\n"
	unit := "a,"
	switch shape {
	case 1:
		body, end, unit = "def never(a):\n return a", "\n", "+a"
	case 2:
		body, end, unit = "def never(a):\n", "", " a.b=a\n"
	case 3:
		body, end, unit = "", "", "def f():0\n"
	case 4:
		body, end, unit = "def never(a):\n return {", "}\n", "1:a,"
	case 5:
		body, end, unit = "def never(a):\n", "", " if a:a()\n"
	}
	n := (size - len(head) - len(body) - len(end)) / len(unit)
	b := append([]byte(head), body...)
	for range n {
		b = append(b, unit...)
	}
	return append(b, end...)
}

// Shapes is how many shapes a large source has.
const Shapes = 6

// DeliveryCases are what blocks do besides transactions.
func DeliveryCases() []Case {
	plain := func(name, body string) Case {
		return Case{Name: name, Group: GroupDelivery, Setup: func(g *Ground) (func() []*chain.VerifiedTx, error) {
			return g.later(body)
		}}
	}
	return []Case{
		plain("waiting-message", "create_deferred_tx(t[i % len(t)], 'ping', None, due, 0, 60000, 1000)"),
		plain("waiting-message-to-nobody", "create_deferred_tx('0x77%038x' % i, 'ping', None, due, 0, 60000, 1000)"),
		plain("waiting-message-large", "create_deferred_tx(t[i % len(t)], 'ping', 'x' * 2000, due, 0, 60000, 4000)"),
		plain("firing", "set_timer(due, 'ping')"),
		plain("firing-of-no-handler", "set_timer(due, 'nothing')"),
		plain("firing-with-data", "set_timer(due, 'ping', 'x' * 2000)"),
		plain("firing-to-nobody", "schedule_timer_ex(due, 'ping', None, 0, None, '0x77%038x' % i)"),
		{Name: "token-hooks", Group: GroupDelivery, Setup: hooked},
	}
}

// dueIn is how many blocks later what a case of a delivery waits for is due.
const dueIn = 5

// later lets an actor do what comes due in a block that has no transactions.
func (g *Ground) later(body string) (func() []*chain.VerifiedTx, error) {
	targets, err := g.fatTargets()
	if err != nil {
		return nil, err
	}
	g.salts++
	c := call{body: body, prep: "due = current_block() + " + fmt.Sprint(dueIn)}
	at, err := g.Deploy(c.source(), fmt.Sprint("later", g.salts), FatManifest(g.manifest), &actor.Init{Handler: "init", Payload: null()}, 1_000_000*chain.WeiPerCBY)
	if err != nil {
		return nil, err
	}
	if err := g.Empty(2); err != nil { // its bucket fills again
		return nil, err
	}
	const items = 16 // as many timers for a block as have no surcharge
	if _, err := g.One(g.Message(at, "go", array(number(items), targets))); err != nil {
		return nil, err
	}
	if err := g.Empty(dueIn - 1); err != nil {
		return nil, err
	}
	return func() []*chain.VerifiedTx { return nil }, nil
}

// hooks is asked of each transfer of its token and agrees.
const hooks = `
from cowboy_sdk import public

@public
def can_transfer(msg):
    return True

@public
def on_transfer(msg):
    pass
`

func hooked(g *Ground) (func() []*chain.VerifiedTx, error) {
	if err := g.furnish(); err != nil {
		return nil, err
	}
	g.salts++
	at, err := g.Deploy(hooks, fmt.Sprint("hooks", g.salts), FatManifest(g.manifest), nil, 0)
	if err != nil {
		return nil, err
	}
	symbol := fmt.Sprint("H", g.salts)
	r, err := g.One(g.Instruction(Alice, chain.AddrTokens, chain.OpTokenCreate, text("Hooked"), text(symbol), number(2), number(1_000_000), null(), raw(at[:])))
	if err != nil {
		return nil, err
	}
	id := r.Output[2:]
	return g.many(20, func(i int) *chain.VerifiedTx {
		a := chain.Address{0: 0x79, 19: byte(i)}
		return g.Instruction(Alice, chain.AddrTokens, chain.OpTokenTransfer, raw(id), raw(a[:]), number(1))
	}), nil
}
