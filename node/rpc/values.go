package rpc

import (
	"context"
	"encoding/json"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/pyvalue"
)

// values writes the values of one answer as JSON, ValueBytesMax bytes of it; one value is
// written whatever its size, which package pyvalue bounds.
type values struct {
	left int
	any  bool // one was written
}

func (s *Server) values() *values { return &values{left: s.cfg.ValueBytesMax} }

// billValues bills for values of so many bytes, before they are written: to write one takes
// up to four times as long as to read as many bytes of a block.
func billValues(ctx context.Context, n int) error { return Bill(ctx, 4*n) }

// nullValue stands where bytes are no value, or are not shown as one.
func nullValue() json.RawMessage { return json.RawMessage("null") }

// show writes bytes as a value; null where they are none. It is false, and null, where the
// answer has no room left.
func (v *values) show(data []byte) (json.RawMessage, bool) {
	if v.left <= 0 {
		return nullValue(), false
	}
	text, err := pyvalue.JSON(data)
	if err != nil {
		text = nullValue()
	}
	if v.any && len(text) > v.left {
		v.left = 0
		return nullValue(), false
	}
	v.left -= len(text)
	v.any = true
	return text, true
}

// orNull is show for an answer that has the bytes beside the value.
func (v *values) orNull(data []byte) json.RawMessage {
	text, _ := v.show(data)
	return text
}

// valueBytes is how many bytes of an output and of events are shown as values.
func valueBytes(output []byte, events []chain.Event) int {
	n := len(output)
	for i := range events {
		n += len(events[i].Data)
	}
	return n
}
