package genesis

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/document"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

// genesisText is a [Genesis] as its file spells it.
type genesisText struct {
	Format          uint64           `json:"format"`
	Name            string           `json:"name"`
	ChainID         uint64           `json:"chain_id"`
	Devnet          bool             `json:"devnet"`
	TimestampMillis uint64           `json:"timestamp_ms"`
	Supply          chain.Wei        `json:"supply"`
	Beacon          chain.Hash       `json:"beacon"`
	GroupKey        point2           `json:"group_key"`
	Polynomial      []point2         `json:"polynomial"`
	Validators      []validatorText  `json:"validators"`
	Allocations     []allocationText `json:"allocations"`
	SystemActors    []actorText      `json:"system_actors"`
	Params          params.Params    `json:"params"`
}

type validatorText struct {
	PeerKey       chain.PeerKey `json:"peer_key"`
	BLSKey        point2        `json:"bls_key"`
	BLSPossession point1        `json:"bls_possession"`
	ShareIndex    uint32        `json:"share_index"`
	PublicShare   point2        `json:"public_share"`
	Stake         chain.Wei     `json:"stake"`
	RewardAddress chain.Address `json:"reward_address"`
}

type allocationText struct {
	Name    string        `json:"name"`
	Address chain.Address `json:"address"`
	Amount  chain.Wei     `json:"amount"`
	Bucket  string        `json:"bucket"`
	Vesting *vestingText  `json:"vesting,omitempty"`
}

type vestingText struct {
	StartHeight    chain.Height `json:"start_height"`
	CliffBlocks    uint64       `json:"cliff_blocks"`
	DurationBlocks uint64       `json:"duration_blocks"`
}

type actorText struct {
	Name    string        `json:"name"`
	Address chain.Address `json:"address"`
}

// text returns g as its file spells it, with every list present.
func (g *Genesis) text() *genesisText {
	t := &genesisText{
		Format: Format,
		Name:   g.Name, ChainID: g.ChainID, Devnet: g.Devnet, TimestampMillis: g.TimestampMillis,
		Supply: g.Supply, Beacon: g.Beacon, GroupKey: point2(g.GroupKey), Params: g.Params,
		Polynomial:   make([]point2, 0, len(g.Polynomial)),
		Validators:   make([]validatorText, 0, len(g.Validators)),
		Allocations:  make([]allocationText, 0, len(g.Allocations)),
		SystemActors: make([]actorText, 0, len(g.SystemActors)),
	}
	for _, p := range g.Polynomial {
		t.Polynomial = append(t.Polynomial, point2(p))
	}
	for _, v := range g.Validators {
		t.Validators = append(t.Validators, validatorText{
			v.PeerKey, point2(v.BLSKey), point1(v.BLSPossession), v.ShareIndex, point2(v.PublicShare), v.Stake, v.RewardAddress,
		})
	}
	for _, a := range g.Allocations {
		t.Allocations = append(t.Allocations, allocationText{a.Name, a.Address, a.Amount, a.Bucket, (*vestingText)(a.Vesting)})
	}
	for _, a := range g.SystemActors {
		t.SystemActors = append(t.SystemActors, actorText(a))
	}
	document.Detach(&t.Params)
	return t
}

func (t *genesisText) genesis() *Genesis {
	g := &Genesis{
		Name: t.Name, ChainID: t.ChainID, Devnet: t.Devnet, TimestampMillis: t.TimestampMillis,
		Supply: t.Supply, Beacon: t.Beacon, GroupKey: t.GroupKey, Params: t.Params,
	}
	for _, p := range t.Polynomial {
		g.Polynomial = append(g.Polynomial, p)
	}
	for _, v := range t.Validators {
		g.Validators = append(g.Validators, chain.Validator{
			PeerKey: v.PeerKey, BLSKey: v.BLSKey, BLSPossession: v.BLSPossession, ShareIndex: v.ShareIndex,
			PublicShare: v.PublicShare, Stake: v.Stake, RewardAddress: v.RewardAddress,
		})
	}
	for _, a := range t.Allocations {
		g.Allocations = append(g.Allocations, Allocation{a.Name, a.Address, a.Amount, a.Bucket, (*Vesting)(a.Vesting)})
	}
	for _, a := range t.SystemActors {
		g.SystemActors = append(g.SystemActors, SystemActor(a))
	}
	return g
}

// MarshalJSON writes the canonical document as files keep it: every field in a
// fixed order, amounts as decimal strings, indented, with a final newline.
func (g *Genesis) MarshalJSON() ([]byte, error) {
	b, err := json.MarshalIndent(g.text(), "", "  ")
	return append(b, '\n'), err
}

// Format is the format of genesis documents that this build reads and writes.
// It rises with every release in which the fields, or what they mean, are others than
// in the one before. Documents of format 1 name none.
const Format = 3

// FormatError means a genesis of another format than [Format].
type FormatError struct{ Found string }

// Error names both formats.
func (e *FormatError) Error() string {
	return fmt.Sprintf("genesis format %s, this build reads %d: use the build that made it, or make a new genesis with this one", e.Found, Format)
}

// checkFormat refuses a genesis of another format before anything else is said of it.
func checkFormat(doc *document.Value) error {
	found := doc.Members["format"]
	switch {
	case doc.Kind != document.Object:
		return nil // no genesis at all: what is wrong is said later
	case found == nil:
		return &FormatError{Found: "1"}
	case found.Kind != document.Number:
		return &FormatError{Found: "that is no number"}
	case found.Text != fmt.Sprint(Format):
		return &FormatError{Found: found.Text[:min(len(found.Text), document.NameBytesMax)]}
	}
	return nil
}

// ErrSize means that a genesis file is larger than [MaxBytes].
var ErrSize = errors.New("genesis file is too large")

// Parse reads a complete genesis file. It is strict: every field must be
// there exactly once, no other may, and nothing follows the document. Errors
// name the field by its path in the file.
func Parse(b []byte) (*Genesis, error) {
	g, err := parse(b)
	if err != nil {
		return nil, err
	}
	if err := g.Check(); err != nil {
		return nil, fmt.Errorf("genesis: %w", err)
	}
	return g, nil
}

// ParseTemplate reads a genesis file whose validators are still to be
// filled in by [Genesis.Complete]. It is as strict as [Parse].
func ParseTemplate(b []byte) (*Genesis, error) {
	g, err := parse(b)
	if err != nil {
		return nil, err
	}
	if err := g.CheckTemplate(); err != nil {
		return nil, fmt.Errorf("genesis template: %w", err)
	}
	return g, nil
}

func parse(b []byte) (*Genesis, error) {
	if len(b) > MaxBytes {
		return nil, fmt.Errorf("%w: %d bytes, want at most %d", ErrSize, len(b), MaxBytes)
	}
	doc, err := document.Read(b)
	if err != nil {
		return nil, fmt.Errorf("genesis: %w", err)
	}
	if err := checkFormat(doc); err != nil {
		return nil, err
	}
	var t genesisText
	if err := document.Fill(&t, doc); err != nil {
		return nil, fmt.Errorf("genesis: %w", err)
	}
	return t.genesis(), nil
}

// document returns the canonical document of g.
func (g *Genesis) document() *document.Value { return document.Of(g.text()) }
