package siege

import (
	"slices"

	"github.com/cowboy-foundation/cowboy/bench/boundary"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/actor"
)

// neighbour is the actor of honest people: it counts, tells the next one, defers and
// sets a timer, and says when what it waits for comes.
const neighbour = `
from cowboy_sdk import actor, public, send, set_timer, create_deferred_tx, current_block, emit_event

@actor
class Neighbour:
    def init(self, msg):
        self.storage["n"] = 0

    @public
    def work(self, msg):
        self.storage["n"] += 1
        due = current_block() + 3
        set_timer(due, "tick", due)
        send(msg.payload, current_block(), "told", 0, 60000)
        create_deferred_tx(msg.payload, "told", due, due, 0, 60000, 500)

    @public
    def count(self, msg):
        self.storage["n"] += 1

    @public
    def remind(self, msg):
        set_timer(msg.payload, "remember", current_block())

    def remember(self, msg):
        self.storage["remembered"] = msg.payload

    @public
    def told(self, msg):
        emit_event("told", msg.payload)

    def tick(self, msg):
        emit_event("tick", msg.payload)
`

// clock is an honest actor that needs nobody: its timer sets the next one. Anybody
// may make it work.
const clock = `
from cowboy_sdk import actor, public, set_timer, current_block, emit_event

@actor
class Clock:
    def init(self, msg):
        self.tick(msg)

    def tick(self, msg):
        emit_event("tick", msg.payload)
        due = current_block() + 2
        set_timer(due, "tick", due)

    @public
    def spin(self, msg):
        while True:
            pass
`

// neighbours is how many of them there are; each gets one message in a block.
const neighbours = 4

// sent is an honest transaction that is not in a block yet.
type sent struct {
	at      chain.Height // the head when it came
	counts  bool         // it came while the attack went on
	message bool
}

// honest is the honest traffic and what became of it.
type honest struct {
	actors    []chain.Address
	clock     chain.Address
	ticked    chain.Height        // last
	clockLate uint64              // its latest timer, in blocks
	sent      map[chain.Hash]sent // of transactions that are not in yet: the head when they came
	begun     chain.Height        // first block that counts
	offered   int
	refused   int // by the pool
	inTime    int // in a block within three
	asked     int // of offered: messages
	heard     int // of them, in a block within three
	late      int
	transfer  int      // in blocks
	delays    []uint64 // of what was deferred and of timers, in blocks
	due       int
	failed    map[string]int
	turn      int
	rests     bool // no attack goes on: what is sent does not count
}

// honestCap is the highest base fee that the honest pay.
const honestCap = 10_000

// deferredCap is the highest that is paid for what they defer.
const deferredCap = 500

// inTimeBlocks is how many blocks an honest transaction may wait.
const inTimeBlocks = 3

// settle deploys the neighbours.
func (s *siege) settle() {
	s.t.Helper()
	s.honest.sent, s.honest.failed = map[chain.Hash]sent{}, map[string]int{}
	for i := range neighbours {
		a := s.deploy(person(i), []byte(neighbour), byte(i), boundary.EncodeManifest(boundary.All()), &actor.Init{Handler: "init", Payload: null()}, 20_000*chain.WeiPerCBY)
		s.honest.actors = append(s.honest.actors, a)
	}
	s.honest.clock = s.deploy(person(0), []byte(clock), 100, boundary.EncodeManifest(boundary.All()), &actor.Init{Handler: "init", Payload: number(uint64(s.height) + 1)}, 20_000*chain.WeiPerCBY)
	s.live(0) // each has served once, as what honest people call has
	for range 6 {
		b := s.next()
		s.note(&b)
	}
	s.honest.offered, s.honest.asked, s.honest.inTime, s.honest.heard, s.honest.due = 0, 0, 0, 0, 0
	s.honest.delays, s.honest.clockLate = nil, 0
	s.honest.begun = s.height + 1
}

// deploy makes an actor in a block of its own.
func (s *siege) deploy(from chain.Address, source []byte, salt byte, manifest []byte, init *actor.Init, value chain.Wei) chain.Address {
	s.t.Helper()
	d := actor.Deployment{Source: source, Salt: []byte{salt}, Manifest: manifest, Init: init}
	tx := s.tx(from, chain.Tx{Value: value, Payload: actor.AppendPayload(nil, &d), CyclesLimit: s.params().MaxTxCycles, CellsLimit: s.params().MaxTxCells, TipPerCycle: 5})
	s.alone(tx)
	a := actor.AddressOf(from, d.Salt, d.Source)
	s.actors = append(s.actors, a)
	return a
}

