package exec_test

import (
	"bytes"
	"crypto/hkdf"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/vrf"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
)

// deployed is a chain with an actor of alice's that has these entitlements.
func deployed(t testing.TB, source string, grants []byte) (*testChain, chain.Address) {
	t.Helper()
	c := oneValidator(t)
	c.engine = testEngine(t)
	return c, deployOn(c, source, grants)
}

func deployOn(c *testChain, source string, grants []byte) chain.Address {
	c.t.Helper()
	d := actor.Deployment{Source: []byte(source), Salt: []byte{byte(c.nonces[alice])}, Manifest: grants}
	if r := c.block(c.program(alice, nil, actor.AppendPayload(nil, &d))).Receipts[0]; r.Code != chain.CodeOK {
		c.t.Fatalf("deploy: %s", chain.CodeName(r.Code))
	}
	return actor.AddressOf(alice, d.Salt, d.Source)
}

func (c *testChain) request(to chain.Address, handler string, arg []byte) *chain.VerifiedTx {
	return c.program(alice, &to, actor.AppendMessage(nil, handler, arg))
}

func TestRandomness(t *testing.T) { // whitepaper §3.4; resolution 1.1
	c, dice := deployed(t, `
from cowboy_sdk import randomness, public
@public
def roll(msg):
    return randomness(msg.payload)
`, manifest.Manifest("storage.kv"))
	roll := func(beacon chain.Hash, label string) string {
		t.Helper()
		in := c.inputs()
		in.ParentBeacon = beacon
		in.PresenceInput, in.ConsumedSeeds = []byte{byte(len(label))}, []byte{beacon[0]} // has no part in it
		r, err := exec.Apply(c.state, in, []*chain.VerifiedTx{c.request(dice, "roll", text(label))})
		if err != nil {
			t.Fatal(err)
		}
		reader := cbor.NewReader(r.Receipts[0].Output)
		out, err := reader.Bytes(32)
		if err != nil || len(out) != 32 {
			t.Fatalf("%s: %x, %v", chain.CodeName(r.Receipts[0].Code), out, err)
		}
		return string(out)
	}
	one, two := chain.Hash{1}, chain.Hash{2}
	want, err := hkdf.Key(sha256.New, one[:], []byte("cowboy-actor-randomness-v1"), "a", 32)
	if err != nil {
		t.Fatal(err)
	}
	if got := roll(one, "a"); got != string(want) || got != roll(one, "a") {
		t.Errorf("the parent's beacon under a label is %x, want %x", got, want)
	}
	seen := map[string]string{}
	for _, beacon := range []chain.Hash{one, two, {}} {
		for _, label := range []string{"a", "b", "a ", strings.Repeat("l", 256)} {
			name := fmt.Sprint(beacon[0], label)
			if other, ok := seen[roll(beacon, label)]; ok {
				t.Errorf("%s and %s are alike", name, other)
			}
			seen[roll(beacon, label)] = name
		}
	}
}

const blobs = `
from cowboy_sdk import *
@public
def commit(msg):
    return blob_commit(b"x" * msg.payload)
@public
def commits(msg):
    for n in msg.payload:
        blob_commit(b"y" * n)
@public
def get(msg):
    data = blob_get(msg.payload)
    return -1 if data is None else len(data)
@public
def steal(msg):
    try:
        storage.set("__blob:" + msg.payload.hex(), b"forged")
    except ValueError as e:
        return str(e)
@public
def look(msg):
    return len(storage.get("__blob:" + msg.payload.hex()))
`

// blobGrants is storage.kv, and storage.blob with max_bytes.
func blobGrants(most uint64) []byte {
	b := cbor.AppendText(cbor.AppendMap(nil, 1), "entitlements")
	b = cbor.AppendMap(cbor.AppendArray(b, 2), 2)
	b = cbor.AppendText(cbor.AppendText(b, "id"), "storage.blob")
	b = cbor.AppendText(cbor.AppendMap(cbor.AppendText(b, "params"), 1), "max_bytes")
	b = cbor.AppendMap(cbor.AppendUint(b, most), 1)
	return cbor.AppendText(cbor.AppendText(b, "id"), "storage.kv")
}

