package submitted

import (
	"bytes"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Bounds of what is offered to the pool at once: one part is under way at a time,
// so that others who submit hardly wait for it.
const (
	againTxs   = 256
	againBytes = 1 << 20
)

// again is what an earlier run left, in the order in which it was admitted: a
// sender's nonces come as they came then.
type again struct {
	left    []entry
	asked   bool     // a part is being judged
	begun   bool     // there was something to send
	answers chan int // refused ones of the part under way; has room for the one answer
}

func (a *again) done() bool { return len(a.left) == 0 && !a.asked }

// Returning reports whether anything that an earlier run left has still to be offered to the
// pool, or is being judged. Anyone may ask.
func (j *Journal) Returning() bool { return j.returning.Load() }

// readEarlier reads what an earlier run left, up to the bound of this one. The newest are
// left out beyond it, as they would have been.
func (j *Journal) readEarlier() error {
	size, seen := int64(0), map[chain.Hash]bool{}
	return j.file.Replay(func(rec []byte) error {
		e, err := decode(rec)
		if err != nil {
			j.held = append(j.held, held{})
			j.Stats.Dropped.Add(1)
			return nil
		}
		hash := chain.TxHash(e.body)
		j.held = append(j.held, held{key: keyOf(hash)})
		if seen[hash] {
			return nil
		}
		if size += e.fileBytes(); size > j.cfg.Bytes {
			j.Stats.Dropped.Add(1)
			return nil
		}
		seen[hash] = true
		e.body = bytes.Clone(e.body)
		j.again.left, j.again.begun = append(j.again.left, e), true
		return nil
	})
}

// sendAgain offers the next part to the pool, once the chain can judge it.
func (j *Journal) sendAgain() {
	if len(j.again.left) == 0 || j.again.asked || !j.chain.Ready() {
		return
	}
	part, n := j.nextPart()
	if len(part) > 0 {
		j.again.asked = true
		err := j.chain.Admit(part, func(refused int) { j.again.answers <- refused })
		if err != nil {
			j.again.asked = false // the queue is full: with the next tick
			return
		}
		j.Stats.Again.Add(uint64(len(part)))
	}
	j.Stats.Outdated.Add(uint64(n - len(part)))
	j.again.left = j.again.left[n:]
	j.endAgain()
}

// nextPart returns what to offer of the first n entries.
func (j *Journal) nextPart() (part [][]byte, n int) {
	now, size := uint64(time.Now().UnixMilli()), 0
	for n < len(j.again.left) && n < againTxs && size < againBytes {
		e := &j.again.left[n]
		n++
		if !j.tooOld(e, now) && !j.chain.Final(chain.TxHash(e.body)) {
			part = append(part, e.body)
			size += len(e.body)
		}
	}
	return part, n
}

// answered takes the answer to a part and goes on with the next.
func (j *Journal) answered(refused int) {
	j.Stats.Refused.Add(uint64(refused))
	j.again.asked = false
	j.endAgain()
	j.sendAgain()
}

// endAgain drops from the file, once all was offered, what the pool did not take.
func (j *Journal) endAgain() {
	if !j.again.begun || !j.again.done() {
		return
	}
	j.again.begun, j.again.left = false, nil
	j.returning.Store(false)
	j.cfg.Log.Info("own submissions of an earlier run were offered to the pool again", "txs", j.Stats.Again.Load(),
		"refused", j.Stats.Refused.Load(), "final_or_too_old", j.Stats.Outdated.Load())
	j.clean()
}
