package ledger

import (
	"bytes"
	"io"
	"log/slog"
	"math/bits"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// meteredFS counts what is read of the files of blocks.
type meteredFS struct {
	vfs.FS
	read *atomic.Int64
}

func (m meteredFS) Open(name string, opts ...vfs.OpenOption) (vfs.File, error) {
	f, err := m.FS.Open(name, opts...)
	if err != nil || !strings.Contains(name, "blocks") {
		return f, err
	}
	return meteredFile{f, m.read}, nil
}

type meteredFile struct {
	vfs.File
	read *atomic.Int64
}

func (f meteredFile) ReadAt(b []byte, at int64) (int, error) {
	f.read.Add(int64(len(b)))
	return f.File.ReadAt(b, at)
}

// TestRequestReadsLittleMoreThanItGets: a request of ten bytes names any view there is, and
// any there is not. What is read of the disk for it is what it gets, a certificate for
// each halving, and an entry of the index for each block: no receipts, which are many
// times as large here, and nothing of a block that would not fit.
func TestRequestReadsLittleMoreThanItGets(t *testing.T) {
	const (
		blocks, blockBytes, receiptBytes = 700, 8 << 10, 64 << 10
		limit, bytesMax                  = 64, 100 << 10
		large                            = 500 // the height of a block that is larger than an answer
	)
	f := newFixture(t)
	set, err := beacon.NewValidatorSet(epoch.First(f.genesis))
	if err != nil {
		t.Fatal(err)
	}
	var read atomic.Int64
	opts := store.DefaultOptions()
	opts.FS = meteredFS{vfs.NewMem(), &read}
	s, err := store.Open("data", opts)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Init(store.GenesisRecord{Hash: f.genesis.Hash(), Delta: state.NewDelta()}); err != nil {
		t.Fatal(err)
	}
	viewOf := func(h chain.Height) chain.View { return chain.View(3 * h) }
	proposal := func(h chain.Height) simplex.Proposal {
		return simplex.Proposal{Round: beacon.Round{View: viewOf(h)}, Parent: viewOf(h - 1), Payload: chain.Hash{byte(h), byte(h >> 8), 1}}
	}
	receipts := [][]byte{make([]byte, receiptBytes/2), make([]byte, receiptBytes/2)}
	sample := f.certify(set, simplex.Finalize, proposal(1)) // nobody checks signatures here
	certificate := func(k simplex.Kind, h chain.Height) []byte {
		c := sample
		c.Kind, c.Proposal = k, proposal(h)
		return simplex.AppendCertificate(nil, c)
	}
	size := func(h chain.Height) int {
		if h == large {
			return 2 * bytesMax
		}
		return blockBytes
	}
	for h := chain.Height(1); h <= blocks; h++ {
		v, err := s.Head().Apply(nil)
		if err != nil {
			t.Fatal(err)
		}
		stored := certificate(simplex.Finalize, h)
		if h%5 == 0 { // its child made it final
			stored = append(certificate(simplex.Finalize, h+1), certificate(simplex.Notarize, h)...)
		}
		rec := store.BlockRecord{
			Height: h, Digest: proposal(h).Payload, Block: bytes.Repeat([]byte{byte(h)}, size(h)), Receipts: receipts,
			ReceiptIDs: []chain.Hash{{byte(h), 1, byte(h >> 8)}, {byte(h), 2, byte(h >> 8)}}, Certificate: stored,
		}
		if err := s.Commit(v, rec); err != nil {
			t.Fatal(err)
		}
	}
	l := &Ledger{cfg: Config{Store: s, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}}
	l.head.Store(&Executed{Block: &chain.Block{Header: chain.Header{Height: blocks}}})
	const certificateBytes = 2*(1+simplex.CertificateBytesMax) + 24
	search := (bits.Len(blocks) + 1) * certificateBytes
	worst, answers := 0, 0
	for v := chain.View(0); v <= viewOf(blocks)+10; v++ {
		read.Store(0)
		found, err := l.Final(t.Context(), v, limit, bytesMax)
		if err != nil {
			t.Fatalf("view %d: %v", v, err)
		}
		got := 0
		first := chain.Height(v+2) / 3
		first = max(first, 1)
		for i, b := range found {
			h := first + chain.Height(i)
			if len(b.Block) != size(h) || b.Block[0] != byte(h) {
				t.Fatalf("view %d: block %d is of %d bytes", v, h, len(b.Block))
			}
			got += len(b.Block) + certificateBytes
		}
		if want := first <= blocks; want != (len(found) > 0) {
			t.Fatalf("view %d: %d blocks", v, len(found))
		}
		if got > bytesMax+certificateBytes && len(found) > 1 {
			t.Errorf("view %d: %d blocks of %d bytes, want at most %d", v, len(found), got, bytesMax)
		}
		if most := search + got + certificateBytes; int(read.Load()) > most {
			t.Errorf("view %d: %d bytes were read for %d blocks, want at most %d", v, read.Load(), len(found), most)
		}
		worst, answers = max(worst, int(read.Load())-got), answers+len(found)
	}
	if answers == 0 {
		t.Fatal("no blocks at all")
	}
	t.Logf("at most %d bytes were read beside the blocks of an answer; one record has %d", worst, blockBytes+receiptBytes)
}
