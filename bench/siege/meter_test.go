package siege

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/store"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// errMeter says that the meter of the state has gone astray.
var errMeter = errors.New("the meter of the state is not what a recount finds")

// metered counts the state from scratch and compares the meter in it.
func (s *siege) metered() error {
	x, err := s.verifier.store.Export()
	if err != nil {
		return err
	}
	defer x.Close()
	found, err := recount(x)
	if err != nil {
		return err
	}
	m, err := exec.StateMeter(s.verifier.Head().State)
	if err == nil && (m != found || x.Height() != s.height) {
		err = fmt.Errorf("%w: %+v at height %d, found %+v at %d", errMeter, m, s.height, found, x.Height())
	}
	return err
}

// recount walks all there is.
func recount(x *store.Export) (m exec.Meter, err error) {
	actors := tree.AccountKey(chain.AddrActors)
	err = x.Accounts(func(key chain.Hash, row []byte) error {
		a, err := state.DecodeAccount(row)
		if err != nil {
			return err
		}
		if a.Own() {
			m.Accounts++
		}
		if !a.HasStorage() {
			return nil
		}
		return x.Storage(key, func(slot state.StorageKey, value []byte) error {
			m.Entries++
			m.Bytes += uint64(len(slot) + len(value))
			if key != actors || slot[0] != state.VMNamespaceSystem || !strings.HasPrefix(string(slot[1:]), "code/") {
				return nil
			}
			size, err := cbor.DecodeUint(value)
			m.CodeBytes += size
			return err
		})
	})
	return m, err
}
