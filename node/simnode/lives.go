package simnode

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// Case is a way in which one key comes to have two lives, or a life that does not
// remember another.
type Case struct {
	Name string
	// Together says that two lives start within a second, so that neither finds the
	// other at work.
	Together bool
	// Stops is how many of the lives must stop because they notice another.
	Stops int
	// Forgets says that more than a third of the keys forget what they said: who kept a
	// certificate of what was forgotten may halt at one that says otherwise.
	Forgets bool
	play    func(r *run, c Case) error
}

// Cases lists them.
var Cases = []Case{
	{"a fresh folder copied, later", false, 1, false, (*run).copiedFresh},
	{"a fresh folder copied, together", true, 1, false, (*run).copiedFresh},
	{"cloned at a height, beside it", false, 1, false, (*run).cloned},
	{"cloned at a height, started together", true, 1, false, (*run).cloned},
	{"restored with the chain running", false, 0, false, (*run).restoredRunning},
	{"restored with the chain standing", false, 0, false, (*run).restoredStanding},
	{"all four restored", false, 0, true, (*run).allRestored},
}

// Lives is what one run of a case came to.
type Lives struct {
	Convicted    bool // somebody has a proof against an honest key
	Contradicted bool // the lives of a key said what contradicts, heard by anybody or not
	Stopped      int  // lives that ended because they noticed another
	Halted       bool // somebody had certificates that conflict, where the case forgets
	trace        *trace
}

// watchFor is the longest time that a start listens on a chain that is none of
// development.
const watchFor = 10 * time.Second

// PlayLives plays a case from a seed.
func PlayLives(t *testing.T, c Case, seed uint64) (out Lives, err error) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "true")
	cryptotest.SetGlobalRandom(t, seed)
	synctest.Test(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(seed, 7))
		plan := Plan{
			Seed: seed, Validators: 4, BlockTime: time.Second, WatchFor: watchFor,
			Weather: Weather{Delay: time.Duration(1+rng.IntN(80)) * time.Millisecond, Jitter: 5 * time.Millisecond},
		}
		r := newRun(plan)
		r.witness.tolerant = true
		r.rng = rng
		err = r.deal(dir)
		if err == nil {
			r.net.set(plan.Weather)
			err = c.play(r, c)
		}
		err = errors.Join(err, r.stop())
		halted := c.Forgets && errors.Is(err, simplex.ErrConflict)
		if halted {
			err = nil
		}
		if breach := r.witness.broke(); breach != nil {
			err = breach
		}
		out = Lives{r.convictions > 0, r.witness.contradictions > 0, r.stopped, halted, r.trace}
		time.Sleep(time.Minute)
	})
	return out, err
}

// WriteTrace writes the trace of the run to a file.
func (l *Lives) WriteTrace(name string) error { return l.trace.writeTo(name) }

// startAll switches all machines on that are off.
func (r *run) startAll() error {
	for _, m := range r.machines {
		if m.life == nil {
			if err := m.start(); err != nil {
				return err
			}
		}
	}
	return nil
}

// passTime lets time pass, and takes note of lives that end because of another.
func (r *run) passTime(d time.Duration) error {
	for end := time.Now().Add(d); time.Now().Before(end); {
		if err := r.pause(tick); err != nil {
			return err
		}
		for _, m := range r.machines {
			if m.life == nil {
				continue
			}
			select {
			case err := <-m.life.done:
				m.life.reached()
				m.off()
				r.trace.note("machine %d at place %d ended: %v", m.id, m.place, err)
				if !errors.Is(err, engine.ErrDoppelganger) {
					return fmt.Errorf("%w: %d: %w", ErrEnded, m.id, err)
				}
				r.stopped++
			default:
			}
		}
	}
	return nil
}

// second makes another computer with the keys of the first machine, and a disk.
func (r *run) second(d *disk) (*machine, error) {
	first := r.machines[0]
	m := &machine{
		run: r, id: first.id, place: len(r.machines), dir: first.dir + "-copy",
		address: fmt.Sprintf("127.0.0.1:%d", 5001+10*len(r.machines)), guards: first.guards, disk: d,
	}
	if err := os.Mkdir(m.dir, 0o700); err != nil {
		return nil, err
	}
	for _, name := range []string{"keys.json", "genesis.json", "peers.json"} {
		raw, err := os.ReadFile(filepath.Join(first.dir, name))
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(m.dir, name), raw, 0o600); err != nil {
			return nil, err
		}
	}
	r.witness.places(m.place + 1)
	r.machines = append(r.machines, m)
	return m, nil
}

