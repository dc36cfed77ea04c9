package exec_test

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/rent"
	stored "github.com/cowboy-foundation/cowboy/state/rent"
)

// TestEvictionEndsAllTimers evicts an actor with more timers than an actor may set
// by then: governance has lowered the limit since (resolution 11.24).
func TestEvictionEndsAllTimers(t *testing.T) {
	r := newRanch(t, func(p *params.Params) { p.Rent.PricePerByteYear = 1_000_000_000_000_000 })
	const sleeper = `
from cowboy_sdk import actor, public, set_timer

@actor
class Sleeper:
    @public
    def init(self, msg):
        for i in range(5):
            set_timer(100_000 + i, "init")
        for i in range(20):
            self.storage["page" + str(i)] = "x" * 1000
`
	const value = 100 * chain.WeiPerCBY
	r.actor = r.deployProgram(sleeper, value, cbor.AppendNull(nil), "econ.hold_balance", "storage.kv", "timer.schedule")
	if r.balance(chain.AddrTimers) == 0 {
		t.Fatal("no timer was set")
	}
	held := r.balance(r.actor) + r.balance(chain.AddrTimers)
	r.g.Params.Timer.MaxPerActor = 2
	r.until(rent.Dormant)
	if left := r.balance(chain.AddrTimers); left != 0 || r.balance(r.actor) != held {
		t.Errorf("%d are still kept for timers, the actor has %d of %d", left, r.balance(r.actor), held)
	}
}

// TestTimersLeaveTheReserve has an actor whose balance is all reserved set a timer,
// and one that it has set before fire at prices beyond its escrow.
func TestTimersLeaveTheReserve(t *testing.T) { // whitepaper, "Minimum Balance Reserve"
	const clock = `
from cowboy_sdk import actor, public, set_interval, set_timer, CowboyError

@actor
class Clock:
    @public
    def init(self, msg):
        set_interval(3, "fill")
        for i in range(20):
            self.storage["page" + str(i)] = "x" * 1000

    @public
    def more(self, msg):
        try:
            set_timer(100_000, "more")
        except CowboyError as e:
            return e.code

    @public
    def fill(self, msg):
        pass
`
	r := newRanch(t, func(p *params.Params) {
		p.Rent.PricePerByteYear, p.Rent.ChargeBlocks = 1_000_000_000_000, 1_000_000
	})
	r.actor = r.deployProgram(clock, 100*chain.WeiPerCBY, cbor.AppendNull(nil), "econ.hold_balance", "storage.kv", "timer.schedule")
	if got := r.call("more", cbor.AppendNull(nil)); got.Code != chain.CodeOK || string(got.Output) != "\x65E1101" {
		t.Errorf("a timer out of the reserve: %s %q", chain.CodeName(got.Code), got.Output)
	}
	before := r.balance(r.actor)
	for range 4 {
		r.next() // the interval fires and cannot pay for its next block
	}
	if now := r.balance(r.actor); now < before || r.balance(chain.AddrTimers) != 0 {
		t.Errorf("the interval took %d of the reserve, %d are kept for it", before-now, r.balance(chain.AddrTimers))
	}
}

