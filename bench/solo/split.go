package solo

import (
	"time"

	"github.com/cowboy-foundation/cowboy/exec/parallel"
)

// Split is where the time of blocks went. The times of workers are added up, and
// what they wait for each other is left out: a Split is work, not the time on the
// clock. Only Commit holds a wait, for the disk. The proof of the order, the coded
// shards and the certificate are in no part of it.
type Split struct {
	Prepare time.Duration // hash, decode, recover the sender, admit
	Pack    time.Duration // choose and arrange; forget what a block took
	Plan    time.Duration // foresee what conflicts
	Run     time.Duration // transactions
	Settle  time.Duration // validate in order, take over, run again what has to
	Finish  time.Duration // merge, mailboxes, timers, rewards
	Root    time.Duration // state root, and the roots of bodies and receipts
	Commit  time.Duration // to the disk, synced

	Apply time.Duration // on the clock, from the parent's state to the writes: what Plan to Finish took together

	// Of blocks that were executed in parallel.
	Txs, Executions, Reruns, Missed uint64
}

// Stages are the times by name, in the order of a block.
func (s *Split) Stages() []Stage {
	return []Stage{
		{"prepare", s.Prepare},
		{"pack", s.Pack},
		{"plan", s.Plan},
		{"run", s.Run},
		{"settle", s.Settle},
		{"finish", s.Finish},
		{"root", s.Root},
		{"commit", s.Commit},
	}
}

// Stage is a part of a block's time.
type Stage struct {
	Name string
	Time time.Duration
}

// Total is the sum of all stages.
func (s *Split) Total() (sum time.Duration) {
	for _, stage := range s.Stages() {
		sum += stage.Time
	}
	return sum
}

// Add adds the times of another.
func (s *Split) Add(o *Split) {
	s.Prepare += o.Prepare
	s.Pack += o.Pack
	s.Plan += o.Plan
	s.Run += o.Run
	s.Settle += o.Settle
	s.Finish += o.Finish
	s.Root += o.Root
	s.Commit += o.Commit
	s.Apply += o.Apply
	s.Txs += o.Txs
	s.Executions += o.Executions
	s.Reruns += o.Reruns
	s.Missed += o.Missed
}

// counters are what the parts of a chain have counted so far.
type counters struct {
	prepare, pack, apply, root, commit time.Duration
	exec                               parallel.Stats
}

func (c *Chain) counters() counters {
	sig, led := &c.sigverify.Stats, &c.ledger.Stats
	return counters{
		prepare: time.Duration(sig.ParseNanos.Load() + sig.RecoverNanos.Load() + sig.AdmitNanos.Load()),
		pack:    time.Duration(led.PackNanos.Load()),
		apply:   time.Duration(led.ExecNanos.Load()),
		root:    time.Duration(led.RootNanos.Load()),
		commit:  time.Duration(led.CommitNanos.Load()),
		exec:    led.Exec(),
	}
}

// since is what was counted from o to n. A block that is executed one transaction
// after the other has no stages within its execution: all of it is Run.
func (n *counters) since(o *counters) Split {
	s := Split{
		Prepare: n.prepare - o.prepare, Pack: n.pack - o.pack, Root: n.root - o.root, Commit: n.commit - o.commit,
		Apply: n.apply - o.apply,
		Txs:   n.exec.Txs - o.exec.Txs, Executions: n.exec.Executions - o.exec.Executions,
		Reruns: n.exec.Reexecuted - o.exec.Reexecuted, Missed: n.exec.Mispredicted - o.exec.Mispredicted,
	}
	if n.exec.Parallel == o.exec.Parallel {
		s.Run = s.Apply
		return s
	}
	s.Plan = time.Duration(n.exec.PrepareNanos - o.exec.PrepareNanos + n.exec.PlanNanos - o.exec.PlanNanos)
	s.Run = time.Duration(n.exec.RunNanos - o.exec.RunNanos)
	s.Settle = time.Duration(n.exec.CommitNanos - o.exec.CommitNanos)
	s.Finish = time.Duration(n.exec.FinishNanos - o.exec.FinishNanos)
	return s
}