func TestBlobs(t *testing.T) { // whitepaper §3.5, §7.1, §7.2; entitlements §9; resolution 11.34
	c, store := deployed(t, blobs, manifest.Manifest("storage.blob", "storage.kv"))
	other := deployOn(c, blobs+"\n# another\n", manifest.Manifest("storage.blob", "storage.kv"))
	without := deployOn(c, blobs+"\n# without\n", manifest.Manifest("storage.kv"))
	hash := func(fill string, n int) []byte {
		h := keccak.Sum256(bytes.Repeat([]byte(fill), n))
		return cbor.AppendBytes(nil, append([]byte{0x1b, 32}, h[:]...))
	}
	run := func(to chain.Address, handler string, arg []byte) chain.Receipt {
		t.Helper()
		return c.block(c.request(to, handler, arg)).Receipts[0]
	}
	expect := func(rule string, r chain.Receipt, code uint16, output []byte) {
		t.Helper()
		if r.Code != code || output != nil && !bytes.Equal(r.Output, output) {
			t.Errorf("%s: %s, %x", rule, chain.CodeName(r.Code), r.Output)
		}
	}
	expect("not there", run(store, "get", hash("x", 5)), chain.CodeOK, []byte{0x20})
	expect("without entitlement", run(without, "commit", amount(5)), chain.CodeNotEntitled, nil)
	expect("reading without entitlement", run(without, "get", hash("x", 5)), chain.CodeNotEntitled, nil)
	small, large := run(store, "commit", amount(5)), run(store, "commit", amount(1005))
	expect("multihash", small, chain.CodeOK, hash("x", 5))
	extra := chain.Cells(len(actor.AppendMessage(nil, "", amount(1005))) - len(actor.AppendMessage(nil, "", amount(5))))
	if got := large.CellsUsed - small.CellsUsed - extra; got != 1000 {
		t.Errorf("1,000 bytes take %d cells", got)
	}
	expect("its own", run(store, "get", hash("x", 5)), chain.CodeOK, []byte{5})
	expect("another's", run(other, "get", hash("x", 1005)), chain.CodeOK, []byte{0x19, 0x03, 0xed})
	expect("64 KiB", run(other, "commit", amount(64<<10)), chain.CodeOK, nil)
	expect("one more", run(other, "commit", amount(64<<10+1)), chain.CodeReverted, nil)
	expect("a program writes none", run(store, "steal", hash("x", 5)), chain.CodeOK, text("storage key begins with __blob:, which is reserved"))
	expect("no multihash", run(store, "get", cbor.AppendBytes(nil, []byte("abc"))), chain.CodeOK, []byte{0x20})
	expect("as a value", run(store, "look", hash("x", 5)), chain.CodeOK, []byte{5})
	if size := c.state.Accounts[other].StorageRoot; size == (chain.Hash{}) {
		t.Error("a blob is in nobody's storage")
	}

	bounded := deployOn(c, blobs+"\n# bounded\n", blobGrants(100))
	lengths := func(ns ...uint64) []byte {
		b := cbor.AppendArray(nil, len(ns))
		for _, n := range ns {
			b = cbor.AppendUint(b, n)
		}
		return b
	}
	expect("max_bytes", run(bounded, "commits", lengths(60, 40)), chain.CodeOK, nil)
	expect("max_bytes + 1", run(bounded, "commits", lengths(60, 41)), chain.CodeEntitlementQuota, nil)
	expect("undone with the handler", run(store, "get", hash("y", 41)), chain.CodeOK, []byte{0x20})
	c.g.Params.Actor.StorageQuotaBytes = 70 << 10
	expect("storage quota", run(store, "commits", lengths(40<<10, 40<<10-1)), chain.CodeQuotaExceeded, nil)
}

func TestPairings(t *testing.T) { // resolutions 11.41, 11.42
	c, checker := deployed(t, `
from cowboy_sdk import verify_bls, verify_vrf, public
@public
def check(msg):
    key, ns, text, sig, proof = msg.payload
    return [verify_bls(key, text, sig, ns), verify_bls(key, text, sig, ns + b"x"), verify_bls(key, text + b"x", sig, ns),
            verify_bls(bytes(96), text, sig, ns), verify_bls(key, text, bytes(48), ns), verify_bls(key, text, sig[:47] + b"?", ns),
            verify_vrf(key, text, proof, ns), verify_vrf(key, text + b"x", proof, ns), verify_vrf(bytes(96), text, proof, ns)]
`, manifest.Manifest("storage.kv"))
	key, err := bls.NewSecretKey([]byte("thirty-two bytes of key material"))
	if err != nil {
		t.Fatal(err)
	}
	ns, msg := []byte("namespace"), []byte("message")
	public, sig := key.PublicKey().Bytes(), key.Sign(ns, msg)
	proof, out := vrf.Prove(key, ns, msg)
	arg := cbor.AppendArray(nil, 5)
	for _, b := range [][]byte{public[:], ns, msg, sig[:], proof[:]} {
		arg = cbor.AppendBytes(arg, b)
	}
	tx := c.request(checker, "check", arg)
	r := c.block(tx).Receipts[0]
	want := append([]byte{0x89, 0xf5, 0xf4, 0xf4, 0xf4, 0xf4, 0xf4}, cbor.AppendBytes(nil, out[:])...)
	if want = append(want, 0xf6, 0xf6); r.Code != chain.CodeOK || !bytes.Equal(r.Output, want) {
		t.Errorf("%s: %x, want %x", chain.CodeName(r.Code), r.Output, want)
	}
}

func TestBlockInfo(t *testing.T) { // whitepaper §17.3: get_block_info
	c, asker := deployed(t, `
from cowboy_sdk import *
@public
def where(msg):
    return [current_block(), get_timestamp_ms(), get_chain_id(), get_sender() == get_origin() == msg.sender, get_creator() == msg.sender]
`, manifest.Manifest("storage.kv"))
	in := c.inputs()
	in.TimestampMillis = 1_700_000_000_123
	r, err := exec.Apply(c.state, in, []*chain.VerifiedTx{c.request(asker, "where", null)})
	if err != nil {
		t.Fatal(err)
	}
	want := cbor.AppendUint(cbor.AppendArray(nil, 5), uint64(in.Height))
	want = cbor.AppendUint(cbor.AppendUint(want, in.TimestampMillis), in.ChainID)
	want = append(want, 0xf5, 0xf5)
	if got := r.Receipts[0]; got.Code != chain.CodeOK || !bytes.Equal(got.Output, want) {
		t.Errorf("%s: %x, want %x", chain.CodeName(got.Code), got.Output, want)
	}
}
