package exec_test

import (
	"encoding/hex"
	"slices"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/rent"
	"github.com/cowboy-foundation/cowboy/state"
	stored "github.com/cowboy-foundation/cowboy/state/rent"
)

// prowler does what its message says with whatever it names, and goes on after every
// refusal.
const prowler = `
from cowboy_sdk import *

@actor
class Prowler:
    @public
    def init(self, msg):
        self.storage["fat"] = "x" * (msg.payload or 300)
        try:
            emit_event("name", blob_commit(self.address.encode()))
        except CowboyError:
            pass

    @public
    def act(self, msg):
        for op, a, b, n, more in msg.payload:
            try:
                self.one(op, a, b, n, more)
            except (CowboyError, ValueError, TypeError, OverflowError, KeyError):
                pass

    def one(self, op, a, b, n, more):
        if op == 0:
            self.storage["seen"] = blob_get(b)
        elif op == 1:
            emit_event("name", blob_commit(b"x" * n))
        elif op == 2:
            return get_actor(a), get_balance(a), rent.status(a)
        elif op == 3:
            transfer(a, n)
        elif op == 4:
            call(a, "act", more, cycles_limit=200_000, value=n % 3)
        elif op == 5:
            send(a, more, "act", value=n % 3, cycles=60_000)
        elif op == 6:
            create_deferred_tx(a, "act", more, height=current_block() + 1 + n % 5, value=n % 3, cycles_limit=60_000, cells_limit=2_000)
        elif op == 7:
            t = schedule_timer_ex(current_block() + 1 + n % 5, "tick", b, every=n % 3, gba=a if n % 2 else None, target=a, cycles_limit=60_000, cells_limit=2_000)
            self.storage["timer"] = t
        elif op == 8:
            token_transfer(b, a, n)
        elif op == 9:
            token_create("Wild", "WLD", 0, n + 100, None, a if n % 2 else None)
        elif op == 10:
            storage.restore(a, {"__blob:" + b.hex(): b if n % 2 else "text", "fat": n})
            self.storage["seen"] = blob_get(b)
        elif op == 11:
            emit_event("child", bytes.fromhex(spawn(bytes([n % 256]), init=300 + n)[2:]))
        elif op == 12:
            self.storage["k" + str(n % 7)] = b * (n % 50)
        elif op == 13:
            return storage.scan("", 50), storage.get("__blob:" + b.hex())
        elif op == 14:
            rent.sponsor(a, n % 4)
        elif op == 15:
            storage.bond(n * 1000)
        elif op == 16:
            token_set_hook(b, a)
            token_approve(b, a, n)
        elif op == 17:
            token_transfer_from(b, a, self.address, n)
        elif op == 18:
            extend_timer(self.storage["timer"], current_block() + n)
            cancel_timer(b)
        elif op == 19:
            storage.restore(a, more)
        else:
            raise RuntimeError("as told")

    @public
    def tick(self, msg):
        self.storage["seen"] = blob_get(msg.payload)

    @public
    def getGasBid(self, msg):
        return {"tip": msg.payload["current_block_height"] % 3}

    @public
    def can_transfer(self, msg):
        return msg.payload["amount"] % 3 != 0

    @public
    def on_transfer(self, msg):
        self.storage["told"] = msg.payload["amount"]
`

const prowlerActs = 21

func (w *wild) tx(from chain.Address, to *chain.Address, payload []byte) *chain.VerifiedTx {
	tx := w.program(from, to, payload).Tx
	tx.CyclesLimit, tx.CellsLimit = 1_000_000, 100_000
	return verified(tx, from)
}

// birth deploys another prowler, with some of the grants.
func (w *wild) birth() *chain.VerifiedTx {
	ids := []string{"econ.hold_balance", "econ.transfer", "exec.spawn", "storage.blob", "storage.kv", "timer.schedule"}
	keep := len(w.herd) < 2 // who stay awake
	if !keep && w.pick.one(4) {
		ids = slices.Delete(ids, 0, 1+w.pick.n(3))
	}
	from := anyOf(&w.pick, w.people)
	d := actor.Deployment{Source: []byte(prowler), Salt: []byte{byte(len(w.herd)), byte(w.pick.n(250))}, Manifest: manifest.Manifest(ids...)}
	d.Init = &actor.Init{Handler: "init", Payload: cbor.AppendUint(nil, uint64(w.pick.n(2_000)))}
	if keep {
		d.Init.Payload = cbor.AppendUint(nil, 1)
	}
	w.herd = append(w.herd, actor.AddressOf(from, d.Salt, d.Source))
	tx := w.tx(from, nil, actor.AppendPayload(nil, &d))
	tx.Tx.Value, tx.Tx.CyclesLimit = 0, 3_000_000
	if ids[0] == "econ.hold_balance" {
		tx.Tx.Value = []chain.Wei{0, 1, 100_000, 1_000_000 * chain.WeiPerCBY}[w.pick.n(4)]
	}
	if keep {
		tx.Tx.Value = 1_000_000 * chain.WeiPerCBY
	}
	return verified(tx.Tx, from)
}

