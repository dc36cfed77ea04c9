//spec:implements CIP-2 6
//spec:implements resolutions 12.C

package jobs

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/verdict"
	"github.com/cowboy-foundation/cowboy/state"
)

// Results come in transactions of the runner lane, which has its share of a block and no
// more (resolution 11.13). Who has committed to a result and cannot show it for want of space
// would be slashed for what others have asked for. So a job gives its runners the time that
// all its results take (ErrLane), and where jobs together ask for more than the lane has, who
// shows nothing is not penalised ([Dispatch.spare]).

// ErrLane means a job whose runners could not all show their results in the time that they
// have for it.
var ErrLane = verdict.New(verdict.Limit, "the results of the job do not fit the runner lane in its time")

// What a runner's result takes of a block besides its data, at most.
const (
	RecordBytes = 4 << 10 // of where the data are from, and how far the runner came
	FrameBytes  = 320     // of the transaction around a result
	shownReads  = 6       // rows of the job and of its runner, besides the seats
	shownWrites = 4
	shownRow    = 512

	// ShownEntries and ShownBytes are what a result adds to the state besides its own bytes:
	// the rows of itself and of what marks the job, their keys, and what its seat grows by.
	ShownEntries = 2
	ShownBytes   = 512
)

// LaneParts is the part of the lane that results may take. A block has room for at least half
// of the lane in results of one size, whichever that is, if each fits at all: two that are
// larger than half of it do not fit together.
const LaneParts = 2

// millionths is a whole lane.
const millionths = 1_000_000

// promisedMost bounds what one attempt promises, so that the sum of all stays in 64 bits.
const promisedMost = 1_000 * millionths

// Shown returns what showing one result of a job takes of a block, at most.
func Shown(p *params.Params, spec *chain.JobSpec, terms *chain.JobTerms) fees.Space {
	api := &p.API
	bytes := uint64(terms.ResultSchema.MaxReturnBytes) + RecordBytes
	if spec.Verification.TEERequired {
		bytes += chain.MaxTEEBytes
	}
	if terms.Similarity != nil {
		bytes += chain.MaxEmbeddingBytes
	}
	bytes = min(bytes, chain.MaxResultBytes) + FrameBytes
	each := 3*api.HashByteCycles + api.ManifestByteCycles + api.StorageWriteByteCycles
	rows := chain.Cycles(shownReads+uint64(spec.Verification.Runners))*(api.StorageReadCycles+shownRow*api.StorageReadByteCycles) +
		shownWrites*(api.StorageWriteCycles+shownRow*api.StorageWriteByteCycles)
	papers := chain.Cycles(len(spec.Encode())+len(terms.Encode())+FrameBytes) * api.StorageReadByteCycles
	return fees.Space{
		Usage: chain.Usage{
			Cycles: p.Intrinsic.InstructionCycles + rows + papers + api.VerifySignatureCycles + 3*api.HashCycles + chain.Cycles(bytes)*each,
			Cells: chain.Cells(bytes)*p.Intrinsic.PayloadByteCells + ShownEntries*chain.Cells(api.NewEntryCells) +
				chain.Cells(bytes+ShownBytes)*api.StorageWriteByteCells,
		},
		Bytes: bytes,
	}
}

// Room returns what a block has for the transactions of runners: the share of their lane, and
// that of the system lane, which validators alone use, and which flows on.
func Room(p *params.Params) fees.Space {
	own, flows := fees.LaneTarget(p, chain.LaneRunner), fees.LaneTarget(p, chain.LaneSystem)
	return fees.Space{
		Usage: chain.Usage{Cycles: own.Cycles + flows.Cycles, Cells: own.Cells + flows.Cells},
		Bytes: fees.LaneBytes(p, chain.LaneRunner) + fees.LaneBytes(p, chain.LaneSystem),
	}
}

// meter is what a result takes of a block in one measure, and what the lane has of it.
type meter struct{ shown, lane uint64 }

func metersOf(p *params.Params, one fees.Space) [3]meter {
	room := Room(p)
	return [...]meter{{uint64(one.Cycles), uint64(room.Cycles)}, {uint64(one.Cells), uint64(room.Cells)}, {one.Bytes, room.Bytes}}
}

