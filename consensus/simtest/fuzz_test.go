package simtest

import (
	"encoding/binary"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/consensus/beacon"
)

// FuzzDisrupter lets fuzz input play the Byzantine validator of four: each of
// its messages is dropped, doubled or changed and signed anew as the input says,
// while the same input decides how late messages are and whom the network cuts
// off. Every invariant of a run must hold, and nobody honest is banned.
func FuzzDisrupter(f *testing.F) {
	f.Add([]byte("a disrupter that changes views, parents, digests and kinds"))
	f.Add([]byte{5, 1, 5, 2, 5, 0, 6, 6, 6, 4, 1, 4, 0, 3, 2, 1, 0, 255, 254, 253})
	f.Add(make([]byte, 64))
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) == 0 || len(in) > 1024 {
			return
		}
		at := 0
		pick := func(n int) int {
			at++
			return (int(in[at%len(in)]) + at/len(in)) % n
		}
		var seed [8]byte
		copy(seed[:], in)
		cfg := Config{
			Seed: binary.BigEndian.Uint64(seed[:]), Validators: 4, Latency: 20 * time.Millisecond,
			Jitter: time.Duration(pick(8)) * 100 * time.Millisecond, Loss: float64(pick(4)) * 0.08, Crash: float64(pick(3)) * 0.01,
			SplitEvery: time.Duration(pick(4)) * 2 * time.Second, Sharded: pick(3) == 0,
			Faults: 5 * time.Second, Quiet: 35 * time.Second,
			Player: &Player{Name: "fuzzed disrupter", rewrite: func(v *validator, _ beacon.Participant, m message) []message {
				return v.mutate(m, pick)
			}},
		}
		if r, err := Run(cfg); err != nil {
			t.Fatalf("%v\n%v\n%+v", err, cfg, r)
		}
	})
}
