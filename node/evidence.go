package node

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/state/journal"
)

const (
	// evidenceKind tells it from other journals.
	evidenceKind journal.Kind = "evidence"
	// evidenceQueued is how many proofs may wait for the disk: a validator is
	// banned with its first.
	evidenceQueued = 64
	// evidenceAgain is after how long a file that failed is tried again.
	evidenceAgain = time.Minute
	// setAsideMax is how many damaged files are kept beside the one in use.
	setAsideMax = 10
)

// caseID names the one case that may be open against a validator in an epoch
// (ADR 116): so no liar takes the place of another's, however often it offends.
type caseID struct {
	accused chain.PeerKey
	epoch   chain.Epoch
}

func caseOf(o attest.Offence) caseID { return caseID{o.Accused, o.Round.Epoch} }

// evidence is the owner of the proofs that this node has: it makes each durable
// and shows them to whoever asks, until the state has the conviction. Consensus
// can do without it: when its file fails, the proofs are kept in memory, the alarm
// says so, and the file is tried again.
type evidence struct {
	folder string
	news   chan attest.Evidence
	closed chan attest.Offence // convicted
	set    *beacon.ValidatorSet
	alarms *alarms
	log    *slog.Logger
	Stats  evidenceStats

	// judged reports whether the state has a conviction for an offence, and view is
	// that of the newest final block; stale says whether the chain does not take a case. All
	// are set before Run, or nil.
	judged func(attest.Offence) bool
	view   func() chain.View
	stale  func(attest.Offence) bool

	// Owned by Run.
	file   *journal.Journal // nil while it fails
	loaded bool             // what the file of earlier lives held is in the list

	// list holds one proof for each case, oldest first: at most one for each validator
	// of an epoch's set. Guarded by mu, and changed by Run alone.
	mu   sync.Mutex
	list []attest.Evidence
}

// evidenceStats count proofs.
type evidenceStats struct {
	Queue    atomic.Uint64 // dropped: too much of it waited for the disk
	CaseOpen atomic.Uint64 // dropped: another case of the accused is open
	Closed   atomic.Uint64 // left, as the state has the conviction
	Replaced atomic.Uint64 // left for another proof, being of a view to come or one that the chain does not take
	Failures atomic.Uint64 // of the file
	SetAside atomic.Uint64 // damaged files
}

// openEvidence reads what earlier lives of the node found. Proofs of another
// chain, or whose signatures do not hold, are not shown. A damaged file is set aside;
// one that cannot be opened is left for later. The error means that another process
// has it.
func openEvidence(dataDir string, set *beacon.ValidatorSet, a *alarms, log *slog.Logger) (*evidence, error) {
	v := &evidence{
		folder: dataDir, news: make(chan attest.Evidence, evidenceQueued), closed: make(chan attest.Offence, evidenceQueued),
		set: set, alarms: a, log: log,
	}
	err := v.openFile()
	if errors.Is(err, journal.ErrInUse) {
		return nil, fmt.Errorf("open evidence: %w", err)
	}
	if err != nil {
		v.suspendFile(err)
	}
	return v, nil
}

// openFile opens the journal. Of a damaged one nothing is believed: it keeps its bytes
// under another name, and a new one begins.
func (v *evidence) openFile() error {
	name := filepath.Join(v.folder, datadir.EvidenceFile)
	file, err := journal.Open(name, evidenceKind)
	if errors.Is(err, journal.ErrDamaged) || errors.Is(err, journal.ErrVersion) || errors.Is(err, journal.ErrKind) {
		aside := asideName(name)
		if moved := os.Rename(name, aside); moved != nil {
			return errors.Join(err, moved)
		}
		v.Stats.SetAside.Add(1)
		v.log.Warn("the file of evidence was damaged and is set aside: proofs that it held and that are not convicted yet are lost to this node, which begins a new file; nothing else depends on it, and the old one can be deleted",
			"file", name, "set_aside", aside, "err", err)
		file, err = journal.Open(name, evidenceKind)
	}
	if err != nil {
		return err
	}
	if cut := file.Repaired(); cut > 0 {
		v.log.Warn("evidence.journal did not end with a whole record: its last bytes were cut off, as a crash leaves them, and what was in them is lost to this node", "bytes", cut)
	}
	v.file = file
	return v.replayFile(file)
}

// replayFile adds what a file holds to the list, behind what is there already.
func (v *evidence) replayFile(file *journal.Journal) error {
	if v.loaded {
		return nil
	}
	list := slices.Clone(v.list)
	err := file.Replay(func(rec []byte) error {
		e, err := attest.DecodeEvidence(rec)
		if err == nil && simplex.VerifyEvidence(v.set, e) == nil && indexOf(list, caseOf(e.Offence())) < 0 {
			list = append(list, e)
		}
		return nil
	})
	if err != nil {
		return err
	}
	v.loaded = true
	v.change(func([]attest.Evidence) []attest.Evidence { return list })
	return nil
}

