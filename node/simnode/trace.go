package simnode

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"
)

// trace is what happened, a line for each thing, with virtual milliseconds since
// the start. It keeps the newest traceBytes.
type trace struct {
	began time.Time

	mu        sync.Mutex
	old, news bytes.Buffer
	lines     int
}

// traceBytes is how much of a run is kept: many minutes of four validators.
const traceBytes = 32 << 20

func newTrace() *trace { return &trace{began: time.Now()} }

// startLine starts a line. t.mu is held.
func (t *trace) startLine() []byte {
	if t.news.Len() > traceBytes/2 {
		t.old, t.news = t.news, t.old
		t.news.Reset()
	}
	t.lines++
	b := strconv.AppendFloat(t.news.AvailableBuffer(), time.Since(t.began).Seconds(), 'f', 6, 64)
	return append(b, ' ')
}

func (t *trace) packet(what string, link [2]int, size int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := append(t.startLine(), "packet "...)
	b = strconv.AppendInt(b, int64(link[0]), 10)
	b = append(b, '>')
	b = strconv.AppendInt(b, int64(link[1]), 10)
	b = append(append(append(b, ' '), what...), ' ')
	b = append(strconv.AppendInt(b, int64(size), 10), '\n')
	t.news.Write(b)
}

func (t *trace) note(format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := fmt.Appendf(t.startLine(), format, args...)
	t.news.Write(append(b, '\n'))
}

// Write takes a line of a node's log.
func (t *trace) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.news.Write(append(t.startLine(), p...))
	return len(p), nil
}

// writeTo writes the trace to a file.
func (t *trace) writeTo(name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return os.WriteFile(name, append(bytes.Clone(t.old.Bytes()), t.news.Bytes()...), 0o644)
}
