package rpc

import (
	"net/http"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Rent is how an address stands with its state rent at the finalized head.
type Rent struct {
	Height      chain.Height
	State       string       // "paid", "grace", "warning" or "dormant"
	Epoch       uint64       // of Height
	PaidThrough uint64       // epoch
	Prepaid     uint64       // epochs, at the present size and rate
	PrepaidWei  chain.Wei    // what is prepaid
	PerEpoch    chain.Wei    // at the present size and rate
	Owed        chain.Wei    // missed rent with the catch-up fee
	Reserve     chain.Wei    // of the balance that only rent may use
	Bytes       uint64       // stored; of an evicted storage, as it was
	Quota       uint64       // bytes it may store
	Bond        chain.Wei    // kept for the quota
	EvictionAt  chain.Height // 0: not in arrears
	Evicted     *EvictedStorage
}

// EvictedStorage is what the state keeps of a storage that was evicted.
type EvictedStorage struct {
	Root           chain.Hash
	Bytes, Entries uint64
	Cost           chain.Wei // to restore it, besides fees
	Bond           chain.Wei // of the next restoration, which its commit returns
	Restoring      *Restoration
}

// Restoration is an attempt to put an evicted storage back.
type Restoration struct {
	By       chain.Address
	Deadline chain.Height // last height at which By alone may put data
	Lapses   chain.Height // last height before others may begin anew, unless a part comes
	Bond     chain.Wei    // that the commit returns
	Bytes    uint64       // that were put
	Cursor   chain.Hash   // hash of the last key that was put; zero before the first
}

// RentReply answers GET /rent/{address}.
type RentReply struct {
	Address     string        `json:"address"`
	Height      uint64        `json:"height"`
	State       string        `json:"state"` // "paid", "grace", "warning" or "dormant"
	Epoch       uint64        `json:"epoch"` // of the height
	PaidThrough uint64        `json:"paid_through_epoch"`
	Prepaid     uint64        `json:"prepaid_epochs"` // at the present size and rate
	PrepaidWei  chain.Wei     `json:"prepaid"`
	PerEpoch    chain.Wei     `json:"per_epoch"`
	Owed        chain.Wei     `json:"owed"` // with the catch-up fee
	Reserve     chain.Wei     `json:"reserve"`
	Bytes       uint64        `json:"storage_bytes"`
	Quota       uint64        `json:"storage_quota"`
	Bond        chain.Wei     `json:"bond"`
	EvictionAt  uint64        `json:"eviction_height"` // 0: not in arrears
	Evicted     *EvictedReply `json:"evicted"`         // null unless dormant
}

// EvictedReply is [EvictedStorage] in an answer.
type EvictedReply struct {
	Root      string            `json:"storage_root"`
	Bytes     uint64            `json:"storage_bytes"`
	Entries   uint64            `json:"storage_entries"`
	Cost      chain.Wei         `json:"restore_cost"` // besides fees
	Bond      chain.Wei         `json:"restore_bond"` // of the next restoration, which its commit returns
	Restoring *RestorationReply `json:"restoring"`    // null while nobody restores
}

// RestorationReply is [Restoration] in an answer.
type RestorationReply struct {
	By       string    `json:"by"`
	Deadline uint64    `json:"deadline_height"`
	Lapses   uint64    `json:"lapse_height"` // after which others may begin anew, unless a part comes
	Bond     chain.Wei `json:"bond"`
	Bytes    uint64    `json:"restored_bytes"`
	Cursor   string    `json:"cursor"` // keccak256 of the last key that was put
}

func (s *Server) rent(w http.ResponseWriter, r *http.Request, args []string) error {
	addr, err := parseAddress(args[0])
	if err != nil {
		return err
	}
	rent, ok, err := s.source.Rent(r.Context(), addr)
	if err != nil {
		return err
	}
	if !ok {
		return notFound(CodeUnknownAccount, "the chain has no such account: it begins with the first transfer to it")
	}
	s.writeJSON(w, http.StatusOK, rentReply(addr, rent))
	return nil
}

func rentReply(addr chain.Address, r *Rent) RentReply {
	reply := RentReply{
		Address: addr.String(), Height: uint64(r.Height), State: r.State, Epoch: r.Epoch,
		PaidThrough: r.PaidThrough, Prepaid: r.Prepaid, PrepaidWei: r.PrepaidWei, PerEpoch: r.PerEpoch,
		Owed: r.Owed, Reserve: r.Reserve, Bytes: r.Bytes, Quota: r.Quota, Bond: r.Bond, EvictionAt: uint64(r.EvictionAt),
	}
	if e := r.Evicted; e != nil {
		reply.Evicted = &EvictedReply{Root: e.Root.String(), Bytes: e.Bytes, Entries: e.Entries, Cost: e.Cost, Bond: e.Bond}
		if p := e.Restoring; p != nil {
			reply.Evicted.Restoring = &RestorationReply{
				By: p.By.String(), Deadline: uint64(p.Deadline), Lapses: uint64(p.Lapses), Bond: p.Bond, Bytes: p.Bytes, Cursor: p.Cursor.String(),
			}
		}
	}
	return reply
}
