package gate

import (
	"context"
	"fmt"

	"github.com/cowboy-foundation/cowboy/bench/workload"
)

// followBenches measure a block for a validator that did not propose it: from the bodies
// that its pool gets from others to the block on its disk.
func followBenches() []Bench {
	var list []Bench
	for _, k := range []Kind{Allocations, Bytes} {
		list = append(list, Bench{Name: string(k) + "-follow-transfer", Kind: k, Measure: following(func(f *followed) Figure {
			return f.heap.figure(k, f.txs)
		})})
	}
	// Each is 1 where the pool has the transactions: it is done on their way into it.
	return append(list,
		Bench{Name: "recoveries-follow-transfer", Kind: Counter, Measure: following(func(f *followed) Figure {
			return Figure{float64(f.recovered) / float64(max(f.txs, 1)), f.txs}
		})},
		Bench{Name: "decodes-follow-transfer", Kind: Counter, Measure: following(func(f *followed) Figure {
			return Figure{float64(f.decoded) / float64(max(f.txs, 1)), f.txs}
		})},
	)
}

// followed is what a block took who followed it.
type followed struct {
	txs                int
	heap               heap   // of taking the block, without that of admission
	recovered, decoded uint64 // both
}

// followTxs and followPeople are the transfers of a block and who sends them.
const (
	followTxs    = 1000
	followPeople = 100
)

func following(figure func(*followed) Figure) func(context.Context, *Ground) (Figure, error) {
	return func(ctx context.Context, g *Ground) (least Figure, err error) {
		p, err := g.openPair(ctx)
		if err != nil {
			return Figure{}, err
		}
		for i := range 1 + samples {
			f, err := follow(ctx, p)
			if err != nil {
				return Figure{}, err
			}
			if v := figure(f); i == 1 || i > 1 && v.Value < least.Value {
				least = v
			}
		}
		return least, nil
	}
}

// follow has a block followed whose transactions came before it.
func follow(ctx context.Context, p *workload.Pair) (*followed, error) {
	bodies := p.Transfers(followTxs)
	stats := p.Follows.Senders()
	f := &followed{recovered: stats.Recovered.Load(), decoded: stats.Decoded.Load()}
	if err := p.Gossip(ctx, bodies); err != nil {
		return nil, err
	}
	sealed, err := p.Lead(ctx, bodies)
	if err != nil {
		return nil, err
	}
	var waste wasted
	f.heap, err = heapOf(func() error {
		b, err := p.Follows.Follow(ctx, sealed)
		f.txs = len(b.Txs)
		if planted {
			waste.each(f.txs)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if f.txs != len(bodies) {
		return nil, fmt.Errorf("%d of %d transactions in the block", f.txs, len(bodies))
	}
	f.recovered, f.decoded = stats.Recovered.Load()-f.recovered, stats.Decoded.Load()-f.decoded
	return f, nil
}
