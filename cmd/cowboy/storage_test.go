package main

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/devtest"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

const keeper = `from cowboy_sdk import actor, public

@actor
class Keeper:
    def init(self, msg):
        for i in range(20):
            self.storage["page" + str(i)] = str(i % 10) * 1000

    @public
    def get(self, msg):
        return self.storage["page" + str(msg.payload)][:3]

    @public
    def put(self, msg):
        self.storage["page0"] = msg.payload
`

// rentEpoch is an epoch in these tests, at whose end rent is due.
const rentEpoch = 120

// shortRent makes rent run out within a test.
func shortRent(p *params.Params) {
	p.EpochBlocks, p.Rent.ChargeBlocks = rentEpoch, rentEpoch
	p.Rent.GraceEpochs, p.Rent.WarningEpochs = 1, 1
}

// cancelAt ends a command when it says something.
type cancelAt struct {
	bytes.Buffer
	words  string
	cancel func()
}

func (c *cancelAt) Write(b []byte) (int, error) {
	n, err := c.Buffer.Write(b)
	if strings.Contains(c.String(), c.words) {
		c.cancel()
	}
	return n, err
}

func (l *live) rent(actor string) rpc.RentReply {
	l.t.Helper()
	var r rpc.RentReply
	l.do(&r, "rent", "status", actor)
	return r
}

// untilRent makes blocks until the actor stands so.
func (l *live) untilRent(actor, state string) rpc.RentReply {
	l.t.Helper()
	for range 40 {
		if r := l.rent(actor); r.State == state {
			return r
		}
		l.advance(50)
	}
	l.t.Fatalf("not %s: %+v", state, l.rent(actor))
	return rpc.RentReply{}
}

// TestStorageOnDevnet is the life of a storage with the commands alone (whitepaper,
// "State Rent Model" to "Storage Restoration"): paid, in arrears, evicted, restored
// after an interruption.
func TestStorageOnDevnet(t *testing.T) {
	l := newLiveOf(t, setup.DevnetOptions{BlockTime: 40 * time.Millisecond, GenesisFile: devtest.Genesis(t, shortRent)})
	source, file := filepath.Join(l.dir, "keeper.py"), filepath.Join(l.dir, "keeper.backup")
	if err := os.WriteFile(source, []byte(keeper), 0o644); err != nil {
		t.Fatal(err)
	}
	actor := l.deploy(source, "--salt", "0x01")
	if r := l.rent(actor); r.State != "paid" || r.Bytes < 20_000 || r.PerEpoch == 0 || r.Evicted != nil {
		t.Fatalf("deployed: %+v", r)
	}
	var receipt rpc.ReceiptReply
	l.do(&receipt, "rent", "prepay", actor, "--epochs", "1", "--wait")
	if r := l.rent(actor); r.Prepaid != 1 || r.PrepaidWei != r.PerEpoch {
		t.Errorf("prepaid: %+v", r)
	}
	var saved backupReply
	l.do(&saved, "storage", "backup", actor, "-o", file, "--genesis", filepath.Join(l.dir, "chain", "genesis.json"))
	if saved.Entries != 20 || saved.Bytes < 20_000 {
		t.Fatalf("backup: %+v", saved)
	}
	if said := l.refused("storage", "restore", file); !strings.Contains(said, "nothing to restore") {
		t.Errorf("restore of what is there: %s", said)
	}

	owes := l.untilRent(actor, "grace")
	if owes.Owed == 0 || owes.EvictionAt <= owes.Height || owes.Prepaid != 0 {
		t.Errorf("in arrears: %+v", owes)
	}
	before := l.balance(dev(0))
	l.do(&receipt, "rent", "sponsor", actor, "--epochs", "1", "--wait")
	if paid := before - l.balance(dev(0)) - receipt.Fee; paid != owes.Owed+owes.PerEpoch {
		t.Errorf("sponsored an epoch for %d, owed were %d", paid, owes.Owed)
	}
	if r := l.rent(actor); r.State != "paid" || r.Owed != 0 || r.EvictionAt != 0 {
		t.Errorf("sponsored: %+v", r)
	}
	warned := l.untilRent(actor, "warning")
	gone := l.untilRent(actor, "dormant")
	if gone.Evicted == nil || gone.Evicted.Root != saved.Root || gone.Evicted.Bytes != saved.Bytes || gone.Evicted.Cost == 0 {
		t.Fatalf("evicted: %+v", gone.Evicted)
	}
	if said := l.refused("actor", "execute", "--actor", actor, "--handler", "put", "--args", `"x"`); !strings.Contains(said, "dormant") {
		t.Errorf("message to an evicted actor: %s", said)
	}
	if said := l.refused("storage", "backup", actor, "-o", file+"2"); !strings.Contains(said, "was evicted") {
		t.Errorf("backup of nothing: %s", said)
	}

	l.rentEvents(owes, warned)
	l.restoreWrong(file)
	l.restoreInterrupted(actor, file)
	var restored restoredReply
	l.do(&restored, "storage", "restore", file, "--chunk-bytes", "5000")
	if restored.Transactions != 3 { // two parts that were left, and the commit
		t.Errorf("restored: %+v", restored)
	}
	if r := l.rent(actor); r.State != "paid" || r.Owed != 0 || r.Bytes != saved.Bytes || r.Evicted != nil {
		t.Errorf("restored: %+v", r)
	}
	if got := l.read(actor, "get", "17"); got != `"777"` {
		t.Errorf("get: %s", got)
	}
	var again backupReply
	if l.do(&again, "storage", "backup", actor, "-o", file); again.Root != saved.Root {
		t.Errorf("root %s, was %s", again.Root, saved.Root)
	}
	if r := l.execute(actor, "put", `"new"`); r.Status != "success" {
		t.Errorf("runs again: %+v", r)
	}
}

