package query

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/node/light"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/state/store"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// Prove implements rpc.Proofs. State is proven at the head: older roots are
// gone from memory as soon as blocks are final. Blocks are proven at any height.
func (s *Source) Prove(ctx context.Context, q *light.Query) (d light.Document, ok bool, err error) {
	switch q.Kind {
	case light.KindTransaction, light.KindReceipt:
		return s.proveListed(ctx, q)
	case light.KindHeader:
		if q.Height != 0 {
			return s.proveHeader(ctx, q.Height)
		}
	}
	err = s.atHead(ctx, func(head *ledger.Executed) error {
		if head.Height() == 0 {
			return noBlockYet()
		}
		frame, err := s.frame(ctx, q.Kind, head.Digest, &head.Block.Header)
		if err != nil {
			return err
		}
		d, err = s.proveState(ctx, q, head, frame)
		return err
	})
	return d, err == nil, err
}

func noBlockYet() error {
	return &rpc.Refusal{
		Status: http.StatusNotFound, Code: rpc.CodeUnknownBlock,
		Message: "the chain has no block yet, so there is no certificate: ask again after the first block time",
	}
}

func (s *Source) proveState(ctx context.Context, q *light.Query, head *ledger.Executed, frame light.Frame) (light.Document, error) {
	switch q.Kind {
	case light.KindHeader:
		return &light.Header{Frame: frame}, nil
	case light.KindAccount:
		addr := q.Accounts[0].Address
		proof, err := head.State.ProveAccount(addr)
		if err == nil {
			err = billProof(ctx, proof)
		}
		if err != nil {
			return nil, err
		}
		return &light.Account{
			Frame: frame, Address: addr, StateRoot: head.State.Root(), Leaf: leafOf(tree.AccountKey(addr), proof),
		}, nil
	case light.KindStorage:
		return proveStorage(ctx, &q.Accounts[0], head.State, frame)
	case light.KindMulti:
		return proveMulti(ctx, q, head.State, frame)
	}
	return nil, fmt.Errorf("no proof of kind %q", q.Kind)
}

// billProof bills for a proof, by the bytes of its nodes, each of which was read and is
// written.
func billProof(ctx context.Context, p store.Proof) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return rpc.Bill(ctx, bytesOf(p.Nodes))
}

func proveStorage(ctx context.Context, q *light.AccountQuery, version *store.Version, frame light.Frame) (light.Document, error) {
	slot := q.Slots[0]
	account, storage, err := version.ProveStorage(q.Address, slot)
	if err == nil {
		err = errors.Join(billProof(ctx, account), billProof(ctx, storage))
	}
	if err != nil {
		return nil, err
	}
	a, _, err := version.Account(q.Address)
	if err != nil {
		return nil, err
	}
	return &light.Storage{
		Frame: frame, Address: q.Address, StateRoot: version.Root(),
		Account: leafOf(tree.AccountKey(q.Address), account), StorageRoot: a.StorageRoot,
		Slot: light.Bytes(slot), Leaf: leafOf(tree.SlotKey(slot), storage),
	}, nil
}

func proveMulti(ctx context.Context, q *light.Query, version *store.Version, frame light.Frame) (light.Document, error) {
	d := &light.Multi{Frame: frame, StateRoot: version.Root()}
	var nodes tree.Bundle
	for i := range q.Accounts {
		ask := &q.Accounts[i]
		proof, err := version.ProveAccount(ask.Address)
		if err == nil {
			err = billProof(ctx, proof)
		}
		if err != nil {
			return nil, err
		}
		nodes.Add(proof.Nodes)
		a := light.MultiAccount{Address: ask.Address, Key: tree.AccountKey(ask.Address), Value: proof.Value, Exists: proof.Value != nil}
		for _, slot := range ask.Slots {
			_, proof, err := version.ProveStorage(ask.Address, slot)
			if err == nil {
				err = billProof(ctx, proof)
			}
			if err != nil {
				return nil, err
			}
			nodes.Add(proof.Nodes)
			a.Slots = append(a.Slots, light.MultiSlot{Slot: light.Bytes(slot), Key: tree.SlotKey(slot), Value: proof.Value, Exists: proof.Value != nil})
		}
		d.Accounts = append(d.Accounts, a)
	}
	d.Nodes = bytesList(nodes.Nodes())
	return d, nil
}

func (s *Source) proveHeader(ctx context.Context, h chain.Height) (light.Document, bool, error) {
	digest, header, err := s.storedHeader(ctx, h)
	if err != nil || header == nil {
		return nil, false, err
	}
	frame, err := s.frame(ctx, light.KindHeader, digest, header)
	return &light.Header{Frame: frame}, err == nil, err
}

// storedHeader reads a finalized block, whose bytes are billed, and decodes its header; that
// is nil if there is no block.
func (s *Source) storedHeader(ctx context.Context, h chain.Height) (chain.Hash, *chain.Header, error) {
	digest, raw, err := s.storedBytes(ctx, h, partOfBlock)
	if err != nil || raw == nil {
		return chain.Hash{}, nil, err
	}
	head, _, err := chain.SplitBlock(raw)
	if err != nil {
		return chain.Hash{}, nil, fmt.Errorf("stored block %d: %w", h, err)
	}
	header, err := chain.DecodeHeader(head)
	if err != nil {
		return chain.Hash{}, nil, fmt.Errorf("stored block %d: %w", h, err)
	}
	return digest, header, nil
}

