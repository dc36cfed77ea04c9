//spec:implements whitepaper 7.1, 7.2

package actor

import (
	"bytes"
	"encoding/hex"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/rent"
)

// A blob is in the storage of the actor that has committed it, under a key that
// its program cannot write: it counts against the quota, its rent is the actor's,
// and eviction takes it. Where it is stands under AddrActors, so that everybody
// finds it by its multihash.

// Multihashes of this chain are of Keccak-256: the code and the length before the
// hash. Data beyond a blob's size stays outside and is named by its multihash only
// (whitepaper §7.2).
const (
	multihashKeccak = 0x1b
	multihashBytes  = 34
)

// Multihash returns the multihash of data.
func Multihash(data []byte) []byte {
	h := keccak.Sum256(data)
	return append([]byte{multihashKeccak, byte(len(h))}, h[:]...)
}

func blobKey(multihash []byte) state.StorageKey {
	return programKey(host.BlobKey + hex.EncodeToString(multihash))
}

func blobPlaceKey(multihash []byte) state.StorageKey {
	return state.NewStorageKey(state.VMNamespaceSystem, append([]byte("blob/"), multihash...))
}

// CommitBlob implements host.Storage. What is larger than an inline
// blob is refused.
func (f *frame) CommitBlob(data []byte) ([]byte, error) {
	if err := f.changes(); err != nil {
		return nil, err
	}
	if err := f.mayMoveBlob(len(data)); err != nil {
		return nil, err
	}
	if uint64(len(data)) > f.run.block.Params.Actor.InlineBlobBytes {
		return nil, &host.Refusal{Code: host.RefusedLimit, Text: "a blob this large stays outside the chain: commit to its multihash"}
	}
	api, hash := &f.run.block.Params.API, Multihash(data)
	cells := uint64(len(hash))*uint64(api.StorageWriteByteCells) + uint64(len(data))*uint64(api.ReturnByteCells)
	if err := f.run.takeCells(cells); err != nil {
		return nil, err
	}
	row := cbor.AppendBytes(nil, data) // canonical, as all that an actor stores
	f.run.state.SetStorage(f.env.Self, blobKey(hash), row)
	if err := f.withinQuota(); err != nil {
		return nil, err
	}
	there, err := f.keptElsewhere(hash, row)
	if err != nil || there {
		return hash, err // the first to commit keeps the place as long as it has the blob
	}
	f.run.state.SetStorage(chain.AddrActors, blobPlaceKey(hash), f.env.Self[:])
	return hash, nil
}

// keptElsewhere reports whether the actor that has the place of a blob has the blob.
func (f *frame) keptElsewhere(hash, row []byte) (bool, error) {
	at, err := f.blobPlace(hash)
	if err != nil {
		return false, err
	}
	stored, err := f.blobRow(at, hash)
	// Paid: by the bytes of the blob, as its hash (hash_byte), before it gets here.
	return bytes.Equal(stored, row), err
}

// withinQuota traps where an actor stores more than its quota and its bond allow.
func (f *frame) withinQuota() error {
	size, err := f.run.state.StorageSize(f.env.Self)
	if err != nil {
		return err
	}
	quota, err := f.quota()
	if err == nil && size.Bytes > quota {
		return &Trap{chain.CodeQuotaExceeded, "storage quota and bond are used up"}
	}
	return err
}

// blobPlace returns the actor whose storage has had a blob; zero for none. Only
// CommitBlob writes these rows, an address each, so another form is a fault.
func (f *frame) blobPlace(multihash []byte) (at chain.Address, err error) {
	b, err := f.run.state.Storage(chain.AddrActors, blobPlaceKey(multihash))
	if err != nil || b == nil {
		return at, err
	}
	if len(b) != len(at) {
		return at, fmt.Errorf("%w: place of blob %x", ErrRecord, multihash)
	}
	return chain.Address(b), nil
}

// Blob implements host.Storage: the actor's own, or who has committed it first.
func (f *frame) Blob(multihash []byte, pay func(bytes int)) ([]byte, bool, error) {
	if err := f.mayMoveBlob(0); err != nil {
		return nil, false, err
	}
	if len(multihash) != multihashBytes {
		return nil, false, nil
	}
	data, ok, err := f.blobOf(f.env.Self, multihash, pay)
	if err == nil && !ok {
		var at chain.Address
		if at, err = f.blobPlace(multihash); err == nil {
			data, ok, err = f.blobOf(at, multihash, pay)
		}
	}
	if err != nil || !ok {
		return nil, false, err
	}
	if err := f.mayMoveBlob(len(data)); err != nil {
		return nil, false, err
	}
	return data, true, f.readCells(len(multihash) + len(data))
}

// blobOf returns a blob out of an actor's storage, the bytes of which are paid for before
// they are hashed. What does not have the hash is no blob of that name, in any form.
func (f *frame) blobOf(at chain.Address, multihash []byte, pay func(bytes int)) ([]byte, bool, error) {
	stored, err := f.blobRow(at, multihash)
	if err != nil || stored == nil {
		return nil, false, err
	}
	r := cbor.NewReader(stored)
	data, err := r.Bytes(len(stored))
	if err != nil || r.End() != nil {
		return nil, false, nil
	}
	pay(len(data))
	// Paid: by pay, and the comparison is of two hashes.
	if !bytes.Equal(Multihash(data), multihash) {
		return nil, false, nil
	}
	return data, true, nil
}

// blobRow returns what an actor has under the name of a blob, nil for nothing. A
// dormant actor has none: what its storage holds until it is restored is whatever
// somebody has put there, who may be lying.
func (f *frame) blobRow(at chain.Address, multihash []byte) ([]byte, error) {
	a, err := f.run.state.CodeAndMeta(at)
	if err != nil || !a.HasCode() || rent.Dormant(&a) {
		return nil, err
	}
	return f.run.state.Storage(at, blobKey(multihash))
}
