package exec_test

import (
	"fmt"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/statetest"
)

// recount counts a state from scratch.
func recount(accounts map[chain.Address]state.Account, storages map[chain.Address]map[state.StorageKey][]byte) (m exec.Meter, err error) {
	for _, a := range accounts {
		if a.Own() {
			m.Accounts++
		}
	}
	for addr, slots := range storages {
		for key, value := range slots {
			m.Entries++
			m.Bytes += uint64(len(key) + len(value))
			if addr == chain.AddrActors && strings.HasPrefix(string(key[1:]), "code/") {
				size, err := cbor.DecodeUint(value)
				if err != nil {
					return m, err
				}
				m.CodeBytes += size
			}
		}
	}
	return m, nil
}

// sameGrowth reports whether the meter has grown from one state to another as the states
// have. A test may have written the first by hand, past the meter.
func sameGrowth(before, after *statetest.Maps) error {
	was, err := recount(before.Accounts, before.Storages)
	if err != nil {
		return err
	}
	is, err := recount(after.Accounts, after.Storages)
	if err != nil {
		return err
	}
	said, err := exec.StateMeter(before)
	if err != nil {
		return err
	}
	says, err := exec.StateMeter(after)
	if err != nil {
		return err
	}
	if grown, counted := growth(is, was), growth(says, said); grown != counted {
		return fmt.Errorf("the state has grown by %+v, its meter by %+v", grown, counted)
	}
	return nil
}

// growth is the difference of two meters; a decrease is the two's complement.
func growth(m, was exec.Meter) exec.Meter {
	return exec.Meter{
		Accounts: m.Accounts - was.Accounts, Entries: m.Entries - was.Entries,
		Bytes: m.Bytes - was.Bytes, CodeBytes: m.CodeBytes - was.CodeBytes,
	}
}
