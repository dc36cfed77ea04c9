package selection

import (
	"math/big"
	"testing"

	"github.com/cowboy-foundation/cowboy/crypto/vectors"
)

// ReplayV2 and ReplayV3 draw a round and say, after each step, who is left in the pool of
// the step and in which order, as indices of the snapshot.
func ReplayV2(s *Snapshot, r *Round, chained bool) ([]Step, [][]uint32) {
	return replay(r, s.drawV2(r, chained))
}

func ReplayV3(p *Presence, r *Round, f MRU) ([]Step, [][]uint32) {
	return replay(r, p.drawV3(r, f))
}

func replay(r *Round, d draw) (steps []Step, rest [][]uint32) {
	for len(steps) < r.Runners {
		step, ok := d.step()
		if !ok {
			break
		}
		steps = append(steps, step)
		pool := &d.pools[step.Pool]
		var left []uint32
		for place := pool.from; place < pool.to; place++ {
			left = append(left, pool.pool.candidate(pool.member(place)))
		}
		rest = append(rest, left)
	}
	return steps, rest
}

func TestRootsOfOthers(t *testing.T) {
	var file struct {
		Isqrt []struct{ N, Root string }
	}
	vectors.Decode(t, "selection/weights.json", &file)
	for _, row := range file.Isqrt {
		n, _ := new(big.Int).SetString(row.N, 10)
		hi, lo := new(big.Int).Rsh(n, 64).Uint64(), new(big.Int).And(n, new(big.Int).SetUint64(^uint64(0))).Uint64()
		if got := new(big.Int).SetUint64(isqrt(hi, lo)); got.String() != row.Root {
			t.Errorf("root of %s: %v, want %s", row.N, got, row.Root)
		}
	}
	if len(file.Isqrt) < 18 {
		t.Errorf("%d roots", len(file.Isqrt))
	}
}

func TestFactorsOfOthers(t *testing.T) {
	var file struct {
		HalfLife   uint64   `json:"half_life_blocks"`
		HalfPowers []string `json:"half_powers"`
		Factors    []struct{ Blocks, Factor string }
	}
	vectors.Decode(t, "selection/reputation.json", &file)
	if len(file.HalfPowers) != len(halfPowers) {
		t.Fatalf("%d powers", len(file.HalfPowers))
	}
	for k, want := range file.HalfPowers {
		if got := new(big.Int).SetUint64(halfPowers[k]).String(); got != want {
			t.Errorf("power %d: %s, want %s", k, got, want)
		}
	}
	for _, row := range file.Factors {
		blocks, _ := new(big.Int).SetString(row.Blocks, 10)
		f, whole := decayFactor(blocks.Uint64(), file.HalfLife)
		got := new(big.Int).SetUint64(f)
		if whole {
			got.Lsh(big.NewInt(1), 64)
		}
		if got.String() != row.Factor {
			t.Errorf("factor of %s blocks: %v, want %s", row.Blocks, got, row.Factor)
		}
	}
	if len(file.Factors) < 16 {
		t.Errorf("%d factors", len(file.Factors))
	}
}

// TestHalfPowers makes the table again: each is the root of the one before, floored, with
// 256 bits to spare.
func TestHalfPowers(t *testing.T) {
	const spare = 256
	x := new(big.Int).Lsh(big.NewInt(1), 64+spare-1)
	for k, have := range halfPowers {
		x.Sqrt(x.Lsh(x, 64+spare))
		if want := new(big.Int).Rsh(x, spare).Uint64(); have != want {
			t.Errorf("power %d: %#x, want %#x", k+1, have, want)
		}
	}
}
