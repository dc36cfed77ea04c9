// Package rehearsal loads the runner lane while no runners are registered: so many cycles
// of hashing and one record, charged like a program that does as much (whitepaper §17.3,
// §17.4; ADR 47). It goes when the registry comes.
//
// The package is pure.
package rehearsal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/service"
	"github.com/cowboy-foundation/cowboy/state"
)

// ErrRecord means a record of a sender's rehearsals that does not
// decode.
var ErrRecord = errors.New("record of rehearsals is malformed")

// rehearsalRecord is what the chain keeps of one sender's rehearsals: as much as
// of a result, so that the lane's load is that of results. One record serves all
// of a sender's, so the state does not grow with them.
type rehearsalRecord struct {
	count  uint64
	height chain.Height // of the latest
	digest chain.Hash   // of the work on the latest result, upon the one before
}

const rehearsalRecordBytes = 8 + 8 + 32

func rehearsalKey(sender chain.Address) state.StorageKey {
	return state.NewStorageKey(state.VMNamespaceSystem, append([]byte("rehearsal/"), sender[:]...))
}

func (r *rehearsalRecord) encode() []byte {
	b := binary.BigEndian.AppendUint64(make([]byte, 0, rehearsalRecordBytes), r.count)
	return append(binary.BigEndian.AppendUint64(b, uint64(r.height)), r.digest[:]...)
}

func readRehearsal(b []byte) (r rehearsalRecord, err error) {
	switch len(b) {
	case 0:
		return r, nil
	case rehearsalRecordBytes:
	default:
		return r, fmt.Errorf("%w: %d bytes", ErrRecord, len(b))
	}
	r.count, r.height = binary.BigEndian.Uint64(b), chain.Height(binary.BigEndian.Uint64(b[8:]))
	copy(r.digest[:], b[16:])
	return r, nil
}

// Instructions returns the instruction.
func Instructions() service.Table {
	return service.Table{Address: chain.AddrRunnerRegistry, Instructions: []service.Instruction{
		{Opcode: chain.OpRunnerRehearsal, Read: read, Run: run},
	}}
}

// task is what is asked for.
type task struct {
	work   chain.Cycles
	result []byte
}

func read(r *cbor.Reader) (service.Args, error) {
	n, err := r.Uint()
	if err != nil {
		return nil, err
	}
	result, err := r.Bytes(chain.MaxTxBytes)
	return task{chain.Cycles(n), result}, err
}

// run does the work and notes it.
func run(c *service.Call, a service.Args) ([]byte, error) {
	t, api := a.(task), &c.Params.API
	need := rehearsalCost(api, c.By, t.result)
	need.Cycles += min(t.work, math.MaxUint64-need.Cycles)
	if err := c.Run.Take(need); err != nil {
		return nil, err
	}
	key := rehearsalKey(c.By)
	old, err := c.State.Storage(chain.AddrRunnerRegistry, key)
	if err != nil {
		return nil, fmt.Errorf("%w: rehearsals of %s", err, c.By)
	}
	r, err := readRehearsal(old)
	if err != nil {
		return nil, fmt.Errorf("%w: rehearsals of %s", err, c.By)
	}
	r.count, r.height, r.digest = r.count+1, c.Height, labour(api, r.digest, t.result, t.work)
	c.State.SetStorage(chain.AddrRunnerRegistry, key, r.encode())
	return nil, nil
}

// rehearsalCost is the price of what comes besides the work: to hash the result,
// and to read and write the sender's record.
func rehearsalCost(api *params.APICosts, sender chain.Address, result []byte) chain.Usage {
	size := uint64(len(rehearsalKey(sender)) + rehearsalRecordBytes)
	return chain.Usage{
		Cycles: api.HashCycles + chain.Cycles(len(result))*api.HashByteCycles +
			api.StorageReadCycles + chain.Cycles(rehearsalRecordBytes)*api.StorageReadByteCycles +
			api.StorageWriteCycles + chain.Cycles(size)*api.StorageWriteByteCycles,
		Cells: chain.Cells((rehearsalRecordBytes+api.StorageReadBytesPerCell-1)/api.StorageReadBytesPerCell) +
			chain.Cells(size)*api.StorageWriteByteCells,
	}
}

// labour hashes the result upon the digest of the one before, and then what comes
// out of it, as often as the price of a hash goes into the work.
func labour(api *params.APICosts, from chain.Hash, result []byte, work chain.Cycles) chain.Hash {
	digest := chain.Hash(keccak.Sum256(from[:], result))
	// Paid: by the work that the instruction is charged, a hash for the price of one.
	for each := api.HashCycles + chain.Cycles(len(digest))*api.HashByteCycles; each != 0 && work >= each; work -= each {
		digest = keccak.Sum256(digest[:])
	}
	return digest
}
