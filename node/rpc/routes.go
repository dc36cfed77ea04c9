package rpc

import (
	"net/http"
	"strings"
	"time"
)

// handleFunc answers a request or returns the error to answer with. args are
// the path's variable segments.
type handleFunc func(w http.ResponseWriter, r *http.Request, args []string) error

// route is one line of the path table.
type route struct {
	method  string
	pattern string // segments; one in braces matches any text
	about   string // line of the index
	handle  handleFunc
	timeout time.Duration // of the request's context; 0 for a stream

	open     bool         // exempt from the in-flight limits, with a rate of its own
	stream   bool         // answers as long as the client stays: its slot and its writer are its own
	body     int64        // bytes of the body at most, 0 for none
	slots    *shares      // own limit instead of the common one
	rates    *clientRates // own rates instead of the common ones: what a client owes for reading does not keep it from sending
	cost     int          // of the client's rate, 0 for that of a lookup
	pastCost int          // the same with ?height=, where that costs more
	fullCode Code         // when no slot is free
}

// price is what a request takes from its client's rate.
func (t *route) price(r *http.Request) int {
	if t.pastCost > 0 && r.URL.Query().Has("height") {
		return t.pastCost
	}
	return max(1, t.cost)
}

// table lists every path once. The index and the Allow header come from it.
func (s *Server) table() []route {
	get, post := http.MethodGet, http.MethodPost
	t := []route{
		{method: get, pattern: "/", about: "this list", handle: s.index},
		{method: get, pattern: "/height", about: "height of the finalized head", handle: s.height},
		{method: get, pattern: "/block/{hash|height|latest}", about: "a finalized block", handle: s.block},
		{method: get, pattern: "/blocks", about: "finalized blocks, newest first; ?offset=0&limit=50", handle: s.blocks},
		{method: get, pattern: "/basefee", about: "prices of the next block and limits of a transaction", handle: s.baseFee},
		{method: get, pattern: "/params", about: "the parameters in force that bound a block", handle: s.params},
		{method: get, pattern: "/governance", about: "members, proposals, and all parameters in force", handle: s.governance, cost: 10},
		{method: get, pattern: "/genesis", about: "the whole genesis", handle: s.genesis, cost: 10},
		{method: post, pattern: "/submit", about: "1 to 50 transactions, each u32 big-endian length and CBOR body, as application/octet-stream; ?hashes=1; Accept: " + VerdictsMedia + " for a binary answer", handle: s.submit, body: s.cfg.SubmitBytesMax, rates: s.submitRates},
		{method: post, pattern: "/submit_wait", about: "the same, answered when final; ?timeout_ms=100..10000", handle: s.submitWait, slots: s.waits, body: s.cfg.SubmitBytesMax, rates: s.submitRates},
		{method: get, pattern: "/transaction/{hash}", about: "a transaction, final or pending", handle: s.transaction},
		{method: get, pattern: "/transaction/{hash}/receipt", about: "its result; 404 while pending", handle: s.receipt},
		{method: get, pattern: "/mempool/transaction/{hash}", about: "a waiting transaction", handle: s.poolTx},
		{method: get, pattern: "/account/{address}", about: "nonce and balance; ?height=N for those of the past", handle: s.account, pastCost: costStateProof},
		{method: get, pattern: "/rent/{address}", about: "how an actor stands with its state rent; of an evicted one, what to restore", handle: s.rent, cost: costStateProof},
		{method: get, pattern: "/events", about: "server-sent events, one \"block\" for each finalized block; Last-Event-ID resumes", handle: s.stream, slots: s.subscribers, stream: true, fullCode: CodeSubscribers},
		{method: get, pattern: "/health", about: "how the node is", handle: s.health, open: true},
		{method: get, pattern: "/health/ready", about: "200 when the node votes, else 503", handle: s.ready, open: true},
		{method: get, pattern: "/evidence", about: "proofs of validators that contradicted themselves, oldest first", handle: s.evidence, cost: 10},
		{method: get, pattern: "/metrics", about: "Prometheus metrics", handle: s.metrics, open: true},
		{method: post, pattern: "/faucet", about: "development funds; {\"address\": \"0x…\"}; devnet only", handle: s.faucet},
		{method: post, pattern: "/dev/advance", about: "empty blocks at once; {\"blocks\": 100}; devnet only", handle: s.advance, timeout: s.cfg.AdvanceTimeout},
	}
	t = append(t, s.proofRoutes()...)
	t = append(t, s.pastRoutes()...)
	t = append(t, s.actorRoutes()...)
	t = append(t, s.tokenRoutes()...)
	t = append(t, s.runnerRoutes()...)
	t = append(t, s.runnerSubmitRoutes()...)
	t = append(t, s.jobRoutes()...)
	t = append(t, s.jobListRoutes()...)
	t = append(t, s.entitlementRoutes()...)
	for i := range t {
		if t[i].timeout == 0 && !t[i].stream {
			t[i].timeout = s.cfg.RequestTimeout
		}
		if t[i].method == post && t[i].body == 0 {
			t[i].body = smallBodyBytesMax
		}
		t[i].body = min(t[i].body, s.cfg.BodyBytesMax)
		if t[i].fullCode == 0 {
			t[i].fullCode = CodeBusy
		}
	}
	return t
}

