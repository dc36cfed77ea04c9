package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/node/setup"
)

// TestPartsAreListed: docs/operating.md has every part and what its failure does, as the
// table of parts.go says.
func TestPartsAreListed(t *testing.T) {
	doc, err := os.ReadFile("../docs/operating.md")
	if err != nil {
		t.Fatal(err)
	}
	for p := range numParts {
		if row := fmt.Sprintf("| %s | %s |", p, parts[p].fate); !strings.Contains(string(doc), row) {
			t.Errorf("docs/operating.md has no line that begins with %q", row)
		}
	}
	_, section, _ := strings.Cut(string(doc), "## What a failure ends")
	section, _, _ = strings.Cut(section, "\n## ")
	if lines := strings.Count(section, "| "+fateEnds.String()+" |") + strings.Count(section, "| "+fateAgain.String()+" |"); lines < int(numParts) {
		t.Errorf("the table has %d lines, want %d", lines, numParts)
	}
}

// TestPartsFailAsTheTableSays lets each part end with an error, by itself, and by a panic
// where that is survived: the others either stop, with the error, or go on, and then it
// is started again after growing pauses, with an alarm and counts, until it works.
func TestPartsFailAsTheTableSays(t *testing.T) {
	broken := errors.New("broken")
	for p := range numParts {
		for name, fail := range map[string]func() error{
			"error": func() error { return broken },
			"end":   func() error { return nil },
			"panic": func() error { panic("defect") },
		} {
			if parts[p].fate == fateEnds && name == "panic" {
				continue // ends the process, on purpose
			}
			t.Run(fmt.Sprintf("%s/%s", p, name), func(t *testing.T) {
				a := newAlarms(slog.New(slog.DiscardHandler))
				r := newRestarts(a, a.log)
				r.pause.min, r.pause.max, r.pause.calm = time.Millisecond, 4*time.Millisecond, 20*time.Millisecond
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				g := newGroup(ctx, r)
				var starts atomic.Int32
				g.start(p, func(ctx context.Context) error {
					if starts.Add(1) <= 5 {
						return fail()
					}
					<-ctx.Done()
					return ctx.Err()
				})
				if parts[p].fate == fateEnds {
					<-g.ended()
					if err := g.wait(); name == "error" && (!errors.Is(err, broken) || !strings.Contains(err.Error(), p.String())) {
						t.Errorf("the node stops with %v", err)
					}
					return
				}
				for starts.Load() < 6 {
					time.Sleep(time.Millisecond)
				}
				down, failures := r.stateOf(p)
				if on, raised := a.stateOf(alarmParts); !on && down || raised != 1 || failures != 5 {
					t.Errorf("down %v, alarm %v raised %d times, %d failures", down, on, raised, failures)
				}
				if why := a.reasons(); down && (len(why) != 1 || !strings.HasPrefix(why[0], p.String()+" failed")) {
					t.Errorf("reasons: %q", why)
				}
				for down {
					time.Sleep(time.Millisecond)
					down, _ = r.stateOf(p)
				}
				if on, _ := a.stateOf(alarmParts); on || g.ctx.Err() != nil {
					t.Errorf("works again: alarm %v, the group ended: %v", on, g.ctx.Err())
				}
				cancel()
				if err := g.wait(); err != nil {
					t.Errorf("stopped: %v", err)
				}
			})
		}
	}
}

// TestSeveralPartsAreDown: the alarm names all that are, and is over with the last.
func TestSeveralPartsAreDown(t *testing.T) {
	a := newAlarms(slog.New(slog.DiscardHandler))
	r := newRestarts(a, a.log)
	r.failed(partScrub, errors.New("first"), 0)
	r.failed(partRPC, errors.New("second"), 0)
	if why := strings.Join(a.reasons(), ""); !strings.Contains(why, "scrub failed (first)") || !strings.Contains(why, "RPC failed (second)") {
		t.Errorf("reasons: %q", why)
	}
	r.mended(partScrub)
	if why := a.reasons(); len(why) != 1 || strings.Contains(why[0], "scrub") {
		t.Errorf("one mended: %q", why)
	}
	r.mended(partRPC)
	if why := a.reasons(); len(why) != 0 {
		t.Errorf("both mended: %q", why)
	}
}

