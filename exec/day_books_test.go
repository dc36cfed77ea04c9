package exec_test

import (
	"maps"
	"slices"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/rent"
	"github.com/cowboy-foundation/cowboy/exec/token"
	"github.com/cowboy-foundation/cowboy/state"
	stored "github.com/cowboy-foundation/cowboy/state/rent"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// slots is every storage as the blocks have written it: what a test may walk and
// a block may not.
type slots map[chain.Address]map[state.StorageKey][]byte

// table returns the records of a system address whose keys begin with prefix, by
// what follows it.
func (s slots) table(addr chain.Address, prefix string) map[string][]byte {
	out := map[string][]byte{}
	for k, v := range s[addr] {
		if rest, ok := strings.CutPrefix(string(k[1:]), prefix); ok {
			out[rest] = v
		}
	}
	return out
}

func (s slots) size(addr chain.Address) (size state.StorageSize) {
	for k, v := range s[addr] {
		size = size.Add(state.SizeOf(k, v))
	}
	return size
}

func pvmKey(name string) state.StorageKey {
	return state.NewStorageKey(state.VMNamespacePVM, []byte(name))
}

func systemKey(name string) state.StorageKey {
	return state.NewStorageKey(state.VMNamespaceSystem, []byte(name))
}

func sorted(table map[string][]byte) []string { return slices.Sorted(maps.Keys(table)) }

// audit walks through all that the chain keeps and holds it to the invariants of
// the packages that keep it.
func (d *day) audit() {
	d.auditActors()
	d.auditMailbox()
	d.auditTimers()
	d.auditRent()
	d.auditTokens()
	d.auditMeter()
}

// auditMeter counts the whole state from scratch: the meter says the same.
func (d *day) auditMeter() {
	want, err := recount(d.ground.Accounts, d.slots)
	got, readErr := exec.StateMeter(d.ground)
	if err != nil || readErr != nil || got != want {
		d.errorf("the meter of the state says %+v, it holds %+v, %v, %v", got, want, err, readErr)
	}
}

func (d *day) held(addr chain.Address) chain.Wei {
	a, _, err := d.ground.Account(addr)
	if err != nil {
		d.t.Fatal(err)
	}
	return a.Balance
}

// auditActors is what each account keeps: sizes, quotas, records and nonces.
func (d *day) auditActors() {
	p := &d.c.g.Params.Actor
	d.quota = max(d.quota, p.StorageQuotaBytes) // who stores more than a lower one allows may keep it
	for _, addr := range d.herd {
		a, _, _ := d.ground.Account(addr)
		if size := d.slots.size(addr); size != a.StorageSize {
			d.errorf("%s stores %+v, its account says %+v", addr, size, a.StorageSize)
		}
		acct, err := rent.Read(d.ground, addr)
		if quota := max(acct.Quota, d.quota); err != nil || a.StorageSize.Bytes > quota {
			d.errorf("%s stores %d bytes, its quota is %d, %v", addr, a.StorageSize.Bytes, quota, err)
		}
		if rec, err := actor.ReadRecord(d.ground, addr); err != nil || rec == nil || rec.Deployed > d.height {
			d.errorf("record of %s: %+v, %v", addr, rec, err)
		}
		if l, err := actor.ReadQuota(d.ground, addr); err != nil || l.Level > max(p.BlockCyclesBurst, 800_000) || l.LevelAt > d.height {
			d.errorf("ledger of %s: %+v, %v", addr, l, err)
		}
		if may, err := actor.MayHold(d.ground, addr); err != nil {
			d.errorf("manifest of %s: %v", addr, err)
		} else if !may && a.Balance > 0 {
			d.did["holds what was given back"]++ // deposits and escrows only (resolution 11.25)
		}
	}
	for _, who := range d.people {
		if a, _, _ := d.ground.Account(who); a.Nonce != d.c.nonces[who] {
			d.errorf("nonce of %s is %d after %d transactions", who, a.Nonce, d.c.nonces[who])
		}
	}
}

// checkCharges holds a block whose writes are not booked yet to the cadence of
// rent: nobody's next charge moves before it was due.
func (d *day) checkCharges(r *exec.Result) {
	for _, c := range r.Delta.Accounts() {
		if c.Address != chain.AddrRent {
			continue
		}
		for _, w := range c.Storage {
			who, ok := strings.CutPrefix(string(w.Key[1:]), "a/")
			if !ok {
				continue
			}
			was, now := d.numbers(d.slots[c.Address][w.Key], 7), d.numbers(w.Value, 7)
			next := chain.Height(was[0] + d.c.g.Params.Rent.ChargeBlocks)
			if was[0] != 0 && now[0] != 0 && now[0] != was[0] && next > d.height+1 {
				d.errorf("%x is charged in block %d and was due in %d", who, d.height+1, next)
			}
			if now[0] != was[0] && was[0] != 0 && now[0] != 0 {
				d.did["charged"]++
			}
		}
	}
}

// auditRent holds the address of rent to bonds and to what restorations have put
// down, the totals to the storages, and the queue of charges to the accounts.
func (d *day) auditRent() {
	var kept chain.Wei
	listed := map[string][]uint64{}
	for _, b := range d.slots.table(chain.AddrRent, "qc/") {
		f := reading(d, b)
		f.array(2)
		who := f.bytes()
		listed[who] = append(listed[who], f.uint())
		f.end()
	}
	for who, b := range d.slots.table(chain.AddrRent, "a/") {
		acct := d.numbers(b, 7)
		kept += chain.Wei(acct[6])
		if from := acct[0]; from != 0 && count(listed[who], from) != 1 {
			d.errorf("%x is to be charged from block %d on and listed from %v on", who, from, listed[who])
		}
	}
	for _, b := range d.slots.table(chain.AddrRent, "r/") {
		f := reading(d, b)
		f.array(3)
		f.bytes()
		f.bytes()
		kept += chain.Wei(f.uint())
	}
	for _, b := range d.slots.table(chain.AddrRent, "b/") {
		f := reading(d, b)
		f.array(5)
		f.bytes()
		kept += chain.Wei(f.uint())
	}
	d.exempt = max(d.exempt, d.c.g.Params.Rent.ExemptBytes) // who is above a lower one is listed when it writes
	for _, addr := range d.herd {
		a, _, _ := d.ground.Account(addr)
		acct := d.numbers(d.slots[chain.AddrRent][systemKey("a/"+string(addr[:]))], 7)
		if !stored.Dormant(&a) && a.StorageSize.Bytes > d.exempt && acct[0] == 0 {
			d.errorf("%s stores %d bytes and owes no rent: %v", addr, a.StorageSize.Bytes, acct)
		}
	}
	if got := d.held(chain.AddrRent); got != kept {
		d.errorf("%d is kept for bonds and restorations of %d", got, kept)
	}
	var bytes uint64
	for addr := range d.slots {
		if !addr.IsSystem() {
			bytes += d.slots.size(addr).Bytes
		}
	}
	if t, err := rent.ReadTotals(d.ground); err != nil || t.Bytes != bytes || t.Factor < rent.Unit {
		d.errorf("totals %+v, %v: %d bytes are stored", t, err, bytes)
	}
}

func count(list []uint64, want uint64) (n int) {
	for _, v := range list {
		if v == want {
			n++
		}
	}
	return n
}

// auditTokens holds the balances of each token to its supply.
func (d *day) auditTokens() {
	sums := map[chain.Hash]chain.Amount{}
	for k, b := range d.slots.table(chain.AddrTokens, "b") {
		n, ok := d.amount(b), false
		id := chain.Hash([]byte(k[:32]))
		if sums[id], ok = sums[id].Add(n); !ok || n == (chain.Amount{}) {
			d.errorf("balance %s of token %s", n, id)
		}
	}
	d.tokens = d.tokens[:0]
	count, err := token.Count(d.ground)
	for n := range count {
		var id token.ID
		if id, err = token.At(d.ground, n+1); err != nil {
			break
		}
		d.tokens = append(d.tokens, id)
		t, err := token.Read(d.ground, id)
		if err != nil || t == nil || t.Number != n+1 || t.Supply != sums[id] || t.Max != nil && t.Max.Big().Cmp(t.Supply.Big()) < 0 {
			d.errorf("token %s: %+v, %v: its balances add up to %s", id, t, err, sums[id])
		}
		delete(sums, id)
	}
	if err != nil || len(sums) != 0 || uint64(len(d.slots.table(chain.AddrTokens, "t"))) != count {
		d.errorf("%d tokens, %v, balances of %d others", count, err, len(sums))
	}
}

// checkRoot builds the state anew from what was written.
func (d *day) checkRoot() {
	f := tree.NewForest(2, nil)
	im, err := f.Apply(f.EmptyImage(), d.ground.Delta())
	if err != nil || im.Root != d.ground.Image.Root {
		d.errorf("the root is %s, all that was written has %v, %v", d.ground.Image.Root, im, err)
	}
}
