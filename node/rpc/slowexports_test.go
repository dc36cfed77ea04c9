package rpc_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/rpc/rpctest"
	"github.com/cowboy-foundation/cowboy/state"
)

// stored is a source whose accounts have stored megabytes.
type stored struct {
	*rpctest.Chain
	asked *atomic.Int64 // pages
}

func (s stored) StoragePage(ctx context.Context, q *rpc.StorageQuery) (*rpc.StoragePage, bool, error) {
	page, _, err := s.Chain.StoragePage(ctx, q)
	if page != nil {
		page.Entries = []state.StorageChange{{Key: "k", Value: make([]byte, 2<<20)}}
	}
	s.asked.Add(1)
	return page, err == nil, err
}

// TestSlowReadersOfExports: twice as many networks as there are slots for exports ask for one
// and read nothing. The slots are free again as soon as the pages are made.
func TestSlowReadersOfExports(t *testing.T) {
	cfg := publicConfig()
	cfg.WriteTimeout = patience
	source := stored{rpctest.New(), new(atomic.Int64)}
	w := newTown(t, cfg, source)
	path := "/account/0x" + strings.Repeat("22", 20) + "/storage"
	for i := range 2 * cfg.ExportsMax {
		begin := source.asked.Load()
		for end := time.Now().Add(patience); source.asked.Load() == begin; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("slow reader %d gets no export", i+1)
			}
			c := w.dial(fmt.Sprintf("127.0.5.%d", 1+i))
			_ = c.(*net.TCPConn).SetReadBuffer(4096)
			_, _ = io.WriteString(c, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n")
		}
	}
	w.until(200, honest, "GET", path, "")
}
