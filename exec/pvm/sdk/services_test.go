package sdk

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
)

func TestTokens(t *testing.T) { // CIP-20, whitepaper §17.3
	b := newBench(t)
	const src = `
from cowboy_sdk import *
A = "0x00000000000000000000000000000000000000a1"
B = "0x00000000000000000000000000000000000000b2"
def h(msg):
    me = get_actor_address()
    t = token_create("Gold", "AU", supply=10**30, max_supply=2 * 10**30)
    token_transfer(t, A, 5)
    token_transfer_batch(t, [(A, 1), [B, 2]])
    token_mint(t, B, 10)
    token_burn(t, 7)
    token_approve(t, A, 9)
    print(token_balance_of(t, A), token_balance_of(t, B), token_allowance(t, me, A), token_balance_of(t) == 10**30 - 15)
    token_freeze(t, A)
    print(token_is_frozen(t, A), token_info(t))
    refused = []
    for f in (lambda: token_transfer(t, A, 1), lambda: token_transfer(t, B, 10**31), lambda: token_mint(t, B, 10**30),
              lambda: token_transfer_from(t, A, B, 1), lambda: token_balance_of("0x" + "00" * 32),
              lambda: token_transfer(t, B, -1), lambda: token_transfer(t, B, 2**128), lambda: token_create("", "X"),
              lambda: token_create("X", "X", 39), lambda: token_transfer_batch(t, [(A,)])):
        try:
            f()
        except CowboyError as e:
            refused.append(e.code)
        except ValueError as e:
            refused.append("ValueError")
    token_unfreeze(t, A)
    token_transfer_ownership(t, None)
    try:
        token_set_hook(t, A)
    except PermissionDenied as e:
        refused.append(type(e).__name__)
    return refused
`
	const want = `['E1204', 'E1101', 'E1301', 'E1102', 'E1401', 'ValueError', 'ValueError', 'ValueError', 'ValueError', 'ValueError', 'PermissionDenied']
6 12 9 True
True {'name': 'Gold', 'symbol': 'AU', 'decimals': 18, 'total_supply': 1000000000000000000000000000003, 'max_supply': 2000000000000000000000000000000, 'owner': '0x00000000000000000000000000000000000000aa', 'hook': None}`
	if got := b.call(src, "h", "None"); got != "cowboy_sdk.PermissionDenied: handler 'h' is not callable by this sender" {
		t.Errorf("undecorated: %s", got)
	}
	if got := b.call(strings.Replace(src, "def h", "@public\ndef h", 1), "h", "None"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestRefusals: every code of the host is an exception of its own class, with
// the text, and a program can catch it by its domain.
func TestRefusals(t *testing.T) {
	b := newBench(t)
	const src = `
from cowboy_sdk import *
@public
def h(msg):
    try:
        emit_event("a")
    except CowboyError as e:
        return [e.code, str(e), type(e).code == e.code, type(e) is not CowboyError]
`
	for _, code := range append(host.Codes(), "E9999") {
		b.host.Refuse = func(string) error { return &host.Refusal{Code: code, Text: "no"} }
		known := "True"
		if code == "E9999" {
			known = "False"
		}
		if got, want := b.call(src, "h", "None"), "['"+code+"', 'no', "+known+", "+known+"]"; got != want {
			t.Errorf("%s: %s, want %s", code, got, want)
		}
	}
	b.host.Refuse = func(string) error { return errors.New("disk full") }
	if got := b.call(src, "h", "None"); !strings.HasPrefix(got, "[") || !strings.Contains(got, "disk full") {
		t.Errorf("a fault of the host is caught: %s", got)
	}
}

func TestServices(t *testing.T) {
	b := newBench(t)
	b.host.Granted["http.fetch"] = []byte{0xa1, 0x61, 'n', 0x05}
	b.host.Granted["exec.spawn"] = nil
	b.host.Actors[chain.Address{19: 0xcc}] = host.Actor{Code: [32]byte{1}, Storage: 7, Deployed: 3}
	b.host.Outputs = map[host.ID]host.JobOutput{
		{1}: {Format: chain.FormatText, Data: []byte("long")}, {3}: {Format: chain.FormatBytes, Data: []byte{0xff}},
	}
	b.host.Pairing = func(_ [96]byte, ns, msg []byte, _ [48]byte) bool { return string(ns)+string(msg) == "nsm" }
	for _, row := range []struct{ rule, expr, want string }{
		{"entitlement with parameters", "entitlement('http.fetch')", "{'n': 5}"},
		{"entitlement without", "entitlement('exec.spawn')", "{}"},
		{"no entitlement", "entitlement('sys.upgrade')", "None"},
		{"actor", "get_actor('0x' + '00' * 19 + 'cc')['storage_bytes']", "7"},
		{"external account", "get_actor()", "None"},
		{"blob", "blob_get(blob_commit(b'x' * 2000)) == b'x' * 2000", "True"},
		{"blob that is not there", "blob_get(b'x')", "None"},
		{"deferred", "create_deferred_tx('0x' + '00' * 20, 'f', [1], height=7)[:2]", "'0x'"},
		{"deferred in the past", "create_deferred_tx('0x' + '00' * 20, 'f', height=1)", "cowboy_sdk.HeightPassed: the height is not in the future"},
		{"spawn", "spawn(b's', 'x = 1', init={'a': 1}) == derive_actor_address(get_actor_address(), b's', keccak256(b'x = 1'))", "True"},
		{"long salt", "spawn(b's' * 33)", "ValueError: salt must have at most 32 bytes"},
		{"timer", "schedule_timer_ex(9, 'f', {'a': 1}, every=3, target='0x' + '00' * 20, cycles_limit=5)[:2]", "'0x'"},
		{"extended", "extend_timer(schedule_timer(9), 10)", "None"},
		{"extended into the past", "extend_timer(schedule_timer(9), 1)", "cowboy_sdk.HeightPassed: the height of a timer is not in the future"},
		{"job", "(lambda j: [job_status(j), cancel_job(j), job_status(j), cancel_job(j)])(submit_job({'a': 1}))", "['pending', True, 'cancelled', False]"},
		{"what is kept of a job", "[job_result('0x01' + '00' * 31), job_result(b'\\x03' + bytes(31))]", "['long', b'\\xff']"},
		{"under its hash", "job_result('0x01' + '00' * 31, keccak256(b'long'))", "'long'"},
		{"under another", "job_result('0x01' + '00' * 31, bytes(32))", "cowboy_sdk.RunnerError: the result has another hash than the answer says"},
		{"nothing is kept", "job_result('0x04' + '00' * 31)", "cowboy_sdk.NotFound: no result of that job is kept for the actor"},
		{"no id", "job_result('0x04')", "ValueError: an identifier is '0x' and 64 hexadecimal digits, or 32 bytes"},
		{"rent", "[rent.prepay(5), rent.status()['balance_epochs'], rent.status()['state']]", "[0, 5, 'paid']"},
		{"no rent", "rent.prepay(0)", "ValueError: epochs must be at least 1"},
		{"bond", "storage.bond(1 << 21)", "None"},
		{"bls", "[bls.verify(bytes(96), b'm', bytes(48), b'ns'), bls.verify(bytes(96), b'm', bytes(48))]", "[True, False]"},
		{"vrf", "[len(vrf.verify(bytes(96), b'm', bytes(48), b'ns')), vrf.verify(bytes(96), b'', bytes(48))]", "[32, None]"},
		{"bls of wrong size", "bls.verify(bytes(95), b'm', bytes(48))", "ValueError: a public key has 96 bytes, a signature 48 and a namespace at most 256"},
		{"secp256k1 of nothing", "[secp256k1.verify(bytes(33), bytes(32), bytes(64)), secp256k1.recover(bytes(32), bytes(65))]", "[False, None]"},
		{"capture", "(lambda c: [c.a, c['b'], c.get('c', 3), repr(c)])(capture(a=1, b=2))", "[1, 2, 3, 'Capture(a=1, b=2)']"},
		{
			"verifiers", "[f['fn'] for f in (contains_none(['x']), regex_match('a'), length_bounds(1, 2), semantic_similarity(0.5), no_prompt_leak(), entropy_check(1.0))]",
			"['contains_none', 'regex_match', 'length_bounds', 'semantic_similarity', 'no_prompt_leak', 'entropy_check']",
		},
		{"upgrade", "upgrade_self('x = 1')", "None"},
	} {
		src := "from cowboy_sdk import *\n@public\ndef h(msg):\n    return " + row.expr + "\n"
		if got := b.call(src, "h", "None"); got != row.want {
			t.Errorf("%s: %s, want %s", row.rule, got, row.want)
		}
	}
}

// TestScans holds the machine to the table that the SDK under CPython is held to.
func TestScans(t *testing.T) { // neighbours §14
	file, err := os.ReadFile("../../../sdk/python/tests/scans.json")
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Keys []string
		Rows [][3]string // rule, expression, answer
	}
	if err := json.Unmarshal(file, &table); err != nil || len(table.Rows) == 0 {
		t.Fatal(err)
	}
	keys, _ := json.Marshal(table.Keys)
	for _, row := range table.Rows {
		src := fmt.Sprintf("from cowboy_sdk import *\n@public\ndef h(msg):\n    for i, key in enumerate(%s):\n        storage.set(key, i)\n    return %s\n", keys, row[1])
		if got := newBench(t).call(src, "h", "None"); got != row[2] {
			t.Errorf("%s: %s, want %s", row[0], got, row[2])
		}
	}
}

func TestTypedData(t *testing.T) { // whitepaper §16.1
	b := newBench(t)
	key, err := secp256k1.ParsePrivateKey(append(make([]byte, 31), 7))
	if err != nil {
		t.Fatal(err)
	}
	domain, data := keccak.Sum256([]byte("domain")), keccak.Sum256([]byte("data"))
	sig := key.Sign(keccak.Sum256([]byte{0x19, 1}, domain[:], data[:]))
	signer, pub := chain.Address(key.PublicKey().Address()), key.PublicKey().Compressed()
	src := fmt.Sprintf(`
from cowboy_sdk import *
@public
def h(msg):
    who, key, domain, data = "%s", bytes.fromhex("%x"), keccak256(b"domain"), keccak256(b"data")
    sig = bytes.fromhex("%x%x%02x")
    digest = eip712_digest(domain, data)
    return [verify_eip712(who, domain, data, sig), verify_eip712(who.upper().replace("X", "x"), domain, data, sig),
            verify_eip712(who, data, domain, sig), secp256k1.verify(key, digest, sig[:64]), secp256k1.verify(key, data, sig)]
`, signer, pub, sig.R, sig.S, sig.YParity)
	if got, want := b.call(src, "h", "None"), "[True, True, False, True, False]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
