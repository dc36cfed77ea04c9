package ledger

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"sync"
	"time"

	"github.com/cowboy-foundation/cowboy/exec/parallel"
	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// programCacheBytes of compiled programs are kept from block to block: some ten
// thousand actors of the usual size, which is 20 KB.
const programCacheBytes = 256 << 20

// trialCacheBytes are kept by who runs one thing after the other for readers.
const trialCacheBytes = 32 << 20

// NewEngine returns an engine for programs, with a hash key of its own
// (resolution 11.39). It serves one goroutine.
func NewEngine() (*pvm.Engine, error) { return EngineOn(nil) }

// EngineOn is [NewEngine] on a runtime that others have too; nil for one of its own.
func EngineOn(rt *vm.Runtime) (*pvm.Engine, error) {
	list, err := newEngines(rt, 1, trialCacheBytes)
	if err != nil {
		return nil, err
	}
	return list[0], nil
}

// newEngines returns engines for as many goroutines. They share their runtime,
// what was compiled, and the machines for calls that are nested deep.
func newEngines(rt *vm.Runtime, n, cacheBytes int) ([]*pvm.Engine, error) {
	if rt == nil {
		var err error
		if rt, err = NewRuntime(); err != nil {
			return nil, err
		}
	}
	return pvm.NewEngines(n, rt, &sharedPrograms{lru: pvm.NewLRU(cacheBytes)}, pvm.DefaultLimits(), new(sync.Mutex)), nil
}

// NewRuntime returns the runtime of the protocol with a random hash key, on which no
// result depends (resolution 11.39).
func NewRuntime() (*vm.Runtime, error) {
	var key [16]byte
	if _, err := rand.Read(key[:]); err != nil {
		return nil, fmt.Errorf("hash key: %w", err)
	}
	return pvm.NewRuntime([2]uint64{binary.LittleEndian.Uint64(key[:8]), binary.LittleEndian.Uint64(key[8:])})
}

// sharedPrograms is a cache for several engines.
type sharedPrograms struct {
	mu  sync.Mutex // guards lru
	lru *pvm.LRU
}

func (s *sharedPrograms) Get(h pvm.Hash) (*pvm.Program, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lru.Get(h)
}

func (s *sharedPrograms) Turn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lru.Turn()
}

func (s *sharedPrograms) Put(p *pvm.Program) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lru.Put(p)
}

// newExecutor returns an executor with engines of its own, on a runtime that is given
// or, where that is nil, its own.
func newExecutor(cfg parallel.Config, rt *vm.Runtime) (*parallel.Executor, error) {
	if cfg.Workers == 0 {
		cfg = parallel.Config{Mode: parallel.Sequential, Workers: 1}
	}
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	engines, err := newEngines(rt, cfg.Workers, programCacheBytes)
	if err != nil {
		return nil, err
	}
	if cfg.Clock == nil {
		began := time.Now()
		cfg.Clock = func() uint64 { return uint64(time.Since(began)) }
	}
	return parallel.New(cfg, engines)
}
