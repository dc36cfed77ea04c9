package exec_test

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/rent"
	"github.com/cowboy-foundation/cowboy/state"
	stored "github.com/cowboy-foundation/cowboy/state/rent"
	"github.com/cowboy-foundation/cowboy/state/statetest"
)

const hoarder = `
from cowboy_sdk import actor, public, set_timer, transfer, rent, storage, CowboyError

@actor
class Hoarder:
    @public
    def init(self, msg):
        set_timer(100_000, "get", 3)
        for i in range(20):
            self.storage["page" + str(i)] = str(i % 10) * 1000

    @public
    def get(self, msg):
        return self.storage["page" + str(msg.payload)][:3]

    @public
    def pay(self, msg):
        try:
            transfer(msg.sender, msg.payload)
        except CowboyError as e:
            return e.code

    @public
    def fill(self, msg):
        self.storage[msg.payload[0]] = "x" * msg.payload[1]

    @public
    def bond(self, msg):
        try:
            storage.bond(msg.payload)
        except CowboyError as e:
            return e.code
`

const keeper = `
from cowboy_sdk import actor, public, blob_commit, blob_get

@actor
class Keeper:
    @public
    def init(self, msg):
        return blob_commit(b"x" * msg.payload)

    @public
    def size(self, msg):
        return len(blob_get(msg.payload))
`

const rescuer = `
from cowboy_sdk import actor, public, storage, CowboyError

@actor
class Rescuer:
    @public
    def rescue(self, msg):
        actor, key, size = msg.payload
        storage.restore(actor, {key: b"x" * size})
`

// ranch is a chain on a state with real roots, without which nothing is evicted.
type ranch struct {
	*testChain
	t      *testing.T
	ground *statetest.Rooted
	actor  chain.Address
	names  []string              // of the rent's events so far
	stored []state.StorageChange // by actors, so far
}

