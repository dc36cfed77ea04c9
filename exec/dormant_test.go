package exec_test

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/rent"
	"github.com/cowboy-foundation/cowboy/state"
)

// Storage that was evicted holds, until its root is compared, what somebody who
// restores it has put there: bytes of anybody's choice under keys that no program
// can write. Nobody reads them, and nobody stumbles over them.

const visitor = `
from cowboy_sdk import actor, public, blob_commit, blob_get, storage, get_actor

@actor
class Visitor:
    @public
    def get(self, msg):
        return blob_get(msg.payload)

    @public
    def commit(self, msg):
        return blob_commit(msg.payload)

    @public
    def plant(self, msg):
        a, entries, hash = msg.payload
        storage.restore(a, entries)
        return blob_get(hash)

    @public
    def size(self, msg):
        return get_actor(msg.payload)["storage_bytes"]
`

// asleep is a ranch with an evicted actor that had committed one blob, and a
// visitor that asks for it.
func asleep(t *testing.T) (r *ranch, visitorAt chain.Address, data, hash []byte) {
	t.Helper()
	r = newRanch(t, func(p *params.Params) { p.Rent.PricePerByteYear = 1_000_000_000_000_000 })
	const size = 20_000
	keep := r.deployProgram(keeper, 0, cbor.AppendUint(nil, size), "storage.blob")
	visitorAt = r.deployProgram(visitor, 10_000_000_000*1_000, nil, "econ.hold_balance", "econ.transfer", "storage.blob", "storage.kv")
	r.actor = keep
	r.until(rent.Dormant)
	data = bytes.Repeat([]byte("x"), size)
	return r, visitorAt, data, actor.Multihash(data)
}

func blobRow(hash []byte) state.StorageKey {
	return state.NewStorageKey(state.VMNamespacePVM, []byte("__blob:"+hex.EncodeToString(hash)))
}

func (r *ranch) ask(to chain.Address, handler string, arg []byte) chain.Receipt {
	r.t.Helper()
	tx := r.program(bob, &to, actor.AppendMessage(nil, handler, arg)).Tx
	tx.CellsLimit = 300_000
	return r.one(verified(tx, bob))
}

// TestBlobOfADormantActor has somebody who restores an evicted storage put rows of
// his own under the name of a blob that the actor had: no other actor gets them, no
// block ends in a fault, and who commits the blob meanwhile keeps its place.
func TestBlobOfADormantActor(t *testing.T) {
	null := "\xf6"
	for _, row := range []struct {
		rule  string
		value []byte
	}{
		{"forged content", cbor.AppendBytes(nil, []byte("forged"))},
		{"text", cbor.AppendText(nil, "forged")},
		{"no CBOR", []byte{0xff, 0xff}},
		{"a string that ends early", []byte{0x5a, 0, 1, 0, 0, 1}},
		{"nothing", []byte{}},
	} {
		t.Run(row.rule, func(t *testing.T) {
			r, at, data, hash := asleep(t)
			if got := r.ask(at, "get", cbor.AppendBytes(nil, hash)); got.Code != chain.CodeOK || string(got.Output) != null {
				t.Fatalf("evicted: %s %.40x", chain.CodeName(got.Code), got.Output)
			}
			deadline := cbor.AppendUint(nil, uint64(r.height)+50)
			for _, tx := range []func() *chain.VerifiedTx{
				func() *chain.VerifiedTx { return r.rentTx(bob, chain.OpRestoreBegin, deadline) },
				func() *chain.VerifiedTx {
					return r.rentTx(bob, chain.OpRestorePut, chunkOf([]state.StorageChange{{Key: blobRow(hash), Value: row.value}}))
				},
			} {
				if got := r.one(tx()); got.Code != chain.CodeOK {
					t.Fatalf("restoration: %s", chain.CodeName(got.Code))
				}
			}
			if got := r.ask(at, "get", cbor.AppendBytes(nil, hash)); got.Code != chain.CodeOK || string(got.Output) != null {
				t.Errorf("while it is restored: %s %.40x", chain.CodeName(got.Code), got.Output)
			}
			if got := r.ask(at, "size", cbor.AppendBytes(nil, r.actor[:])); got.Code != chain.CodeOK || string(got.Output) != "\x00" {
				t.Errorf("size while it is restored: %s %x", chain.CodeName(got.Code), got.Output)
			}
			want := cbor.AppendBytes(nil, data)
			if got := r.ask(at, "commit", want); got.Code != chain.CodeOK {
				t.Fatalf("commit: %s", chain.CodeName(got.Code))
			}
			other := actor.Deployment{Source: []byte(visitor), Salt: []byte{7}, Manifest: manifest.Manifest("storage.blob")}
			if got := r.one(r.program(bob, nil, actor.AppendPayload(nil, &other))); got.Code != chain.CodeOK {
				t.Fatalf("deploy: %s", chain.CodeName(got.Code))
			}
			if got := r.ask(actor.AddressOf(bob, other.Salt, other.Source), "get", cbor.AppendBytes(nil, hash)); got.Code != chain.CodeOK || !bytes.Equal(got.Output, want) {
				t.Errorf("by a third actor, after another commit: %s %.40x", chain.CodeName(got.Code), got.Output)
			}
		})
	}
}

// TestBlobPlantedInOneTransaction is the same by one message.
func TestBlobPlantedInOneTransaction(t *testing.T) {
	for _, value := range [][]byte{cbor.AppendText(nil, "text"), cbor.AppendBytes(nil, []byte("forged"))} {
		r, at, _, hash := asleep(t)
		cost := r.restoreCost()
		to := chain.AddrActors
		fund := r.program(alice, &to, cbor.AppendBytes(cbor.AppendUint(cbor.AppendArray(nil, 2), chain.OpActorFund), at[:])).Tx
		fund.Value = 10*cost + 1_000_000*chain.WeiPerCBY
		if got := r.one(verified(fund, alice)); got.Code != chain.CodeOK {
			t.Fatalf("fund: %s", chain.CodeName(got.Code))
		}
		arg := cbor.AppendBytes(cbor.AppendArray(nil, 3), r.actor[:])
		arg = append(cbor.AppendText(cbor.AppendMap(arg, 1), "__blob:"+hex.EncodeToString(hash)), value...)
		if got := r.ask(at, "plant", cbor.AppendBytes(arg, hash)); got.Code != chain.CodeOK || string(got.Output) != "\xf6" {
			t.Errorf("planted %x: %s %x", value, chain.CodeName(got.Code), got.Output)
		}
		r.next() // drops what was put
		if got := r.ask(at, "get", cbor.AppendBytes(nil, hash)); got.Code != chain.CodeOK || string(got.Output) != "\xf6" {
			t.Errorf("after the comparison: %s %x", chain.CodeName(got.Code), got.Output)
		}
	}
}

func (r *ranch) restoreCost() chain.Wei {
	r.t.Helper()
	cost, err := (&rent.Block{State: state.NewOverlay(r.ground), Params: &r.g.Params, Height: r.height + 1}).RestoreCost(r.actor)
	if err != nil {
		r.t.Fatal(err)
	}
	return cost
}
