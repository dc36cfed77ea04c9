package parallel

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/statetest"
)

// TestPayeeHoldsBothShards: from lock to unlock nobody else has the shard of either account,
// which may be one shard, and afterwards both are free.
func TestPayeeHoldsBothShards(t *testing.T) {
	c := newCommitted(state.NewOverlay(statetest.NewMaps(state.NewDelta())), 1)
	from := chain.Address{1}
	for to := range byte(2 * shardCount) {
		to := chain.Address{to, 18: 3}
		p := payee{committed: c, mark: 1}
		p.lock(&from, &to)
		for _, held := range []chain.Address{from, to} {
			if mu := &c.shardOf(&held).mu; mu.TryLock() {
				mu.Unlock()
				t.Errorf("the shard of %s is free during a payment to %s", held, to)
			}
		}
		p.unlock()
		for i := range c.shards {
			if mu := &c.shards[i].mu; !mu.TryLock() {
				t.Fatalf("shard %d is held after a payment to %s", i, to)
			} else {
				mu.Unlock()
			}
		}
	}
}
