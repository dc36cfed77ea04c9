package main

import (
	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// arrears is how an actor stands that missed its rent.
func arrears(evicted bool) *rpc.Rent {
	r := &rpc.Rent{
		Height: 7_300, State: "grace", Epoch: 2, PaidThrough: 2, PerEpoch: 1_200, Owed: 31_680, Reserve: 1_051_200,
		Bytes: 20_480, Quota: 1 << 20, EvictionAt: 954_100,
	}
	if evicted {
		r.State = "dormant"
		r.Evicted = &rpc.EvictedStorage{
			Root: chain.Hash{0: 0xab}, Bytes: 20_480, Entries: 20, Cost: 32_880,
			Restoring: &rpc.Restoration{By: chain.Address{0: 0xcd}, Deadline: 8_000, Bytes: 8_192},
		}
	}
	return r
}
