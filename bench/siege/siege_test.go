package siege

import (
	"errors"
	"flag"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/bench/boundary"
	"github.com/cowboy-foundation/cowboy/chain"
)

var (
	siegeFor = flag.Duration("for", 0, "how long all attacks take together; 0: the short form")
	only     = flag.String("attack", "", "run the attacks whose names contain one of these, with commas between")
)

const (
	shortBlocks = 6   // of an attack in the short form
	turnsBlocks = 12  // likewise, where makers take turns and one of them crashes twice
	leastBlocks = 200 // of an attack in the long one
)

// Between two waves of an attack.
const (
	calmMost = 200 // blocks
	calmFee  = 10  // base fee a cycle of an idle chain: less takes hundreds of blocks, so small are the steps
)

// Bounds of what the honest notice (issue 14).
const (
	shareMin    = 0.90
	delayMax    = 64 // blocks
	bytesMax    = 2.0
	perCycleMax = 50.0  // nanoseconds
	bytesFloor  = 3_000 // a block: less is the noise of who is late
)

// report is what an attack came to.
type report struct {
	name          string
	blocks        int
	share         float64
	refused       int
	delay         uint64
	lost          int
	dear          int           // blocks whose base fee was above what the honest pay
	build, verify time.Duration // the slowest
	txs           int           // of all, a block
	cycles, cells uint64        // likewise
	bytes         int           // kept, a block
	perCycle      float64       // nanoseconds of verification, the median block
	fees          chain.Wei     // of the attack, a block
	struck        string        // what became of its transactions
	err           error         // of the check of the attack itself
}

// String is a line of the table.
func (r *report) String() string {
	return fmt.Sprintf("%-22s blocks %4d share %5.1f %% refused %4d delay %3d lost %3d build %6.1f ms verify %6.1f ms; a block: %9d cycles %7d cells %8d bytes; %6.1f ns/cycle, %9.3f CBY a day, %s",
		r.name, r.blocks, 100*r.share, r.refused, r.delay, r.lost, float64(r.build)/1e6, float64(r.verify)/1e6, r.cycles, r.cells, r.bytes, r.perCycle,
		float64(r.fees)*86_400/float64(chain.WeiPerCBY), r.struck)
}

// line is the short form of a line, with what the bounds are about.
func (r *report) line(base *report) string {
	kept, _ := r.keptPerCell(base)
	return fmt.Sprintf("%-26s %5d blocks %6.1f %% in time, %3d late %3d lost, build %6.1f verify %6.1f ms, %5.1f ns/cycle, %6.2f bytes/cell, %10.3f CBY a day",
		r.name, r.blocks, 100*r.share, r.delay, r.lost, float64(r.build)/1e6, float64(r.verify)/1e6, r.perCycle, kept, float64(r.fees)*86_400/float64(chain.WeiPerCBY))
}

// keptPerCell is how many bytes a block kept for a cell, both more than in quiet. The
// smallest transfer pays no cells for what it keeps.
func (r *report) keptPerCell(base *report) (kept float64, more int) {
	more = r.bytes - base.bytes - boundary.Smallest*(r.txs-base.txs)
	if more <= bytesFloor {
		return 0, more
	}
	return float64(more) / max(1, float64(r.cells)-float64(base.cells)), more
}

// TestSiege puts a chain under every attack. The long form is `make soak-hostile`.
func TestSiege(t *testing.T) {
	if testing.Short() {
		t.Skip("hundreds of blocks: left out of -short runs, runs in make test")
	}
	var list []attack // the first is none: the others are held against it
	for i, a := range attacks() {
		if a.long && *siegeFor == 0 && *only == "" {
			continue
		}
		if i == 0 || slices.ContainsFunc(strings.Split(*only, ","), func(part string) bool { return strings.Contains(a.name, part) }) {
			list = append(list, a)
		}
	}
	var done []report
	for i := range list {
		a := &list[i]
		t.Run(a.name, func(t *testing.T) {
			r := besiege(t, a, *siegeFor/time.Duration(len(list)))
			done = append(done, r)
			t.Logf("%d of %d: %s", i+1, len(list), r.String())
			for _, breach := range judge(&r, &done[0]) {
				t.Errorf("%s: %s", a.name, breach)
			}
		})
		list[i] = attack{}   // which holds what it made
		debug.FreeOSMemory() // before the next chain takes as much
	}
	var table strings.Builder
	for i := range done {
		fmt.Fprintf(&table, "  %s\n", done[i].line(&done[0]))
	}
	t.Logf("%d attacks:\n%s", len(done), table.String())
}

