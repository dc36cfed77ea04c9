package exec_test

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

var (
	dayBlocks = flag.Int("day-blocks", 250, "blocks of the simulated day; 86400 is a whole one")
	daySeed   = flag.Uint64("day-seed", 1, "seed of the simulated day")
)

// beast does what it is told, one operation after the other.
const beast = `
from cowboy_sdk import (
    actor, public, emit_event, send, call, transfer, set_timer, set_interval, cancel_timer, rent, storage,
    get_actor_address, CowboyError,
)

@actor
class Beast:
    @public
    def init(self, msg):
        self.storage["got"] = 0
        self.storage["ticks"] = 0

    @public
    def count(self, msg):
        self.storage["got"] += 1

    @public
    def tick(self, msg):
        self.storage["ticks"] += 1
        if msg.payload:
            send(self.address, 0, "count", cycles=60_000)

    @public
    def act(self, msg):
        for op, *args in msg.payload:
            try:
                getattr(self, "do_" + op)(*args)
            except CowboyError as e:
                emit_event("refused", e.code)

    def do_set(self, key, size):
        self.storage["k" + str(key)] = "x" * size

    def do_drop(self, key):
        self.storage.delete("k" + str(key))

    def do_send(self, to, cycles, value):
        send(to, 0, "count", value=value, cycles=cycles)

    def do_call(self, to):
        call(to, "act", [["set", 1, 10], ["send", self.address, 60_000, 0]])

    def do_loop(self, to):
        call(to, "act", [["loop", self.address]])

    def do_pay(self, to, amount):
        transfer(to, amount)

    def do_timer(self, ahead):
        self.storage["timer"] = set_timer(self.height() + ahead, "tick", 1)

    def do_interval(self, every):
        self.storage["timer"] = set_interval(every, "tick", 0)

    def do_cancel(self):
        if "timer" in self.storage:
            cancel_timer(self.storage["timer"])
            self.storage.delete("timer")

    def do_rent(self, epochs):
        rent.prepay(epochs=epochs)

    def do_bond(self, size):
        storage.bond(size)

    def do_burn(self, n):
        for _ in range(n):
            pass

    def do_fail(self):
        raise ValueError("told to")

    def height(self):
        from cowboy_sdk import get_block_height
        return get_block_height()
`

// ground is a state with real roots, for a chain of blocks.
type ground struct {
	forest *tree.Forest
	image  *tree.Image
	codes  map[chain.Hash][]byte
	known  map[chain.Address]bool
}

func (g *ground) Account(addr chain.Address) (state.Account, bool, error) {
	a, ok := g.forest.Account(g.image, tree.AccountKey(addr))
	return a, ok, nil
}

func (g *ground) Storage(addr chain.Address, key state.StorageKey) ([]byte, error) {
	value, _ := g.forest.Storage(g.image, tree.AccountKey(addr), tree.SlotKey(key))
	return value, nil
}

func (g *ground) Scan(chain.Address, state.Span) ([]state.Entry, error) {
	return nil, errors.New("a forest knows no order of keys")
}

func (g *ground) Code(hash chain.Hash) ([]byte, error) {
	if c, ok := g.codes[hash]; ok || hash == state.EmptyCodeHash {
		return c, nil
	}
	return nil, errors.New("no such code")
}

// take writes a block's delta.
func (g *ground) take(t *testing.T, d *state.Delta) {
	t.Helper()
	for _, c := range d.Codes() {
		g.codes[c.Hash] = c.Code
	}
	for _, c := range d.Accounts() {
		g.known[c.Address] = true
	}
	next, err := g.forest.Apply(g.image, d)
	if err != nil {
		t.Fatal(err)
	}
	if g.image != nil {
		g.forest.Retire(g.image)
	}
	g.image = next
}

// money is the sum of all balances.
func (g *ground) money() (sum chain.Wei) {
	for addr := range g.known {
		a, _, _ := g.Account(addr)
		sum += a.Balance
	}
	return sum
}