// LeastTimeout returns the least timeout_blocks with which all runners of a job can show
// their results, even where who may gather them shows none: in the blocks in which each may
// show its own they take half of the lane at most. False where a block has no room for one of
// them, and no timeout would do.
func LeastTimeout(p *params.Params, spec *chain.JobSpec, terms *chain.JobTerms) (blocks uint64, ok bool) {
	var window uint64
	// Bounded: by three meters.
	for _, m := range metersOf(p, Shown(p, spec, terms)) {
		if m.shown > m.lane {
			return 0, false
		}
		window = max(window, quotientUp(LaneParts*uint64(spec.Verification.Runners), m.shown, m.lane))
	}
	j, span := &p.Job, window
	switch {
	case spec.Verification.Runners == 1:
	case j.AggregatorWindowBasisPoints > 0:
		span = quotientUp(window, params.BasisPoints, j.AggregatorWindowBasisPoints)
	default:
		span = quotientUp(window, params.BasisPoints, params.BasisPoints-j.CommitDeadlineBasisPoints)
	}
	return span + 1, true // the draw takes a block of them
}

// quotientUp returns ceil(a·b / by), at most 2^60.
func quotientUp(a, b, by uint64) uint64 {
	const most = 1 << 60
	hi, lo := bits.Mul64(a, b)
	if hi >= by {
		return most
	}
	q, r := bits.Div64(hi, lo, by)
	if r > 0 {
		q++
	}
	return min(q, most)
}

// checkLane holds the time that a job gives its runners to what its results take of the lane.
func (c *Call) checkLane(spec *chain.JobSpec, terms *chain.JobTerms) error {
	least, ok := LeastTimeout(c.Params, spec, terms)
	switch bytes := terms.ResultSchema.MaxReturnBytes; {
	case !ok:
		return fmt.Errorf("%w: terms.result_schema.max_return_bytes: %d, and no block has room for one result, whatever the timeout", ErrLane, bytes)
	case spec.TimeoutBlocks < least:
		return fmt.Errorf("%w: timeout_blocks: %d, want at least %d for %d results of %d bytes",
			ErrLane, spec.TimeoutBlocks, least, spec.Verification.Runners, bytes)
	}
	return nil
}

// lane is what is promised of the runner lane, and how often that was too much.
type lane struct {
	promised uint64 // to results that may be shown now, in millionths of the lane
	crowded  uint64 // blocks that have ended in which that was too much and runners used an eighth, or they used nearly all
	busy     uint64 // those of them in which runners used as much as results may take
}

// full reports whether more is promised than results may take.
func (l *lane) full() bool { return l.promised > millionths/LaneParts }

// usedParts is the part of the lane that runners use of a block in which a large result may find
// no room: of one that is used less, a transaction that waits is let in, whatever is promised.
const usedParts = 8

// crowds returns how many blocks have left no room, as far as anybody can say, for results that
// are large or not: one that takes more than half of the lane may find none beside a small one.
func (l *lane) crowds(large bool) uint64 {
	if large {
		return l.crowded
	}
	return l.busy
}

// readNumbers reads a row of numbers, zeros where there is none.
func (b *Book) readNumbers(k state.StorageKey, into ...*uint64) error {
	row, err := b.State.Storage(chain.AddrJobDispatcher, k)
	if err != nil || row == nil {
		return err
	}
	if len(row) != 8*len(into) {
		return ErrRecord
	}
	// Bounded: by three numbers.
	for i, n := range into {
		*n = binary.BigEndian.Uint64(row[8*i:])
	}
	return nil
}

// putNumbers writes a row of numbers, none for zeros.
func (b *Book) putNumbers(k state.StorageKey, numbers ...uint64) {
	var row []byte
	some := false
	// Bounded: by three numbers.
	for _, n := range numbers {
		row, some = binary.BigEndian.AppendUint64(row, n), some || n > 0
	}
	if !some {
		row = nil
	}
	b.set(k, row)
}

// turn is how much of the lane is promised from a height on that was not before, and the other
// way round.
type turn struct{ more, less uint64 }

func laneTurnKey(h chain.Height) state.StorageKey { return key(TableLane, be8(h)) }

