package exec_test

import (
	"encoding/binary"
	"maps"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/mailbox"
	"github.com/cowboy-foundation/cowboy/exec/timers"
	"github.com/cowboy-foundation/cowboy/state/statetest"
)

// record reads a record of the state by its form alone.
type record struct {
	d *day
	r cbor.Reader
}

func reading(d *day, b []byte) *record { return &record{d, cbor.NewReader(b)} }

func (f *record) no(err error) {
	if err != nil {
		f.d.errorf("a record is malformed: %v", err)
	}
}

func (f *record) array(n int) { f.no(f.r.ArrayOf(n)) }
func (f *record) end()        { f.no(f.r.End()) }

func (f *record) uint() uint64 {
	n, err := f.r.Uint()
	f.no(err)
	return n
}

func (f *record) bool() bool {
	v, err := f.r.Bool()
	f.no(err)
	return v
}

func (f *record) bytes() string {
	b, err := f.r.Bytes(1 << 20)
	f.no(err)
	return string(b)
}

// numbers reads an array of n integers; of nothing, zeros.
func (d *day) numbers(b []byte, n int) []uint64 {
	out := make([]uint64, n)
	if b == nil {
		return out
	}
	f := reading(d, b)
	f.array(n)
	for i := range out {
		out[i] = f.uint()
	}
	f.end()
	return out
}

func (d *day) amount(b []byte) chain.Amount {
	f := reading(d, b)
	n, err := chain.ReadAmount(&f.r)
	f.no(err)
	f.end()
	return n
}

// auditMailbox holds circles, flows and days to the items, the items to the messages
// that wait by the receipts, and the escrow to their values.
func (d *day) auditMailbox() {
	var escrow chain.Wei
	flows, lates, waiting := map[string]uint64{}, map[string]uint64{}, map[chain.Hash]chain.Address{}
	owed, perBox := map[string]uint64{}, map[string]uint64{}
	for _, late := range []bool{false, true} {
		table, per, head := "item/", flows, 40
		if late {
			table, per, head = "late/", lates, 28
		}
		for k, b := range d.slots.table(chain.AddrMailbox, table) {
			it, err := mailbox.DecodeItem(b)
			if err != nil || late && (!it.Late || string(it.Origin[:]) != k[8:28]) || !late && string(it.To[:])+string(it.From[:]) != k[:40] {
				d.errorf("item %x: %+v, %v", k, it, err)
				continue
			}
			escrow += it.Value
			per[k[:head]]++
			if !late {
				owed[string(it.Origin[:])+string(it.To[:])]++
				perBox[string(it.To[:])]++
			}
			waiting[messageID(it)] = it.To
			d.auditNumber(it)
		}
	}
	if got := d.held(chain.AddrMailbox); got != escrow {
		d.errorf("the mailbox holds %d, its items %d", got, escrow)
	}
	if len(waiting) != len(d.once.waiting) {
		d.errorf("%d messages wait, by the receipts %d", len(waiting), len(d.once.waiting))
	}
	for id, to := range waiting {
		if d.once.waiting[id] != to {
			d.errorf("message %s waits for %s, by the receipts for %s", id, to, d.once.waiting[id])
		}
	}
	d.auditSpans("flow/", "item/", flows)
	d.auditSpans("late-of/", "late/", lates)
	d.auditTurns(flows, lates, owed)
	for _, to := range d.herd {
		if l, err := actor.ReadQuota(d.ground, to); err != nil || l.Waiting != perBox[string(to[:])] {
			d.errorf("%d wait for %s, its ledger says %d, %v", perBox[string(to[:])], to, l.Waiting, err)
		}
	}
}

