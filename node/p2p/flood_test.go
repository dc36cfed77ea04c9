package p2p

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
)

// twin returns another body that XXH64 gives the same sum under half of all
// seeds: it flips the top bit of one word, which a multiplication by an odd
// number keeps where it is and a rotation carries to bit 30, and takes that out
// again with the word that comes next in the same lane.
func twin(b []byte) []byte {
	const prime1, prime2 uint64 = 11400714785074694791, 14029467366897019727
	inverse := uint64(1)
	for range 6 {
		inverse *= 2 - prime2*inverse
	}
	carried := prime1
	carried = carried * inverse << 30
	c := bytes.Clone(b)
	binary.LittleEndian.PutUint64(c, binary.LittleEndian.Uint64(c)^1<<63)
	binary.LittleEndian.PutUint64(c[32:], binary.LittleEndian.Uint64(c[32:])+carried)
	return c
}

// TestTwinsAreFresh: nobody hides a transaction behind one of the same sum, also
// where the key of the hash does not help.
func TestTwinsAreFresh(t *testing.T) {
	const seed, pairs = 1, 200
	rng := rand.New(rand.NewPCG(seed, 0))
	f := newFlood(new(Stats))
	collide, hidden := 0, 0
	for range pairs {
		honest := make([]byte, 120)
		for i := range honest {
			honest[i] = byte(rng.Uint32())
		}
		worthless := twin(honest)
		f.name.seed = rng.Uint64()
		var a, b xxhash.Digest
		key := f.name.seed
		a.ResetWithSeed(key)
		b.ResetWithSeed(key)
		_, _ = a.Write(honest) // never fails
		_, _ = b.Write(worthless)
		if a.Sum64() == b.Sum64() {
			collide++
			if names := f.name.namesOf([][]byte{honest, worthless}); names[0].sum == names[1].sum {
				hidden++ // were it not for the second sum
			}
		}
		kept, err := f.fresh(frameTxs([][]byte{worthless, honest})[0])
		if err != nil || len(kept) != 2 {
			t.Fatalf("seed %d: %d of a twin and its transaction are fresh (%v)", seed, len(kept), err)
		}
	}
	if hidden != collide {
		t.Errorf("%d of %d twins share the first half of a name: it is not XXH64 under the seed", hidden, collide)
	}
	if collide < pairs/4 {
		t.Errorf("only %d of %d pairs collide under XXH64: the twins are none", collide, pairs)
	}
}

// TestSeedsDiffer: two nodes do not name a body alike, and one node always does.
func TestSeedsDiffer(t *testing.T) {
	body := [][]byte{bytes.Repeat([]byte{7}, 100), bytes.Repeat([]byte{7}, 100)}
	a, b := newNamer(), newNamer()
	x, y := a.namesOf(body), b.namesOf(body)
	if x[0] != x[1] {
		t.Errorf("one body has the names %x and %x", x[0], x[1])
	}
	if x[0].sum == y[0].sum || x[0].check == y[0].check {
		t.Errorf("two processes give a body the names %x and %x", x[0], y[0])
	}
}

// refuser takes so many transactions of each offer, then fails.
type refuser struct {
	takes int
	err   error
	onAsk func()
}

func (*refuser) Deliver(int, Class, []byte) error { return nil }

func (r *refuser) Transactions(int, [][]byte) (int, error) {
	r.onAsk()
	return r.takes, r.err
}

// TestWhatWentNowhereIsFreshAgain: when a link ends over a frame, what it did not hand over
// is taken from others; and nothing of it counts as seen while its peer is paused.
func TestWhatWentNowhereIsFreshAgain(t *testing.T) {
	broken := errors.New("broken")
	body := func(b byte) []byte { return bytes.Repeat([]byte{b}, 120) }
	frame := func() []byte { return frameTxs([][]byte{body(1), body(2), body(3)})[0] }
	for _, tt := range []struct {
		name   string
		end    refuser
		paused time.Duration
		fresh  int
	}{
		{"it fails at once", refuser{0, broken, nil}, 0, 3},
		{"it fails behind the first", refuser{1, broken, nil}, 0, 2},
		{"it is busy until the link ends", refuser{0, ErrBusy, nil}, 0, 3},
		{"it took one when the link ends", refuser{1, ErrBusy, nil}, 0, 2},
		{"the peer is paused until the link ends", refuser{3, nil, nil}, time.Hour, 3},
		{"all are taken", refuser{3, nil, nil}, 0, 0},
	} {
		ctx, end := context.WithCancel(t.Context())
		r := &tt.end
		r.onAsk = func() { // a second offer comes to nothing
			if errors.Is(r.err, ErrBusy) {
				end()
			}
		}
		l := &link{
			t:    &Transport{flood: newFlood(new(Stats)), receiver: r, cfg: Config{Version: 1}},
			peer: &peer{pausedUntil: time.Now().Add(tt.paused)},
		}
		if tt.paused > 0 {
			end()
		}
		err := l.deliverTransactions(ctx, frame())
		if (err == nil) != (tt.fresh == 0) {
			t.Errorf("%s: %v", tt.name, err)
		}
		if got, err := l.t.flood.fresh(frame()); err != nil || len(got) != tt.fresh {
			t.Errorf("%s: %d are fresh, %v, want %d", tt.name, len(got), err, tt.fresh)
		}
		end()
	}
}
