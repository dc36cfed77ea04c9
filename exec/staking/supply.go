package staking

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/funds"
	"github.com/cowboy-foundation/cowboy/state"
)

// Supply is what the chain knows about its money as a whole. It lies in
// the Treasury's storage, in the system namespace, under "supply".
type Supply struct {
	Total     chain.Wei // the sum of all balances
	Issued    chain.Wei // since genesis
	Burned    chain.Wei // since genesis
	Year      uint64    // of the latest block, counted from 1; 0 at genesis
	YearStart chain.Wei // Total when that year began
}

// supplyKey is where the record lies under chain.AddrTreasury.
func supplyKey() state.StorageKey {
	return state.NewStorageKey(state.VMNamespaceSystem, []byte("supply"))
}

// Contradictions in the state.
var (
	// ErrNoSupply means that the supply record is missing: the state does not come from a
	// genesis.
	ErrNoSupply = errors.New("no supply record")
	// ErrSupplyRecord means a supply record that does not decode.
	ErrSupplyRecord = errors.New("supply record is malformed")
)

// ReadSupply returns the supply record. The error is a fault.
func ReadSupply(view state.View) (Supply, error) {
	b, err := view.Storage(chain.AddrTreasury, supplyKey())
	if err == nil && b == nil {
		err = ErrNoSupply
	}
	if err != nil {
		return Supply{}, err
	}
	return decodeSupply(b)
}

// Genesis writes the record of a chain that starts with so much.
func Genesis(d *state.Delta, total chain.Wei) {
	s := Supply{Total: total, YearStart: total}
	d.SetStorage(chain.AddrTreasury, supplyKey(), s.encode())
}

// bookBlock books one block.
func (s *Supply) bookBlock(issued, burned chain.Wei) error {
	total, carry := bits.Add64(uint64(s.Total), uint64(issued), 0)
	total, borrow := bits.Sub64(total, uint64(burned), 0)
	if carry != 0 || borrow != 0 || !funds.Add(&s.Issued, issued) || !funds.Add(&s.Burned, burned) {
		return fmt.Errorf("%w: book supply", funds.ErrMoney)
	}
	s.Total = chain.Wei(total)
	return nil
}

// encode returns the CBOR array [total, issued, burned, year, year_start].
func (s *Supply) encode() []byte {
	return cbor.AppendUints(make([]byte, 0, 46), uint64(s.Total), uint64(s.Issued), uint64(s.Burned), s.Year, uint64(s.YearStart))
}

func decodeSupply(b []byte) (Supply, error) {
	var v [5]uint64
	if cbor.DecodeUints(b, v[:]) != nil {
		return Supply{}, ErrSupplyRecord
	}
	return Supply{chain.Wei(v[0]), chain.Wei(v[1]), chain.Wei(v[2]), v[3], chain.Wei(v[4])}, nil
}
