package lanes

import "github.com/cowboy-foundation/cowboy/chain"

// FillWaiting sets every txs[i] that is nil to the waiting transaction with the hash
// hashes[i], if there is one, and returns how many it has set. A transaction that waits was
// verified, so who has its body and asks here needs no signature. It takes the lock of one
// shard after another, once for all hashes; any goroutine may call it, and it waits for
// nobody else.
func (l *Lanes) FillWaiting(hashes [][32]byte, txs []*chain.VerifiedTx) (found int) {
	missing := make([]int, 0, len(hashes))
	for i := range hashes {
		if txs[i] == nil {
			missing = append(missing, i)
		}
	}
	for i := range l.pool.shards {
		if len(missing) == 0 {
			break
		}
		before := len(missing)
		missing = l.pool.shards[i].fill(hashes, txs, missing)
		found += before - len(missing)
	}
	return found
}

// fill sets those of the missing places whose transactions wait in the shard, and returns
// the others.
func (h *shard) fill(hashes [][32]byte, txs []*chain.VerifiedTx, missing []int) (rest []int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.byHash) == 0 {
		return missing
	}
	rest = missing[:0]
	for _, i := range missing {
		if e := h.byHash[hashes[i]]; e != nil {
			txs[i] = e.tx
		} else {
			rest = append(rest, i)
		}
	}
	return rest
}
