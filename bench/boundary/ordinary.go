package boundary

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/token"
	"github.com/cowboy-foundation/cowboy/node/manifest"
)

// Daily is one thing that people do every day.
type Daily struct {
	Name   string
	Before chain.Usage // what it cost before cycles followed time and cells bytes
	// Cells may be more than twice as many by the decision of this number (ADR).
	Exempt string
}

// Price is what one of them costs.
type Price struct {
	Daily
	Now chain.Usage
}

// Bounds of what the ordinary may cost, of what it cost before (issue 14).
const (
	CyclesPercentMax = 110
	CellsPercentMax  = 200
)

// Holds reports whether the price is within the bounds.
func (p *Price) Holds() bool {
	cycles := p.Now.Cycles*100 <= p.Before.Cycles*CyclesPercentMax
	return cycles && (p.Exempt != "" || p.Now.Cells*100 <= p.Before.Cells*CellsPercentMax)
}

// handy is the actor of the price list.
const handy = `
from cowboy_sdk import actor, public, send, set_timer

@actor
class Handy:
    def init(self, msg):
        self.storage["n"] = 0

    @public
    def count(self, msg):
        self.storage["n"] += 1

    @public
    def tell(self, msg):
        send(msg.payload, None, "count", 0, 60000)

    @public
    def wake(self, msg):
        return set_timer(msg.payload, "count")
`

// Ordinary is the price list on a chain that has done each thing before. examples is
// the folder of the SDK's.
func Ordinary(examples string) ([]Price, error) {
	g, err := New(Config{ProgramBytes: 1 << 20})
	if err != nil {
		return nil, err
	}
	defer g.Close()
	l := &list{g: g}
	for _, part := range []func() error{l.people, l.tokens, l.actors, func() error { return l.deployments(examples) }} {
		if err := part(); err != nil {
			return nil, err
		}
	}
	return l.prices, nil
}

// list is the price list in the making.
type list struct {
	g      *Ground
	prices []Price
}

// recordPrice notes the price of a transaction, which is kept.
func (l *list) recordPrice(name string, tx *chain.VerifiedTx) error {
	r, err := l.g.One(tx)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	now := chain.Usage{Cycles: r.CyclesUsed, Cells: r.CellsUsed}
	for _, d := range before() {
		if d.Name == name {
			l.prices = append(l.prices, Price{d, now})
			return nil
		}
	}
	return fmt.Errorf("%s costs %+v and has no price before", name, now)
}

func (l *list) people() error {
	g := l.g
	pay := func(to chain.Address) *chain.VerifiedTx {
		return g.Tx(Alice, &to, 1, nil, chain.Usage{Cycles: g.Params().MaxTxCycles, Cells: g.Params().MaxTxCells})
	}
	if err := l.recordPrice("transfer", pay(Bob)); err != nil {
		return err
	}
	return l.recordPrice("transfer to a new account", pay(chain.Address{0: 0xcc}))
}

func (l *list) tokens() error {
	g, id := l.g, token.NewID(Alice, "TOK", 0)
	do := func(opcode uint64, args ...[]byte) *chain.VerifiedTx {
		return g.Instruction(Alice, chain.AddrTokens, opcode, args...)
	}
	move := func(to chain.Address) *chain.VerifiedTx {
		return do(chain.OpTokenTransfer, raw(id[:]), raw(to[:]), number(5))
	}
	approve := func(to chain.Address) *chain.VerifiedTx {
		return do(chain.OpTokenApprove, raw(id[:]), raw(to[:]), number(5))
	}
	for _, s := range []struct {
		name string
		tx   func() *chain.VerifiedTx
	}{
		{"token create", func() *chain.VerifiedTx {
			return do(chain.OpTokenCreate, text("Token"), text("TOK"), number(2), number(1000), number(2000), null())
		}},
		{"token transfer to a new holder", func() *chain.VerifiedTx { return move(Bob) }},
		{"token transfer", func() *chain.VerifiedTx { return move(Bob) }},
		{"token approve, the first", func() *chain.VerifiedTx { return approve(Bob) }},
		{"token approve", func() *chain.VerifiedTx { return approve(Bob) }},
	} {
		if err := l.recordPrice(s.name, s.tx()); err != nil {
			return err
		}
	}
	return nil
}

func (l *list) actors() error {
	g := l.g
	first, err := g.Deploy(handy, "a", EncodeManifest(All()), &actor.Init{Handler: "init", Payload: null()}, 1_000*chain.WeiPerCBY)
	if err != nil {
		return err
	}
	second, err := g.Deploy(handy, "b", EncodeManifest(All()), &actor.Init{Handler: "init", Payload: null()}, 0)
	if err != nil {
		return err
	}
	for _, s := range []struct {
		name, handler string
		arg           []byte
	}{
		{"message with one write", "count", null()},
		{"message with a send", "tell", raw(second[:])},
		{"message with a set_timer", "wake", number(100_000)},
	} {
		for range 2 { // the first call of an actor makes its ledger
			if _, err := g.One(g.Message(first, s.handler, s.arg)); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
		}
		// Alone in its block it would be the first there to use the code.
		warm := g.Message(second, "count", null())
		g.nonces[Alice]++
		r, err := g.Block(warm, g.Message(first, s.handler, s.arg))
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		if code := r.Receipts[1].Code; code != chain.CodeOK {
			return fmt.Errorf("%s: %s", s.name, chain.CodeName(code))
		}
		for _, d := range before() {
			if d.Name == s.name {
				l.prices = append(l.prices, Price{d, chain.Usage{Cycles: r.Receipts[1].CyclesUsed, Cells: r.Receipts[1].CellsUsed}})
			}
		}
	}
	return nil
}

func (l *list) deployments(folder string) error {
	people := array(text(Alice.String()), text(Bob.String()))
	for _, e := range []struct {
		name string
		init []byte
	}{
		{"counter", number(2)},
		{"price_oracle_consumer", object("quorum", number(2), "reporters", people)},
		{"timer_scheduler", null()},
		{"token_treasury", object("quorum", number(2), "supply", number(1000), "members", people)},
		{"trading_bot", object("cash", number(1000), "analyst", text(Bob.String()), "most_per_trade", number(500))},
	} {
		source, err := os.ReadFile(filepath.Join(folder, e.name+".py"))
		if err != nil {
			return fmt.Errorf("example: %w", err)
		}
		grants, err := manifest.Infer(source)
		if err != nil {
			return fmt.Errorf("manifest of %s: %w", e.name, err)
		}
		m, err := manifest.Encode(grants)
		if err != nil {
			return fmt.Errorf("manifest of %s: %w", e.name, err)
		}
		d := actor.Deployment{Source: source, Salt: []byte{1}, Manifest: m, Init: &actor.Init{Handler: "init", Payload: e.init}}
		tx := l.g.Tx(Alice, nil, 0, actor.AppendPayload(nil, &d), l.g.Most())
		if err := l.recordPrice("deploy "+e.name, tx); err != nil {
			return err
		}
	}
	return nil
}
