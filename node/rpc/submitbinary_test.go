package rpc_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/rpc/rpctest"
)

// requestVerdicts submits and asks for the binary answer.
func requestVerdicts(s http.Handler, query, media string, body []byte) *httptest.ResponseRecorder {
	r := httptest.NewRequest("POST", "/submit"+query, bytes.NewReader(body))
	r.Header.Set("Accept", rpc.VerdictsMedia)
	if media != "" {
		r.Header.Set("Content-Type", media)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func decodeVerdicts(t *testing.T, w *httptest.ResponseRecorder) ([]rpc.Verdict, bool) {
	t.Helper()
	if media := w.Header().Get("Content-Type"); w.Code != http.StatusOK || media != rpc.VerdictsMedia {
		t.Fatalf("status %d, content type %q: %.200s", w.Code, media, w.Body)
	}
	list, hashes, err := rpc.DecodeVerdicts(nil, w.Body.Bytes(), 50)
	if err != nil {
		t.Fatal(err)
	}
	return list, hashes
}

// TestBothAnswersSayTheSame submits the same to two servers of equal chains, and asks one for
// JSON and the other for the binary answer.
func TestBothAnswersSayTheSame(t *testing.T) {
	key, poor := testKey(t, 1), testKey(t, 2)
	tampered := transfer(t, key, 1)
	tampered.Value++
	foreign, unsigned := transfer(t, key, 1), transfer(t, key, 1)
	foreign.ChainID, unsigned.Signature = 9, nil
	wire := bytes.Join([][]byte{
		transfer(t, key, 0).AppendWire(nil),
		transfer(t, key, 0).AppendWire(nil), // known
		tampered.AppendWire(nil),
		foreign.AppendWire(nil),
		unsigned.AppendWire(nil),
		transfer(t, key, 7).AppendWire(nil),
		transfer(t, poor, 0).AppendWire(nil),
		append([]byte{0, 0, 0, 20}, bytes.Repeat([]byte{0xff}, 20)...),
		transfer(t, key, 1).AppendWire(nil),
	}, nil)
	for _, hashes := range []bool{true, false} {
		query := map[bool]string{true: "?hashes=1", false: "?hashes=0"}[hashes]
		var servers [2]*rpc.Server
		for i := range servers {
			source := rpctest.New()
			source.Fund(key.PublicKey().Address(), 1_000_000_000)
			servers[i] = newServer(t, testConfig(), source)
		}
		asText := decode[rpc.SubmitReply](t, request(servers[0], "POST", "/submit"+query, "", wire)).Results
		asBytes, has := decodeVerdicts(t, requestVerdicts(servers[1], query, "", wire))
		if len(asText) != 9 || len(asBytes) != len(asText) || has != hashes {
			t.Fatalf("%d verdicts in JSON, %d in bytes, hashes %t", len(asText), len(asBytes), has)
		}
		kinds := map[rpc.Code]bool{}
		for i, v := range asBytes {
			want := rpc.SubmitResult{Accepted: v.Code == rpc.CodeOK, Code: v.Code, Message: v.Message}
			if hashes {
				want.Hash = v.Hash.String()
			}
			if asText[i] != want {
				t.Errorf("transaction %d: JSON %+v, bytes %+v", i, asText[i], v)
			}
			kinds[v.Code] = true
		}
		if len(kinds) < 6 || !asText[0].Accepted || !asText[8].Accepted {
			t.Errorf("verdicts %+v", asText)
		}
		if a, b := servers[0].Stats.Accepted.Load(), servers[1].Stats.Accepted.Load(); a != 2 || b != 2 {
			t.Errorf("%d and %d accepted", a, b)
		}
	}
}

// TestBinaryAnswerHasTheSameLimits: what refuses the whole request is the same JSON, however
// it was asked for.
func TestBinaryAnswerHasTheSameLimits(t *testing.T) {
	key := testKey(t, 1)
	one := transfer(t, key, 0).AppendWire(nil)
	for name, test := range map[string]struct {
		query, media string
		body         []byte
		status       int
		code         rpc.Code
	}{
		"no transaction":    {"", "", nil, 400, rpc.CodeBadSubmission},
		"one too many":      {"", "", bytes.Repeat(one, 51), 400, rpc.CodeBadSubmission},
		"truncated":         {"", "", one[:len(one)-1], 400, rpc.CodeBadSubmission},
		"too large":         {"", "", make([]byte, 512<<10+1), 413, rpc.CodeBodyTooLarge},
		"JSON sent":         {"", "application/json", one, 415, rpc.CodeContentType},
		"hashes of 2":       {"?hashes=2", "", one, 400, rpc.CodeBadNumber},
		"hashes of no":      {"?hashes=no", "", one, 400, rpc.CodeBadNumber},
		"hashes, yes or no": {"?hashes=0&hashes=1", "", one, 400, rpc.CodeBadNumber},
	} {
		s := newServer(t, testConfig(), rpctest.New())
		text := request(s, "POST", "/submit"+test.query, test.media, test.body)
		raw := requestVerdicts(s, test.query, test.media, test.body)
		wantError(t, text, test.status, test.code)
		wantError(t, raw, test.status, test.code)
		if text.Body.String() != raw.Body.String() {
			t.Errorf("%s: %s and %s", name, text.Body, raw.Body)
		}
	}
	busy := rpctest.New()
	busy.Fault = rpc.ErrBusy
	wantError(t, requestVerdicts(newServer(t, testConfig(), busy), "", "", one), 503, rpc.CodeBusy)
}

// lateSource is a source that still reads bodies after the request was given up: it compares
// them with what they were when it is told to.
type lateSource struct {
	*rpctest.Chain
	mu   sync.Mutex
	late []func() bool
}

func (s *lateSource) Submit(ctx context.Context, bodies [][]byte, into []rpc.Verdict) ([]rpc.Verdict, error) {
	if len(bodies) != 1 {
		return s.Chain.Submit(ctx, bodies, into)
	}
	was := bytes.Clone(bodies[0])
	s.mu.Lock()
	defer s.mu.Unlock()
	s.late = append(s.late, func() bool { return bytes.Equal(was, bodies[0]) })
	return nil, context.DeadlineExceeded
}

// TestMemoryIsRecycledOnlyWhenRead: submissions of many clients at once, some of which are
// given up while the source still has them, each with an answer of its own. Under the race
// detector nothing may be written that somebody reads.
func TestMemoryIsRecycledOnlyWhenRead(t *testing.T) {
	source := &lateSource{Chain: rpctest.New()}
	const clients, rounds, batch = 6, 12, 5
	s := newServer(t, testConfig(), source)
	var all sync.WaitGroup
	for c := range clients {
		key := testKey(t, byte(c+1))
		source.Fund(key.PublicKey().Address(), 1_000_000_000)
		var wires [][]byte
		var want [][]string
		for n := range uint64(rounds) {
			var wire []byte
			var hashes []string
			for i := range uint64(batch) {
				tx := transfer(t, key, n*batch+i)
				wire, hashes = tx.AppendWire(wire), append(hashes, chain.TxHash(tx.Encode()).String())
			}
			wires, want = append(wires, wire), append(want, hashes)
		}
		lone := transfer(t, key, 1_000).AppendWire(nil)
		all.Go(func() {
			for n := range wires {
				request(s, "POST", "/submit", "", lone)
				var got []string
				if (n+c)%2 == 0 {
					list, _, err := rpc.DecodeVerdicts(nil, requestVerdicts(s, "", "", wires[n]).Body.Bytes(), batch)
					if err != nil {
						t.Error(err)
					}
					for _, v := range list {
						got = append(got, v.Hash.String())
					}
				} else {
					var reply rpc.SubmitReply
					if err := json.Unmarshal(request(s, "POST", "/submit", "", wires[n]).Body.Bytes(), &reply); err != nil {
						t.Error(err)
					}
					for _, v := range reply.Results {
						got = append(got, v.Hash)
					}
				}
				if fmt.Sprint(got) != fmt.Sprint(want[n]) {
					t.Errorf("client %d, round %d: answer about %.40v, want %.40v", c, n, got, want[n])
				}
			}
		})
	}
	all.Wait()
	for i, same := range source.late {
		if !same() {
			t.Errorf("body %d changed while the source had it", i)
		}
	}
	if len(source.late) != clients*rounds || s.Stats.Accepted.Load() != clients*rounds*batch {
		t.Errorf("%d given up, %d accepted", len(source.late), s.Stats.Accepted.Load())
	}
}

// BenchmarkSubmit answers 50 transactions that the chain knows.
func BenchmarkSubmit(b *testing.B) {
	source := &instantSource{Chain: rpctest.New()}
	s := newServer(b, testConfig(), source)
	wire := bytes.Repeat(transfer(b, testKey(b, 1), 0).AppendWire(nil), 50)
	for _, media := range []string{"application/json", rpc.VerdictsMedia} {
		for _, query := range []string{"", "?hashes=0"} {
			b.Run(strings.TrimPrefix(media, "application/")+query, func(b *testing.B) {
				b.ReportAllocs()
				w := httptest.NewRecorder()
				for b.Loop() {
					r := httptest.NewRequest("POST", "/submit"+query, bytes.NewReader(wire))
					r.Header.Set("Accept", media)
					w.Body.Reset()
					s.ServeHTTP(w, r)
				}
				b.SetBytes(int64(w.Body.Len()))
			})
		}
	}
}

// instantSource accepts everything at no cost.
type instantSource struct{ *rpctest.Chain }

func (*instantSource) Submit(_ context.Context, bodies [][]byte, into []rpc.Verdict) ([]rpc.Verdict, error) {
	for range bodies {
		into = append(into, rpc.Verdict{Hash: chain.Hash{1}})
	}
	return into, nil
}
