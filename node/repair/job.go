package repair

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state/store"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// What is wrong with what a peer gave. The first four are lies: no node whose store is
// whole answers so.
var (
	ErrAnswer      = errors.New("it is not what was asked for")
	ErrBlock       = errors.New("it is not the block of this digest")
	ErrReceipts    = errors.New("they are not the receipts that the header commits to")
	ErrCertificate = errors.New("the certificate does not show that the block is final")
	// ErrForm means a good certificate that takes another number of bytes than there is
	// room for: the peer was shown to be final what we were shown another way.
	ErrForm = errors.New("the certificate has another form than the place has room for")
	// errOwn means that what this node has of the block contradicts itself, whatever
	// peers give.
	errOwn = errors.New("what is left of the block is not of one block")
)

// The parts of a record, as the store numbers them.
const (
	partBlock       = 0
	partCertificate = 1
	partIDs         = 2 // computed here
	partReceipts    = 3
)

// job is one damaged block while its parts come together.
type job struct {
	cfg     *Config
	left    store.Salvaged // what this node still has
	block   []byte
	decoded *chain.Block // of block
	cert    []byte
	list    [][]byte // receipts; nil for those that are missing
	room    int      // bytes that further parts may take
	lists   bool     // receipts came from the peer
}

// newJob begins with what this node still has. The parts of the store have checksums of
// their own, so that what is there is right.
func newJob(cfg *Config, left store.Salvaged) (*job, error) {
	j := &job{cfg: cfg, left: left}
	j.dropReceived()
	if j.block == nil {
		return j, nil
	}
	var err error
	if j.decoded, err = j.decode(j.block); err != nil {
		return nil, fmt.Errorf("%w: %w", errOwn, err)
	}
	return j, nil
}

// dropReceived forgets what peers gave, but for a block that was held to its digest.
func (j *job) dropReceived() {
	if j.decoded == nil {
		j.block = j.left.Block
	}
	j.cert = j.left.Certificate
	j.list, j.lists = append([][]byte(nil), j.left.Receipts...), false
	j.room = j.left.Bytes - len(j.block) - len(j.cert) - len(j.left.IDs)
	for _, r := range j.list {
		j.room -= len(r)
	}
}

// certificateSlack is how much longer a peer's certificate may be than the whole room.
const certificateSlack = 1 << 10

// missing returns the next stretch of parts that a peer has to give, false if none.
func (j *job) missing() (first, end uint32, ok bool) {
	switch {
	case j.block == nil && j.cert == nil:
		return partBlock, partCertificate + 1, true
	case j.block == nil:
		return partBlock, partBlock + 1, true
	case j.cert == nil:
		return partCertificate, partCertificate + 1, true
	}
	for i := range j.list {
		switch {
		case j.list[i] == nil && !ok:
			first, ok = uint32(i), true
		case j.list[i] != nil && ok:
			return partReceipts + first, partReceipts + uint32(i), true
		}
	}
	return partReceipts + first, partReceipts + uint32(len(j.list)), ok
}

// receiveParts takes parts in that answer a request for first to end.
func (j *job) receiveParts(p parts, first, end uint32) error {
	if p.first != first || uint64(len(p.parts)) > uint64(end-first) {
		return ErrAnswer
	}
	for i, part := range p.parts {
		at := first + uint32(i)
		if j.room -= len(part); j.room < -certificateSlack {
			return ErrAnswer
		}
		switch {
		case at == partBlock:
			decoded, err := j.decode(part)
			if err != nil {
				return err
			}
			j.block, j.decoded = bytes.Clone(part), decoded
		case at == partCertificate:
			j.cert = bytes.Clone(part)
		default:
			j.list[at-partReceipts], j.lists = append([]byte{}, part...), true
		}
	}
	return nil
}

// decode reads a block and holds it to the digest and, its transactions, to its header.
func (j *job) decode(b []byte) (*chain.Block, error) {
	block, err := chain.DecodeBlock(b, len(b))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrBlock, err)
	case block.Header.Digest() != j.left.Digest, block.Header.Height != j.left.Height,
		tree.ListRoot(block.Txs) != block.Header.TxRoot, !bytes.Equal(block.Encode(), b):
		return nil, ErrBlock
	}
	return block, nil
}

// assemble puts the record together when nothing is missing.
func (j *job) assemble(ctx context.Context) (*store.BlockRecord, error) {
	rec := &store.BlockRecord{Height: j.left.Height, Digest: j.left.Digest, Block: j.block, Receipts: j.list}
	// A chain that began with an imported state has no receipts of its first block.
	if len(j.list) > 0 && tree.ListRoot(j.list) != j.decoded.Header.ReceiptsRoot {
		return nil, j.blame(j.lists, ErrReceipts)
	}
	for i, r := range j.list {
		receipt, err := chain.DecodeReceipt(r)
		if err != nil {
			return nil, fmt.Errorf("%w: receipt %d: %w", errOwn, i, err) // its root is right
		}
		rec.ReceiptIDs = append(rec.ReceiptIDs, receipt.TxHash)
	}
	if err := j.cfg.Certify(store.BlockRecord{Height: rec.Height, Digest: rec.Digest, Block: rec.Block, Certificate: j.cert}); err != nil {
		return nil, fmt.Errorf("%w: %w", j.blame(j.left.Certificate == nil, ErrCertificate), err)
	}
	return rec, j.fit(ctx, rec)
}

// blame is the fault of the peer if what is wrong came from it.
func (j *job) blame(given bool, fault error) error {
	if given {
		return fault
	}
	return fmt.Errorf("%w: %w", errOwn, errors.New(fault.Error()))
}

// fit finds the certificate and the senders that fill what is left of the place: blocks
// of older releases were stored without senders.
func (j *job) fit(ctx context.Context, rec *store.BlockRecord) error {
	room := j.left.Bytes - len(rec.Block) - len(rec.ReceiptIDs)*len(chain.Hash{})
	for _, r := range rec.Receipts {
		room -= len(r)
	}
	txs := j.decoded.Txs
	for _, senders := range []int{len(txs), 0} {
		fitted, ok := j.cfg.Fit(j.cert, room-senders*len(chain.Address{}))
		if !ok {
			continue
		}
		if rec.Certificate = fitted; senders == 0 {
			return nil
		}
		var err error
		if rec.Senders, err = j.cfg.Senders(ctx, txs); err != nil {
			return fmt.Errorf("%w: senders: %w", errOwn, err)
		}
		return nil
	}
	return ErrForm
}