// newRanch has a day of rent in ten blocks, an epoch in five.
func newRanch(t *testing.T, change func(*params.Params)) *ranch {
	t.Helper()
	people := []genesis.Allocation{rich(alice), rich(bob)}
	for i := range people {
		people[i].Amount = 10_000_000 * chain.WeiPerCBY
	}
	g := testGenesis(t, []chain.Wei{50}, people...)
	p := &g.Params
	p.Rent.ChargeBlocks, p.EpochBlocks, p.Rent.GraceEpochs, p.Rent.WarningEpochs = 10, 5, 2, 1
	if change(p); p.Check() != nil {
		t.Fatal(p.Check())
	}
	r := &ranch{
		t: t, ground: statetest.NewRooted(),
		testChain: &testChain{t: t, g: g, base: chain.FeePair{PerCycle: 1, PerCell: 1}, nonces: map[chain.Address]uint64{}, engine: testEngine(t)},
	}
	d, err := exec.GenesisDelta(g)
	if err == nil {
		err = r.ground.Write(d)
	}
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// next executes a block, holds it to conservation and keeps it.
func (r *ranch) next(txs ...*chain.VerifiedTx) exec.Result {
	r.t.Helper()
	before := r.ground.Money()
	res, err := apply(r.ground, r.inputs(), txs)
	if err == nil {
		err = r.ground.Write(res.Delta)
	}
	if err != nil {
		r.t.Fatalf("block %d: %v", r.height+1, err)
	}
	r.height++
	if after := r.ground.Money(); after != before+res.Issued-res.Burned {
		r.t.Fatalf("block %d: balances add up to %d, want %d + %d issued - %d burned", r.height, after, before, res.Issued, res.Burned)
	}
	for _, tx := range txs {
		r.nonces[tx.Sender] = tx.Tx.Nonce + 1
	}
	for i := range res.Receipts {
		for _, e := range res.Receipts[i].Events {
			if e.Emitter == chain.AddrRent {
				r.names = append(r.names, e.Name)
			}
		}
	}
	for _, c := range res.Delta.Accounts() {
		for _, s := range c.Storage {
			if !c.Address.IsSystem() && s.Value != nil {
				r.stored = append(r.stored, s)
			}
		}
	}
	return res
}

// one executes a block of one transaction and returns its receipt.
func (r *ranch) one(tx *chain.VerifiedTx) chain.Receipt {
	r.t.Helper()
	return r.next(tx).Receipts[0]
}

func (r *ranch) call(handler string, arg []byte) chain.Receipt {
	r.t.Helper()
	return r.one(r.program(alice, &r.actor, actor.AppendMessage(nil, handler, arg)))
}

// deploy makes the actor with a value.
func (r *ranch) deploy(value chain.Wei, ids ...string) {
	r.t.Helper()
	r.actor = r.deployProgram(hoarder, value, cbor.AppendNull(nil), ids...)
}

// deployProgram makes an actor of a source, with an argument for init or none.
func (r *ranch) deployProgram(source string, value chain.Wei, arg []byte, ids ...string) chain.Address {
	r.t.Helper()
	d := actor.Deployment{Source: []byte(source), Salt: []byte{1}, Manifest: manifest.Manifest(ids...)}
	if arg != nil {
		d.Init = &actor.Init{Handler: "init", Payload: arg}
	}
	tx := r.program(alice, nil, actor.AppendPayload(nil, &d)).Tx
	tx.Value, tx.CyclesLimit = value, 5_000_000
	if got := r.one(verified(tx, alice)); got.Code != chain.CodeOK {
		r.t.Fatalf("deploy: %s", chain.CodeName(got.Code))
	}
	return actor.AddressOf(alice, d.Salt, d.Source)
}

// rentTx is an instruction about the actor.
func (r *ranch) rentTx(from chain.Address, opcode uint64, more ...[]byte) *chain.VerifiedTx {
	b := cbor.AppendUint(cbor.AppendArray(nil, 2+len(more)), opcode)
	b = cbor.AppendBytes(b, r.actor[:])
	for _, m := range more {
		b = append(b, m...)
	}
	to := chain.AddrRent
	return r.program(from, &to, b)
}

func (r *ranch) status() rent.Status {
	r.t.Helper()
	s, err := (&rent.Block{State: state.NewOverlay(r.ground), Params: &r.g.Params, Height: r.height}).Status(r.actor)
	if err != nil {
		r.t.Fatal(err)
	}
	return s
}

func (r *ranch) balance(a chain.Address) chain.Wei {
	acct, _, _ := r.ground.Account(a)
	return acct.Balance
}

// until makes empty blocks until the actor stands so.
func (r *ranch) until(want rent.State) {
	r.t.Helper()
	for range 60 {
		if r.status().State == want {
			return
		}
		r.next()
	}
	r.t.Fatalf("never %v: %+v", want, r.status())
}

func chunkOf(entries []state.StorageChange) []byte {
	b := cbor.AppendArray(nil, len(entries))
	for _, e := range entries {
		b = cbor.AppendBytes(cbor.AppendBytes(cbor.AppendArray(b, 2), []byte(e.Key)), e.Value)
	}
	return b
}

// restore puts an evicted storage back in two chunks, with what is refused on the
// way.
func (r *ranch) restore(entries []state.StorageChange) {
	t := r.t
	t.Helper()
	deadline := cbor.AppendUint(nil, uint64(r.height)+50)
	first, second := chunkOf(entries[:12]), chunkOf(entries[12:])
	limited := func(tx *chain.VerifiedTx, less chain.Cells) *chain.VerifiedTx {
		size, err := stored.Cost(entries[:12])
		if err != nil {
			t.Fatal(err)
		}
		tx.Tx.CellsLimit = chain.Cells(len(tx.Tx.Payload)) + chain.Cells(size.Bytes) + chain.Cells(size.Entries)*r.g.Params.API.NewEntryCells - less
		return verified(tx.Tx, tx.Sender)
	}
	cost, err := (&rent.Block{State: state.NewOverlay(r.ground), Params: &r.g.Params, Height: r.height + 1}).RestoreCost(r.actor)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		rule string
		tx   *chain.VerifiedTx
		want uint16
	}{
		{"nothing begun", r.rentTx(bob, chain.OpRestorePut, first), chain.CodeNotFound},
		{"a deadline that has passed", r.rentTx(bob, chain.OpRestoreBegin, cbor.AppendUint(nil, 1)), chain.CodeBadArgument},
		{"a deadline that keeps all others out", r.rentTx(bob, chain.OpRestoreBegin, cbor.AppendUint(nil, 1<<63)), chain.CodeBadArgument},
		{"begin", r.rentTx(bob, chain.OpRestoreBegin, deadline), chain.CodeOK},
		{"begun by another", r.rentTx(alice, chain.OpRestoreBegin, deadline), chain.CodeExists},
		{"put by another", r.rentTx(alice, chain.OpRestorePut, first), chain.CodeNotFound},
		{"a cell too few", limited(r.rentTx(bob, chain.OpRestorePut, first), 1), chain.CodeCellsExhausted},
		{"put", limited(r.rentTx(bob, chain.OpRestorePut, first), 0), chain.CodeOK},
		{"put twice", r.rentTx(bob, chain.OpRestorePut, first), chain.CodeBadArgument},
		{"commit without the rest", r.rentTx(bob, chain.OpRestoreCommit, cbor.AppendNull(nil)), chain.CodeBadProof},
		{"a message before it is awake", r.program(alice, &r.actor, actor.AppendMessage(nil, "get", cbor.AppendUint(nil, 1))), chain.CodeDormant},
		{"the rest", r.rentTx(bob, chain.OpRestorePut, second), chain.CodeOK},
		{"a payer who has not agreed", r.rentTx(bob, chain.OpRestoreCommit, cbor.AppendBytes(nil, alice[:])), chain.CodeForbidden},
		{"commit", r.rentTx(bob, chain.OpRestoreCommit, cbor.AppendNull(nil)), chain.CodeOK},
		{"commit twice", r.rentTx(bob, chain.OpRestoreCommit, cbor.AppendNull(nil)), chain.CodeNotFound},
	} {
		step.tx.Tx.Nonce = r.nonces[step.tx.Sender] // those before have used theirs
		before := r.balance(bob)
		got := r.one(verified(step.tx.Tx, step.tx.Sender))
		if got.Code != step.want {
			t.Errorf("%s: %s, want %s", step.rule, chain.CodeName(got.Code), chain.CodeName(step.want))
		}
		if paid := before - r.balance(bob) - got.Fee; step.rule == "commit" && paid+r.g.Params.Rent.RestoreBond != cost { // the bond is back
			t.Errorf("%s: %d paid, want %d less the bond", step.rule, paid, cost)
		}
	}
}