// auditTurns holds the circles to what waits: who stands in which, each once.
func (d *day) auditTurns(flows, lates, owed map[string]uint64) {
	senders, receivers, ring, days := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	for k := range flows { // receiver, sender
		senders[k]++
	}
	counts := d.slots.table(chain.AddrMailbox, "owed/")
	for k, b := range counts { // origin, receiver
		receivers[k]++
		ring[k[:20]] = 1
		if f := reading(d, b); f.uint() != owed[k] {
			d.errorf("%x: %x for %d items", k, b, owed[k])
		}
	}
	for k := range owed {
		if counts[k] == nil {
			d.errorf("%x has items and no count", k)
		}
	}
	due := map[string]bool{}
	for k, b := range d.slots.table(chain.AddrMailbox, "due-at/") { // origin, place
		f := reading(d, b)
		due[string(binary.BigEndian.AppendUint64(nil, f.uint()))+k[:20]] = true
		ring[k[:20]] = 1
	}
	for k := range lates { // height, origin
		if !due[k] {
			days[k]++
		}
	}
	d.auditCircle("box/", "from/", senders)
	d.auditCircle("to/", "to-at/", receivers)
	d.auditNaps(ring)
	d.auditCircle("ring", "ring/", ring)
	d.auditCircle("day/", "day-at/", days)
	if n := len(d.slots.table(chain.AddrMailbox, "member/")); n != len(ring) {
		d.errorf("%d members of a ring of %d", n, len(ring))
	}
	if clock := d.slots[chain.AddrMailbox][systemKey("clock")]; clock != nil {
		if n := d.numbers(clock, 2); n[1] != uint64(len(days)) {
			d.errorf("the clock counts %d entries of %d", n[1], len(days))
		}
	}
}

// auditNaps takes out of the ring who naps: whose turns were in vain, who stands at the
// height of waking and not in the ring (ADR 93).
func (d *day) auditNaps(ring map[string]int) {
	naps, per := map[string]bool{}, map[string]uint64{}
	places := d.slots.table(chain.AddrMailbox, "nap-at/") // height, place
	for k, who := range places {
		naps[string(who)] = true
		per[k[:8]]++
	}
	d.auditSpans("nap/", "nap-at/", per)
	if clock := d.slots[chain.AddrMailbox][systemKey("nap-clock")]; clock != nil || len(places) > 0 {
		if n := d.numbers(clock, 2); n[1] != uint64(len(places)) {
			d.errorf("the clock counts %d naps of %d", n[1], len(places))
		}
	}
	vain, members := d.slots.table(chain.AddrMailbox, "vain/"), d.slots.table(chain.AddrMailbox, "member/")
	for k := range vain {
		if ring[k] == 0 && !naps[k] {
			d.errorf("%x has turns in vain and nothing that waits", k)
		}
	}
	for k := range ring {
		if members[k] == nil && naps[k] && vain[k] != nil {
			delete(ring, k)
			d.did["naps"]++
		}
	}
}

// auditCircle holds the circles of two tables to who should stand in them: keys are
// whose circle it is, and who stands in it.
func (d *day) auditCircle(heads, places string, want map[string]int) {
	got, per := map[string]int{}, map[string]uint64{}
	for k, who := range d.slots.table(chain.AddrMailbox, places) {
		got[k[:len(k)-8]+string(who)]++
		per[k[:len(k)-8]]++
	}
	if !maps.Equal(got, want) {
		d.errorf("%s: %x stand there, want %x", places, got, want)
	}
	if heads == "ring" { // one without an owner
		return
	}
	d.auditSpans(heads, places, per)
}

// messageID is the id of an item by the definition (whitepaper §3.3).
func messageID(it *mailbox.Item) chain.Hash {
	b := cbor.AppendText(cbor.AppendBytes(cbor.AppendArray(nil, 5), it.To[:]), it.Handler)
	b = cbor.AppendUint(cbor.AppendUint(cbor.AppendBytes(b, it.Payload), uint64(it.Value)), uint64(it.Cycles))
	said := keccak.Sum256(b)
	return keccak.Sum256(it.From[:], binary.BigEndian.AppendUint64(nil, it.Nonce), said[:])
}

