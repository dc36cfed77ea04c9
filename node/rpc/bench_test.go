package rpc_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"testing"

	"github.com/cowboy-foundation/cowboy/node/rpc/rpctest"
)

// BenchmarkBlock answers GET /block for blocks that were not asked for lately,
// so that each is encoded.
func BenchmarkBlock(b *testing.B) {
	for _, txs := range []int{0, 200} {
		b.Run(fmt.Sprintf("txs=%d", txs), func(b *testing.B) {
			source := rpctest.New()
			key := testKey(b, 1)
			source.Fund(key.PublicKey().Address(), 1<<60)
			const blocks = 16 // more than the server remembers
			for n := range blocks {
				for i := range txs {
					if _, err := source.Submit(context.Background(), [][]byte{transfer(b, key, uint64(n*txs+i)).Encode()}, nil); err != nil {
						b.Fatal(err)
					}
				}
				source.Finalize()
			}
			s := newServer(b, testConfig(), source)
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				w := httptest.NewRecorder()
				s.ServeHTTP(w, httptest.NewRequest("GET", fmt.Sprintf("/block/%d", n%blocks+1), nil))
				b.SetBytes(int64(w.Body.Len()))
				n++
			}
		})
	}
}
