package client

import (
	"context"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/state"
)

// Rent returns how an account stands with its state rent. One the chain does not
// know is a 404 refusal.
func (c *Client) Rent(ctx context.Context, addr chain.Address) (*rpc.RentReply, error) {
	return get[rpc.RentReply](ctx, c, "/rent/"+addr.String())
}

// RentPrepayTx pays so many epochs of an actor's rent, arrears first.
func RentPrepayTx(actor chain.Address, epochs uint64) *chain.Tx {
	return rentTx(cbor.AppendUint(aboutActor(chain.OpRentPrepay, actor, 1), epochs))
}

// RestoreBeginTx opens a restoration in which the sender alone may put data until
// the block at height deadline.
func RestoreBeginTx(actor chain.Address, deadline chain.Height) *chain.Tx {
	return rentTx(cbor.AppendUint(aboutActor(chain.OpRestoreBegin, actor, 1), uint64(deadline)))
}

// RestorePutTx puts a chunk back: entries in the order of the hashes of their
// keys.
func RestorePutTx(actor chain.Address, chunk []state.StorageChange) *chain.Tx {
	b := cbor.AppendArray(aboutActor(chain.OpRestorePut, actor, 1), len(chunk))
	for _, e := range chunk {
		b = cbor.AppendBytes(cbor.AppendArray(b, 2), []byte(e.Key))
		b = cbor.AppendBytes(b, e.Value)
	}
	return rentTx(b)
}

// RestoreCommitTx wakes the actor, in a block after that of the last chunk. payer is who
// pays the rent, nil for the sender.
func RestoreCommitTx(actor chain.Address, payer *chain.Address) *chain.Tx {
	b := aboutActor(chain.OpRestoreCommit, actor, 1)
	if payer == nil {
		return rentTx(cbor.AppendNull(b))
	}
	return rentTx(cbor.AppendBytes(b, payer[:]))
}

// RestoreAllowTx lets restorer spend up to most of the sender's money, once and until a
// height, on the rent of an actor that they restore; 0 takes that back.
func RestoreAllowTx(restorer, actor chain.Address, most chain.Wei, until chain.Height) *chain.Tx {
	b := cbor.AppendBytes(aboutActor(chain.OpRestoreAllow, restorer, 3), actor[:])
	return rentTx(cbor.AppendUint(cbor.AppendUint(b, uint64(most)), uint64(until)))
}

// RestoreAbortTx drops what was put.
func RestoreAbortTx(actor chain.Address) *chain.Tx {
	return rentTx(aboutActor(chain.OpRestoreAbort, actor, 0))
}

// aboutActor begins the payload of an instruction whose first argument is an
// actor, with so many arguments to follow.
func aboutActor(opcode uint64, actor chain.Address, more int) []byte {
	return cbor.AppendBytes(cbor.AppendUint(cbor.AppendArray(nil, 2+more), opcode), actor[:])
}

func rentTx(payload []byte) *chain.Tx {
	to := chain.AddrRent
	return &chain.Tx{To: &to, Payload: payload}
}
