package hostile

import (
	"encoding/hex"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
)

var (
	duration = flag.Duration("for", 0, "how long TestRandomBlocks runs; 0: a few blocks")
	seed     = flag.Uint64("seed", 1, "seed of TestRandomBlocks' first chain")
)

// asked are the calls of the SDK that the actor rover makes for whoever tells it to,
// each with the kinds of its arguments, in the letters of [random.thing].
var asked = [][2]string{
	{"send", "aohvc"},
	{"call", "ahocv"},
	{"create_deferred_tx", "ahoHvcc"},
	{"spawn", "supev"},
	{"transfer", "av"},
	{"set_timer", "Hhoa"},
	{"set_interval", "Eho"},
	{"schedule_timer_ex", "HhoEaacc"},
	{"extend_timer", "iH"},
	{"cancel_timer", "i"},
	{"emit_event", "k*"},
	{"blob_commit", "b"},
	{"blob_get", "b"},
	{"randomness", "k"},
	{"entitlement", "k"},
	{"charge_gas", "c"},
	{"token_create", "kknnna"},
	{"token_transfer", "tan"},
	{"token_transfer_from", "taan"},
	{"token_approve", "tan"},
	{"token_mint", "tan"},
	{"token_burn", "tn"},
	{"token_freeze", "ta"},
	{"token_unfreeze", "ta"},
	{"token_transfer_ownership", "ta"},
	{"token_set_hook", "ta"},
	{"token_balance_of", "ta"},
	{"token_info", "t"},
	{"rent.prepay", "v"},
	{"rent.status", "a"},
	{"rent.sponsor", "av"},
	{"scan_state_prefix", "kv"},
	{"set_state", "k*"},
	{"delete_state", "k"},
	{"get_balance", "a"},
	{"submit_job", "*h"},
	{"cancel_job", "i"},
	{"upgrade_self", "u"},
	{"secp256k1.recover", "bb"},
	{"bls.verify", "bbbb"},
	{"vrf.verify", "bbbb"},
	{"ed25519.verify", "bbb"},
}

// rover returns the source of the actor.
func rover() string {
	var names []string
	for _, a := range asked {
		names = append(names, a[0])
	}
	return `
from cowboy_sdk import *

DO = [` + strings.Join(names, ", ") + `]

@actor
class Rover:
    @public
    def go(self, msg):
        if msg.payload is None:
            return
        for n, args in msg.payload:
            try:
                self.storage["last"] = DO[n % len(DO)](*args)
            except Exception as e:
                self.storage[type(e).__name__] = str(e)
        if len(msg.payload) % 4 == 3:
            raise ValueError("as told")

    @public
    def grow(self, msg):
        for i in range(15):
            set_state(str(i), bytes(1000))

    @public
    def on_transfer(self, msg):
        return True

    def getGasBid(self, msg):
        return {"tip": 3, "max_fee": 100}
`
}

// random makes blocks of whatever senders may think of.
type random struct {
	*world
	rng    *rand.Rand
	rovers []chain.Address
	ids    []chain.Hash // of tokens and timers
	met    map[string]int
}

func newRandom(t testing.TB, seed uint64) *random {
	t.Helper()
	w := newWorldUnder(t, func(p *params.Params) { // so that rent falls due within the test
		p.Rent.ChargeBlocks, p.EpochBlocks, p.Rent.GraceEpochs, p.Rent.WarningEpochs = 5, 5, 1, 1
		p.Timer.BaseDeposit, p.Timer.InitialBaseFee = 1, 1
	})
	r := &random{world: w, rng: rand.New(rand.NewPCG(seed, 5)), ids: []chain.Hash{w.token, w.timer, w.proposal}, met: map[string]int{}}
	all := manifest.Manifest("accel.gpu", "econ.hold_balance", "econ.transfer", "exec.spawn", "oracle.llm", "storage.blob", "storage.kv", "timer.schedule")
	for i, from := range []chain.Address{alice, bob, mallory} {
		d := actor.Deployment{Source: []byte(rover()), Salt: []byte{byte(i)}, Manifest: all}
		tx := *w.tx(from, nil, 300*chain.WeiPerCBY, actor.AppendPayload(nil, &d)).Tx
		tx.CyclesLimit, tx.CellsLimit = 2_000_000, 100_000
		w.must(w.verified(from, tx))
		r.rovers = append(r.rovers, actor.AddressOf(from, d.Salt, d.Source))
		w.must(w.tx(alice, &r.rovers[i], 0, actor.AppendMessage(nil, "grow", null)))
	}
	every := slices.IndexFunc(asked, func(a [2]string) bool { return a[0] == "set_interval" })
	for i := range r.rovers { // so that timers fire whatever the dice say
		args := slices.Concat(cbor.AppendArray(nil, 3), uintOf(uint64(5+i)), text("go"), r.orders(2))
		order := slices.Concat(cbor.AppendArray(nil, 1), cbor.AppendArray(nil, 2), uintOf(uint64(every)), args)
		tx := w.tx(alice, &r.rovers[i], 0, actor.AppendMessage(nil, "go", order)) // or it fails, for what it is told to do later
		result := w.mustApply(tx)
		w.keep(&result, tx)
	}
	return r
}

