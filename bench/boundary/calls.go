package boundary

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
	"github.com/cowboy-foundation/cowboy/crypto/vrf"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/state"
)

// call is what a program asks of the host, in a loop over i, with the targets in t.
type call struct {
	name string
	body string // one statement a line; the loop's body
	prep string // before the loop; may be empty
}

// calls are the host calls, each on what makes it dearest: the largest records for
// targets, keys that nobody has touched in the block, values as large as they may be.
func calls() []call {
	return []call{
		{name: "get_actor", body: "get_actor(t[i % len(t)])"},
		{name: "get_balance", body: "get_balance('0x77%038x' % i)"},
		{name: "get_code_hash", body: "get_code_hash()"},
		{name: "get_creator", body: "get_creator()"},
		{name: "transfer-to-actors", body: "transfer(t[i % len(t)], 1)"},
		{name: "transfer-to-new-accounts", body: "transfer('0x77%038x' % (n + i), 1)"},
		{name: "call", body: "call(t[i % len(t)], 'ping', None)"},
		{name: "call-refused", body: "try:\n    call(t[i % len(t)], 'none', None)\nexcept CowboyError:\n    pass"},
		{name: "call-without-cycles", body: "try:\n    call(t[i % len(t)], 'ping', None, 1)\nexcept CowboyError:\n    pass"},
		{name: "send", body: "send(t[i % len(t)], None, 'ping', 0, 50000)"},
		{name: "send-to-nobody", body: "send('0x77%038x' % i, None, 'ping', 0, 30000)"},
		{name: "defer", body: "create_deferred_tx(t[i % len(t)], 'ping', None, current_block() + 50 + i % 7, 0, 30000, 100)"},
		{name: "defer-to-nobody", body: "create_deferred_tx('0x77%038x' % i, 'x', None, current_block() + 50, 0, 30000, 100)"},
		{name: "spawn", body: "spawn(i.to_bytes(4, 'big'))"},
		{name: "spawn-source", body: "spawn(i.to_bytes(4, 'big'), SOURCE + str(i))"},
		{name: "spawn-twice", body: "try:\n    spawn(b'same')\nexcept CowboyError:\n    pass"},
		{name: "set_timer", body: "set_timer(current_block() + 40 + i, 'ping')"},
		{name: "set_timer-far", body: "set_timer(current_block() + 2000000 + 999 * i, 'ping')"},
		{name: "set_timer-cancel", body: "cancel_timer(set_timer(current_block() + 40, 'ping'))"},
		{name: "set_timer-cancel-far", body: "cancel_timer(set_timer(current_block() + 2000000 + i, 'ping'))"},
		{name: "set_interval", body: "set_interval(30 + i, 'ping')"},
		{name: "extend_timer", prep: "x = set_interval(30, 'ping')", body: "extend_timer(x, current_block() + 100000 + i)"},
		{name: "extend_timer-large", prep: "x = set_interval(30, 'ping', b'y' * 60000)", body: "extend_timer(x, current_block() + 100000 + i)"},
		{name: "cancel_timer-none", body: "try:\n    cancel_timer('0x%064x' % i)\nexcept CowboyError:\n    pass"},
		{name: "storage-get-none", body: "storage.get('none%d' % i)"},
		{name: "storage-get", body: "storage.get('key%d' % (i * 37 % 400))"},
		{name: "storage-get-large", body: "storage.get('large')"},
		{name: "storage-set-new", body: "storage.set('new%d' % (n + i), 1)"},
		{name: "storage-set-over", body: "storage.set('key%d' % (i % 400), i)"},
		{name: "storage-set-large", body: "storage.set('large', LARGE[i % 2])"},
		{name: "storage-delete", body: "storage.set('k', 1)\nstorage.delete('k')"},
		{name: "storage-delete-none", body: "storage.delete('none%d' % i)"},
		{name: "storage-scan-nothing", body: "storage.scan('zzz%d' % i, 100)"},
		{name: "storage-scan", body: "storage.scan('key', 100)"},
		{name: "storage-scan-one", body: "storage.scan('key', 1)"},
		{name: "emit_event", body: "emit_event('e', i)"},
		{name: "emit_event-large", body: "emit_event('e', 'x' * 1000)"},
		{name: "blob_commit", body: "blob_commit(i.to_bytes(4, 'big') * 250)"},
		{name: "blob_commit-large", body: "blob_commit(i.to_bytes(4, 'big') * 15000)"},
		{name: "blob_get", prep: "h = blob_commit(b'y' * 60000)", body: "blob_get(h)"},
		{name: "blob_get-none", body: "blob_get(bytes.fromhex('1b20') + i.to_bytes(32, 'big'))"},
		{name: "token_create", body: "token_create('n%d' % i, 'T', 2, 5)"},
		{name: "token_transfer", prep: "k = token_create('n', 'T', 2, 1000000)", body: "token_transfer(k, '0x77%038x' % i, 1)"},
		{name: "token_transfer_batch", prep: "k = token_create('n', 'T', 2, 1000000)", body: "token_transfer_batch(k, [('0x77%038x' % (i * 64 + j), 1) for j in range(64)])"},
		{name: "token_approve", prep: "k = token_create('n', 'T', 2, 1000000)", body: "token_approve(k, '0x77%038x' % i, 1)"},
		{name: "token_approve-nothing", prep: "k = token_create('n', 'T', 2, 1000000)", body: "token_approve(k, '0x77%038x' % i, 0)"},
		{name: "token_set_hook", prep: "k = token_create('n', 'T', 2, 1000000)", body: "token_set_hook(k, t[0])"},
		{name: "token_balance_of", prep: "k = token_create('n', 'T', 2, 1000000)", body: "token_balance_of(k, '0x77%038x' % i)"},
		{name: "token_allowance", prep: "k = token_create('n', 'T', 2, 1000000)", body: "token_allowance(k, '0x77%038x' % i, t[0])"},
		{name: "token_info", prep: "k = token_create('n', 'T', 2, 1000000)", body: "token_info(k)"},
		{name: "token_mint-burn", prep: "k = token_create('n', 'T', 2, 1000000)", body: "token_mint(k, get_actor_address(), 1)\ntoken_burn(k, 1)"},
		{name: "token_freeze", prep: "k = token_create('n', 'T', 2, 1000000)", body: "token_freeze(k, '0x77%038x' % i)"},
		{name: "rent-status", body: "rent.status()"},
		{name: "rent-status-other", body: "rent.status(t[i % len(t)])"},
		{name: "rent-sponsor", body: "rent.sponsor(t[i % len(t)], 1)"},
		{name: "entitlement", body: "entitlement('http.fetch')"},
		{name: "keccak256", body: "keccak256(B)", prep: "B = b'x' * 10000"},
		{name: "sha256", body: "sha256(B)", prep: "B = b'x' * 10000"},
		{name: "randomness", body: "randomness('l%d' % i)"},
		{name: "generate_id", body: "generate_id()"},
		{name: "verify_ed25519", body: "verify_ed25519(bytes(32), b'm', bytes(64))"},
		{name: "recover_address", body: "recover_address(keccak256(i.to_bytes(4, 'big')), bytes(31) + b'\\x01' + bytes(31) + b'\\x01' + b'\\x00')"},
		{name: "verify_bls", body: "verify_bls(KEY, b'message', SIGNATURE, b'namespace')"},
		{name: "verify_vrf", body: "verify_vrf(KEY, b'message', PROOF, b'namespace')"},
		{name: "derive_actor_address", body: "derive_actor_address(t[0], b's', bytes(32))"},
		{name: "current_block", body: "current_block()"},
	}
}

