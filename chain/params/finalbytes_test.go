package params_test

import (
	"math"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

// TestFinalBytesOfShippedGeneses holds every genesis that ships to its bound, by
// arithmetic, and shows how far below it the largest legal block stays.
func TestFinalBytesOfShippedGeneses(t *testing.T) {
	for name, g := range map[string]*genesis.Genesis{
		"mainnet": genesis.MainnetParamsTemplate(), "devnet": genesis.DevnetTemplate(), "unbounded": genesis.UnboundedTemplate(),
	} {
		n := g.Params.FinalBytesMax()
		t.Logf("%s: %d bytes", name, n)
		if n > chain.MaxFinalBytes || n < g.Params.MaxBlockBytes {
			t.Errorf("%s: a finalized block takes up to %d bytes, the record %d", name, n, chain.MaxFinalBytes)
		}
	}
}

// TestFinalBytesCoverEncodings compares the figures of the bound with encodings:
// of the smallest signed transaction, and of the largest receipts.
func TestFinalBytesCoverEncodings(t *testing.T) {
	tx := chain.Tx{Signature: &chain.TxSignature{}}
	if n := len(tx.Encode()); n+2 < params.MinSignedTxBytes {
		t.Errorf("a transaction takes %d bytes, %d with its head are taken for the least", n, params.MinSignedTxBytes)
	}
	r := chain.Receipt{
		Lane: chain.NumLanes - 1, Status: chain.StatusSucceeded, Code: math.MaxUint16,
		CyclesUsed: math.MaxUint64, CellsUsed: math.MaxUint64, Fee: math.MaxUint64, Tip: math.MaxUint64,
	}
	for range chain.MaxEvents {
		r.Events = append(r.Events, chain.Event{Name: strings.Repeat("n", chain.MaxEventName), Data: make([]byte, 300)})
	}
	r.Events[0].Data = make([]byte, chain.MaxEventBytes)
	r.Output = make([]byte, chain.MaxOutputBytes)
	for range chain.MaxDeliveries {
		r.Trace = append(r.Trace, chain.Delivery{Parent: chain.MaxDeliveries, Depth: math.MaxUint64, Status: chain.DeliveryWaits, Code: math.MaxUint16, Cycles: math.MaxUint64})
	}
	most := params.ReceiptFixedBytes + len(r.Output) + len(r.Trace)*params.DeliveryBytes
	for i := range r.Events {
		most += params.EventFixedBytes + len(r.Events[i].Name) + len(r.Events[i].Data)
	}
	if n := len(r.Encode()); n > most || n < most-8*chain.MaxEvents {
		t.Errorf("a receipt takes %d bytes, %d are taken for the most", n, most)
	}
}

func TestFinalBytesAreChecked(t *testing.T) {
	f := func(name string, ok bool, change func(*params.Params)) {
		t.Helper()
		p := params.Default()
		change(&p)
		err := p.Check()
		if refused := err != nil && strings.Contains(err.Error(), "receipts grow to"); refused == ok || ok && err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	f("defaults", true, func(*params.Params) {})
	f("a hundred times the cells", true, func(p *params.Params) { p.CellsCap *= 100 })
	f("a hundred and fifty times the cells, paid in cycles too", true, func(p *params.Params) { p.CellsCap *= 150 })
	f("a thousand times both", false, func(p *params.Params) { p.CellsCap, p.CyclesCap = p.CellsCap*1000, p.CyclesCap*1000 })
	f("events without cycles", true, func(p *params.Params) { p.API.EmitEventCycles, p.API.EmitEventByteCycles = 0, 0 })
	f("events for free", false, func(p *params.Params) {
		p.API.EmitEventCycles, p.API.EmitEventByteCycles, p.API.EventBytesPerCell = 0, 0, 1_000_000
	})
	f("products beyond 64 bits", false, func(p *params.Params) {
		p.CyclesCap, p.CellsCap, p.API.EventBytesPerCell = 1<<50, 1<<50, 1_000_000
	})
}