// rentEvents holds what the chain announced of the one actor with rent to its
// heights: rent is due every epoch, missed rent is owed with a tenth of it, and
// grace, warning and one epoch more lie before the eviction.
func (l *live) rentEvents(owes, warned rpc.RentReply) {
	t := l.t
	var logs rpc.LogsReply
	l.do(&logs, "actor", "logs", chain.AddrRent.String())
	if len(logs.Logs) != 4 {
		t.Fatalf("events: %+v", logs.Logs)
	}
	numbers := func(e rpc.LogReply, name string, at uint64) []json.RawMessage {
		t.Helper()
		var list []json.RawMessage
		if err := json.Unmarshal(e.Value, &list); err != nil || e.Name != name || e.BlockHeight != at {
			t.Errorf("%s in block %d, want %s in %d; %v", e.Name, e.BlockHeight, name, at, err)
		}
		return list[1:]
	}
	evicted, warning, second, first := logs.Logs[0], logs.Logs[1], logs.Logs[2], logs.Logs[3]
	var missed uint64
	if err := json.Unmarshal(numbers(first, "RentOverdue", owes.EvictionAt-3*rentEpoch)[0], &missed); err != nil || missed+missed/10 != uint64(owes.Owed) {
		t.Errorf("missed %d, owed %d, %v", missed, owes.Owed, err)
	}
	numbers(second, "RentOverdue", first.BlockHeight+2*rentEpoch)
	at := numbers(warning, "EvictionImminent", second.BlockHeight+rentEpoch)[1]
	numbers(evicted, "StorageEvicted", second.BlockHeight+3*rentEpoch)
	if string(at) != strconv.FormatUint(evicted.BlockHeight, 10) || warned.EvictionAt != evicted.BlockHeight {
		t.Errorf("evicted in block %d, announced for %s, status said %d", evicted.BlockHeight, at, warned.EvictionAt)
	}
}

// restoreInterrupted begins a restoration and is stopped after three of five
// parts; before, wrong data is refused without a transaction.
func (l *live) restoreInterrupted(actor, file string) {
	l.t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		l.t.Fatal(err)
	}
	bad := file + ".bad"
	if err := os.WriteFile(bad, bytes.Replace(text, []byte("333333"), []byte("333334"), 1), 0o644); err != nil {
		l.t.Fatal(err)
	}
	if said := l.refused("storage", "restore", bad); !strings.Contains(said, "not a whole storage backup") {
		l.t.Errorf("wrong data: %s", said)
	}
	ctx, cancel := context.WithCancel(l.t.Context())
	defer cancel()
	said := &cancelAt{words: "part 3 of 5", cancel: cancel}
	code := run(ctx, []string{"--dir", l.dir, "storage", "restore", file, "--chunk-bytes", "5000"}, world{
		stdin: strings.NewReader(""), stdout: &bytes.Buffer{}, stderr: said, env: func(name string) string { return l.env[name] },
	})
	if code == 0 || !strings.Contains(said.String(), "goes on behind") {
		l.t.Fatalf("interrupted: exit %d, %s", code, said.String())
	}
	r := l.rent(actor)
	if r.Evicted == nil || r.Evicted.Restoring == nil || r.Evicted.Restoring.Bytes == 0 {
		l.t.Errorf("under way: %+v", r.Evicted)
	}
	other := client.KeyHex(setup.DevAccounts()[1].Key)
	if said := l.refused("storage", "restore", file, "--private-key", other); !strings.Contains(said, "nobody else may before") {
		l.t.Errorf("two at once: %s", said)
	}
}

