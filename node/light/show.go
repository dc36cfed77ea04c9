package light

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/rlp"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// Shown is what a verified document shows. All of it is proven.
type Shown struct {
	Kind            Kind
	Height          chain.Height
	BlockHash       chain.Hash
	StateRoot       chain.Hash
	TimestampMillis uint64
	Header          *chain.Header
	Accounts        []ShownAccount // account, storage and multi
	Tx              *ShownTx       // transaction
	Receipt         *ShownReceipt  // receipt
}

// ShownAccount is an account after the block, with the storage values that were
// asked for.
type ShownAccount struct {
	Address chain.Address
	Exists  bool
	Account state.Account // state.NewAccount() if it does not exist
	Slots   []ShownSlot
}

// ShownSlot is a storage value after the block.
type ShownSlot struct {
	Slot   state.StorageKey
	Exists bool
	Value  []byte // may be empty though it exists
}

// ShownTx is a transaction of the block.
type ShownTx struct {
	Hash  chain.Hash
	Index uint32
	Tx    *chain.Tx
}

// ShownReceipt is how a transaction of the block ended.
type ShownReceipt struct {
	Index   uint32
	Receipt *chain.Receipt
}

func (d *Header) show(*Verifier, *chain.Header, *Shown) error { return nil }

func (d *Account) show(_ *Verifier, h *chain.Header, out *Shown) error {
	if d.StateRoot != h.StateRoot {
		return otherRoot("state", d.StateRoot, h.StateRoot)
	}
	a, err := d.Leaf.account(h.StateRoot, d.Address)
	out.Accounts = []ShownAccount{a}
	return err
}

func (d *Storage) show(_ *Verifier, h *chain.Header, out *Shown) error {
	if d.StateRoot != h.StateRoot {
		return otherRoot("state", d.StateRoot, h.StateRoot)
	}
	a, err := d.Account.account(h.StateRoot, d.Address)
	if err != nil {
		return fmt.Errorf("account: %w", err)
	}
	if d.StorageRoot != a.Account.StorageRoot {
		return otherRoot("storage", d.StorageRoot, a.Account.StorageRoot)
	}
	value, err := d.Leaf.value(d.StorageRoot, tree.SlotKey(state.StorageKey(d.Slot)))
	if err != nil {
		return err
	}
	slot, err := shownSlot(d.Slot, value)
	a.Slots = []ShownSlot{slot}
	out.Accounts = []ShownAccount{a}
	return err
}

func (d *Listed) show(_ *Verifier, h *chain.Header, out *Shown) error {
	root := h.TxRoot
	if d.Kind == KindReceipt {
		root = h.ReceiptsRoot
	}
	if d.Root != root {
		return otherRoot(string(d.Kind), d.Root, root)
	}
	if !bytes.Equal(d.Key, tree.ListKey(int(d.Index))) {
		return fmt.Errorf("%w: the key is not that of index %d", ErrNotShown, d.Index)
	}
	value, err := tree.VerifyProof(root, d.Key, plain(d.Proof))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotShown, err)
	}
	if value == nil || !bytes.Equal(value, d.Value) {
		return fmt.Errorf("%w: another value stands at index %d", ErrNotShown, d.Index)
	}
	if d.Kind == KindReceipt {
		return d.showReceipt(out)
	}
	tx, err := chain.DecodeTx(value)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotShown, err)
	}
	if chain.TxHash(value) != d.TxHash {
		return fmt.Errorf("%w: the transaction is %s", ErrNotShown, chain.TxHash(value))
	}
	out.Tx = &ShownTx{Hash: d.TxHash, Index: d.Index, Tx: tx}
	return nil
}

func (d *Listed) showReceipt(out *Shown) error {
	receipt, err := chain.DecodeReceipt(d.Value)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNotShown, err)
	}
	if receipt.TxHash != d.TxHash {
		return fmt.Errorf("%w: the receipt is of transaction %s", ErrNotShown, receipt.TxHash)
	}
	out.Receipt = &ShownReceipt{Index: d.Index, Receipt: receipt}
	return nil
}

