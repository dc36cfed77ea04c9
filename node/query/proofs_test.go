package query

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/node/light"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// lastCertified is what is stored of a chain of large blocks, whose last certificate is that
// of all of them.
type lastCertified struct {
	Blocks
	records []store.BlockRecord // from height 1 on
	read    int
	onRead  func()
}

// newLastCertified is a chain of n blocks of a few kilobytes.
func newLastCertified(n int) *lastCertified {
	c := &lastCertified{onRead: func() {}}
	for h := range n {
		block := &chain.Block{
			Header: chain.Header{
				Version: chain.HeaderVersion, Height: chain.Height(h + 1),
				PresenceInput: chain.NewPresentSet(0).Encode(), ConsumedSeeds: chain.EncodeConsumedSeeds(nil),
			},
			Txs: [][]byte{bytes.Repeat([]byte{1}, 3_000), bytes.Repeat([]byte{2}, 5_000)},
		}
		c.records = append(c.records, store.BlockRecord{
			Height: block.Header.Height, Digest: block.Header.Digest(), Block: block.Encode(),
			Receipts: [][]byte{bytes.Repeat([]byte{3}, 500), bytes.Repeat([]byte{4}, 700), {5}},
		})
	}
	return c
}

func (c *lastCertified) BlockByHeight(h chain.Height) (store.BlockRecord, bool, error) {
	c.read++
	c.onRead()
	if h == 0 || int(h) > len(c.records) {
		return store.BlockRecord{}, false, nil
	}
	return c.records[h-1], true, nil
}

func (c *lastCertified) BlockSize(h chain.Height) (int, bool, error) {
	if h == 0 || int(h) > len(c.records) {
		return 0, false, nil
	}
	return len(c.records[h-1].Block) + bytesOf(c.records[h-1].Receipts), true, nil
}

func (c *lastCertified) BlockBytes(h chain.Height) (chain.Hash, []byte, bool, error) {
	rec, ok, err := c.BlockByHeight(h)
	return rec.Digest, rec.Block, ok, err
}

func (c *lastCertified) HeightByDigest(digest chain.Hash) (chain.Height, bool, error) {
	for i := range c.records {
		if c.records[i].Digest == digest {
			return c.records[i].Height, true, nil
		}
	}
	return 0, false, nil
}

func (c *lastCertified) Certificate(chain.Height) ([]byte, bool, error) {
	last := simplex.Certificate{Kind: simplex.Finalize, Proposal: simplex.Proposal{Round: beacon.Round{View: 1}, Payload: c.records[len(c.records)-1].Digest}}
	return simplex.AppendCertificate(nil, last), true, nil
}

func (c *lastCertified) ReceiptLocation(hash chain.Hash) (chain.Height, int, bool, error) {
	return chain.Height(hash[0]), int(hash[1]), true, nil
}

func (c *lastCertified) source(t *testing.T) *Source {
	last := c.records[len(c.records)-1]
	head := &ledger.Executed{Block: &chain.Block{Header: chain.Header{Height: last.Height}}, Digest: last.Digest}
	return newSource(Config{Faucet: faucetKey(t), Chain: standing{head}, Blocks: c, Admission: &lateAdmission{}})
}

// TestProofsArePaidByTheBytes: who asks for a proof pays for what is read and hashed for it,
// the blocks that lead to the certificate among it.
func TestProofsArePaidByTheBytes(t *testing.T) {
	const blocks = 20
	c := newLastCertified(blocks)
	s := c.source(t)
	header := 64 + len(c.records[0].Block)/8
	receipts := 500 + 700 + 1
	for _, tt := range []struct {
		name string
		q    light.Query
		ok   bool
		want int
	}{
		{"the last header", light.Query{Kind: light.KindHeader, Height: blocks}, true, header},
		{"a header five before", light.Query{Kind: light.KindHeader, Height: blocks - 5}, true, 6 * header},
		{"the first header", light.Query{Kind: light.KindHeader, Height: 1}, true, blocks * header},
		{"no header", light.Query{Kind: light.KindHeader, Height: blocks + 1}, false, 0},
		{"a transaction", light.Query{Kind: light.KindTransaction, TxHash: chain.Hash{blocks, 1}}, true, header + receipts/8 + 8_000},
		{"a receipt", light.Query{Kind: light.KindReceipt, TxHash: chain.Hash{blocks, 2}}, true, header + receipts/8 + receipts},
		{"a delivery is no transaction", light.Query{Kind: light.KindTransaction, TxHash: chain.Hash{blocks, 2}}, false, header + receipts/8},
	} {
		ctx := asked(t.Context())
		d, ok, err := s.Prove(ctx, &tt.q)
		if err != nil || ok != tt.ok || ok != (d != nil) {
			t.Errorf("%s: found %v, %v, want %v", tt.name, ok, err, tt.ok)
		}
		if got := rpc.Billed(ctx); got < tt.want-1 || got > tt.want+1 { // two parts are rounded, or their sum
			t.Errorf("%s: %d bytes are billed, want %d", tt.name, got, tt.want)
		}
	}
}