// day is a chain of random blocks.
type day struct {
	t      *testing.T
	rng    *rand.Rand
	c      *testChain
	ground *ground
	beasts []chain.Address
	people []chain.Address
	height chain.Height

	delivered, ticks uint64 // handlers that ran to their end, by the receipts
	to               map[chain.Hash]chain.Address
}

// TestDay runs random actors for a part of a day, or with -day-blocks for a whole
// one, and holds every block to the invariants of the state transition: money,
// supply, lanes, quotas, and that every message is delivered once.
func TestDay(t *testing.T) {
	d := newDay(t)
	for i := range *dayBlocks {
		d.block(i)
		if t.Failed() {
			t.Fatalf("seed %d, block %d of the day", *daySeed, i)
		}
	}
	d.counted()
	t.Logf("seed %d: %d blocks, %d messages and %d timers delivered", *daySeed, *dayBlocks, d.delivered, d.ticks)
	if d.delivered == 0 {
		t.Error("no message was delivered: the day tests nothing")
	}
}

func newDay(t *testing.T) *day {
	people := []chain.Address{alice, bob, carol, {0: 0xda}, {0: 0xe7}}
	var allocations []chain.Allocation
	for i, p := range people {
		a := rich(p)
		a.Name, a.Amount = fmt.Sprint("rich-", i), 1_000_000*chain.WeiPerCBY
		allocations = append(allocations, a)
	}
	g := testGenesis(t, []chain.Wei{50, 70}, allocations...)
	p := &g.Params
	p.Rent.ChargeBlocks, p.EpochBlocks, p.Rent.GraceEpochs, p.Rent.WarningEpochs = 20, 5, 6, 3 // a day in twenty blocks
	d := &day{
		t: t, rng: rand.New(rand.NewPCG(*daySeed, 0)), people: people, to: map[chain.Hash]chain.Address{},
		c: &testChain{t: t, g: g, base: chain.FeePair{PerCycle: 1, PerCell: 1}, nonces: map[chain.Address]uint64{}, engine: testEngine(t)},
	}
	f := tree.NewForest(2, nil)
	d.ground = &ground{forest: f, image: f.Empty(), codes: map[chain.Hash][]byte{}, known: map[chain.Address]bool{}}
	first, err := exec.GenesisDelta(g)
	if err != nil {
		t.Fatal(err)
	}
	d.ground.take(t, first)
	for i := range 8 {
		d.deploy(byte(i))
	}
	return d
}

// deploy makes a beast; every other one may hold money.
func (d *day) deploy(salt byte) {
	ids := []string{"econ.transfer", "storage.kv", "timer.schedule"}
	if salt%2 == 0 {
		ids = append([]string{"econ.hold_balance"}, ids...)
	}
	dep := actor.Deployment{
		Source: []byte(beast), Salt: []byte{salt}, Manifest: manifest(ids...),
		Init: &actor.Init{Handler: "init", Payload: cbor.AppendNull(nil)},
	}
	d.run([]*chain.VerifiedTx{d.c.program(alice, nil, actor.AppendPayload(nil, &dep))})
	d.beasts = append(d.beasts, actor.AddressOf(alice, dep.Salt, dep.Source))
}

