package bench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
)

// TestMixFiles holds the committed mixes to what they are called.
func TestMixFiles(t *testing.T) {
	files, err := filepath.Glob("../profiles/workload/*.json")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d mixes, %v", len(files), err)
	}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m, err := ReadMix(strings.NewReader(string(raw)))
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if want := strings.TrimSuffix(filepath.Base(file), ".json"); m.Name != want || m.About == "" {
			t.Errorf("%s calls itself %q: %q", file, m.Name, m.About)
		}
	}
}

func TestMixRefusals(t *testing.T) {
	f := func(want, text string) {
		t.Helper()
		if _, err := ReadMix(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	f("0 kinds", `{}`)
	f("unknown field", `{"kind":[]}`)
	f("more than one document", `{"kinds":[{"kind":"transfer","percent":100}]}{}`)
	f("add up to 99", `{"kinds":[{"kind":"transfer","percent":99}]}`)
	f("percent = 0", `{"kinds":[{"kind":"transfer","percent":100},{"kind":"heartbeat"}]}`)
	f(`"deploy"`, `{"kinds":[{"kind":"deploy","percent":100}]}`)
	f("only jobs have", `{"kinds":[{"kind":"transfer","percent":100,"committee":1}]}`)
	f("only jobs have", `{"kinds":[{"kind":"heartbeat","percent":100,"result_bytes":1}]}`)
	f("committee = 2", `{"kinds":[{"kind":"market","percent":100,"committee":2,"result_bytes":100}],"runners":9}`)
	f("committee = 17", `{"kinds":[{"kind":"market","percent":100,"committee":17,"result_bytes":100}],"runners":90}`)
	f("result_bytes = 15", `{"kinds":[{"kind":"market","percent":100,"committee":1,"result_bytes":15}],"runners":9}`)
	f("result_bytes = 21846", `{"kinds":[{"kind":"market","percent":100,"committee":3,"result_bytes":21846}],"runners":9}`)
	f("may not wait", `{"kinds":[{"kind":"market","percent":100,"committee":1,"result_bytes":100,"may_wait":true}],"runners":9}`)
	f("runners = 2", `{"kinds":[{"kind":"market","percent":100,"committee":3,"result_bytes":100}],"runners":2}`)
	f("runners = 1001", `{"kinds":[{"kind":"market","percent":100,"committee":3,"result_bytes":100}],"runners":1001}`)
	f("no kind is market", `{"kinds":[{"kind":"transfer","percent":100}],"runners":2}`)
	f("2 kinds are market", `{"kinds":[{"kind":"market","percent":50,"committee":1,"result_bytes":100},{"kind":"market","percent":50,"committee":1,"result_bytes":100}],"runners":2}`)
	f("with 5 each", `{"kinds":[{"kind":"transfer","percent":100}],"timers":{"actors":1,"each":5}}`)
	f("EOF", ``)
}

// TestMixSharesAndLanes: kinds come in their shares, each from accounts of its
// own, what one account alone may send over one connection; and every transaction
// is what the chain takes for its lane.
func TestMixSharesAndLanes(t *testing.T) {
	cfg := DefaultLoadConfig()
	cfg.Accounts, cfg.Connections, cfg.Batch = 20, 4, 5
	cfg.Mix = Mix{Kinds: []Kind{
		{Kind: KindTransfer, Percent: 40},
		{Kind: KindHeartbeat, Percent: 30},
		{Kind: KindMarket, Percent: 20, Committee: 3, ResultBytes: 512},
		{Kind: KindGovernance, Percent: 10},
	}, Runners: 3}
	accounts, err := accountsOf(&cfg)
	if err != nil {
		t.Fatal(err)
	}
	terms := testPrices()
	pl, err := newPlan(accounts, 400, &cfg, terms)
	if err != nil {
		t.Fatal(err)
	}
	if err := pl.sign(terms); err != nil {
		t.Fatal(err)
	}
	params := genesis.DevnetTemplate().Params
	count := make([]int, len(cfg.Mix.Kinds))
	for conn, stream := range pl.streams {
		for _, i := range stream {
			k := pl.kind(i)
			count[k]++
			tx := decodeWire(t, pl.txs[i].wire)
			lane := cfg.Mix.Kinds[k].lane()
			if _, err := fees.CheckStatic(&chain.VerifiedTx{Tx: tx, Body: tx.Encode(), Lane: lane}, &params, 1); err != nil {
				t.Fatalf("%s: %v", cfg.Mix.Kinds[k].Kind, err)
			}
			if cfg.Mix.Kinds[k].Kind == KindGovernance && conn != 0 {
				t.Fatalf("the governor sends over connection %d", conn)
			}
		}
	}
	for k, n := range count {
		if want := 2000 * cfg.Mix.Kinds[k].Percent / 100; n < want-8 || n > want+8 {
			t.Errorf("kind %d: %d of 2000 transactions, want %d", k, n, want)
		}
	}
	cfg.Connections = 11
	if _, err := newPlan(accounts, 400, &cfg, terms); err == nil {
		t.Error("a tenth of the load over one of eleven connections")
	}
}

// TestMixOfGovernanceAlone: all of it comes from one account.
func TestMixOfGovernanceAlone(t *testing.T) {
	cfg := DefaultLoadConfig()
	cfg.Connections, cfg.Accounts, cfg.Batch = 1, 1, 2
	cfg.Mix = Mix{Kinds: []Kind{{Kind: KindGovernance, Percent: 100}}}
	accounts, err := accountsOf(&cfg)
	if err != nil || len(accounts) != 1 {
		t.Fatal(len(accounts), err)
	}
	if pl, err := newPlan(accounts, 10, &cfg, testPrices()); err != nil || len(pl.streams[0]) != 20 {
		t.Error(err)
	}
}

// TestWaitingIsNotLost: what a kind offers beyond blocks may stay behind.
func TestWaitingIsNotLost(t *testing.T) {
	t.Parallel()
	n := newFakeNode(t)
	n.lose = func(i int) bool { return i%100 == 50 }
	cfg := n.quickLoad()
	cfg.Mix.Kinds[0].MayWait, cfg.Drain = true, 3*time.Second
	r := n.run(cfg)
	if r.Verdict != VerdictPass || r.Waiting < 3 || r.Lost != 0 || r.Finalized+r.Waiting != 300 || len(r.Kinds) != 1 || r.Kinds[0].Accepted != 300 || r.Kinds[0].Blocks.Count != r.Finalized || r.Kinds[0].Blocks.P50 < 1 {
		t.Errorf("%s (%s): %+v", r.Verdict, r.Reason, r)
	}
}
