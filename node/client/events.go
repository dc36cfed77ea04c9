package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// Waits between attempts to open an event stream again; doubled from the first
// to the last.
const (
	reconnectFirst = 100 * time.Millisecond
	reconnectLast  = 5 * time.Second
)

// Events calls each with every finalized block above after, in order and
// without gaps, until ctx ends or each returns an error, which it returns. A
// broken stream is opened again where it ended. Blocks too far back to be
// streamed are fetched one by one.
//
// An error of the first connection is returned, so that a wrong address shows
// at once; later ones are waited out.
func (c *Client) Events(ctx context.Context, after chain.Height, each func(*rpc.BlockReply) error) error {
	stream := &eventStream{client: c, last: after, each: each}
	wait := reconnectFirst
	for first := true; ; first = false {
		before := stream.last
		err := stream.readConnection(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case stream.stopped:
			return err
		case first && !stream.opened:
			return err
		case refusedForGood(err):
			return err
		}
		if stream.last > before {
			wait = reconnectFirst
		}
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return ctx.Err()
		}
		wait = min(2*wait, reconnectLast)
	}
}

// refusedForGood reports whether a node answered that the request is wrong.
func refusedForGood(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Status/100 == 4 && e.Status != http.StatusTooManyRequests
}

// eventStream is the state of one Events call across connections.
type eventStream struct {
	client  *Client
	last    chain.Height // last block given to each
	each    func(*rpc.BlockReply) error
	opened  bool // some connection was
	stopped bool // each returned an error
}

// readConnection reads one connection to its end, which is always an error.
func (s *eventStream) readConnection(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	header := http.Header{
		"Accept":        {"text/event-stream"},
		"Last-Event-Id": {strconv.FormatUint(uint64(s.last), 10)},
	}
	answer, err := s.client.send(ctx, request{method: http.MethodGet, path: "/events"}, header)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		body, _ := io.ReadAll(io.LimitReader(answer.Body, 4<<10)) // its first bytes suffice
		return refusalOf(answer.StatusCode, "/events", body)
	}
	s.opened = true
	// The node sends a heartbeat; silence means that the connection is dead
	// although nothing said so.
	watchdog := time.AfterFunc(s.client.cfg.StreamTimeout, cancel)
	defer watchdog.Stop()
	lines := bufio.NewScanner(answer.Body)
	lines.Buffer(make([]byte, 0, 64<<10), int(s.client.cfg.AnswerMax))
	var name string
	var data []byte
	for lines.Scan() {
		watchdog.Reset(s.client.cfg.StreamTimeout)
		line := lines.Bytes()
		if len(line) == 0 {
			if err := s.event(ctx, name, data); err != nil {
				return err
			}
			name, data = "", nil
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "event":
			name = string(value)
		case "data":
			data = bytes.Clone(value)
		}
	}
	if err := lines.Err(); err != nil {
		return &UnreachableError{URL: s.client.base, Err: err}
	}
	return &UnreachableError{URL: s.client.base, Err: io.EOF}
}

// event acts on one complete event. Unknown ones are ignored.
func (s *eventStream) event(ctx context.Context, name string, data []byte) error {
	switch name {
	case "block":
		block := new(rpc.BlockReply)
		if err := json.Unmarshal(data, block); err != nil {
			return fmt.Errorf("block event: %w", err)
		}
		if err := s.fetch(ctx, chain.Height(block.Height)-1); err != nil {
			return err
		}
		return s.give(block)
	case "gap":
		var gap rpc.GapReply
		if err := json.Unmarshal(data, &gap); err != nil {
			return fmt.Errorf("gap event: %w", err)
		}
		return s.fetch(ctx, chain.Height(gap.To))
	}
	return nil
}

// fetch gets the blocks that the stream left out, up to height to.
func (s *eventStream) fetch(ctx context.Context, to chain.Height) error {
	for s.last < to {
		block, err := s.client.BlockByHeight(ctx, s.last+1)
		if err != nil {
			return err
		}
		if err := s.give(block); err != nil {
			return err
		}
	}
	return nil
}

func (s *eventStream) give(block *rpc.BlockReply) error {
	if chain.Height(block.Height) != s.last+1 {
		return nil // seen already
	}
	if err := s.each(block); err != nil {
		s.stopped = true
		return err
	}
	s.last++
	return nil
}
