package governance

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/verdict"
	"github.com/cowboy-foundation/cowboy/state"
)

// The verdicts.
var (
	// ErrAction means an action that is none, or that the chain cannot take.
	ErrAction = verdict.New(verdict.Argument, "action not possible")
	// ErrMember means an instruction of somebody who is no member.
	ErrMember = verdict.New(verdict.Forbidden, "not a member")
	// ErrNoProposal means an id that no proposal has.
	ErrNoProposal = verdict.New(verdict.Missing, "no such proposal")
	// ErrState means a proposal that was approved by this member before, was
	// carried out, lacks approvals, or whose timelock still runs.
	ErrState = verdict.New(verdict.State, "not now")
	// ErrCycles means that the instruction's cycles do not pay for its action.
	ErrCycles = verdict.New(verdict.Cycles, "cycles limit reached")
)

// Names of the events, all by [chain.AddrGovernance].
const (
	EventProposed = "Proposed" // [id, number, proposer]
	EventApproved = "Approved" // [id, member, approvals, first block that may carry it out, or 0]
	EventExecuted = "Executed" // [id, name of the action]
)

// Book is governance in one block.
type Book struct {
	State  *state.Overlay
	Params *params.Params // in force in the block
	Height chain.Height

	// Cycles are what is left for reading and checking actions and settings, by their
	// bytes.
	Cycles chain.Cycles
	// Overwritten are the bytes of rows that were there and are written again, without
	// those by which they got longer: for who carries the instruction out to charge.
	Overwritten uint64
}

// payForReading pays for reading and checking so many bytes, before it is done.
func (b *Book) payForReading(bytes int) error {
	price := chain.Cycles(bytes) * b.Params.API.ManifestByteCycles
	if price > b.Cycles {
		b.Cycles = 0
		return ErrCycles
	}
	b.Cycles -= price
	return nil
}

// put writes a row.
func (b *Book) put(key state.StorageKey, value []byte) error {
	was, err := b.State.Storage(chain.AddrGovernance, key)
	if err != nil {
		return err
	}
	if was != nil {
		b.Overwritten += uint64(len(key) + min(len(was), len(value)))
	}
	b.State.SetStorage(chain.AddrGovernance, key, value)
	return nil
}

// Effect is what an action does besides the writes of this package.
type Effect struct {
	Upgrade  *Action // ActionUpgrade; nil: nothing
	Registry []byte  // ActionRegistry's instruction; nil: nothing
}

// Propose records an action that would be possible now, with the approval of its
// proposer.
func (b *Book) Propose(member chain.Address, action []byte, emergency bool) (chain.Hash, []chain.Event, error) {
	if !b.member(member) {
		return chain.Hash{}, nil, ErrMember
	}
	if err := b.payForReading(len(action)); err != nil {
		return chain.Hash{}, nil, err
	}
	a, err := ParseAction(action)
	if err != nil {
		return chain.Hash{}, nil, err
	}
	if _, err := b.settings(&a); err != nil {
		return chain.Hash{}, nil, err
	}
	n, err := Count(b.State)
	if err != nil {
		return chain.Hash{}, nil, err
	}
	id := ProposalID(n, action)
	if err := errors.Join(
		b.put(countKey(), binary.BigEndian.AppendUint64(nil, n+1)),
		b.put(numberKey(n), id[:]),
		b.put(actionKey(id), action),
	); err != nil {
		return chain.Hash{}, nil, err
	}
	proposed := event(EventProposed, 3, id, func(d []byte) []byte { return cbor.AppendBytes(cbor.AppendUint(d, n), member[:]) })
	approved, err := b.approve(id, &Proposal{Number: n, Action: action, Emergency: emergency, Height: b.Height}, member)
	return id, []chain.Event{proposed, approved}, err
}

// Approve adds a member's approval. The one that makes them enough starts the
// timelock.
func (b *Book) Approve(member chain.Address, id chain.Hash) ([]chain.Event, error) {
	p, err := b.openProposal(member, id)
	if err != nil {
		return nil, err
	}
	// Bounded: by maxApprovals, 4,096.
	if slices.Contains(p.Approvals, member) {
		return nil, fmt.Errorf("%w: approved before", ErrState)
	}
	if len(p.Approvals) == maxApprovals { // most of them by who is no member any more
		return nil, fmt.Errorf("%w: %d approvals, propose it anew", ErrState, maxApprovals)
	}
	approved, err := b.approve(id, p, member)
	return []chain.Event{approved}, err
}

