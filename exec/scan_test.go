package exec_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/state"
)

const scanner = `
from cowboy_sdk import *

@public
def put(msg):
    for key, value in msg.payload:
        if value is None:
            storage.delete(key)
        else:
            storage.set(key, value)

@public
def keys(msg):
    prefix, limit = msg.payload
    return repr([k for k, v in storage.scan(prefix, limit)])

@public
def spend(msg):
    prefix, limit = msg.payload
    scan_state_prefix(prefix, limit)

@public
def default(msg):
    return len(scan_state_prefix(msg.payload))

@public
def fill(msg):
    for i in range(msg.payload[0], msg.payload[1]):
        storage.set(f"n{i:04d}", i)

@public
def mixed(msg):
    storage.set("b", 2)
    storage.delete("a1")
    storage.set("a3", [3])
    seen = [storage.scan("a")]
    try:
        change_and_fail()
    except ValueError:
        pass
    storage.set("a2", "later")
    return repr(seen + [storage.scan("", 3)])

def change_and_fail():
    storage.set("a0", 0)
    raise ValueError("no")

@public
def blob(msg):
    for i in range(msg.payload):
        blob_commit(bytes([i]))

@public
def large(msg):
    blob_commit(bytes([msg.payload]) * 60_000)
`

// both is [a, b].
func both(a, b []byte) []byte { return append(append(cbor.AppendArray(nil, 2), a...), b...) }

func scanOf(prefix string, limit uint64) []byte {
	return both(text(prefix), uintArg(limit))
}

func puts(pairs ...string) []byte {
	b := cbor.AppendArray(nil, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		value := text(pairs[i+1])
		if pairs[i+1] == "" {
			value = cbor.AppendNull(nil)
		}
		b = append(b, both(text(pairs[i]), value)...)
	}
	return b
}

// unhurried lets actors do in a block what they like.
func (c *testChain) unhurried() {
	c.g.Params.Actor.BlockCycles, c.g.Params.Actor.BlockCyclesBurst = 1<<40, 1<<40
	c.g.Params.CyclesTarget, c.g.Params.CyclesCap = 1<<40, 1<<40
}

// said is the text that a handler returned.
func said(t *testing.T, r chain.Receipt) string {
	t.Helper()
	if r.Code != chain.CodeOK {
		t.Fatalf("%s", chain.CodeName(r.Code))
	}
	reader := cbor.NewReader(r.Output)
	s, err := reader.Text(len(r.Output))
	if err != nil {
		t.Fatalf("%x: %v", r.Output, err)
	}
	return s
}

func TestScan(t *testing.T) { // neighbours §14; whitepaper §3.2
	c, it := deployed(t, scanner, manifest.Manifest("storage.blob", "storage.kv"))
	other := deployOn(c, scanner+"\n# another\n", manifest.Manifest("storage.kv"))
	c.ask(other, "put", puts("a0", "not its own"))
	c.ask(it, "put", puts("b", "x", "a1", "x", "a", "x", "é", "x", "z", "x", "a2", "x", "B", "x", "\u00ff", "x", "\U0001F404", "x", "\ufb03", "x"))
	c.ask(it, "blob", uintArg(200))
	for _, row := range []struct {
		rule   string
		prefix string
		limit  uint64
		want   string
	}{
		{"in the order of the bytes", "", 100, "['B', 'a', 'a1', 'a2', 'b', 'z', 'é', 'ÿ', 'ﬃ', '🐄']"},
		{"prefix", "a", 100, "['a', 'a1', 'a2']"},
		{"prefix that is a key", "a1", 100, "['a1']"},
		{"no such prefix", "c", 100, "[]"},
		{"limit", "a", 2, "['a', 'a1']"},
		{"limit over what is reserved", "", 2, "['B', 'a']"},
		{"nothing asked for", "a", 0, "[]"},
		{"not what is reserved", "__blob:", 100, "[]"},
		{"prefix that is not ASCII", "é", 1000, "['é']"},
	} {
		if got := said(t, c.ask(it, "keys", scanOf(row.prefix, row.limit))); got != row.want {
			t.Errorf("%s: %s, want %s", row.rule, got, row.want)
		}
	}
	if got := c.ask(it, "keys", scanOf("", 1001)); got.Code != chain.CodeReverted {
		t.Errorf("1001 entries: %s", chain.CodeName(got.Code))
	}
	want := "[[('a', 'x'), ('a2', 'x'), ('a3', [3])], [('B', 'x'), ('a', 'x'), ('a0', 0)]]"
	if got := said(t, c.ask(it, "mixed", cbor.AppendNull(nil))); got != want {
		t.Errorf("with its own writes: %s, want %s", got, want)
	}
}

func TestScanLimits(t *testing.T) { // neighbours §14: 100, at most 1,000
	c, it := deployed(t, scanner, manifest.Manifest("storage.kv"))
	c.unhurried()
	for i := uint64(0); i < 1200; i += 300 {
		if r := c.ask(it, "fill", both(uintArg(i), uintArg(i+300))); r.Code != chain.CodeOK {
			t.Fatalf("%s", chain.CodeName(r.Code))
		}
	}
	if got := c.ask(it, "default", text("n")).Output; string(got) != "\x18\x64" {
		t.Errorf("without limit %x entries, want 100", got)
	}
	got := said(t, c.ask(it, "keys", scanOf("n", 1000)))
	if n := strings.Count(got, "'n"); n != 1000 || !strings.HasSuffix(got, "'n0999']") {
		t.Errorf("%d entries up to %q", n, got[len(got)-10:])
	}
}