// restoreWrong goes on behind a part that is not of the file, which shows when all
// is there; then it is dropped.
func (l *live) restoreWrong(file string) {
	l.t.Helper()
	b, err := openBackup(file)
	if err != nil {
		l.t.Fatal(err)
	}
	chunks, err := b.Chunks(5_000)
	if err != nil {
		l.t.Fatal(err)
	}
	ctx := l.t.Context()
	s := &session{
		world: world{stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}, env: func(name string) string { return l.env[name] }},
		flags: &commandLine{Dir: l.dir},
	}
	r := &restoring{command: &storageRestore{Timeout: time.Minute}, s: s, file: b}
	head := l.rent(b.Actor.String()).Height
	chunks[0][1].Value = append([]byte{0xff}, chunks[0][1].Value[1:]...)
	for _, tx := range []*chain.Tx{client.RestoreBeginTx(b.Actor, chain.Height(head+1_000)), client.RestorePutTx(b.Actor, chunks[0])} {
		if err := r.sendAndWait(ctx, tx); err != nil {
			l.t.Fatal(err)
		}
	}
	said := l.refused("storage", "restore", file)
	if !strings.Contains(said, "bad_proof") || !strings.Contains(said, "it was dropped") {
		l.t.Errorf("wrong data behind the cursor: %s", said)
	}
	if now := l.rent(b.Actor.String()); now.Evicted == nil || now.Evicted.Restoring != nil {
		l.t.Errorf("after wrong data: %+v", now.Evicted)
	}
}

// ward keeps as much as costs rent, pays ahead for itself, and brings back what
// another of its kind has lost.
const ward = `from cowboy_sdk import actor, public, rent, storage, CowboyError

def pages(digits):
    return {"page" + str(i): digits[i % 10] * 1000 for i in range(20)}

@actor
class Ward:
    def init(self, msg):
        for key, text in pages("0123456789").items():
            self.storage[key] = text

    @public
    def get(self, msg):
        return self.storage["page" + str(msg.payload)][:3]

    @public
    def prepay(self, msg):
        try:
            return rent.prepay(msg.payload)
        except CowboyError as e:
            return e.code

    @public
    def rescue(self, msg):
        other, digits = msg.payload
        try:
            storage.restore(other, pages(digits))
        except CowboyError as e:
            return e.code
`

// TestRescueOnDevnet has a program pay its rent and restore the storage of another
// that did not (whitepaper, "Rent Payment Options", "Storage Restoration").
func TestRescueOnDevnet(t *testing.T) {
	l := newLiveOf(t, setup.DevnetOptions{BlockTime: 40 * time.Millisecond, GenesisFile: devtest.Genesis(t, shortRent)})
	source := filepath.Join(l.dir, "ward.py")
	if err := os.WriteFile(source, []byte(ward), 0o644); err != nil {
		t.Fatal(err)
	}
	rich := l.deploy(source, append(grants("econ.hold_balance", "econ.transfer", "storage.kv"), "--salt", "0x01", "--amount", "10")...)
	poor := l.deploy(source, append(grants("storage.kv"), "--salt", "0x02")...)
	if r := l.execute(rich, "prepay", "1000000"); string(r.Value) != `"E1101"` || l.rent(rich).Prepaid != 0 {
		t.Errorf("prepaid what it does not have: %s", r.Value)
	}
	before := l.balance(rich)
	r, stands := l.execute(rich, "prepay", "100"), l.rent(rich)
	if paid := 100 * stands.PerEpoch; string(r.Value) != strconv.FormatUint(uint64(paid), 10) || before-l.balance(rich) != paid || stands.Prepaid != 100 {
		t.Errorf("prepaid %s, the balance fell by %d, want %d: %+v", r.Value, before-l.balance(rich), paid, stands)
	}
	if r := l.execute(rich, "rescue", `["`+poor+`","0123456789"]`); string(r.Value) != `"E1401"` {
		t.Errorf("restored what is there: %s", r.Value)
	}

	gone := l.untilRent(poor, "dormant")
	if stands := l.rent(rich); stands.State != "paid" || stands.Prepaid == 0 || stands.Prepaid >= 100 {
		t.Errorf("who paid ahead: %+v", stands)
	}
	before = l.balance(rich)
	if r := l.execute(rich, "rescue", `["`+poor+`","0123456788"]`); r.Status != "success" {
		t.Errorf("a root is compared in the next block: %+v", r)
	}
	l.advance(2)
	if still := l.rent(poor); still.State != "dormant" || still.Evicted.Root != gone.Evicted.Root || still.Evicted.Restoring != nil {
		t.Errorf("restored with two pages that are wrong: %+v", still)
	}
	spent := before - l.balance(rich)
	if r := l.execute(rich, "rescue", `["`+poor+`","0123456789"]`); r.Status != "success" || string(r.Value) != "null" {
		t.Fatalf("rescue: %+v", r)
	}
	l.advance(2)
	if back := l.rent(poor); back.State != "paid" || back.Owed != 0 || back.Bytes != gone.Evicted.Bytes || back.Evicted != nil {
		t.Errorf("restored: %+v", back)
	}
	if paid := before - spent - l.balance(rich); paid != gone.Evicted.Cost {
		t.Errorf("the rescue cost %d, the wrong one %d, want %d", paid, spent, gone.Evicted.Cost)
	}
	if got := l.read(poor, "get", "17"); got != `"777"` {
		t.Errorf("get: %s", got)
	}
}
