package node

import (
	"fmt"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// health is what readers and supervisors are told of the node.
func (n *Node) health() rpc.Health {
	h := rpc.Health{
		Status: "ok", Ready: true,
		Height: n.ledger.Head().Height(), View: chain.View(n.engine.Stats.View.Load()),
		ChainID: n.genesis.ChainID, Genesis: n.chainHash, Version: n.cfg.Version, Devnet: n.cfg.Devnet,
		State: n.room.state(),
	}
	switch {
	case n.stopping.Load():
		h.Status, h.Ready, h.Reasons = "stopping", false, []string{"the node is shutting down"}
	case !n.engine.Stats.Resumed.Load():
		h.Status, h.Ready, h.Reasons = "starting", false, []string{"the journal of consensus is being replayed"}
		h.Height = max(h.Height, n.recall.height) // shown before this start
	case n.starting() != "":
		h.Status, h.Ready, h.Reasons = "starting", false, []string{n.starting()}
		h.Height = max(h.Height, n.recall.height)
	case n.store.Damage() != nil: // its text names files
		h.Status, h.Ready, h.Reasons = "degraded", false, []string{"a file of the store is damaged: see the log"}
	case !n.keys.Validates() && n.mesh.connected() == 0:
		h.Status, h.Ready, h.Reasons = "degraded", false, []string{"no validator is connected"}
	case n.keys.Validates() && n.mesh.connected() < n.set.Quorum():
		h.Status, h.Ready = "degraded", false
		h.Reasons = []string{fmt.Sprintf("%d of %d validators are connected, a quorum is %d", n.mesh.connected(), n.set.Len(), n.set.Quorum())}
		if text := n.silence(); text != "" {
			h.Reasons = append(h.Reasons, text)
		}
	case n.silence() != "":
		h.Status, h.Ready, h.Reasons = "degraded", false, []string{n.silence()}
	case n.keys.Validates() && n.clock().waits():
		h.Status, h.Ready, h.Reasons = "degraded", false, []string{n.clock().reason()}
	default:
		h.Reasons = append(n.alarms.reasons(), stalled(n.ledger.Head().Block.Header.TimestampMillis, time.Now(), n.ledger.Head().Force.Params)...)
		h.Reasons = append(h.Reasons, n.room.reasons()...)
		if len(h.Reasons) > 0 {
			h.Status = "degraded"
		}
	}
	return h
}

// stalledViews is how many leader timeouts without a final block are out of the
// ordinary.
const stalledViews = 10

// stalled says so when the newest final block is old.
func stalled(headMillis uint64, now time.Time, p *params.Params) []string {
	age := now.UnixMilli() - int64(headMillis)
	if age <= int64(stalledViews*p.LeaderTimeoutMillis) {
		return nil
	}
	return []string{fmt.Sprintf("the newest final block is %d seconds old", age/1000)}
}
