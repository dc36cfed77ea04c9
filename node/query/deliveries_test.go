package query

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/lanes/sigverify"
	"github.com/cowboy-foundation/cowboy/node/light"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// TestReceiptsOfDeliveries: a receipt that belongs to no transaction is found by
// the id of its delivery, in the block that was read back from the disk too, and
// nobody takes it for a transaction.
func TestReceiptsOfDeliveries(t *testing.T) {
	db, err := store.Open(t.TempDir(), store.DefaultOptions())
	holds(t, err)
	defer db.Close()
	holds(t, db.Init(store.GenesisRecord{Hash: chain.Hash{0x9e}, Delta: state.NewDelta()}))
	version, err := db.Head().Apply(nil)
	holds(t, err)
	receipts := []chain.Receipt{
		{TxHash: chain.Hash{1}, Status: chain.StatusSucceeded},
		{TxHash: chain.Hash{2}, Code: chain.CodeDormant},
	}
	rec := store.BlockRecord{Height: 1, Digest: chain.Hash{0xb1}, Block: (&chain.Block{Header: chain.Header{Version: chain.HeaderVersion, Height: 1}}).Encode()}
	for i := range receipts {
		rec.Receipts, rec.ReceiptIDs = append(rec.Receipts, receipts[i].Encode()), append(rec.ReceiptIDs, receipts[i].TxHash)
	}
	holds(t, db.Commit(version, rec))

	signatures, err := sigverify.New(sigverify.DefaultConfig(1), nil)
	holds(t, err)
	s := newSource(Config{ChainID: 7, Blocks: db, Admission: signatures, Faucet: faucetKey(t)})
	ctx := context.Background()
	committing(t, s, receipts[0].TxHash)
	for i := range receipts {
		found, ok, err := s.Receipt(ctx, receipts[i].TxHash)
		if err != nil || !ok || found.Slot != i || found.Height != 1 || found.Receipt.Code != receipts[i].Code {
			t.Errorf("receipt %d: %+v, %v, %v", i, found, ok, err)
		}
		if tx, ok, err := s.Transaction(ctx, receipts[i].TxHash); ok || err != nil {
			t.Errorf("a transaction of the id of delivery %d: %+v, %v", i, tx, err)
		}
		q := &light.Query{Kind: light.KindTransaction, TxHash: receipts[i].TxHash}
		if d, ok, err := s.Prove(ctx, q); ok || err != nil {
			t.Errorf("a proof that delivery %d is a transaction: %+v, %v", i, d, err)
		}
	}
	block, ok, err := s.BlockByHeight(ctx, 1)
	if err != nil || !ok || len(block.Deliveries) != len(receipts) || block.Deliveries[1] != receipts[1].TxHash {
		t.Errorf("block %+v, %v, %v", block, ok, err)
	}
}

// committing holds that a block which the store has, but which is not the head yet,
// tells nobody of its receipts: their effects cannot be read.
func committing(t *testing.T, s *Source, hash chain.Hash) {
	t.Helper()
	s.head = func() chain.Height { return 0 }
	over, cancel := context.WithCancel(t.Context())
	cancel()
	if _, ok, err := s.Receipt(over, hash); ok || err != nil {
		t.Errorf("a receipt above the head: %v, %v", ok, err)
	}
	if err := s.Wait(over, []chain.Hash{hash}); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting for it ended with %v", err)
	}
	s.head = func() chain.Height { return 1 }
	if err := s.Wait(over, []chain.Hash{hash}); err != nil {
		t.Errorf("at the head: %v", err)
	}
}

func holds(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func faucetKey(t testing.TB) *secp256k1.PrivateKey {
	t.Helper()
	key, err := secp256k1.ParsePrivateKey(bytes.Repeat([]byte{1}, 32))
	holds(t, err)
	return key
}