// changeTurn changes what happens at a height. The error is a fault.
func (b *Book) changeTurn(h chain.Height, how func(*turn)) error {
	var t turn
	k := laneTurnKey(h)
	if err := b.readNumbers(k, &t.more, &t.less); err != nil {
		return err
	}
	how(&t)
	b.putNumbers(k, t.more, t.less)
	return nil
}

// promise notes that the results of an attempt may be shown in the blocks behind one height
// and up to another, and how much of the lane they take there.
func (b *Book) promise(behind, until chain.Height, e6 uint64) error {
	if err := b.changeTurn(behind+1, func(t *turn) { t.more += e6 }); err != nil {
		return err
	}
	return b.changeTurn(until+1, func(t *turn) { t.less += e6 })
}

// TakeBack ends what an attempt has promised of the lane with this block: nothing more of it
// can be shown. It leaves the job's row to be written. The error is a fault.
func (b *Book) TakeBack(j *Job) error {
	e6, end := j.Promised, max(b.Height, j.opens())
	if j.Promised = 0; e6 == 0 || end >= j.Deadline {
		return nil
	}
	promised := true
	if err := b.changeTurn(j.Deadline+1, func(t *turn) {
		promised = t.less >= e6
		t.less -= min(e6, t.less)
	}); err != nil {
		return err
	}
	if !promised {
		return ErrRecord
	}
	return b.changeTurn(end+1, func(t *turn) { t.less += e6 })
}

// Promises brings what is promised of the lane up to the block: what its results take from
// now on, without those that can be shown no more. The error is a fault.
func (d *Dispatch) Promises() error {
	b := &d.Book
	// Bounded: by the heights since the block before, each of which has one row.
	for {
		rows, err := b.State.Scan(chain.AddrJobDispatcher, state.Span{Prefix: key(TableLane), Entries: 1, Bytes: 1})
		if err != nil || len(rows) == 0 {
			return err
		}
		h, ok := splitLane(rows[0].Key)
		if !ok {
			return ErrRecord
		}
		if h > b.Height {
			return nil
		}
		if err := b.turnLane(h); err != nil {
			return err
		}
	}
}

// turnLane does what the row of a height says.
func (b *Book) turnLane(h chain.Height) error {
	var t turn
	if err := b.readNumbers(laneTurnKey(h), &t.more, &t.less); err != nil {
		return err
	}
	l, err := b.lane()
	if err != nil {
		return err
	}
	if l.promised += t.more; l.promised < t.less {
		return ErrRecord
	}
	l.promised -= t.less
	b.set(laneTurnKey(h), nil)
	b.putLane(&l)
	return nil
}

func (b *Book) lane() (l lane, err error) {
	return l, b.readNumbers(laneKey(), &l.promised, &l.crowded, &l.busy)
}

func (b *Book) putLane(l *lane) { b.putNumbers(laneKey(), l.promised, l.crowded, l.busy) }

// CountLane counts the block that ends by what runners have used of the lane, where more is
// promised of it than it has; where they have used all but an eighth, in any case, since what the
// one that gathers shows is promised nowhere. The error is a fault.
func (d *Dispatch) CountLane() error {
	l, err := d.Book.lane()
	if err != nil {
		return err
	}
	used, busy, brim := false, false, false
	// Bounded: by three meters.
	for _, m := range metersOf(d.Book.Params, d.Used) {
		used = used || m.shown >= quotientUp(m.lane, 1, usedParts)
		busy = busy || m.shown >= quotientUp(m.lane, 1, LaneParts)
		brim = brim || m.shown >= quotientUp(m.lane, usedParts-1, usedParts)
	}
	if !brim && !(used && l.full()) {
		return nil
	}
	if l.crowded++; busy {
		l.busy++
	}
	d.Book.putLane(&l)
	return nil
}

// crowded reports whether of so many blocks in which the runners of an attempt had to be let
// into the lane half or more had no room, since the job was looked at last; of large results
// three quarters, since the other results of the job alone may fill half.
func (b *Book) crowded(j *Job, blocks chain.Height) (bool, error) {
	l, err := b.lane()
	n, least := l.crowds(j.Large)-min(j.Crowds, l.crowds(j.Large)), quotientUp(uint64(blocks), 1, LaneParts)
	if j.Large {
		least = quotientUp(uint64(blocks), 3, 4)
	}
	return err == nil && n > 0 && n >= least, err
}

