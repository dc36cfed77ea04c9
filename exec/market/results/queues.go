package results

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/state"
)

// queue is where a job waits to be judged. Each is in the order of the heights since which
// they wait, and judged in that order: nobody passes a job of its own queue, but who asks an
// actor for which there is room.
type queue uint8

const (
	none   queue = iota // it does not wait
	light               // it takes few steps
	heavy               // it takes many
	asking              // an actor is asked for it
	queues
)

// tables hold the queues.
var tables = [...]string{light: jobs.TableReady, heavy: jobs.TableHeavy, asking: jobs.TableAsking}

// LightPart is the part of job.judge_steps_per_block that a job may take at most to wait
// among the light ones: it has paid for no more.
const LightPart = 16

// AskingTries is how many jobs of a block may find no room for the actor that they ask before
// no more is tried.
const AskingTries = 16

// quota is what judging may still take in a block. Half of the steps are for the heavy jobs and
// for those that ask an actor, the other half and what these leave are for the light ones.
//
// A heavy job begins if anything is left of its half, whatever it declares, and takes off
// what it has used: to stop the others it has to use, not to declare. So the heavy ones take
// less than half a block, and the last one of them. A light job begins if there is room for
// all that it may take, so that these take no more than their half and what the heavy ones
// have left of theirs. Together a block takes less than job.judge_steps_per_block and the
// steps of one job: those that its submitter has paid for, and those to read it. Of the jobs
// that a block looks at, too, half are left for the light ones.
//
// What asks an actor needs room for that in the block besides, and is not read before there
// is. It has a queue of its own, or a block full of transactions would keep the heavy ones
// waiting behind it; the two queues begin by turns. Of those that ask the next ones may use
// room that is too small for the first, which is last then.
//
// So the oldest light job is judged in each block, no light one taking more than their half;
// the oldest heavy job and the first of those that ask whose actors find room, in every other
// block, needing no more than a step that is left.
type quota struct {
	jobs  int                  // to look at
	most  uint64               // that a light job may take
	light uint64               // steps that are left of the half of the light ones
	heavy uint64               // of the other half
	stops [queues]bool         // those whose next job has found no room
	tries int                  // of jobs whose actors find no room
	seen  map[chain.Hash]queue // where each waits that was looked at
}

func newQuota(steps uint64) *quota {
	return &quota{
		jobs: params.JudgedJobsMax, tries: AskingTries, most: steps / LightPart, light: steps / 2, heavy: steps - steps/2, seen: map[chain.Hash]queue{},
	}
}

// full reports whether no further job is looked at.
func (q *quota) full() bool { return q.jobs == 0 || q.light == 0 && q.heavy == 0 }

// queueOf is where a job belongs that may take so many steps.
func (q *quota) queueOf(most uint64) queue {
	if most > q.most {
		return heavy
	}
	return light
}

// lets reports whether there is room for a job of a queue that may take so many steps.
func (q *quota) lets(of queue, most uint64) bool {
	if of == light {
		return most <= q.light+q.heavy && !q.stops[of]
	}
	return q.heavy > 0 && !q.stops[of]
}

// triesNext reports whether the next job of a queue is looked at behind one that has found no
// room; if not, nobody of that queue is judged any more in this block.
func (q *quota) triesNext(in queue) bool {
	q.stops[in] = in != asking || q.heavy == 0 || q.tries == 0
	q.tries--
	return !q.stops[in]
}

// use takes what a job of a queue has used.
func (q *quota) use(of queue, steps uint64) {
	if of == light {
		own := min(steps, q.light)
		q.light -= own
		steps -= own
	}
	q.heavy -= min(steps, q.heavy)
}

// JudgeTouched judges the jobs that wait for it, then those with a new result in this
// block, by their ids; each job once. What finds no room waits for the next blocks, in
// order. The error is a fault.
func (b *Book) JudgeTouched() error {
	q := newQuota(b.Jobs.Params.Job.JudgeStepsPerBlock)
	order := [...]queue{heavy, asking, light}
	if b.Jobs.Height%2 == 0 {
		order[0], order[1] = asking, heavy
	}
	// Bounded: by the queues.
	for _, of := range order {
		if err := b.judgeWaiting(of, q); err != nil {
			return err
		}
	}
	span := state.Span{Prefix: jobs.TablePrefix(jobs.TableTouched), Entries: scanStep, Bytes: 1 << 20}
	// Paid: by the transactions of the block, which have touched so many, or by the jobs
	// whose deadlines the block has come to, job.due_per_block.
	for {
		rows, err := b.Jobs.State.Scan(chain.AddrJobDispatcher, span)
		if err != nil {
			return err
		}
		// Bounded: by scanStep.
		for i := range rows {
			if err := b.judgeNew(rows[i].Key, q); err != nil {
				return err
			}
			span.From = rows[i].Key.Next()
		}
		if len(rows) < scanStep {
			return nil
		}
	}
}

// scanStep is how many rows a pass reads at a time.
const scanStep = 64

// judgeNew judges a job with a new result, or lets it wait.
func (b *Book) judgeNew(key state.StorageKey, q *quota) error {
	id, ok := jobs.SplitTouched(key)
	if !ok {
		return ErrRecord
	}
	b.Jobs.State.SetStorage(chain.AddrJobDispatcher, key, nil)
	waits, err := b.judge(id, q)
	if err == nil && waits != none {
		b.keepWaiting(id, waits, b.Jobs.Height)
	}
	return err
}

// keepWaiting lets a job wait in a queue, where it has waited since a height.
func (b *Book) keepWaiting(id chain.Hash, in queue, since chain.Height) {
	b.Jobs.State.SetStorage(chain.AddrJobDispatcher, jobs.AtKey(tables[in], since, id), []byte{})
}

// standLast lets a job that has found no room for its actor stand behind the others that ask
// one: these are tried in turn, or those in front whose actors need much would let nobody by.
func (b *Book) standLast(row state.StorageKey, id chain.Hash) {
	b.Jobs.State.SetStorage(chain.AddrJobDispatcher, row, nil)
	b.keepWaiting(id, asking, b.Jobs.Height)
}

// judgeWaiting judges those that wait in a queue, the oldest first, until one finds no room.
// A job that is found to belong into another queue goes there, to where its height puts it.
func (b *Book) judgeWaiting(in queue, q *quota) error {
	span := state.Span{Prefix: jobs.TablePrefix(tables[in]), Entries: scanStep, Bytes: 1 << 20}
	// Bounded: by params.JudgedJobsMax.
	for {
		rows, err := b.Jobs.State.Scan(chain.AddrJobDispatcher, span)
		if err != nil {
			return err
		}
		// Bounded: by scanStep.
		for i := range rows {
			since, id, ok := jobs.SplitAt(tables[in], rows[i].Key)
			if !ok {
				return ErrRecord
			}
			if since >= b.Jobs.Height || q.full() || in != light && q.jobs <= params.JudgedJobsMax/2 {
				return nil // it began to wait just now, or has to
			}
			span.From = rows[i].Key.Next()
			if q.seen[id] == in {
				continue // it came here from another queue just now
			}
			waits, err := b.judge(id, q)
			if err != nil {
				return err
			}
			if waits == in {
				more := q.triesNext(in)
				if in == asking {
					b.standLast(rows[i].Key, id)
				}
				if !more {
					return nil
				}
				continue
			}
			b.Jobs.State.SetStorage(chain.AddrJobDispatcher, rows[i].Key, nil)
			if waits != none {
				b.keepWaiting(id, waits, since)
			}
		}
		if len(rows) < scanStep {
			return nil
		}
	}
}
