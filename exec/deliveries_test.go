package exec_test

import (
	"bytes"
	"errors"
	"flag"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/mailbox"
	"github.com/cowboy-foundation/cowboy/state"
)

// put writes what a test has waiting, which nobody has counted.
func (c *testChain) put(write func(o *state.Overlay) error) {
	c.t.Helper()
	o := state.NewOverlay(c.state)
	if err := write(o); err != nil {
		c.t.Fatal(err)
	}
	meter := bytes.Repeat([]byte{0, 0, 0, 0, 0, 16, 0, 0}, 4)
	o.SetStorage(chain.AddrTreasury, state.NewStorageKey(state.VMNamespaceSystem, []byte("state")), meter)
	c.state = c.state.With(o.Delta())
}

var crowds = flag.Bool("crowds", false, "TestCrowdOfOrigins: crowds of 100,000 and of 10,000")

// TestCrowdOfOrigins: a crowd whose members have each deferred a message to one height
// holds up who deferred to it by as many blocks as it makes in the worst place, and
// neither who deferred after it, nor who deferred to another height or waits.
func TestCrowdOfOrigins(t *testing.T) { // ADR 100
	for _, tt := range []struct {
		name        string
		crowd, full int
		burns       uint64 // loops of each; 0: it goes to an account without code
		perBlock    int    // of whom a block takes at least so many
	}{
		{"messages that do nothing", 16_000, 100_000, 0, 2_000},
		{"messages that fill blocks", 2_000, 10_000, 9_000, 300}, // who stands in their midst waits for what they have paid
	} {
		t.Run(tt.name, func(t *testing.T) {
			if *crowds {
				tt.crowd = tt.full
			}
			c := messages(t)
			b := c.deployed(relay, 1, "storage.kv")
			for n := range byte(20) { // so that a receiver's cycles do not end before the block's
				c.deployed(relay, 10+n, "storage.kv")
			}
			at := c.height + 2
			nonce := uint64(0)
			item := func(origin, to chain.Address, handler string, arg []byte) *mailbox.Item {
				nonce++
				return &mailbox.Item{
					From: origin, To: to, Origin: origin, Nonce: nonce, Handler: handler, Payload: arg,
					Cycles: 100_000, Cells: c.g.Params.Actor.MessageReserveCells, Parked: c.height,
				}
			}
			names := []string{"", "who deferred in their midst", "who deferred after them", "who deferred to a height after theirs", "who waits"}
			own := func(n byte) *mailbox.Item {
				return item(chain.Address{0: 0xdd, 1: n}, b, "burn", cbor.AppendUint(nil, uint64(n)))
			}
			c.put(func(o *state.Overlay) error {
				for n := range tt.crowd {
					if n == tt.crowd/2 {
						if err := mailbox.Defer(o, c.height, at, own(1), 9); err != nil {
							return err
						}
					}
					a := chain.Address{0: 0xcc, 1: byte(n >> 16), 2: byte(n >> 8), 3: byte(n)}
					it := item(a, a, "", cbor.AppendNull(nil))
					if tt.burns > 0 {
						it.To = actor.AddressOf(alice, []byte{10 + byte(n%20)}, []byte(relay))
						it.Handler, it.Payload = "burn", cbor.AppendUint(nil, tt.burns)
					}
					if err := mailbox.Defer(o, c.height, at, it, 9); err != nil {
						return err
					}
				}
				if err := mailbox.Defer(o, c.height, at, own(2), 9); err != nil {
					return err
				}
				return mailbox.Defer(o, c.height, at+2, own(3), 9)
			})
			late := map[uint64]chain.Height{}
			worst := chain.Cycles(0)
			for len(late) < 4 && c.height < at+400 {
				if c.height == at+1 {
					c.put(func(o *state.Overlay) error {
						it := own(4)
						actor.WriteQuota(o, b, actor.Quota{Waiting: 1})
						return mailbox.Push(o, it, 9)
					})
				}
				r := c.block()
				used := chain.Cycles(0)
				for i := range r.Receipts {
					used += r.Receipts[i].CyclesUsed
					for _, e := range r.Receipts[i].Events {
						if e.Emitter == b {
							n, err := cbor.DecodeUint(e.Data)
							if err != nil {
								t.Fatal(err)
							}
							late[n] = c.height - []chain.Height{at, at, at + 2, at + 2}[n-1]
						}
					}
				}
				worst = max(worst, used)
			}
			for n, most := range map[uint64]chain.Height{1: chain.Height(tt.crowd/tt.perBlock) + 1, 2: 0, 3: 0, 4: 0} {
				if got, came := late[n]; !came || got > most {
					t.Errorf("%s: %d blocks late (%v), want at most %d", names[n], got, came, most)
				}
			}
			t.Logf("late: %v; most cycles of a block: %d", late, worst)
		})
	}
}