// TestScanMeter: cells are those of a read for each entry (resolution 2.11), and
// with one less the handler ends; cycles are what a read costs, for each entry.
func TestScanMeter(t *testing.T) {
	c, it := deployed(t, scanner, manifest.Manifest("storage.kv"))
	c.ask(it, "put", puts("k1", strings.Repeat("x", 10), "k2", strings.Repeat("y", 100), "k33", "z"))
	used := func(limit uint64) chain.Receipt { return c.ask(it, "spend", scanOf("k", limit)) }
	none := used(0)
	var cells chain.Cells
	before := none
	for i, stored := range []int{2 + 11, 2 + 102, 3 + 2} { // with the head of the value
		cells += chain.Cells(stored+9) / 10
		r := used(uint64(i + 1))
		if got := r.CellsUsed - none.CellsUsed; r.Code != chain.CodeOK || got != cells {
			t.Errorf("%d entries take %d cells, want %d: %s", i+1, got, cells, chain.CodeName(r.Code))
		}
		if more := r.CyclesUsed - before.CyclesUsed; more < chain.Cycles(500+stored) || more > chain.Cycles(800+3*stored) {
			t.Errorf("entry %d takes %d cycles for %d bytes", i, more, stored)
		}
		before = r
	}
	whole := used(3)
	for short := range whole.CellsUsed - none.CellsUsed + 2 {
		tx := c.request(it, "spend", scanOf("k", 3)).Tx
		tx.CellsLimit = whole.CellsUsed - short
		want := chain.CodeOK
		if short > 0 {
			want = chain.CodeCellsExhausted
		}
		if r := c.block(verified(tx, alice)).Receipts[0]; r.Code != want || r.CellsUsed != tx.CellsLimit {
			t.Errorf("%d cells short: %s after %d of %d", short, chain.CodeName(r.Code), r.CellsUsed, tx.CellsLimit)
		}
	}
	for limit := none.CyclesUsed; limit < whole.CyclesUsed; limit += 97 {
		tx := c.request(it, "spend", scanOf("k", 3)).Tx
		tx.CyclesLimit = limit
		if r := c.block(verified(tx, alice)).Receipts[0]; r.Code != chain.CodeCyclesExhausted || r.CyclesUsed != limit {
			t.Errorf("with %d cycles: %s after %d", limit, chain.CodeName(r.Code), r.CyclesUsed)
		}
	}
}

func TestScanNeedsStorage(t *testing.T) { // entitlements §6.3
	c, it := deployed(t, scanner, manifest.Manifest("timer.schedule"))
	if r := c.ask(it, "keys", scanOf("", 10)); r.Code != chain.CodeNotEntitled {
		t.Errorf("without storage.kv: %s", chain.CodeName(r.Code))
	}
}

// TestScanAcrossBlocks holds scans to a sorted map while an actor's keys come and
// go, several calls to a block.
func TestScanAcrossBlocks(t *testing.T) {
	c, it := deployed(t, scanner, manifest.Manifest("storage.kv"))
	c.unhurried()
	rng := rand.New(rand.NewPCG(4, 4))
	kept := map[string]bool{}
	for range 20 {
		var txs []*chain.VerifiedTx
		var want []string
		for i := range 6 {
			var pairs []string
			for range rng.IntN(20) {
				key, value := fmt.Sprintf("%c%02d", 'a'+rng.IntN(3), rng.IntN(40)), "v"
				if kept[key] = rng.IntN(2) == 0; !kept[key] {
					value = ""
				}
				pairs = append(pairs, key, value)
			}
			prefix, limit := string(rune('a'+rng.IntN(3))), 1+rng.IntN(30)
			var keys []string
			for key, there := range kept {
				if there && strings.HasPrefix(key, prefix) {
					keys = append(keys, "'"+key+"'")
				}
			}
			slices.Sort(keys)
			want = append(want, "["+strings.Join(keys[:min(limit, len(keys))], ", ")+"]")
			for j, tx := range []*chain.VerifiedTx{c.request(it, "put", puts(pairs...)), c.request(it, "keys", scanOf(prefix, uint64(limit)))} {
				tx.Tx.Nonce += uint64(2*i + j)
				txs = append(txs, verified(tx.Tx, alice))
			}
		}
		r := c.block(txs...)
		for i := range want {
			if got := said(t, r.Receipts[2*i+1]); got != want[i] {
				t.Fatalf("block %d, call %d: %s, want %s", c.height, i, got, want[i])
			}
		}
	}
}

// bounded is a state that sums up what scans have answered.
type bounded struct {
	state.View
	bytes int
}

func (b *bounded) Scan(addr chain.Address, s state.Span) ([]state.Entry, error) {
	list, err := b.View.Scan(addr, s)
	for i := range list {
		b.bytes += len(list[i].Key) + len(list[i].Value)
	}
	return list, err
}

// TestScansLeaveBlobsAlone: a scan over the keys around an actor's blobs reads none of them.
func TestScansLeaveBlobsAlone(t *testing.T) {
	c, it := deployed(t, scanner, manifest.Manifest("storage.blob", "storage.kv"))
	c.ask(it, "put", puts("A", "x", "__a", "x", "__c", "x", "b", "x"))
	for i := range uint64(4) {
		if r := c.ask(it, "large", uintArg(i)); r.Code != chain.CodeOK {
			t.Fatalf("blob: %+v", r)
		}
	}
	v := &bounded{View: c.state}
	tx := c.program(alice, &it, actor.AppendMessage(nil, "keys", scanOf("", 5)))
	r, err := exec.Apply(v, c.inputs(), []*chain.VerifiedTx{tx})
	if err != nil {
		t.Fatal(err)
	}
	if got := said(t, r.Receipts[0]); got != "['A', '__a', '__c', 'b']" {
		t.Errorf("keys %s", got)
	}
	if v.bytes > 100 {
		t.Errorf("scans read %d bytes beside blobs of 60,000", v.bytes)
	}
}