// TestRentLife is an actor that stores 20 KiB from its first day to its
// restoration, block by block (whitepaper, "State Rent Model" to "Storage
// Restoration").
func TestRentLife(t *testing.T) {
	r := newRanch(t, func(p *params.Params) { p.Rent.PricePerByteYear = 1_000_000_000_000_000 })
	const value = 100 * chain.WeiPerCBY
	r.deploy(value, "econ.hold_balance", "econ.transfer", "storage.kv", "timer.schedule")
	whole, _, _ := r.ground.Account(r.actor)
	entries := rent.Arrange(r.stored)
	deposit := r.balance(chain.AddrTimers)
	if len(entries) != 20 || whole.StorageSize.Bytes < 20_000 || deposit == 0 {
		t.Fatalf("%d entries, %+v, %d for timers", len(entries), whole, deposit)
	}

	held := whole.Balance + deposit
	// the reserve is above the balance: nothing of it may be spent
	if got := r.call("pay", cbor.AppendUint(nil, 1)); got.Code != chain.CodeOK || string(got.Output) != "\x65E1103" {
		t.Errorf("pay out of the reserve: %s %q", chain.CodeName(got.Code), got.Output)
	}
	// two epochs prepaid are one charge
	perEpoch := r.status().PerEpoch
	if got := r.one(r.rentTx(bob, chain.OpRentPrepay, cbor.AppendUint(nil, 2))); got.Code != chain.CodeOK {
		t.Fatalf("prepay: %s", chain.CodeName(got.Code))
	}
	if s := r.status(); s.Prepaid != 2 || s.PrepaidWei != 2*perEpoch {
		t.Errorf("prepaid: %+v", s)
	}
	r.until(rent.Grace)
	if got := r.call("get", cbor.AppendUint(nil, 3)); got.Code != chain.CodeOK {
		t.Errorf("message in the grace period: %s", chain.CodeName(got.Code))
	}
	since := r.height - 1
	r.until(rent.Warning)
	r.until(rent.Dormant)
	if want := since + (2+1+1)*5; r.height != want {
		t.Errorf("evicted in block %d, want %d", r.height, want)
	}
	if want := []string{rent.EventOverdue, rent.EventWarning, rent.EventEvicted}; !slices.Equal(r.names, want) {
		t.Errorf("events %v, want %v", r.names, want)
	}

	now, _, _ := r.ground.Account(r.actor)
	if now.HasStorage() || now.CodeHash != whole.CodeHash || now.Balance != held || r.balance(chain.AddrTimers) != 0 {
		t.Errorf("evicted: %+v, %d for timers", now, r.balance(chain.AddrTimers))
	}
	if got := r.call("get", cbor.AppendUint(nil, 3)); got.Code != chain.CodeDormant {
		t.Errorf("message: %s", chain.CodeName(got.Code))
	}
	actors := chain.AddrActors
	fund := r.program(bob, &actors, cbor.AppendBytes(cbor.AppendUint(cbor.AppendArray(nil, 2), chain.OpActorFund), r.actor[:])).Tx
	fund.Value = 77
	if got := r.one(verified(fund, bob)); got.Code != chain.CodeOK || r.balance(r.actor) != held+77 {
		t.Errorf("a gift: %s, balance %d", chain.CodeName(got.Code), r.balance(r.actor))
	}

	r.restore(entries)
	again, _, _ := r.ground.Account(r.actor)
	if again.StorageRoot != whole.StorageRoot || again.StorageSize != whole.StorageSize || again.Balance != held+77 {
		t.Errorf("restored: %+v, was %+v", again, whole)
	}
	if got := r.call("get", cbor.AppendUint(nil, 17)); got.Code != chain.CodeOK || string(got.Output) != "\x63777" {
		t.Errorf("get: %s %q", chain.CodeName(got.Code), got.Output)
	}
	if s := r.status(); s.State != rent.Paid || s.Owed != 0 || s.EvictionAt != 0 {
		t.Errorf("restored: %+v", s)
	}
	r.until(rent.Grace) // rent goes on
}

// TestRestoreBlob has an actor bring another's storage back that is one blob of the
// largest size (whitepaper, "Storage Restoration"; ADR 44).
func TestRestoreBlob(t *testing.T) {
	r := newRanch(t, func(p *params.Params) { p.Rent.PricePerByteYear = 1_000_000_000_000_000 })
	size := r.g.Params.Actor.InlineBlobBytes
	keep := r.deployProgram(keeper, 0, cbor.AppendUint(nil, size), "storage.blob")
	whole, _, _ := r.ground.Account(keep)
	if whole.StorageSize.Entries != 1 || whole.StorageSize.Bytes <= size {
		t.Fatalf("stored: %+v", whole.StorageSize)
	}
	rescue := r.deployProgram(rescuer, 1_000_000*chain.WeiPerCBY, nil, "econ.hold_balance", "econ.transfer")
	r.actor = keep
	r.until(rent.Dormant)
	hash := actor.Multihash(bytes.Repeat([]byte("x"), int(size)))
	try := func(size uint64) chain.Receipt {
		arg := cbor.AppendBytes(cbor.AppendArray(nil, 3), keep[:])
		arg = cbor.AppendText(arg, "__blob:"+hex.EncodeToString(hash))
		return r.one(r.program(alice, &rescue, actor.AppendMessage(nil, "rescue", cbor.AppendUint(arg, size))))
	}
	if got := try(size + 1); got.Code != chain.CodeReverted {
		t.Errorf("a byte more than a blob has: %s", chain.CodeName(got.Code))
	}
	if got := try(size); got.Code != chain.CodeOK {
		t.Fatalf("rescue: %s", chain.CodeName(got.Code))
	}
	r.next() // compares the root
	if again, _, _ := r.ground.Account(keep); again.StorageRoot != whole.StorageRoot || again.StorageSize != whole.StorageSize {
		t.Errorf("restored: %+v, was %+v", again, whole)
	}
	if got := r.call("size", cbor.AppendBytes(nil, hash)); got.Code != chain.CodeOK || string(got.Output) != string(cbor.AppendUint(nil, size)) {
		t.Errorf("size: %s %x", chain.CodeName(got.Code), got.Output)
	}
}

