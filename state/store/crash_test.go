package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// crashPoint is a disk as a power cut left it, and the last height whose commit
// had returned.
type crashPoint struct {
	disk  *vfs.MemFS
	acked int
	op    string
}

// cameraFS clones a disk before each operation that changes it.
type cameraFS struct {
	mem   *vfs.MemFS
	acked atomic.Int64

	mu     sync.Mutex // guards the fields below; background flushes write too
	rng    *rand.Rand
	points []crashPoint
}

// before is called with every operation on the file system.
func (c *cameraFS) before(op errorfs.Op) error {
	if op.Kind.ReadOrWrite() == errorfs.OpIsRead {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	acked := int(c.acked.Load())
	clone := c.mem.CrashClone(vfs.CrashCloneCfg{
		UnsyncedDataPercent: []int{0, 50, 100}[len(c.points)%3],
		RNG:                 c.rng,
	})
	c.points = append(c.points, crashPoint{clone, acked, fmt.Sprintf("%v %s", op.Kind, op.Path)})
	return nil
}

// TestCrashAtEveryWrite commits 50 small blocks, with flushes between, and cuts
// the power before every operation on the disk. Whatever is left opens at the
// last block whose commit had returned, or the one after it, with flat values,
// root, trie nodes, block and indexes of that height; and the chain goes on.
func TestCrashAtEveryWrite(t *testing.T) {
	camera := &cameraFS{mem: vfs.NewCrashableMem(), rng: rand.New(rand.NewPCG(5, 5))}
	camera.acked.Store(-1) // not even the genesis
	s := openTest(t, errorfs.Wrap(camera.mem, errorfs.InjectorFunc(camera.before)))
	check(t, s.Init(GenesisRecord{Hash: testGenesis, Delta: genesisDelta()}))
	camera.acked.Store(0)
	var c chainOf
	c.start(t, s)
	rng := rand.New(rand.NewPCG(6, 6))
	for i := range 50 {
		v, rec, err := c.prepare(rng, s.Head())
		check(t, err)
		check(t, s.Commit(v, rec))
		camera.acked.Store(int64(i + 1))
		if i%10 == 9 {
			check(t, s.db.Flush())
		}
	}
	check(t, s.Close())
	t.Logf("%d crash points", len(camera.points))
	if len(camera.points) < 150 {
		t.Errorf("only %d crash points: the camera misses operations", len(camera.points))
	}
	for i := 0; i < len(camera.points); i += thinning {
		p := camera.points[i]
		if err := reopenAfterCrash(p, &c); err != nil {
			t.Errorf("crash point %d, before %s, %d acknowledged: %v", i, p.op, p.acked, err)
		}
	}
}

func reopenAfterCrash(p crashPoint, c *chainOf) (err error) {
	s, err := Open("data", testOptions(p.disk))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if _, ok := s.Genesis(); !ok {
		if p.acked >= 0 {
			return errors.New("the genesis is lost")
		}
		return nil
	}
	if err := c.verify(s, max(p.acked, 0)); err != nil {
		return err
	}
	if h, _ := s.HeadInfo(); int(h) > p.acked+1 {
		return fmt.Errorf("head at %d, nothing above %d was begun", h, p.acked+1)
	}
	v, err := s.Head().Apply(genesisDelta())
	if err != nil {
		return err
	}
	return s.Commit(v, testRecord(v.Height(), 255))
}