func pick[T any](r *random, from []T) T { return from[r.rng.IntN(len(from))] }

func (r *random) who() chain.Address {
	system := chain.SystemAddress(uint16(1 + r.rng.IntN(0x20)))
	return pick(r, []chain.Address{alice, bob, mallory, proposer, r.target, r.rovers[0], r.rovers[1], r.rovers[2], system, {}})
}

func (r *random) number() uint64 {
	now := uint64(r.height)
	return pick(r, []uint64{0, 1, 2, 7, 100, 50_000, 1 << 20, now, now + 1, now + 2, now + 5, now + 50, 1 << 38, math.MaxInt64, math.MaxUint64, r.rng.Uint64()})
}

// thing is a value of a kind; now and then of another.
func (r *random) thing(kind byte, depth int) []byte {
	if r.rng.IntN(25) == 0 {
		kind = '*'
	}
	addr, id := r.who(), pick(r, r.ids)
	short := pick(r, []uint64{0, 1, 3, 50})
	switch kind {
	case 'a':
		return pick(r, [][]byte{bytesOf(addr[:]), text("0x" + hex.EncodeToString(addr[:])), null})
	case 't', 'i':
		return pick(r, [][]byte{bytesOf(id[:]), text("0x" + hex.EncodeToString(id[:]))})
	case 'h':
		return text(pick(r, []string{"go", "go", "go", "tick", "grow", "getGasBid", "", "no", strings.Repeat("h", 300)}))
	case 'k':
		return text(pick(r, []string{"k", "key", "", "storage.kv", "0", strings.Repeat("k", 70)}))
	case 'v', 'E':
		return uintOf(pick(r, []uint64{0, short, short, r.number()}))
	case 'c':
		return uintOf(pick(r, []uint64{0, 30_000, 60_000, 200_000, r.number()}))
	case 'H':
		return uintOf(pick(r, []uint64{uint64(r.height) + 1 + short, uint64(r.height) + 2, r.number()}))
	case 'n':
		return uintOf(pick(r, []uint64{short, r.number()}))
	case 's', 'b':
		return bytesOf(make([]byte, pick(r, []int{0, 1, 20, 32, 33, 48, 64, 65, 96, 2000})))
	case 'u':
		return pick(r, [][]byte{null, bytesOf([]byte("def go(msg):\n    return 1\n")), bytesOf([]byte("while True:\n    pass\n")), bytesOf([]byte("("))})
	case 'e':
		return pick(r, [][]byte{null, {0x80}, r.anything(2)})
	case 'p', 'o':
		return r.orders(depth - 1)
	}
	return r.anything(3)
}

// orders is what a rover is told.
func (r *random) orders(depth int) []byte {
	n := 0
	if depth > 0 {
		n = r.rng.IntN(5)
	}
	b := cbor.AppendArray(nil, n)
	for range n {
		i := r.rng.IntN(len(asked))
		kinds := asked[i][1]
		kinds = kinds[:len(kinds)-r.rng.IntN(min(len(kinds), 3))]
		b = cbor.AppendArray(cbor.AppendUint(cbor.AppendArray(b, 2), uint64(i)), len(kinds))
		for j := range kinds {
			b = append(b, r.thing(kinds[j], depth)...)
		}
	}
	return b
}

// anything is an item of the profile.
func (r *random) anything(depth int) []byte {
	kind := r.rng.IntN(9)
	if depth == 0 {
		kind = r.rng.IntN(7)
	}
	switch kind {
	case 0:
		return uintOf(r.number())
	case 1:
		return cbor.AppendInt(nil, -1-int64(r.rng.Uint64()>>(1+r.rng.IntN(63))))
	case 2:
		return null
	case 3:
		return cbor.AppendBool(nil, r.rng.IntN(2) == 0)
	case 4:
		return cbor.AppendFloat(nil, pick(r, []float64{0, -1.5, 1e300, 0.1}))
	case 5:
		return r.thing(pick(r, []byte("athkb")), 0)
	case 6:
		return pick(r, items()).data // often malformed
	case 7:
		n := r.rng.IntN(4)
		b := cbor.AppendArray(nil, n)
		for range n {
			b = append(b, r.anything(depth-1)...)
		}
		return b
	}
	n := r.rng.IntN(3)
	b := cbor.AppendMap(nil, n)
	for i := range n {
		b = append(cbor.AppendUint(b, uint64(i)), r.anything(depth-1)...)
	}
	return b
}

// argument is one of a row, mostly of its type.
func (r *random) argument(a chain.Arg) []byte {
	if a.Optional && r.rng.IntN(2) == 0 {
		return null
	}
	addr, id := r.who(), pick(r, r.ids)
	switch a.Type {
	case chain.ArgUint, chain.ArgAmount:
		return uintOf(r.number())
	case chain.ArgBool:
		return cbor.AppendBool(nil, r.rng.IntN(2) == 0)
	case chain.ArgText, chain.ArgHandler:
		return r.thing('h', 0)
	case chain.ArgAddress:
		return bytesOf(addr[:])
	case chain.ArgHash:
		return bytesOf(id[:])
	case chain.ArgBytes:
		return pick(r, [][]byte{bytesOf(r.orders(2)), r.thing('b', 0)})
	}
	return r.anything(3)
}