// register makes a runner of an account.
func (s *siege) register(a chain.Address) {
	s.t.Helper()
	q := &chain.RunnerRegister{Capabilities: chain.Capabilities{MaxConcurrentJobs: 1}}
	s.alone(s.tx(a, chain.Tx{
		To: &chain.AddrRunnerRegistry, Payload: chain.EncodeRequest(q), Value: s.params().Runner.StakeFloor,
		CyclesLimit: 1_000_000, CellsLimit: 20_000, TipPerCycle: 5,
	}))
}

// alone puts a transaction through, which must succeed.
func (s *siege) alone(tx *chain.VerifiedTx) []byte {
	s.t.Helper()
	if err := s.offer(tx); err != nil {
		s.t.Fatal(err)
	}
	for range 5 {
		b := s.next()
		for i, in := range b.event.Txs {
			if in.Hash != tx.Hash {
				continue
			}
			if r := b.event.Receipts[i]; r.Code != chain.CodeOK {
				s.t.Fatalf("setting up: %s", chain.CodeName(r.Code))
			}
			return b.event.Receipts[i].Output
		}
	}
	s.t.Fatal("setting up: no block takes the transaction")
	return nil
}

// live offers the honest traffic of one block.
func (s *siege) live(transfers int) {
	h := &s.honest
	offer := func(from chain.Address, tx chain.Tx) {
		tx.TipPerCycle = 1
		tx.MaxFeePerCycle, tx.MaxFeePerCell = honestCap, honestCap // who overbids the honest shall pay for it
		v := s.tx(from, tx)
		if !h.rests {
			h.offered++
			if len(tx.Payload) > 0 {
				h.asked++
			}
		}
		if err := s.offer(v); err != nil {
			h.refused++
			h.failed[err.Error()]++
			return
		}
		h.sent[v.Hash] = sent{at: s.height, counts: !h.rests, message: len(tx.Payload) > 0}
	}
	for range transfers {
		h.turn++
		to := person((h.turn*7 + 3) % honestPeople)
		offer(person(neighbours+h.turn%(honestPeople-neighbours)), chain.Tx{To: &to, Value: 1, CyclesLimit: s.params().Intrinsic.TransferCycles})
	}
	for i, a := range h.actors {
		next := h.actors[(i+1)%len(h.actors)]
		offer(person(i), chain.Tx{To: &a, Payload: message("work", raw(next[:])), CyclesLimit: 400_000, CellsLimit: 16_000})
	}
}

// note books what a block has of the honest.
func (s *siege) note(b *block) {
	h := &s.honest
	at := b.event.Block.Header.Height
	for i, tx := range b.event.Txs {
		was, ours := h.sent[tx.Hash]
		if !ours {
			continue
		}
		delete(h.sent, tx.Hash)
		if !was.counts {
		} else if at-was.at <= inTimeBlocks {
			h.inTime++
			if len(tx.Tx.Payload) > 0 {
				h.heard++
			}
		} else {
			h.late++
		}
		r := &b.event.Receipts[i]
		switch {
		case len(tx.Tx.Payload) == 0:
			h.transfer++
		case r.Code == chain.CodeOK:
			h.due += 2 // a timer and a deferred message
		}
		if r.Code != chain.CodeOK {
			h.failed[chain.CodeName(r.Code)]++
		}
	}
	for i := range b.event.Receipts {
		for _, e := range b.event.Receipts[i].Events {
			ours := e.Emitter == h.clock
			if ours {
				h.ticked = at
			} else if !slices.Contains(h.actors, e.Emitter) || e.Name != "tick" && e.Name != "told" {
				continue
			}
			c := cbor.NewReader(e.Data)
			due, err := c.Uint()
			if err != nil {
				continue
			}
			if e.Name == "told" && chain.Height(due) == at {
				if i < len(b.event.Txs) {
					continue // sent, not deferred
				}
			}
			if late := uint64(at) - due; ours {
				h.clockLate = max(h.clockLate, late)
			} else {
				h.delays = append(h.delays, late)
			}
		}
	}
}

// share is the part of the honest transactions that were in within three blocks: of all, or
// of the messages among them, which are few beside the transfers, if that is less.
func (h *honest) share() float64 {
	if h.offered == 0 {
		return 1
	}
	return min(float64(h.inTime)/float64(h.offered), float64(h.heard)/max(1, float64(h.asked)))
}

// worstDelay is how many blocks the latest delivery or timer was late.
func (h *honest) worstDelay() uint64 {
	return slices.Max(append([]uint64{h.clockLate}, h.delays...))
}
