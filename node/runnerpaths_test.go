package node

import (
	"net/http"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// TestRunnerPathsOfANode: what a runner sends at its own paths comes into a block; what another
// sends there, and what does not belong there, is refused and is in no pool.
func TestRunnerPathsOfANode(t *testing.T) { // resolution 12.76
	r := run(t, t.TempDir(), setup.DevnetOptions{BlockTime: 50 * time.Millisecond})
	me, other := setup.DevAccounts()[1], setup.DevAccounts()[2]
	tx := func(by setup.DevAccount, nonce uint64, to chain.Address, value chain.Wei, payload []byte) *chain.Tx {
		tx := pay(r.genesis, by, nonce, to)
		tx.Value, tx.Payload, tx.CyclesLimit, tx.CellsLimit = value, payload, 800_000, 30_000
		sign(tx, by)
		return tx
	}
	registry, verifier := chain.AddrRunnerRegistry, chain.AddrResultVerifier
	path := "/runner/" + me.Address.String()
	beat := []byte{0x81, byte(chain.OpRunnerHeartbeat)}
	var refused rpc.ErrorReply
	if code := r.post(t, path+"/heartbeat", tx(me, 0, registry, 0, beat).AppendWire(nil), &refused); code != http.StatusNotFound || refused.Code != rpc.CodeUnknownRunner {
		t.Errorf("the path of nobody: %d %+v", code, refused)
	}
	if code := r.get(t, path+"/jobs", &refused); code != http.StatusNotFound || refused.Code != rpc.CodeUnknownRunner {
		t.Errorf("the jobs of nobody: %d %+v", code, refused)
	}
	stake := r.genesis.Params.Runner.StakeFloor
	var done rpc.SubmitWaitReply
	for _, by := range []setup.DevAccount{me, other} {
		register := tx(by, 0, registry, stake, chain.EncodeRequest(&chain.RunnerRegister{Capabilities: chain.Capabilities{JobTypes: []chain.JobKind{chain.JobHTTP}, MaxConcurrentJobs: 1}}))
		r.post(t, "/submit_wait", register.AppendWire(nil), &done)
		if got := done.Results[0].Receipt; got == nil || got.Status != "success" {
			t.Fatalf("registration: %+v", done.Results[0])
		}
	}
	commit := chain.EncodeRequest(&chain.ResultCommit{JobID: chain.Hash{1}})
	for name, test := range map[string]struct {
		path string
		tx   *chain.Tx
		want rpc.Code
	}{
		"another's heartbeat":            {"/heartbeat", tx(other, 1, registry, 0, beat), rpc.CodeTxSender},
		"a commitment as heartbeat":      {"/heartbeat", tx(me, 1, verifier, 0, commit), rpc.CodeTxInstruction},
		"a heartbeat as result":          {"/job_result", tx(me, 1, registry, 0, beat), rpc.CodeTxInstruction},
		"another's commitment":           {"/job_result_commit", tx(other, 1, verifier, 0, commit), rpc.CodeTxSender},
		"a commitment without a seat":    {"/job_result_commit", tx(me, 1, verifier, 0, commit), rpc.CodeTxNotAllowed},
		"a transfer of the runner's own": {"/job_result_payload", tx(me, 1, other.Address, 1, nil), rpc.CodeTxInstruction},
	} {
		var reply rpc.SubmitReply
		code := r.post(t, path+test.path, test.tx.AppendWire(nil), &reply)
		if code != http.StatusOK || len(reply.Results) != 1 || reply.Results[0].Code != test.want || reply.Results[0].Accepted {
			t.Errorf("%s: %d %+v, want %d", name, code, reply.Results, test.want)
			continue
		}
		if code := r.get(t, "/mempool/transaction/"+reply.Results[0].Hash, &refused); code != http.StatusNotFound {
			t.Errorf("%s is in the pool: %d", name, code)
		}
	}
	var reply rpc.SubmitReply
	if code := r.post(t, path+"/heartbeat", tx(me, 1, registry, 0, beat).AppendWire(nil), &reply); code != http.StatusOK || !reply.Results[0].Accepted {
		t.Fatalf("a heartbeat: %d %+v", code, reply.Results)
	}
	r.post(t, "/submit_wait", tx(me, 1, registry, 0, beat).AppendWire(nil), &done) // the same: known
	if got := done.Results[0]; got.Code != rpc.CodeTxKnown || got.Receipt == nil || got.Receipt.Status != "success" {
		t.Errorf("the heartbeat: %+v", got)
	}
	var owes rpc.RunnerJobsReply
	if code := r.get(t, path+"/jobs", &owes); code != http.StatusOK || len(owes.Jobs) != 0 || owes.Height == 0 {
		t.Errorf("what it owes: %d %+v", code, owes)
	}
	var listed rpc.JobsReply
	if code := r.get(t, "/jobs?runner="+me.Address.String(), &listed); code != http.StatusOK || len(listed.Jobs) != 0 || listed.Since != 1 {
		t.Errorf("its jobs: %d %+v", code, listed)
	}
}
