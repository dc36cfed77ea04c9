package exec

import (
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/state"
)

// SupplyRecord is what the chain knows about its money as a whole. It lies in
// the Treasury's storage, in the system namespace, under "supply".
type SupplyRecord struct {
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

// Supply returns the total supply. The error is a [*Fault].
func Supply(view state.View) (chain.Wei, error) {
	s, err := ReadSupply(view)
	return s.Total, err
}

// ReadSupply returns the supply record. The error is a [*Fault].
func ReadSupply(view state.View) (SupplyRecord, error) {
	b, err := view.Storage(chain.AddrTreasury, supplyKey())
	if err == nil && b == nil {
		err = ErrNoSupply
	}
	var s SupplyRecord
	if err == nil {
		s, err = decodeSupply(b)
	}
	if err != nil {
		return SupplyRecord{}, &Fault{"read supply", err}
	}
	return s, nil
}

// settle books one block.
func (s *SupplyRecord) settle(issued, burned chain.Wei) error {
	total, carry := bits.Add64(uint64(s.Total), uint64(issued), 0)
	total, borrow := bits.Sub64(total, uint64(burned), 0)
	if carry != 0 || borrow != 0 || !add(&s.Issued, issued) || !add(&s.Burned, burned) {
		return &Fault{"book supply", ErrMoney}
	}
	s.Total = chain.Wei(total)
	return nil
}

// encode returns the CBOR array [total, issued, burned, year, year_start].
func (s *SupplyRecord) encode() []byte {
	return cbor.AppendUints(make([]byte, 0, 46), uint64(s.Total), uint64(s.Issued), uint64(s.Burned), s.Year, uint64(s.YearStart))
}

func decodeSupply(b []byte) (SupplyRecord, error) {
	var v [5]uint64
	if cbor.DecodeUints(b, v[:]) != nil {
		return SupplyRecord{}, ErrSupplyRecord
	}
	return SupplyRecord{chain.Wei(v[0]), chain.Wei(v[1]), chain.Wei(v[2]), v[3], chain.Wei(v[4])}, nil
}
