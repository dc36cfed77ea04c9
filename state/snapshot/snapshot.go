package snapshot

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/checkpoint"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// ErrNoBlock means that a store has no finalized block yet.
var ErrNoBlock = errors.New("there is no finalized block yet")

var (
	// ErrDescendant means that the block is final by the certificate of a descendant
	// that is not stored. It is about to be, in a chain that runs.
	ErrDescendant = errors.New("the block is final by the certificate of a later one, which is not stored: start the node, let it make a block, stop it, and try again")
	// ErrFar means that the descendant is too far away for its headers to be carried.
	ErrFar = errors.New("the block is final by the certificate of a later one, which is too far away")
)

// Trust is what a checkpoint is held to.
type Trust struct {
	Genesis chain.Hash
	Certify checkpoint.Certifier
	Live    checkpoint.LiveJobs
}

// Summary says what a snapshot holds.
type Summary struct {
	Height                  chain.Height
	Digest, Root            chain.Hash
	Accounts, Slots, Chunks uint64
	Bytes                   int64 // of the file; only Write knows
}

func (s *Summary) addChunk(c checkpoint.Chunk) {
	s.Chunks++
	switch c := c.(type) {
	case *checkpoint.Accounts:
		s.Accounts += uint64(len(c.Accounts))
		for i := range c.Accounts {
			s.Slots += uint64(len(c.Accounts[i].Slots))
		}
	case *checkpoint.Slots:
		s.Slots += uint64(len(c.Slots))
	}
}

// Progress is told, now and then, how much of the key space is done, in
// 1/65,536, and how much that was so far.
type Progress func(covered uint32, so Summary)

// WriteConfig says how a snapshot is written.
type WriteConfig struct {
	ChunkBytes int // to which chunks are cut
	// Certificate takes what shows that a block is final out of what is stored with
	// it, and says which block it finalizes: none for the very block, else a descendant,
	// to which the headers are taken from the store.
	Certificate func(stored []byte) (certificate []byte, descendant chain.Hash, err error)
	Progress    Progress
	// ScratchDir is where storages larger than [checkpoint.DefaultSortBytes] are
	// sorted; they take as much room there as they have bytes. Empty stands for
	// the system's folder of temporary files.
	ScratchDir string
	Pause      func() error // called after each step of bounded work, nil for none
}

// cut returns how the state is cut.
func (cfg *WriteConfig) cut() checkpoint.CutConfig {
	out := checkpoint.CutConfig{
		ChunkBytes: cfg.ChunkBytes, SortBytes: checkpoint.DefaultSortBytes, Pause: cfg.Pause,
		Scratch: func() (checkpoint.Scratch, error) { return newScratch(cfg.ScratchDir) },
	}
	if out.Pause == nil {
		out.Pause = func() error { return nil }
	}
	return out
}

// Write writes a snapshot of the store's head, which may move on meanwhile. It
// buffers nothing: w should.
func Write(ctx context.Context, w io.Writer, s *store.Store, cfg WriteConfig) (Summary, error) {
	x, err := s.Export()
	if err != nil {
		return Summary{}, fmt.Errorf("snapshot: %w", err)
	}
	out, err := WriteExport(ctx, w, s, x, cfg)
	return out, errors.Join(err, x.Close())
}

// Ready reports whether a snapshot of the state could be written now: [ErrDescendant]
// if the block that makes its block final is not stored yet.
func Ready(s *store.Store, x *store.Export, cfg WriteConfig) error {
	_, err := headOf(s, x, cfg.Certificate)
	return err
}

// WriteExport writes a snapshot of a state that the caller holds still.
func WriteExport(ctx context.Context, w io.Writer, s *store.Store, x *store.Export, cfg WriteConfig) (out Summary, err error) {
	head, err := headOf(s, x, cfg.Certificate)
	if err != nil {
		return Summary{}, fmt.Errorf("snapshot of block %d: %w", x.Height(), err)
	}
	file, err := checkpoint.NewWriter(w, head)
	if err != nil {
		return Summary{}, err
	}
	out = Summary{Height: x.Height(), Digest: x.Digest(), Root: x.Root()}
	var order checkpoint.Sequence
	err = checkpoint.Cut(x, cfg.cut(), func(c checkpoint.Chunk) error {
		out.addChunk(c)
		if a, ok := c.(*checkpoint.Accounts); ok && len(a.Accounts) > 0 {
			_ = order.Take(&checkpoint.Accounts{From: a.From}, checkpoint.Span{Last: a.Accounts[len(a.Accounts)-1].Key, More: true})
			cfg.Progress(order.Covered(), out)
		}
		return errors.Join(ctx.Err(), file.Chunk(c))
	})
	if err != nil {
		return Summary{}, fmt.Errorf("snapshot of block %d: %w", x.Height(), err)
	}
	out.Bytes, err = file.Finish()
	return out, err
}