// countCrowds begins to count the crowded blocks of an attempt anew.
func (b *Book) countCrowds(j *Job) error {
	l, err := b.lane()
	j.Crowds = l.crowds(j.Large)
	return err
}

// opens returns behind which height each runner of an attempt may show its result, whoever
// gathers them.
func (j *Job) opens() chain.Height {
	switch {
	case j.Runners == 1:
		return j.AssignedAt
	case j.GatherUntil == j.Deadline: // whoever gathers shows them, or nobody does
		return j.CommitBy
	}
	return j.GatherUntil
}

// promiseOf notes what the results of an attempt take of the lane, and how often that was
// crowded before.
func (d *Dispatch) promiseOf(j *Job, seats int, spec *chain.JobSpec, terms *chain.JobTerms) error {
	opens := j.opens()
	j.Promised, j.Large = 0, false
	if opens >= j.Deadline || seats == 0 {
		return nil
	}
	meters := metersOf(d.Book.Params, Shown(d.Book.Params, spec, terms))
	// Bounded: by three meters.
	for _, m := range meters {
		j.Large = j.Large || m.shown > m.lane/LaneParts
	}
	j.Promised = shareOf(meters, uint64(seats), uint64(j.Deadline-opens))
	if err := d.Book.countCrowds(j); err != nil {
		return err
	}
	return d.Book.promise(opens, j.Deadline, j.Promised)
}

// shareOf returns how many millionths of the lane so many results take in each of so many
// blocks, rounded up once, as ceil(ceil(x)/n) is ceil(x/n): who takes half takes no more.
func shareOf(meters [3]meter, seats, blocks uint64) (e6 uint64) {
	// Bounded: by three meters.
	for _, m := range meters {
		e6 = max(e6, quotientUp(quotientUp(m.shown, seats*millionths, m.lane), 1, blocks))
	}
	return min(e6, promisedMost)
}

// outgrown reports whether the results of a job do not fit the lane in its time, as after a vote
// on shares or prices. What fitted at the submission may not fit when they are due.
func outgrown(p *params.Params, j *Job, spec *chain.JobSpec, terms *chain.JobTerms) bool {
	least, ok := LeastTimeout(p, spec, terms)
	return !ok || j.TimeoutBlocks < least
}

// excuses reports whether the runners of an attempt may have found no room in so many blocks. It
// is asked only where somebody is to be blamed, as it may read what the job asks for.
func (d *Dispatch) excuses(id chain.Hash, j *Job, blocks chain.Height) (bool, error) {
	crowded, err := d.Book.crowded(j, blocks)
	if err != nil || crowded {
		return crowded, err
	}
	spec, terms, err := d.Book.asked(id)
	return err == nil && outgrown(d.Book.Params, j, spec, terms), err
}

// lacks reports whether a seat of an attempt lacks something.
func (b *Book) lacks(id chain.Hash, j *Job, what func(*Seat) bool) (yes bool, err error) {
	err = b.eachSeat(id, j.Attempt, func(_ uint8, s *Seat) error {
		yes = yes || what(s)
		return nil
	})
	return yes, err
}

// spare lets the runners of an attempt go unpenalised that have shown nothing, if the lane
// was crowded in the time that they had for it, or has become too small for their results: they
// may have found no room. What is counted began at the commit deadline (ADR 229).
func (d *Dispatch) spare(id chain.Hash, j *Job) error {
	if j.Phase != Assigned && j.Phase != Closing {
		return nil
	}
	lacking, err := d.Book.lacks(id, j, func(s *Seat) bool { return s.Reveal == nil })
	if err != nil || !lacking {
		return err
	}
	excused, err := d.excuses(id, j, j.Deadline-min(j.opens(), j.Deadline))
	if err != nil || !excused {
		return err
	}
	j.Spared = true
	d.Book.Put(id, j)
	return d.Book.eachSeat(id, j.Attempt, func(n uint8, s *Seat) error {
		if s.Reveal == nil && !s.Excess {
			s.Excess = true
			d.Book.PutSeat(id, j.Attempt, n, s)
		}
		return nil
	})
}
