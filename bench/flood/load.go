package flood

import (
	"fmt"
	"runtime"
	"strconv"
	"sync"
)

// Turn says which transaction comes next: of which account, with which nonce, counted
// from the account's first.
type Turn struct {
	Account int
	Nonce   uint64
}

// Encoder signs and encodes requests. One goroutine uses it at a time.
type Encoder interface {
	// Request appends one whole HTTP request with a transaction for each turn to dst,
	// and the transactions' ids to ids.
	Request(dst []byte, ids []ID, turns []Turn) ([]byte, []ID)
}

// ID is what a transaction is known by: the first eight bytes of its hash. Among ten
// million there is one pair with the same in a run of three hundred thousand.
type ID uint64

// Load is what a run may send. It is only read.
type Load struct {
	Batch   int
	streams []stream // of each connection
}

// stream is what one connection sends, in order.
type stream struct {
	requests [][]byte
	ids      []ID // Batch for each request
}

// Size is the number of transactions.
func (l *Load) Size() (n int) {
	for i := range l.streams {
		n += len(l.streams[i].ids)
	}
	return n
}

// Shape is the size of a load.
type Shape struct {
	Connections  int
	Batch        int // transactions in a request
	Accounts     int // senders; each stays on one connection
	Transactions int // at least so many, in whole requests
}

func (s *Shape) check() error {
	switch {
	case s.Connections < 1 || s.Batch < 1 || s.Transactions < 1:
		return fmt.Errorf("load of %d connections, %d a batch, %d transactions: want one of each at least", s.Connections, s.Batch, s.Transactions)
	case s.Accounts < s.Connections:
		return fmt.Errorf("%d accounts for %d connections: an account stays on one, so there must be at least as many", s.Accounts, s.Connections)
	}
	return nil
}

// NewLoad signs and encodes a load on all cores. The encoder is one of a worker's own.
func NewLoad(s Shape, newEncoder func() Encoder) (*Load, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	l := &Load{Batch: s.Batch, streams: make([]stream, s.Connections)}
	each := (s.Transactions + s.Connections*s.Batch - 1) / (s.Connections * s.Batch)
	for c := range l.streams {
		l.streams[c] = stream{requests: make([][]byte, each), ids: make([]ID, each*s.Batch)}
	}
	var workers sync.WaitGroup
	cores := runtime.GOMAXPROCS(0)
	for w := range cores {
		workers.Go(func() {
			encoder := newEncoder()
			turns, scratch := make([]Turn, s.Batch), []byte(nil)
			for job := w; job < each*s.Connections; job += cores {
				c, r := job%s.Connections, job/s.Connections
				s.turns(turns, c, r)
				ids := l.streams[c].ids[r*s.Batch:][:0:s.Batch]
				scratch, _ = encoder.Request(scratch[:0], ids, turns)
				l.streams[c].requests[r] = append([]byte(nil), scratch...)
			}
		})
	}
	workers.Wait()
	return l, nil
}

// turns fills in what request r of connection c sends: its accounts in turns.
func (s *Shape) turns(turns []Turn, c, r int) {
	own := (s.Accounts - c + s.Connections - 1) / s.Connections // numbers c, c+Connections, …
	for i := range turns {
		n := r*len(turns) + i
		turns[i] = Turn{Account: c + n%own*s.Connections, Nonce: uint64(n / own)}
	}
}

// AppendPost appends an HTTP request with a body of one media type. accept is the one of the
// answer, "" for what the node likes best.
func AppendPost(dst []byte, host, path, contentType, accept string, body []byte) []byte {
	dst = append(dst, "POST "...)
	dst = append(dst, path...)
	dst = append(dst, " HTTP/1.1\r\nHost: "...)
	dst = append(dst, host...)
	dst = append(dst, "\r\nContent-Type: "...)
	dst = append(dst, contentType...)
	if accept != "" {
		dst = append(append(dst, "\r\nAccept: "...), accept...)
	}
	dst = append(dst, "\r\nContent-Length: "...)
	dst = strconv.AppendInt(dst, int64(len(body)), 10)
	dst = append(dst, "\r\n\r\n"...)
	return append(dst, body...)
}
