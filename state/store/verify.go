package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/rlp"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// VerifyHead computes the state root and every storage root of the head again
// from the flat state, with the plain trie, and the hash of every code in use,
// and compares them with what is stored. It returns the root, or ErrCorrupt with
// what differs. Other calls go on meanwhile; Close waits. Memory grows with the
// number of accounts.
func (s *Store) VerifyHead(ctx context.Context) (root chain.Hash, err error) {
	done, err := s.use()
	if err != nil {
		return chain.Hash{}, err
	}
	defer done()
	snapshot := s.db.NewSnapshot()
	defer func() { err = damage(errors.Join(err, snapshot.Close())) }()
	marker, err := getRow(snapshot, []byte(keyHead))
	if err != nil {
		return chain.Hash{}, err
	}
	want := state.EmptyRoot
	if len(marker) == headLen {
		_, _, want = readHead(marker)
	} else if marker != nil {
		return chain.Hash{}, damaged("head marker of %d bytes", len(marker))
	}
	r := &recount{ctx: ctx, snapshot: snapshot}
	root, err = r.state()
	if err == nil && root != want {
		err = damaged("the flat state has root %s, the head names %s", root, want)
	}
	return root, err
}

// recount builds tries from flat rows. The rows of accounts and of storage are
// both in ascending order of the account's key, so one pass over the two side by
// side is enough.
type recount struct {
	ctx      context.Context
	snapshot *pebble.Snapshot
	storage  *liveRows
}

func (r *recount) state() (root chain.Hash, err error) {
	accounts, err := openRows(r.snapshot, tableAccounts)
	if err != nil {
		return root, err
	}
	defer func() { err = errors.Join(err, accounts.close()) }()
	if r.storage, err = openLive(r.snapshot); err != nil {
		return root, err
	}
	defer func() { err = errors.Join(err, r.storage.close()) }()
	trie := tree.NewTrie(nil, chain.Hash{}, state.EmptyRoot)
	for ; accounts.valid(); accounts.next() {
		if err := r.ctx.Err(); err != nil {
			return root, err
		}
		if len(accounts.key()) != hashLen {
			return root, damaged("account row under %x", accounts.key())
		}
		if err := r.countAccount(chain.Hash(accounts.key()), accounts.value()); err != nil {
			return root, fmt.Errorf("account with key %x: %w", accounts.key(), err)
		}
		if err := trie.Put(accounts.key(), accounts.value()); err != nil {
			return root, err
		}
	}
	if r.storage.valid() {
		return root, damaged("storage rows behind the last account")
	}
	root, _ = trie.Commit()
	return root, nil
}

// countAccount checks one account with its storage and code.
func (r *recount) countAccount(owner chain.Hash, row []byte) error {
	a, err := state.DecodeAccount(row)
	if err != nil {
		return damaged("%v", err)
	}
	if a.Empty() {
		return damaged("an empty account is stored")
	}
	if a.HasCode() {
		code, err := getRow(r.snapshot, codeKey(a.CodeHash))
		if err != nil {
			return err
		}
		if code == nil || chain.Hash(keccak.Sum256(code)) != a.CodeHash {
			return damaged("code %s is missing or damaged", a.CodeHash)
		}
	}
	trie := tree.NewTrie(nil, owner, state.EmptyRoot)
	for ; r.storage.valid() && bytes.Equal(r.storage.owner, owner[:]); r.storage.next() {
		slot := tree.SlotKey(state.StorageKey(r.storage.key))
		if err := trie.Put(slot[:], rlp.AppendString(nil, r.storage.value())); err != nil {
			return err
		}
	}
	if r.storage.valid() && bytes.Compare(r.storage.owner, owner[:]) < 0 {
		return damaged("storage row under %x belongs to no account", r.storage.owner)
	}
	root, _ := trie.Commit()
	if root != a.StorageRoot {
		return damaged("storage has root %s, the account names %s", root, a.StorageRoot)
	}
	return nil
}

// rows walks one table. It stops early at an error, which close returns.
type rows struct {
	it   *pebble.Iterator
	name byte   // of the table
	k, v []byte // of the row it stands at, valid until next; k is nil at the end
	err  error
}

func openRows(r pebble.Reader, table byte) (*rows, error) {
	it, err := r.NewIter(&pebble.IterOptions{LowerBound: []byte{table}, UpperBound: []byte{table + 1}})
	if err != nil {
		return nil, damage(err)
	}
	it.First()
	w := &rows{it: it, name: table}
	w.read()
	return w, nil
}

func (r *rows) next() {
	r.it.Next()
	r.read()
}

// seek goes to the first row from key on.
func (r *rows) seek(key []byte) {
	r.it.SeekGE(append([]byte{r.name}, key...))
	r.read()
}

// stopAt stops at a row that is wrong.
func (r *rows) stopAt(err error) {
	r.k, r.v = nil, nil
	r.err = errors.Join(r.err, err)
}

func (r *rows) read() {
	r.k, r.v = nil, nil
	if r.err != nil || !r.it.Valid() {
		return
	}
	if r.v, r.err = r.it.ValueAndErr(); r.err == nil {
		r.k = r.it.Key()[1:]
	}
}

func (r *rows) valid() bool   { return r.k != nil }
func (r *rows) key() []byte   { return r.k } // without the table's byte
func (r *rows) value() []byte { return r.v }

func (r *rows) close() error { return errors.Join(r.err, r.it.Error(), r.it.Close()) }
