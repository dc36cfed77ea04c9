package actor

import (
	"bytes"
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/state"
)

// TestBlobsArePaidBeforeTheyAreHashed: the bytes of a row are paid for before its hash is
// compared, whether it is the blob or not: who may not go on hashes nothing. A call that ran
// out behind the hash had 64 KiB hashed for the price of a row, 85 to 110 ns a cycle.
func TestBlobsArePaidBeforeTheyAreHashed(t *testing.T) {
	self, data := chain.Address{7}, bytes.Repeat([]byte("x"), 64<<10)
	hash := Multihash(data)
	outOfCycles := errors.New("out of cycles")
	for _, row := range []struct {
		name   string
		stored []byte
		paid   int
		found  bool
	}{
		{"the blob", cbor.AppendBytes(nil, data), len(data), true},
		{"other bytes", cbor.AppendBytes(nil, data[1:]), len(data) - 1, false},
		{"no bytes", cbor.AppendText(nil, "x"), 0, false},
		{"nothing", nil, 0, false},
	} {
		o := state.NewOverlay(state.Empty{})
		account := state.NewAccount()
		account.CodeHash = chain.Hash{1}
		o.SetAccount(self, account)
		if row.stored != nil {
			o.SetStorage(self, blobKey(hash), row.stored)
		}
		f := &frame{run: &Run{state: o}}
		paid := 0
		got, found, err := f.blobOf(self, hash, func(bytes int) { paid += bytes })
		if err != nil || found != row.found || paid != row.paid || found && !bytes.Equal(got, data) {
			t.Errorf("%s: found %v, %v, for %d bytes, want %v for %d", row.name, found, err, paid, row.found, row.paid)
		}
		if row.paid == 0 {
			continue
		}
		func() {
			defer func() {
				if recover() != outOfCycles {
					t.Errorf("%s: it went on though nobody pays", row.name)
				}
			}()
			_, _, _ = f.blobOf(self, hash, func(int) { panic(outOfCycles) })
			t.Errorf("%s: it was read though nobody pays", row.name)
		}()
	}
}
