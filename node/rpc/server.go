package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/panjf2000/ants/v2"

	"github.com/cowboy-foundation/cowboy/exec"
)

// Stats counts what the server did since it was made. It is safe to read from
// any goroutine.
type Stats struct {
	Requests     atomic.Uint64 // routed, whatever the answer
	Refused      atomic.Uint64 // 429 and 503
	Failed       atomic.Uint64 // 500, panics included
	Panics       atomic.Uint64
	Submitted    atomic.Uint64 // transactions handed to the source
	Accepted     atomic.Uint64 // of them
	ConnsRefused atomic.Uint64 // connections closed for want of a place
	ConnsEvicted atomic.Uint64 // idle ones closed for others
	Subscribers  atomic.Int64  // open event streams
	Dropped      atomic.Uint64 // event streams ended because they were too slow
}

// Server answers the API. Make one with [New].
type Server struct {
	cfg    Config
	source Source
	log    *slog.Logger
	routes []route

	conns       *connTable
	inFlight    *shares
	waits       *shares
	subscribers *shares
	proofs      *shares
	exports     *shares
	trials      *shares
	bodies      *shares // in bytes
	answers     *shares // in bytes
	rates       *clientRates
	openRates   *clientRates // of the open routes
	submitRates *clientRates // of those that take transactions
	faucetRates *clientRates
	origins     *http.CrossOriginProtection
	events      eventCache
	genesisBody []byte                    // answers GET /genesis, encoded once
	readers     atomic.Pointer[ants.Pool] // reads for lists; nil unless Run runs
	stopping    chan struct{}             // closed by Run when event streams must end
	submitRooms sync.Pool                 // of *submitRoom
	bodyRooms   sync.Pool                 // of *bodyInMemory

	// Stats counts the server's work.
	Stats Stats
}

// leastBytesPart: of memory, everybody may have a part in so many as long as there is
// any.
const leastBytesPart = 64

// New returns a server that answers from source. It listens only in Run, but
// ServeHTTP works at once.
func New(cfg Config, source Source) (*Server, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	slots := func(n int) *shares { return newShares(int64(n), 1, cfg.ClientShare) }
	memory := func(n int64) *shares { return newShares(n, n/leastBytesPart, cfg.ClientShare) }
	s := &Server{
		cfg:         cfg,
		source:      source,
		log:         cfg.Log,
		inFlight:    slots(cfg.InFlightMax),
		waits:       slots(cfg.WaitsMax),
		subscribers: slots(cfg.SubscribersMax),
		proofs:      slots(cfg.ProofsMax),
		exports:     slots(cfg.ExportsMax),
		trials:      slots(cfg.TrialsMax),
		bodies:      memory(cfg.BodiesBytesMax),
		answers:     memory(cfg.AnswersBytesMax),
		rates:       newClientRates(cfg.RequestsPerSecond, time.Second, cfg.ClientsMax, cfg.DebtMax),
		openRates:   newClientRates(cfg.RequestsPerSecond, time.Second, cfg.ClientsMax, cfg.DebtMax),
		submitRates: newClientRates(cfg.RequestsPerSecond, time.Second, cfg.ClientsMax, cfg.DebtMax),
		faucetRates: newClientRates(cfg.FaucetPerMinute, time.Minute, cfg.ClientsMax, cfg.DebtMax),
		origins:     http.NewCrossOriginProtection(),
		stopping:    make(chan struct{}),
	}
	s.conns = newConnTable(cfg.ConnsMax, min(cfg.ClientShare, connShareMax), s.trusted, &s.Stats, s.log)
	if cfg.Genesis != nil {
		s.genesisBody = slices.Clip(encodeJSON(cfg.Genesis))
	}
	s.routes = s.table()
	return s, nil
}

// Run serves until ctx ends, then finishes open requests within StopTimeout and
// returns nil. It returns an error if it cannot listen or the listener fails, and
// may then be called again, or [Server.Serve].
func (s *Server) Run(ctx context.Context) error {
	listener := s.cfg.Listener
	if listener == nil {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", s.cfg.Addr)
		if err != nil {
			return fmt.Errorf("rpc listen: %w", err)
		}
		listener = l
	}
	return s.Serve(ctx, listener)
}

