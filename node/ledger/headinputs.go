package ledger

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/runners"
)

// ErrPresenceSize means a header with a longer PresenceInput than its parent's registry of
// runners lets it have.
var ErrPresenceSize = errors.New("presence input is longer than the registry allows")

// presenceSpare and presenceEach are what a PresenceInput may take in bytes: so many, and
// so many for each entry of the registry in the parent's state (resolution 12.84).
const (
	presenceSpare = 1_024
	presenceEach  = 4
)

// leaveInputsEmpty fills in the execution inputs of a block that selects no runner.
func leaveInputsEmpty(h *chain.Header) {
	h.PresenceInput, h.ConsumedSeeds = chain.NewPresentSet(0).Encode(), chain.EncodeConsumedSeeds(nil)
}

// checkInputs holds the execution inputs of a header to a registry of so many runners.
// While CIP-11 selection is off, PresenceInput may be any bytes (CIP-11 §7.2), but not any
// number of them: headers go to every peer with every shard, and to light clients for ever
// (docs/adr/0204). Consumed seeds must be empty, because an unused entry makes a block
// invalid (CIP-11 §9.2).
func checkInputs(got *chain.Header, runners uint32) error {
	if most := presenceSpare + presenceEach*uint64(runners); uint64(len(got.PresenceInput)) > most {
		return &Verdict{"presence input", fmt.Errorf("%d bytes, at most %d: %w", len(got.PresenceInput), most, ErrPresenceSize)}
	}
	if string(got.ConsumedSeeds) != string(chain.EncodeConsumedSeeds(nil)) {
		return &Verdict{"consumed seeds", errors.New("no pending selection uses them")}
	}
	return nil
}

// countRunners returns how many entries the registry has in a state. The error is a fault.
func countRunners(view runners.Reader) (uint32, error) {
	n, err := runners.Count(view)
	if err != nil {
		return 0, &fault{fmt.Errorf("registry of runners: %w", err)}
	}
	return n, nil
}
