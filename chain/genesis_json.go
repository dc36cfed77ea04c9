package chain

import (
	"encoding/json"
	"errors"
	"fmt"
)

// genesisText is a [Genesis] as its file spells it.
type genesisText struct {
	Format          uint64           `json:"format"`
	Name            string           `json:"name"`
	ChainID         uint64           `json:"chain_id"`
	Devnet          bool             `json:"devnet"`
	TimestampMillis uint64           `json:"timestamp_ms"`
	Supply          Wei              `json:"supply"`
	Beacon          Hash             `json:"beacon"`
	GroupKey        point2           `json:"group_key"`
	Polynomial      []point2         `json:"polynomial"`
	Validators      []validatorText  `json:"validators"`
	Allocations     []allocationText `json:"allocations"`
	SystemActors    []actorText      `json:"system_actors"`
	Params          Params           `json:"params"`
}

type validatorText struct {
	PeerKey       PeerKey `json:"peer_key"`
	BLSKey        point2  `json:"bls_key"`
	BLSPossession point1  `json:"bls_possession"`
	ShareIndex    uint32  `json:"share_index"`
	PublicShare   point2  `json:"public_share"`
	Stake         Wei     `json:"stake"`
	RewardAddress Address `json:"reward_address"`
}

type allocationText struct {
	Name    string       `json:"name"`
	Address Address      `json:"address"`
	Amount  Wei          `json:"amount"`
	Bucket  string       `json:"bucket"`
	Vesting *vestingText `json:"vesting,omitempty"`
}

type vestingText struct {
	StartHeight    Height `json:"start_height"`
	CliffBlocks    uint64 `json:"cliff_blocks"`
	DurationBlocks uint64 `json:"duration_blocks"`
}

type actorText struct {
	Name    string  `json:"name"`
	Address Address `json:"address"`
}

// text returns g as its file spells it, with every list present.
func (g *Genesis) text() *genesisText {
	t := &genesisText{
		Format: GenesisFormat,
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
	detach(&t.Params)
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
		g.Validators = append(g.Validators, Validator{
			v.PeerKey, v.BLSKey, v.BLSPossession, v.ShareIndex, v.PublicShare, v.Stake, v.RewardAddress,
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

// GenesisFormat is the format of genesis documents that this build reads and writes.
// It rises with every release in which the fields, or what they mean, are others than
// in the one before. Documents of format 1 name none.
const GenesisFormat = 2

// GenesisFormatError means a genesis of another format than [GenesisFormat].
type GenesisFormatError struct{ Found string }

// Error names both formats.
func (e *GenesisFormatError) Error() string {
	return fmt.Sprintf("genesis format %s, this build reads %d: use the build that made it, or make a new genesis with this one", e.Found, GenesisFormat)
}

// checkFormat refuses a genesis of another format before anything else is said of it.
func checkFormat(doc *document) error {
	found := doc.members["format"]
	switch {
	case doc.kind != documentObject:
		return nil // no genesis at all: what is wrong is said later
	case found == nil:
		return &GenesisFormatError{Found: "1"}
	case found.kind != documentNumber:
		return &GenesisFormatError{Found: "that is no number"}
	case found.text != fmt.Sprint(GenesisFormat):
		return &GenesisFormatError{Found: found.text[:min(len(found.text), maxNameBytes)]}
	}
	return nil
}

// ErrGenesisSize means that a genesis file is larger than [MaxGenesisBytes].
var ErrGenesisSize = errors.New("genesis file is too large")

// ParseGenesis reads a complete genesis file. It is strict: every field must be
// there exactly once, no other may, and nothing follows the document. Errors
// name the field by its path in the file.
func ParseGenesis(b []byte) (*Genesis, error) {
	g, err := parseGenesis(b)
	if err != nil {
		return nil, err
	}
	if err := g.Check(); err != nil {
		return nil, fmt.Errorf("genesis: %w", err)
	}
	return g, nil
}

// ParseGenesisTemplate reads a genesis file whose validators are still to be
// filled in by [Genesis.Complete]. It is as strict as [ParseGenesis].
func ParseGenesisTemplate(b []byte) (*Genesis, error) {
	g, err := parseGenesis(b)
	if err != nil {
		return nil, err
	}
	if err := g.CheckTemplate(); err != nil {
		return nil, fmt.Errorf("genesis template: %w", err)
	}
	return g, nil
}

func parseGenesis(b []byte) (*Genesis, error) {
	if len(b) > MaxGenesisBytes {
		return nil, fmt.Errorf("%w: %d bytes, want at most %d", ErrGenesisSize, len(b), MaxGenesisBytes)
	}
	doc, err := readDocument(b)
	if err != nil {
		return nil, fmt.Errorf("genesis: %w", err)
	}
	if err := checkFormat(doc); err != nil {
		return nil, err
	}
	var t genesisText
	if err := fill(&t, doc); err != nil {
		return nil, fmt.Errorf("genesis: %w", err)
	}
	return t.genesis(), nil
}

// document returns the canonical document of g.
func (g *Genesis) document() *document { return documentOf(g.text()) }