// Serve is [Server.Run] on a listener that is open, which it closes.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	readers, err := ants.NewPool(listReaders, ants.WithDisablePurge(true))
	if err != nil {
		return fmt.Errorf("rpc readers: %w", err)
	}
	defer readers.Release()
	s.readers.Store(readers)
	web := &http.Server{
		Handler:           s,
		ReadHeaderTimeout: s.cfg.HeaderTimeout,
		ReadTimeout:       s.cfg.ReadTimeout,
		WriteTimeout:      s.cfg.WriteTimeout,
		IdleTimeout:       s.cfg.IdleTimeout,
		MaxHeaderBytes:    s.cfg.HeaderBytesMax,
		ConnState:         s.conns.changed,
		ConnContext:       connContext,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	served := make(chan error, 1)
	go func() { served <- web.Serve(&tableListener{listener, s.conns}) }()
	s.log.Info("rpc serves", "addr", listener.Addr().String(), "devnet", s.cfg.Devnet)

	select {
	case err := <-served:
		web.Close() // and with the connections all streams; the listener's error is the one to report
		return fmt.Errorf("rpc serve: %w", err)
	case <-ctx.Done():
	}
	close(s.stopping)
	stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.cfg.StopTimeout)
	defer cancel()
	err = web.Shutdown(stop)
	if errors.Is(err, context.DeadlineExceeded) {
		s.log.Warn("rpc cut requests that did not end in time", "timeout", s.cfg.StopTimeout)
		err = web.Close()
	}
	<-served
	if err != nil {
		return fmt.Errorf("rpc stop: %w", err)
	}
	return nil
}

// ServeHTTP answers one request; see the package comment for the path it takes.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.Stats.Requests.Add(1)
	defer s.guard(w, r)
	if s.foreignHost(r) {
		s.writeError(w, r, refuse(http.StatusForbidden, CodeForeignHost,
			"this server is not called %q: use its address, or allow the name with --rpc-host", clip(r.Host)))
		return
	}
	route, args, allow := s.route(r)
	if route == nil {
		s.noRoute(w, r, allow)
		return
	}
	if route.open { // watched by operators: must answer when clients overload the node
		if ok, wait := s.openRates.allow(s.client(r), time.Now()); !ok {
			retryAfter(w, wait)
			s.writeError(w, r, refuse(http.StatusTooManyRequests, CodeRateLimited,
				"more than %d looks at the node per second: it changes once a block", s.cfg.RequestsPerSecond))
			return
		}
		s.serve(route, args, w, r)
		return
	}
	if onSpare(r.Context()) { // such a connection is for those who watch
		w.Header().Set("Connection", "close")
		s.Stats.Refused.Add(1)
		retryAfter(w, time.Second)
		s.writeError(w, r, refuse(http.StatusServiceUnavailable, CodeBusy,
			"all %d connections are taken: try again in a second, on one connection", s.cfg.ConnsMax))
		return
	}
	if why := s.starting(); why != "" {
		retryAfter(w, time.Second)
		s.writeError(w, r, refuse(http.StatusServiceUnavailable, CodeNotReady, "%s: try again in a second", why))
		return
	}
	c := &caller{client: s.client(r), rates: s.rates}
	if route.rates != nil {
		c.rates = route.rates
	}
	if ok, wait, owes := c.rates.spend(c.client, route.price(r), time.Now()); owes {
		s.writeError(w, r, owed(wait))
		return
	} else if !ok {
		retryAfter(w, wait)
		s.writeError(w, r, refuse(http.StatusTooManyRequests, CodeRateLimited,
			"more than %d requests per second, of which this one counts as %d and large or old blocks by their bytes: slow down, or submit up to %d transactions in one request",
			s.cfg.RequestsPerSecond, route.price(r), s.cfg.SubmitTxsMax))
		return
	}
	s.limited(route, args, w, r.WithContext(c.in(r.Context())), c)
}

// starting says why no request is answered yet; empty once they are.
func (s *Server) starting() string {
	if s.cfg.Starting == nil {
		return ""
	}
	return s.cfg.Starting()
}

// limited answers a request within the limits of its client: body, slot, work,
// answer, bill.
func (s *Server) limited(route *route, args []string, w http.ResponseWriter, r *http.Request, c *caller) {
	body, err := s.readAhead(route, r, c.client)
	if err != nil {
		w.Header().Set("Connection", "close") // the rest of the body may still come
		s.writeError(w, r, err)
		return
	}
	defer body.give()
	limit := s.inFlight
	if route.slots != nil {
		limit = route.slots
	}
	slot, why := limit.acquire(c.client, 1)
	if why != granted {
		retryAfter(w, time.Second)
		s.writeError(w, r, s.noShare(why, route.fullCode, limit, "slots for this request"))
		return
	}
	defer func() { c.rates.settle(c, time.Now()) }()
	if route.stream {
		defer slot.give()
		s.serve(route, args, w, r)
		return
	}
	out := &answer{w: w}
	func() {
		defer slot.give()
		s.serve(route, args, out, r)
	}()
	c.rates.charge(c.client, sent(len(out.body)), time.Now())
	s.writeAnswer(out, r, c.client)
}

