package query

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// TestLogsInPages holds pages of every size, in both directions, to the list of all
// events: each once, in order, with pages cut anywhere, also within a receipt.
func TestLogsInPages(t *testing.T) {
	one, two := chain.Address{1: 1}, chain.Address{1: 2}
	opts := store.DefaultOptions()
	opts.FS = vfs.NewMem()
	db, err := store.Open("data", opts)
	holds(t, err)
	defer db.Close()
	holds(t, db.Init(store.GenesisRecord{Hash: chain.Hash{9}, Delta: state.NewDelta()}))
	blocks := make([][]string, 201) // the names of one's events
	for h := chain.Height(1); h <= 200; h++ {
		v, err := db.Head().Apply(nil)
		holds(t, err)
		rec := store.BlockRecord{Height: h, Digest: keccak.Sum256([]byte(fmt.Sprint(h)))}
		slots := map[chain.Address][]int{}
		for slot := range int(h) % 4 {
			r := chain.Receipt{TxHash: keccak.Sum256([]byte(fmt.Sprint(h, slot))), Status: chain.StatusSucceeded}
			for i := range slot + 1 {
				who := one
				if (int(h)+i)%3 == 0 {
					who = two
				}
				name := fmt.Sprintf("%d.%d.%d", h, slot, i)
				r.Events = append(r.Events, chain.Event{Emitter: who, Name: name})
				if who == one {
					blocks[h] = append(blocks[h], name)
				}
				if at := slots[who]; len(at) == 0 || at[len(at)-1] != slot {
					slots[who] = append(at, slot)
				}
			}
			rec.Receipts, rec.ReceiptIDs = append(rec.Receipts, r.Encode()), append(rec.ReceiptIDs, r.TxHash)
		}
		for _, who := range []chain.Address{one, two} {
			if slots[who] != nil {
				rec.Emitters = append(rec.Emitters, store.Emitter{Address: who, Slots: slots[who]})
			}
		}
		holds(t, db.Commit(v, rec))
	}
	s := &Source{cfg: Config{Blocks: db}}
	for _, oldest := range []bool{false, true} {
		for _, size := range []int{1, 2, 3, 7, 1000} {
			for _, bytes := range []int{1, 1 << 20} {
				q := rpc.LogQuery{Emitter: one, From: 5, To: 190, OldestFirst: oldest, Events: size, BytesMax: bytes}
				var want []string
				for i := range 186 {
					h := 190 - i
					if oldest {
						h = 5 + i
					}
					want = append(want, blocks[h]...)
				}
				var got []string
				for pages := 0; pages == 0 || q.After != nil; pages++ {
					page, err := s.Logs(t.Context(), &q)
					holds(t, err)
					if len(page.Logs) > size || page.Next != nil && len(page.Logs) == 0 {
						t.Fatalf("a page of %d events, next %v", len(page.Logs), page.Next)
					}
					for _, l := range page.Logs {
						if l.Event.Name != l.LogPlace.String() || l.BlockHash != keccak.Sum256([]byte(fmt.Sprint(l.Height))) {
							t.Fatalf("event %s at %s", l.Event.Name, l.LogPlace)
						}
						got = append(got, l.Event.Name)
					}
					q.After = page.Next
				}
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("oldest first %v, pages of %d events and %d bytes: %d events, want %d", oldest, size, bytes, len(got), len(want))
				}
			}
		}
	}
	none, err := s.Logs(t.Context(), &rpc.LogQuery{Emitter: chain.Address{5}, To: 200, Events: 1})
	if err != nil || len(none.Logs) != 0 || none.Next != nil {
		t.Errorf("of nobody: %+v, %v", none, err)
	}
}
