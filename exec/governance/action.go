package governance

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

// Names of the actions, the first element of their encoding.
const (
	ActionSet       = "set_param"             // [name, path, value, path, value, …]: the values are JSON texts
	ActionDeprecate = "deprecate_entitlement" // [name, id]
	ActionEntry     = "set_entry"             // [name, table, key, value or null]
	ActionUpgrade   = "upgrade_system_actor"  // [name, address, source]
	ActionRegistry  = "entitlement_registry"  // [name, instruction]: a payload to chain.AddrEntitlements
)

// Tables that [ActionEntry] may write.
const (
	TableTEEKeys         = "tee_keys"         // enclave vendors' keys
	TableTEEMeasurements = "tee_measurements" // accepted measurements of enclaves
	TableModelBans       = "model_bans"       // models that no job may name
)

// Bounds of an entry.
const (
	MaxEntryKey   = 256
	MaxEntryValue = 16 << 10
)

// Action is one decision.
type Action struct {
	Name     string
	Settings []params.Setting // ActionSet
	ID       string           // ActionDeprecate
	Table    string           // ActionEntry
	Key      string
	Value    []byte        // of an entry; nil removes it
	Actor    chain.Address // ActionUpgrade
	Source   []byte

	Instruction []byte // ActionRegistry
}

// ParseAction reads an action. It judges the form alone.
func ParseAction(b []byte) (a Action, err error) {
	r := cbor.NewReader(b)
	n, err := r.Array(1 + 2*MaxSettings)
	if err == nil {
		a.Name, err = r.Text(64)
	}
	if err != nil {
		return a, fmt.Errorf("%w: %w", ErrAction, err)
	}
	switch {
	case a.Name == ActionSet && n >= 3 && n%2 == 1:
		// Paid: by the bytes of the action (look); MaxSettings, 512, at most.
		for range n / 2 {
			var s params.Setting
			var value string
			if s.Path, err = r.Text(params.MaxSettingPath); err == nil {
				value, err = r.Text(params.MaxSettingBytes)
			}
			if err != nil {
				return a, fmt.Errorf("%w: %w", ErrAction, err)
			}
			s.Value = []byte(value)
			a.Settings = append(a.Settings, s)
		}
	case a.Name == ActionDeprecate && n == 2:
		a.ID, err = r.Text(64)
	case a.Name == ActionEntry && n == 4:
		err = a.readEntry(&r)
	case a.Name == ActionUpgrade && n == 3:
		if err = r.BytesInto(a.Actor[:]); err == nil {
			a.Source, err = r.Bytes(chain.MaxTxBytes)
		}
	case a.Name == ActionRegistry && n == 2:
		if a.Instruction, err = r.Bytes(chain.MaxTxBytes); err == nil {
			_, err = (&chain.Tx{To: &chain.AddrEntitlements, Payload: a.Instruction}).Classify()
		}
	default:
		return a, fmt.Errorf("%w: no action %q with %d elements", ErrAction, a.Name, n)
	}
	if err == nil {
		err = r.End()
	}
	if err != nil {
		return a, fmt.Errorf("%w: %w", ErrAction, err)
	}
	return a, nil
}

func (a *Action) readEntry(r *cbor.Reader) (err error) {
	if a.Table, err = r.Text(64); err != nil {
		return err
	}
	if a.Key, err = r.Text(MaxEntryKey); err != nil {
		return err
	}
	switch a.Table {
	case TableTEEKeys, TableTEEMeasurements, TableModelBans:
	default:
		return fmt.Errorf("no table %q", a.Table)
	}
	if r.Null() {
		return nil
	}
	a.Value, err = r.Bytes(MaxEntryValue) // empty is not nil
	return err
}

// Append writes what [ParseAction] reads.
func (a *Action) Append(dst []byte) []byte {
	switch a.Name {
	case ActionSet:
		dst = cbor.AppendText(cbor.AppendArray(dst, 1+2*len(a.Settings)), a.Name)
		// Paid: by the bytes of the action (look); MaxSettings, 512, at most.
		for _, s := range a.Settings {
			dst = cbor.AppendText(cbor.AppendText(dst, s.Path), string(s.Value))
		}
	case ActionDeprecate:
		dst = cbor.AppendText(cbor.AppendText(cbor.AppendArray(dst, 2), a.Name), a.ID)
	case ActionEntry:
		dst = cbor.AppendText(cbor.AppendText(cbor.AppendArray(dst, 4), a.Name), a.Table)
		dst = cbor.AppendText(dst, a.Key)
		if a.Value == nil {
			return cbor.AppendNull(dst)
		}
		dst = cbor.AppendBytes(dst, a.Value)
	case ActionUpgrade:
		dst = cbor.AppendText(cbor.AppendArray(dst, 3), a.Name)
		dst = cbor.AppendBytes(cbor.AppendBytes(dst, a.Actor[:]), a.Source)
	case ActionRegistry:
		dst = cbor.AppendBytes(cbor.AppendText(cbor.AppendArray(dst, 2), a.Name), a.Instruction)
	}
	return dst
}