// TestRestorationsInACrowd has so many storages restored in one message that their
// roots are compared over several blocks: those that wait are not late, nobody else
// gets in between, and all money comes back that is not burned.
func TestRestorationsInACrowd(t *testing.T) {
	const crowd = `
from cowboy_sdk import actor, public, storage, CowboyError

@actor
class Crowd:
    @public
    def restore(self, msg):
        codes = []
        for a, data in msg.payload:
            try:
                storage.restore(a, data)
            except CowboyError as e:
                codes.append(e.code)
        return codes
`
	r := newRanch(t, func(p *params.Params) { p.Rent.PricePerByteYear = 1_000_000_000_000_000 })
	fill := cbor.AppendUint(cbor.AppendText(cbor.AppendArray(nil, 2), "k"), 11_000)
	var asleep []chain.Address
	for salt := range byte(2*rent.CommitsPerBlock + 2) {
		d := actor.Deployment{
			Source: []byte(hoarder), Salt: []byte{2, salt}, Manifest: manifest.Manifest("storage.kv"),
			Init: &actor.Init{Handler: "fill", Payload: fill},
		}
		if got := r.one(r.program(alice, nil, actor.AppendPayload(nil, &d))); got.Code != chain.CodeOK {
			t.Fatalf("deploy: %s", chain.CodeName(got.Code))
		}
		asleep = append(asleep, actor.AddressOf(alice, d.Salt, d.Source))
	}
	crew := r.deployProgram(crowd, 3_000_000*chain.WeiPerCBY, nil, "econ.hold_balance")
	r.actor = asleep[len(asleep)-1]
	r.until(rent.Dormant)

	// restore has one message restore some of them, with forged data except the last,
	// and returns the codes of what was refused.
	restore := func(some []chain.Address, honest bool) string {
		b := cbor.AppendArray(nil, len(some))
		for i, a := range some {
			b = cbor.AppendMap(cbor.AppendBytes(cbor.AppendArray(b, 2), a[:]), 1)
			if honest && i == len(some)-1 {
				b = cbor.AppendText(cbor.AppendText(b, "k"), strings.Repeat("x", 11_000))
			} else {
				b = cbor.AppendText(cbor.AppendText(b, "forged"), "x")
			}
		}
		tx := r.program(alice, &crew, actor.AppendMessage(nil, "restore", b)).Tx
		tx.CellsLimit = 200_000
		got := r.one(verified(tx, alice))
		if got.Code != chain.CodeOK {
			t.Fatalf("restore: %s", chain.CodeName(got.Code))
		}
		return string(got.Output)
	}
	if refused := restore(asleep, true); refused != "\x80" {
		t.Fatalf("refused: %x", refused)
	}
	r.next()
	if refused := restore(asleep[len(asleep)-2:], false); refused != "\x82\x65E1501\x65E1501" {
		t.Errorf("others in between: %q", refused)
	}
	deadline := cbor.AppendUint(nil, uint64(r.height)+50)
	if got := r.one(r.rentTx(bob, chain.OpRestoreBegin, deadline)); got.Code != chain.CodeExists && got.Code != chain.CodeNotFound {
		t.Errorf("begun by another: %s", chain.CodeName(got.Code))
	}
	r.next()
	if s := r.status(); s.State != rent.Paid || r.balance(chain.AddrRent) != 0 {
		t.Errorf("%v with the right data, %d still kept", s.State, r.balance(chain.AddrRent))
	}
	for _, a := range asleep[:len(asleep)-1] {
		rec, err := stored.RecordOf(r.ground, a)
		if err != nil || rec.Restoring != nil {
			t.Fatalf("%s after forged data: %+v, %v", a, rec, err)
		}
	}
	if n := len(r.names); r.names[n-1] != rent.EventRestored {
		t.Errorf("events %v", r.names[n-3:])
	}
}

