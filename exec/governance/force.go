package governance

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
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
	Params   *chain.Params
	genesis  *chain.Params
	settings []byte
}

// Genesis returns what is in force in block 1.
func Genesis(p *chain.Params) Force { return Force{Params: p, genesis: p} }

// At returns what is in force in the block after the state. The error is a
// fault.
func (f Force) At(v state.View) (Force, error) {
	b, err := v.Storage(chain.AddrGovernance, settingsKey())
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
	if err != nil {
		return f, fmt.Errorf("%w: settings: %w", ErrRecord, err)
	}
	return f, nil
}

func systemKey(parts ...[]byte) state.StorageKey {
	return state.NewStorageKey(state.VMNamespaceSystem, bytes.Join(parts, nil))
}

func settingsKey() state.StorageKey { return systemKey([]byte("settings")) }

// Settings returns what differs from the genesis.
func Settings(v state.View) ([]chain.Setting, error) {
	b, err := v.Storage(chain.AddrGovernance, settingsKey())
	if err != nil || b == nil {
		return nil, err
	}
	return readSettings(b)
}

// readSettings reads [[path, value], …].
func readSettings(b []byte) ([]chain.Setting, error) {
	r := cbor.NewReader(b)
	n, err := r.Array(MaxSettings)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	out := make([]chain.Setting, 0, n)
	for range n {
		var s chain.Setting
		if err = r.ArrayOf(2); err == nil {
			s.Path, err = r.Text(chain.MaxSettingPath)
		}
		if err == nil {
			s.Value, err = r.Bytes(chain.MaxSettingBytes)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrRecord, err)
		}
		out = append(out, s)
	}
	if err := r.End(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrRecord, err)
	}
	return out, nil
}

func appendSettings(dst []byte, list []chain.Setting) []byte {
	dst = cbor.AppendArray(dst, len(list))
	for _, s := range list {
		dst = cbor.AppendBytes(cbor.AppendText(cbor.AppendArray(dst, 2), s.Path), s.Value)
	}
	return dst
}

// merge puts a setting behind the others, in place of those that it covers.
func merge(list []chain.Setting, s chain.Setting) []chain.Setting {
	out := make([]chain.Setting, 0, len(list)+1)
	for _, old := range list {
		if !chain.PathCovers(s.Path, old.Path) {
			out = append(out, old)
		}
	}
	return append(out, s)
}
