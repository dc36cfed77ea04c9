package store

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/cowboy-foundation/cowboy/state/tree"
)

// kept is a committed version, while it is kept. Whoever reads or builds on a
// version holds the committed one below it, so that records of the resident
// tries are taken back only when nobody looks at them.
type kept struct {
	image *tree.Image
	rows  *pebble.Snapshot // of the database, with the version's block as the last

	// pins is the readers that need it for longer than a read, and given once it is given
	// up. A reader pins it without a lock: one that is held by a long read, and waited for
	// by whoever gives up, would stop all readers and builders behind it.
	pins atomic.Int64

	mu   sync.RWMutex
	gone error // what reads answer once it is given up
}

// given is the mark in pins; below it is the number of readers.
const given = 1 << 62

// hold keeps the records in place until letGo. It fails once k is given up.
func (k *kept) hold() error {
	k.mu.RLock()
	if err := k.gone; err != nil {
		k.mu.RUnlock()
		return err
	}
	return nil
}

func (k *kept) letGo() { k.mu.RUnlock() }

// pin keeps k for longer than a read may; false if it is given up already.
func (k *kept) pin() bool {
	for {
		n := k.pins.Load()
		if n&given != 0 {
			return false
		}
		if k.pins.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

func (k *kept) unpin() { k.pins.Add(-1) }

// expire gives k up unless it is pinned.
func (k *kept) expire(reason error) bool {
	if !k.pins.CompareAndSwap(0, given) {
		return k.pins.Load() == given // given up already, and nobody has it
	}
	k.setGone(reason)
	return true
}

// giveUp waits for all who hold k; reads answer with reason from then on, also those of who
// has pinned it.
func (k *kept) giveUp(reason error) {
	k.pins.Or(given)
	k.setGone(reason)
}

// setGone waits for all who hold k. The first reason stays.
func (k *kept) setGone(reason error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.gone == nil {
		k.gone = reason
	}
}

// pendingVersions knows the pending versions, so that their records can be taken back
// when they are dropped. It does not keep them alive: a version that nobody
// holds any more is an orphan. It is not part of the store, because what waits for
// versions to be dropped must not hold one through it.
type pendingVersions struct {
	mu      sync.Mutex
	parents map[*tree.Image]*Version // of pending versions, by image
	orphans []*tree.Image
}

func (n *pendingVersions) add(image *tree.Image, parent *Version) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.parents == nil {
		n.parents = map[*tree.Image]*Version{}
	}
	n.parents[image] = parent
}

// remove forgets a version that was committed.
func (n *pendingVersions) remove(image *tree.Image) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.parents, image)
}

// clear forgets all, when the store is closed.
func (n *pendingVersions) clear() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.parents, n.orphans = nil, nil
}

// orphan is called when the garbage collector found that nobody holds the
// version of image.
func (n *pendingVersions) orphan(image *tree.Image) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, ok := n.parents[image]; ok {
		n.orphans = append(n.orphans, image)
	}
}

// takeOrphans removes the orphans and returns their images. The children of a
// version come before it, because they keep it from being one.
func (n *pendingVersions) takeOrphans() []*tree.Image {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.orphans) == 0 {
		return nil
	}
	var images []*tree.Image
	for _, image := range n.orphans {
		if _, ok := n.parents[image]; ok {
			delete(n.parents, image)
			images = append(images, image)
		}
	}
	n.orphans = nil
	return images
}

// takeChildren removes the pending versions that hang on k and returns their
// images.
func (n *pendingVersions) takeChildren(k *kept) []*tree.Image {
	n.mu.Lock()
	defer n.mu.Unlock()
	images, _ := hanging(n.parents, k)
	for _, image := range images {
		delete(n.parents, image)
	}
	return images
}

// hanging returns the images of the pending versions that hang on k, given the
// parents of all. It looks at no version twice but for those at which ways meet,
// so that its steps grow with the number of versions and not with the lengths of
// their ways down.
func hanging(parents map[*tree.Image]*Version, k *kept) (images []*tree.Image, steps int) {
	if len(parents) == 0 {
		return nil, 0
	}
	known := make(map[*Version]bool, len(parents))
	var way []*Version
	for image, v := range parents {
		way = way[:0]
		on, ok := false, false
		for {
			steps++
			if on, ok = known[v]; ok {
				break
			}
			p := v.place.Load()
			way = append(way, v)
			if p.kept != nil {
				on = p.kept == k
				break
			}
			v = p.parent
		}
		for _, v := range way {
			known[v] = on
		}
		if on {
			images = append(images, image)
		}
	}
	return images, steps
}

// generation is the resident tries, and the pending versions in them. There is
// one, until a rebuild makes another.
//
// giving is held from when dropped versions are found until their records are taken back:
// who builds finds some, and who commits gives up what they are built on, at the same time.
// It comes before the locks of pending and forest, and after that of a kept version, which
// a builder holds.
type generation struct {
	forest  *tree.Forest
	pending pendingVersions
	giving  sync.Mutex
}

func newGeneration(o *Options) *generation {
	return &generation{forest: NewForest(o.Workers)}
}

// reap takes back the records of dropped versions.
func (g *generation) reap() {
	g.giving.Lock()
	defer g.giving.Unlock()
	g.forest.Release(g.pending.takeOrphans()...)
}

// expire gives up a committed version, with all that hang on it and not on the
// version after it. It reports whether it could: a pinned version stays, and all
// after it.
func (s *Store) expire(old, next *kept) bool {
	if !old.expire(ErrStale) {
		return false
	}
	s.dropRows(old)
	s.giving.Lock()
	defer s.giving.Unlock()
	s.forest.Release(s.pending.takeChildren(old)...)
	s.forest.Retire(next.image)
	return true
}

// retainHead makes the head a kept version.
func (s *Store) retainHead(image *tree.Image) (*kept, error) {
	var rows *pebble.Snapshot
	err := s.stop.wait(func() error {
		rows = s.db.NewSnapshot()
		return nil
	})
	if err != nil {
		return nil, err
	}
	return &kept{image: image, rows: rows}, nil
}

// dropRows lets go of the rows of versions that are given up. A database that
// works no more keeps them.
func (s *Store) dropRows(given ...*kept) {
	_ = s.stop.wait(func() (err error) {
		for _, k := range given {
			err = errors.Join(err, k.rows.Close())
		}
		return err
	})
}
