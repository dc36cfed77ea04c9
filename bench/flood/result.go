package flood

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// Result is what became of a run.
type Result struct {
	Sent     int // transactions
	Accepted int
	Included int // accepted ones, found in blocks by their ids
	Applied  int // by which the senders' nonces grew
	Twice    int // found in more than one block
	Strange  int // transactions in blocks that the run did not send
	Dry      bool

	Blocks    int           // between the first and the last seen inside the window, the last included
	Span      time.Duration // from seeing the first to seeing the last
	InBlocks  int           // transactions of Blocks
	PerSecond float64       // InBlocks over Span
	NodeCPU   time.Duration // user and system time of the node, over Span
	PerTx     time.Duration // of it, for each of InBlocks
	OwnCPU    time.Duration // of this process
	Foreign   float64       // cores that neither the node nor this process used
	PeakBytes int64         // most resident memory of the node

	Inclusion Quantiles // from due or written to block seen, of the transactions of Blocks
	Answer    Quantiles // from written to answer, of the requests of the window

	Moments []Moment `json:"-"` // the blocks that Blocks counts
}

// Moment is one block of a run.
type Moment struct {
	Seen  time.Duration // since the window began
	Count int
	P99   time.Duration // from due or written to block seen, of its transactions
}

// Quantiles of a list of durations.
type Quantiles struct {
	N        int
	P50, P99 time.Duration
	Max      time.Duration
}

func quantiles(list []time.Duration) Quantiles {
	if len(list) == 0 {
		return Quantiles{}
	}
	slices.Sort(list)
	at := func(q float64) time.Duration { return list[int(q*float64(len(list)-1)+0.5)] }
	return Quantiles{N: len(list), P50: at(0.5), P99: at(0.99), Max: list[len(list)-1]}
}

// ErrAccounts means that transactions were lost, appeared twice or came from elsewhere.
var ErrAccounts = errors.New("the counts do not agree")

// ErrNoWindow means that fewer than two blocks were seen inside the window.
var ErrNoWindow = errors.New("fewer than two blocks inside the window")

// ErrDry means that there was nothing left to send before the window ended.
var ErrDry = errors.New("the load ended before the window did: make a larger one")

// Check says why the figures mean nothing, if so.
func (r *Result) Check() error {
	switch {
	case r.Sent != r.Accepted || r.Accepted != r.Included || r.Included != r.Applied || r.Twice != 0 || r.Strange != 0:
		return fmt.Errorf("%w: %d sent, %d accepted, %d included, %d applied, %d in two blocks, %d from elsewhere",
			ErrAccounts, r.Sent, r.Accepted, r.Included, r.Applied, r.Twice, r.Strange)
	case r.Dry:
		return ErrDry
	case r.Blocks == 0 || r.InBlocks == 0:
		return ErrNoWindow
	}
	return nil
}

// window returns the blocks seen inside the window; the first of them only starts the
// clock.
func (r *run) window() []Block {
	from := slices.IndexFunc(r.blocks, func(b Block) bool { return b.Seen >= r.cfg.Warm })
	if from < 0 {
		return nil
	}
	to := slices.IndexFunc(r.blocks, func(b Block) bool { return b.Seen > r.cfg.Warm+r.cfg.Window })
	if to < 0 {
		to = len(r.blocks)
	}
	in := r.blocks[from:to]
	// Blocks that were seen by the same look share a time: the clock starts with the
	// last of those of the first look.
	for len(in) > 1 && in[1].Seen == in[0].Seen {
		in = in[1:]
	}
	return in
}

// count fills in what the run itself knows.
func (r *run) count(senders []*sender) *Result {
	result := &Result{Sent: r.sent, PeakBytes: peaksOfMemory(r.cfg.PIDs)}
	var answers []time.Duration
	for _, s := range senders {
		result.Accepted += s.accepted
		result.Dry = result.Dry || s.dry
		for _, q := range s.requests {
			if q.due >= r.cfg.Warm && q.due <= r.cfg.Warm+r.cfg.Window {
				answers = append(answers, q.answer)
			}
		}
	}
	result.Answer = quantiles(answers)
	in := r.window()
	if len(in) < 2 {
		return result
	}
	first, last := in[0], in[len(in)-1]
	result.Blocks, result.Span = len(in)-1, last.Seen-first.Seen
	for _, b := range in[1:] {
		result.InBlocks += b.Count
	}
	seconds := result.Span.Seconds()
	result.PerSecond = float64(result.InBlocks) / seconds
	result.NodeCPU, result.OwnCPU = last.clocks.node-first.clocks.node, last.clocks.own-first.clocks.own
	result.PerTx = result.NodeCPU / time.Duration(max(1, result.InBlocks))
	foreign := last.clocks.machine - first.clocks.machine - result.NodeCPU - result.OwnCPU
	result.Foreign = max(0, foreign.Seconds()/seconds)
	return result
}

// contents looks up what is in blocks.
type contents struct {
	run     *run
	due     map[ID]time.Duration // of everything sent; found once it was found
	found   int
	from    uint64 // first and last height whose latencies count
	to      uint64
	waits   []time.Duration
	moments []Moment
	twice   int
	strange int
	scratch []ID
}

// found is what no due time is.
const found = -1

func newContents(r *run, senders []*sender) *contents {
	c := &contents{run: r, due: make(map[ID]time.Duration, r.sent)}
	for _, s := range senders {
		for i, q := range s.requests {
			for _, id := range s.stream.ids[i*r.load.Batch:][:r.load.Batch] {
				c.due[id] = q.due
			}
		}
	}
	if in := r.window(); len(in) > 1 {
		c.from, c.to = in[1].Height, in[len(in)-1].Height
	}
	return c
}

// read takes note of a block's contents.
func (c *contents) read(conn *Conn, b *Block) (err error) {
	if b.Count == 0 {
		return nil
	}
	if c.scratch, err = c.run.chain.Contents(conn, b.Height, c.scratch[:0]); err != nil {
		return err
	}
	if len(c.scratch) != b.Count {
		return fmt.Errorf("%d transactions, %d by its header: %w", len(c.scratch), b.Count, ErrAccounts)
	}
	counted, before := b.Height >= c.from && b.Height <= c.to, len(c.waits)
	for _, id := range c.scratch {
		due, sent := c.due[id]
		switch {
		case !sent:
			c.strange++
			continue
		case due == found:
			c.twice++
			continue
		}
		c.due[id] = found
		c.found++
		if counted {
			c.waits = append(c.waits, b.Seen-due)
		}
	}
	if counted {
		of := quantiles(c.waits[before:]) // sorted in place, which the whole is later anyway
		c.moments = append(c.moments, Moment{Seen: b.Seen - c.run.cfg.Warm, Count: b.Count, P99: of.P99})
	}
	return nil
}

func (c *contents) into(result *Result) {
	result.Included, result.Twice, result.Strange = c.found, c.twice, c.strange
	result.Inclusion, result.Moments = quantiles(c.waits), c.moments
}
