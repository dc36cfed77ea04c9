package rpc

import (
	"context"
	"encoding/hex"
	"net/http"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Blocks is what is asked of final blocks.
type Blocks interface {
	// Height returns the height of the finalized head, 0 at genesis.
	Height() chain.Height
	// BlockByHeight returns a finalized block.
	BlockByHeight(ctx context.Context, h chain.Height) (*Block, bool, error)
	// BlockByHash returns a finalized block by the digest of its header.
	BlockByHash(ctx context.Context, hash chain.Hash) (*Block, bool, error)
	// HeaderByHeight returns the line of a list: it must be much cheaper than
	// BlockByHeight, because one request may ask for 1,000 of them.
	HeaderByHeight(ctx context.Context, h chain.Height) (*HeaderLine, bool, error)
	// BaseFees returns the prices of the next block.
	BaseFees() FeeQuote
}

// Block is a finalized block with what the header does not say of its
// transactions. The server only reads it, so many requests may share one.
type Block struct {
	Hash       chain.Hash // digest of the header
	Block      *chain.Block
	Txs        []*chain.VerifiedTx // of Block.Txs, in the same order
	OrderKeys  func() []chain.Hash // one for each of Txs (resolution 11.41), computed for who asks; nil: none
	Deliveries []chain.Hash        // ids of the receipts after those of Txs: messages that waited, timers
	SizeBytes  int                 // of the encoded block
}

// HeaderLine is what a list shows of a block.
type HeaderLine struct {
	Hash      chain.Hash
	Header    *chain.Header
	TxCount   int
	SizeBytes int
	Stored    bool // it was read from the disk for this answer
}

// FeeQuote is what a client needs to price a transaction.
type FeeQuote struct {
	Height  chain.Height                  // the finalized head
	Fees    [chain.NumLanes]chain.FeePair // of the block after it
	MaxTx   chain.Usage                   // protocol maxima of one transaction (resolution 11.33)
	ChainID uint64
}

func (s *Server) height(w http.ResponseWriter, _ *http.Request, _ []string) error {
	s.writeJSON(w, http.StatusOK, HeightReply{Height: uint64(s.source.Height())})
	return nil
}

func (s *Server) baseFee(w http.ResponseWriter, _ *http.Request, _ []string) error {
	q := s.source.BaseFees()
	user := q.Fees[chain.LaneUser]
	s.writeJSON(w, http.StatusOK, BaseFeeReply{
		Height:  uint64(q.Height),
		Cycle:   user.PerCycle,
		Cell:    user.PerCell,
		Lanes:   lanesOf(q.Fees, feeReply),
		MaxTx:   usageReply(q.MaxTx),
		ChainID: q.ChainID,
	})
	return nil
}

func (s *Server) block(w http.ResponseWriter, r *http.Request, args []string) error {
	b, err := s.findBlock(r, args[0])
	if err != nil {
		return err
	}
	if s.events.lookup(b.Hash) == nil { // it is encoded anew
		if err := Bill(r.Context(), b.SizeBytes/8); err != nil {
			return err
		}
	}
	encoded, err := s.events.encoded(r.Context(), b, s.source.Height())
	if err != nil {
		return err
	}
	s.writeBody(w, http.StatusOK, "application/json", encoded)
	return nil
}

// hashDigits is the length of a hash in hex. No decimal height is that long,
// so a bare hash and a height are never confused.
const hashDigits = 2 * len(chain.Hash{})

// findBlock reads "latest", a height or a hash and returns that block.
func (s *Server) findBlock(r *http.Request, ref string) (*Block, error) {
	if len(ref) >= 2 && ref[:2] == "0x" || len(ref) == hashDigits {
		hash, err := parseHash(ref)
		if err != nil {
			return nil, err
		}
		b, ok, err := s.source.BlockByHash(r.Context(), hash)
		if err != nil {
			return nil, err
		}
		if !ok {
			return nil, notFound(CodeUnknownBlock, "no finalized block has this hash")
		}
		return b, nil
	}
	height := s.source.Height()
	if ref == "latest" && height == 0 {
		return nil, notFound(CodeUnknownBlock, "the chain has no block yet: ask again after the first block time")
	}
	if ref != "latest" {
		v, err := parseUint(ref)
		if err != nil {
			return nil, badRequest(CodeBadNumber, "%q is no block: give a height, a hash or latest", clip(ref))
		}
		height = chain.Height(v)
	}
	b, ok, err := s.source.BlockByHeight(r.Context(), height)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, s.noBlockAt(height)
	}
	return b, nil
}