// besiege runs one attack for its share of the time.
func besiege(t *testing.T, a *attack, share time.Duration) report {
	s := newSiege(t, a)
	if a.setup != nil {
		a.setup(s)
	}
	s.settle()
	r := report{name: a.name}
	transfers := a.transfers
	if transfers == 0 {
		transfers = transfersOfABlock
	}
	var verify []float64
	began, grown, fees, codes := time.Now(), s.stored(), chain.Wei(0), map[string]int{}
	short := shortBlocks
	if a.makers > 1 {
		short = turnsBlocks
	}
	wave, least := a.wave, short
	if share == 0 && wave > 0 { // a second one there as well: it finds what the first has left
		wave, least = min(wave, short), 2*short
	}
	for r.blocks < least || share > 0 && (r.blocks < leastBlocks || time.Since(began) < share) {
		if wave > 0 && r.blocks > 0 && r.blocks%wave == 0 {
			s.calm(a)
		}
		if a.first {
			a.block(s)
		}
		s.live(transfers)
		if !a.first {
			a.block(s)
		}
		b := s.next()
		s.note(&b)
		if r.blocks++; a.restarts > 0 && r.blocks%a.restarts == 0 {
			s.restart(s.makers[0])
		}
		if fee := b.event.Block.Header.BaseFees[chain.LaneUser]; max(fee.PerCycle, fee.PerCell) > honestCap {
			r.dear++
		}
		r.build, r.verify = max(r.build, b.build), max(r.verify, b.verify)
		var cycles uint64 // that ran, deliveries among them, which were paid when they were sent
		for i := range b.event.Receipts {
			cycles += uint64(b.event.Receipts[i].CyclesUsed)
		}
		for _, u := range b.event.Block.Header.Used {
			r.cells += uint64(u.Cells)
		}
		r.cycles += cycles
		verify = append(verify, float64(min(b.build, b.verify))/max(1, float64(cycles)))
		r.bytes += len(b.event.Encoded)
		r.txs += len(b.event.Txs)
		for i := range b.event.Receipts {
			rec := &b.event.Receipts[i]
			r.bytes += len(rec.Encode())
			if i < len(b.event.Txs) && s.hostile[rec.TxHash] {
				fees += rec.Fee
				codes[chain.CodeName(rec.Code)]++
			}
		}
	}
	r.bytes += s.stored() - grown
	for range delayMax + 4 { // what is late may still come
		if len(s.honest.delays) >= s.honest.due && len(s.honest.sent) == 0 {
			break
		}
		a.block(s)
		b := s.next()
		s.note(&b)
	}
	n := r.blocks
	r.cycles, r.cells, r.bytes, r.txs, r.fees = r.cycles/uint64(n), r.cells/uint64(n), r.bytes/n, r.txs/n, fees/chain.Wei(n)
	slices.Sort(verify)
	r.perCycle = verify[len(verify)/2]
	r.share, r.refused, r.delay = s.honest.share(), s.honest.refused, s.honest.worstDelay()
	r.lost = max(0, s.honest.due-len(s.honest.delays))
	if s.honest.ticked < s.honest.begun {
		r.lost++ // its clock stood still
	}
	if still := uint64(s.height - s.honest.ticked); still > 2 { // the clock's timer has been due since
		r.delay = max(r.delay, still-2)
	}
	r.struck = fmt.Sprintf("offered %d, refused %d, in blocks %v", s.put.offered, s.put.refused, codes)
	if len(s.honest.failed) > 0 {
		r.struck += fmt.Sprintf(", honest failures %v", s.honest.failed)
	}
	if a.check != nil {
		r.err = a.check(s)
	}
	r.err = errors.Join(r.err, s.metered())
	return r
}

