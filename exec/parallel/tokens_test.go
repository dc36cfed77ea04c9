package parallel_test

import (
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/token"
)

// instruct does something with tokens: often with few of them, so that they meet.
func (w *world) instruct(from chain.Address) *chain.VerifiedTx {
	to, other := chain.AddrTokens, w.anyone()
	tx := &chain.Tx{
		Nonce: w.nonces[from], To: &to, CyclesLimit: 23_000 + chain.Cycles(w.rng.IntN(100_000)), CellsLimit: chain.Cells(150 + w.rng.IntN(1000)),
	}
	w.nonces[from]++
	if len(w.tokens) == 0 || w.rng.IntN(8) == 0 {
		var hooks *chain.Address
		if w.rng.IntN(4) == 0 {
			hooks = &other
		}
		n := uint64(0)
		for _, id := range w.tokens { // as many as this account has made, if all of them succeeded
			for i := range uint64(len(w.tokens)) {
				if id == token.NewID(from, "T", i) {
					n++
				}
			}
		}
		w.tokens, w.makers = append(w.tokens, token.NewID(from, "T", n)), append(w.makers, from)
		b := cbor.AppendText(cbor.AppendUint(cbor.AppendArray(nil, 7), chain.OpTokenCreate), "Token")
		b = cbor.AppendUint(cbor.AppendUint(cbor.AppendText(b, "T"), 0), 1000)
		tx.Payload = token.AppendAddress(cbor.AppendNull(b), hooks)
		tx.CyclesLimit, tx.CellsLimit = tx.CyclesLimit+100_000, tx.CellsLimit+4000
		return verified(tx, from)
	}
	id := w.tokens[w.rng.IntN(len(w.tokens))]
	if own := slices.Index(w.makers, from); own >= 0 && w.rng.IntN(3) > 0 {
		id = w.tokens[own] // of which it has some
	}
	begin := func(n int, opcode uint64) []byte {
		return cbor.AppendBytes(cbor.AppendUint(cbor.AppendArray(nil, n), opcode), id[:])
	}
	amount := w.rng.Uint64N(300)
	switch w.rng.IntN(6) {
	case 0:
		tx.Payload = cbor.AppendUint(begin(3, chain.OpTokenBurn), amount)
	case 1:
		tx.Payload = cbor.AppendBytes(begin(3, chain.OpTokenFreeze+w.rng.Uint64N(2)), other[:])
	case 2:
		third := w.anyone()
		b := cbor.AppendBytes(cbor.AppendBytes(begin(5, chain.OpTokenTransferFrom), other[:]), third[:])
		tx.Payload = cbor.AppendUint(b, amount)
	default:
		opcode := [...]uint64{chain.OpTokenTransfer, chain.OpTokenTransfer, chain.OpTokenApprove, chain.OpTokenMint}[w.rng.IntN(4)]
		tx.Payload = cbor.AppendUint(cbor.AppendBytes(begin(4, opcode), other[:]), amount)
	}
	return verified(tx, from)
}
