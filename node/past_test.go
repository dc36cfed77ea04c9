package node

import (
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/light"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/setup"
	"github.com/cowboy-foundation/cowboy/state"
)

// TestStateOfThePast reads accounts, storage and code at every height since
// genesis and compares the balance with what was sent before each.
func TestStateOfThePast(t *testing.T) {
	r := run(t, t.TempDir(), setup.DevnetOptions{BlockTime: 20 * time.Millisecond})
	c := r.client(t)
	from, to := setup.DevAccounts()[0], chain.Address{0xab, 1}
	var after []chain.Height // of the block with payment i
	for nonce := range uint64(3) {
		var reply rpc.SubmitWaitReply
		r.post(t, "/submit_wait?timeout_ms=10000", pay(r.genesis, from, nonce, to).AppendWire(nil), &reply)
		after = append(after, chain.Height(reply.Results[0].Receipt.BlockHeight))
	}
	owner, slot := storedSlot(t, r.genesis)
	seen := map[string]bool{}
	for h := range after[2] + 1 {
		paid := chain.Wei(0)
		for _, at := range after {
			if at <= h {
				paid++
			}
		}
		a, err := c.AccountAt(t.Context(), to, h)
		if paid == 0 && !client.IsCode(err, rpc.CodeUnknownAccount) || paid > 0 && (err != nil || a.Balance != paid || a.Height != uint64(h)) {
			t.Errorf("at %d: %+v, %v, want %d paid", h, a, err, paid)
		}
		v, err := c.StorageAt(t.Context(), owner, slot, &h)
		if err != nil || !v.Exists || v.Height != uint64(h) {
			t.Fatalf("storage at %d: %+v, %v", h, v, err)
		}
		seen[v.Value] = true
		code, err := c.CodeAt(t.Context(), owner, &h)
		if err != nil || code.Code != "0x" || code.CodeHash != state.EmptyCodeHash.String() {
			t.Fatalf("code at %d: %+v, %v", h, code, err)
		}
	}
	if len(seen) < 2 {
		t.Error("the supply never changed, or old values are those of the head")
	}
	future := after[2] + 1_000_000
	if _, err := c.AccountAt(t.Context(), to, future); !client.IsCode(err, rpc.CodeUnknownBlock) {
		t.Errorf("the future: %v", err)
	}
	now, err := c.StorageAt(t.Context(), owner, slot, nil)
	if err != nil || now.Height < uint64(after[2]) || !now.Exists {
		t.Errorf("now: %+v, %v", now, err)
	}
}

// TestStorageExport takes a whole storage from an untrusted node, and notices
// entries that were left out, added or changed.
func TestStorageExport(t *testing.T) {
	r := run(t, t.TempDir(), setup.DevnetOptions{BlockTime: 20 * time.Millisecond})
	c, v := r.client(t), r.verifier(t)
	waitForHeight(t, r, 2)
	owner, slot := storedSlot(t, r.genesis)
	all, err := c.Export(t.Context(), v, owner)
	if err != nil || len(all.Entries) == 0 {
		t.Fatalf("export: %+v, %v", all, err)
	}
	found := false
	for _, e := range all.Entries {
		found = found || e.Key == slot
	}
	if !found {
		t.Errorf("the export lacks %x", string(slot))
	}
	account := &all.Shown.Accounts[0]
	for what, entries := range map[string][]state.StorageChange{
		"an entry left out": all.Entries[1:],
		"an entry added":    append([]state.StorageChange{{Key: "\x01more", Value: []byte{1}}}, all.Entries...),
		"an entry changed":  append([]state.StorageChange{{Key: all.Entries[0].Key, Value: []byte{1}}}, all.Entries[1:]...),
	} {
		if light.CheckStorage(account, entries) == nil {
			t.Errorf("%s was not noticed", what)
		}
	}
	if empty, err := c.Export(t.Context(), v, setup.DevAccounts()[1].Address); err != nil || len(empty.Entries) != 0 {
		t.Errorf("account without storage: %+v, %v", empty, err)
	}
	if _, err := c.Export(t.Context(), v, chain.Address{1, 2, 3}); !client.IsCode(err, rpc.CodeUnknownAccount) {
		t.Errorf("nobody's storage: %v", err)
	}
	var moved rpc.ErrorReply
	if code := r.get(t, "/account/"+owner.String()+"/storage?root="+state.EmptyRoot.String(), &moved); code != 409 || moved.Code != rpc.CodeStorageMoved {
		t.Errorf("another root answers %d, %+v", code, moved)
	}
}

func waitForHeight(t *testing.T, r *running, h chain.Height) {
	t.Helper()
	for end := time.Now().Add(time.Minute); r.answers.Height() < h; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("no block %d in a minute", h)
		}
	}
}
