package node

import (
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// TestMetricsAreGatheredOnce: however many ask, metrics are gathered once in a moment,
// and not compressed for each.
func TestMetricsAreGatheredOnce(t *testing.T) {
	gathered, now := 0, time.Unix(1_000, 0)
	r := prometheus.NewRegistry()
	r.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "looks"}, func() float64 {
		gathered++
		return float64(gathered)
	}))
	s := metricsServer(r)
	s.now = func() time.Time { return now }
	ask := func() string {
		req := httptest.NewRequest("GET", "/metrics", nil)
		req.Header.Set("Accept-Encoding", "gzip")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, req)
		if w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/plain") {
			t.Fatalf("%d %v", w.Code, w.Header())
		}
		return w.Body.String()
	}
	for range 100 {
		if got := ask(); !strings.Contains(got, "looks 1\n") {
			t.Fatalf("within the moment: %q", got)
		}
	}
	now = now.Add(gatheredFor)
	if got := ask(); !strings.Contains(got, "looks 2\n") || gathered != 2 {
		t.Errorf("after it, gathered %d times: %q", gathered, got)
	}
}
