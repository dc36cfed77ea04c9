package node

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// TestNodeWaitsForItsClock runs a validator of a chain that is no development chain on
// a clock that is an hour slow at its second start: it makes no block, says so in its
// health and its metrics, and goes on in the right time once the clock is set.
func TestNodeWaitsForItsClock(t *testing.T) {
	top := t.TempDir()
	g, err := setup.Deal(top, setup.DealOptions{Validators: 1, Seal: datadir.Sealing{Passphrase: says("pass"), Cost: quickCost}, DevnetOptions: setup.DevnetOptions{GenesisFile: "../profiles/genesis/mainnet-params.json", BlockTime: 20 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	if g.Devnet {
		t.Fatal("the test needs a chain that matters")
	}
	dir := datadir.DealtFolder(top, 0)
	var slow atomic.Int64 // by which the clock is behind
	start := func() (n *Node, stop func()) {
		cfg := DefaultConfig()
		cfg.DataDir, cfg.RPCAddr, cfg.AdminAddr, cfg.Passphrase = dir, "127.0.0.1:0", "127.0.0.1:0", says("pass")
		host := Host{Now: func() time.Time { return time.Now().Add(-time.Duration(slow.Load())) }}
		n, err := OpenOn(host, cfg, g, slog.New(slog.DiscardHandler))
		if err != nil {
			t.Fatal(err)
		}
		if err := n.Listen(); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- n.Run(ctx) }()
		return n, func() {
			cancel()
			if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			if err := n.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	until := func(what string, is func() bool) {
		t.Helper()
		for end := time.Now().Add(time.Minute); !is(); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal("waited for " + what)
			}
		}
	}
	ready := func(n *Node) (status int, reply rpc.HealthReply) {
		t.Helper()
		resp, err := http.Get("http://" + n.RPCAddr() + "/health/ready")
		if err != nil {
			return 0, reply
		}
		defer resp.Body.Close()
		raw, err := io.ReadAll(resp.Body)
		if err == nil {
			err = json.Unmarshal(raw, &reply)
		}
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, reply
	}
	n, stop := start()
	until("blocks", func() bool { return n.ledger.Head().Height() > 2 })
	stop()

	slow.Store(int64(time.Hour))
	n, stop = start()
	defer func() { stop() }()
	var said rpc.HealthReply
	until("the reason", func() bool {
		status, reply := ready(n)
		said = reply
		return status == http.StatusServiceUnavailable && len(reply.Reasons) > 0 && strings.Contains(reply.Reasons[0], "clock is behind the chain")
	})
	if said.Ready || said.Status != "degraded" || !strings.Contains(said.Reasons[0], "chrony") {
		t.Errorf("health %+v", said)
	}
	until("a turn that waits", func() bool { return n.ledger.Stats.ClockWaits.Load() > 0 })
	until("the alarm", func() bool { on, _ := n.alarms.stateOf(alarmClock); return on })
	stood := n.ledger.Head().Height()
	if wait := n.ledger.ClockBehind(); wait < 59*time.Minute {
		t.Errorf("waits for %v", wait)
	}
	time.Sleep(100 * time.Millisecond) // five block times
	if got := n.ledger.Head().Height(); got != stood {
		t.Errorf("block %d was made by a slow clock", got)
	}

	slow.Store(0)
	until("blocks once the clock is set", func() bool { return n.ledger.Head().Height() > stood+2 })
	head := time.UnixMilli(int64(n.ledger.Head().Block.Header.TimestampMillis))
	if off := time.Until(head); off > time.Second {
		t.Errorf("chain time is %v ahead of the truth", off)
	}
	until("health", func() bool { status, _ := ready(n); return status == http.StatusOK })
}
