package store

import (
	"sync"

	"github.com/cowboy-foundation/cowboy/state/tree"
)

// kept is a committed version, while it is kept. Whoever reads or builds on a
// version holds the committed one below it, so that records of the resident
// tries are taken back only when nobody looks at them.
type kept struct {
	image *tree.Image

	mu   sync.RWMutex
	gone error // what reads answer once it is given up
}

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

// giveUp waits for all who hold k; reads answer with reason from then on.
func (k *kept) giveUp(reason error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.gone == nil {
		k.gone = reason
	}
}

// nursery knows the pending versions, so that their records can be taken back
// when they are dropped. It does not keep them alive: a version that nobody
// holds any more is an orphan.
type nursery struct {
	mu      sync.Mutex
	parents map[*tree.Image]*Version // of pending versions, by image
	orphans []*tree.Image
}

func (n *nursery) add(image *tree.Image, parent *Version) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.parents == nil {
		n.parents = map[*tree.Image]*Version{}
	}
	n.parents[image] = parent
}

// remove forgets a version that was committed.
func (n *nursery) remove(image *tree.Image) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.parents, image)
}

// orphan is called when the garbage collector found that nobody holds the
// version of image.
func (n *nursery) orphan(image *tree.Image) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, ok := n.parents[image]; ok {
		n.orphans = append(n.orphans, image)
	}
}

// takeOrphans removes the orphans and returns their images. The children of a
// version come before it, because they keep it from being one.
func (n *nursery) takeOrphans() []*tree.Image {
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
func (n *nursery) takeChildren(k *kept) []*tree.Image {
	n.mu.Lock()
	defer n.mu.Unlock()
	var images []*tree.Image
	for image, parent := range n.parents {
		if parent.base() == k {
			images = append(images, image)
		}
	}
	for _, image := range images {
		delete(n.parents, image)
	}
	return images
}

// reap takes back the records of dropped versions.
func (s *Store) reap() {
	s.forest.Release(s.pending.takeOrphans()...)
}

// expire gives up a committed version, with all that hang on it and not on the
// version after it.
func (s *Store) expire(old, next *kept) {
	old.giveUp(ErrStale)
	s.forest.Release(s.pending.takeChildren(old)...)
	s.forest.Retire(next.image)
}
