// Package statetest holds states in memory, for the tests of what reads and writes
// one.
//
// [Maps] is a state in maps, the slow twin of state/store; [Rooted] has the roots of
// state/tree besides. [Broken] and [Unread] stand for a state that cannot be read, or
// must not be. They take the writes of a block as the store does: a [state.Delta] at a
// time, sizes of storages kept, empty accounts gone. An empty state is [state.Empty].
// It is a kit for tests.
package statetest

import (
	"bytes"
	"fmt"
	"maps"
	"math/bits"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// Maps is a state in maps. A test may look into them and change them by hand.
//
// The root of a storage that is not empty is some hash that is not the empty root:
// code may ask whether there is a storage, not for its root (see [Rooted]).
type Maps struct {
	Accounts map[chain.Address]state.Account
	Storages map[chain.Address]map[state.StorageKey][]byte
	Codes    map[chain.Hash][]byte
}

// NewMaps returns the state that d makes of an empty one; d may be nil.
func NewMaps(d *state.Delta) *Maps {
	m := &Maps{
		Accounts: map[chain.Address]state.Account{}, Codes: map[chain.Hash][]byte{},
		Storages: map[chain.Address]map[state.StorageKey][]byte{},
	}
	if d != nil {
		m.Write(d)
	}
	return m
}

// Account implements state.View.
func (m *Maps) Account(addr chain.Address) (state.Account, bool, error) {
	if a, ok := m.Accounts[addr]; ok {
		return a, true, nil
	}
	return state.NewAccount(), false, nil
}

// Storage implements state.View.
func (m *Maps) Storage(addr chain.Address, key state.StorageKey) ([]byte, error) {
	return bytes.Clone(m.Storages[addr][key]), nil
}

// Scan implements state.View: it sorts all that the span holds.
func (m *Maps) Scan(addr chain.Address, s state.Span) (list []state.Entry, err error) {
	var keys []state.StorageKey
	for key := range m.Storages[addr] {
		if s.Holds(key) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		if s.Used() {
			break
		}
		e := state.Entry{Key: key, Value: bytes.Clone(m.Storages[addr][key])}
		s.Take(&e)
		list = append(list, e)
	}
	return list, nil
}

// Code implements state.View.
func (m *Maps) Code(hash chain.Hash) ([]byte, error) {
	if code, ok := m.Codes[hash]; ok || hash == state.EmptyCodeHash {
		return code, nil
	}
	return nil, fmt.Errorf("no code %s", hash)
}

// Write makes the writes of d part of m.
func (m *Maps) Write(d *state.Delta) {
	for _, c := range d.Codes() {
		m.Codes[c.Hash] = c.Code
	}
	for _, c := range d.Accounts() {
		if c.Cleared {
			delete(m.Accounts, c.Address)
			delete(m.Storages, c.Address)
		}
		a, _, _ := m.Account(c.Address)
		size := a.StorageSize.Add(m.store(&c))
		if c.Account != nil {
			a = *c.Account
		}
		a.StorageSize, a.StorageRoot = size, state.EmptyRoot
		if size.Entries > 0 {
			a.StorageRoot = chain.Hash{1, 2, 3}
		}
		if m.Accounts[c.Address] = a; a.Empty() {
			delete(m.Accounts, c.Address)
		}
	}
}

// store makes the storage writes of one account and returns by how much its storage
// grew; a decrease is the two's complement.
func (m *Maps) store(c *state.AccountChange) (grown state.StorageSize) {
	if m.Storages[c.Address] == nil && len(c.Storage) > 0 {
		m.Storages[c.Address] = map[state.StorageKey][]byte{}
	}
	slots := m.Storages[c.Address]
	for _, s := range c.Storage {
		if old, ok := slots[s.Key]; ok {
			grown = grown.Sub(state.SizeOf(s.Key, old))
		}
		if s.Value == nil {
			delete(slots, s.Key)
			continue
		}
		grown = grown.Add(state.SizeOf(s.Key, s.Value))
		slots[s.Key] = s.Value
	}
	return grown
}

// With returns the state after the writes of d and leaves m as it is.
func (m *Maps) With(d *state.Delta) *Maps {
	next := &Maps{
		Accounts: maps.Clone(m.Accounts), Codes: maps.Clone(m.Codes),
		Storages: make(map[chain.Address]map[state.StorageKey][]byte, len(m.Storages)),
	}
	for addr, slots := range m.Storages {
		next.Storages[addr] = maps.Clone(slots)
	}
	next.Write(d)
	return next
}

// Delta returns all of m as writes on an empty state.
func (m *Maps) Delta() *state.Delta {
	d := state.NewDelta()
	for addr, a := range m.Accounts {
		d.SetAccount(addr, a)
	}
	for addr, slots := range m.Storages {
		for key, value := range slots {
			d.SetStorage(addr, key, value)
		}
	}
	for _, code := range m.Codes {
		d.SetCode(code)
	}
	return d
}

// Balance returns what addr has.
func (m *Maps) Balance(addr chain.Address) chain.Wei { return m.Accounts[addr].Balance }

// Money returns the sum of all balances. It panics where that exceeds 64 bits: no
// supply does.
func (m *Maps) Money() chain.Wei {
	var sum, carry uint64
	for addr, a := range m.Accounts {
		if sum, carry = bits.Add64(sum, uint64(a.Balance), 0); carry != 0 {
			panic(fmt.Sprintf("the balance of %s takes the sum beyond 64 bits", addr))
		}
	}
	return chain.Wei(sum)
}
