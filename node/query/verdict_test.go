package query

import (
	"errors"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/lanes"
	"github.com/cowboy-foundation/cowboy/lanes/sigverify"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// TestFaultIsNoVerdict: what this node cannot read is not the sender's mistake,
// and its text stays in the log.
func TestFaultIsNoVerdict(t *testing.T) {
	fault := &lanes.ReadError{Address: chain.Address{1}, Err: errors.New("/data/store/000012.sst: checksum mismatch")}
	v := verdictOf(&sigverify.Verdict{Hash: chain.Hash{2}, Err: fault})
	if v.Code != rpc.CodeInternal || v.Hash != (chain.Hash{2}) {
		t.Errorf("verdict on an unreadable account: %+v", v)
	}
	if strings.Contains(v.Message, "store") {
		t.Errorf("the message names files: %q", v.Message)
	}
}

// TestForeignSenderIsNotAllowed: who is no validator is told that, and not that
// its bytes are malformed (resolution 11.13).
func TestForeignSenderIsNotAllowed(t *testing.T) {
	err := fees.CheckRole(chain.Instruction{InstructionSpec: chain.InstructionSpec{Sender: chain.SenderValidator}}, chain.Address{1}, fees.Roles{})
	if v := verdictOf(&sigverify.Verdict{Hash: chain.Hash{2}, Err: err}); v.Code != rpc.CodeTxNotAllowed {
		t.Errorf("verdict %+v, want code %d", v, rpc.CodeTxNotAllowed)
	}
}