// TestStorageQuota is the bytes that an actor may keep, free and bonded
// (whitepaper §3.2, §17.5; resolution 3.4).
func TestStorageQuota(t *testing.T) {
	r := newRanch(t, func(p *params.Params) {
		p.Rent.ChargeBlocks, p.EpochBlocks = 86_400, 3_600
		p.Actor.StorageQuotaBytes, p.Actor.StorageQuotaBondBytes = 24_000, 48_000
	})
	r.deploy(100*chain.WeiPerCBY, "econ.hold_balance", "econ.transfer", "storage.kv", "timer.schedule")
	key := []byte("more")
	fill := func(bytes uint64) uint16 {
		arg := cbor.AppendText(cbor.AppendArray(nil, 2), string(key))
		return r.call("fill", cbor.AppendUint(arg, bytes)).Code
	}
	if code := fill(1_000); code != chain.CodeOK {
		t.Fatalf("within: %s", chain.CodeName(code))
	}
	acct, _, _ := r.ground.Account(r.actor)
	left := 24_000 - acct.StorageSize.Bytes // of the same CBOR head: a text of 256 to 65,535 bytes
	if code := fill(1_000 + left + 1); code != chain.CodeQuotaExceeded {
		t.Errorf("a byte above: %s", chain.CodeName(code))
	}
	if code := fill(1_000 + left); code != chain.CodeOK {
		t.Errorf("the last byte: %s", chain.CodeName(code))
	}
	bond := func(bytes uint64) string { return string(r.call("bond", cbor.AppendUint(nil, bytes)).Output) }
	before := r.balance(r.actor)
	if got := bond(48_001); got != "\x65E1304" {
		t.Errorf("above what a bond can buy: %q", got)
	}
	if got := bond(30_000); got != "\xf6" {
		t.Errorf("bond: %q", got)
	}
	kept := 6_000 * r.g.Params.Actor.StorageBondPerByte
	if r.balance(chain.AddrRent) != kept || r.balance(r.actor) != before-kept {
		t.Errorf("bond of %d, balance %d, was %d", r.balance(chain.AddrRent), r.balance(r.actor), before)
	}
	if code := fill(1_000 + left + 6_001); code != chain.CodeQuotaExceeded {
		t.Errorf("a byte above the bond: %s", chain.CodeName(code))
	}
	if code := fill(1_000 + left + 6_000); code != chain.CodeOK {
		t.Errorf("the last byte of the bond: %s", chain.CodeName(code))
	}
	if got := bond(29_999); got != "\x65E1304" {
		t.Errorf("below what is stored: %q", got)
	}
	if code := fill(1_000); code != chain.CodeOK {
		t.Errorf("less: %s", chain.CodeName(code))
	}
	if got := bond(24_000); got != "\xf6" || r.balance(chain.AddrRent) != 0 || r.balance(r.actor) != before {
		t.Errorf("the bond comes back: %q, %d kept, balance %d, was %d", got, r.balance(chain.AddrRent), r.balance(r.actor), before)
	}
}

// TestRentIsOwedByActors refuses a payment that would pay for nothing.
func TestRentIsOwedByActors(t *testing.T) {
	r := newRanch(t, func(*params.Params) {})
	r.actor = bob
	if got := r.one(r.rentTx(alice, chain.OpRentPrepay, cbor.AppendUint(nil, 1))); got.Code != chain.CodeNotFound {
		t.Errorf("%s", chain.CodeName(got.Code))
	}
}
