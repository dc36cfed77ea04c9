package chain

import (
	"fmt"
	"testing"
)

// BenchmarkDecodeTx measures the hot path of ingress and of block
// verification: a signed transfer, and one with a large payload.
func BenchmarkDecodeTx(b *testing.B) {
	for _, payload := range []int{0, 4096} {
		tx := publicTx()
		tx.Payload = make([]byte, payload)
		tx.Signature = &TxSignature{R: Hash{1}, S: Hash{2}}
		body := tx.Encode()
		b.Run(fmt.Sprintf("payload=%d", payload), func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := DecodeTx(body); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkEncodeTx measures the client's side of the same.
func BenchmarkEncodeTx(b *testing.B) {
	tx := publicTx()
	tx.Signature = &TxSignature{R: Hash{1}, S: Hash{2}}
	b.ReportAllocs()
	for b.Loop() {
		tx.Encode()
	}
}
