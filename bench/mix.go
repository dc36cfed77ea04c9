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
	KindHeartbeat  = "heartbeat"  // runner lane: of accounts that register as runners before the load
	KindMarket     = "market"     // user lane: jobs, whose runners answer in theirs
	KindGovernance = "governance" // system lane: approvals, of nothing, by the development governor
)

// Mix says what a load is made of. Files of it are in profiles/workload.
type Mix struct {
	Name   string    `json:"name"`
	About  string    `json:"about"`
	Kinds  []Kind    `json:"kinds"`
	Timers ClockLoad `json:"timers"`
	// Runners are registered before the load and do its jobs.
	Runners int `json:"runners"`
}

// Kind is a part of a mix.
type Kind struct {
	Kind        string `json:"kind"`
	Percent     int    `json:"percent"`      // of the transactions; those of all kinds are 100
	Committee   int    `json:"committee"`    // runners that a job asks for: 1, or 3 to 16, of whom most must agree
	ResultBytes int    `json:"result_bytes"` // data of each result of a job
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
	mixKindsMax     = 16
	committeeMax    = 16
	resultsBytesMax = 64 << 10 // of all results of a job, which one transaction shows
	runnersMax      = 1_000
	clocksMax       = 100
	clockTimersMax  = 4 // with the limits of a firing by default, an actor's cycles of a block
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
	sum, jobs := 0, 0
	for i := range m.Kinds {
		if err := m.Kinds[i].check(); err != nil {
			return fmt.Errorf("kinds[%d]%w", i, err)
		}
		sum += m.Kinds[i].Percent
		if m.Kinds[i].Kind == KindMarket {
			jobs++
		}
	}
	switch {
	case sum != 100:
		return fmt.Errorf("percents add up to %d, want 100", sum)
	case m.Timers.Actors < 0 || m.Timers.Actors > clocksMax || m.Timers.Each < 0 || m.Timers.Each > clockTimersMax:
		return fmt.Errorf("timers: %d actors with %d each, want at most %d with %d", m.Timers.Actors, m.Timers.Each, clocksMax, clockTimersMax)
	case jobs > 1:
		return fmt.Errorf("%d kinds are %s, want one at most", jobs, KindMarket)
	case jobs == 0 && m.Runners != 0:
		return fmt.Errorf("runners = %d, and no kind is %s", m.Runners, KindMarket)
	case jobs == 1 && (m.Runners < m.jobs().Committee || m.Runners > runnersMax):
		return fmt.Errorf("runners = %d, want %d to %d", m.Runners, m.jobs().Committee, runnersMax)
	}
	return nil
}

// jobs is the kind that asks for work, or nil.
func (m *Mix) jobs() *Kind {
	for i := range m.Kinds {
		if m.Kinds[i].Kind == KindMarket {
			return &m.Kinds[i]
		}
	}
	return nil
}

// check reports what is wrong, as it goes on behind the name of the kind.
func (k *Kind) check() error {
	market := k.Kind == KindMarket
	switch {
	case k.Kind != KindTransfer && k.Kind != KindHeartbeat && !market && k.Kind != KindGovernance:
		return fmt.Errorf(" is %q, want %s, %s, %s or %s", k.Kind, KindTransfer, KindHeartbeat, KindMarket, KindGovernance)
	case k.Percent < 1 || k.Percent > 100:
		return fmt.Errorf(".percent = %d, want 1 to 100", k.Percent)
	case !market && (k.Committee != 0 || k.ResultBytes != 0):
		return errors.New(": only jobs have a committee and results")
	case market && k.Committee != 1 && (k.Committee < 3 || k.Committee > committeeMax):
		return fmt.Errorf(".committee = %d, want 1, or 3 to %d", k.Committee, committeeMax)
	case market && (k.ResultBytes < resultBytesMin || k.ResultBytes > resultsBytesMax/k.Committee):
		return fmt.Errorf(".result_bytes = %d, want %d to %d for each of %d runners", k.ResultBytes, resultBytesMin, resultsBytesMax/k.Committee, k.Committee)
	case market && k.MayWait:
		return errors.New(": jobs may not wait")
	}
	return nil
}

// lane is where transactions of the kind stand.
func (k *Kind) lane() chain.LaneID {
	switch k.Kind {
	case KindHeartbeat:
		return chain.LaneRunner
	case KindGovernance:
		return chain.LaneSystem
	default:
		return chain.LaneUser
	}
}

// draft is an unsigned transaction of the kind.
func (p *prices) draft(k *Kind, to chain.Address) chain.Tx {
	tx := chain.Tx{
		ChainID: p.chainID, To: &to, CyclesLimit: p.intrinsic.InstructionCycles,
		MaxFeePerCycle: p.maxFeePerCycle, MaxFeePerCell: p.maxFeePerCell, TipPerCycle: p.tipPerCycle,
	}
	switch k.Kind {
	case KindHeartbeat:
		tx.To, tx.Payload = &chain.AddrRunnerRegistry, chain.EncodeRequest(&chain.RunnerHeartbeat{})
		tx.CyclesLimit = p.intrinsic.HeartbeatCycles
	case KindMarket:
		p.askForWork(&tx, k)
	case KindGovernance:
		tx.To, tx.Payload = &chain.AddrGovernance, cbor.AppendUint(cbor.AppendArray(nil, 2), chain.OpGovernanceApprove)
		tx.Payload = cbor.AppendBytes(tx.Payload, make([]byte, 32))
	default:
		tx.Value, tx.CyclesLimit = transferValue, p.intrinsic.TransferCycles
	}
	tx.CellsLimit += chain.Cells(len(tx.Payload)) * p.intrinsic.PayloadByteCells
	return tx
}
