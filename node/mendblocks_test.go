package node

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/node/porttest"
	"github.com/cowboy-foundation/cowboy/node/repair"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// committee is four validators in this process.
type committee struct {
	genesis *chain.Genesis
	nodes   [4]*Node
}

func newCommittee(t *testing.T, host func(i int) Host) *committee {
	t.Helper()
	dir := t.TempDir()
	g, err := Deal(dir, DealOptions{Validators: 4, DevnetOptions: DevnetOptions{BlockTime: 50 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	c := &committee{genesis: g}
	ports := porttest.UDP(t, 4)
	var peers []PeerAddress
	for i, v := range g.Validators {
		peers = append(peers, PeerAddress{v.PeerKey, ports[i]})
	}
	for i := range c.nodes {
		if err := WritePeers(DealtFolder(dir, i), peers); err != nil {
			t.Fatal(err)
		}
		cfg := DefaultConfig()
		cfg.DataDir, cfg.P2PAddr, cfg.RPCAddr, cfg.AdminAddr = DealtFolder(dir, i), ports[i], "127.0.0.1:0", "127.0.0.1:0"
		cfg.FreeBytesFloor, cfg.Devnet, cfg.RPCPerSec = 0, true, 0
		n, err := OpenOn(host(i), cfg, g, slog.New(slog.NewTextHandler(io.Discard, nil)))
		if err == nil {
			err = n.Listen()
		}
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- n.Run(ctx) }()
		t.Cleanup(func() {
			cancel()
			if err := errors.Join(<-done, n.Close()); err != nil {
				t.Errorf("validator %d: %v", i, err)
			}
		})
		c.nodes[i] = n
	}
	return c
}

func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !done(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("not in a minute: %s", what)
		}
	}
}

// liar gives out another block's parts for the one that is asked for, or its receipts in
// another order.
type liar struct {
	*store.Store
	asked atomic.Int64
}

func (l *liar) BlockParts(h chain.Height, digest chain.Hash, first, end uint32, bytesMax int) ([][]byte, bool, error) {
	if l.asked.Add(1); first == 0 {
		h++
		digest, _, _ = l.BlockDigest(h)
	}
	parts, ok, err := l.Store.BlockParts(h, digest, first, end, bytesMax)
	if len(parts) > 1 {
		parts[0], parts[len(parts)-1] = parts[len(parts)-1], parts[0]
	}
	return parts, ok, err
}