// fallible is a listener that can be broken, and then cannot be taken for a while.
type fallible struct {
	net.Listener
	broken *atomic.Bool
}

func (f *fallible) Accept() (net.Conn, error) {
	c, err := f.Listener.Accept()
	if f.broken.Load() {
		return nil, errors.Join(errors.New("device gone"), err)
	}
	return c, err
}

// TestListenersFallAndComeBack: the listener of the API fails, and that of the admin
// pages. Blocks go on, what is left says so in /health, and both come back at the same
// address.
func TestListenersFallAndComeBack(t *testing.T) {
	for _, broken := range []string{"RPC", "admin"} {
		t.Run(broken, func(t *testing.T) {
			dir := t.TempDir()
			genesis, err := setup.PrepareDevnet(dir, setup.DevnetOptions{BlockTime: 10 * time.Millisecond})
			if err != nil {
				t.Fatal(err)
			}
			cfg := DefaultConfig()
			cfg.DataDir, cfg.Devnet, cfg.RPCPerSec, cfg.RPCAddr, cfg.AdminAddr = dir, true, 0, "127.0.0.1:0", "127.0.0.1:0"
			var gone atomic.Bool
			first := map[string]net.Listener{}
			host := Host{Listen: func(what, address string) (net.Listener, error) {
				if what == broken && gone.Load() {
					return nil, errors.New("port not to be had")
				}
				l, err := net.Listen("tcp", address)
				if err != nil {
					return nil, err
				}
				if first[what] == nil {
					first[what] = l
				}
				if what != broken {
					return l, nil
				}
				return &fallible{l, &gone}, nil
			}}
			n, err := OpenOn(host, cfg, genesis, nil)
			if err != nil {
				t.Fatal(err)
			}
			n.restarts.pause.min, n.restarts.pause.max, n.restarts.pause.calm = time.Millisecond, 8*time.Millisecond, 20*time.Millisecond
			if err := n.Listen(); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- n.Run(ctx) }()
			defer func() {
				cancel()
				if err := errors.Join(<-ended, n.Close()); err != nil {
					t.Error(err)
				}
			}()
			address := map[string]string{"RPC": n.RPCAddr(), "admin": n.AdminAddr()}
			left := map[string]string{"RPC": "admin", "admin": "RPC"}[broken]
			for n.ledger.Head().Height() < 2 {
				time.Sleep(time.Millisecond)
			}
			awaitHealth(t, address[broken], func(h healthSeen) bool { return h.Status == "ok" })

			gone.Store(true)
			_ = first[broken].Close()
			at := n.ledger.Head().Height()
			for n.ledger.Head().Height() < at+5 {
				time.Sleep(time.Millisecond)
			}
			if _, err := http.Get("http://" + address[broken] + "/health"); err == nil {
				t.Error("the test broke nothing")
			}
			n.restarts.mu.Lock()
			down := len(n.restarts.down)
			n.restarts.mu.Unlock()
			if down != 1 {
				t.Errorf("%d parts are down", down)
			}
			awaitHealth(t, address[left], func(h healthSeen) bool {
				return h.Status == "degraded" && h.Ready && strings.Contains(strings.Join(h.Reasons, ""), "port not to be had")
			})
			gone.Store(false)
			awaitHealth(t, address[broken], func(h healthSeen) bool { return h.Status == "ok" && h.Height > uint64(at) })
		})
	}
}

type healthSeen struct {
	Status  string
	Ready   bool
	Height  uint64
	Reasons []string
}

// awaitHealth asks an address until its answer is as wanted.
func awaitHealth(t *testing.T, address string, ok func(healthSeen) bool) {
	t.Helper()
	var h healthSeen
	var err error
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(2 * time.Millisecond) {
		var res *http.Response
		if res, err = http.Get("http://" + address + "/health"); err != nil {
			continue
		}
		raw, _ := io.ReadAll(res.Body)
		res.Body.Close()
		if err = json.Unmarshal(raw, &h); err == nil && ok(h) {
			return
		}
	}
	t.Fatalf("%s says %+v, %v", address, h, err)
}