// goesOn demands blocks, after the time that starts may take to listen.
func (r *run) goesOn() error {
	if err := r.passTime(watchFor + 20*time.Second); err != nil {
		return err
	}
	_, before, _ := r.witness.level(r.honest)
	if err := r.passTime(30 * time.Second); err != nil {
		return err
	}
	if _, after, _ := r.witness.level(r.honest); after < before+3 {
		return fmt.Errorf("%w: height %d, and half a minute before %d", ErrStalled, after, before)
	}
	return nil
}

func (r *run) copiedFresh(c Case) error {
	m, err := r.second(r.machines[0].disk.clone())
	if err != nil {
		return err
	}
	wait := 10*time.Second + r.span(40*time.Second)
	if c.Together {
		wait = r.span(time.Second)
	}
	for _, m := range r.machines[:len(r.machines)-1] {
		if err := m.start(); err != nil {
			return err
		}
	}
	if err := errors.Join(r.passTime(wait), m.start()); err != nil {
		return err
	}
	return r.goesOn()
}

func (r *run) cloned(c Case) error {
	if err := errors.Join(r.startAll(), r.passTime(30*time.Second+r.span(30*time.Second))); err != nil {
		return err
	}
	first := r.machines[0]
	m, err := r.second(first.disk.clone())
	if err != nil {
		return err
	}
	if c.Together {
		first.cut(100)
		if err := errors.Join(first.start(), r.passTime(r.span(time.Second))); err != nil {
			return err
		}
	} else if err := r.passTime(r.span(20 * time.Second)); err != nil {
		return err
	}
	if err := m.start(); err != nil {
		return err
	}
	return r.goesOn()
}

// restore puts an older image in the place of a machine's disk.
func (m *machine) restore(image *disk) {
	m.cut(100)
	m.disk = image
	m.run.witness.restored(m.place)
	m.run.trace.note("machine %d is set back to an older image", m.id)
}

func (r *run) restoredRunning(Case) error {
	if err := errors.Join(r.startAll(), r.passTime(30*time.Second+r.span(20*time.Second))); err != nil {
		return err
	}
	m := r.machines[0]
	image := m.disk.clone()
	if err := r.passTime(time.Second + r.span(40*time.Second)); err != nil {
		return err
	}
	m.restore(image)
	if err := errors.Join(r.passTime(r.span(5*time.Second)), m.start()); err != nil {
		return err
	}
	return r.goesOn()
}

func (r *run) restoredStanding(Case) error {
	if err := errors.Join(r.startAll(), r.passTime(30*time.Second+r.span(20*time.Second))); err != nil {
		return err
	}
	m := r.machines[0]
	image := m.disk.clone()
	if err := r.passTime(r.span(5 * time.Second)); err != nil {
		return err
	}
	r.machines[1].cut(100)
	r.machines[2].cut(100)
	if err := r.passTime(r.span(15 * time.Second)); err != nil {
		return err
	}
	m.restore(image)
	if err := errors.Join(m.start(), r.passTime(r.span(30*time.Second)), r.startAll()); err != nil {
		return err
	}
	return r.goesOn()
}

func (r *run) allRestored(Case) error {
	if err := errors.Join(r.startAll(), r.passTime(30*time.Second)); err != nil {
		return err
	}
	images := make([]*disk, len(r.machines))
	for i, m := range r.machines {
		if err := r.passTime(r.span(5 * time.Second)); err != nil {
			return err
		}
		images[i] = m.disk.clone()
	}
	if err := r.passTime(r.span(20 * time.Second)); err != nil {
		return err
	}
	for i, m := range r.machines {
		m.restore(images[i])
	}
	r.witness.restartChain()
	for _, m := range r.machines {
		if err := errors.Join(r.passTime(r.span(time.Second)), m.start()); err != nil {
			return err
		}
	}
	return r.goesOn()
}

// newRun makes a run without machines. It is called in the bubble.
func newRun(plan Plan) *run {
	r := &run{plan: plan, trace: newTrace(), rng: rand.New(rand.NewPCG(plan.Seed, 2)), report: &Report{States: map[string]int{}}}
	r.pact = &pact{views: map[chain.View][2]simplex.Proposal{}}
	r.banned, r.spoke = map[int]bool{}, map[int]bool{}
	r.report.trace = r.trace
	r.trace.note("%v", plan)
	r.net = newNetwork(rand.New(rand.NewPCG(plan.Seed, 3)), r.trace)
	r.witness = newWitness(plan.Validators, r.trace)
	_, r.net.guestBytes = plan.guestBytes()
	r.net.over = func(machine int, e *egress) {
		if r.machines[machine].honest() {
			r.witness.fault(fmt.Errorf("%w: %d has sent %d bytes, of them %.0f beyond what time allows", ErrGuests, machine, e.all, e.bytes))
		}
	}
	return r
}
