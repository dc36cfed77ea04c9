package pvm

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/lib"
	"github.com/cowboy-foundation/cowboy/exec/pvm/sdk"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// NewRuntime makes the runtime of the protocol: its costs and limits and the
// whole library. hashKey is the process's own, for tables whose layout nothing
// shows (resolution 11.39).
func NewRuntime(hashKey [2]uint64) (*vm.Runtime, error) {
	cfg, err := RuntimeConfig(hashKey)
	if err != nil {
		return nil, err
	}
	rt, err := vm.NewRuntime(cfg)
	if err != nil {
		return nil, fmt.Errorf("runtime of the Python machine: %w", err)
	}
	return rt, nil
}

// RuntimeConfig is what [NewRuntime] makes a runtime of.
func RuntimeConfig(hashKey [2]uint64) (vm.Config, error) {
	cfg := vm.DefaultConfig()
	actors, err := sdk.Modules()
	if err != nil {
		return cfg, fmt.Errorf("library of actors: %w", err)
	}
	cfg.HashKey, cfg.Modules, cfg.Globals = hashKey, append(lib.Modules(), actors...), sdk.Builtins()
	return cfg, nil
}

// Engine runs programs on machines that it reuses, for one goroutine.
type Engine struct {
	rt      *vm.Runtime
	cache   Cache
	lim     Limits
	depth   int           // of calls within calls, under way
	idle    []*vm.Machine // of the outermost calls
	reserve *reserve      // for those within
	watch   Watcher       // nil: nobody

	descent Descent // of the attempt under way
	crowded bool    // it has met another engine in the reserve
	refused bool    // one of its calls was
}

// Watcher is told of every call on a machine: when it begins, and when it has ended,
// before the machine is taken back, where its cycles went. Calls nest. It holds what is
// charged to what was done, in tests.
type Watcher interface {
	Begin()
	End(vm.Bill)
}

// Watch has w told of the calls to come.
func (e *Engine) Watch(w Watcher) { e.watch = w }

// NewEngine returns an engine that looks for programs in cache first.
func NewEngine(rt *vm.Runtime, cache Cache, lim Limits) *Engine {
	return NewEngines(1, rt, cache, lim, alone{})[0]
}

// NewEngines returns n engines for as many goroutines, which share cache and, under mu, the
// machines for calls that are nested deep.
func NewEngines(n int, rt *vm.Runtime, cache Cache, lim Limits, mu Lock) []*Engine {
	deep := &reserve{mu: mu}
	list := make([]*Engine, n)
	// Bounded: by the goroutines that the node has for programs.
	for i := range list {
		list[i] = &Engine{rt: rt, cache: cache, lim: lim, reserve: deep}
	}
	return list
}

// Cached returns a program by the hash of its source, if the cache has it.
func (e *Engine) Cached(h Hash) (*Program, bool) { return e.cache.Get(h) }

// Turn begins a block: what it uses stays in the cache until the next.
func (e *Engine) Turn() { e.cache.Turn() }

// Program returns the compiled form of a source, from the cache where it is
// there. What compilation costs is the same either way, and the caller's to
// charge.
func (e *Engine) Program(src []byte, file string) (*Program, error) {
	p, _, err := e.ProgramWithin(src, file, 0)
	return p, err
}

// ProgramWithin is [Engine.Program] for at most so many cycles of compilation, 0 for
// any number: the same [ErrCycles] and the same count of what was done, whatever the
// cache has.
func (e *Engine) ProgramWithin(src []byte, file string, most code.Cycles) (*Program, code.Cycles, error) {
	if p, ok := e.cache.Get(HashOf(src)); ok {
		if most > 0 && p.CompileCycles > most {
			return nil, most, ErrCycles
		}
		return p, p.CompileCycles, nil
	}
	p, spent, err := CompileWithin(src, file, e.lim, most)
	if err != nil {
		return nil, spent, err
	}
	e.cache.Put(p)
	return p, spent, nil
}

// Run executes a program's main body with so many cycles. host goes to the
// natives of the library as Machine.Host: a *sdk.Session, or nil for a program
// that neither opens files nor meets the chain. An error is a *[vm.Abort], within a
// *[Defect] without the source where a defect of the machine was the reason; an
// exception that the program did not catch is in the result.
func (e *Engine) Run(p *Program, cycles code.Cycles, host any) (vm.Result, error) {
	var res vm.Result
	err := e.With(host, func(m *vm.Machine) (err error) {
		res, err = m.Execute(p.Code, cycles)
		res.Output = append([]byte(nil), res.Output...) // the machine's own until it is reused
		return err
	})
	return res, withDump(err, Dump{CodeHash: p.Hash, File: p.Code.File, Cycles: cycles})
}

// With hands a clean machine to fn and takes it back afterwards. Calls nest. Where they are
// nested deep it waits until no other engine of [NewEngines] is, unless an attempt says
// otherwise ([Engine.Attempt]).
func (e *Engine) With(host any, fn func(*vm.Machine) error) error {
	if err := e.descend(); err != nil {
		return err
	}
	defer e.ascend()
	m := e.acquireMachine()
	m.Host = host
	if e.watch != nil {
		e.watch.Begin()
	}
	err := fn(m)
	if e.watch != nil {
		e.watch.End(m.Bill())
	}
	m.Reset()
	m.Host = nil
	e.parkMachine(m)
	return err
}
