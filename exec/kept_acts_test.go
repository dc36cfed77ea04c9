package exec_test

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/entitlements"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/token"
)

// builder makes nodes keep as much as it can in as many ways as there are: n times, of m
// bytes each.
const builder = `
from cowboy_sdk import *

def ident(n, i):
    return "0x77%030x%08x" % (n, i)

def seed():
    storage["seq"] = (storage.get("seq") or 0) + 1
    return storage["seq"]

@public
def init(msg):
    for i in range(msg.payload or 0):
        storage["own%d" % i] = i

@public
def act(msg):
    out = None
    for op, a, b, n, m in msg.payload:
        try:
            out = one(op, a, b, n, m)
        except (CowboyError, ValueError, TypeError, OverflowError, KeyError):
            pass
    return out

@public
def loudly(msg):
    for op, a, b, n, m in msg.payload:
        one(op, a, b, n, m)

@public
def quiet(msg):
    pass

@public
def loud(msg):
    emit_event("e", msg.payload)

@public
def fail(msg):
    act(msg)
    raise RuntimeError("as told")

def one(op, a, b, n, m):
    k = seed()
    if op == 0:
        for i in range(n):
            storage["%d.%d" % (k, i)] = "x" * m
    elif op == 1:
        for i in range(n):
            storage["over"] = "x" * (m * i % (m + 1))
    elif op == 2:
        for i in range(n):
            storage["own%d" % i] = "y" * m
            if i % 2:
                del storage["own%d" % i]
    elif op == 3:
        storage["token"] = token_create("n" * min(64, m), "T%d" % k, n % 19, 1_000_000, 2_000_000 if n % 2 else None, a if n % 3 == 0 else None)
        emit_event("name", storage["token"])
    elif op == 4:
        for i in range(n):
            token_approve(storage["token"], ident(k, i), m)
    elif op == 5:
        for i in range(n):
            token_transfer(storage["token"], ident(k, i), 1)
    elif op == 6:
        token_transfer_batch(storage["token"], [(ident(k, i), 1) for i in range(n)])
    elif op == 7:
        for i in range(n):
            token_freeze(storage["token"], ident(k, i))
        token_mint(storage["token"], ident(k, 9999), 1)
        token_set_hook(storage["token"], a)
    elif op == 8:
        for i in range(n):
            emit_event("child", bytes.fromhex(spawn(("%d.%d" % (k, i)).encode(), init=n)[2:]))
    elif op == 9:
        for i in range(n):
            spawn(b"", "from cowboy_sdk import public\n@public\ndef quiet(msg):\n    return %d\n#%s" % (k * 1000 + i, "x" * m), value=n % 3)
    elif op == 10:
        for i in range(n):
            storage["timer"] = set_timer(current_block() + 2 + i * (1 + m % 97), ("quiet", "loud")[i % 2], "x" * m)
            emit_event("name", storage["timer"])
    elif op == 11:
        for i in range(n):
            schedule_timer_ex(current_block() + 2 + 100_003 * (m % 5) + i, "loud", "x" * m, every=m % 4, gba=a if i % 2 else None, target=a, cycles_limit=60_000, cells_limit=200 + m)
    elif op == 12:
        for i in range(n):
            extend_timer(storage["timer"], current_block() + 300 + i * 50_021)
    elif op == 13:
        for i in range(n):
            cancel_timer(set_timer(current_block() + 9_000 * i + 2, "quiet", "x" * m))
    elif op == 14:
        for i in range(n):
            create_deferred_tx(a if i % 2 else ident(k, i), "loud", "x" * m, current_block() + 1 + i % 5, 0, 20_000, 1 + m)
    elif op == 15:
        for i in range(n):
            create_deferred_tx(ident(k, i % 2), "x" * min(m, 256), None, current_block() + 1 + i % 3, 1, 1, 1)
    elif op == 16:
        for i in range(n):
            send(a if i % 2 else ident(k, i), "x" * m, "loud", value=i % 2, cycles=20_000)
    elif op == 17:
        for i in range(n):
            call(a, "loud", "x" * m, cycles_limit=60_000)
    elif op == 18:
        for i in range(n):
            emit_event("e" * min(64, 1 + m), "x" * m)
    elif op == 19:
        for i in range(n):
            emit_event("name", blob_commit((b"%d.%d" % (k, i)) + b"x" * m))
    elif op == 20:
        blob_commit(blob_get(b))
    elif op == 21:
        for i in range(n):
            transfer(ident(k, i), 1)
    elif op == 22:
        for i in range(n):
            rent.sponsor(a, 1 + i)
        rent.prepay(1 + m % 5)
        storage.bond(m * 1000)
    elif op == 23:
        for i in range(n):
            call(a, "fail", [[op2, a, b, n, m] for op2 in (0, 10, 14, 18)], cycles_limit=200_000)
    elif op == 24:
        with open("/tmp/%d" % k, "wb") as f:
            f.write(b"x" * m * n)
    elif op == 25:
        return "x" * m
    elif op == 26:
        storage.restore(a, {"%d" % i: "x" * m for i in range(n)})
    elif op == 27:
        for i in range(n):
            send(a, [[0, a, b, 1, m]], "act", cycles=150_000)
    elif op == 28:
        for i in range(n):
            create_deferred_tx(a, "act", [[0, a, b, 2, m], [10, a, b, 1, m]], current_block() + 1, 0, 150_000, 3 * m + 2_000)
    elif op == 29:
        raise MemoryError("as told")
    elif op == 30:
        token_approve(storage["token"], a, m)
        token_transfer_from(storage["token"], a, ident(k, 0), 1)
        token_transfer_ownership(storage["token"], a)
    elif op == 31:
        for i in range(n):
            transfer(a, 1)

@public
def can_transfer(msg):
    emit_event("asked", None)
    return True

@public
def on_transfer(msg):
    storage["told%d" % msg.payload["amount"]] = 1
`