// serve runs a handler within its deadline.
func (s *Server) serve(route *route, args []string, w http.ResponseWriter, r *http.Request) {
	if route.timeout > 0 {
		ctx, cancel := context.WithTimeout(r.Context(), route.timeout)
		defer cancel()
		r = r.WithContext(ctx)
	}
	if err := route.handle(w, r, args); err != nil {
		s.writeError(w, r, err)
	}
}

// guard turns a panic into a 500 answer. The panic of an aborted answer goes on
// to net/http, which then closes the connection.
func (s *Server) guard(w http.ResponseWriter, r *http.Request) {
	cause := recover()
	if cause == nil {
		return
	}
	if cause == http.ErrAbortHandler {
		panic(cause)
	}
	s.writeError(w, r, exec.Panicked(cause))
}

// notePanic counts and logs a panic that an error stands for, on whatever goroutine it
// was. It reports whether the error is one.
func (s *Server) notePanic(r *http.Request, err error) bool {
	p := new(exec.Panic)
	if !errors.As(err, &p) {
		return false
	}
	s.Stats.Panics.Add(1)
	s.log.Error("rpc request panicked", "path", clip(r.URL.Path), "panic", p.Cause, "stack", p.Stack)
	return true
}

// writeError answers with the status and code of err. A fault's text stays in
// the log: it may name paths and says nothing a client can act on.
func (s *Server) writeError(w http.ResponseWriter, r *http.Request, err error) {
	var refusal *Refusal
	if s.cfg.Explain != nil {
		refusal = s.cfg.Explain(err)
	}
	switch {
	case refusal != nil, errors.As(err, &refusal):
	case errors.Is(err, ErrBusy):
		retryAfter(w, time.Second)
		refusal = refuse(http.StatusServiceUnavailable, CodeBusy, "the node's queues are full: try again in a second")
	case errors.Is(err, ErrNotReady):
		retryAfter(w, time.Second)
		refusal = refuse(http.StatusServiceUnavailable, CodeNotReady, "the node is starting or stopping: try again in a second")
	case errors.Is(err, context.DeadlineExceeded):
		refusal = refuse(http.StatusGatewayTimeout, CodeDeadline, "the answer took too long: try again, or ask for less")
	case s.notePanic(r, err):
		refusal = refuse(http.StatusInternalServerError, CodeDefect,
			"this request met a defect of the node, which goes on; its log has the stack")
	case errors.Is(err, context.Canceled):
		return // the client left
	default:
		s.log.Error("rpc request failed", "path", clip(r.URL.Path), "err", err)
		refusal = refuse(http.StatusInternalServerError, CodeInternal,
			"the node failed on this request; its log has the cause")
	}
	if refusal.After > 0 {
		retryAfter(w, refusal.After)
	}
	switch refusal.Status {
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		s.Stats.Refused.Add(1)
	case http.StatusInternalServerError:
		s.Stats.Failed.Add(1)
	}
	// The body was not read to its end if it is too large; a kept connection
	// would have to drain it.
	if refusal.Status == http.StatusRequestEntityTooLarge {
		w.Header().Set("Connection", "close")
	}
	s.writeJSON(w, refusal.Status, ErrorReply{Code: refusal.Code, Message: refusal.Message})
}

// writeJSON answers with one JSON document and a newline.
func (s *Server) writeJSON(w http.ResponseWriter, status int, reply any) {
	s.writeBody(w, status, "application/json", encodeJSON(reply))
}

// encodeJSON returns the body of a reply.
func encodeJSON(reply any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(reply); err != nil {
		panic(fmt.Sprintf("rpc: encode reply: %v", err)) // our own shapes always encode
	}
	return buf.Bytes()
}

func (s *Server) writeBody(w http.ResponseWriter, status int, contentType string, body []byte) {
	h := w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cache-Control", "no-store")
	if a, ok := w.(*answer); ok {
		a.WriteHeader(status)
		a.whole(body)
		return
	}
	w.WriteHeader(status)
	if _, err := w.Write(body); err != nil {
		s.log.Debug("rpc client left before its answer", "err", err)
	}
}

// retryAfter tells the client to wait, in whole seconds rounded up.
func retryAfter(w http.ResponseWriter, wait time.Duration) {
	seconds := max(1, int64((wait+time.Second-1)/time.Second))
	w.Header().Set("Retry-After", strconv.FormatInt(seconds, 10))
}
