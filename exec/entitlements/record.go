package entitlements

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/state"
)

// ErrRecord means a record in the state that does not decode: a fault. Only the
// protocol writes there: programs write their own accounts, restorations those of
// dormant actors (exec's TestFaultSites lists every use).
var ErrRecord = errors.New("record of the entitlement registry is malformed")

// Reader is the storage of one state.
type Reader interface {
	Storage(addr chain.Address, key state.StorageKey) ([]byte, error)
}

// Grant is one permission of one address (CIP-2 §7.1).
type Grant struct {
	Grantee     chain.Address
	Scope       Scope
	Action      Action
	Constraints Constraints
	Born        uint64        // which of all grants that the grantee ever had; kept when renewed
	Parent      *chain.Hash   // that it was delegated from
	ParentBorn  uint64        // its number
	Grantor     chain.Address // who made it last
	Made        chain.Height  // when
	Slot        uint64        // in the grantee's list

	Used       uint64       // times
	AmountUsed uint64       // in all
	RateFrom   chain.Height // first block of the present window of the rate
	RateUsed   uint64       // times in it
}

// Role is scopes and actions under one name (CIP-2 §7.1): who has it may do each
// of the actions in each of the scopes in which it means something.
type Role struct {
	Creator     chain.Address
	Name        string
	Scopes      []Scope
	Actions     []Action
	Constraints Constraints
	Made        chain.Height
}

// Bounds of a role.
const (
	MaxScopes  = 16
	MaxActions = 16
)

// GrantID is keccak256(grantee ‖ scope ‖ action ‖ parent) (CIP-2 §7.1; resolution
// 8.6): the same grant again is the same one renewed.
func GrantID(grantee chain.Address, s Scope, a Action, parent *chain.Hash) chain.Hash {
	if parent == nil {
		return keccak.Sum256(grantee[:], s.Append(nil), a.Append(nil))
	}
	return keccak.Sum256(grantee[:], s.Append(nil), a.Append(nil), parent[:])
}

// RoleID names a role by its creator and its name.
func RoleID(creator chain.Address, name string) chain.Hash {
	return keccak.Sum256([]byte("cowboy-role-v1"), creator[:], []byte(name))
}

func key(table string, parts ...[]byte) state.StorageKey {
	b := append([]byte(table), '/')
	// Bounded: by the parts of a key.
	for _, p := range parts {
		b = append(b, p...)
	}
	return state.NewStorageKey(state.VMNamespaceSystem, b)
}

func grantKey(id chain.Hash) state.StorageKey { return key("e", id[:]) }
func roleKey(id chain.Hash) state.StorageKey  { return key("r", id[:]) }

func assignedKey(a chain.Address, role chain.Hash) state.StorageKey { return key("a", a[:], role[:]) }

func matchKey(grantee chain.Address, s Scope, a Action) state.StorageKey {
	id := GrantID(grantee, s, a, nil)
	return key("m", id[:])
}

func holderKey(s Scope) state.StorageKey {
	h := keccak.Sum256(s.Append(nil))
	return key("o", h[:])
}

// list is one of the two lists of an address.
type list struct {
	table string // of its rows
	field int    // of its length in the address's counts
}

var (
	grantsOf = list{"g", 0}
	rolesOf  = list{"l", 1}
)

func (l list) rowKey(a chain.Address, n uint64) state.StorageKey {
	return key(l.table, a[:], binary.BigEndian.AppendUint64(nil, n))
}

// length returns the length of the list.
func (l list) length(v Reader, a chain.Address) (uint64, error) {
	c, err := counts(v, a)
	return c[l.field], err
}

// at returns the n-th id of the list.
func (l list) at(v Reader, a chain.Address, n uint64) (id chain.Hash, err error) {
	b, err := v.Storage(chain.AddrEntitlements, l.rowKey(a, n))
	if err != nil {
		return id, err
	}
	if len(b) != len(id) {
		return id, fmt.Errorf("%w: %s of %s, row %d", ErrRecord, l.table, a, n)
	}
	return chain.Hash(b), nil
}

// push adds an id behind the others and returns its place.
func (l list) push(o *state.Overlay, a chain.Address, id chain.Hash) (uint64, error) {
	c, err := counts(o, a)
	if err != nil {
		return 0, err
	}
	n := c[l.field]
	o.SetStorage(chain.AddrEntitlements, l.rowKey(a, n), id[:])
	c[l.field]++
	setCounts(o, a, c)
	return n, nil
}

