package params

import (
	"fmt"
	"math/bits"

	"github.com/cowboy-foundation/cowboy/chain"
)

// What of a stored block is there whatever is in it, and for each transaction
// and event besides its own bytes.
const (
	finalFixedBytes = 8 << 10                                                        // certificate and framing
	finalTxBytes    = len(chain.Hash{}) + len(chain.Address{}) + 2*finalFramingBytes // its hash and sender, and two parts
	// An array of 11, a string of 32 bytes, three integers of at most 1, 1 and 3
	// bytes, four of 9, the head of a string, and those of two arrays of at most
	// 1,024.
	receiptFixedBytes = 1 + (2 + 32) + 1 + 1 + 3 + 4*9 + 5 + 2*3
	// An array of 7: two strings of 32 and 20 bytes, an integer of at most 3
	// bytes, one of 9, a bool, one of 3, one of 9.
	deliveryBytes = 1 + (2 + 32) + 3 + 9 + (1 + 20) + 1 + 3 + 9
	// An array of 3, a string of 20 bytes, and the heads of name and data.
	eventFixedBytes = 1 + (1 + 20) + 3 + 5
	// Name and data of an event that the protocol emits for an operation on
	// tokens; the creation of one pays for more.
	tokenEventBytes   = 128
	finalFramingBytes = 16
	// A body in a block is a string: its head, then an array of 13 of which the
	// last is the signature.
	minSignedTxBytes = 2 + 1 + 12 + chain.SignatureBytes
)

// FinalBytesMax returns the most that a node stores of one finalized block. The
// bytes of the block bound its transactions, and so do the cycles that each
// takes at least; deliveries outside of transactions are bounded by number, and so
// is what the protocol announces, for which nobody pays. Other events pay: cycles
// each, cells for the bytes of name and data (whitepaper §17.3, §17.4; resolution
// 2.11), messages cycles, answers cells, so that what one block has of both bounds
// them all together.
func (p *Params) FinalBytesMax() uint64 {
	in := &p.Intrinsic
	least := min(in.TransferCycles, in.DeployCycles, in.MessageCycles, in.JobSubmitCycles,
		in.TimerScheduleCycles, in.HeartbeatCycles, in.InstructionCycles)
	cycles := uint64(p.CyclesCap)
	txs := atMost(p.MaxBlockBytes/minSignedTxBytes, cycles, uint64(least))
	runs := txs + p.deliveriesMax()
	events := atMost(runs*chain.MaxEvents, cycles, uint64(p.API.EmitEventCycles))
	data := atMost(events*(chain.MaxEventName+chain.MaxEventBytes), cycles, uint64(p.API.EmitEventByteCycles))
	tokens := atMost(runs*chain.MaxEvents, uint64(p.CellsCap), p.Token.leastCells()) * (eventFixedBytes + tokenEventBytes)
	if high, paid := bits.Mul64(uint64(p.CellsCap), p.API.EventBytesPerCell); high == 0 {
		data = min(data+tokens, max(paid, tokens)) // a cell pays for one or for the other
	} else {
		data += tokens
	}
	deliveries := atMost(runs*chain.MaxDeliveries, cycles, uint64(p.API.SendMessageCycles))
	output := atMost(runs*chain.MaxOutputBytes, uint64(p.CellsCap), uint64(p.API.ReturnByteCells))
	return p.MaxBlockBytes + finalFixedBytes + runs*uint64(finalTxBytes+receiptFixedBytes) +
		events*eventFixedBytes + data + deliveries*uint64(deliveryBytes) + output + p.AnnouncedBytesMax()
}

// leastCells returns what an event of an operation on tokens pays at least.
func (c *TokenCosts) leastCells() uint64 {
	return uint64(min(c.TransferCells, c.TransferFromCells, c.ApproveCells, c.MintCells, c.BurnCells, c.AdminCells, c.CreateCells/2))
}

// deliveriesMax bounds the receipts of a block that belong to no transaction.
// Their runs share the block's cycles and cells with the transactions.
func (p *Params) deliveriesMax() uint64 {
	return p.Actor.MailboxBlockItems + JudgedJobsMax + timerLooks*p.Timer.CandidatesPerBlock + p.Timer.BidsPerBlock
}

// timerLooks is how often a block goes through its candidates among the due timers: when it
// begins, and again for what the chosen ones have left of their lane (ADR 86).
const timerLooks = 2

// SilentRunnersMax is how many runners a block finds silent at most (package
// exec/market/runners).
const SilentRunnersMax = 512

// JudgedJobsMax is how many jobs a block judges at most (package exec/market/results).
const JudgedJobsMax = 1_024

// RentWorkMax is how many actors the rent of a block comes to (package exec/rent).
const RentWorkMax = 544

// AnnouncedEventBytes bounds name and data of an event that the protocol announces.
const AnnouncedEventBytes = 128

// AnnouncedMax returns how many events the protocol itself announces in a block at
// most: one of each due timer whenever it looks at it, of each actor whose rent it comes
// to, of each runner that fell silent, of each job that was judged, of each entitlement that
// ends, and of what the market does by itself besides.
func (p *Params) AnnouncedMax() uint64 {
	return timerLooks*p.Timer.CandidatesPerBlock + RentWorkMax + SilentRunnersMax + JudgedJobsMax + maxNamedItems + p.marketAnnouncedMax()
}

// marketAnnouncedMax returns how many events the market announces in a block at most: one
// of each job of the block before, as it is drawn for, and of each draw behind the first;
// job.due_per_block of what falls due, and of the last that did one of each seat and one
// more (package exec/market/jobs); and one more of each that is settled as it falls due
// (package exec/market/results).
func (p *Params) marketAnnouncedMax() uint64 {
	const rows, bytes, seats = 4, 400, 1<<8 - 1 // that a job is submitted with at least; that it can have
	jobs := atMost(uint64(p.CyclesCap), uint64(p.CyclesCap), rows*uint64(p.API.StorageWriteCycles))
	jobs = atMost(jobs, uint64(p.CellsCap), rows*uint64(p.API.NewEntryCells)+bytes*uint64(p.API.StorageWriteByteCells))
	return jobs + p.Job.RetriesPerBlock + 2*p.Job.DuePerBlock + seats + 1
}

// AnnouncedBytesMax bounds what a node stores of that.
func (p *Params) AnnouncedBytesMax() uint64 {
	receipts := (p.AnnouncedMax() + chain.MaxEvents - 1) / chain.MaxEvents
	return receipts*uint64(finalTxBytes+receiptFixedBytes) + p.AnnouncedMax()*uint64(eventFixedBytes+AnnouncedEventBytes)
}

// atMost returns how many there are at most, if each also costs something out of
// a budget; nothing bounds what is free.
func atMost(n, budget, cost uint64) uint64 {
	if cost == 0 {
		return n
	}
	return min(n, budget/cost)
}

// checkFinal keeps receipts within what a node stores.
func (p *Params) checkFinal() error {
	if n := p.FinalBytesMax(); n > chain.MaxFinalBytes {
		return fmt.Errorf("cycles_cap = %d and cells_cap = %d let a block and its receipts grow to %d bytes, want at most %d: "+
			"lower them, or raise api_costs.emit_event_cycles and send_message_cycles", p.CyclesCap, p.CellsCap, n, uint64(chain.MaxFinalBytes))
	}
	return nil
}
