package node

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/lanes/sigverify"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/p2p"
	"github.com/cowboy-foundation/cowboy/node/repair"
	"github.com/cowboy-foundation/cowboy/node/setup"
	"github.com/cowboy-foundation/cowboy/node/statesync"
)

func dealt(t *testing.T, n int) (string, *genesis.Genesis) {
	t.Helper()
	dir := t.TempDir()
	g, err := setup.Deal(dir, setup.DealOptions{Validators: n})
	if err != nil {
		t.Fatal(err)
	}
	return dir, g
}

// opened is a member of a committee of four that does not run.
func opened(t *testing.T) *Node { t.Helper(); return openedAt(t, "127.0.0.1:0") }

func openedAt(t *testing.T, p2pAddr string) *Node {
	t.Helper()
	dir, g := dealt(t, 4)
	cfg := DefaultConfig()
	cfg.DataDir, cfg.RPCAddr, cfg.AdminAddr, cfg.P2PAddr = datadir.DealtFolder(dir, 0), "127.0.0.1:0", "127.0.0.1:0", p2pAddr
	n, err := Open(cfg, g, slog.New(slog.NewTextHandler(io.Discard, nil)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// TestMeshRefusesWrongStreams: a message on another class's stream would evade
// that class's rate, and a full node has no say in consensus.
func TestMeshRefusesWrongStreams(t *testing.T) {
	n := opened(t)
	const member, guest = 1, 4
	repairWant := append(make([]byte, 1+8+8+32+4+3), 1) // of no block: parts 0 to 1
	repairWant[0] = 'w'
	for _, c := range []struct {
		name  string
		from  int
		class p2p.Class
		msg   string
		want  error
	}{
		{"vote", member, p2p.Votes, "v", nil},
		{"certificate", member, p2p.Certificates, "c", nil},
		{"offer", member, p2p.Blocks, "p", nil},
		{"backfill", member, p2p.Blocks, "b", nil},
		{"offer of a shard", member, p2p.Shards, "s", nil},
		{"relay of a shard", member, p2p.Shards, "h", nil},
		{"shard among blocks", member, p2p.Blocks, "h", errWrongStream},
		{"shard of a full node", guest, p2p.Shards, "h", errNotMember},
		{"request", member, p2p.Fetch, "r", nil},
		{"block among votes", member, p2p.Votes, "p", errWrongStream},
		{"vote among certificates", member, p2p.Certificates, "v", errWrongStream},
		{"certificate among requests", member, p2p.Fetch, "c", errWrongStream},
		{"request of a full node", guest, p2p.Fetch, "r", nil},
		{"who has a checkpoint, asks a full node", guest, p2p.State, "q", nil},
		{"chunk of state that came late", member, p2p.State, "c--------x", nil},
		{"unknown tag", member, p2p.Certificates, "z", p2p.ErrUnknown},
		{"unknown tag among votes", member, p2p.Votes, "z", p2p.ErrUnknown},
		{"unknown tag of a full node", guest, p2p.Fetch, "z", p2p.ErrUnknown},
		{"unknown tag of state", member, p2p.State, "z", p2p.ErrUnknown},
		{"a damaged block, asked for by a full node", guest, p2p.State, string(repairWant), nil},
		{"parts of a block that came late", member, p2p.State, "p--------0000\x00\x00\x00\x01x", nil},
		{"garbage instead of parts of a block", member, p2p.State, "p--------0000\x00\x00\x00\x09x", repair.ErrMessage},
		{"torn request for a damaged block", guest, p2p.State, "w--------", repair.ErrMessage},
		{"garbage instead of state", member, p2p.State, "c", statesync.ErrMessage},
		{"torn request for state", guest, p2p.State, "g--------", statesync.ErrMessage},
		{"vote of a full node", guest, p2p.Votes, "v", errNotMember},
		{"certificate of a full node", guest, p2p.Certificates, "c", errNotMember},
	} {
		if err := n.mesh.Deliver(c.from, c.class, []byte(c.msg)); !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
	for range 5000 { // more than the engine's inbox holds
		if err := n.mesh.Deliver(member, p2p.Votes, []byte("v")); err != nil {
			if !errors.Is(err, p2p.ErrBusy) {
				t.Errorf("full inbox: %v, want %v", err, p2p.ErrBusy)
			}
			return
		}
	}
	t.Error("the inbox has no end")
}

// TestTakenPortIsNamed: a second node on the same p2p port learns which.
func TestTakenPortIsNamed(t *testing.T) {
	taken, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	n := openedAt(t, taken.LocalAddr().String())
	if err := n.Listen(); err == nil || !bytes.Contains([]byte(err.Error()), []byte(taken.LocalAddr().String())) {
		t.Errorf("got %v, want the address that is taken", err)
	}
}

// TestFloodingPeerStarvesNobody: with the signature queue full of one peer's
// transactions, that peer is not read any more, and another's and this node's
// own are taken.
func TestFloodingPeerStarvesNobody(t *testing.T) {
	n := opened(t) // it does not run, so nothing leaves the queue
	serial := 0
	frame := func(txs int) (bodies [][]byte) {
		for range txs {
			serial++
			bodies = append(bodies, binary.BigEndian.AppendUint64(nil, uint64(serial)))
		}
		return bodies
	}
	const flooder, other = 1, 2
	took := 0
	for {
		taken, err := n.mesh.Transactions(flooder, frame(1000))
		took += taken
		if errors.Is(err, p2p.ErrBusy) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if queued := n.sigverify.Stats.QueuedTxs.Load(); took == 0 || int64(took) != queued {
		t.Errorf("%d transactions taken, %d queued", took, queued)
	}
	if n.sigverify.Stats.OverShare.Load() == 0 {
		t.Error("the refusal was not counted")
	}
	for range 4 {
		if taken, err := n.mesh.Transactions(other, frame(1000)); taken != 1000 || err != nil {
			t.Errorf("another peer: %d of 1000 taken, %v", taken, err)
		}
	}
	if err := n.sigverify.Submit(frame(50), func([]sigverify.Verdict) {}); err != nil {
		t.Errorf("this node's own: %v", err)
	}
	if taken, err := n.mesh.Transactions(flooder, frame(1)); taken != 0 || !errors.Is(err, p2p.ErrBusy) {
		t.Errorf("the flooder again: %d taken, %v", taken, err)
	}
}
