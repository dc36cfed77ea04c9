//spec:implements CIP-2 7.5

package entitlements

import (
	"fmt"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/state"
)

// roomKey holds how many grants an address has in a scope, rolesKey the ids of its roles
// with that scope.
func roomKey(a chain.Address, s Scope) state.StorageKey {
	h := keccak.Sum256(s.Append(nil))
	return key("n", a[:], h[:])
}

func rolesKey(a chain.Address, s Scope) state.StorageKey {
	h := keccak.Sum256(s.Append(nil))
	return key("k", a[:], h[:])
}

func room(v Reader, a chain.Address, s Scope) (n uint64, err error) {
	row, err := v.Storage(chain.AddrEntitlements, roomKey(a, s))
	if err != nil || row == nil {
		return 0, err
	}
	if n, err = cbor.DecodeUint(row); err != nil || n == 0 {
		return 0, fmt.Errorf("%w: grants of %s in %s: %w", ErrRecord, a, s, err)
	}
	return n, nil
}

// enter counts one more grant of an address in a scope. Errors: ErrLimit.
func enter(o *state.Overlay, a chain.Address, s Scope) error {
	n, err := room(o, a, s)
	if err == nil && n >= MaxGrants {
		err = fmt.Errorf("%w: %s has %d in %s", ErrLimit, a, n, s)
	}
	if err == nil {
		o.SetStorage(chain.AddrEntitlements, roomKey(a, s), cbor.AppendUint(nil, n+1))
	}
	return err
}

// leave counts one less.
func leave(o *state.Overlay, a chain.Address, s Scope) error {
	n, err := room(o, a, s)
	if err != nil {
		return err
	}
	if n == 0 {
		return fmt.Errorf("%w: %s has no grants in %s", ErrRecord, a, s)
	}
	var row []byte
	if n > 1 {
		row = cbor.AppendUint(nil, n-1)
	}
	o.SetStorage(chain.AddrEntitlements, roomKey(a, s), row)
	return nil
}

// take gives an address a role in each of its scopes. Errors: ErrLimit.
func take(o *state.Overlay, a chain.Address, id chain.Hash, scopes []Scope) error {
	// Bounded: by MaxScopes, 16, for the price of the instruction.
	for _, s := range scopes {
		ids, err := idsAt(o, rolesKey(a, s))
		if err != nil {
			return err
		}
		if len(ids) >= MaxRoles {
			return fmt.Errorf("%w: %s has %d roles in %s", ErrLimit, a, len(ids), s)
		}
		setIDs(o, rolesKey(a, s), append(ids, id))
	}
	return nil
}

// giveUp takes it away again.
func giveUp(o *state.Overlay, a chain.Address, id chain.Hash, scopes []Scope) error {
	// Bounded: by MaxScopes, 16, for the price of the instruction.
	for _, s := range scopes {
		ids, err := idsAt(o, rolesKey(a, s))
		if err != nil {
			return err
		}
		// Bounded: by MaxRoles, 64.
		setIDs(o, rolesKey(a, s), slices.DeleteFunc(ids, func(other chain.Hash) bool { return other == id }))
	}
	return nil
}

// rolesIn returns the roles of an address that name a scope, or the whole chain.
func rolesIn(v Reader, a chain.Address, s Scope) ([]chain.Hash, error) {
	ids, err := idsAt(v, rolesKey(a, s))
	if err != nil || s == (Scope{}) {
		return ids, err
	}
	global, err := idsAt(v, rolesKey(a, Scope{}))
	return append(ids, global...), err
}

// idsAt reads a row of ids.
func idsAt(v Reader, at state.StorageKey) (ids []chain.Hash, err error) {
	row, err := v.Storage(chain.AddrEntitlements, at)
	if err != nil {
		return nil, err
	}
	if len(row)%len(chain.Hash{}) != 0 || len(row) > MaxGrants*len(chain.Hash{}) {
		return nil, fmt.Errorf("%w: %d bytes of ids", ErrRecord, len(row))
	}
	// Bounded: by MaxGrants, 256.
	for ; len(row) > 0; row = row[len(chain.Hash{}):] {
		ids = append(ids, chain.Hash(row))
	}
	return ids, nil
}

func setIDs(o *state.Overlay, at state.StorageKey, ids []chain.Hash) {
	var row []byte
	// Bounded: by MaxGrants, 256.
	for _, id := range ids {
		row = append(row, id[:]...)
	}
	o.SetStorage(chain.AddrEntitlements, at, row)
}