// TestWhoAsksForMuchIsPassed: a message that reserves more than a block has left lets
// those behind it by, who ask for no more than a plain one, and goes when there is room.
func TestWhoAsksForMuchIsPassed(t *testing.T) { // ADR 100
	const much = 500_000
	c := messages(t)
	b := c.deployed(relay, 1, "storage.kv")
	late := func(o chain.Address, n uint64, to chain.Address, cells chain.Cells) *mailbox.Item {
		return &mailbox.Item{
			From: o, To: to, Origin: o, Nonce: n, Handler: "burn", Payload: cbor.AppendUint(nil, n), Cycles: 60_000, Cells: cells,
		}
	}
	at := c.height + 1
	c.put(func(o *state.Overlay) error {
		for n := range byte(200) {
			if err := mailbox.Defer(o, c.height, at, late(chain.Address{0xcc, n}, 1, b, much), 9); err != nil {
				return err
			}
		}
		bare := late(bob, 3, chain.Address{0xee}, much) // where is no code
		bare.Handler, bare.Payload = "", cbor.AppendNull(nil)
		if err := mailbox.Defer(o, c.height, at, bare, 9); err != nil {
			return err
		}
		return mailbox.Defer(o, c.height, at, late(bob, 2, b, 10_000), 9)
	})
	c.g.Params.CellsCap, c.g.Params.CellsTarget = much-1, much-1 // as if others used the rest
	mine, paid := false, false
	for range 2 {
		r := c.block()
		for i := range r.Receipts {
			got := &r.Receipts[i]
			mine = mine || len(got.Events) == 1 && string(got.Events[0].Data) == string(cbor.AppendUint(nil, 2))
			paid = paid || len(got.Events) == 0 && got.Code == chain.CodeOK
		}
	}
	if !mine || !paid || c.waiting(b) != 200 {
		t.Errorf("mine came: %v, that to an account without code: %v; %d wait", mine, paid, c.waiting(b))
	}
	c.g.Params.CellsCap = 2 * much
	for range 20 {
		c.block()
	}
	if n := c.waiting(b); n != 0 {
		t.Errorf("%d wait in empty blocks", n)
	}
}

// TestWhoIsLetInHasATurn: those who enter the ring while all before them wait in vain have
// their turns in the same block.
func TestWhoIsLetInHasATurn(t *testing.T) { // ADR 100
	const vain, due = 250, 200
	c := messages(t)
	b, d, e := c.deployed(relay, 1, "storage.kv"), c.deployed(relay, 2, "storage.kv"), c.deployed(relay, 3, "storage.kv")
	at := c.height + 1
	item := func(kind, n byte, to chain.Address) *mailbox.Item {
		a := chain.Address{kind, n}
		return &mailbox.Item{
			From: a, To: to, Origin: a, Nonce: 1, Handler: "log", Payload: cbor.AppendNull(nil), Cycles: 60_000, Cells: 10_000, Parked: at + 9,
		}
	}
	c.put(func(o *state.Overlay) error {
		actor.WriteQuota(o, b, actor.Quota{Waiting: vain})
		actor.WriteQuota(o, d, actor.Quota{Waiting: vain})
		for n := range byte(vain) { // two receivers each, so that a round of theirs takes two turns
			if err := errors.Join(mailbox.Push(o, item(0xcc, n, b), 9), mailbox.Push(o, item(0xcc, n, d), 9)); err != nil {
				return err
			}
		}
		for n := range byte(due) {
			it := item(0xdd, n, b)
			if n == due/2 {
				it.To, it.Parked = e, 0
			}
			if err := mailbox.Defer(o, c.height, at, it, 9); err != nil {
				return err
			}
		}
		return nil
	})
	if r := c.block(); len(r.Receipts) != 1 {
		t.Errorf("%d messages came", len(r.Receipts))
	}
}