// paidReceipts has a receipt of which it says how large it is, and hands it out to who pays.
type paidReceipts struct {
	Blocks
	bytes  int
	billed func() int
	read   int // what was billed when the receipt was read; 0: it was not
}

func (p *paidReceipts) ReceiptLocation(chain.Hash) (chain.Height, int, bool, error) {
	return 1, 0, true, nil
}

func (p *paidReceipts) BlockDigest(chain.Height) (chain.Hash, bool, error) {
	return chain.Hash{1}, true, nil
}

func (p *paidReceipts) Receipt(_ chain.Height, _ int, pay func(int) error) ([]byte, bool, error) {
	if err := pay(p.bytes); err != nil {
		return nil, false, err
	}
	p.read = p.billed()
	r := chain.Receipt{TxHash: chain.Hash{2}, Status: chain.StatusSucceeded}
	return chain.EncodeReceipts([]chain.Receipt{r})[0], true, nil
}

// TestReceiptsAreBilledBeforeTheyAreRead: by their size.
func TestReceiptsAreBilledBeforeTheyAreRead(t *testing.T) {
	c := newLastCertified(3)
	ctx := asked(t.Context())
	p := &paidReceipts{Blocks: c, bytes: 300_000, billed: func() int { return rpc.Billed(ctx) }}
	s := c.source(t)
	s.cfg.Blocks = p
	if _, ok, err := s.Receipt(ctx, chain.Hash{2}); !ok || err != nil || p.read != 64+p.bytes {
		t.Errorf("read when %d bytes were billed, want %d: %v, %v", p.read, 64+p.bytes, ok, err)
	}
}

// TestBlocksAreBilledBeforeTheyAreRead: with all that is stored in one place, of which the
// reader has back what is not read for it.
func TestBlocksAreBilledBeforeTheyAreRead(t *testing.T) {
	c := newLastCertified(3)
	s := c.source(t)
	all, _, _ := c.BlockSize(2)
	var ctx context.Context
	c.onRead = func() {
		if got := rpc.Billed(ctx); got < partOfBlock(all) {
			t.Errorf("a block is read when %d bytes are billed, want %d", got, partOfBlock(all))
		}
	}
	ctx = asked(t.Context())
	line, ok, err := s.HeaderByHeight(ctx, 2)
	if err != nil || !ok || rpc.Billed(ctx) != partOfBlock(line.SizeBytes) || line.SizeBytes >= all {
		t.Errorf("a line of a list: %v, %v, %d bytes are billed", ok, err, rpc.Billed(ctx))
	}
	for _, kind := range []light.Kind{light.KindTransaction, light.KindReceipt} {
		ctx = asked(t.Context())
		if _, ok, err := s.Prove(ctx, &light.Query{Kind: kind, TxHash: chain.Hash{2, 1}}); err != nil || !ok {
			t.Errorf("%s: %v, %v", kind, ok, err)
		}
	}
	ctx = asked(t.Context())
	if _, _, err := s.Prove(ctx, &light.Query{Kind: light.KindHeader, Height: 1}); err != nil {
		t.Error(err)
	}
}

// TestProofsEndWithTheirReader: nothing more is read for who has left.
func TestProofsEndWithTheirReader(t *testing.T) {
	c := newLastCertified(50)
	s := c.source(t)
	ctx, leave := context.WithCancel(asked(t.Context()))
	defer leave()
	c.onRead = func() {
		if c.read == 10 {
			leave()
		}
	}
	if _, ok, err := s.Prove(ctx, &light.Query{Kind: light.KindHeader, Height: 1}); ok || !errors.Is(err, context.Canceled) || c.read != 10 {
		t.Errorf("a header: %v, %v behind %d reads", ok, err, c.read)
	}
	if _, ok, err := s.Prove(ctx, &light.Query{Kind: light.KindTransaction, TxHash: chain.Hash{50, 1}}); ok || !errors.Is(err, context.Canceled) {
		t.Errorf("a transaction: %v, %v", ok, err)
	}
}

// TestGently: what it calls may fail or panic, and the caller hears of either.
func TestGently(t *testing.T) {
	broken := errors.New("broken")
	if err := gently(func() error { return broken }); !errors.Is(err, broken) {
		t.Errorf("%v, want %v", err, broken)
	}
	if err := gently(func() error { panic("a defect") }); !errors.As(err, new(*exec.Fault)) {
		t.Errorf("%v, want a fault", err)
	}
	done := false
	if err := gently(func() error { done = true; return nil }); err != nil || !done {
		t.Errorf("done %v, %v", done, err)
	}
}
