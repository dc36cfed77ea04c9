//spec:implements CIP-2 6

// Package books holds the accounts of the runner market against its records: what runners
// have at stake and what jobs have in escrow is in balances of system accounts and nowhere
// else, so that the two must add up after every block. Who re-executes a chain, or takes
// over a state, checks it.
//
// In: a state, and the writes of each block behind it. Out: the books, or the account that
// does not add up.
//
// The package is pure, and no part of the state transition.
package books

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/market/jobs"
	"github.com/cowboy-foundation/cowboy/exec/market/runners"
	"github.com/cowboy-foundation/cowboy/state"
)

// ErrUnbalanced says that a system account has more or less than records promise.
var ErrUnbalanced = errors.New("the runner market's books do not add up")

// errSum says that records promise more than there is money.
var errSum = errors.New("records of the runner market promise more money than there is")

// Accounts are the market's: registry, dispatcher, verifier, secrets and enclaves. The last
// three hold nothing: nobody can challenge a verdict yet.
var Accounts = [...]chain.Address{
	chain.AddrRunnerRegistry, chain.AddrJobDispatcher, chain.AddrResultVerifier, chain.AddrSecrets, chain.AddrTEEVerifier,
}

// Books are what records promise.
type Books struct {
	Stakes  chain.Wei // of runners, with what unbonds
	Frozen  chain.Wei // penalties of seats, until their jobs are settled
	Escrows chain.Wei // what jobs hold that are not settled
	Slashed chain.Wei // what runners have lost in all; no account has it any more

	Kept uint64 // bytes of results that are kept for actors to read

	Runners [runners.Healths]uint64 // that have a record, by health
	Jobs    [jobs.Phases]uint64     // that have one, by phase
}

// scanned is how many rows a read of the whole state asks for at a time, and how many bytes.
const (
	scannedRows  = 1_024
	scannedBytes = 1 << 20
)

// Read adds up the records of a state. It takes time with all that the market stores. The
// error is a state that cannot be read, or a record that is none.
func Read(view state.View) (Books, error) {
	var b Books
	for _, table := range tables {
		prefix := state.NewStorageKey(state.VMNamespaceSystem, []byte(table.prefix))
		span := state.Span{Prefix: prefix, Entries: scannedRows, Bytes: scannedBytes}
		for {
			rows, err := view.Scan(table.account, span)
			if err != nil {
				return Books{}, err
			}
			for _, row := range rows {
				if err := table.add(&b, row.Value); err != nil {
					return Books{}, fmt.Errorf("%s: %w", table.prefix, err)
				}
			}
			if len(rows) == 0 {
				break
			}
			span.From = rows[len(rows)-1].Key + "\x00"
		}
	}
	return b, nil
}

// Follow brings the books of a state to that behind a block: before is the state, delta what
// the block writes. It takes time with the block alone. The errors are those of [Read].
func (b *Books) Follow(before state.View, delta *state.Delta) error {
	var less Books
	more := *b
	for _, account := range [...]chain.Address{chain.AddrRunnerRegistry, chain.AddrJobDispatcher} {
		change, ok := delta.Change(account)
		if !ok {
			continue
		}
		for _, w := range change.Storage {
			table := tableOf(account, w.Key)
			if table == nil {
				continue
			}
			was, err := before.Storage(account, w.Key)
			if err != nil {
				return err
			}
			if err := table.addIfAny(&less, was); err != nil {
				return err
			}
			if err := table.addIfAny(&more, w.Value); err != nil {
				return err
			}
		}
	}
	if less.Stakes > more.Stakes || less.Frozen > more.Frozen || less.Escrows > more.Escrows || less.Slashed > more.Slashed || less.Kept > more.Kept {
		return fmt.Errorf("%w: records that were never added up are gone", ErrUnbalanced)
	}
	more.Stakes -= less.Stakes
	more.Frozen -= less.Frozen
	more.Escrows -= less.Escrows
	more.Slashed -= less.Slashed
	more.Kept -= less.Kept
	for h, n := range less.Runners {
		more.Runners[h] -= n
	}
	for p, n := range less.Jobs {
		more.Jobs[p] -= n
	}
	*b = more
	return nil
}