// proveListed builds the trie of the whole block: its cost is that of the
// block's bytes, which are billed, and it is worked on by a thread of low priority.
func (s *Source) proveListed(ctx context.Context, q *light.Query) (d light.Document, ok bool, err error) {
	h, index, ok, err := s.located(q.TxHash)
	if err != nil || !ok {
		return nil, false, err
	}
	err = gently(func() error {
		l, err := s.listed(ctx, q, h, index)
		if l != nil {
			d = l
		}
		return err
	})
	return d, d != nil && err == nil, err
}

// listed proves what stands in a slot of a block; nil if there is no such thing.
func (s *Source) listed(ctx context.Context, q *light.Query, h chain.Height, index int) (*light.Listed, error) {
	all, ok, err := s.cfg.Blocks.BlockSize(h)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, fmt.Errorf("transaction %s is indexed at block %d, which is not stored", q.TxHash, h)
	}
	if err := rpc.Bill(ctx, partOfBlock(all)); err != nil {
		return nil, err
	}
	rec, ok, err := s.cfg.Blocks.BlockByHeight(h)
	if err == nil && !ok {
		err = fmt.Errorf("block %d is there no more", h)
	}
	if err != nil {
		return nil, err
	}
	block, err := chain.DecodeBlock(rec.Block, len(rec.Block))
	if err != nil {
		return nil, fmt.Errorf("stored block %d: %w", h, err)
	}
	items := block.Txs
	if q.Kind == light.KindReceipt {
		items = rec.Receipts
	}
	if q.Kind == light.KindTransaction && index >= len(items) && index < len(rec.Receipts) {
		return nil, nil // a delivery has a receipt and is no transaction
	}
	if index >= len(items) {
		return nil, fmt.Errorf("transaction %s is indexed at block %d, slot %d, where it is not", q.TxHash, h, index)
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := rpc.Bill(ctx, bytesOf(items)); err != nil { // all are hashed
		return nil, err
	}
	frame, err := s.frame(ctx, q.Kind, rec.Digest, &block.Header)
	if err != nil {
		return nil, err
	}
	root, proof := tree.ProveList(items, index)
	return &light.Listed{
		Frame: frame, TxHash: q.TxHash, Index: uint32(index), Root: root,
		Key: tree.ListKey(index), Value: items[index], Proof: bytesList(proof),
	}, nil
}

func bytesOf(items [][]byte) (n int) {
	for i := range items {
		n += len(items[i])
	}
	return n
}

// frame shows that a block is final. A certificate is for the block itself or
// for a descendant, whose headers then lead to it.
func (s *Source) frame(ctx context.Context, kind light.Kind, digest chain.Hash, h *chain.Header) (light.Frame, error) {
	f := light.Frame{
		Kind: kind, ChainID: s.cfg.ChainID, Genesis: s.cfg.Genesis,
		Height: h.Height, BlockHash: digest, Header: chain.EncodeHeader(h),
	}
	row, ok, err := s.cfg.Blocks.Certificate(h.Height)
	if err != nil {
		return f, err
	}
	if !ok {
		return f, fmt.Errorf("certificate of block %d is not stored", h.Height)
	}
	c, rest, err := simplex.ReadCertificate(row)
	if err != nil {
		return f, fmt.Errorf("certificate of block %d: %w", h.Height, err)
	}
	f.Certificate = row[:len(row)-len(rest)]
	if c.Proposal.Payload == digest {
		return f, nil
	}
	f.Descendants, err = s.headersTo(ctx, h.Height, c.Proposal.Payload)
	return f, err
}

// headersTo returns the headers above height h up to the block with a digest. It reads each
// of these blocks, while the request lasts.
func (s *Source) headersTo(ctx context.Context, h chain.Height, digest chain.Hash) (light.List[light.Bytes], error) {
	last, ok, err := s.cfg.Blocks.HeightByDigest(digest)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, rpc.ErrBusy // it is final and about to be written
	}
	if last <= h || last-h > light.DescendantsMax {
		return nil, &rpc.Refusal{
			Status: http.StatusNotFound, Code: rpc.CodeUnprovable,
			Message: fmt.Sprintf("block %d is final by the certificate of block %d, which is too far away for one answer", h, last),
		}
	}
	var out light.List[light.Bytes]
	for at := h + 1; at <= last; at++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		_, header, err := s.storedHeader(ctx, at)
		if err != nil {
			return nil, err
		}
		if header == nil {
			return nil, fmt.Errorf("block %d is not stored", at)
		}
		out = append(out, chain.EncodeHeader(header))
	}
	return out, nil
}

func leafOf(key chain.Hash, p store.Proof) light.Leaf {
	return light.Leaf{Key: key, Value: p.Value, Exists: p.Value != nil, Proof: bytesList(p.Nodes)}
}

func bytesList(list [][]byte) light.List[light.Bytes] {
	out := make(light.List[light.Bytes], len(list))
	for i := range list {
		out[i] = list[i]
	}
	return out
}
