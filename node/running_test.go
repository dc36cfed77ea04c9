package node

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/node/release"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// running is a devnet inside the test process.
type running struct {
	*Node
	url  string
	stop func() error
}

// run opens and starts a devnet on free ports and stops it with the test.
func run(t *testing.T, dataDir string, opts setup.DevnetOptions) *running {
	t.Helper()
	genesis, err := setup.PrepareDevnet(dataDir, opts)
	if err != nil {
		t.Fatal(err)
	}
	cfg := DefaultConfig()
	cfg.DataDir, cfg.Devnet, cfg.Version, cfg.RPCPerSec = dataDir, true, release.Version, 0
	cfg.RPCAddr, cfg.AdminAddr = "127.0.0.1:0", "127.0.0.1:0"
	n, err := Open(cfg, genesis, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Listen(); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- n.Run(ctx) }()
	stopped := false
	r := &running{Node: n, url: "http://" + n.RPCAddr()}
	r.stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		return errors.Join(<-done, n.Close())
	}
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Errorf("stop: %v", err)
		}
	})
	return r
}

func (r *running) get(t *testing.T, path string, into any) int {
	t.Helper()
	res, err := http.Get(r.url + path)
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, res, into)
}

func (r *running) post(t *testing.T, path string, body []byte, into any) int {
	t.Helper()
	res, err := http.Post(r.url+path, "application/octet-stream", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, res, into)
}

func (r *running) postJSON(t *testing.T, path, body string, into any) int {
	t.Helper()
	res, err := http.Post(r.url+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return decode(t, res, into)
}

func decode(t *testing.T, res *http.Response, into any) int {
	t.Helper()
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatalf("%s: %v: %s", res.Request.URL, err, raw)
	}
	return res.StatusCode
}

// pay signs a transfer of one base unit.
func pay(g *genesis.Genesis, from setup.DevAccount, nonce uint64, to chain.Address) *chain.Tx {
	tx := &chain.Tx{
		ChainID: g.ChainID, Nonce: nonce, To: &to, Value: 1,
		CyclesLimit: 21_000, MaxFeePerCycle: 100, MaxFeePerCell: 100, TipPerCycle: 1,
	}
	sign(tx, from)
	return tx
}

func sign(tx *chain.Tx, from setup.DevAccount) {
	sig := from.Key.Sign(tx.SigningHash())
	tx.Signature = &chain.TxSignature{YParity: sig.YParity, R: sig.R, S: sig.S}
}

func isThere(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