// auditNumber holds an item to the numbers of its sender.
func (d *day) auditNumber(it *mailbox.Item) {
	l, err := actor.ReadQuota(d.ground, it.From)
	if err != nil || it.Nonce >= l.Sent || it.Parked > d.height {
		d.errorf("item %d of %s of block %d, who has sent %d, %v", it.Nonce, it.From, it.Parked, l.Sent, err)
	}
	if it.Late {
		return
	}
	seen := d.slots[chain.AddrMailbox][systemKey("seen/"+string(it.To[:])+string(it.From[:]))]
	if seen == nil {
		d.errorf("item %d of %s was not seen", it.Nonce, it.From)
		return
	}
	if f := reading(d, seen); it.Nonce >= f.uint() {
		d.errorf("item %d of %s is behind the watermark", it.Nonce, it.From)
	}
}

// auditSpans holds the places of a table of spans to the items there.
func (d *day) auditSpans(spans, items string, per map[string]uint64) {
	table := d.slots.table(chain.AddrMailbox, items)
	left := len(per)
	for k, b := range d.slots.table(chain.AddrMailbox, spans) {
		s := d.numbers(b, 2)
		if s[1]-s[0] != per[k] || s[1]-s[0] > d.c.g.Params.Actor.MailboxItems {
			d.errorf("%s%x has places %v for %d items", spans, k, s, per[k])
		}
		for at := s[0]; at < s[1]; at++ {
			if table[k+string(binary.BigEndian.AppendUint64(nil, at))] == nil {
				d.errorf("%s%x: nothing at %d", items, k, at)
			}
		}
		if per[k] > 0 {
			left--
		}
	}
	if left != 0 {
		d.errorf("%d of %s have items and no places", left, spans)
	}
}

// timers returns all timers, in the order of their ids.
func (s slots) timers() (out []*timers.Timer) {
	v := &statetest.Maps{Storages: s}
	all := s.table(chain.AddrTimers, "t")
	maps.Copy(all, s.table(chain.AddrTimersFar, "t"))
	for _, k := range sorted(all) {
		if t, err := timers.Load(v, timers.ID([]byte(k))); err == nil {
			out = append(out, t)
		}
	}
	return out
}

// Tiers of the timers, as their records name them.
const (
	tierRing = 1 + iota
	tierEpoch
	tierTree
	tierReady
)

// homeOf is the account that has the records of a tier's timers.
func homeOf(tier uint64) chain.Address {
	if tier == tierEpoch || tier == tierTree {
		return chain.AddrTimersFar
	}
	return chain.AddrTimers
}

// place is where a timer waits, by the record of its neighbours.
type place struct {
	home              chain.Address
	tier, target, due uint64
	line              uint64 // of its slot
	aimed             bool
	next              string
}

func (d *day) place(id string) (p place) {
	p.home = chain.AddrTimers
	b := d.slots[p.home][systemKey("l"+id)]
	if b == nil {
		p.home = chain.AddrTimersFar
		b = d.slots[p.home][systemKey("l"+id)]
	}
	f := reading(d, b)
	f.array(14)
	f.uint()
	f.uint()
	f.uint()
	p.tier, p.line, p.target, p.due = f.uint(), f.uint(), f.uint(), f.uint()
	f.uint()
	p.aimed = f.bool()
	f.bytes()
	p.next = f.bytes()
	return p
}

