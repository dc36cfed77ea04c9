package timers

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// BidHandler is what a Gas Bidding Agent answers with (CIP-1).
const BidHandler = "getGasBid"

// Question is what the agent of a due timer is told (CIP-1): a map, its keys in canonical
// order. balance is that of the timer's actor.
func (h *Head) Question(c *Clock, t *Timer, balance chain.Wei) []byte {
	rows := [...]struct {
		name  string
		value uint64
	}{
		{"basefee_cell", uint64(c.Base.PerCell)},
		{"basefee_cycle", uint64(c.Base.PerCycle)},
		{"owner_actor_balance", uint64(balance)},
		{"current_block_height", uint64(c.Height)},
		{"trigger_block_height", uint64(t.Height)},
		{"last_block_cycle_usage", uint64(h.Used)},
	}
	out := cbor.AppendMap(make([]byte, 0, 192), len(rows))
	// Bounded: by six rows.
	for _, row := range rows {
		out = cbor.AppendUint(cbor.AppendText(out, row.name), row.value)
	}
	return out
}

var errBid = errors.New("no such field of a bid")

// ReadBid reads {"tip"?, "max_fee"?, "tip_cell"?, "cells_limit"?, "cycles_limit"?,
// "max_fee_cell"?}, all unsigned: prices per cycle and per cell, and limits, which
// may lower the timer's. An answer of another form is as good as none, and leaves
// fallback.
func ReadBid(answer []byte, fallback Bid) Bid {
	bid, err := parseBid(answer, fallback)
	if err != nil {
		return fallback
	}
	bid.Limits.Cycles = min(bid.Limits.Cycles, fallback.Limits.Cycles)
	bid.Limits.Cells = min(bid.Limits.Cells, fallback.Limits.Cells)
	return bid
}

func parseBid(answer []byte, bid Bid) (Bid, error) {
	r := cbor.NewReader(answer)
	n, err := r.Map(6)
	if err != nil {
		return bid, err
	}
	var prev []byte
	// Bounded: by six settings.
	for range n {
		at := r
		if prev, err = r.Key(prev, cbor.DefaultLimits()); err != nil {
			return bid, err
		}
		name, err := at.Text(len("max_fee_cell"))
		if err != nil {
			return bid, err
		}
		v, err := r.Uint()
		if err != nil {
			return bid, err
		}
		switch name {
		case "tip":
			bid.Tip.PerCycle = chain.Wei(v)
		case "max_fee":
			bid.MaxFee.PerCycle = chain.Wei(v)
		case "tip_cell":
			bid.Tip.PerCell = chain.Wei(v)
		case "max_fee_cell":
			bid.MaxFee.PerCell = chain.Wei(v)
		case "cycles_limit":
			bid.Limits.Cycles = chain.Cycles(v)
		case "cells_limit":
			bid.Limits.Cells = chain.Cells(v)
		default:
			return bid, errBid
		}
	}
	return bid, r.End()
}