// calm waits until the base fee has come to rest, while the honest do little, and lets the
// attack prepare itself anew.
func (s *siege) calm(a *attack) {
	s.honest.rests = true
	defer func() { s.honest.rests = false }()
	for range calmMost {
		s.live(0)
		b := s.pass()
		if fee := b.event.Block.Header.BaseFees[chain.LaneUser]; max(fee.PerCycle, fee.PerCell) <= calmFee {
			break
		}
	}
	if a.again != nil {
		a.again(s)
	}
}

// stored is how many bytes the storages hold whose owners are known: the system's
// and those of the actors that were deployed here.
func (s *siege) stored() (sum int) {
	of := slices.Clone(s.actors)
	for n := range 64 {
		of = append(of, chain.SystemAddress(uint16(n)))
	}
	view := s.verifier.Head().State
	for _, a := range of {
		account, _, err := view.Account(a)
		if err != nil {
			s.t.Fatal(err)
		}
		sum += int(account.StorageSize.Bytes)
	}
	return sum
}

// judge holds a report to the bounds and says which do not hold.
func judge(r, base *report) (breaches []string) {
	breach := func(format string, args ...any) { breaches = append(breaches, fmt.Sprintf(format, args...)) }
	if r.err != nil {
		breach("%v", r.err)
	}
	if r.dear > 0 {
		breach("in %d blocks the base fee was above what the honest pay", r.dear)
	}
	if r.share < shareMin {
		breach("%.1f %% of the honest transactions were in within %d blocks", 100*r.share, inTimeBlocks)
	}
	// In the short form, what is late for half of it does not come to an end.
	if most := uint64(min(delayMax, r.blocks/2)); r.delay > most || r.lost > 0 {
		breach("an honest delivery or timer was %d blocks late, %d never came", r.delay, r.lost)
	}
	if blockTime := time.Second; r.build > blockTime || r.verify > blockTime {
		breach("a block took %v to build and %v to judge", r.build, r.verify)
	}
	if r.perCycle > perCycleMax {
		breach("%.1f ns a cycle in half of the blocks", r.perCycle)
	}
	if kept, more := r.keptPerCell(base); kept > bytesMax {
		breach("%d bytes more a block than in quiet, for %.0f cells: %.1f a cell", more, float64(r.cells)-float64(base.cells), kept)
	}
	return breaches
}

// TestFullBlocks counts the honest transfers that a full block takes beside the
// attacks on room, against those of one without them.
func TestFullBlocks(t *testing.T) {
	if testing.Short() {
		t.Skip("thousands of transfers: left out of -short runs, runs in make test")
	}
	const blocks, offered, must = 6, 900, 0.9
	taken := func(a attack) (transfers, bought float64) {
		s := newSiege(t, &a)
		if a.setup != nil {
			a.setup(s)
		}
		s.settle()
		for range blocks {
			s.live(offered)
			a.block(s)
			b := s.next()
			s.note(&b)
			for i, tx := range b.event.Txs {
				if s.hostile[tx.Hash] {
					bought += float64(b.event.Receipts[i].CyclesUsed) / float64(s.params().Intrinsic.TransferCycles)
				}
			}
		}
		return float64(s.honest.transfer) / blocks, bought / blocks
	}
	whole, _ := taken(quiet())
	for _, a := range []attack{limitHogs(), modestHogs(), wideCrowd(), neverRun(), parkedFlood()} {
		a.lanes = nil // a lane of the usual size
		n, bought := taken(a)
		base := whole - bought // room that the attack uses is paid for like anybody's
		verdict := "ok"
		if n < must*base {
			verdict = "SHORT"
		}
		t.Logf("bar honest-transfers-beside-%s %.2f must %.2f %s (%.0f a block, %.0f unattacked)", a.name, n/base, must, verdict, n, base)
		if n < must*base {
			t.Errorf("%s: %.0f honest transfers in a block, %.0f without", a.name, n, base)
		}
	}
}