// fat is a target: a small program with the largest manifest there may be.
const fat = `
from cowboy_sdk import actor, public

@actor
class Fat:
    @public
    def ping(self, msg):
        pass
`

// caller is the program that makes calls.
func (c *call) source() string {
	indent := func(s, by string) string { return by + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n"+by) }
	var b strings.Builder
	b.WriteString("from cowboy_sdk import *\n")
	b.WriteString("LARGE = ['x' * 60000, 'y' * 60000]\nSOURCE = 'from cowboy_sdk import public\\n@public\\ndef ping(msg):\\n    return [' + 'a,' * 2000 + ']\\n#'\n")
	b.WriteString(pairing())
	b.WriteString("@public\ndef init(msg):\n    for i in range(400):\n        storage.set('key%d' % i, i)\n    storage.set('large', LARGE[0])\n")
	b.WriteString("@public\ndef ping(msg):\n    pass\n")
	fmt.Fprintf(&b, "@public\ndef go(msg):\n    n, t = msg.payload\n")
	if c.prep != "" {
		b.WriteString(indent(c.prep, "    ") + "\n")
	}
	b.WriteString("    for i in range(n):\n" + indent(c.body, "        ") + "\n")
	return b.String()
}

// pairing are a key with a signature and a proof that hold: what does not is refused
// earlier.
func pairing() string {
	key, err := bls.NewSecretKey([]byte("thirty-two bytes of key material"))
	if err != nil {
		return ""
	}
	public, signature := key.PublicKey().Bytes(), key.Sign([]byte("namespace"), []byte("message"))
	proof, _ := vrf.Prove(key, []byte("namespace"), []byte("message"))
	return fmt.Sprintf("KEY = bytes.fromhex('%x')\nSIGNATURE = bytes.fromhex('%x')\nPROOF = bytes.fromhex('%x')\n", public[:], signature[:], proof[:])
}

// wanted are the cycles that a case of a call should use: enough that what a message
// takes without it hardly counts.
const wanted = 500_000

// CallCases are the cases of all host calls.
func CallCases() (list []Case) {
	for _, c := range calls() {
		list = append(list, Case{Name: c.name, Group: GroupCall, Setup: func(g *Ground) (func() []*chain.VerifiedTx, error) {
			targets, err := g.fatTargets()
			if err != nil {
				return nil, err
			}
			return g.looped(&c, targets)
		}})
	}
	return slices.Concat(list, []Case{raising()}, wideCases(), keptCases())
}

// raising calls an actor whose exception takes for ever to say what it is: nobody in a
// block asks.
func raising() Case {
	return Case{Name: "call-raises", Group: GroupCall, Setup: func(g *Ground) (func() []*chain.VerifiedTx, error) {
		at, err := g.Deploy(`from cowboy_sdk import public
class Endless(Exception):
    def __str__(self):
        while True:
            pass
@public
def ping(msg):
    raise Endless()
`, "raises", EncodeManifest(All()), nil, 0)
		if err != nil {
			return nil, err
		}
		return g.looped(&call{name: "call-raises", body: "try:\n    call(t[0], 'ping', None, 400000)\nexcept CowboyError:\n    pass"}, array(raw(at[:])))
	}}
}

// wideCases are calls of programs with as many names and constants as a source has room
// for, which each call makes ready.
func wideCases() (list []Case) {
	for _, w := range []struct{ name, head, unit string }{
		{"call-wide-numbers", "def never(a):\n return [", "%d,"},
		{"call-wide-texts", "def never(a):\n return [", "'%x',"},
		{"call-wide-floats", "def never(a):\n return [", "%d.5,"},
		{"call-wide-names", "def never(a):\n return [", "a%d,"},
		{"call-wide-functions", "x = [", "lambda:%d,"},
	} {
		list = append(list, Case{Name: w.name, Group: GroupCall, Setup: func(g *Ground) (func() []*chain.VerifiedTx, error) {
			at, _, err := g.deployLargest(func(bytes int) *actor.Deployment {
				b := []byte("from cowboy_sdk import public\n@public\ndef ping(msg):\n    pass\n" + w.head)
				for i := 0; len(b) < bytes; i++ {
					b = fmt.Appendf(b, w.unit, i+1_000)
				}
				return &actor.Deployment{Source: append(b, "]\n"...), Salt: []byte(w.name), Manifest: EncodeManifest(All())}
			}, 60_000, 40_000, 20_000)
			if err != nil {
				return nil, err
			}
			_, load, err := actor.LoadOf(state.NewOverlay(g.State), at)
			if err != nil {
				return nil, err
			}
			defer func(was uint64) { g.wanted = was }(g.wanted)
			g.wanted = uint64(load) + 3*wanted
			return g.looped(&call{name: w.name, body: fmt.Sprintf("call(t[0], 'ping', None, %d)", load+wanted)}, array(raw(at[:])))
		}})
	}
	return list
}

// fatTargets makes the actors with the largest records, once.
func (g *Ground) fatTargets() ([]byte, error) {
	if g.targets != nil {
		return g.targets, nil
	}
	var items [][]byte
	for i := range targetsCount {
		a, size, err := g.deployLargest(func(bytes int) *actor.Deployment {
			return &actor.Deployment{Source: []byte(fat), Salt: fmt.Append(nil, "fat", i), Manifest: FatManifest(bytes)}
		}, 60_000, 8_000, 2_000)
		if err != nil {
			return nil, err
		}
		items, g.manifest = append(items, raw(a[:])), size
	}
	g.targets = array(items...)
	return g.targets, nil
}

const targetsCount = 10

// deployLargest makes an actor of the first size that is not refused.
func (g *Ground) deployLargest(of func(bytes int) *actor.Deployment, sizes ...int) (a chain.Address, size int, err error) {
	for _, size := range sizes {
		d := of(size)
		r, e := g.Block(g.Tx(Alice, nil, d.Value, actor.AppendPayload(nil, d), g.Most()))
		if e != nil {
			return a, 0, e
		}
		if r.Receipts[0].Code == chain.CodeOK {
			return actor.AddressOf(Alice, d.Salt, d.Source), size, nil
		}
		err = fmt.Errorf("deploy %d bytes: %s", size, chain.CodeName(r.Receipts[0].Code))
	}
	return a, 0, err
}

// looped deploys the program of a call and finds how often it fits.
func (g *Ground) looped(c *call, targets []byte) (func() []*chain.VerifiedTx, error) {
	g.salts++
	at, err := g.Deploy(c.source(), fmt.Sprint("caller", g.salts), FatManifest(g.manifest), &actor.Init{Handler: "init", Payload: null()}, 100_000*chain.WeiPerCBY)
	if err != nil {
		return nil, err
	}
	if err := g.Empty(2); err != nil { // its bucket fills again
		return nil, err
	}
	tx := func(n int) *chain.VerifiedTx { return g.Message(at, "go", array(number(uint64(n)), targets)) }
	fits, want := 0, g.wanted
	if want == 0 {
		want = wanted
	}
	for n := 4; n <= 1<<14; {
		r, err := g.Try(tx(n))
		if err != nil {
			return nil, err
		}
		if r.Receipts[0].Code != chain.CodeOK {
			if fits == 0 && n > 1 {
				n = n / 2
				continue
			}
			if fits == 0 {
				return nil, fmt.Errorf("%s", chain.CodeName(r.Receipts[0].Code))
			}
			break
		}
		if fits = n; r.Receipts[0].CyclesUsed >= chain.Cycles(want) {
			break
		}
		n = max(n+1, min(4*n, int(float64(n)*1.02*float64(want)/float64(r.Receipts[0].CyclesUsed))))
	}
	return func() []*chain.VerifiedTx { return []*chain.VerifiedTx{tx(fits)} }, nil
}
