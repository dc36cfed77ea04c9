package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/rawdb"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/trie"
	"github.com/ethereum/go-ethereum/triedb"

	"github.com/cowboy-foundation/cowboy/bench/bars"
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// maxWorkers is how many goroutines our side may use: all that exist.
const maxWorkers = 16

// actorBars race storage tries: many actors with some writes each, and one
// actor with all of them on one core and on two.
func actorBars() []bars.Bar {
	return []bars.Bar{
		{
			Name: "actors-1000x50", Peer: "go-ethereum tries, a goroutine per core", Must: 3, Aim: 5,
			Ops: 50_000, Iterations: 1, Setup: raceActors,
		},
		whaleBar(),
	}
}

func whaleBar() bars.Bar {
	bar := bars.Bar{Name: "whale-50k-cores-1-to-2", Peer: "ours on one core", Must: 1.7, Aim: 1.9, Ops: 50_000, Iterations: 1, SpinCores: 2}
	if runtime.NumCPU() < 2 {
		bar.Absent = "one core"
	} else {
		bar.Setup = raceWhale
	}
	return bar
}

// slotWrites is the storage writes of a block: some actors, the same number of
// slots each, half of them new.
type slotWrites struct{ actors, slots, each, block int }

func actorAddress(i int) (addr chain.Address) {
	binary.BigEndian.PutUint32(addr[:], uint32(i))
	return addr
}

// next calls put for each write of the next block.
func (s *slotWrites) next(put func(actor int, key state.StorageKey, value []byte)) {
	s.block++
	for actor := range s.actors {
		for k := range s.each {
			slot := (s.block*7919 + k*31) % s.slots // one that exists
			if k%2 == 1 {
				slot = s.slots + s.block*s.each + k
			}
			put(actor, s.key(slot), s.value(slot))
		}
	}
}

func (s *slotWrites) key(slot int) state.StorageKey {
	var b [32]byte
	binary.BigEndian.PutUint64(b[24:], uint64(slot))
	return state.NewStorageKey(state.VMNamespacePVM, b[:])
}

func (s *slotWrites) value(slot int) []byte {
	v := make([]byte, 32)
	binary.BigEndian.PutUint64(v[8:], uint64(slot+1)*0x9e3779b97f4a7c15)
	binary.BigEndian.PutUint64(v[24:], uint64(s.block+1))
	return v
}

// first calls put for each slot of the first state.
func (s *slotWrites) first(put func(actor int, key state.StorageKey, value []byte)) {
	for actor := range s.actors {
		for slot := range s.slots {
			put(actor, s.key(slot), s.value(slot))
		}
	}
}

func writesOf(fill func(func(int, state.StorageKey, []byte))) *state.Delta {
	d := state.NewDelta()
	fill(func(actor int, key state.StorageKey, value []byte) { d.SetStorage(actorAddress(actor), key, value) })
	return d
}

// slotPeer is a storage trie of go-ethereum for each actor.
type slotPeer struct {
	tries  []*trie.StateTrie
	keys   [][][]byte
	values [][][]byte
	roots  []common.Hash
}

func newSlotPeer(actors int) (*slotPeer, error) {
	p := &slotPeer{keys: make([][][]byte, actors), values: make([][][]byte, actors), roots: make([]common.Hash, actors)}
	db := triedb.NewDatabase(rawdb.NewMemoryDatabase(), triedb.HashDefaults)
	for range actors {
		t, err := trie.NewStateTrie(trie.StateTrieID(types.EmptyRootHash), db)
		if err != nil {
			return nil, fmt.Errorf("open peer's trie: %w", err)
		}
		p.tries = append(p.tries, t)
	}
	return p, nil
}

func (p *slotPeer) prepare(fill func(func(int, state.StorageKey, []byte))) {
	for i := range p.keys {
		p.keys[i], p.values[i] = p.keys[i][:0], p.values[i][:0]
	}
	fill(func(actor int, key state.StorageKey, value []byte) {
		p.keys[actor] = append(p.keys[actor], []byte(key))
		p.values[actor] = append(p.values[actor], value)
	})
}

func (p *slotPeer) apply() error {
	var crew sync.WaitGroup
	cores := runtime.GOMAXPROCS(0)
	errs := make([]error, cores)
	for core := range cores {
		crew.Go(func() {
			for i := core; i < len(p.tries); i += cores {
				for k := range p.keys[i] {
					errs[core] = errors.Join(errs[core], p.tries[i].UpdateStorage(common.Address{}, p.keys[i][k], p.values[i][k]))
				}
				p.roots[i] = p.tries[i].Hash()
			}
		})
	}
	crew.Wait()
	return errors.Join(errs...)
}

func raceActors() (bars.Contest, error) {
	mine, theirs := slotWrites{1000, 1000, 50, 0}, slotWrites{1000, 1000, 50, 0}
	o := newOurs(maxWorkers)
	p, err := newSlotPeer(mine.actors)
	if err != nil {
		return bars.Contest{}, err
	}
	o.prepare(writesOf(mine.first))
	p.prepare(theirs.first)
	c := bars.Contest{
		Ours: bars.Side{
			Prepare: func(int) error { o.prepare(writesOf(mine.next)); return nil },
			Run:     func(int) error { return o.apply() },
		},
		Peer: bars.Side{
			Prepare: func(int) error { p.prepare(theirs.next); return nil },
			Run:     func(int) error { return p.apply() },
		},
	}
	err = errors.Join(o.apply(), p.apply(), c.Ours.Prepare(1), c.Peer.Prepare(1), c.Ours.Run(1), c.Peer.Run(1))
	for i := 0; err == nil && i < mine.actors; i++ {
		a, _ := o.forest.Account(o.image, tree.AccountKey(actorAddress(i)))
		if a.StorageRoot != chain.Hash(p.roots[i]) {
			err = fmt.Errorf("storage roots of actor %d differ: ours %s, peer %s", i, a.StorageRoot, p.roots[i])
		}
	}
	return c, err
}

func raceWhale() (bars.Contest, error) {
	side := func(cores int) (bars.Side, error) {
		w := &slotWrites{1, 200_000, 50_000, 0}
		o := newOurs(cores)
		o.prepare(writesOf(w.first))
		return bars.Side{
			Cores:   cores,
			Prepare: func(int) error { o.prepare(writesOf(w.next)); return nil },
			Run:     func(int) error { return o.apply() },
		}, o.apply()
	}
	two, err := side(2)
	one, err1 := side(1)
	return bars.Contest{Ours: two, Peer: one}, errors.Join(err, err1)
}
