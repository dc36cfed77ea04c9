package store

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/state"
)

// openBench opens an empty chain on a real disk.
func openBench(b *testing.B) *Store {
	s, err := Open(b.TempDir(), DefaultOptions())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	if err := s.Init(GenesisRecord{Hash: testGenesis}); err != nil {
		b.Fatal(err)
	}
	return s
}

// BenchmarkBlock applies and commits blocks of 10,000 changed accounts, half of
// them new, on a real disk; ns/op is for one changed account.
func BenchmarkBlock(b *testing.B) {
	const perBlock = 10_000
	s := openBench(b)
	rng, known := rand.New(rand.NewPCG(1, 1)), uint64(1)
	block := func() *state.Delta {
		d := state.NewDelta()
		for i := range perBlock {
			n := rng.Uint64N(known)
			if i%2 == 0 {
				n, known = known, known+1
			}
			var addr chain.Address
			binary.BigEndian.PutUint64(addr[:], n)
			d.SetAccount(addr, state.Account{Nonce: 1, Balance: chain.Wei(rng.Uint64())})
		}
		return d
	}
	commit := func() {
		v, err := s.Head().Apply(block())
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Commit(v, testRecord(v.Height(), 0)); err != nil {
			b.Fatal(err)
		}
	}
	for range 10 {
		commit()
	}
	b.ResetTimer()
	for done := 0; done < b.N; done += perBlock {
		commit()
	}
	b.ReportMetric(float64(s.DiskBytes())/(1<<20), "MiB")
	b.Logf("%d accounts", known)
}

// BenchmarkIndex commits blocks of 10,000 transactions on a real disk, whose index by hash
// is nearly all that they write.
func BenchmarkIndex(b *testing.B) {
	const n = 10_000
	s := openBench(b)
	k := uint64(0)
	for b.Loop() {
		d := state.NewDelta()
		d.SetAccount(chain.Address{1}, state.Account{Nonce: k + 1})
		v, err := s.Head().Apply(d)
		if err != nil {
			b.Fatal(err)
		}
		rec := testRecord(v.Height(), 0)
		rec.Receipts, rec.ReceiptIDs = nil, nil
		for range n {
			k++
			var x [8]byte
			binary.BigEndian.PutUint64(x[:], k)
			rec.ReceiptIDs = append(rec.ReceiptIDs, chain.Hash(keccak.Sum256(x[:])))
			rec.Receipts = append(rec.Receipts, x[:])
		}
		if err := s.Commit(v, rec); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/tx")
}
