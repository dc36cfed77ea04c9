package light

import (
	"bytes"
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// lab makes chains with one validator whose key the test has.
type lab struct {
	t       *testing.T
	genesis *genesis.Genesis
	secret  *bls.SecretKey
}

func newLab(t *testing.T, seed byte) *lab {
	secret, err := bls.NewSecretKey(bytes.Repeat([]byte{seed}, 32))
	if err != nil {
		t.Fatal(err)
	}
	g := testGenesis(t)
	g.GroupKey = secret.PublicKey().Bytes()
	g.Validators = g.Validators[:1]
	g.Validators[0].PublicShare = g.GroupKey
	g.Polynomial = [][96]byte{g.GroupKey}
	return &lab{t: t, genesis: g, secret: secret}
}

func (l *lab) header(parent *chain.Header, height chain.Height, stateRoot chain.Hash) *chain.Header {
	h := &chain.Header{
		Version: chain.HeaderVersion, Parent: l.genesis.Hash(), Height: height, View: chain.View(2*height + 1),
		StateRoot: stateRoot, TxRoot: tree.EmptyRoot, ReceiptsRoot: tree.EmptyRoot,
	}
	if parent != nil {
		h.Parent, h.ParentView = parent.Digest(), parent.View
	}
	return h
}

// certify signs kind for a header, as the one validator of the chain.
func (l *lab) certify(kind simplex.Kind, h *chain.Header) []byte {
	ns := attest.NewNamespaces(l.genesis.Hash())
	space := map[simplex.Kind][]byte{simplex.Notarize: ns.Notarize, simplex.Nullify: ns.Nullify, simplex.Finalize: ns.Finalize}[kind]
	p := simplex.Proposal{Round: beacon.Round{View: h.View}, Parent: h.ParentView, Payload: h.Digest()}
	return simplex.AppendCertificate(nil, simplex.Certificate{
		Kind: kind, Proposal: p,
		Signature: l.secret.Sign(space, attest.AppendSubject(nil, kind, p)),
		Seed:      l.secret.Sign(ns.Seed, p.Round.Append(nil)),
	})
}

func (l *lab) frame(h *chain.Header, certificate []byte, descendants ...*chain.Header) Frame {
	f := Frame{
		Kind: KindHeader, ChainID: l.genesis.ChainID, Genesis: l.genesis.Hash(),
		Height: h.Height, BlockHash: h.Digest(), Header: chain.EncodeHeader(h), Certificate: certificate,
	}
	for _, d := range descendants {
		f.Descendants = append(f.Descendants, chain.EncodeHeader(d))
	}
	return f
}

func (l *lab) verify(d Document) (*Shown, error) {
	l.t.Helper()
	text, err := Encode(d)
	if err != nil {
		l.t.Fatal(err)
	}
	return verifier(l.t, l.genesis).Verify(text)
}

// TestFinality holds frames that an honest node makes against those that a
// liar can make of real headers and certificates.
func TestFinality(t *testing.T) {
	ours, other := newLab(t, 1), newLab(t, 2)
	h1 := ours.header(nil, 1, tree.EmptyRoot)
	h2 := ours.header(h1, 2, tree.EmptyRoot)
	h3 := ours.header(h2, 3, tree.EmptyRoot)
	sibling := ours.header(h1, 2, chain.Hash{9})
	leap := ours.header(h1, 3, tree.EmptyRoot)
	final3 := ours.certify(simplex.Finalize, h3)
	otherRound := *h3
	otherRound.View++
	f := func(what string, frame Frame, want error) {
		t.Helper()
		if _, err := ours.verify(&Header{frame}); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
	}
	with := func(frame Frame, change func(*Frame)) Frame { change(&frame); return frame }
	good := ours.frame(h3, final3)

	f("certified itself", good, nil)
	f("certified by its child", ours.frame(h2, final3, h3), nil)
	f("certified by its grandchild", ours.frame(h1, final3, h2, h3), nil)

	f("notarized only", ours.frame(h3, ours.certify(simplex.Notarize, h3)), ErrNotFinal)
	f("nullified", ours.frame(h3, ours.certify(simplex.Nullify, h3)), ErrNotFinal)
	f("signed by another chain", ours.frame(h3, other.certify(simplex.Finalize, h3)), ErrNotFinal)
	f("no certificate", with(good, func(f *Frame) { f.Certificate = nil }), ErrMalformed)
	f("bytes after the certificate", with(good, func(f *Frame) { f.Certificate = append(bytes.Clone(f.Certificate), 0) }), ErrMalformed)
	f("bytes after the header", with(good, func(f *Frame) { f.Header = append(bytes.Clone(f.Header), 0) }), ErrMalformed)
	f("other chain id", with(good, func(f *Frame) { f.ChainID++ }), ErrOtherChain)
	f("other genesis", with(good, func(f *Frame) { f.Genesis = other.genesis.Hash() }), ErrOtherChain)
	f("other height", with(good, func(f *Frame) { f.Height-- }), ErrOtherBlock)
	f("other hash", with(good, func(f *Frame) { f.BlockHash = h2.Digest() }), ErrOtherBlock)
	f("certificate of its child without the child", ours.frame(h2, final3), ErrOtherBlock)
	f("certificate of its parent", ours.frame(h3, ours.certify(simplex.Finalize, h2)), ErrOtherBlock)
	f("sibling of a final block", ours.frame(sibling, final3, h3), ErrOtherBlock)
	f("a generation left out", ours.frame(h1, final3, h3), ErrOtherBlock)
	f("a child two heights above", ours.frame(h1, ours.certify(simplex.Finalize, leap), leap), ErrOtherBlock)
	f("one header too many", ours.frame(h2, ours.certify(simplex.Finalize, h2), h3), ErrOtherBlock)
	f("other round", with(good, func(f *Frame) {
		p := simplex.Proposal{Round: beacon.Round{View: h3.View + 1}, Parent: h3.ParentView, Payload: h3.Digest()}
		c, err := simplex.DecodeCertificate(final3)
		if err != nil {
			t.Fatal(err)
		}
		c.Proposal = p
		f.Certificate = simplex.AppendCertificate(nil, c)
	}), ErrOtherBlock)

	many := make([]*chain.Header, DescendantsMax+1)
	last := h1
	for i := range many {
		many[i] = ours.header(last, last.Height+1, tree.EmptyRoot)
		last = many[i]
	}
	f("as many generations as allowed", ours.frame(many[0], ours.certify(simplex.Finalize, last), many[1:]...), nil)
	f("one more", ours.frame(h1, ours.certify(simplex.Finalize, last), many...), ErrTooLarge)
}

// TestStateSwaps proves things of a state that the test knows and exchanges
// the parts of the proofs.
func TestStateSwaps(t *testing.T) {
	l := newLab(t, 3)
	here, there, nobody := chain.Address{1}, chain.Address{2}, chain.Address{3}
	forest := tree.NewForest(1, nil)
	delta := state.NewDelta()
	for i, addr := range []chain.Address{here, there} {
		a := state.NewAccount()
		a.Balance = chain.Wei(i + 1)
		delta.SetAccount(addr, a)
		delta.SetStorage(addr, "\x01key", []byte{byte(i), 7})
		delta.SetStorage(addr, "\x01empty", []byte{})
	}
	image, err := forest.Apply(forest.EmptyImage(), delta)
	if err != nil {
		t.Fatal(err)
	}
	h := l.header(nil, 1, image.Root)
	frame := l.frame(h, l.certify(simplex.Finalize, h))
	leaf := func(root, key chain.Hash, proof [][]byte) Leaf {
		value, err := tree.VerifyProof(root, key[:], proof)
		if err != nil {
			t.Fatal(err)
		}
		out := Leaf{Key: key, Value: value, Exists: value != nil}
		for _, n := range proof {
			out.Proof = append(out.Proof, n)
		}
		return out
	}
	account := func(addr chain.Address) *Account {
		key := tree.AccountKey(addr)
		d := &Account{Frame: frame, Address: addr, StateRoot: image.Root, Leaf: leaf(image.Root, key, forest.ProveAccount(image, key))}
		d.Kind = KindAccount
		return d
	}
	storage := func(addr chain.Address, slot state.StorageKey) *Storage {
		a := account(addr)
		root := state.EmptyRoot
		if a.Exists {
			decoded, err := state.DecodeAccount(a.Value)
			if err != nil {
				t.Fatal(err)
			}
			root = decoded.StorageRoot
		}
		d := &Storage{
			Frame: frame, Address: addr, StateRoot: image.Root, Account: a.Leaf, StorageRoot: root, Slot: Bytes(slot),
			Leaf: leaf(root, tree.SlotKey(slot), forest.ProveStorage(image, tree.AccountKey(addr), tree.SlotKey(slot))),
		}
		d.Kind = KindStorage
		return d
	}
	f := func(what string, d Document, want error) {
		t.Helper()
		if _, err := l.verify(d); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
	}
	change := func(d *Account, do func(*Account)) *Account { do(d); return d }
	changeStorage := func(d *Storage, do func(*Storage)) *Storage { do(d); return d }

	f("account", account(here), nil)
	f("absent account", account(nobody), nil)
	f("slot", storage(here, "\x01key"), nil)
	f("empty slot", storage(here, "\x01empty"), nil)
	f("absent slot", storage(here, "\x01no"), nil)
	f("slot of nobody", storage(nobody, "\x01key"), nil)
	if s, err := l.verify(storage(here, "\x01empty")); err != nil || !s.Accounts[0].Slots[0].Exists || len(s.Accounts[0].Slots[0].Value) != 0 {
		t.Errorf("an empty value is a value: %+v, %v", s, err)
	}

	f("another's proof", change(account(here), func(d *Account) { d.Leaf = account(there).Leaf }), ErrNotShown)
	f("another's nodes", change(account(here), func(d *Account) { d.Proof = account(there).Proof }), ErrNotShown)
	f("absence of an existing account", change(account(here), func(d *Account) { d.Exists, d.Value = false, nil }), ErrNotShown)
	f("nobody's proof for it", change(account(here), func(d *Account) {
		n := account(nobody)
		d.Exists, d.Value, d.Proof = false, nil, n.Proof
	}), ErrNotShown)
	f("existence of nobody", change(account(nobody), func(d *Account) { d.Exists, d.Value = true, account(here).Value }), ErrNotShown)
	f("last node missing", change(account(here), func(d *Account) { d.Proof = d.Proof[:len(d.Proof)-1] }), ErrNotShown)
	f("a node too many", change(account(here), func(d *Account) { d.Proof = append(d.Proof, d.Proof[0]) }), ErrNotShown)
	f("no nodes", change(account(here), func(d *Account) { d.Proof = nil }), ErrNotShown)
	f("other state root", change(account(here), func(d *Account) { d.StateRoot = chain.Hash{1} }), ErrOtherBlock)
	f("other value", change(account(here), func(d *Account) { d.Value = account(there).Value }), ErrNotShown)
	f("header alone under the name of an account", &Header{Frame: account(here).Frame}, ErrMalformed)

	f("another's storage root", changeStorage(storage(here, "\x01key"), func(d *Storage) {
		o := storage(there, "\x01key")
		d.StorageRoot, d.Leaf = o.StorageRoot, o.Leaf
	}), ErrOtherBlock)
	f("another's storage", changeStorage(storage(here, "\x01key"), func(d *Storage) { d.Leaf = storage(there, "\x01key").Leaf }), ErrNotShown)
	f("another slot's proof", changeStorage(storage(here, "\x01key"), func(d *Storage) { d.Leaf = storage(here, "\x01empty").Leaf }), ErrNotShown)
	f("absence swapped in", changeStorage(storage(here, "\x01key"), func(d *Storage) {
		d.Account, d.StorageRoot = account(nobody).Leaf, state.EmptyRoot
		d.Leaf = storage(nobody, "\x01key").Leaf
	}), ErrNotShown)
	f("an empty value for none", changeStorage(storage(here, "\x01no"), func(d *Storage) { d.Exists = true }), ErrNotShown)
	f("none for an empty value", changeStorage(storage(here, "\x01empty"), func(d *Storage) { d.Exists = false }), ErrNotShown)
	f("other slot", changeStorage(storage(here, "\x01key"), func(d *Storage) { d.Slot = Bytes("\x00key") }), ErrNotShown)
}

func TestMultiLimits(t *testing.T) {
	l := newLab(t, 4)
	h := l.header(nil, 1, tree.EmptyRoot)
	multi := func(keys int) *Multi {
		d := &Multi{Frame: l.frame(h, l.certify(simplex.Finalize, h)), StateRoot: tree.EmptyRoot}
		d.Kind = KindMulti
		if keys > 0 {
			d.Accounts = List[MultiAccount]{{Key: tree.AccountKey(chain.Address{}), Slots: make(List[MultiSlot], keys-1)}}
			for i := range d.Accounts[0].Slots {
				d.Accounts[0].Slots[i].Key = tree.SlotKey("")
			}
		}
		return d
	}
	f := func(what string, d *Multi, want error) {
		t.Helper()
		if _, err := l.verify(d); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
	}
	f("nothing", multi(0), ErrTooLarge)
	f("one key", multi(1), nil)
	f("the most", multi(KeysMax), nil)
	f("one more", multi(KeysMax+1), ErrTooLarge)
	unused := multi(1)
	unused.Nodes = List[Bytes]{{0xc0}}
	f("a node that no key needs", unused, ErrNotShown)
	if _, err := Decode(bytes.Repeat([]byte{' '}, DocumentBytesMax+1)); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a document above the limit: %v", err)
	}
}
