package store

import (
	"bytes"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

// FuzzSplitIDs: what is read of any bytes makes them up again, and there are no more
// senders than receipts.
func FuzzSplitIDs(f *testing.F) {
	f.Add([]byte{}, uint8(0))
	f.Add(make([]byte, 2*hashLen+senderLen), uint8(2))
	f.Add(make([]byte, 5*hashLen), uint8(0))
	f.Fuzz(func(t *testing.T, part []byte, n uint8) {
		ids, senders, ok := splitIDs(part, int(n))
		if !ok {
			return
		}
		rec := BlockRecord{ReceiptIDs: ids, Senders: senders}
		if again := rec.parts()[partIDs]; !bytes.Equal(again, part) || len(ids) != int(n) || len(senders) > len(ids) {
			t.Errorf("%d ids and %d senders of %d receipts in %x", len(ids), len(senders), n, part)
		}
	})
}

// TestIDsOfOlderReleases: a record without senders is read as before.
func TestIDsOfOlderReleases(t *testing.T) {
	rec := BlockRecord{ReceiptIDs: []chain.Hash{{1}, {2}, {3}}}
	ids, senders, ok := splitIDs(rec.parts()[partIDs], 3)
	if !ok || len(ids) != 3 || ids[2] != (chain.Hash{3}) || senders != nil {
		t.Errorf("%v, %v, %v", ids, senders, ok)
	}
	for _, bad := range []int{0, 1, 3*hashLen - 1, 3*hashLen + 1, 3*(hashLen+senderLen) + senderLen} {
		if _, _, ok := splitIDs(make([]byte, bad), 3); ok {
			t.Errorf("%d bytes are taken for the ids of 3 receipts", bad)
		}
	}
}