// TestDamagedBlockIsFetched damages blocks of one validator of four while it runs, one
// after the other and in every part. Each comes back from the others, one of which lies,
// to the byte, and is shown and served again; the alarm ends.
func TestDamagedBlockIsFetched(t *testing.T) {
	lies := &liar{}
	c := newCommittee(t, func(i int) (h Host) {
		h.repair = func(cfg *repair.Config, serve *repair.ServerConfig) {
			cfg.RetryMin, cfg.LiarFor, cfg.RequestTimeout = 50*time.Millisecond, 0, time.Second
			cfg.BytesPerSecond = 64 << 20
			if i == 1 {
				lies.Store = serve.Records.(*store.Store)
				serve.Records = lies
			}
		}
		return h
	})
	hurt, whole := c.nodes[0], c.nodes[2]
	var batch []byte
	for nonce := range uint64(3) {
		batch = pay(c.genesis, DevAccounts()[0], nonce, chain.Address{0xab}).AppendWire(batch)
	}
	res, err := http.Post("http://"+hurt.RPCAddr()+"/submit_wait?timeout_ms=10000", "application/octet-stream", bytes.NewReader(batch))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(res.Body)
	var sent rpc.SubmitWaitReply
	if err = errors.Join(err, res.Body.Close(), json.Unmarshal(raw, &sent)); err != nil || len(sent.Results) == 0 || sent.Results[0].Receipt == nil {
		t.Fatalf("%v: %s", err, raw)
	}
	h := chain.Height(sent.Results[0].Receipt.BlockHeight)
	eventually(t, "all have the next block", func() bool {
		for _, n := range c.nodes {
			if n.ledger.Head().Height() < h+2 {
				return false
			}
		}
		return true
	})
	rec, _, err := hurt.store.BlockByHeight(h)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(filepath.Join(hurt.cfg.DataDir, storeFolder, "blocks", "000001.blocks"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	now, err := os.ReadFile(file.Name())
	if err != nil {
		t.Fatal(err)
	}
	body := bytes.Index(now, rec.Block)
	from := body - 12*(3+len(rec.Receipts)) - 32
	last := rec.Receipts[len(rec.Receipts)-1]
	end := body + bytes.Index(now[body:], last) + len(last)
	good := bytes.Clone(now[from:end])
	flip := func(at int) func([]byte) { return func(b []byte) { b[at-from] ^= 1 } }
	for name, spoil := range map[string]func(record []byte){
		"head":        flip(from + 3),
		"salt":        flip(from + 9),
		"entries":     flip(from + 32 + 5),
		"block":       flip(body + len(rec.Block)/2),
		"certificate": flip(body + len(rec.Block) + 60),
		"ids":         flip(body + len(rec.Block) + len(rec.Certificate) + 3),
		"receipt":     flip(end - 5),
		"all of it":   func(b []byte) { clear(b) },
		"its end":     func(b []byte) { clear(b[len(b)/2:]) },
	} {
		mended := hurt.mending.client.Stats.Mended.Load()
		bad := bytes.Clone(good)
		spoil(bad)
		if _, err := file.WriteAt(bad, int64(from)); err != nil {
			t.Fatal(err)
		}
		hurt.scrub.look(h)
		if on, _ := hurt.alarms.of(alarmBlocks); !on && hurt.mending.client.Stats.Mended.Load() == mended {
			t.Fatalf("%s: not noticed", name)
		}
		eventually(t, name+" is mended", func() bool { return hurt.mending.client.Stats.Mended.Load() == mended+1 && hurt.scrub.count() == 0 })
		if on, _ := hurt.alarms.of(alarmBlocks); on {
			t.Errorf("%s: the alarm stays", name)
		}
		got := make([]byte, len(good))
		if _, err := file.ReadAt(got, int64(from)); err != nil {
			t.Fatal(err)
		}
		again, _, err := hurt.store.BlockByHeight(h)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(again.Certificate, rec.Certificate) { // a descendant's, of several
			if err := ledger.CheckCertificates(hurt.set, hurt.store, again, rand.Reader); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			again.Certificate = rec.Certificate
		} else if !bytes.Equal(got, good) {
			t.Errorf("%s: the record is not what it was", name)
		}
		if !reflect.DeepEqual(again, rec) {
			t.Errorf("%s: the block is not what it was", name)
		}
	}
	theirs, err := whole.ledger.Final(t.Context(), sentView(t, whole, h), 1, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	ours, err := hurt.ledger.Final(t.Context(), sentView(t, hurt, h), 1, 1<<20)
	if err != nil || len(ours) != 1 || !bytes.Equal(ours[0].Block, theirs[0].Block) || !bytes.Equal(ours[0].Own, theirs[0].Own) && len(ours[0].Own) != len(theirs[0].Own) {
		t.Errorf("the block is served otherwise than by others (%v)", err)
	}
	stats := &hurt.mending.client.Stats
	if stats.Failed(repair.ReasonBlock)+stats.Failed(repair.ReasonReceipts)+stats.Failed(repair.ReasonCertificate)+stats.Failed(repair.ReasonAnswer) == 0 && lies.asked.Load() > 0 {
		t.Error("nobody counted the lies")
	}
	for i, n := range c.nodes {
		for _, p := range n.mesh.transport.Peers() {
			if p.Violations != 0 {
				t.Errorf("validator %d counts %d violations of validator %d", i, p.Violations, p.ID)
			}
		}
	}
	t.Logf("%d requests, %d bytes, the liar was asked %d times", stats.Asked.Load(), stats.Bytes.Load(), lies.asked.Load())
}

// sentView is the view of a stored block.
func sentView(t *testing.T, n *Node, h chain.Height) chain.View {
	t.Helper()
	_, raw, _, err := n.store.BlockBytes(h)
	if err != nil {
		t.Fatal(err)
	}
	b, err := chain.DecodeBlock(raw, len(raw))
	if err != nil {
		t.Fatal(err)
	}
	return b.Header.View
}
