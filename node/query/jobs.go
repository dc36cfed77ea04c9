package query

import (
	"context"

	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// jobsAtOnce is for how many jobs rows of the index are read at a time.
const jobsAtOnce = 64

// jobBytes is what a line of the index is billed as.
const jobBytes = 64

// JobsOf implements rpc.Jobs, out of the store's index: what a page costs follows from its
// jobs alone.
func (s *Source) JobsOf(ctx context.Context, q *rpc.JobsQuery) (*rpc.JobsPage, error) {
	w := jobWalk{ctx: ctx, q: q}
	w.page.Height, w.page.Since = s.head(), s.cfg.Blocks.Base()+1
	in := store.Stretch{From: w.page.Since, To: w.page.Height, OldestFirst: q.OldestFirst}
	if q.After != nil && q.OldestFirst {
		in.From = max(in.From, q.After.Height)
	} else if q.After != nil {
		in.To = min(in.To, q.After.Height)
	}
	side := store.Submits
	if q.Works {
		side = store.Works
	}
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		list, err := s.cfg.Blocks.JobsOf(side, q.Of, in, min(jobsAtOnce, q.Limit+1))
		if err != nil || len(list) == 0 {
			return &w.page, err
		}
		for i := range list {
			if err := w.collect(&list[i]); err != nil || w.full {
				return &w.page, err
			}
		}
		if last := list[len(list)-1].Height; q.OldestFirst {
			in.From = last + 1
		} else if in.To = last - 1; last == 0 {
			return &w.page, nil
		}
	}
}

// jobWalk is a page of jobs under way.
type jobWalk struct {
	ctx  context.Context
	q    *rpc.JobsQuery
	page rpc.JobsPage
	full bool
}

// collect takes the jobs of one block, in order, behind the query's place.
func (w *jobWalk) collect(at *store.JobsAt) error {
	for i, id := range at.IDs {
		place := rpc.JobPlace{Height: at.Height, Index: i}
		if after := w.q.After; after != nil && after.Height == place.Height && i <= after.Index {
			continue
		}
		if len(w.page.Jobs) == w.q.Limit {
			w.endPage()
			return nil
		}
		if err := rpc.Bill(w.ctx, jobBytes); err != nil {
			if len(w.page.Jobs) == 0 {
				return err
			}
			w.endPage() // what there is was paid for
			return nil
		}
		w.page.Jobs = append(w.page.Jobs, rpc.ListedJob{JobPlace: place, ID: id})
	}
	return nil
}

// endPage says that there is more behind the last job.
func (w *jobWalk) endPage() {
	w.full, w.page.Next = true, &w.page.Jobs[len(w.page.Jobs)-1].JobPlace
}
