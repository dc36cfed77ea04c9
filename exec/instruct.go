package exec

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// What the instructions of several system addresses refuse for the same reasons.
var (
	errValue  = errors.New("the instruction takes no value")
	errCycles = errors.New("cycles limit reached")
	errCells  = errors.New("cells limit reached")
)

// arguments returns a reader in front of the first argument of an instruction's
// payload, whose form [chain.Tx.Classify] has checked.
func arguments(payload []byte) (cbor.Reader, error) {
	r := cbor.NewReader(payload)
	if _, err := r.Array(chain.MaxTxBytes); err != nil {
		return r, err
	}
	_, err := r.Uint()
	return r, err
}

// verdicts says which receipt's code the verdicts of a domain package have.
type verdicts []struct {
	code uint16
	errs []error
}

// codeOf returns the code of a verdict; false for what is none.
func (v verdicts) codeOf(err error) (uint16, bool) {
	// Bounded: by the verdicts of a package.
	for _, row := range v {
		// Bounded: by the verdicts of a package.
		for _, e := range row.errs {
			if errors.Is(err, e) {
				return row.code, true
			}
		}
	}
	return 0, false
}

// eventCells is the price of events in cells.
func (b *block) eventCells(events []chain.Event) chain.Cells {
	sum := uint64(0)
	// Bounded: by the events of one instruction.
	for _, e := range events {
		sum += b.in.Params.API.OfEvent(len(e.Name), len(e.Data))
	}
	return chain.Cells(sum)
}
