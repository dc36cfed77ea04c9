package exec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/state"
)

// ErrRehearsalRecord means a record of a sender's rehearsals that does not
// decode.
var ErrRehearsalRecord = errors.New("record of rehearsals is malformed")

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
		return r, fmt.Errorf("%w: %d bytes", ErrRehearsalRecord, len(b))
	}
	r.count, r.height = binary.BigEndian.Uint64(b), chain.Height(binary.BigEndian.Uint64(b[8:]))
	copy(r.digest[:], b[16:])
	return r, nil
}

// rehearse runs the instruction runner_rehearsal: so many cycles of hashing and
// one record, charged like a program that does as much (whitepaper §17.3, §17.4).
// It stands for what registered runners send, until the registry runs. The error
// is a [*Fault].
func (b *block) rehearse(tx *chain.VerifiedTx, limit chain.Usage) (actor.Outcome, error) {
	if tx.Tx.Value != 0 {
		return actor.Outcome{Code: chain.CodeBadArgument}, nil
	}
	work, result, err := rehearsalArgs(tx)
	if err != nil {
		return actor.Outcome{}, &Fault{"read a payload that was judged", err}
	}
	out := actor.Outcome{Used: limit}
	need := rehearsalCost(&b.in.Params.API, tx.Sender, result)
	switch {
	case work > math.MaxUint64-need.Cycles || need.Cycles+work > limit.Cycles:
		out.Code, out.Used.Cells = chain.CodeCyclesExhausted, min(need.Cells, limit.Cells)
		return out, nil
	case need.Cells > limit.Cells:
		out.Code, out.Used.Cycles = chain.CodeCellsExhausted, need.Cycles+work
		return out, nil
	}
	key := rehearsalKey(tx.Sender)
	old, err := b.state.Storage(chain.AddrRunnerRegistry, key)
	if err != nil {
		return actor.Outcome{}, &Fault{"read rehearsals of " + tx.Sender.String(), err}
	}
	r, err := readRehearsal(old)
	if err != nil {
		return actor.Outcome{}, &Fault{"read rehearsals of " + tx.Sender.String(), err}
	}
	r.count, r.height, r.digest = r.count+1, b.in.Height, labour(&b.in.Params.API, r.digest, result, work)
	b.state.SetStorage(chain.AddrRunnerRegistry, key, r.encode())
	out.Used = chain.Usage{Cycles: need.Cycles + work, Cells: need.Cells}
	return out, nil
}

// rehearsalArgs reads [101, work, result].
func rehearsalArgs(tx *chain.VerifiedTx) (work chain.Cycles, result []byte, err error) {
	r, err := arguments(tx.Tx.Payload)
	if err != nil {
		return 0, nil, err
	}
	n, err := r.Uint()
	if err != nil {
		return 0, nil, err
	}
	result, err = r.Bytes(chain.MaxTxBytes)
	return chain.Cycles(n), result, err
}

// rehearsalCost is the price of what comes besides the work: to hash the result,
// and to read and write the sender's record.
func rehearsalCost(api *chain.APICosts, sender chain.Address, result []byte) chain.Usage {
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
func labour(api *chain.APICosts, from chain.Hash, result []byte, work chain.Cycles) chain.Hash {
	digest := chain.Hash(keccak.Sum256(from[:], result))
	// Paid: by the work that the instruction is charged, a hash for the price of one.
	for each := api.HashCycles + chain.Cycles(len(digest))*api.HashByteCycles; each != 0 && work >= each; work -= each {
		digest = keccak.Sum256(digest[:])
	}
	return digest
}
