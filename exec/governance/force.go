package governance

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/state"
)

// ErrRecord means a record in the state that does not decode: a fault. Only the
// protocol writes there: programs write their own accounts, restorations those of
// dormant actors (exec's TestFaultSites lists every use).
var ErrRecord = errors.New("record of governance is malformed")

// MaxSettings bounds the parameters that differ from the genesis.
const MaxSettings = 512

// Force is the parameters in force after one state. It is a value: the one of a
// block's parent makes that of the block, without work while nothing changes.
type Force struct {
	Params   *params.Params
	genesis  *params.Params
	settings []byte
}

// Genesis returns what is in force in block 1.
func Genesis(p *params.Params) Force { return Force{Params: p, genesis: p} }

// At returns what is in force in the block after the state. The error is a fault: of a
// setting that this build cannot read, a [*chain.KeptSettingError] that names it.
func (f Force) At(v state.View) (Force, error) {
	b, err := v.Storage(chain.AddrGovernance, settingsKey())
	// Bounded: by the settings in force, once a block; MaxSettings, 512.
	if err != nil || bytes.Equal(b, f.settings) {
		return f, err
	}
	f.settings, f.Params = b, f.genesis
	if b == nil {
		return f, nil
	}
	list, err := readSettings(b)
	if err == nil {
		f.Params, err = f.genesis.With(list...)
	}
	return f, err
}

func systemKey(parts ...[]byte) state.StorageKey {
	// Bounded: by the parts of a key.
	return state.NewStorageKey(state.VMNamespaceSystem, bytes.Join(parts, nil))
}

func settingsKey() state.StorageKey { return systemKey([]byte("settings")) }

// Settings returns what governance has set.
func Settings(v state.View) ([]params.KeptSetting, error) {
	b, err := v.Storage(chain.AddrGovernance, settingsKey())
	if err != nil {
		return nil, err
	}
	return readSettings(b)
}

// settingLimits bound the value of one setting: more than documents nest.
func settingLimits() cbor.Limits {
	return cbor.Limits{Bytes: params.MaxSettingBytes, Depth: 16, Items: params.MaxSettingBytes}
}

// readSettings reads {path: value, …}, or nothing where nothing was ever set. What the
// values are is for [params.Params.With].
func readSettings(b []byte) ([]params.KeptSetting, error) {
	if b == nil {
		return nil, nil
	}
	r := cbor.NewReader(b)
	n, err := r.Map(MaxSettings)
	if err != nil {
		return nil, fmt.Errorf("%w: settings: %w", ErrRecord, err)
	}
	out := make([]params.KeptSetting, 0, n)
	var key []byte
	// Bounded: by MaxSettings, 512; the bytes pay before (look), or it is once a block in which they changed.
	for range n {
		var s params.KeptSetting
		if key, err = r.Key(key, settingLimits()); err == nil {
			path := cbor.NewReader(key)
			s.Path, err = path.Text(params.MaxSettingPath)
		}
		if err == nil {
			s.Value, err = r.Raw(settingLimits())
		}
		if err != nil {
			return nil, fmt.Errorf("%w: settings: %w", ErrRecord, err)
		}
		out = append(out, s)
	}
	if err := r.End(); err != nil {
		return nil, fmt.Errorf("%w: settings: %w", ErrRecord, err)
	}
	return out, nil
}

// appendSettings writes what readSettings reads, of a list in its order.
func appendSettings(dst []byte, list []params.KeptSetting) []byte {
	dst = cbor.AppendMap(dst, len(list))
	// Bounded: by MaxSettings, 512; the bytes pay before (look), or it is once a block in which they changed.
	for _, s := range list {
		dst = append(cbor.AppendText(dst, s.Path), s.Value...)
	}
	return dst
}

// merge puts a setting in its place in the list: the order of keys in a map (CIP-11
// §12.6), in which each path stands once.
func merge(list []params.KeptSetting, s params.KeptSetting) []params.KeptSetting {
	// Bounded: by MaxSettings, 512; the bytes pay before (look), or it is once a block in which they changed.
	i, found := slices.BinarySearchFunc(list, s.Path, func(k params.KeptSetting, path string) int {
		return cmp.Or(cmp.Compare(len(k.Path), len(path)), cmp.Compare(k.Path, path))
	})
	if found {
		list[i] = s
		return list
	}
	// Bounded: by MaxSettings, 512; the bytes pay before (look), or it is once a block in which they changed.
	return slices.Insert(list, i, s)
}