// TestRingInFullBlocks: where blocks have room for few turns, a crowd that is due enters
// the ring no faster than those who stand there have their turns.
func TestRingInFullBlocks(t *testing.T) { // ADR 100
	const crowd, burns, turns = 3_000, 9_000, 70
	c := messages(t)
	b := c.deployed(relay, 1, "storage.kv")
	for n := range byte(20) { // so that a receiver's cycles do not end before the block's
		c.deployed(relay, 10+n, "storage.kv")
	}
	at := c.height + 2
	item := func(origin, to chain.Address, arg uint64) *mailbox.Item {
		return &mailbox.Item{
			From: origin, To: to, Origin: origin, Nonce: 1, Handler: "burn", Payload: cbor.AppendUint(nil, arg),
			Cycles: 100_000, Cells: c.g.Params.Actor.MessageReserveCells, Parked: c.height,
		}
	}
	c.put(func(o *state.Overlay) error {
		for n := range crowd {
			a := chain.Address{0: 0xcc, 1: byte(n >> 8), 2: byte(n)}
			it := item(a, actor.AddressOf(alice, []byte{10 + byte(n%20)}, []byte(relay)), burns)
			if err := mailbox.Defer(o, c.height, at, it, 9); err != nil {
				return err
			}
		}
		return nil
	})
	began := at + 15
	for c.height < began+60 {
		if c.height == began {
			c.put(func(o *state.Overlay) error {
				actor.WriteQuota(o, b, actor.Quota{Waiting: 1})
				return mailbox.Push(o, item(bob, b, 1), 9)
			})
		}
		c.g.Params.CyclesTarget, c.g.Params.CyclesCap = turns*50_000, turns*50_000 // as if others used the rest
		r := c.block()
		for i := range r.Receipts {
			for _, e := range r.Receipts[i].Events {
				if e.Emitter == b && string(e.Data) == string(cbor.AppendUint(nil, 1)) {
					if late := c.height - began - 1; late > 4 {
						t.Errorf("who waits comes %d blocks late", late)
					}
					return
				}
			}
		}
	}
	t.Error("who waits does not come")
}

// TestTakingUpMovesNoPayloads: of a crowd whose long messages are due, a block reads and
// writes no more than of one with short ones, and what it takes up has its place in it.
func TestTakingUpMovesNoPayloads(t *testing.T) { // ADR 129
	written := map[int]int{}
	for _, size := range []int{100, 20_000} {
		c := messages(t)
		b := c.deployed(relay, 1, "storage.kv")
		at := c.height + 1
		c.put(func(o *state.Overlay) error {
			for n := range 1_200 {
				a := chain.Address{0: 0xcc, 1: byte(n >> 9), 2: byte(n / 2)} // two in a turn
				it := &mailbox.Item{
					From: a, To: b, Origin: a, Nonce: uint64(n), Handler: "log", Payload: cbor.AppendBytes(nil, make([]byte, size)),
					Cycles: 3_000_000, Cells: 100, Parked: at + 9, // it is not ready for long
				}
				if err := mailbox.Defer(o, c.height, at, it, 9); err != nil {
					return err
				}
			}
			return nil
		})
		c.g.Params.CyclesTarget, c.g.Params.CyclesCap = 2_000_000, 2_000_000
		r := c.block()
		rows, _ := r.Delta.Change(chain.AddrMailbox)
		taken := 0
		for i := range rows.Storage {
			written[size] += len(rows.Storage[i].Value)
			if strings.HasPrefix(string(rows.Storage[i].Key[1:]), "item/") {
				taken++
			}
		}
		if room := int(c.g.Params.CyclesCap / c.g.Params.API.DeliveryCycles); taken < room/2 || taken > room {
			t.Errorf("payloads of %d bytes: %d are taken up in room for %d", size, taken, room)
		}
	}
	if written[20_000] > written[100] {
		t.Errorf("a block writes %v bytes, by the bytes of a payload", written)
	}
}
