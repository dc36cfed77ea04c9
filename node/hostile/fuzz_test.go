package hostile

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

// FuzzInstructions sends payloads for a row by somebody with some value: lanes and
// all ways of execution give one answer, which leaves no more behind than it may.
func FuzzInstructions(f *testing.F) {
	w := newWorld(f)
	rows := chain.InstructionTable()
	instances := w.instances()
	for i := range rows {
		if in, ok := instances[rows[i].Name]; ok {
			f.Add(uint8(i), uint8(0), uint64(0), rowPayload(&rows[i], in.args))
		}
	}
	for _, e := range w.edges() {
		for i := range rows {
			if rows[i].Name == e.row {
				f.Add(uint8(i), uint8(0), uint64(e.value), rowPayload(&rows[i], e.args))
			}
		}
	}
	for _, it := range items() {
		f.Add(uint8(1), uint8(1), uint64(1), it.data)
	}
	senders := []chain.Address{alice, bob, mallory}
	f.Fuzz(func(t *testing.T, row, from uint8, value uint64, data []byte) {
		if len(data) > 100_000 {
			return
		}
		tx := w.send(senders[int(from)%len(senders)], &rows[int(row)%len(rows)], chain.Wei(value), data)
		if got, err := w.judge(w.roomy(tx)); err != nil {
			t.Errorf("%s: %v: %v", rows[int(row)%len(rows)].Name, got, err)
		}
	})
}
