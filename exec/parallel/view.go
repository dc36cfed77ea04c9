package parallel

import (
	"bytes"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

// kind is what of an address a read was of.
type kind uint8

const (
	ofAccount     kind = iota // all fields
	ofCodeAndMeta             // code and metadata
	ofSlot                    // one value of the storage
	ofSize                    // how large the storage is
	ofRoot                    // whether the storage's root is up to date
	ofRange                   // any part of the storage in order
	ofExists                  // that there is an account, which credits do not end
)

type place struct {
	kind kind
	addr chain.Address
	key  state.StorageKey
}

// read is what was read of a place, and who had written it last.
type read struct {
	place
	version uint32
	yes     bool // account, existence: it does; root: is up to date
	account state.Account
	value   []byte
	size    state.StorageSize
}

// view is what one execution sees: what is committed at the time of its reads, each place
// as it was when it was first read. Its reads and their versions are the read set that
// validation checks.
//
// Owner: that of the execution (job.execution). It implements [state.Unrooted] and reads
// committed state under the lock of one shard at a time, so two of its reads may see
// different moments; validation refuses what does not fit together. An error of the state
// below is returned and not kept: the execution fails and is executed again in its place.
type view struct {
	committed *committed
	reads     []read
	index     map[place]int // in reads, once they are many
	next      read          // being made
	shake     func()        // of tests, or nil
}

// linear is how many reads are searched without an index.
const linear = 12

func (v *view) reset() {
	clear(v.reads)
	v.reads, v.index, v.next = v.reads[:0], nil, read{}
}

// earlierRead returns an earlier read, or nil. It is valid until the next.
func (v *view) earlierRead(k kind, addr *chain.Address, key state.StorageKey) *read {
	if v.index != nil {
		if i, ok := v.index[place{k, *addr, key}]; ok {
			return &v.reads[i]
		}
		return nil
	}
	for i := range v.reads {
		if r := &v.reads[i]; r.kind == k && r.addr == *addr && r.key == key {
			return r
		}
	}
	return nil
}

// addRead keeps a read.
func (v *view) addRead(r *read) *read {
	v.reads = append(v.reads, *r)
	n := len(v.reads)
	switch {
	case v.index != nil:
		v.index[r.place] = n - 1
	case n == linear:
		v.index = make(map[place]int, 4*linear)
		for i := range v.reads {
			v.index[v.reads[i].place] = i
		}
	}
	return &v.reads[n-1]
}

// readPlace returns a read of a place, which fn makes if there is none yet: in what the
// block found, or under the lock of its shard.
func (v *view) readPlace(p place, fn func(o *state.Overlay, r *read) error) (*read, error) {
	if r := v.earlierRead(p.kind, &p.addr, p.key); r != nil {
		return r, nil
	}
	if v.shake != nil {
		v.shake()
	}
	r := &v.next
	*r = read{place: p}
	if v.committed.unwritten(&p) {
		if err := fn(v.committed.base, r); err != nil {
			return nil, err
		}
		return v.addRead(r), nil
	}
	s := v.committed.shardOf(&p.addr)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := fn(s.over, r); err != nil {
		return nil, err
	}
	r.version = s.version(&r.place)
	return v.addRead(r), nil
}

// Account implements state.View.
func (v *view) Account(addr chain.Address) (state.Account, bool, error) {
	r, err := v.readPlace(place{kind: ofAccount, addr: addr}, func(o *state.Overlay, r *read) (err error) {
		r.account, r.yes, err = o.Account(addr)
		return err
	})
	if err != nil {
		return state.Account{}, false, err
	}
	return r.account, r.yes, nil
}

// CodeAndMeta implements state.Unrooted.
func (v *view) CodeAndMeta(addr chain.Address) (state.Account, error) {
	r, err := v.readPlace(place{kind: ofCodeAndMeta, addr: addr}, func(o *state.Overlay, r *read) (err error) {
		r.account, err = o.CodeAndMeta(addr)
		return err
	})
	if err != nil {
		return state.Account{}, err
	}
	return r.account, nil
}

// Exists implements state.Unrooted. That an account is there lasts whatever others
// credit to it; that none is there, the first of them ends.
func (v *view) Exists(addr chain.Address) (bool, error) {
	if r := v.earlierRead(ofAccount, &addr, ""); r == nil {
		r, err := v.readPlace(place{kind: ofExists, addr: addr}, func(o *state.Overlay, r *read) (err error) {
			r.yes, err = o.Exists(addr)
			return err
		})
		if err != nil || r.yes {
			return r != nil && r.yes, err
		}
	}
	a, _, err := v.Account(addr)
	return a.Own(), err
}

// Storage implements state.View.
func (v *view) Storage(addr chain.Address, key state.StorageKey) ([]byte, error) {
	r, err := v.readPlace(place{ofSlot, addr, key}, func(o *state.Overlay, r *read) (err error) {
		r.value, err = o.Storage(addr, key)
		return err
	})
	if err != nil {
		return nil, err
	}
	return bytes.Clone(r.value), nil
}

// Scan implements state.View. What it answers is not kept: the first scan of a
// storage is noted as a read of all of it, which any write there makes wrong,
// whatever later scans see of that.
func (v *view) Scan(addr chain.Address, s state.Span) ([]state.Entry, error) {
	if v.shake != nil {
		v.shake()
	}
	sh := v.committed.shardOf(&addr)
	sh.mu.Lock() // the overlay keeps what it has put in order
	defer sh.mu.Unlock()
	list, err := sh.over.Scan(addr, s)
	if err != nil {
		return nil, err
	}
	p := place{kind: ofRange, addr: addr}
	if v.earlierRead(p.kind, &p.addr, p.key) == nil {
		v.addRead(&read{place: p, version: sh.version(&p)})
	}
	return list, nil
}

// StorageSize implements state.Unrooted.
func (v *view) StorageSize(addr chain.Address) (state.StorageSize, error) {
	r, err := v.readPlace(place{kind: ofSize, addr: addr}, func(o *state.Overlay, r *read) (err error) {
		r.size, err = o.StorageSize(addr)
		return err
	})
	if err != nil {
		return state.StorageSize{}, err
	}
	return r.size, nil
}

// StorageRooted implements state.Unrooted.
func (v *view) StorageRooted(addr chain.Address) bool {
	r, _ := v.readPlace(place{kind: ofRoot, addr: addr}, func(o *state.Overlay, r *read) error {
		r.yes = o.StorageRooted(addr)
		return nil
	})
	return r.yes
}

// Code implements state.View. It is no read that could change: a hash says all
// about its code, and whether there is any follows from the account.
func (v *view) Code(hash chain.Hash) ([]byte, error) {
	s := &v.committed.codes
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over.Code(hash)
}

// keepsCodeAndMeta reports whether the view has read the account of a change, and code
// and metadata are as they were.
func (v *view) keepsCodeAndMeta(c *state.Change) bool {
	r := v.earlierRead(ofAccount, &c.Address, "")
	if r == nil {
		r = v.earlierRead(ofCodeAndMeta, &c.Address, "")
	}
	if r == nil || c.Cleared {
		return false
	}
	hash := c.Account.CodeHash
	if hash == (chain.Hash{}) {
		hash = state.EmptyCodeHash
	}
	return r.account.CodeHash == hash && bytes.Equal(r.account.Meta, c.Account.Meta)
}
