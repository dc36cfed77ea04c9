package rpc

import (
	"bytes"
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// TestRunnerTxsReadOnlyTheOpcode: the guard of a runner's path looks at target, opcode
// and sender; the pipeline has read the arguments, which may be many.
func TestRunnerTxsReadOnlyTheOpcode(t *testing.T) {
	me, registry, verifier := chain.Address{1}, chain.AddrRunnerRegistry, chain.AddrResultVerifier
	only := &runnerTxs{sender: me, to: verifier, opcodes: []uint64{chain.OpResultCommit}}
	payload := func(to chain.Address, opcode uint64) []byte {
		for _, row := range chain.InstructionTable() {
			if row.To == to && row.Opcode == opcode {
				return append(cbor.AppendUint(cbor.AppendArray(nil, 1+len(row.Args)), opcode), bytes.Repeat([]byte{0xff}, len(row.Args))...)
			}
		}
		t.Fatalf("no instruction %d at %s", opcode, to)
		return nil
	}
	for _, tt := range []struct {
		sender chain.Address
		to     chain.Address
		opcode uint64
		want   error
	}{
		{me, verifier, chain.OpResultCommit, nil},
		{chain.Address{2}, verifier, chain.OpResultCommit, ErrOtherSender},
		{chain.Address{2}, registry, chain.OpRunnerHeartbeat, ErrOtherInstruction},
		{me, registry, chain.OpRunnerHeartbeat, ErrOtherInstruction},
		{me, verifier, chain.OpResultReveal, ErrOtherInstruction},
	} {
		tx := &chain.VerifiedTx{Sender: tt.sender, Tx: &chain.Tx{To: &tt.to, Payload: payload(tt.to, tt.opcode)}}
		if err := only.pass(tx); !errors.Is(err, tt.want) {
			t.Errorf("instruction %d at %s of %s: %v, want %v", tt.opcode, tt.to, tt.sender, err, tt.want)
		}
	}
	if err := only.pass(&chain.VerifiedTx{Sender: me, Tx: &chain.Tx{To: &registry}}); !errors.Is(err, ErrOtherInstruction) {
		t.Errorf("no payload: %v", err)
	}
}
