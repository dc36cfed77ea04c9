package exec_test

import (
	"bytes"
	"slices"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/actor"
	"github.com/cowboy-foundation/cowboy/exec/manifest"
	"github.com/cowboy-foundation/cowboy/exec/token"
)

// transaction is something that a person does.
func (d *day) transaction() *chain.VerifiedTx {
	from := d.someone()
	if d.chance(16) {
		return d.timerTx(from)
	}
	return verified(d.plainTx(from), from)
}

func (d *day) plainTx(from chain.Address) *chain.Tx {
	switch d.rng.IntN(15) {
	case 0:
		return d.c.transfer(from, d.someone(), chain.Wei(d.rng.Uint64N(1<<40))).Tx
	case 1, 2, 3:
		return d.tokenTx(from)
	case 4:
		return d.instruct(from, chain.AddrRent, chain.OpRentPrepay, address(d.anybody()), amount(d.rng.Uint64N(40)))
	case 5:
		to := d.anybody()
		if spurned(to) {
			to = from
		}
		tx := d.instruct(from, chain.AddrActors, chain.OpActorFund, address(to))
		tx.Value = chain.Wei(d.rng.Uint64N(40 * uint64(chain.WeiPerCBY)))
		return tx
	case 6:
		if len(d.herd) < 16 || d.chance(300) {
			return d.deploy(from)
		}
	}
	return d.tell(from)
}

// spoil makes some transactions such that no block may have them.
func (d *day) spoil(tx *chain.Tx) bool {
	if !d.chance(25) {
		return false
	}
	switch d.rng.IntN(6) {
	case 0:
		tx.ChainID++
	case 1:
		tx.Nonce += 1 + d.rng.Uint64N(3)
	case 2:
		tx.Nonce--
	case 3:
		tx.MaxFeePerCycle = 0
	case 4:
		tx.CyclesLimit = 999 // below what is intrinsic to any
	case 5:
		tx.Value = 1 << 62
	}
	return true
}

// instruct is a transaction to a system address with these arguments.
func (d *day) instruct(from, to chain.Address, opcode uint64, args ...[]byte) *chain.Tx {
	payload := append(cbor.AppendUint(cbor.AppendArray(nil, 1+len(args)), opcode), bytes.Join(args, nil)...)
	tx := d.c.program(from, &to, payload).Tx
	tx.CyclesLimit, tx.CellsLimit = 200_000, 20_000
	return tx
}

// deploy makes a beast, or tries to and may not.
func (d *day) deploy(from chain.Address) *chain.Tx {
	ids := []string{"econ.transfer", "exec.spawn", "storage.kv", "timer.schedule"}
	hoard := uint64(0)
	if d.salt%3 != 0 {
		ids = append(ids, "econ.hold_balance")
	} else {
		hoard = 4 // and nothing to pay its rent with
	}
	dep := actor.Deployment{
		Source: []byte(beast), Salt: []byte{d.salt, byte(d.height), byte(d.height >> 8), byte(d.height >> 16)}, Manifest: manifest.Manifest(ids...),
		Init: &actor.Init{Handler: "init", Payload: amount(hoard)},
	}
	cycles := chain.Cycles(2_000_000)
	if len(d.herd) >= 8 {
		switch d.rng.IntN(6) {
		case 0:
			dep.Source = []byte("class :")
		case 1:
			dep.Manifest = manifest.Manifest("no.such")
		case 2:
			dep.Init.Handler = "missing"
		case 3:
			cycles = 60_000 + chain.Cycles(d.rng.Uint64N(200_000))
		}
	}
	d.salt++
	tx := d.c.program(from, nil, actor.AppendPayload(nil, &dep)).Tx
	if tx.CyclesLimit = cycles; hoard == 0 || d.chance(8) {
		tx.Value = chain.Wei(d.rng.Uint64N(2) * d.rng.Uint64N(50*uint64(chain.WeiPerCBY)))
	}
	return tx
}

// tokenTx is one of the instructions on tokens.
func (d *day) tokenTx(from chain.Address) *chain.Tx {
	id, who, n := tokenID(d.token()), address(d.anybody()), d.rng.Uint64N
	do := func(opcode uint64, args ...[]byte) *chain.Tx {
		return d.instruct(from, chain.AddrTokens, opcode, args...)
	}
	switch d.rng.IntN(14) {
	case 0:
		if len(d.tokens) < mints {
			most := [][]byte{null, amount(50_000 + n(1_000_000))}[n(2)]
			return do(chain.OpTokenCreate, text("Gold"), text("GLD"), amount(2), amount(n(60_000)), most, d.maybe(d.beast()))
		}
	case 1, 2:
		return do(chain.OpTokenTransferFrom, id, address(d.anybody()), who, amount(n(800)))
	case 3, 4:
		return do(chain.OpTokenApprove, id, who, amount(n(3_000)))
	case 5:
		return do(chain.OpTokenMint, id, who, amount(n(50_000)))
	case 6:
		return do(chain.OpTokenBurn, id, amount(n(2_000)))
	case 7:
		return do(chain.OpTokenFreeze, id, who)
	case 8:
		return do(chain.OpTokenUnfreeze, id, who)
	case 9:
		return do(chain.OpTokenHooks, id, d.maybe(d.beast()))
	case 10:
		return do(chain.OpTokenBatch, id, payments(pair(d.anybody(), n(500)), pair(d.anybody(), n(500))))
	case 11:
		if d.chance(4) {
			return do(chain.OpTokenOwner, id, address(d.someone()))
		}
	}
	return do(chain.OpTokenTransfer, id, who, amount(n(3_000)))
}

func (d *day) maybe(a chain.Address) []byte {
	if d.chance(2) {
		return null
	}
	return token.AppendAddress(nil, &a)
}

// timerTx is an order about an actor's timers, by its creator or another.
func (d *day) timerTx(from chain.Address) *chain.VerifiedTx {
	to, n := d.beast(), d.rng.Uint64N
	do := func(opcode uint64, args ...[]byte) *chain.VerifiedTx {
		if rec, err := actor.ReadRecord(d.ground, to); err == nil && rec != nil && slices.Contains(d.people, rec.Creator) && !d.chance(6) {
			from = rec.Creator
		}
		tx := d.instruct(from, chain.AddrActors, opcode, append([][]byte{address(to)}, args...)...)
		return verified(tx, from)
	}
	if d.chance(2) {
		every := [][]byte{null, amount(1 + n(15))}[n(2)]
		return do(chain.OpTimerSchedule, amount(uint64(d.height)+n(90)), every, text("tick"), cbor.AppendBytes(nil, amount(n(2))))
	}
	var id chain.Hash
	for _, t := range d.slots.timers() {
		if id = t.ID; d.chance(4) {
			to = t.Actor
			break
		}
	}
	name := cbor.AppendBytes(nil, id[:])
	switch d.rng.IntN(3) {
	case 0:
		return do(chain.OpTimerCancel, name)
	case 1:
		return do(chain.OpTimerExtend, name, amount(uint64(d.height)+n(100)))
	}
	config := cbor.AppendText(cbor.AppendMap(nil, 2), "bidder")
	config = cbor.AppendText(append(config, d.maybe(d.beast())...), "cycles_limit")
	return do(chain.OpTimerConfig, name, cbor.AppendUint(config, 20_000+n(40_000)))
}
