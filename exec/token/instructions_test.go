package token

import (
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/service"
)

// FuzzTokenArgs reads payloads that the table of instructions lets through: what
// it reads has the sizes that the ledger and the prices count on.
func FuzzTokenArgs(f *testing.F) {
	id, a := make([]byte, 32), make([]byte, 20)
	add := func(opcode uint64, args ...[]byte) {
		b := cbor.AppendUint(cbor.AppendArray(nil, 1+len(args)), opcode)
		for _, arg := range args {
			b = append(b, arg...)
		}
		f.Add(b)
	}
	tid, addr, one, null := cbor.AppendBytes(nil, id), cbor.AppendBytes(nil, a), []byte{1}, []byte{0xf6}
	add(chain.OpTokenCreate, cbor.AppendText(nil, "n"), cbor.AppendText(nil, "s"), one, one, null, addr)
	add(chain.OpTokenTransfer, tid, addr, append([]byte{0x49, 1}, make([]byte, 8)...))
	add(chain.OpTokenTransferFrom, tid, addr, addr, one)
	add(chain.OpTokenBurn, tid, one)
	add(chain.OpTokenUnfreeze, tid, addr)
	add(chain.OpTokenOwner, tid, null)
	add(chain.OpTokenBatch, tid, append(append([]byte{0x81, 0x82}, addr...), 1))
	f.Fuzz(func(t *testing.T, payload []byte) {
		to := chain.AddrTokens
		tx := &chain.VerifiedTx{Tx: &chain.Tx{To: &to, Payload: payload}}
		ins, err := tx.Tx.Classify()
		if err != nil || ins.Kind != chain.KindSystem {
			return
		}
		params := params.Default()
		table := Instructions().Instructions
		at := slices.IndexFunc(table, func(row service.Instruction) bool { return row.Opcode == ins.Opcode })
		if at < 0 {
			t.Fatalf("%s is not in the table", ins.Name)
		}
		r := cbor.NewReader(payload)
		r.Array(len(payload))
		r.Uint()
		read, err := table[at].Read(&r)
		if err != nil {
			return
		}
		args := read.(*args)
		if len(args.payments) > 256 || len(args.made.Name) > 64 || len(args.made.Symbol) > 16 {
			t.Errorf("%d payments, name %q", len(args.payments), args.made.Name)
		}
		if price := table[at].Price(&params, args).Cycles; price < 500 || price > 500+256*500 {
			t.Errorf("%s costs %d cycles", ins.Name, price)
		}
	})
}
