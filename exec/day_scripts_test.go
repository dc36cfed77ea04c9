package exec_test

import (
	"bytes"
	"maps"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/governance"
	"github.com/cowboy-foundation/cowboy/exec/rent"
	"github.com/cowboy-foundation/cowboy/exec/timers"
	"github.com/cowboy-foundation/cowboy/state"
)

// What takes several blocks and has to go on where the last one stood: storages
// that come back, and decisions of governance.

// backup is a storage that was evicted, and how far its restoration is.
type backup struct {
	slots   map[state.StorageKey][]byte
	entries []state.StorageChange // in the order in which they are put
	root    chain.Hash
	timers  uint64 // that the actor had set

	by   chain.Address
	put  int       // entries that are back; -1: not begun
	pace int       // entries of a chunk
	step uint64    // opcode under way; 0: none
	sent *chain.Tx // with it
	rest chain.Height
}

type attic map[chain.Address]*backup

// keep copies the storages that a block evicts, before its writes are booked.
func (a attic) keep(d *day, r *exec.Result) {
	for _, e := range named(r, rent.EventEvicted) {
		addr := aboutOf(e)
		account, _, err := d.ground.Account(addr)
		if err != nil {
			d.t.Fatal(err)
		}
		b := &backup{slots: maps.Clone(d.slots[addr]), root: account.StorageRoot, put: -1}
		if rootOf(e) != b.root {
			d.errorf("%s went with root %s, its account had %s", addr, rootOf(e), b.root)
		}
		for k, v := range b.slots {
			b.entries = append(b.entries, state.StorageChange{Key: k, Value: v})
		}
		b.entries = rent.Arrange(b.entries)
		timers := d.roster(addr)
		if b.timers = timers.Set; timers.Active > 0 {
			d.did["evicted with timers"]++
		}
		a[addr] = b
		d.did["evicted"]++
	}
}

// named returns rent's events of one name.
func named(r *exec.Result, name string) (out []chain.Event) {
	for i := range r.Receipts {
		for _, e := range r.Receipts[i].Events {
			if e.Emitter == chain.AddrRent && e.Name == name {
				out = append(out, e)
			}
		}
	}
	return out
}

// aboutOf is the actor that an event of rent is about, its first element; rootOf
// is the hash behind it.
func aboutOf(e chain.Event) chain.Address { return chain.Address(e.Data[2:22]) }
func rootOf(e chain.Event) chain.Hash     { return chain.Hash(e.Data[24:56]) }

// restore returns the next steps of restorations, of which a few are under way.
func (d *day) restore() (txs []*chain.VerifiedTx) {
	for _, addr := range slices.SortedFunc(maps.Keys(d.attic), func(a, b chain.Address) int { return bytes.Compare(a[:], b[:]) }) {
		b := d.attic[addr]
		if b.step == 0 && (d.height < b.rest || !d.chance(12)) || len(txs) == 3 {
			continue
		}
		if b.step == 0 {
			b.step, b.by, b.put, b.pace = chain.OpRestoreBegin, d.someone(), -1, 4+d.rng.IntN(12)
		}
		tx := d.instruct(b.by, chain.AddrRent, b.step, append([][]byte{address(addr)}, b.arguments(d)...)...)
		tx.CyclesLimit, tx.CellsLimit, b.sent = 2_000_000, 200_000, tx
		txs = append(txs, verified(tx, b.by))
	}
	return txs
}

func (b *backup) arguments(d *day) [][]byte {
	switch b.step {
	case chain.OpRestoreBegin:
		return [][]byte{amount(uint64(d.height) + 3 + d.rng.Uint64N(40))} // often too soon
	case chain.OpRestorePut:
		chunk := b.entries[b.put:min(b.put+b.pace, len(b.entries))]
		if d.chance(30) {
			chunk = chunk[1:] // the root will not be right
		}
		return [][]byte{chunkOf(chunk)}
	case chain.OpRestoreCommit:
		return [][]byte{cbor.AppendNull(nil)}
	}
	return nil
}

// follow sees what became of the steps in a block, and of the timers of those who
// were evicted in it: only new ones are left.
func (a attic) follow(d *day, r *exec.Result, txs []*chain.VerifiedTx) {
	for _, e := range named(r, rent.EventEvicted) {
		if now := d.roster(aboutOf(e)); now.Active > now.Set-a[aboutOf(e)].timers {
			d.errorf("%s is evicted and has timers: %+v", aboutOf(e), now)
		}
	}
	for _, e := range named(r, rent.EventRestored) {
		addr := aboutOf(e)
		if b := a[addr]; b == nil || rootOf(e) != b.root {
			d.errorf("%s came back with root %s", addr, rootOf(e))
		}
		delete(a, addr)
		d.did["restored"]++
	}
	for i, tx := range txs {
		for _, b := range a {
			if b.sent == tx.Tx {
				b.next(d, r.Receipts[i].Code)
			}
		}
	}
}

