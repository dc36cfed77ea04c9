package rent

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/service"
	"github.com/cowboy-foundation/cowboy/state"
	stored "github.com/cowboy-foundation/cowboy/state/rent"
)

// args are the arguments of an instruction, those that it has.
type args struct {
	actor  chain.Address
	other  *chain.Address // payer, or restorer
	n      uint64         // epochs, or an amount
	height chain.Height
	chunk  []state.StorageChange
}

// Instructions returns those at [chain.AddrRent]: anybody may pay anybody's rent, and
// bring back a storage that was evicted (whitepaper, "Rent Payment Options", "Storage
// Restoration").
func Instructions() service.Table {
	return service.Table{Address: chain.AddrRent, Instructions: []service.Instruction{
		row(chain.OpRentPrepay,
			func(r *cbor.Reader, a *args) (err error) {
				a.n, err = r.Uint()
				return err
			},
			func(c Call, a *args) error {
				_, err := c.Prepay(a.actor, a.n)
				return err
			}),
		row(chain.OpRestoreBegin,
			func(r *cbor.Reader, a *args) error {
				n, err := r.Uint()
				a.height = chain.Height(n)
				return err
			},
			func(c Call, a *args) error { return c.BeginRestore(a.actor, a.height) }),
		row(chain.OpRestorePut,
			func(r *cbor.Reader, a *args) (err error) {
				a.chunk, err = readChunk(r)
				return err
			},
			func(c Call, a *args) error { return c.PutRestored(a.actor, a.chunk) }),
		row(chain.OpRestoreCommit,
			func(r *cbor.Reader, a *args) error {
				if r.Null() {
					return nil
				}
				a.other = new(chain.Address)
				return r.BytesInto(a.other[:])
			},
			func(c Call, a *args) error {
				payer := c.By
				if a.other != nil {
					payer = *a.other
				}
				return c.CommitRestore(a.actor, payer)
			}),
		row(chain.OpRestoreAbort,
			func(*cbor.Reader, *args) error { return nil },
			func(c Call, a *args) error { return c.AbortRestore(a.actor) }),
		row(chain.OpRestoreAllow,
			func(r *cbor.Reader, a *args) error {
				restorer := a.actor // stands first
				a.other = &restorer
				var n [2]uint64
				err := errors.Join(r.BytesInto(a.actor[:]), r.Uints(n[:]))
				a.n, a.height = n[0], chain.Height(n[1])
				return err
			},
			func(c Call, a *args) error { return c.Allow(*a.other, a.actor, chain.Wei(a.n), a.height) }),
	}}
}

// row makes a row of the table out of what is its own. Value that comes with one is
// refused after what the instruction itself refuses.
func row(opcode uint64, read func(*cbor.Reader, *args) error, run func(Call, *args) error) service.Instruction {
	return service.Instruction{
		Opcode: opcode, Value: service.NoValueLast,
		Read: func(r *cbor.Reader) (service.Args, error) {
			a := new(args)
			if err := r.BytesInto(a.actor[:]); err != nil {
				return nil, err
			}
			return a, judged(read(r, a))
		},
		Run: func(c *service.Call, a service.Args) ([]byte, error) { return nil, run(Call{c}, a.(*args)) },
	}
}

// readChunk reads [[key, value], …].
func readChunk(r *cbor.Reader) ([]state.StorageChange, error) {
	n, err := r.Array(stored.MaxChunkEntries)
	if err != nil {
		return nil, errors.Join(stored.ErrChunk, err)
	}
	chunk := make([]state.StorageChange, 0, n)
	// Paid: by the bytes of the transaction; 4,096 entries at most.
	for range n {
		if err := r.ArrayOf(2); err != nil {
			return nil, errors.Join(stored.ErrChunk, err)
		}
		key, err := r.Bytes(stored.MaxChunkBytes)
		if err != nil {
			return nil, errors.Join(stored.ErrChunk, err)
		}
		value, err := r.Bytes(stored.MaxChunkBytes)
		if err != nil {
			return nil, errors.Join(stored.ErrChunk, err)
		}
		chunk = append(chunk, state.StorageChange{Key: state.StorageKey(key), Value: append([]byte{}, value...)})
	}
	return chunk, nil
}
