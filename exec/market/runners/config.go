package runners

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/exec/market/selection"
	"github.com/cowboy-foundation/cowboy/state"
)

// configNow is what weights and reputation depend on in a block.
func configNow(p *params.Runner) selection.Config {
	return selection.Config{
		Version: selection.V2, StakeFloor: p.StakeFloor, MinReputation: p.MinReputation, HalfLifeBlocks: p.ReputationHalfLifeBlocks,
		Normalizer: selection.Normalizer,
	}
}

const configNumbers = 7

func configKey(n uint32) state.StorageKey { return key("repconf/", be4(n)) }

// configsKey is where the number of configurations stands.
func configsKey() state.StorageKey { return key("repconfs") }

// Configure returns the configuration in force and its number, under which it stands in
// the state from the first job on that was submitted under it (resolution 12.17).
func (b *Book) Configure() (uint32, *selection.Config, error) {
	c := configNow(&b.Params.Runner)
	n, err := readCount(b.State, configsKey())
	if err != nil {
		return 0, nil, err
	}
	if n > 0 {
		last, err := ReadConfig(b.State, n-1)
		if err != nil || *last == c {
			return n - 1, last, err
		}
	}
	b.State.SetStorage(chain.AddrRunnerRegistry, configKey(n), encodeConfig(&c))
	b.State.SetStorage(chain.AddrRunnerRegistry, configsKey(), cbor.AppendUint(nil, uint64(n)+1))
	return n, &c, nil
}

func encodeConfig(c *selection.Config) []byte {
	b := cbor.AppendArray(nil, configNumbers)
	// Bounded: by the fields, seven.
	for _, v := range [configNumbers]uint64{
		uint64(c.Version), uint64(c.StakeFloor), c.MinReputation, c.HalfLifeBlocks, c.Normalizer, c.WeightFloorE6, c.AverageBasisPoints,
	} {
		b = cbor.AppendUint(b, v)
	}
	return b
}

// ReadConfig returns the configuration with a number that a job holds. The error is a
// fault.
func ReadConfig(view Reader, n uint32) (*selection.Config, error) {
	row, err := view.Storage(chain.AddrRunnerRegistry, configKey(n))
	if err != nil {
		return nil, err
	}
	r := cbor.NewReader(row)
	var v [configNumbers]uint64
	if r.ArrayOf(configNumbers) != nil || r.Uints(v[:]) != nil || r.End() != nil || v[0]>>8 != 0 {
		return nil, ErrRecord
	}
	return &selection.Config{
		Version: selection.Version(v[0]), StakeFloor: chain.Wei(v[1]), MinReputation: v[2], HalfLifeBlocks: v[3],
		Normalizer: v[4], WeightFloorE6: v[5], AverageBasisPoints: v[6],
	}, nil
}