func (d *Multi) show(_ *Verifier, h *chain.Header, out *Shown) error {
	if d.StateRoot != h.StateRoot {
		return otherRoot("state", d.StateRoot, h.StateRoot)
	}
	keys := len(d.Accounts)
	for i := range d.Accounts {
		keys += len(d.Accounts[i].Slots)
	}
	if keys == 0 || keys > KeysMax {
		return fmt.Errorf("%w: %d keys, want 1 to %d", ErrTooLarge, keys, KeysMax)
	}
	nodes := tree.NewBundleReader(plain(d.Nodes))
	for i := range d.Accounts {
		a, err := d.Accounts[i].show(nodes, h.StateRoot)
		if err != nil {
			return fmt.Errorf("account %s: %w", d.Accounts[i].Address, err)
		}
		out.Accounts = append(out.Accounts, a)
	}
	if err := nodes.End(); err != nil {
		return fmt.Errorf("%w: %w", ErrNotShown, err)
	}
	return nil
}

func (m *MultiAccount) show(nodes *tree.BundleReader, stateRoot chain.Hash) (ShownAccount, error) {
	leaf := Leaf{Key: m.Key, Value: m.Value, Exists: m.Exists}
	value, err := leaf.in(nodes, stateRoot, tree.AccountKey(m.Address))
	if err != nil {
		return ShownAccount{}, err
	}
	a, err := shownAccount(m.Address, value)
	if err != nil {
		return ShownAccount{}, err
	}
	for i := range m.Slots {
		s := &m.Slots[i]
		leaf := Leaf{Key: s.Key, Value: s.Value, Exists: s.Exists}
		value, err := leaf.in(nodes, a.Account.StorageRoot, tree.SlotKey(state.StorageKey(s.Slot)))
		if err != nil {
			return ShownAccount{}, fmt.Errorf("slot 0x%x: %w", []byte(s.Slot), err)
		}
		slot, err := shownSlot(s.Slot, value)
		if err != nil {
			return ShownAccount{}, err
		}
		a.Slots = append(a.Slots, slot)
	}
	return a, nil
}

// account verifies a leaf of the state trie.
func (l *Leaf) account(root chain.Hash, addr chain.Address) (ShownAccount, error) {
	value, err := l.value(root, tree.AccountKey(addr))
	if err != nil {
		return ShownAccount{}, err
	}
	return shownAccount(addr, value)
}

// value verifies the leaf and returns the trie's value, nil if absent.
func (l *Leaf) value(root, key chain.Hash) ([]byte, error) {
	nodes := tree.NewBundleReader(plain(l.Proof)) // a proof alone is a bundle of one
	value, err := l.in(nodes, root, key)
	if err != nil {
		return nil, err
	}
	if err := nodes.End(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotShown, err)
	}
	return value, nil
}

// in is value with nodes that other leaves share.
func (l *Leaf) in(nodes *tree.BundleReader, root, key chain.Hash) ([]byte, error) {
	if l.Key != key {
		return nil, fmt.Errorf("%w: the key is %s", ErrNotShown, key)
	}
	value, err := nodes.Get(root, key[:])
	if err == nil {
		err = sameValue(value, l.Value, l.Exists)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotShown, err)
	}
	return value, nil
}

// sameValue compares what a proof shows with what the document says of it.
func sameValue(value, said []byte, exists bool) error {
	switch {
	case exists && value == nil:
		return errors.New("said to exist, shown to be absent")
	case !exists && value != nil:
		return errors.New("said to be absent, shown to exist")
	case !bytes.Equal(value, said):
		return errors.New("the value shown is another")
	}
	return nil
}

func shownAccount(addr chain.Address, value []byte) (ShownAccount, error) {
	out := ShownAccount{Address: addr, Account: state.NewAccount()}
	if value == nil {
		return out, nil
	}
	a, err := state.DecodeAccount(value)
	if err != nil {
		return out, fmt.Errorf("%w: %w", ErrNotShown, err)
	}
	out.Account, out.Exists = a, true
	return out, nil
}

func shownSlot(slot Bytes, value []byte) (ShownSlot, error) {
	out := ShownSlot{Slot: state.StorageKey(slot)}
	if value == nil {
		return out, nil
	}
	content, rest, err := rlp.SplitString(value)
	if err != nil || len(rest) != 0 {
		return out, fmt.Errorf("%w: the storage value is no RLP string", ErrNotShown)
	}
	out.Exists, out.Value = true, content
	return out, nil
}

func otherRoot(what string, said, is chain.Hash) error {
	return fmt.Errorf("%w: %s root %s, but it is %s", ErrOtherBlock, what, said, is)
}

func plain(list List[Bytes]) [][]byte {
	out := make([][]byte, len(list))
	for i := range list {
		out[i] = list[i]
	}
	return out
}
