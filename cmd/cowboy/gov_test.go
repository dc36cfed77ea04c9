package main

import (
	"encoding/hex"
	"strconv"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// TestGovernanceLive changes what a transfer costs on a running devnet, then
// restarts it (resolution 11.11).
func TestGovernanceLive(t *testing.T) {
	dir := t.TempDir()
	options := node.DevnetOptions{BlockTime: 25 * time.Millisecond}
	url, stop := startNode(t, dir, options)
	l := liveAt(t, t.TempDir(), url)
	secret := chain.DevelopmentKey("governor-1")
	governor := []string{"--private-key", hex.EncodeToString(secret[:])}
	const address = "0x9d03804ea40e1865b54795d367f006ce843aba3e"
	transfer := func() uint64 {
		t.Helper()
		var r rpc.ReceiptReply
		l.do(&r, "transfer", "--to", address, "--amount", "1", "--wait")
		if r.Status != "success" {
			t.Fatalf("transfer: %+v", r)
		}
		return uint64(r.CyclesUsed)
	}
	status := func() (g rpc.GovernanceReply) {
		t.Helper()
		l.do(&g, "gov", "status")
		return g
	}
	if used := transfer(); used != 21_000 {
		t.Fatalf("a transfer costs %d", used)
	}
	var r rpc.ReceiptReply
	l.do(&r, append([]string{"gov", "propose", "set", "intrinsic_costs.transfer_cycles=23456", "min_base_fee=\"2\"", "initial_base_fee={\"per_cycle\":\"2\",\"per_cell\":\"2\"}", "--wait"}, governor...)...)
	g := status()
	if r.Status != "success" || len(g.Proposals) != 1 || g.Proposals[0].Ready == 0 || len(g.Settings) != 0 {
		t.Fatalf("after the proposal: %+v, %+v", r, g.Proposals)
	}
	if code, _, _ := l.run(append([]string{"gov", "propose", "set", "base_fee_alpha=0"}, governor...)...); code != exitFailed {
		t.Errorf("a value out of range: exit %d", code)
	}
	if code, _, _ := l.run("gov", "propose", "set", "machine={}"); code != exitUsage {
		t.Errorf("a fixed parameter: exit %d", code)
	}
	for g.Height+1 < g.Proposals[0].Ready { // the timelock of a devnet is a block
		g = status()
	}
	l.do(&r, append([]string{"gov", "execute", g.Proposals[0].ID.String(), "--wait"}, governor...)...)
	if g = status(); r.Status != "success" || g.Proposals[0].Done == 0 || len(g.Settings) != 3 {
		t.Fatalf("after execution: %+v, %+v", r, g)
	}
	check := func() {
		t.Helper()
		var cycles uint64
		l.do(&cycles, "gov", "status", "--param", "intrinsic_costs.transfer_cycles")
		if used := transfer(); cycles != 23_456 || used != cycles {
			t.Errorf("in force: %d, a transfer costs %d", cycles, used)
		}
		var fee rpc.BaseFeeReply
		l.do(&fee, "query", "basefee")
		if fee.Cycle < 2 {
			t.Errorf("base fee %d below the new floor", fee.Cycle)
		}
	}
	check()
	before := status().Height
	stop()
	url, stop = startNode(t, dir, options)
	defer stop()
	l.env["COWBOY_RPC_URL"] = url
	check()
	if g := status(); g.Height < before || g.Proposals[0].Done == 0 {
		t.Errorf("after the restart: height %d, was %d: %s", g.Height, before, strconv.Quote(g.Proposals[0].Action))
	}
}