// run executes one block, twice where it is cheap to, and checks its books.
func (d *day) run(txs []*chain.VerifiedTx) exec.Result {
	d.t.Helper()
	d.c.height = d.height
	in := d.c.inputs()
	before := d.ground.money()
	r, err := exec.Apply(d.ground, in, txs)
	for attempt := 0; attempt < 50; attempt++ {
		var bad *exec.InvalidTx
		if !errors.As(err, &bad) {
			break
		}
		txs = dropped(txs, bad.Index)
		r, err = exec.Apply(d.ground, in, txs)
	}
	if err != nil {
		d.t.Fatalf("seed %d, height %d: %v", *daySeed, d.height+1, err)
	}
	if d.height%16 == 0 {
		in.Engine = testEngine(d.t)
		again, err := exec.Apply(d.ground, in, txs)
		if err != nil || !reflect.DeepEqual(again.Receipts, r.Receipts) || !reflect.DeepEqual(again.Delta.Accounts(), r.Delta.Accounts()) {
			d.t.Errorf("height %d: a second execution differs: %v", d.height+1, err)
		}
	}
	d.ground.take(d.t, r.Delta)
	d.height++
	for _, tx := range txs {
		d.c.nonces[tx.Sender] = tx.Tx.Nonce + 1
	}
	if after := d.ground.money(); after != before+r.Issued-r.Burned {
		d.t.Errorf("height %d: balances add up to %d, want %d + %d issued - %d burned", d.height, after, before, r.Issued, r.Burned)
	}
	if total, err := exec.Supply(d.ground); err != nil || total != d.ground.money() {
		d.t.Errorf("height %d: supply record %d, %v", d.height, total, err)
	}
	d.read(&r, len(txs))
	return r
}

// dropped returns txs without the one at index and the later ones of its sender.
func dropped(txs []*chain.VerifiedTx, index int) (kept []*chain.VerifiedTx) {
	for i, tx := range txs {
		if tx.Sender != txs[index].Sender || i < index {
			kept = append(kept, tx)
		}
	}
	return kept
}

// read counts what the receipts say was delivered, and holds usage to the caps.
func (d *day) read(r *exec.Result, txs int) {
	var used chain.Usage
	for _, u := range r.Used {
		used.Cycles += u.Cycles
		used.Cells += u.Cells
	}
	if p := &d.c.g.Params; used.Cycles > p.CyclesCap || used.Cells > p.CellsCap {
		d.t.Errorf("height %d: the block used %+v", d.height, used)
	}
	for i := range r.Receipts {
		rec := &r.Receipts[i]
		if rec.Fee < rec.Tip {
			d.t.Errorf("height %d: receipt %d tips more than it pays", d.height, i)
		}
		if rec.Status != chain.StatusSucceeded {
			continue
		}
		for _, m := range rec.Trace {
			switch m.Status {
			case chain.DeliverySucceeded:
				d.delivered++
			case chain.DeliveryWaits:
				d.to[m.Message] = m.To
			}
		}
		if i < txs {
			continue
		}
		if _, ok := d.to[rec.TxHash]; ok {
			delete(d.to, rec.TxHash)
			d.delivered++
		} else if rec.Lane == chain.LaneTimer {
			d.ticks++
		}
	}
}

// block makes a few random transactions.
func (d *day) block(int) {
	var txs []*chain.VerifiedTx
	ahead := map[chain.Address]uint64{}
	for range d.rng.IntN(6) {
		from := d.people[d.rng.IntN(len(d.people))]
		tx := d.transaction(from)
		tx.Tx.Nonce += ahead[from]
		ahead[from]++
		txs = append(txs, verified(tx.Tx, from))
	}
	d.run(txs)
	for _, b := range d.beasts {
		a, _, _ := d.ground.Account(b)
		if a.StorageSize.Bytes > d.c.g.Params.Actor.StorageQuotaBondBytes {
			d.t.Errorf("height %d: %s keeps %d bytes", d.height, b, a.StorageSize.Bytes)
		}
	}
}

func (d *day) transaction(from chain.Address) *chain.VerifiedTx {
	to := d.beasts[d.rng.IntN(len(d.beasts))]
	switch d.rng.IntN(10) {
	case 0:
		return d.c.transfer(from, d.people[d.rng.IntN(len(d.people))], chain.Wei(d.rng.Uint64N(1<<40)))
	case 1:
		return d.c.transfer(from, to, 0)
	}
	n := 1 + d.rng.IntN(4)
	ops := cbor.AppendArray(nil, n)
	for range n {
		ops = d.operation(ops)
	}
	tx := d.c.program(from, &to, actor.AppendMessage(nil, "act", ops))
	tx.Tx.CyclesLimit = chain.Cycles(60_000 + d.rng.Uint64N(1_500_000))
	tx.Tx.Value = chain.Wei(d.rng.Uint64N(3) * d.rng.Uint64N(50*uint64(chain.WeiPerCBY)))
	return tx
}

