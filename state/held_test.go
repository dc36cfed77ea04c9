package state

import (
	"reflect"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

// failing is a view of which nothing can be read.
type failing struct{ Empty }

func (failing) Account(chain.Address) (Account, bool, error) {
	return Account{}, false, ErrAccountShape
}

// TestHeldAccounts: an account that is held and set is what SetAccount makes of it, a new one
// and one with metadata and storage too, and one that is dropped leaves nothing.
func TestHeldAccounts(t *testing.T) {
	parent := newNaive()
	old := Account{Nonce: 3, Balance: 9, StorageRoot: chain.Hash{1}, CodeHash: EmptyCodeHash, Meta: []byte("m"), StorageSize: StorageSize{5, 1}}
	parent.accounts[chain.Address{1}] = old
	got, want := NewOverlay(parent), NewOverlay(parent)
	for range 2 { // first fresh, then written
		for _, addr := range []chain.Address{{1}, {2}} {
			h, ok := got.Hold(addr)
			unused, alsoOK := got.Hold(chain.Address{7})
			if !ok || !alsoOK {
				t.Fatal("a readable account is not held")
			}
			got.Drop(&unused)
			a, _, err := want.Account(addr)
			if err != nil {
				t.Fatal(err)
			}
			if held := *h.Account(); !reflect.DeepEqual(held, normal(a)) {
				t.Errorf("%s: held %+v, want %+v", addr, held, a)
			}
			got.SetHeld(&h, h.Account().Nonce+1, h.Account().Balance+2)
			a.Nonce++
			a.Balance += 2
			want.SetAccount(addr, a)
			after, exists, err := got.Account(addr)
			wanted, existed, _ := want.Account(addr)
			if err != nil || exists != existed || !reflect.DeepEqual(after, wanted) {
				t.Errorf("%s: %+v, %v, want %+v", addr, after, err, wanted)
			}
		}
	}
	if !reflect.DeepEqual(got.Delta().AppendChanges(nil), want.Delta().AppendChanges(nil)) {
		t.Errorf("writes %+v, want %+v", got.Delta().Accounts(), want.Delta().Accounts())
	}
	one, err := got.Growth()
	if err != nil {
		t.Fatal(err)
	}
	if other, err := want.Growth(); err != nil || one != other || one.Accounts != 1 {
		t.Errorf("grown by %+v, want %+v, %v", one, other, err)
	}
	got.SetAccount(chain.Address{3}, Account{Nonce: 1})
	h, _ := got.Hold(chain.Address{2})
	if got.SetHeld(&h, 9, 9); got.Snapshot() != 0 {
		t.Error("what cannot be taken back left marks")
	}
}

// looked is a view that counts the looks at accounts.
type looked struct {
	View
	looks int
}

// Account implements [View].
func (c *looked) Account(addr chain.Address) (Account, bool, error) {
	c.looks++
	return c.View.Account(addr)
}

// TestHeldIsLookedUpOnce: what a held account has found in the parent is not looked up again,
// neither when it is read, held and set again, nor when growth is counted.
func TestHeldIsLookedUpOnce(t *testing.T) {
	parent := newNaive()
	parent.accounts[chain.Address{1}] = Account{Nonce: 3, StorageRoot: EmptyRoot, CodeHash: EmptyCodeHash}
	c := &looked{View: parent}
	o := NewOverlay(c)
	for _, addr := range []chain.Address{{1}, {2}} {
		for range 2 {
			h, ok := o.Hold(addr)
			if !ok {
				t.Fatal("not held")
			}
			o.SetHeld(&h, 5, 6)
			if _, _, err := o.Account(addr); err != nil {
				t.Fatal(err)
			}
		}
	}
	if g, err := o.Growth(); err != nil || g.Accounts != 1 {
		t.Errorf("grown by %+v, %v", g, err)
	}
	if c.looks != 2 {
		t.Errorf("%d looks at two accounts", c.looks)
	}
}

// TestDroppedTakesNoRoom: accounts that are held and dropped leave the room to the next, and
// nothing in it.
func TestDroppedTakesNoRoom(t *testing.T) {
	parent := newNaive()
	parent.accounts[chain.Address{1}] = Account{Nonce: 3, StorageRoot: EmptyRoot, CodeHash: EmptyCodeHash, Meta: []byte("m")}
	o := NewOverlay(parent)
	for range 3 * slabMost {
		from, _ := o.Hold(chain.Address{1})
		to, _ := o.Hold(chain.Address{2})
		o.Drop(&to)
		o.Drop(&from)
	}
	if n := len(o.delta.slab); n != 0 || !o.delta.Empty() {
		t.Errorf("%d rooms are taken, empty %v", n, o.delta.Empty())
	}
	if w := o.delta.next(); !reflect.DeepEqual(*w, writes{}) {
		t.Errorf("the next room has %+v", *w)
	}
}

// TestNotHeld: what only the other way can change is not held, and the parent not written to.
func TestNotHeld(t *testing.T) {
	o := NewOverlay(newNaive())
	o.SetStorage(chain.Address{1}, NewStorageKey(VMNamespaceSystem, []byte("k")), []byte("v"))
	o.SetAccount(chain.Address{2}, Account{Nonce: 1})
	if err := o.ClearStorage(chain.Address{2}); err != nil {
		t.Fatal(err)
	}
	o.DeleteAccount(chain.Address{3})
	a, _, _ := o.Account(chain.Address{4}) // then the overlay knows what is below
	o.DeleteAccount(chain.Address{4})
	o.SetAccount(chain.Address{4}, a)
	for _, addr := range []chain.Address{{1}, {2}, {3}, {4}} {
		if _, ok := o.Hold(addr); ok {
			t.Errorf("%s is held", addr)
		}
	}
	broken := NewOverlay(failing{})
	if _, ok := broken.Hold(chain.Address{4}); ok || !broken.Delta().Empty() {
		t.Error("an account that cannot be read is held")
	}
	below := NewOverlay(newNaive())
	below.SetAccount(chain.Address{5}, Account{Nonce: 1, Balance: 2})
	if err := o.Absorb(below); err != nil {
		t.Fatal(err)
	}
	if h, ok := o.Hold(chain.Address{5}); ok { // taken from another, which knows nothing below it
		o.SetHeld(&h, 2, 3)
		if a, _, _ := below.Account(chain.Address{5}); a.Nonce != 1 {
			t.Error("another overlay's account was written")
		}
	}
}
