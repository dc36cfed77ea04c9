package p2p

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// TestDropsAreTold: what was dropped for peers is one line, with the peers, the classes
// and the reason, and nothing where nothing was.
func TestDropsAreTold(t *testing.T) {
	var lines bytes.Buffer
	cfg := (&setup{keys: testKeys(4)}).config(0)
	cfg.Log = slog.New(slog.NewTextHandler(&lines, nil))
	tr, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var d drops
	d.logDropped(tr)
	if lines.Len() > 0 {
		t.Errorf("nothing was dropped: %s", lines.String())
	}
	for range 5 {
		tr.Send(1, Fetch, []byte("a request")) // not kept while it is away
	}
	tr.Send(2, Fetch, []byte("a request"))
	d.logDropped(tr)
	for _, want := range []string{"count=6", "peer 1 fetch: 5, it is not connected; peer 2 fetch: 1, it is not connected"} {
		if !strings.Contains(lines.String(), want) {
			t.Errorf("%q is not in %s", want, lines.String())
		}
	}
	tr.Send(1, Fetch, []byte("a request"))
	d.logDropped(tr)
	d.logDropped(tr)
	if n := strings.Count(lines.String(), "\n"); n != 2 || !strings.Contains(lines.String(), "count=1 ") {
		t.Errorf("%d lines:\n%s", n, lines.String())
	}
}