func (b *Book) approve(id chain.Hash, p *Proposal, member chain.Address) (chain.Event, error) {
	g := &b.Params.Governance
	p.Approvals = append(p.Approvals, member)
	if p.Ready == 0 && b.approvals(p) >= g.Threshold {
		lock := g.TimelockBlocks
		if p.Emergency {
			lock = g.EmergencyTimelockBlocks
		}
		p.Ready = b.Height + chain.Height(lock)
	}
	approved := event(EventApproved, 4, id, func(d []byte) []byte {
		d = cbor.AppendUint(cbor.AppendBytes(d, member[:]), uint64(len(p.Approvals)))
		return cbor.AppendUint(d, uint64(p.Ready))
	})
	return approved, b.put(proposalKey(id), p.encode())
}

// Execute carries a proposal out.
func (b *Book) Execute(member chain.Address, id chain.Hash) (Effect, []chain.Event, error) {
	p, err := b.openProposal(member, id)
	if err != nil {
		return Effect{}, nil, err
	}
	switch {
	case p.Ready == 0 || b.approvals(p) < b.Params.Governance.Threshold:
		return Effect{}, nil, fmt.Errorf("%w: %d approvals", ErrState, b.approvals(p))
	case b.Height < p.Ready:
		return Effect{}, nil, fmt.Errorf("%w: the timelock runs to block %d", ErrState, p.Ready)
	}
	if err := b.payForReading(len(p.Action)); err != nil {
		return Effect{}, nil, err
	}
	a, err := ParseAction(p.Action)
	if err != nil {
		return Effect{}, nil, err
	}
	list, err := b.settings(&a)
	if err != nil {
		return Effect{}, nil, err
	}
	var effect Effect
	switch a.Name {
	case ActionEntry:
		err = b.put(tableKey(a.Table, a.Key), a.Value)
	case ActionUpgrade:
		effect.Upgrade = &a
	case ActionRegistry:
		effect.Registry = a.Instruction
	default:
		err = b.put(settingsKey(), appendSettings(nil, list))
	}
	p.Done = b.Height
	if err = errors.Join(err, b.put(proposalKey(id), p.encode())); err != nil {
		return Effect{}, nil, err
	}
	done := event(EventExecuted, 2, id, func(d []byte) []byte { return cbor.AppendText(d, a.Name) })
	return effect, []chain.Event{done}, nil
}

// openProposal returns a proposal that was not carried out.
func (b *Book) openProposal(member chain.Address, id chain.Hash) (*Proposal, error) {
	if !b.member(member) {
		return nil, ErrMember
	}
	p, err := Read(b.State, id)
	switch {
	case err != nil:
		return nil, err
	case p == nil:
		return nil, ErrNoProposal
	case p.Done != 0:
		return nil, fmt.Errorf("%w: carried out in block %d", ErrState, p.Done)
	}
	return p, nil
}

func (b *Book) member(a chain.Address) bool {
	// Bounded: by the members of the genesis.
	return slices.Contains(b.Params.Governance.Members, a)
}

// approvals counts those of present members.
func (b *Book) approvals(p *Proposal) (n uint64) {
	// Bounded: by maxApprovals, 4,096.
	for _, a := range p.Approvals {
		if b.member(a) {
			n++
		}
	}
	return n
}

// settings returns the settings after an action of parameters, and nil for the
// others, or why the chain cannot take it.
func (b *Book) settings(a *Action) ([]params.KeptSetting, error) {
	if a.Name != ActionSet && a.Name != ActionDeprecate {
		return nil, nil
	}
	was, err := b.State.Storage(chain.AddrGovernance, settingsKey())
	if err == nil {
		err = b.payForReading(len(was))
	}
	if err != nil {
		return nil, err
	}
	list, err := readSettings(was)
	if err != nil {
		return nil, err
	}
	switch a.Name {
	case ActionSet:
		// Paid: by the bytes of the action (look); MaxSettings, 512, at most.
		for _, s := range a.Settings {
			if err := params.CheckSettable(s.Path); err != nil {
				return nil, fmt.Errorf("%w: %w", ErrAction, err)
			}
		}
		kept, err := params.Keep(a.Settings...)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrAction, err)
		}
		// Paid: by the bytes of the action (look); MaxSettings, 512, at most.
		for _, k := range kept {
			list = merge(list, k)
		}
	case ActionDeprecate:
		kept, err := b.deprecate(list, a.ID)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrAction, err)
		}
		// Paid: by the bytes of the action (look); MaxSettings, 512, at most.
		for _, k := range kept {
			list = merge(list, k)
		}
	}
	if len(list) > MaxSettings {
		return nil, fmt.Errorf("%w: more than %d settings", ErrAction, MaxSettings)
	}
	// The parameters in force hold all settings but those of this very block.
	next, err := b.Params.With(list...)
	if err == nil {
		err = next.Check()
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrAction, err)
	}
	if err := undoable(next, len(appendSettings(nil, list))); err != nil {
		return nil, fmt.Errorf("%w: nothing could be decided any more: %w", ErrAction, err)
	}
	return list, nil
}

