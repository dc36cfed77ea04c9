package exec_test

import (
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/state"
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
