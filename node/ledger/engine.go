package ledger

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
)

// programCacheBytes of source are kept compiled: a few thousand actors.
const programCacheBytes = 64 << 20

// NewEngine returns an engine for programs, with a hash key of its own
// (resolution 11.39). It serves one goroutine.
func NewEngine() (*pvm.Engine, error) {
	var key [16]byte
	if _, err := rand.Read(key[:]); err != nil {
		return nil, fmt.Errorf("hash key: %w", err)
	}
	rt, err := pvm.NewRuntime([2]uint64{binary.LittleEndian.Uint64(key[:8]), binary.LittleEndian.Uint64(key[8:])})
	if err != nil {
		return nil, err
	}
	return pvm.NewEngine(rt, pvm.NewLRU(programCacheBytes), pvm.DefaultLimits()), nil
}
