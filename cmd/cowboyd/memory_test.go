package main

import (
	"bytes"
	"log/slog"
	"runtime/debug"
	"strings"
	"testing"
)

func TestHeapLimit(t *testing.T) {
	const gib = uint64(1) << 30
	for _, c := range []struct{ total, state, want uint64 }{
		{64 * gib, 0, 16 * gib / 10 * 9}, // a quarter is left
		{64 * gib, 4 * gib, 60 * gib / 10 * 9},
		{2 * gib, 0, heapLeast},
		{2 * gib, 4 * gib, heapLeast}, // more for the state than there is
	} {
		if got := heapLimit(c.total, c.state); got != c.want {
			t.Errorf("of %d with %d for the state: %d, want %d", c.total, c.state, got, c.want)
		}
	}
}

// TestEnvironmentLimitsTheHeap: GOMEMLIMIT wins, and either is said.
func TestEnvironmentLimitsTheHeap(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(before)
	var out bytes.Buffer
	log := slog.New(slog.NewTextHandler(&out, nil))
	t.Setenv("GOMEMLIMIT", "7GiB")
	limitHeap(0, log)
	if debug.SetMemoryLimit(-1) != before || !strings.Contains(out.String(), "GOMEMLIMIT=7GiB") {
		t.Errorf("the limit was changed, or nothing was said: %s", &out)
	}
	out.Reset()
	t.Setenv("GOMEMLIMIT", "")
	limitHeap(0, log)
	if now := debug.SetMemoryLimit(-1); now < heapLeast || now == before || !strings.Contains(out.String(), "limit_mib") {
		t.Errorf("limit %d, and said: %s", now, &out)
	}
}