// Check compares the books with the balances of a state: the registry has stakes and frozen
// penalties, the dispatcher escrows, the others nothing. ErrUnbalanced names the first
// account that has more or less.
func (b *Books) Check(view state.View) error {
	want := [len(Accounts)]chain.Wei{b.Stakes, b.Escrows}
	if err := add(&want[0], b.Frozen); err != nil {
		return err
	}
	for i, a := range Accounts {
		account, _, err := view.Account(a)
		if err != nil {
			return err
		}
		if account.Balance != want[i] {
			return fmt.Errorf("%w: %s has %d wei, and records come to %d", ErrUnbalanced, a, account.Balance, want[i])
		}
	}
	return nil
}

// Waiting counts what the block at height has left to later ones: events that were due, and
// jobs that are to be judged. view is the state behind it. It counts most of each at the
// most. The error is a state that cannot be read.
func Waiting(view state.View, height chain.Height, most int) (due, judged int, err error) {
	count := func(table string, to state.StorageKey) (int, error) {
		span := state.Span{Prefix: jobs.TablePrefix(table), To: to, Entries: most, Bytes: scannedBytes}
		rows, err := view.Scan(chain.AddrJobDispatcher, span)
		return len(rows), err
	}
	if due, err = count(jobs.TableDue, jobs.AtKey(jobs.TableDue, height, chain.Hash{})); err != nil {
		return 0, 0, err
	}
	for _, table := range [...]string{jobs.TableReady, jobs.TableHeavy, jobs.TableAsking} {
		n, err := count(table, "")
		if err != nil {
			return 0, 0, err
		}
		judged += n
	}
	return due, min(judged, most), nil
}

// table is one whose rows promise money, or bytes that were paid for.
type table struct {
	account chain.Address
	prefix  string
	add     func(b *Books, row []byte) error
}

var tables = [...]table{
	{chain.AddrRunnerRegistry, runners.TableRunner, addRunner},
	{chain.AddrJobDispatcher, jobs.TableJob, addJob},
	{chain.AddrJobDispatcher, jobs.TableSeat, addSeat},
	{chain.AddrJobDispatcher, jobs.TableKept, addKept},
}

// addIfAny adds a row up that is there.
func (t *table) addIfAny(b *Books, row []byte) error {
	if row == nil {
		return nil
	}
	return t.add(b, row)
}

// tableOf returns the table that a key is in, nil for one that promises nothing.
func tableOf(account chain.Address, k state.StorageKey) *table {
	for i := range tables {
		t := &tables[i]
		if t.account == account && len(k) > 0 && k[0] == state.VMNamespaceSystem && strings.HasPrefix(string(k[1:]), t.prefix) {
			return t
		}
	}
	return nil
}

func addRunner(b *Books, row []byte) error {
	r, err := runners.Decode(row)
	if err != nil {
		return err
	}
	b.Runners[r.Health()]++
	if err := add(&b.Slashed, r.Slashed); err != nil {
		return err
	}
	return add(&b.Stakes, r.AtRisk())
}

func addJob(b *Books, row []byte) error {
	j, err := jobs.DecodeJob(row)
	if err != nil {
		return err
	}
	b.Jobs[j.Phase]++
	return add(&b.Escrows, j.Held)
}

func addSeat(b *Books, row []byte) error {
	s, err := jobs.DecodeSeat(row)
	if err != nil {
		return err
	}
	return add(&b.Frozen, s.Frozen)
}

func addKept(b *Books, row []byte) error {
	k, err := jobs.DecodeKept(row)
	if err != nil {
		return err
	}
	b.Kept += uint64(len(k.Data)) // 64 KiB each
	return nil
}

func add(sum *chain.Wei, amount chain.Wei) error {
	if *sum+amount < *sum {
		return errSum
	}
	*sum += amount
	return nil
}