// auditTimers holds deposits and escrows to the balance, and each timer to exactly
// one place in its tier, in its actor's roster and in the count of its block.
func (d *day) auditTimers() {
	all := d.slots.timers()
	var kept chain.Wei
	tiers, places := map[uint64]int{}, map[string]place{}
	rosters, targets := map[chain.Address]uint64{}, map[string]uint64{}
	for _, t := range all {
		kept += t.Deposit + t.Escrow
		id := string(t.ID[:])
		p := d.place(id)
		places[id] = p
		tiers[p.tier]++
		rosters[t.Actor]++
		if p.home != homeOf(p.tier) || d.slots[p.home][systemKey("t"+id)] == nil {
			d.errorf("timer %s of tier %d has its records elsewhere", t.ID, p.tier)
		}
		if p.aimed {
			targets[string(p.home[:])+string(binary.BigEndian.AppendUint64(t.Actor[:], p.target))]++
		}
		if d.once.spent[t.ID] {
			d.errorf("timer %s has fired and is still there", t.ID)
		}
	}
	if got := d.held(chain.AddrTimers); got != kept {
		d.errorf("the timers hold %d, their deposits and escrows are %d", got, kept)
	}
	for _, prefix := range []string{"l", "t"} {
		near, asleep := d.slots.table(chain.AddrTimers, prefix), d.slots.table(chain.AddrTimersFar, prefix)
		if len(asleep) != tiers[tierEpoch]+tiers[tierTree] || len(near)+len(asleep) != len(all) {
			d.errorf("%d timers, %v in the tiers; records %q: %d near, %d asleep", len(all), tiers, prefix, len(near), len(asleep))
		}
	}
	h, err := timers.ReadHead(d.ground, &d.c.g.Params)
	if err != nil || h.Depth != uint64(len(all)) || h.Ready != uint64(tiers[tierReady]) {
		d.errorf("head %+v, %v: %d timers, %v in the tiers", h, err, len(all), tiers)
	}
	d.auditTiers(tiers, places)
	d.auditRosters(rosters, targets)
}

// auditTiers finds each timer in the tier that it names.
func (d *day) auditTiers(tiers map[uint64]int, places map[string]place) {
	for tier, prefix := range map[uint64]string{tierTree: "o", tierReady: "q"} {
		nodes := d.slots.table(homeOf(tier), prefix)
		for k := range nodes {
			if places[k[8:]].tier != tier {
				d.errorf("timer %x is in tier %d and says %d", k[8:], tier, places[k[8:]].tier)
			}
		}
		if len(nodes) != tiers[tier] {
			d.errorf("tier %d has %d nodes for %d timers", tier, len(nodes), tiers[tier])
		}
	}
	for tier, prefix := range map[uint64]string{tierRing: "r", tierEpoch: "e"} {
		n := 0
		for k, b := range d.slots.table(homeOf(tier), prefix) {
			f := reading(d, b)
			f.array(2)
			at, last := f.bytes(), f.bytes()
			for ; at != ""; at = places[at].next {
				p := places[at]
				if p.tier != tier || n > tiers[tier] || p.next == "" && at != last || tier == tierRing && k[8:] != string([]byte{byte(p.line)}) {
					d.errorf("timer %x in list %s%x: %+v", at, prefix, k, p)
					return
				}
				n++
			}
		}
		if n != tiers[tier] {
			d.errorf("tier %d lists %d timers of %d", tier, n, tiers[tier])
		}
	}
}

// auditRosters holds the counts of actors to their timers.
func (d *day) auditRosters(rosters map[chain.Address]uint64, targets map[string]uint64) {
	d.timers = max(d.timers, d.c.g.Params.Timer.MaxPerActor) // who has more than a lower one allows may keep them
	for k := range d.slots.table(chain.AddrTimers, "a") {
		who := chain.Address([]byte(k))
		r, err := timers.ReadRoster(d.ground, who)
		if err != nil || r.Active != rosters[who] || r.Active > d.timers {
			d.errorf("roster of %s: %+v, %v: it has %d timers", who, r, err, rosters[who])
		}
		delete(rosters, who)
	}
	counts := map[string][]byte{}
	for _, home := range []chain.Address{chain.AddrTimers, chain.AddrTimersFar} {
		for k, n := range d.slots.table(home, "c") {
			counts[string(home[:])+k] = n
		}
	}
	for k, n := range targets {
		if f := reading(d, counts[k]); f.uint() != n {
			d.errorf("%d timers of %x for one block are counted otherwise", n, k)
		}
	}
	if len(rosters) != 0 || len(counts) != len(targets) {
		d.errorf("%d actors with timers have no roster; %d counts for %d blocks", len(rosters), len(counts), len(targets))
	}
}