// headOf takes block and certificate of the export's height.
func headOf(s *store.Store, x *store.Export, certificate func([]byte) ([]byte, chain.Hash, error)) (*checkpoint.Head, error) {
	if x.Height() == 0 {
		return nil, ErrNoBlock
	}
	rec, ok, err := s.BlockByHeight(x.Height())
	if err != nil || !ok {
		return nil, fmt.Errorf("read block (found %v): %w", ok, err)
	}
	genesis, _ := s.Genesis()
	h := &checkpoint.Head{Genesis: genesis, Block: rec.Block}
	var descendant chain.Hash
	if h.Certificate, descendant, err = certificate(rec.Certificate); err != nil || descendant == (chain.Hash{}) {
		return h, err
	}
	h.Descendants, err = headersTo(s, x.Height(), descendant)
	return h, err
}

// headersTo returns the headers of the blocks after a height, up to the descendant.
func headersTo(s *store.Store, h chain.Height, descendant chain.Hash) (out [][]byte, err error) {
	last, ok, err := s.HeightByDigest(descendant)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, ErrDescendant
	}
	if last <= h || last-h > checkpoint.DescendantsMax {
		return nil, fmt.Errorf("%w: block %d", ErrFar, last)
	}
	size := 0
	for at := h + 1; at <= last; at++ {
		_, encoded, ok, err := s.BlockBytes(at)
		if err != nil || !ok {
			return nil, fmt.Errorf("read block %d (found %v): %w", at, ok, err)
		}
		head, _, err := chain.SplitBlock(encoded)
		if err != nil {
			return nil, fmt.Errorf("stored block %d: %w", at, err)
		}
		if size += 4 + len(head); size > checkpoint.DescendantBytesMax-4 {
			return nil, fmt.Errorf("%w: %d bytes of headers up to block %d", ErrFar, size, at)
		}
		out = append(out, bytes.Clone(head))
	}
	return out, nil
}

// begin checks the head of a snapshot.
func begin(r io.Reader, trust Trust) (*checkpoint.Reader, *checkpoint.Anchor, error) {
	file, err := checkpoint.NewReader(r)
	if err != nil {
		return nil, nil, err
	}
	anchor, err := file.Head().Check(trust.Genesis, trust.Certify)
	return file, anchor, err
}

// Verify reads a whole snapshot and checks all of it: certificate, chunks, and
// that they are the whole state. It needs no store. Lists of jobs are returned,
// ascending, for their roots are in the state alone.
func Verify(ctx context.Context, r io.Reader, trust Trust, progress Progress) (Summary, []checkpoint.JobRoot, error) {
	file, anchor, err := begin(r, trust)
	if err != nil {
		return Summary{}, nil, fmt.Errorf("verify snapshot: %w", err)
	}
	out := Summary{Height: anchor.Height(), Digest: anchor.Digest, Root: anchor.Root()}
	var order checkpoint.Sequence
	err = each(ctx, file, anchor.Root(), func(c Checked) error {
		out.addChunk(c.Chunk)
		progress(order.Covered(), out)
		return order.Take(c.Chunk, c.Span)
	})
	if err != nil {
		return Summary{}, nil, fmt.Errorf("verify snapshot: %w", err)
	}
	jobs, err := order.Finish()
	if err != nil {
		return Summary{}, nil, fmt.Errorf("verify snapshot: %w", err)
	}
	return out, jobs, nil
}