const builderActs = 32

var (
	manyTimes = []uint64{0, 1, 1, 2, 5, 20, 60}
	manyBytes = []uint64{0, 1, 10, 31, 100, 500, 3_000, 20_000}
)

// build deploys a builder with the largest manifest, or a small one.
func (w *wild) build() *chain.VerifiedTx {
	from := anyOf(&w.pick, w.people)
	ids := []string{"econ.hold_balance", "econ.transfer", "exec.spawn", "storage.blob", "storage.kv", "timer.schedule"}
	grants := manifest.Grants{}
	for _, id := range ids {
		grants = append(grants, manifest.Grant{ID: id})
	}
	if w.pick.one(2) {
		var domains []string
		for i := range 1 + w.pick.n(28) {
			domains = append(domains, fmt.Sprintf("a%060d.b%060d.c%060d.d%060d", i, i, i, i))
		}
		http := manifest.Grant{ID: manifest.HTTP, Params: []manifest.Param{{Name: manifest.Domains, List: domains, Kind: manifest.ParamList}}}
		grants = slices.Insert(grants, 3, http) // behind exec.spawn
	}
	d := actor.Deployment{
		Source: []byte(builder + "#" + strings.Repeat("x", w.pick.n(256)*w.pick.n(40))), Salt: []byte{byte(len(w.herd)), byte(w.pick.n(250))},
		Manifest: grants.Append(cbor.AppendText(cbor.AppendMap(nil, 1), "entitlements")),
		Init:     &actor.Init{Handler: "init", Payload: cbor.AppendUint(nil, uint64(w.pick.n(20)))},
	}
	at := actor.AddressOf(from, d.Salt, d.Source)
	w.herd, w.builders = append(w.herd, at), append(w.builders, at)
	tx := w.tx(from, nil, actor.AppendPayload(nil, &d))
	tx.Tx.Value, tx.Tx.CyclesLimit = 100_000*chain.WeiPerCBY, w.g.Params.MaxTxCycles
	return verified(tx.Tx, from)
}