// removeAt takes the n-th id out and puts the last one in its place, which it
// returns; it is the zero hash when the last was the n-th.
func (l list) removeAt(o *state.Overlay, a chain.Address, n uint64) (moved chain.Hash, err error) {
	c, err := counts(o, a)
	if err != nil {
		return moved, err
	}
	if n >= c[l.field] {
		return moved, fmt.Errorf("%w: %s of %s, row %d of %d", ErrRecord, l.table, a, n, c[l.field])
	}
	c[l.field]--
	last := c[l.field]
	if n != last {
		if moved, err = l.at(o, a, last); err != nil {
			return moved, err
		}
		o.SetStorage(chain.AddrEntitlements, l.rowKey(a, n), moved[:])
	}
	o.SetStorage(chain.AddrEntitlements, l.rowKey(a, last), nil)
	setCounts(o, a, c)
	return moved, nil
}

// bear numbers a new grant of an address; the first is 1.
func bear(o *state.Overlay, a chain.Address) (uint64, error) {
	c, err := counts(o, a)
	if err != nil {
		return 0, err
	}
	c[2]++
	setCounts(o, a, c)
	return c[2], nil
}

// counts returns the lengths of an address's lists, and how many grants it ever had.
func counts(v Reader, a chain.Address) (c [3]uint64, err error) {
	b, err := v.Storage(chain.AddrEntitlements, key("c", a[:]))
	if err != nil || b == nil {
		return c, err
	}
	if err := cbor.DecodeUints(b, c[:]); err != nil {
		return c, fmt.Errorf("%w: counts of %s: %w", ErrRecord, a, err)
	}
	return c, nil
}

func setCounts(o *state.Overlay, a chain.Address, c [3]uint64) {
	if c == [3]uint64{} {
		o.SetStorage(chain.AddrEntitlements, key("c", a[:]), nil)
		return
	}
	o.SetStorage(chain.AddrEntitlements, key("c", a[:]), cbor.AppendUints(nil, c[:]...))
}

// ReadGrant returns a grant, also one that has expired; nil for none of that id.
func ReadGrant(v Reader, id chain.Hash) (*Grant, error) {
	b, err := v.Storage(chain.AddrEntitlements, grantKey(id))
	if err != nil || b == nil {
		return nil, err
	}
	g, err := decodeGrant(b)
	if err != nil {
		return nil, fmt.Errorf("%w: grant %s: %w", ErrRecord, id, err)
	}
	return g, nil
}

// ReadRole returns a role; nil for none of that id.
func ReadRole(v Reader, id chain.Hash) (*Role, error) {
	b, err := v.Storage(chain.AddrEntitlements, roleKey(id))
	if err != nil || b == nil {
		return nil, err
	}
	r, err := decodeRole(b)
	if err != nil {
		return nil, fmt.Errorf("%w: role %s: %w", ErrRecord, id, err)
	}
	return r, nil
}

// Grants returns the ids of an address's grants, expired ones included, up to
// [MaxListed].
func Grants(v Reader, a chain.Address) ([]chain.Hash, error) { return grantsOf.all(v, a) }

// Roles returns the ids of the roles that an address has, up to [MaxListed].
func Roles(v Reader, a chain.Address) ([]chain.Hash, error) { return rolesOf.all(v, a) }

