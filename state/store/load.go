package store

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// getRow returns a row in a slice of its own, which is not nil if there is one.
func getRow(r pebble.Reader, key []byte) ([]byte, error) {
	value, closer, err := r.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, damage(err)
	}
	row := append([]byte{}, value...)
	return row, closer.Close()
}

// How much of the flat state is handed to the resident tries at once. The entries
// of an account that has more are handed over in parts.
const (
	loadAccounts = 32_768
	loadSlots    = 65_536
)

// loadReport is how often the log says how far the reading of the state is.
const loadReport = 2 * time.Second

// loader builds the resident tries from the flat state.
type loader struct {
	forest *tree.Forest
	image  *tree.Image
	part   []tree.Loaded
	slots  int // in part

	log               *slog.Logger // nil for none
	reported          time.Time
	accounts, entries int // read
}

// plant reads the whole flat state and returns its image, whose root is
// computed anew: it tells whether the flat state is what the head says.
func (s *Store) plant() (image *tree.Image, err error) {
	accounts, err := openRows(s.db, tableAccounts)
	if err != nil {
		return nil, err
	}
	defer func() { err = damage(errors.Join(err, accounts.close())) }()
	storage, err := openLive(s.db)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, storage.close()) }()
	l := &loader{forest: s.forest, image: s.forest.EmptyImage(), log: s.opts.Log, reported: time.Now()}
	for ; accounts.valid(); accounts.next() {
		if len(accounts.key()) != hashLen {
			return nil, damaged("account row under %x", accounts.key())
		}
		if err := l.loadAccount(chain.Hash(accounts.key()), accounts.value(), storage); err != nil {
			return nil, fmt.Errorf("account with key %x: %w", accounts.key(), err)
		}
	}
	if storage.valid() {
		return nil, damaged("storage rows behind the last account")
	}
	return l.image, l.flush()
}

// loadAccount takes in one account and the rows of its storage.
func (l *loader) loadAccount(key chain.Hash, row []byte, storage *liveRows) error {
	a, err := state.DecodeAccount(row)
	if err != nil {
		return damaged("%v", err)
	}
	next := tree.Loaded{Key: key, Account: a}
	for ; storage.valid() && bytes.Equal(storage.owner, key[:]); storage.next() {
		slot := state.StorageKey(storage.key)
		next.Storage = append(next.Storage, state.StorageChange{Key: slot, Value: append([]byte{}, storage.value()...)})
		l.entries++
		if len(next.Storage) == loadSlots {
			if err := l.gather(&next); err != nil {
				return err
			}
		}
	}
	if storage.valid() && bytes.Compare(storage.owner, key[:]) < 0 {
		return damaged("storage row under %x belongs to no account", storage.owner)
	}
	if next.Sheaf != nil {
		if err := l.gather(&next); err != nil {
			return err
		}
	}
	l.accounts++
	l.slots += len(next.Storage)
	if l.part = append(l.part, next); len(l.part) >= loadAccounts || l.slots >= loadSlots || next.Sheaf != nil {
		return l.flush()
	}
	return nil
}

// gather hands over the entries of an account that were read so far.
func (l *loader) gather(a *tree.Loaded) error {
	if a.Sheaf == nil {
		a.Sheaf = &tree.Sheaf{}
	}
	err := l.forest.Gather(a.Sheaf, a.Storage)
	clear(a.Storage)
	a.Storage = a.Storage[:0]
	l.report()
	return err
}

func (l *loader) flush() (err error) {
	l.image, err = l.forest.Load(l.image, l.part)
	clear(l.part)
	l.part, l.slots = l.part[:0], 0
	l.report()
	return err
}

func (l *loader) report() {
	if l.log != nil && time.Since(l.reported) >= loadReport {
		l.log.Info("reading the state", "accounts", l.accounts, "entries", l.entries)
		l.reported = time.Now()
	}
}