// someone is an actor, a person, a system account or nobody.
func (w *wild) someone() chain.Address {
	switch w.pick.n(12) {
	case 0:
		return anyOf(&w.pick, w.people)
	case 1:
		return []chain.Address{chain.AddrActors, chain.AddrTokens, chain.AddrMailbox, {0x77}}[w.pick.n(4)]
	}
	return anyOf(&w.pick, w.herd)
}

// name is that of a blob, a token, a timer, or of nothing.
func (w *wild) name() []byte {
	switch {
	case w.pick.one(3) && len(w.forged) > 0:
		return anyOf(&w.pick, w.forged)
	case w.pick.one(3) && len(w.tokens) > 0:
		id := anyOf(&w.pick, w.tokens)
		return id[:]
	case w.pick.one(8) || len(w.names) == 0:
		return actor.Multihash([]byte{byte(w.pick.n(3))})
	}
	return anyOf(&w.pick, w.names)
}

// plan is what a prowler does, with plans inside.
func (w *wild) plan(levels int) []byte {
	n := 1 + w.pick.n(4)
	b := cbor.AppendArray(nil, n)
	for range n {
		op := w.pick.n(prowlerActs)
		to := w.someone()
		b = cbor.AppendUint(cbor.AppendArray(b, 5), uint64(op))
		b = cbor.AppendBytes(cbor.AppendBytes(b, to[:]), w.name())
		b = cbor.AppendUint(b, uint64(w.pick.n(700)))
		switch {
		case op == 19:
			b = w.lie(b)
		case levels > 0 && op >= 4 && op <= 6:
			b = append(b, w.plan(levels-1)...)
		default:
			b = cbor.AppendNull(b)
		}
	}
	return b
}

// lie is a dict that a program restores, under a reserved name.
func (w *wild) lie(b []byte) []byte {
	b = cbor.AppendMap(b, 1)
	b = cbor.AppendText(b, anyOf(&w.pick, []string{"__blob:", "__continuation", "fat"})+hex.EncodeToString(w.name()))
	return cbor.AppendBytes(b, w.name())
}

// act is any transaction.
func (w *wild) act() *chain.VerifiedTx {
	from := anyOf(&w.pick, w.people)
	switch k := w.pick.n(20); {
	case k == 0:
		return w.birth()
	case k < 9:
		to := anyOf(&w.pick, w.herd)
		if a := w.ground.Accounts[to]; stored.Dormant(&a) {
			w.did["dormant target"]++
		}
		tx := w.tx(from, &to, actor.AppendMessage(nil, "act", w.plan(2)))
		tx.Tx.Value = chain.Wei(w.pick.n(3))
		return verified(tx.Tx, from)
	case k < 15:
		return w.restoration(from)
	case k < 17 && len(w.tokens) > 0:
		id, to := anyOf(&w.pick, w.tokens), w.someone()
		b := cbor.AppendBytes(cbor.AppendUint(cbor.AppendArray(nil, 4), chain.OpTokenTransfer), id[:])
		b = chain.AppendAmount(cbor.AppendBytes(b, to[:]), chain.Amount{Lo: uint64(w.pick.n(5))})
		return w.tx(from, &chain.AddrTokens, b)
	case k == 17: // a token of a person's, with a hook that may be dormant
		hook := w.someone()
		b := cbor.AppendText(cbor.AppendUint(cbor.AppendArray(nil, 7), chain.OpTokenCreate), "Tame")
		b = cbor.AppendUint(cbor.AppendText(b, "TME"), 0)
		b = cbor.AppendNull(chain.AppendAmount(b, chain.Amount{Lo: 1000}))
		return w.tx(from, &chain.AddrTokens, cbor.AppendBytes(b, hook[:]))
	case k == 18:
		at := w.someone()
		b := cbor.AppendBytes(cbor.AppendUint(cbor.AppendArray(nil, 6), chain.OpTimerSchedule), at[:])
		b = cbor.AppendNull(cbor.AppendUint(b, uint64(w.height)+2+uint64(w.pick.n(4))))
		b = cbor.AppendBytes(cbor.AppendText(b, "tick"), cbor.AppendBytes(nil, w.name()))
		return w.tx(from, &chain.AddrActors, b)
	}
	at := w.someone()
	b := cbor.AppendBytes(cbor.AppendUint(cbor.AppendArray(nil, 2), chain.OpActorFund), at[:])
	tx := w.tx(from, &chain.AddrActors, b)
	tx.Tx.Value = []chain.Wei{1, 1_000_000, 100 * chain.WeiPerCBY}[w.pick.n(3)]
	return verified(tx.Tx, from)
}