func (l list) all(v Reader, a chain.Address) ([]chain.Hash, error) {
	n, err := l.length(v, a)
	if err != nil {
		return nil, err
	}
	ids := make([]chain.Hash, min(n, MaxListed))
	// Bounded: by MaxListed, 1,024; for people, in no block.
	for i := range ids {
		if ids[i], err = l.at(v, a, uint64(i)); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

func (g *Grant) encode() []byte {
	b := cbor.AppendBytes(cbor.AppendArray(nil, 14), g.Grantee[:])
	b = g.Constraints.Append(g.Action.Append(g.Scope.Append(b)))
	if g.Parent == nil {
		b = cbor.AppendNull(b)
	} else {
		b = cbor.AppendBytes(b, g.Parent[:])
	}
	b = cbor.AppendBytes(b, g.Grantor[:])
	// Bounded: by eight numbers.
	for _, n := range [...]uint64{g.Born, g.ParentBorn, uint64(g.Made), g.Slot, g.Used, g.AmountUsed, uint64(g.RateFrom), g.RateUsed} {
		b = cbor.AppendUint(b, n)
	}
	return b
}

func decodeGrant(b []byte) (g *Grant, err error) {
	r := cbor.NewReader(b)
	g = new(Grant)
	if err = r.ArrayOf(14); err != nil {
		return nil, err
	}
	if err = r.BytesInto(g.Grantee[:]); err != nil {
		return nil, err
	}
	if g.Scope, err = ReadScope(&r); err != nil {
		return nil, err
	}
	if g.Action, err = ReadAction(&r); err != nil {
		return nil, err
	}
	if g.Constraints, err = ReadConstraints(&r); err != nil {
		return nil, err
	}
	if !r.Null() {
		g.Parent = new(chain.Hash)
		if err = r.BytesInto(g.Parent[:]); err != nil {
			return nil, err
		}
	}
	if err = r.BytesInto(g.Grantor[:]); err != nil {
		return nil, err
	}
	var n [8]uint64
	if err = r.Uints(n[:]); err != nil {
		return nil, err
	}
	g.Born, g.ParentBorn, g.Made, g.Slot = n[0], n[1], chain.Height(n[2]), n[3]
	g.Used, g.AmountUsed, g.RateFrom, g.RateUsed = n[4], n[5], chain.Height(n[6]), n[7]
	return g, r.End()
}

func (role *Role) encode() []byte {
	b := cbor.AppendBytes(cbor.AppendArray(nil, 6), role.Creator[:])
	b = AppendScopes(cbor.AppendBytes(b, []byte(role.Name)), role.Scopes)
	b = role.Constraints.Append(AppendActions(b, role.Actions))
	return cbor.AppendUint(b, uint64(role.Made))
}

func decodeRole(b []byte) (role *Role, err error) {
	r := cbor.NewReader(b)
	role = new(Role)
	if err = r.ArrayOf(6); err != nil {
		return nil, err
	}
	if err = r.BytesInto(role.Creator[:]); err != nil {
		return nil, err
	}
	name, err := r.Bytes(MaxNameBytes)
	if err != nil {
		return nil, err
	}
	role.Name = string(name)
	if role.Scopes, err = ReadScopes(&r); err != nil {
		return nil, err
	}
	if role.Actions, err = ReadActions(&r); err != nil {
		return nil, err
	}
	if role.Constraints, err = ReadConstraints(&r); err != nil {
		return nil, err
	}
	made, err := r.Uint()
	if err != nil {
		return nil, err
	}
	role.Made = chain.Height(made)
	return role, r.End()
}

// AppendScopes writes what [ReadScopes] reads.
func AppendScopes(dst []byte, list []Scope) []byte {
	dst = cbor.AppendArray(dst, len(list))
	// Bounded: by MaxScopes and MaxActions, 16 each; the bytes of the transaction pay.
	for _, s := range list {
		dst = s.Append(dst)
	}
	return dst
}

// AppendActions writes what [ReadActions] reads.
func AppendActions(dst []byte, list []Action) []byte {
	dst = cbor.AppendArray(dst, len(list))
	// Bounded: by MaxScopes and MaxActions, 16 each; the bytes of the transaction pay.
	for _, a := range list {
		dst = a.Append(dst)
	}
	return dst
}

// ReadScopes reads a list of 1 to [MaxScopes]. Errors: ErrArgument.
func ReadScopes(r *cbor.Reader) ([]Scope, error) { return readList(r, MaxScopes, ReadScope) }

// ReadActions reads a list of 1 to [MaxActions]. Errors: ErrArgument.
func ReadActions(r *cbor.Reader) ([]Action, error) { return readList(r, MaxActions, ReadAction) }

func readList[T any](r *cbor.Reader, most int, read func(*cbor.Reader) (T, error)) ([]T, error) {
	n, err := r.Array(most)
	if err == nil && n == 0 {
		err = errors.New("empty list")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrArgument, err)
	}
	out := make([]T, n)
	// Bounded: by MaxScopes and MaxActions, 16 each; the bytes of the transaction pay.
	for i := range out {
		if out[i], err = read(r); err != nil {
			return nil, err
		}
	}
	return out, nil
}
