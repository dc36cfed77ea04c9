package rpc

import (
	"bytes"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"time"
)

// answer keeps what a handler answers until its slot is given back: a client that
// reads slowly holds its connection and its share of memory, and nobody's slot.
type answer struct {
	w      http.ResponseWriter
	status int
	body   []byte
	owned  bool // body is the answer's own and may be appended to
}

func (a *answer) Header() http.Header { return a.w.Header() }

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

func (a *answer) Write(b []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if !a.owned {
		a.body, a.owned = bytes.Clone(a.body), true
	}
	a.body = append(a.body, b...)
	return len(b), nil
}

// whole is Write of a body that nobody changes any more.
func (a *answer) whole(b []byte) {
	if len(a.body) > 0 {
		_, _ = a.Write(b) // never fails
		return
	}
	a.WriteHeader(http.StatusOK)
	a.body = b
}

// Unwrap lets deadlines of the connection be set.
func (a *answer) Unwrap() http.ResponseWriter { return a.w }

// freeAnswerBytes is how large an answer may be without a share of AnswersBytesMax:
// each connection may hold one.
const freeAnswerBytes = 64 << 10

// sentBytes of an answer cost as much as one lookup: to write and to send them takes as long.
// The first of them are in the price of each request.
const sentBytes = 64 << 10

// sent is what an answer of n bytes costs in lookups.
func sent(n int) float64 { return float64(max(0, n-sentBytes)) / sentBytes }

// writeAnswer writes the answer to its client.
func (s *Server) writeAnswer(a *answer, r *http.Request, client netip.Addr) {
	if n := len(a.body); n > freeAnswerBytes {
		share, why := s.answers.acquire(client, int64(n))
		if why != granted {
			clear(a.w.Header())
			retryAfter(a.w, time.Second)
			s.writeError(a.w, r, s.noShare(why, CodeBusy, s.answers, "bytes of answers that wait to be read"))
			return
		}
		defer share.give()
	}
	if a.status == 0 {
		return // the client left
	}
	a.w.WriteHeader(a.status)
	if _, err := a.w.Write(a.body); err != nil {
		s.log.Debug("rpc client left before its answer", "err", err)
	}
}

// readAhead reads the body of a request before it takes a slot: a client that
// sends slowly holds its connection and its share of memory, and nobody's slot.
// The handler reads the body again, from memory, and refuses what is too long.
func (s *Server) readAhead(route *route, r *http.Request, client netip.Addr) (held, error) {
	if route.body == 0 || r.Body == nil || r.ContentLength > route.body {
		return held{}, nil // no body is wanted, or the handler refuses it unread
	}
	share := s.bodies.none(client)
	room, recycled := s.bodyRooms.Get().(*bodyInMemory)
	if !recycled {
		room = &bodyInMemory{all: make([]byte, 0, min(bodyStepBytes, max(r.ContentLength, 0)+1))} // and the end
	}
	body := room.all[:0]
	for end := false; !end && int64(len(body)) <= route.body; {
		step := min(bodyStepBytes, route.body+1-int64(len(body)))
		if why := share.more(step); why != granted {
			share.give()
			return held{}, s.noShare(why, CodeBusy, s.bodies, "bytes of bodies")
		}
		var err error
		if body, end, err = readStep(r.Body, body, int(step)); err != nil {
			share.give()
			return held{}, badRequest(CodeBadRequest, "the body ended early: send as many bytes as announced, within %v", s.cfg.ReadTimeout)
		}
	}
	room.Reset(body)
	room.all = body
	r.Body = room
	return share, nil
}

// recycleBody lets a later request have the memory of a body that was read ahead. Nobody
// may read it any more.
func (s *Server) recycleBody(r *http.Request) {
	if room, ok := r.Body.(*bodyInMemory); ok && cap(room.all) <= bodyStepBytes {
		r.Body = http.NoBody
		s.bodyRooms.Put(room)
	}
}

// readStep appends up to so many bytes to a body, and reports whether it has ended.
func readStep(r io.Reader, body []byte, step int) (_ []byte, end bool, err error) {
	for most := len(body) + step; len(body) < most; {
		if len(body) == cap(body) {
			body = slices.Grow(body, min(step, max(512, len(body))))
		}
		n, err := r.Read(body[len(body):min(cap(body), most)])
		body = body[:len(body)+n]
		if err == io.EOF {
			return body, true, nil
		}
		if err != nil {
			return body, false, err
		}
	}
	return body, false, nil
}

// bodyInMemory is a body that was read ahead.
type bodyInMemory struct {
	bytes.Reader
	all []byte
}

// Close implements [io.Closer].
func (b *bodyInMemory) Close() error { return nil }

// bodyStepBytes of a body are accounted for before they are read: who announces much
// and sends little has no more. Memory for more than that is not recycled.
const bodyStepBytes = 16 << 10

// noShare is the answer to a client that got nothing of a limit.
func (s *Server) noShare(why refused, code Code, of *shares, what string) error {
	if why == shareOver {
		return refuse(http.StatusTooManyRequests, CodeShare,
			"your network holds as many of the %d %s as it may beside others: wait for an answer first", of.max, what)
	}
	return refuse(http.StatusServiceUnavailable, code, "all %d %s are taken: try again in a second", of.max, what)
}