// What the next decision may need at most under parameters that one decision sets.
const (
	undoBytes  = 1_024                   // payload of a proposal: the least that max_tx_bytes may be
	undoRows   = 4                       // that a proposal makes, the first one of a chain
	undoFixed  = 512                     // bytes of them and of their keys, without action and approvals
	undoEvents = 2                       // of an instruction, each below 128 bytes
	undoBlocks = 30 * 86_400             // of the short timelock
	undoPrice  = 1_000 * chain.WeiPerCBY // of one instruction at the least base fees
)

// undoable reports why parameters, kept in so many bytes, would leave no way to other
// ones: whatever else members decide by mistake, they can take back.
func undoable(p *params.Params, kept int) error {
	g := &p.Governance
	if n := uint64(len(g.Members)); n == 0 || n < g.Threshold {
		return fmt.Errorf("governance.members are %d, too few to approve", n)
	}
	if g.EmergencyTimelockBlocks > undoBlocks {
		return fmt.Errorf("governance.emergency_timelock_blocks = %d, want at most %d", g.EmergencyTimelockBlocks, undoBlocks)
	}
	rows := undoFixed + uint64(kept) + g.Seats*(uint64(len(chain.Address{}))+1)
	need := chain.Usage{
		Cycles: p.Intrinsic.InstructionCycles + (undoBytes+chain.Cycles(kept))*p.API.ManifestByteCycles,
		Cells: undoBytes*p.Intrinsic.PayloadByteCells + undoRows*p.API.NewEntryCells +
			chain.Cells(rows)*p.API.StorageWriteByteCells + undoEvents*chain.Cells(p.API.OfEvent(0, 128)),
	}
	lane := fees.LaneTarget(p, chain.LaneSystem)
	room := chain.Usage{Cycles: min(lane.Cycles, p.MaxTxCycles), Cells: min(lane.Cells, p.MaxTxCells)}
	if need.Cycles > room.Cycles || need.Cells > room.Cells {
		return fmt.Errorf("an instruction takes %+v, the system lane and max_tx_* leave room for %+v", need, room)
	}
	if most := chain.Wei(undoPrice) / chain.Wei(uint64(need.Cycles)+uint64(need.Cells)); p.MinBaseFee > most {
		return fmt.Errorf("min_base_fee = %d, want at most %d: nobody could pay for an instruction", p.MinBaseFee, most)
	}
	return nil
}

// deprecate is the setting that announces an entitlement's end, from the next
// block on.
func (b *Book) deprecate(list []params.KeptSetting, id string) ([]params.KeptSetting, error) {
	next, err := b.Params.With(list...)
	if err != nil {
		return nil, err
	}
	e := &next.Entitlements
	if _, ok := manifest.Lookup(id); !ok {
		return nil, fmt.Errorf("no entitlement %q", id)
	}
	if d, ok := e.Deprecation(id); ok {
		return nil, fmt.Errorf("%s goes after block %d", id, d.Last)
	}
	from := b.Height + 1
	e.Deprecated = append(e.Deprecated, params.Deprecation{ID: id, From: from, Last: from + chain.Height(e.DeprecationWindowBlocks)})
	return next.Kept("entitlements.deprecated")
}

func event(name string, n int, id chain.Hash, more func([]byte) []byte) chain.Event {
	return chain.Event{Emitter: chain.AddrGovernance, Name: name, Data: more(cbor.AppendBytes(cbor.AppendArray(nil, n), id[:]))}
}