// segmentsMax is above the segments of every pattern; a path with more matches
// none, and is not split further.
const segmentsMax = 6

// route finds the line of a request. Without one, allow lists the methods that
// the path is served with; empty means that there is no such path. HEAD is
// served where GET is.
func (s *Server) route(r *http.Request) (line *route, args []string, allow string) {
	method := r.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	path := strings.SplitN(strings.TrimPrefix(r.URL.Path, "/"), "/", segmentsMax)
	var methods []string
	for i := range s.routes {
		candidate := &s.routes[i]
		args, ok := match(candidate.pattern, path)
		if !ok {
			continue
		}
		if candidate.method == method {
			return candidate, args, ""
		}
		methods = append(methods, candidate.method)
		if candidate.method == http.MethodGet {
			methods = append(methods, http.MethodHead)
		}
	}
	return nil, nil, strings.Join(methods, ", ")
}

// noRoute answers a request that no line serves.
func (s *Server) noRoute(w http.ResponseWriter, r *http.Request, allow string) {
	if allow == "" {
		s.writeError(w, r, notFound(CodeUnknownPath, "no such path: GET / lists those served"))
		return
	}
	w.Header().Set("Allow", allow)
	s.writeError(w, r, refuse(http.StatusMethodNotAllowed, CodeMethodNotAllowed,
		"%s is not served at this path: use %s", clip(r.Method), allow))
}

// match compares the segments of a path with a pattern.
func match(pattern string, path []string) (args []string, ok bool) {
	rest := pattern[1:]
	for i, segment := range path {
		want, tail, more := strings.Cut(rest, "/")
		switch {
		case strings.HasPrefix(want, "{"):
			if segment == "" {
				return nil, false
			}
			args = append(args, segment)
		case want != segment:
			return nil, false
		}
		if last := i == len(path)-1; last || !more {
			return args, last && !more
		}
		rest = tail
	}
	return nil, false
}

// index answers GET / with the paths as plain text, for a person with curl.
func (s *Server) index(w http.ResponseWriter, _ *http.Request, _ []string) error {
	var b strings.Builder
	b.WriteString("Cowboy node API. JSON unless said otherwise; errors are {code, message}.\n\n")
	for _, line := range s.routes {
		b.WriteString(line.method)
		b.WriteString(strings.Repeat(" ", 5-len(line.method)))
		b.WriteString(line.pattern)
		b.WriteString(strings.Repeat(" ", max(1, 32-len(line.pattern))))
		b.WriteString(line.about)
		b.WriteByte('\n')
	}
	s.writeBody(w, http.StatusOK, "text/plain; charset=utf-8", []byte(b.String()))
	return nil
}