// asideName is a name that no file has yet; the last of them is used again and again.
func asideName(name string) (aside string) {
	for i := range setAsideMax {
		aside = fmt.Sprintf("%s.damaged-%d", name, i+1)
		if _, err := os.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	return aside
}

// suspendFile gives the file up for a while.
func (v *evidence) suspendFile(err error) {
	if v.file != nil {
		_ = v.file.Close() // what failed is being reported
		v.file = nil
	}
	v.Stats.Failures.Add(1)
	v.alarms.raise(alarmEvidence, fmt.Sprintf("evidence of validators that signed twice is kept in memory alone, since %s cannot be written or read (%v): make room or mend the disk; it is tried again every minute, and a restart before that forgets what is not convicted yet",
		filepath.Join(v.folder, datadir.EvidenceFile), err))
}

// write makes the file hold the list: with one more record where only the last is new,
// else anew.
func (v *evidence) write(onlyLast bool) {
	err := error(nil)
	if v.file == nil {
		onlyLast = false
		err = v.openFile()
	}
	list := v.All()
	if err == nil && !onlyLast {
		err = v.file.Prune(func([]byte) bool { return false })
	} else if err == nil {
		list = list[len(list)-1:]
	}
	for i := 0; err == nil && i < len(list); i++ {
		err = v.file.Append(attest.AppendEvidence(nil, list[i]))
	}
	if err == nil {
		err = v.file.Sync()
	}
	if err != nil {
		v.suspendFile(err)
		return
	}
	v.alarms.clear(alarmEvidence)
}

// enqueue is called by consensus, which must not wait.
func (v *evidence) enqueue(e attest.Evidence) {
	v.log.Warn("validator signed two contradicting statements", "validator", e.Accused, "view", e.First.Proposal.Round.View)
	select {
	case v.news <- e:
	default: // the offence has a proof each time that it is seen
		v.Stats.Queue.Add(1)
		v.log.Error("evidence is not kept: too much of it waits for the disk", "validator", e.Accused)
	}
}

// close takes a case out of the list: its offence is convicted. It does not wait; who
// still finds the proof in the list says so again.
func (v *evidence) close(o attest.Offence) {
	select {
	case v.closed <- o:
	default:
	}
}

// Run makes proofs durable, and shows them.
func (v *evidence) Run(ctx context.Context) error {
	again := time.NewTicker(evidenceAgain)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case e := <-v.news:
			v.addCase(e)
		case o := <-v.closed:
			v.dropCase(o)
		case <-again.C:
			if v.file == nil {
				v.write(false)
			}
		}
	}
}

// dropCase drops the case of an offence that is convicted.
func (v *evidence) dropCase(o attest.Offence) {
	if i := v.indexOf(caseOf(o)); i >= 0 && v.list[i].Offence() == o {
		v.Stats.Closed.Add(1)
		v.change(func(list []attest.Evidence) []attest.Evidence { return slices.Delete(list, i, i+1) })
		v.write(false)
	}
}

// addCase takes a proof in, if no case of the accused is open: it stays with the one that
// is, unless that one is of a view that the chain has not reached, for which nobody is
// convicted yet, or the chain has not taken it for long. Otherwise a liar could hide
// behind a contradiction in views to come, or behind one whose proof is refused.
func (v *evidence) addCase(e attest.Evidence) {
	o := e.Offence()
	if v.judged != nil && v.judged(o) {
		return
	}
	add := func(list []attest.Evidence) []attest.Evidence { return append(list, e) }
	i := v.indexOf(caseOf(o))
	switch {
	case i < 0:
		v.change(add)
		v.write(true)
	case v.list[i].Offence() == o:
	case !v.early(o) && (v.early(v.list[i].Offence()) || v.stale != nil && v.stale(v.list[i].Offence())):
		v.Stats.Replaced.Add(1)
		v.change(func(list []attest.Evidence) []attest.Evidence { return add(slices.Delete(list, i, i+1)) })
		v.write(false)
	default:
		v.Stats.CaseOpen.Add(1)
	}
}

// early reports whether an offence is of a view that the chain has not reached.
func (v *evidence) early(o attest.Offence) bool { return v.view != nil && o.Round.View > v.view() }

func (v *evidence) indexOf(id caseID) int { return indexOf(v.list, id) }

func indexOf(list []attest.Evidence, id caseID) int {
	return slices.IndexFunc(list, func(e attest.Evidence) bool { return caseOf(e.Offence()) == id })
}

// change replaces the list, which readers hold.
func (v *evidence) change(f func([]attest.Evidence) []attest.Evidence) {
	next := f(slices.Clone(v.list))
	v.mu.Lock()
	defer v.mu.Unlock()
	v.list = next
}

// All returns the proofs, oldest first. The list does not change.
func (v *evidence) All() []attest.Evidence {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.list[:len(v.list):len(v.list)]
}

// Close closes the file. Run must have returned.
func (v *evidence) Close() error {
	if v.file == nil {
		return nil
	}
	return v.file.Close()
}

// evidenceMetrics counts proofs that are kept, and those that are not.
func (n *Node) evidenceMetrics(counter counterFunc, gauge gaugeFunc) {
	s := &n.evidence.Stats
	gauge("evidence_open", "Proofs that a validator contradicted itself, which the state has no conviction for yet: at most one for each validator.",
		func() float64 { return float64(len(n.evidence.All())) })
	gauge("evidence_overdue", "Of them, those that the chain did not take five times: they are sent again after pauses that grow up to 10,240 blocks.",
		func() float64 { return float64(n.submitter.overdue.Load()) })
	counter("evidence_dropped_queue_total", "Proofs dropped because too many waited for the disk.", s.Queue.Load)
	counter("evidence_dropped_open_total", "Proofs dropped because another against the same validator is open.", s.CaseOpen.Load)
	counter("evidence_closed_total", "Proofs that left because the state has the conviction.", s.Closed.Load)
	counter("evidence_replaced_total", "Proofs that left for another against the same validator, because their view is still to come or the chain has not taken them for long.", s.Replaced.Load)
	counter("evidence_failures_total", "Failures of the file of proofs; while it fails they are in memory alone.", s.Failures.Load)
	counter("evidence_set_aside_total", "Damaged files of proofs that were set aside.", s.SetAside.Load)
}