func (s *Server) noBlockAt(height chain.Height) error {
	if height == 0 {
		return notFound(CodeUnknownBlock, "height 0 is the genesis, which is no block: blocks start at 1")
	}
	return notFound(CodeUnknownBlock, "no finalized block at height %d: the head is at %d", height, s.source.Height())
}

func (s *Server) blocks(w http.ResponseWriter, r *http.Request, _ []string) error {
	offset, limit, err := s.listed(r)
	if err != nil {
		return err
	}
	head := uint64(s.source.Height())
	reply := BlocksReply{Blocks: []BlockSummary{}, TotalCount: head, Offset: offset, Limit: limit}
	if offset < head { // height 0 is no block
		lines, err := s.listing(r.Context(), chain.Height(head-offset), min(limit, head-offset))
		if err != nil {
			return err
		}
		for _, line := range lines {
			reply.Blocks = append(reply.Blocks, summaryOf(line))
		}
	}
	s.writeJSON(w, http.StatusOK, reply)
	return nil
}

func summaryOf(line *HeaderLine) BlockSummary {
	return BlockSummary{
		Hash:            line.Hash.String(),
		Height:          uint64(line.Header.Height),
		View:            uint64(line.Header.View),
		TimestampMillis: line.Header.TimestampMillis,
		Proposer:        hexOf(line.Header.Proposer[:]),
		TxCount:         line.TxCount,
		SizeBytes:       line.SizeBytes,
	}
}

// blockReply shapes a block with the place of each of its transactions.
func blockReply(b *Block) BlockReply {
	h := &b.Block.Header
	txs := make([]BlockTxReply, len(b.Txs))
	var keys []chain.Hash
	if b.OrderKeys != nil {
		keys = b.OrderKeys()
	}
	for i, tx := range b.Txs {
		txs[i] = BlockTxReply{
			Hash:   tx.Hash.String(),
			Sender: tx.Sender.String(),
			Nonce:  tx.Tx.Nonce,
			Lane:   tx.Lane.String(),
			Slot:   i,
		}
		if i < len(keys) {
			txs[i].OrderKey = keys[i].String()
		}
	}
	deliveries := make([]string, len(b.Deliveries))
	for i := range b.Deliveries {
		deliveries[i] = b.Deliveries[i].String()
	}
	return BlockReply{
		Hash:            b.Hash.String(),
		Parent:          h.Parent.String(),
		Height:          uint64(h.Height),
		Epoch:           uint64(h.Epoch),
		View:            uint64(h.View),
		ParentEpoch:     uint64(h.ParentEpoch),
		ParentView:      uint64(h.ParentView),
		TimestampMillis: h.TimestampMillis,
		Proposer:        hexOf(h.Proposer[:]),
		TxRoot:          h.TxRoot.String(),
		BodyRoot:        h.BodyRoot.String(),
		ReceiptsRoot:    h.ReceiptsRoot.String(),
		StateRoot:       h.StateRoot.String(),
		ParentSeed:      hexOf(h.ParentSeed[:]),
		OrderProof:      hexOf(h.OrderProof[:]),
		PresenceInput:   hexOf(h.PresenceInput),
		ConsumedSeeds:   hexOf(h.ConsumedSeeds),
		BaseFees:        lanesOf(h.BaseFees, feeReply),
		Used:            lanesOf(h.Used, usageReply),
		TxCount:         len(txs),
		Txs:             txs,
		Deliveries:      deliveries,
		SizeBytes:       b.SizeBytes,
	}
}

// lanesOf shapes a value of each lane under the lane's name.
func lanesOf[V, R any](values [chain.NumLanes]V, shape func(V) R) map[string]R {
	lanes := make(map[string]R, len(values))
	for lane, v := range values {
		lanes[chain.LaneID(lane).String()] = shape(v)
	}
	return lanes
}

func feeReply(p chain.FeePair) FeeReply {
	return FeeReply{Cycle: p.PerCycle, Cell: p.PerCell}
}

func usageReply(u chain.Usage) UsageReply {
	return UsageReply{Cycles: uint64(u.Cycles), Cells: uint64(u.Cells)}
}

// hexOf returns b as the API writes bytes: 0x and lower-case hex.
func hexOf(b []byte) string { return "0x" + hex.EncodeToString(b) }
