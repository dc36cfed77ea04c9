package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// Kinds of transactions that a load can be made of, by the lane that they use.
const (
	KindTransfer   = "transfer"   // user lane
	KindRehearsal  = "rehearsal"  // runner lane, of development chains (ADR 47)
	KindGovernance = "governance" // system lane: approvals, of nothing, by the development governor
)

// Mix says what a load is made of. Files of it are in profiles/workload.
type Mix struct {
	Name   string    `json:"name"`
	About  string    `json:"about"`
	Kinds  []Kind    `json:"kinds"`
	Timers ClockLoad `json:"timers"`
}

// Kind is a part of a mix.
type Kind struct {
	Kind        string `json:"kind"`
	Percent     int    `json:"percent"`      // of the transactions; those of all kinds are 100
	Work        uint64 `json:"work"`         // cycles of a rehearsal
	ResultBytes int    `json:"result_bytes"` // of a rehearsal
	// MayWait says that more of the kind is offered than blocks take: what is
	// accepted and not final at the end waits and is not lost.
	MayWait bool `json:"may_wait"`
}

// ClockLoad is actors that are deployed before the load, with timers that fire in
// every block.
type ClockLoad struct {
	Actors int `json:"actors"`
	Each   int `json:"each"` // timers of an actor
}

// TransferMix is the load without a file: transfers alone.
func TransferMix() Mix {
	return Mix{Name: "transfers", Kinds: []Kind{{Kind: KindTransfer, Percent: 100}}}
}

const (
	mixKindsMax    = 16
	resultBytesMax = 64 << 10
	clocksMax      = 100
	clockTimersMax = 4 // with the limits of a firing by default, an actor's cycles of a block
)

// ReadMix reads a mix. Names that a mix does not have are refused.
func ReadMix(r io.Reader) (Mix, error) {
	var m Mix
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return m, fmt.Errorf("mix: %w", err)
	}
	if d.More() {
		return m, errors.New("mix: more than one document")
	}
	return m, m.Check()
}

// Check reports the first part that cannot be sent.
func (m *Mix) Check() error {
	if len(m.Kinds) == 0 || len(m.Kinds) > mixKindsMax {
		return fmt.Errorf("mix of %d kinds, want 1 to %d", len(m.Kinds), mixKindsMax)
	}
	sum := 0
	for i := range m.Kinds {
		k := &m.Kinds[i]
		switch {
		case k.Kind != KindTransfer && k.Kind != KindRehearsal && k.Kind != KindGovernance:
			return fmt.Errorf("kinds[%d] is %q, want %s, %s or %s", i, k.Kind, KindTransfer, KindRehearsal, KindGovernance)
		case k.Percent < 1 || k.Percent > 100:
			return fmt.Errorf("kinds[%d].percent = %d, want 1 to 100", i, k.Percent)
		case k.Kind != KindRehearsal && (k.Work != 0 || k.ResultBytes != 0):
			return fmt.Errorf("kinds[%d]: only a rehearsal has work and a result", i)
		case k.ResultBytes < 0 || k.ResultBytes > resultBytesMax || k.Work > 1<<40:
			return fmt.Errorf("kinds[%d]: %d bytes and %d cycles, want at most %d and 2^40", i, k.ResultBytes, k.Work, resultBytesMax)
		}
		sum += k.Percent
	}
	switch {
	case sum != 100:
		return fmt.Errorf("percents add up to %d, want 100", sum)
	case m.Timers.Actors < 0 || m.Timers.Actors > clocksMax || m.Timers.Each < 0 || m.Timers.Each > clockTimersMax:
		return fmt.Errorf("timers: %d actors with %d each, want at most %d with %d", m.Timers.Actors, m.Timers.Each, clocksMax, clockTimersMax)
	}
	return nil
}

// lane is where transactions of the kind stand.
func (k *Kind) lane() chain.LaneID {
	switch k.Kind {
	case KindRehearsal:
		return chain.LaneRunner
	case KindGovernance:
		return chain.LaneSystem
	default:
		return chain.LaneUser
	}
}

// draft is an unsigned transaction of the kind. Its limits leave room for what the
// record of a rehearsal costs (whitepaper §17.3).
func (p *prices) draft(k *Kind, to chain.Address) chain.Tx {
	tx := chain.Tx{
		ChainID: p.chainID, To: &to, CyclesLimit: p.intrinsic.InstructionCycles,
		MaxFeePerCycle: p.maxFeePerCycle, MaxFeePerCell: p.maxFeePerCell, TipPerCycle: p.tipPerCycle,
	}
	switch k.Kind {
	case KindRehearsal:
		tx.To, tx.Payload = &chain.AddrRunnerRegistry, cbor.AppendUint(cbor.AppendArray(nil, 3), chain.OpRunnerRehearsal)
		tx.Payload = cbor.AppendBytes(cbor.AppendUint(tx.Payload, k.Work), make([]byte, k.ResultBytes))
		tx.CyclesLimit += chain.Cycles(k.Work) + chain.Cycles(k.ResultBytes) + 8_000
		tx.CellsLimit = 200
	case KindGovernance:
		tx.To, tx.Payload = &chain.AddrGovernance, cbor.AppendUint(cbor.AppendArray(nil, 2), chain.OpGovernanceApprove)
		tx.Payload = cbor.AppendBytes(tx.Payload, make([]byte, 32))
	default:
		tx.Value, tx.CyclesLimit = transferValue, p.intrinsic.TransferCycles
	}
	tx.CellsLimit += chain.Cells(len(tx.Payload)) * p.intrinsic.PayloadByteCells
	return tx
}