// operation appends one of the beast's operations.
func (d *day) operation(b []byte) []byte {
	op := func(name string, args ...any) []byte {
		b = cbor.AppendText(cbor.AppendArray(b, 1+len(args)), name)
		for _, a := range args {
			switch a := a.(type) {
			case uint64:
				b = cbor.AppendUint(b, a)
			case chain.Address:
				b = cbor.AppendText(b, a.String())
			}
		}
		return b
	}
	beast := d.beasts[d.rng.IntN(len(d.beasts))]
	n := d.rng.Uint64N
	switch d.rng.IntN(14) {
	case 0, 1:
		return op("set", n(40), n(3_000))
	case 2:
		return op("drop", n(40))
	case 3, 4, 5:
		return op("send", beast, 40_000+n(400_000), n(2)*n(uint64(chain.WeiPerCBY)))
	case 6:
		return op("call", beast)
	case 7:
		return op("loop", beast)
	case 8:
		return op("pay", d.people[n(uint64(len(d.people)))], n(uint64(chain.WeiPerCBY)))
	case 9:
		return op("timer", 1+n(30))
	case 10:
		return op("interval", 1+n(10))
	case 11:
		return op("cancel")
	case 12:
		return op([]string{"rent", "bond", "burn"}[n(3)], n(2_000_000))
	}
	return op("fail")
}

// counted compares what the actors have counted with what the receipts say.
func (d *day) counted() {
	d.t.Helper()
	var got, ticks, evicted uint64
	for _, b := range d.beasts {
		a, _, _ := d.ground.Account(b)
		if !a.HasStorage() {
			evicted++
			continue
		}
		got += d.number(b, "got")
		ticks += d.number(b, "ticks")
	}
	if evicted == 0 && (got != d.delivered || ticks != d.ticks) {
		d.t.Errorf("seed %d: actors counted %d messages and %d timers, receipts %d and %d", *daySeed, got, ticks, d.delivered, d.ticks)
	}
	d.t.Logf("%d of %d actors are evicted", evicted, len(d.beasts))
}

func (d *day) number(b chain.Address, key string) uint64 {
	v, err := d.ground.Storage(b, state.NewStorageKey(state.VMNamespacePVM, []byte(key)))
	if err != nil || v == nil {
		return 0
	}
	r := cbor.NewReader(v)
	n, err := r.Uint()
	if err != nil {
		d.t.Errorf("%s of %s: %v", key, b, err)
	}
	return n
}

// TestRefusalLeavesNothing has a program catch the refusal of a deposit and then
// ask for it back.
func TestRefusalLeavesNothing(t *testing.T) {
	c := messages(t)
	beastly := c.deployed(`
from cowboy_sdk import actor, public, storage, CowboyError

@actor
class Poor:
    @public
    def init(self, msg):
        pass

    @public
    def go(self, msg):
        try:
            storage.bond(8 << 20)
        except CowboyError as e:
            refused = e.code
        storage.bond(1 << 20)
        return refused
`, 1, "storage.kv")
	r := c.block(c.post(alice, beastly, 0, "go", cbor.AppendNull(nil))).Receipts[0]
	if r.Code != chain.CodeOK || string(r.Output) != "\x65E1101" {
		t.Errorf("%s, output %q", chain.CodeName(r.Code), r.Output)
	}
	if got := c.state.balance(beastly); got != 0 {
		t.Errorf("a bond that was never paid came back as %d", got)
	}
}