// restoration is a step of one, by anybody, true or forged.
func (w *wild) restoration(from chain.Address) *chain.VerifiedTx {
	of := w.someone()
	for range 3 { // mostly of one that is dormant
		if a := w.ground.Accounts[of]; stored.Dormant(&a) {
			break
		}
		of = anyOf(&w.pick, w.herd)
	}
	next := w.pick.n(9)
	if rec, err := stored.RecordOf(w.ground, of); err == nil && !w.pick.one(4) { // what would go on
		size, err := state.NewOverlay(w.ground).StorageSize(of)
		if err != nil {
			w.t.Fatal(err)
		}
		switch {
		case rec.Restoring == nil:
			next = 0
		case size.Entries == 0:
			next = 2 + w.pick.n(4)
		case size == rec.Size:
			next = 6
		default:
			next = 8
		}
		if rec.Restoring != nil {
			from = rec.Restoring.By
		}
	}
	step := func(opcode uint64, more ...[]byte) *chain.VerifiedTx {
		b := cbor.AppendBytes(cbor.AppendUint(cbor.AppendArray(nil, 2+len(more)), opcode), of[:])
		return w.tx(from, &chain.AddrRent, append(b, slices.Concat(more...)...))
	}
	switch next {
	case 0, 1:
		return step(chain.OpRestoreBegin, cbor.AppendUint(nil, uint64(w.height)+1+uint64(w.pick.n(20))))
	case 2, 3:
		w.did["forged"]++
		return step(chain.OpRestorePut, chunkOf(rent.Arrange(w.rows(of))))
	case 4, 5:
		return step(chain.OpRestorePut, chunkOf(rent.Arrange(w.whole[of])))
	case 6:
		return step(chain.OpRestoreCommit, cbor.AppendNull(nil))
	case 7:
		return step(chain.OpRentPrepay, cbor.AppendUint(nil, uint64(w.pick.n(4))))
	}
	return step(chain.OpRestoreAbort)
}

// rows are what no program writes: under reserved keys and in other spaces, values that
// are nothing, or nearly something. The name is mostly of a blob that the actor had.
func (w *wild) rows(of chain.Address) []state.StorageChange {
	name := w.name()
	for _, s := range w.whole[of] {
		if hash, ok := strings.CutPrefix(string(s.Key[1:]), "__blob:"); ok && !w.pick.one(4) {
			name, _ = hex.DecodeString(hash)
			w.forged = append(w.forged, name)
		}
	}
	keys := []state.StorageKey{
		state.NewStorageKey(state.VMNamespacePVM, []byte("__blob:"+hex.EncodeToString(name))),
		state.NewStorageKey(state.VMNamespacePVM, []byte("__continuation")),
		state.NewStorageKey(state.VMNamespacePVM, []byte("fat")),
		state.NewStorageKey(state.VMNamespaceSystem, append([]byte("blob/"), name...)),
		state.NewStorageKey(state.VMNamespaceSystem, append([]byte("record/"), alice[:]...)),
		state.NewStorageKey(state.VMNamespaceSystem, []byte("supply")),
		"\xff", "\x00",
	}
	values := [][]byte{
		cbor.AppendBytes(nil, name), cbor.AppendBytes(nil, []byte("forged")), cbor.AppendText(nil, "text"),
		{0xff},
		{},
		{0x5a, 0, 1, 0, 0, 1},
		{0x9f},
		cbor.AppendUint(nil, 1<<60),
		{0x60},
		name,
	}
	var out []state.StorageChange
	for range 1 + w.pick.n(4) {
		key := anyOf(&w.pick, keys)
		if slices.ContainsFunc(out, func(s state.StorageChange) bool { return s.Key == key }) {
			continue
		}
		w.did["hostile row"]++
		out = append(out, state.StorageChange{Key: key, Value: anyOf(&w.pick, values)})
	}
	return out
}