// design is what a builder does.
func (w *wild) design() []byte {
	b := cbor.AppendArray(nil, 1+w.pick.n(3))
	for range b[0] & 0x1f {
		to := w.someone()
		if !w.pick.one(3) {
			to = anyOf(&w.pick, w.builders)
		}
		b = cbor.AppendUint(cbor.AppendArray(b, 5), uint64(w.pick.n(builderActs)))
		b = cbor.AppendBytes(cbor.AppendBytes(b, to[:]), w.name())
		b = cbor.AppendUint(cbor.AppendUint(b, anyOf(&w.pick, manyTimes)), anyOf(&w.pick, manyBytes))
	}
	return b
}

// growth is a transaction that makes all nodes keep something.
func (w *wild) growth() *chain.VerifiedTx {
	from := anyOf(&w.pick, w.people)
	var tx *chain.VerifiedTx
	switch k := w.pick.n(12); {
	case k == 0 || len(w.builders) < 3:
		return w.build()
	case k < 7:
		to := anyOf(&w.pick, w.builders)
		tx = w.tx(from, &to, actor.AppendMessage(nil, anyOf(&w.pick, []string{"act", "act", "act", "fail"}), w.design()))
	case k == 7:
		to := w.stranger()
		tx = w.tx(from, &to, make([]byte, anyOf(&w.pick, manyBytes)))
		if w.pick.one(2) {
			tx.Tx.Payload = nil
		}
		tx.Tx.Value = chain.Wei(w.pick.n(2))
		tx.Tx.AccessList = w.list()
	default:
		by, to, payload := w.instruction()
		if slices.Contains(w.people, by) {
			from = by
		}
		tx = w.tx(from, &to, payload)
		if to == chain.AddrActors {
			tx.Tx.Value = []chain.Wei{0, 10 * chain.WeiPerCBY}[w.pick.n(2)]
		}
	}
	tx.Tx.CyclesLimit = []chain.Cycles{60_000, 300_000, 1_000_000, 1_900_000}[w.pick.n(4)]
	tx.Tx.CellsLimit = []chain.Cells{2_000, 30_000, 100_000, 300_000}[w.pick.n(4)]
	return verified(tx.Tx, from)
}

// stranger is an address that was never seen.
func (w *wild) stranger() (a chain.Address) {
	w.strangers++
	a[0], a[17], a[18], a[19] = 0x78, byte(w.strangers>>16), byte(w.strangers>>8), byte(w.strangers)
	return a
}

// list is an access list.
func (w *wild) list() (list []chain.AccessEntry) {
	for i := range anyOf(&w.pick, manyTimes) {
		e := chain.AccessEntry{Address: chain.Address{0: 9, 19: byte(i)}}
		for k := range w.pick.n(4) {
			e.Keys = append(e.Keys, chain.Hash{0: byte(i), 1: byte(k)})
		}
		list = append(list, e)
	}
	return list
}

