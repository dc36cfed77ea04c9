package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// clockProgram is an actor whose timers fire in every block and say which they
// are.
const clockProgram = `
from cowboy_sdk import actor, public, emit_event, set_interval, cancel_timer

@actor
class Clock:
    @public
    def start(self, msg):
        self.storage["timers"] = [set_interval(1, "tick", i) for i in range(msg.payload)]

    @public
    def stop(self, msg):
        for timer in self.storage["timers"]:
            cancel_timer(timer)

    def tick(self, msg):
        emit_event("tick", msg.payload)
`

const (
	clockMoney  = 1_000 * chain.WeiPerCBY // deposits, escrows and fees of some thousand blocks
	clockCycles = 1_000_000               // limits of its creator's transactions
	clockCells  = 10_000
)

// clocks are the actors of a run.
type clocks struct {
	node   *nodeClient
	terms  *prices
	bank   account
	actors []chain.Address
	first  uint64 // height from which they were seen to work
}

// startClocks deploys the actors of a mix, the bank's, and starts their timers.
func startClocks(ctx context.Context, c *LoadConfig, node *nodeClient, terms *prices, log io.Writer) (*clocks, error) {
	if c.Mix.Timers.Actors == 0 || c.Mix.Timers.Each == 0 {
		return &clocks{node: node, terms: terms}, nil
	}
	bank, err := bankOf(c)
	if err != nil {
		return nil, err
	}
	k := &clocks{node: node, terms: terms, bank: bank}
	manifest := manifest.Manifest("econ.hold_balance", "storage.kv", "timer.schedule")
	have, err := node.fetchAccount(ctx, bank.address)
	if err != nil {
		return nil, fmt.Errorf("funding account %s: %w", bank.address, err)
	}
	var deploys []chain.Tx
	for i := range c.Mix.Timers.Actors {
		salt := cbor.AppendUint(cbor.AppendUint(nil, have.nonce), uint64(i)) // as often as the tool is run
		d := actor.Deployment{Source: []byte(clockProgram), Salt: salt, Manifest: manifest}
		k.actors = append(k.actors, actor.AddressOf(bank.address, salt, d.Source))
		tx := k.program(nil, actor.AppendPayload(nil, &d))
		tx.Value = clockMoney
		deploys = append(deploys, tx)
	}
	fmt.Fprintf(log, "starting %d timers of %d actors\n", c.Mix.Timers.Actors*c.Mix.Timers.Each, len(k.actors))
	if err := k.sendAndWait(ctx, deploys); err != nil {
		return nil, err
	}
	if err := k.messageAll(ctx, "start", cbor.AppendUint(nil, uint64(c.Mix.Timers.Each))); err != nil {
		return nil, err
	}
	k.first, err = node.height(ctx)
	return k, err
}

func (k *clocks) program(to *chain.Address, payload []byte) chain.Tx {
	return chain.Tx{
		ChainID: k.terms.chainID, To: to, Payload: payload, CyclesLimit: clockCycles, CellsLimit: clockCells,
		MaxFeePerCycle: k.terms.maxFeePerCycle, MaxFeePerCell: k.terms.maxFeePerCell, TipPerCycle: clockTip * k.terms.tipPerCycle,
	}
}

// clockTip takes the bank's transactions past the load's, by several tiers.
const clockTip = 64

// sendAndWait signs the bank's transactions and waits until they are final.
func (k *clocks) sendAndWait(ctx context.Context, txs []chain.Tx) error {
	have, err := k.node.fetchAccount(ctx, k.bank.address)
	if err != nil {
		return fmt.Errorf("funding account %s: %w", k.bank.address, err)
	}
	k.bank.nonce = have.nonce
	ready := make([]signed, len(txs))
	for i := range txs {
		ready[i] = k.bank.sign(txs[i], have.nonce+uint64(i))
	}
	return settle(ctx, k.node, k.bank, ready)
}

// messageAll sends every actor a message.
func (k *clocks) messageAll(ctx context.Context, handler string, arg []byte) error {
	var txs []chain.Tx
	for i := range k.actors {
		txs = append(txs, k.program(&k.actors[i], actor.AppendMessage(nil, handler, arg)))
	}
	return k.sendAndWait(ctx, txs)
}

// TimerReport says how late timers fired that were due in every block.
type TimerReport struct {
	Timers  int   `json:"timers"`
	Firings int64 `json:"firings"`
	// Late counts the blocks between the one that a timer was due in and the one
	// that it fired in.
	Late Blocks `json:"late"`
}

// report looks at the firings from when the clocks were started up to a height.
func (k *clocks) report(ctx context.Context, c *LoadConfig, last uint64) (*TimerReport, error) {
	if len(k.actors) == 0 {
		return nil, nil
	}
	r, late := &TimerReport{Timers: c.Mix.Timers.Actors * c.Mix.Timers.Each}, newBlockHistogram()
	for _, a := range k.actors {
		fired, err := k.firings(ctx, a, last)
		if err != nil {
			return nil, err
		}
		for timer := range c.Mix.Timers.Each {
			heights := append(slices.Sorted(slices.Values(fired[uint64(timer)])), last+1)
			r.Firings += int64(len(heights) - 1)
			before := k.first
			for _, h := range heights[:len(heights)-1] {
				_ = late.RecordValue(int64(h - before - 1))
				before = h
			}
			if missing := last - before; missing > 0 { // due since, and not fired to the end
				_ = late.RecordValue(int64(missing))
			}
		}
	}
	r.Late = blocksOf(late)
	return r, nil
}

// firings are the heights at which each timer of an actor fired, in any order.
func (k *clocks) firings(ctx context.Context, a chain.Address, last uint64) (map[uint64][]uint64, error) {
	fired := map[uint64][]uint64{}
	for after := ""; ; {
		var reply rpc.LogsReply
		if err := k.node.get(ctx, fmt.Sprintf("/actor/%s/logs?from=%d&to=%d&limit=1000%s", a, k.first+1, last, after), &reply); err != nil {
			return nil, fmt.Errorf("logs of %s: %w", a, err)
		}
		for i := range reply.Logs {
			var timer uint64
			e := &reply.Logs[i]
			if e.Name == "tick" && json.Unmarshal(e.Value, &timer) == nil {
				fired[timer] = append(fired[timer], e.BlockHeight)
			}
		}
		if reply.Next == "" {
			return fired, nil
		}
		after = "&after=" + reply.Next
	}
}