// tx is somebody's next transaction.
func (r *random) tx(from chain.Address) *chain.VerifiedTx {
	rows := chain.InstructionTable()
	row := &rows[r.rng.IntN(len(rows))]
	tx := chain.Tx{
		Nonce: r.nonces[from], Value: chain.Wei(pick(r, []uint64{0, 0, 0, 1, 1 << 20})),
		CyclesLimit: chain.Cycles(pick(r, []uint64{21_000, 200_000, 100_000 + r.rng.Uint64N(1_900_000), 700_000, 950_000, 2_000_000})),
		CellsLimit:  chain.Cells(pick(r, []uint64{200, 20_000, 100_000, 100_000})),
	}
	switch n := r.rng.IntN(10); {
	case n < 5:
		to := pick(r, r.rovers)
		tx.To, tx.Payload = &to, actor.AppendMessage(nil, "go", r.orders(3))
	case n < 8 && row.Kind == chain.KindSystem:
		var args [][]byte
		for _, a := range row.Args {
			args = append(args, r.argument(a))
		}
		to := row.To
		tx.To, tx.Payload, tx.CyclesLimit = &to, payload(row.Opcode, args...), min(tx.CyclesLimit, 450_000)
	case n == 8:
		in := r.instances()[row.Name]
		args := slices.Clone(in.args)
		if len(args) > 0 {
			args[r.rng.IntN(len(args))] = r.anything(3)
		}
		tx.Payload = rowPayload(row, args)
		if to := row.To; row.Kind == chain.KindSystem {
			tx.To = &to
		}
	default:
		to := r.who()
		tx.To, tx.Payload = &to, r.anything(3)
	}
	if len(tx.Payload) > 100_000 {
		tx.Payload = nil
	}
	return r.verified(from, tx)
}

// block makes a block of what of some transactions may stand in it, in all ways of
// execution.
func (r *random) block() error {
	senders := []chain.Address{alice, bob, mallory}
	var txs []*chain.VerifiedTx
	for range r.rng.IntN(6) {
		from := pick(r, senders)
		txs = append(txs, r.tx(from))
		r.nonces[from]++
	}
	slices.SortStableFunc(txs, func(a, b *chain.VerifiedTx) int { return int(a.Lane) - int(b.Lane) })
	s, err := exec.Build(r.state, r.inputs(), &order.Selection{Txs: txs}, exec.Watch{})
	for i, bad := range s.Skipped {
		if i == 0 {
			r.met["refused"]++
		}
		r.met[fmt.Sprintf("refused for %T", bad.Err)]++
	}
	if err != nil {
		return err
	}
	want := render(s.Result, nil)
	for i, x := range r.executors {
		if got := render(x.Apply(r.state, r.inputs(), s.Kept)); got != want {
			return fmt.Errorf("executor %d: %s, want %s", i, got, want)
		}
	}
	if err := r.conserves(&s.Result); err != nil {
		return err
	}
	for i := range s.Receipts {
		receipt := &s.Receipts[i]
		r.met[chain.CodeName(receipt.Code)]++
		if receipt.Lane == chain.LaneTimer {
			r.met["fired"]++
		}
		if len(receipt.Output) == 34 {
			r.ids = append(r.ids[max(0, len(r.ids)-20):], chain.Hash(receipt.Output[2:]))
		}
		for _, e := range receipt.Events {
			r.met["event "+e.Name]++
		}
	}
	if len(s.Defects) > 0 {
		return fmt.Errorf("defect of the machine: %+v", s.Defects[0])
	}
	r.keep(&s.Result, s.Kept...)
	for _, from := range senders {
		a, _, err := r.state.Account(from)
		if err != nil {
			return err
		}
		r.nonces[from] = a.Nonce
	}
	return nil
}

// TestRandomBlocks makes blocks of what people might send who read the tables and
// ignore the rules: nothing faults, all ways of execution agree, and money is
// conserved. `-args -for=10m -seed=7` for more; a chain ends after 200 blocks.
func TestRandomBlocks(t *testing.T) {
	began := time.Now()
	for n := *seed; n == *seed || time.Since(began) < *duration; n++ {
		blocks := 60
		if *duration > 0 {
			blocks = 200
		}
		r := newRandom(t, n)
		for range blocks {
			if err := r.block(); err != nil {
				t.Fatalf("-seed=%d, block %d: %v", n, r.height+1, err)
			}
		}
		if n == *seed {
			t.Log(r.met)
			for _, what := range []string{"ok", "refused", "fired", "reverted", chain.CodeName(chain.CodeCyclesExhausted), chain.CodeName(chain.CodeBadArgument)} {
				if r.met[what] == 0 {
					t.Errorf("-seed=%d never met %q", n, what)
				}
			}
		}
	}
}
