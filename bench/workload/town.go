package workload

import (
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/cowboy-foundation/cowboy/bench/solo"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// Bank is the development accounts of a chain, which pay for everything.
type Bank struct {
	payers []*Person
	next   int
}

// NewBank returns the bank of a chain as it is now.
func NewBank(c *solo.Chain) (*Bank, error) {
	b := &Bank{}
	for _, a := range setup.DevAccounts() {
		p := NewPerson(a.Key)
		b.payers = append(b.payers, p)
	}
	return b, catchUp(c, b.payers)
}

// catchUp sets the nonces of persons to those on the chain.
func catchUp(c *solo.Chain, people []*Person) error {
	for _, p := range people {
		account, _, err := c.Head().State.Account(p.Address)
		if err != nil {
			return fmt.Errorf("account %s: %w", p.Address, err)
		}
		p.Nonce = account.Nonce
	}
	return nil
}

// Pay is the order for a payment by one of the payers, in turns.
func (b *Bank) Pay(to chain.Address, value chain.Wei) Order {
	b.next++
	return transfer(b.payers[b.next%len(b.payers)], to, value)
}

// Money is what all payers have.
func (b *Bank) Money(c *solo.Chain) (sum chain.Wei, err error) {
	for _, p := range b.payers {
		account, _, err := c.Head().State.Account(p.Address)
		if err != nil {
			return 0, fmt.Errorf("account %s: %w", p.Address, err)
		}
		sum += account.Balance // within the supply
	}
	return sum, nil
}

// RefusedError is a transaction of a workload that did not do what it is for.
type RefusedError struct {
	What string
	Why  string
}

func (e *RefusedError) Error() string { return fmt.Sprintf("%s: %s", e.What, e.Why) }

// perform signs orders, puts them into as many blocks as it takes and wants all
// of them to succeed. It returns the receipts in the order of the blocks.
func perform(ctx context.Context, c *solo.Chain, what string, orders []Order) (receipts []chain.Receipt, err error) {
	for len(orders) > 0 {
		n := atOnce(orders)
		some, err := performSome(ctx, c, what, orders[:n])
		if err != nil {
			return nil, err
		}
		receipts, orders = append(receipts, some...), orders[n:]
	}
	return receipts, nil
}

// atOnce returns how many of the orders may wait for a block together.
func atOnce(orders []Order) int {
	waiting := map[*Person]int{}
	for i := range orders {
		if waiting[orders[i].From] == solo.SenderTxs {
			return i
		}
		waiting[orders[i].From]++
	}
	return len(orders)
}

func performSome(ctx context.Context, c *solo.Chain, what string, orders []Order) ([]chain.Receipt, error) {
	bodies, err := Sign(c.Genesis().ChainID, orders)
	if err != nil {
		return nil, err
	}
	verdicts, err := c.Submit(ctx, bodies)
	if err != nil {
		return nil, err
	}
	for i := range verdicts {
		if verdicts[i].Err != nil {
			return nil, &RefusedError{what, verdicts[i].Err.Error()}
		}
	}
	var receipts []chain.Receipt
	for done := 0; done < len(orders); {
		b, err := c.Block(ctx)
		if err != nil {
			return nil, err
		}
		if len(b.Txs) == 0 {
			return nil, &RefusedError{what, fmt.Sprintf("%d transactions get into no block", len(orders)-done)}
		}
		if err := succeeded(what, &b); err != nil {
			return nil, err
		}
		done += len(b.Txs)
		receipts = append(receipts, b.Receipts[:len(b.Txs)]...)
	}
	return receipts, nil
}

// succeeded wants all receipts of a block to be those of success.
func succeeded(what string, b *solo.Block) error {
	for i := range b.Receipts {
		r := &b.Receipts[i]
		if r.Code != chain.CodeOK {
			return &RefusedError{what, chain.CodeName(r.Code)}
		}
		for _, d := range r.Trace {
			if d.Code != chain.CodeOK {
				return &RefusedError{what, "a delivery: " + chain.CodeName(d.Code)}
			}
		}
	}
	return nil
}

// Town is a chain with people, most of whom own a worker.
type Town struct {
	People  []*Person
	Workers []chain.Address // of the first people, one each
	Coin    chain.Address
	Markets []chain.Address
	Token   chain.Hash // a CIP-20 token that everybody has some of

	chain *solo.Chain
	rng   *rand.Rand
	salts uint64 // of actors that workloads deploy; they go on where an earlier town's may have ended
}

// TownConfig says how large a town is.
type TownConfig struct {
	Seed    uint64
	People  int
	Markets int
}

// purse is what everybody has at the beginning.
const purse = 100 * chain.WeiPerCBY

// NewTown makes a town on a chain.
func NewTown(ctx context.Context, c *solo.Chain, cfg TownConfig) (*Town, error) {
	people, err := People(cfg.Seed, cfg.People)
	if err != nil {
		return nil, err
	}
	bank, err := NewBank(c)
	if err != nil {
		return nil, err
	}
	t := &Town{People: people, chain: c, rng: rand.New(rand.NewPCG(cfg.Seed, 0)), salts: uint64(c.Head().Height()) << 32}
	if err := catchUp(c, people); err != nil {
		return nil, err
	}
	salt := []byte(fmt.Sprint("town ", c.Head().Height())) // a chain may have had one before
	var pay, build []Order
	for i, p := range people {
		pay = append(pay, bank.Pay(p.Address, purse))
		order, addr := deploy(p, worker, salt, nil, purse/10)
		build, t.Workers = append(build, order), append(t.Workers, addr)
		if i < cfg.Markets {
			order, addr := deploy(p, market, salt, nil, 0)
			build, t.Markets = append(build, order), append(t.Markets, addr)
		}
	}
	order, coinAddress := deploy(people[0], coin, salt, nil, 0)
	build, t.Coin = append(build, order), coinAddress
	if _, err := perform(ctx, c, "fund the people", pay); err != nil {
		return nil, err
	}
	if _, err := perform(ctx, c, "deploy the actors", build); err != nil {
		return nil, err
	}
	return t, t.mint(ctx)
}

// mint makes the token and gives everybody some of it.
func (t *Town) mint(ctx context.Context) error {
	null := cbor.AppendNull(nil)
	create := t.tokens(t.People[0], chain.OpTokenCreate,
		cbor.AppendText(nil, "Town"), cbor.AppendText(nil, "TWN"), cbor.AppendUint(nil, 2), cbor.AppendUint(nil, 1<<50), null, null)
	receipts, err := perform(ctx, t.chain, "create the token", []Order{create})
	if err != nil {
		return err
	}
	r := cbor.NewReader(receipts[0].Output)
	if err := r.BytesInto(t.Token[:]); err != nil {
		return fmt.Errorf("id of the token: %w", err)
	}
	var give []Order
	for _, p := range t.People[1:] {
		give = append(give, t.payToken(t.People[0], p.Address, 1<<20))
	}
	_, err = perform(ctx, t.chain, "give everybody some of the token", give)
	return err
}

// tokens is the order for an instruction on tokens.
func (t *Town) tokens(from *Person, opcode uint64, args ...[]byte) Order {
	b := cbor.AppendUint(cbor.AppendArray(nil, 1+len(args)), opcode)
	for _, arg := range args {
		b = append(b, arg...)
	}
	to := chain.AddrTokens
	return Order{From: from, To: &to, Payload: b, Limit: chain.Usage{Cycles: 200_000, Cells: 10_000}}
}

func (t *Town) payToken(from *Person, to chain.Address, amount uint64) Order {
	return t.tokens(from, chain.OpTokenTransfer, cbor.AppendBytes(nil, t.Token[:]), cbor.AppendBytes(nil, to[:]), cbor.AppendUint(nil, amount))
}

// Block signs the transactions of one block of a workload.
func (t *Town) Block(w *Workload, txs int) ([][]byte, error) {
	orders := make([]Order, txs)
	for i := range orders {
		orders[i] = w.make(t, i)
	}
	return Sign(t.chain.Genesis().ChainID, orders)
}