// next moves a restoration on after a step that a block took.
func (b *backup) next(d *day, code uint16) {
	b.sent = nil
	switch {
	case code != chain.CodeOK && b.step != chain.OpRestoreBegin && b.step != chain.OpRestoreAbort:
		b.step = chain.OpRestoreAbort
		d.did["restoration aborted"]++
	case code != chain.CodeOK || b.step == chain.OpRestoreAbort:
		b.step, b.rest = 0, d.height+10
	case b.step == chain.OpRestoreBegin:
		b.step, b.put = chain.OpRestorePut, 0
	default:
		b.put = min(b.put+b.pace, len(b.entries))
		if b.put == len(b.entries) {
			b.step = chain.OpRestoreCommit
		}
	}
}

func (d *day) roster(addr chain.Address) timers.Roster {
	r, err := timers.ReadRoster(d.ground, addr)
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

// council is the proposal that governance is at.
type council struct {
	change governance.Action
	id     chain.Hash
	step   uint64 // opcode that is next; 0: nothing is proposed
	from   chain.Height
	sent   *chain.Tx
}

// changes are what governance may decide, each to one of these values.
var changes = []struct {
	path   string
	values []string
}{
	{"intrinsic_costs.transfer_cycles", []string{"21000", "22000", "20000"}},
	{"rent.price_per_byte_year", []string{"4000000000", "8000000000", "64000000000"}},
	{"rent.reserve_basis_points", []string{"0", "1"}},
	{"rent.charge_blocks", []string{"20", "12", "25"}},
	{"rent.exempt_bytes", []string{"1500", "1000", "2500"}},
	{"cycles_cap", []string{"20000000", "16000000"}},
	{"timer.moves_per_block", []string{"6", "2", "20"}},
	{"timer.queue_target", []string{"40", "15", "100"}},
	{"timer.max_per_actor", []string{"10", "3"}},
	{"actor_limits.block_cycles", []string{"400000", "300000", "500000"}},
	{"actor_limits.mailbox_block_items", []string{"6", "2", "30"}},
	{"actor_limits.storage_quota_bytes", []string{"8000", "9000"}},
	{"token_costs.hook_max_cycles", []string{"50000", "20000"}},
}

// govern returns the next step of a decision, by any member.
func (d *day) govern() []*chain.VerifiedTx {
	c := &d.council
	from := []chain.Address{alice, bob, carol}[d.rng.IntN(3)]
	var args [][]byte
	switch {
	case c.step == 0 && !d.chance(10), d.height < c.from:
		return nil
	case c.step == 0:
		change := changes[d.rng.IntN(len(changes))]
		c.change = set(change.path, change.values[d.rng.IntN(len(change.values))])
		c.step = chain.OpGovernancePropose
		fallthrough
	case c.step == chain.OpGovernancePropose:
		args = [][]byte{c.change.Append(nil), cbor.AppendBool(nil, d.chance(2))}
	default:
		args = [][]byte{cbor.AppendBytes(nil, c.id[:])}
	}
	tx := d.instruct(from, chain.AddrGovernance, c.step, args...)
	tx.CyclesLimit, c.sent = 100_000, tx
	return []*chain.VerifiedTx{verified(tx, from)}
}

// follow sees what became of the step in a block. An approval by who has approved,
// or an execution before its time, is tried again.
func (c *council) follow(d *day, r *exec.Result, txs []*chain.VerifiedTx) {
	for i, tx := range txs {
		if c.sent != tx.Tx {
			continue
		}
		c.sent = nil
		rec := &r.Receipts[i]
		switch {
		case rec.Code == chain.CodeWrongState && c.step != chain.OpGovernancePropose:
			return
		case rec.Code != chain.CodeOK:
			d.errorf("step %d of a decision on %v: %s", c.step, c.change, chain.CodeName(rec.Code))
			c.step = 0
		case c.step == chain.OpGovernancePropose:
			copy(c.id[:], rec.Output[2:])
			c.step = chain.OpGovernanceApprove
		case c.step == chain.OpGovernanceApprove:
			c.step = chain.OpGovernanceExecute
		default:
			c.check(d)
			c.step, c.from = 0, d.height+5
			d.did["settled"]++
		}
	}
}

// check finds the change among what differs from the genesis.
func (c *council) check(d *day) {
	list, err := governance.Settings(d.ground)
	want, wrong := params.Keep(c.change.Settings[0])
	if wrong != nil {
		d.errorf("%s: %v", c.change.Settings[0].Path, wrong)
	}
	for _, k := range want {
		if err != nil || !slices.ContainsFunc(list, func(s params.KeptSetting) bool { return s.Path == k.Path && bytes.Equal(s.Value, k.Value) }) {
			d.errorf("%s is not %x: %v", k.Path, k.Value, err)
		}
	}
}