// instruction is one of a system account, with arguments that are mostly sound.
func (w *wild) instruction() (from, to chain.Address, payload []byte) {
	args := func(op uint64, list ...[]byte) []byte {
		return append(cbor.AppendUint(cbor.AppendArray(nil, 1+len(list)), op), slices.Concat(list...)...)
	}
	raw := func(b []byte) []byte { return cbor.AppendBytes(nil, b) }
	num := func(n int) []byte { return cbor.AppendUint(nil, uint64(n)) }
	amount := chain.AppendAmount(nil, chain.Amount{Lo: uint64(w.pick.n(5))})
	new, someone, one := w.stranger(), w.someone(), anyOf(&w.pick, w.builders)
	id := anyOf(&w.pick, w.tokens)
	bytes := make([]byte, min(2_000, anyOf(&w.pick, manyBytes)))
	name := fmt.Sprintf("%.64s", fmt.Sprint(w.strangers, ".", hex.EncodeToString(bytes)))
	scope := entitlements.Scope{Kind: entitlements.ScopeNamespace, Name: name[:min(len(name), 1+w.pick.n(64))]}
	if w.pick.one(2) {
		scope = entitlements.Scope{Kind: entitlements.ScopeActor, Name: string(one[:])}
	}
	action := entitlements.Action{Kind: entitlements.ActionActorExecuteHandler, Name: name}
	if scope.Kind == entitlements.ScopeNamespace {
		action = entitlements.Action{}
	}
	limits := (&entitlements.Constraints{Until: chain.Height(w.pick.n(2)) << 40, Irrevocable: w.pick.one(2)}).Append(nil)
	timer := w.name()
	from = anyOf(&w.pick, w.people)
	owner, creator := from, from // mostly of who may do this
	if tok, err := token.Read(w.ground, id); err == nil && tok != nil && tok.Owner != nil && !w.pick.one(8) {
		owner = *tok.Owner
	}
	if rec, err := actor.ReadRecord(w.ground, one); err == nil && rec != nil && !w.pick.one(8) {
		creator = rec.Creator
	}
	switch w.pick.n(17) {
	case 0:
		return from, chain.AddrTokens, args(chain.OpTokenApprove, raw(id[:]), raw(new[:]), amount)
	case 1:
		return owner, chain.AddrTokens, args(chain.OpTokenMint, raw(id[:]), raw(new[:]), amount)
	case 2:
		return owner, chain.AddrTokens, args(chain.OpTokenFreeze, raw(id[:]), raw(new[:]))
	case 3:
		n := 1 + int(anyOf(&w.pick, manyTimes))
		pairs := cbor.AppendArray(nil, n)
		for range n {
			to := w.stranger()
			pairs = append(cbor.AppendBytes(cbor.AppendArray(pairs, 2), to[:]), chain.AppendAmount(nil, chain.Amount{Lo: 1})...)
		}
		return owner, chain.AddrTokens, args(chain.OpTokenBatch, raw(id[:]), pairs)
	case 4:
		return owner, chain.AddrTokens, args(chain.OpTokenOwner, raw(id[:]), raw(someone[:]))
	case 5:
		return owner, chain.AddrTokens, args(chain.OpTokenHooks, raw(id[:]), raw(one[:]))
	case 6:
		return from, chain.AddrTokens, args(chain.OpTokenCreate, cbor.AppendText(nil, name), cbor.AppendText(nil, name[:min(len(name), 11)]), num(2), chain.AppendAmount(nil, chain.Amount{Lo: 1 << 40}), cbor.AppendNull(nil), cbor.AppendNull(nil))
	case 7, 8:
		return creator, chain.AddrEntitlements, args(chain.OpEntitlementGrant, raw(new[:]), raw(scope.Append(nil)), raw(action.Append(nil)), raw(limits))
	case 9:
		scopes := slices.Repeat([]entitlements.Scope{scope}, 1)
		actions := entitlements.AppendActions(nil, []entitlements.Action{action})
		return creator, chain.AddrEntitlements, args(chain.OpRoleCreate, raw([]byte(name)), raw(entitlements.AppendScopes(nil, scopes)), raw(actions), raw(limits))
	case 10:
		role := anyOf(&w.pick, w.roles)
		return from, chain.AddrEntitlements, args(chain.OpRoleAssign, raw(role[:]), raw(new[:]))
	case 11, 12:
		far := int(w.height) + 2 + w.pick.n(4)*60_000
		every := cbor.AppendNull(nil)
		if w.pick.one(2) {
			every = num(1 + w.pick.n(3))
		}
		return creator, chain.AddrActors, args(chain.OpTimerSchedule, raw(one[:]), num(far), every, cbor.AppendText(nil, "loud"), raw(cbor.AppendBytes(nil, bytes)))
	case 13:
		if len(timer) != 32 {
			timer = make([]byte, 32)
		}
		if w.pick.one(2) {
			return creator, chain.AddrActors, args(chain.OpTimerExtend, raw(one[:]), raw(timer), num(int(w.height)+w.pick.n(250)*1_000))
		}
		return creator, chain.AddrActors, args(chain.OpTimerCancel, raw(one[:]), raw(timer))
	case 14:
		return from, chain.AddrRent, args(chain.OpRentPrepay, raw(someone[:]), num(w.pick.n(4)))
	case 15:
		return from, chain.AddrRent, args(chain.OpRestoreAllow, raw(new[:]), raw(someone[:]), num(1+w.pick.n(9)), num(int(w.height)+w.pick.n(9)))
	}
	return from, chain.AddrRunnerRegistry, args(chain.OpRunnerUnstake, num(1+w.pick.n(3)))
}
