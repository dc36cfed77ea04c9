package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/cowboy-foundation/cowboy/chain"
)

// watcher follows the finalized blocks of a node. It reads the event stream
// and fetches by height whatever the stream leaves out, so that no transfer is
// called lost because a stream broke.
type watcher struct {
	stream *nodeClient
	node   *nodeClient
	tally  *tally
	market *market // nil: the mix has no jobs
	last   uint64  // height of the newest block seen, with none missing below it

	beats     map[int32]uint64 // senders of heartbeats, and the height of each one's last
	finalized *hdrhistogram.Histogram
	kinds     []kindTally
	perSecond []int64       // transfers finalized in each second after the start
	lastFinal time.Duration // from the start to the last block with a transfer of ours
	backfills int           // blocks that the stream did not bring
}

func newWatcher(cfg *LoadConfig, t *tally, m *market, from uint64) *watcher {
	return &watcher{
		stream: newNodeClient(cfg.RPC, 0), node: newNodeClient(cfg.RPC, cfg.RequestTimeout),
		tally: t, market: m, last: from, beats: map[int32]uint64{}, finalized: newHistogram(), kinds: newKindTallies(len(t.plan.kinds)),
	}
}

// reopenWait keeps a node that refuses streams from being asked in a tight loop.
const reopenWait = 100 * time.Millisecond

// run follows the chain from an opened stream until ctx ends, through broken
// ones.
func (w *watcher) run(ctx context.Context, events io.ReadCloser) {
	defer w.stream.close()
	for ctx.Err() == nil {
		if events != nil {
			_ = w.readStream(ctx, events) // a broken stream is opened again; the gap is filled by height
			events.Close()
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(reopenWait):
		}
		events, _ = w.open(ctx) // tried again while it fails
	}
}

// open asks for the stream of finalized blocks. The caller closes it; it also
// ends with ctx.
func (w *watcher) open(ctx context.Context) (io.ReadCloser, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, w.stream.url+"/events", nil)
	if err != nil {
		return nil, fmt.Errorf("request /events: %w", err)
	}
	req.Header.Set("Accept", "text/event-stream")
	resp, err := w.stream.http.Do(req)
	if err != nil {
		return nil, fmt.Errorf("open events: %w", err)
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, fmt.Errorf("open events: node answered %d", resp.StatusCode)
	}
	return resp.Body, nil
}

// readStream reads one stream to its end.
func (w *watcher) readStream(ctx context.Context, events io.Reader) error {
	lines := bufio.NewScanner(events)
	lines.Buffer(make([]byte, 64<<10), replyBytesMax)
	var data []byte
	for lines.Scan() {
		line := lines.Bytes()
		if rest, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = append(data, bytes.TrimPrefix(rest, []byte(" "))...)
			continue
		}
		if len(line) > 0 || len(data) == 0 {
			continue // other fields, comments, ends of events without data
		}
		at := time.Now()
		var b finalBlock
		err := json.Unmarshal(data, &b)
		data = data[:0]
		if err != nil {
			return fmt.Errorf("event: %w", err)
		}
		if b.Height == 0 {
			continue // not a block
		}
		if err := w.catchUp(ctx, b.Height-1); err != nil {
			return err
		}
		if b.Height == w.last+1 {
			w.add(&b, at)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read events: %w", err)
	}
	return errors.New("event stream ended")
}

// catchUp fetches the blocks above the newest one seen, up to height.
func (w *watcher) catchUp(ctx context.Context, height uint64) error {
	for w.last < height {
		b, err := w.node.block(ctx, w.last+1)
		if err != nil {
			return fmt.Errorf("fetch block %d: %w", w.last+1, err)
		}
		w.backfills++
		w.add(b, time.Now())
	}
	return nil
}

// add notes the transfers of the block after the newest one.
func (w *watcher) add(b *finalBlock, at time.Time) {
	w.last++
	defer w.tally.head.Store(w.last)
	news := marketNews{height: w.last, at: at}
	w.market.holdDrain()
	defer func() { w.market.note(news) }()
	for i := range b.Txs {
		hash, ok := parseHash(b.Txs[i].Hash)
		if !ok {
			continue
		}
		n, ours := w.tally.finalize(hash)
		if !ours {
			news.others = append(news.others, hash)
			continue
		}
		switch kind := w.tally.plan.kind(n); w.tally.plan.kinds[kind].Kind {
		case KindHeartbeat:
			w.beats[w.tally.plan.sender[n]] = w.last
		case KindMarket:
			news.asked = append(news.asked, hash)
		}
		latency := at.Sub(w.tally.start) - time.Duration(w.tally.due[n].Load())
		record(w.finalized, latency)
		w.kinds[w.tally.plan.kind(n)].record(latency, w.last-w.tally.heads[n].Load())
		w.lastFinal = at.Sub(w.tally.start)
		second := int(w.lastFinal / time.Second)
		for len(w.perSecond) <= second {
			w.perSecond = append(w.perSecond, 0)
		}
		w.perSecond[second]++
	}
}

// parseHash reads 0x and 64 hex digits.
func parseHash(s string) (h chain.Hash, ok bool) {
	if len(s) != 2+2*len(h) || s[:2] != "0x" {
		return h, false
	}
	for i := range h {
		hi, lo := nibble(s[2+2*i]), nibble(s[3+2*i])
		if hi > 15 || lo > 15 {
			return h, false
		}
		h[i] = hi<<4 | lo
	}
	return h, true
}

func nibble(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	default:
		return 255
	}
}