// Import fills an empty folder with the state of a snapshot, or goes on where an
// earlier call was cut off. It returns when the folder can be opened as a chain.
func Import(ctx context.Context, r io.Reader, dir string, opts store.Options, trust Trust, progress Progress) (out Summary, err error) {
	file, anchor, err := begin(r, trust)
	if err != nil {
		return Summary{}, fmt.Errorf("import snapshot: %w", err)
	}
	i, err := store.OpenImport(dir, opts, TargetOf(anchor))
	if err != nil {
		return Summary{}, fmt.Errorf("import snapshot: %w", err)
	}
	defer func() { err = errors.Join(err, i.Close()) }()
	in := &intake{to: i, progress: progress}
	in.out = Summary{Height: anchor.Height(), Digest: anchor.Digest, Root: anchor.Root()}
	if p := i.Progress(); len(p) == 8 {
		in.skip = binary.BigEndian.Uint64(p)
	}
	if err := each(ctx, file, anchor.Root(), in.receive); err != nil {
		return Summary{}, fmt.Errorf("import snapshot: %w", err)
	}
	jobs, err := in.order.Finish()
	if err == nil {
		err = in.flush()
	}
	if err == nil {
		err = Finish(i, anchor, trust, jobs)
	}
	if err != nil {
		return Summary{}, fmt.Errorf("import snapshot: %w", err)
	}
	return in.out, nil
}

// TargetOf is what an import of the checkpoint ends with.
func TargetOf(a *checkpoint.Anchor) store.Target {
	return store.Target{Genesis: a.Genesis, Height: a.Height(), Digest: a.Digest, Root: a.Root()}
}

// Finish holds what was imported to the root of the checkpoint, and the lists
// that came with it to those that the state asks for, and makes a chain of it.
func Finish(i *store.Import, a *checkpoint.Anchor, trust Trust, jobs []checkpoint.JobRoot) error {
	v, err := i.State()
	if err != nil {
		return err
	}
	live, err := trust.Live(v)
	if err != nil {
		return fmt.Errorf("live jobs: %w", err)
	}
	if err := checkpoint.CheckLists(live, jobs); err != nil {
		return err
	}
	_, err = i.Finish(RecordOf(a))
	return err
}

// RecordOf is the block of a checkpoint as a store keeps it: without receipts,
// which a checkpoint does not carry.
func RecordOf(a *checkpoint.Anchor) store.BlockRecord {
	return store.BlockRecord{Height: a.Height(), Digest: a.Digest, Block: bytes.Clone(a.Block), Certificate: bytes.Clone(a.Certificate)}
}

// intake stores chunks in order.
type intake struct {
	to       *store.Import
	progress Progress
	skip     uint64 // chunks that are stored already
	order    checkpoint.Sequence
	out      Summary
	pieces   []store.Piece
	slots    int // rows in pieces
}

// rowsPerPut balances the cost of a batch with what a crash loses.
const rowsPerPut = 16_384

func (in *intake) receive(c Checked) error {
	if err := in.order.Take(c.Chunk, c.Span); err != nil {
		return err
	}
	in.out.addChunk(c.Chunk)
	if in.out.Chunks <= in.skip {
		return nil
	}
	p, rows := PieceOf(c.Chunk)
	in.pieces = append(in.pieces, p)
	if in.slots += rows; in.slots < rowsPerPut {
		return nil
	}
	in.progress(in.order.Covered(), in.out)
	return in.flush()
}

func (in *intake) flush() error {
	if len(in.pieces) == 0 {
		return nil
	}
	err := in.to.Put(binary.BigEndian.AppendUint64(nil, in.out.Chunks), in.pieces...)
	in.pieces, in.slots = in.pieces[:0], 0
	return err
}

// PieceOf returns a checked chunk as a store takes it, with its number of rows.
func PieceOf(c checkpoint.Chunk) (p store.Piece, rows int) {
	slots := func(account chain.Hash, slots []checkpoint.Slot) {
		for i := range slots {
			p.Slots = append(p.Slots, store.SlotRow{Account: account, Key: slots[i].Key, Value: slots[i].Value})
		}
	}
	switch c := c.(type) {
	case *checkpoint.Accounts:
		p.Accounts = make([]store.AccountRow, len(c.Accounts))
		for i := range c.Accounts {
			a := &c.Accounts[i]
			p.Accounts[i] = store.AccountRow{Key: a.Key, Account: a.Row}
			slots(a.Key, a.Slots)
		}
		for _, code := range c.Codes {
			p.Codes = append(p.Codes, state.CodeChange{Hash: keccak.Sum256(code), Code: code})
		}
	case *checkpoint.Slots:
		slots(c.Account, c.Slots)
	case *checkpoint.List:
		p.Lists = []store.ListRow{{Name: c.Job, List: checkpoint.AppendCandidates(nil, c.Candidates)}}
	}
	return p, len(p.Accounts) + len(p.Slots) + len(p.Codes) + len(p.Lists)
}
