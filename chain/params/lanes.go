package params

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/document"
)

// LaneShares is a lane's guaranteed part of the targets, in basis points, by
// [chain.LaneID]. In JSON it is an object keyed by lane name.
type LaneShares [chain.NumLanes]uint64

// Names of the two lane tables of the specification. The first is the default
// (resolution 2.1).
const (
	LaneProfile63     = "whitepaper-6.3"
	LaneProfile179    = "whitepaper-17.9"
	LaneProfileCustom = "custom"
)

// LaneProfileShares returns the shares of a named preset, and false for a name
// that is none.
func LaneProfileShares(profile string) (LaneShares, bool) {
	switch profile {
	case LaneProfile63:
		return LaneShares{chain.LaneSystem: 500, chain.LaneTimer: 2_000, chain.LaneRunner: 2_500, chain.LaneUser: 5_000}, true
	case LaneProfile179:
		return LaneShares{chain.LaneSystem: 500, chain.LaneTimer: 2_000, chain.LaneRunner: 1_000, chain.LaneUser: 6_500}, true
	default:
		return LaneShares{}, false
	}
}

// LaneProfiles returns the names of the presets, the default's first.
func LaneProfiles() []string { return []string{LaneProfile63, LaneProfile179} }

// SetLaneProfile gives the lanes the shares of a named preset.
func (p *Params) SetLaneProfile(profile string) error {
	shares, ok := LaneProfileShares(profile)
	if !ok {
		return fmt.Errorf("lane profile %q: want %s", profile, strings.Join(LaneProfiles(), " or "))
	}
	p.LaneProfile, p.LaneShareBasisPoints = profile, shares
	return nil
}

// fields lists the lanes by their names.
func (s *LaneShares) Fields() []document.Field {
	out := make([]document.Field, chain.NumLanes)
	for lane := range s {
		out[lane] = document.Field{Name: chain.LaneID(lane).String(), Value: &s[lane]}
	}
	return out
}

func (s *LaneShares) Member(name string) any {
	for lane := range s {
		if chain.LaneID(lane).String() == name {
			return &s[lane]
		}
	}
	return nil
}

// laneSharesText is a [LaneShares] in JSON.
type laneSharesText struct {
	System uint64 `json:"system"`
	Timer  uint64 `json:"timer"`
	Runner uint64 `json:"runner"`
	User   uint64 `json:"user"`
}

// MarshalJSON writes one member per lane, by name.
func (s LaneShares) MarshalJSON() ([]byte, error) {
	return json.Marshal(laneSharesText{s[chain.LaneSystem], s[chain.LaneTimer], s[chain.LaneRunner], s[chain.LaneUser]})
}

// UnmarshalJSON reads what MarshalJSON writes. Lanes that are not named stay as
// they are, like the members of any object.
func (s *LaneShares) UnmarshalJSON(b []byte) error {
	t := laneSharesText{s[chain.LaneSystem], s[chain.LaneTimer], s[chain.LaneRunner], s[chain.LaneUser]}
	if err := json.Unmarshal(b, &t); err != nil {
		return err
	}
	*s = LaneShares{chain.LaneSystem: t.System, chain.LaneTimer: t.Timer, chain.LaneRunner: t.Runner, chain.LaneUser: t.User}
	return nil
}
