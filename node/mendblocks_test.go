package node

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/node/p2p"
	"github.com/cowboy-foundation/cowboy/node/porttest"
	"github.com/cowboy-foundation/cowboy/node/repair"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/setup"
	"github.com/cowboy-foundation/cowboy/state/blocklog/badsector"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// committee is four validators in this process.
type committee struct {
	genesis *genesis.Genesis
	nodes   [4]*Node
}

func newCommittee(t *testing.T, host func(i int) Host) *committee {
	t.Helper()
	dir := t.TempDir()
	g, err := setup.Deal(dir, setup.DealOptions{Validators: 4, DevnetOptions: setup.DevnetOptions{BlockTime: 50 * time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	c := &committee{genesis: g}
	ports := porttest.UDP(t, 4)
	var peers []datadir.PeerAddress
	for i, v := range g.Validators {
		peers = append(peers, datadir.PeerAddress{Key: v.PeerKey, Address: ports[i]})
	}
	for i := range c.nodes {
		if err := datadir.WritePeers(datadir.DealtFolder(dir, i), peers); err != nil {
			t.Fatal(err)
		}
		cfg := DefaultConfig()
		cfg.DataDir, cfg.P2PAddr, cfg.RPCAddr, cfg.AdminAddr = datadir.DealtFolder(dir, i), ports[i], "127.0.0.1:0", "127.0.0.1:0"
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
	asked, lied atomic.Int64
}

func (l *liar) BlockParts(h chain.Height, digest chain.Hash, first, end uint32, bytesMax int) ([][]byte, bool, error) {
	another := first == 0
	if l.asked.Add(1); another {
		h++
		digest, _, _ = l.BlockDigest(h)
	}
	parts, ok, err := l.Store.BlockParts(h, digest, first, end, bytesMax)
	if len(parts) > 1 {
		parts[0], parts[len(parts)-1] = parts[len(parts)-1], parts[0]
	}
	if another && len(parts) > 0 || len(parts) > 1 {
		l.lied.Add(1)
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
		batch = pay(c.genesis, setup.DevAccounts()[0], nonce, chain.Address{0xab}).AppendWire(batch)
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
	file, err := os.OpenFile(filepath.Join(hurt.cfg.DataDir, datadir.StoreFolder, "blocks", "000001.blocks"), os.O_RDWR, 0)
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
		hurt.scrub.checkBlock(h)
		if on, _ := hurt.alarms.stateOf(alarmBlocks); !on && hurt.mending.client.Stats.Mended.Load() == mended {
			t.Fatalf("%s: not noticed", name)
		}
		eventually(t, name+" is mended", func() bool {
			return hurt.mending.client.Stats.Mended.Load() == mended+1 && hurt.scrub.countDamaged() == 0
		})
		if on, _ := hurt.alarms.stateOf(alarmBlocks); on {
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
			if err := ledger.CheckCertificates(hurt.sets, hurt.store, again, rand.Reader); err != nil {
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
	if stats.Failed(repair.ReasonBlock)+stats.Failed(repair.ReasonReceipts)+stats.Failed(repair.ReasonCertificate)+stats.Failed(repair.ReasonAnswer)+
		stats.Failed(repair.ReasonSilent) == 0 && lies.lied.Load() > 0 {
		t.Error("nobody counted the lies")
	}
	for i, n := range c.nodes {
		for _, p := range n.mesh.transport.Peers() {
			if p.Violations != 0 {
				t.Errorf("validator %d counts %d violations of validator %d", i, p.Violations, p.ID)
			}
		}
	}
	t.Logf("%d requests, %d bytes, the liar was asked %d times and lied %d times", stats.Asked.Load(), stats.Bytes.Load(), lies.asked.Load(), lies.lied.Load())
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

// TestUnreadableBlockIsFetched has one validator of four on a disk that loses sectors of
// its blocks, with records that begin and end in them. What the disk does not give back is
// damage, which /health names, and comes back from the others, whoever met it: the reader
// of all blocks, or a peer that asked for them.
func TestUnreadableBlockIsFetched(t *testing.T) {
	disk, company := badsector.New(vfs.Default), new(atomic.Bool)
	c := newCommittee(t, func(i int) (h Host) {
		if i == 0 {
			h.Store = func(o *store.Options) { o.FS = disk }
		}
		h.repair = func(cfg *repair.Config, _ *repair.ServerConfig) {
			cfg.RetryMin, cfg.RetryMax, cfg.BytesPerSecond = 50*time.Millisecond, 50*time.Millisecond, 64<<20
			peers := cfg.Peers
			cfg.Peers = func() []int {
				if company.Load() {
					return peers()
				}
				return nil
			}
		}
		return h
	})
	hurt := c.nodes[0]
	for name, find := range map[string]func(lost []chain.Height){
		"reader of all blocks": func(lost []chain.Height) {
			for _, h := range lost {
				hurt.scrub.checkBlock(h)
			}
		},
		"peer that asks": func([]chain.Height) {
			for view := range hurt.ledger.Head().Round.View {
				_, _ = hurt.ledger.Final(t.Context(), view+1, 1, 1<<20)
			}
		},
	} {
		company.Store(false)
		lost := loseSector(t, c, disk)
		find(lost)
		if n := hurt.scrub.countDamaged(); n == 0 {
			t.Fatalf("%s: no damaged block is known of %d", name, lost)
		}
		for _, h := range lost { // a peer is not sent receipts
			hurt.scrub.checkBlock(h)
		}
		if why := strings.Join(hurt.alarms.reasons(), "; "); !strings.Contains(why, fmt.Sprintf("%d stored blocks are damaged, the first is %d", len(lost), lost[0])) || !strings.Contains(why, fmt.Sprintf("the disk does not give back %d of them", len(lost))) {
			t.Errorf("%s: %d are lost, alarms: %s", name, lost, why)
		}
		company.Store(true)
		eventually(t, name+": all are mended", func() bool { return hurt.scrub.countDamaged() == 0 })
		if on, _ := hurt.alarms.stateOf(alarmBlocks); on || disk.Bad() > 0 {
			t.Errorf("%s: %d sectors are lost, alarm %v", name, disk.Bad(), on)
		}
		for _, h := range lost {
			got, _, err := hurt.store.BlockByHeight(h)
			other, _, err2 := c.nodes[1].store.BlockByHeight(h)
			if err != nil || err2 != nil || !bytes.Equal(got.Block, other.Block) || !slices.EqualFunc(got.Receipts, other.Receipts, bytes.Equal) {
				t.Errorf("%s: block %d: %v, %v", name, h, err, err2)
			}
		}
	}
}

// loseSector has the first validator's disk lose a sector of blocks of which others can
// give all, and returns their heights.
func loseSector(t *testing.T, c *committee, disk *badsector.Disk) (lost []chain.Height) {
	t.Helper()
	const segment = "000001.blocks"
	hurt := c.nodes[0]
	known := map[chain.Height]store.BlockRecord{}
	fits := func(h chain.Height) bool {
		return slices.ContainsFunc(c.nodes[1:], func(n *Node) bool {
			rec, ok, err := n.store.BlockByHeight(h)
			if err != nil || !ok {
				return false
			}
			_, fits := ledger.FitCertificates(rec.Certificate, len(known[h].Certificate))
			return fits
		})
	}
	sector := int64(0)
	eventually(t, "a sector is lost", func() bool {
		sector++
		for h := range hurt.ledger.Head().Height() {
			rec, _, err := hurt.store.BlockByHeight(h + 1)
			if err != nil {
				t.Fatal(err)
			}
			known[h+1] = rec
		}
		info, err := os.Stat(filepath.Join(hurt.cfg.DataDir, datadir.StoreFolder, "blocks", segment))
		if err != nil || info.Size() < (sector+2)*badsector.Bytes { // not yet
			sector--
			return false
		}
		disk.Lose(segment, sector*badsector.Bytes, (sector+1)*badsector.Bytes)
		lost = nil
		for h := range chain.Height(len(known)) {
			if _, _, err := hurt.store.BlockByHeight(h + 1); err != nil {
				lost = append(lost, h+1)
			}
		}
		if len(lost) > 1 && !slices.ContainsFunc(lost, func(h chain.Height) bool { return !fits(h) }) {
			return true
		}
		disk.Find(segment, sector*badsector.Bytes)
		return false
	})
	return lost
}

// TestPartsFitIntoMessages: the largest block of a chain and the largest receipt go into
// one message of the stream that carries them, on every chain of ours. A receipt has what
// a transaction, or a run of a message or timer, can pay for.
func TestPartsFitIntoMessages(t *testing.T) {
	const (
		framing = 64  // of a message
		fixed   = 256 // of an event or delivery: names of accounts, numbers, and what the protocol says of a token
	)
	for _, g := range []*genesis.Genesis{genesis.DevnetTemplate(), genesis.UnboundedTemplate()} {
		p := &g.Params
		part := partBytesMax(p)
		if frame := p2p.DefaultConfig(int(p.MaxBlockBytes)).Limits[p2p.State].FrameBytesMax; part+framing > frame {
			t.Errorf("%s: parts of %d bytes do not go into messages of %d", g.Name, part, frame)
		}
		receipt := uint64(p.MaxTxCells)*p.API.EventBytesPerCell + chain.MaxEvents*(chain.MaxEventName+fixed) +
			chain.MaxDeliveries*fixed + chain.MaxOutputBytes + fixed
		if uint64(part) < p.MaxBlockBytes || uint64(part) < receipt {
			t.Errorf("%s: parts have %d bytes, blocks up to %d, receipts %d", g.Name, part, p.MaxBlockBytes, receipt)
		}
	}
}
