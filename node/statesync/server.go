package statesync

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/nice"
	"github.com/cowboy-foundation/cowboy/state/checkpoint"
	"github.com/cowboy-foundation/cowboy/state/snapshot"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// ErrBusy means that the inbox is full.
var ErrBusy = errors.New("state sync is busy")

// Network sends to peers by their number. It never blocks.
type Network interface {
	Send(to int, msg []byte)
}

// Biller is the network of a server.
type Biller interface {
	Network
	// Served is told what a request of a peer had read for it, in bytes, before the
	// answer is sent. It is called for each request, answered or not.
	Served(to, bytes int)
}

// ServerConfig is what a server is made of.
type ServerConfig struct {
	Dir         string // of the checkpoint files; its own
	Interval    uint64 // blocks between checkpoints; 0 makes none
	Store       *store.Store
	Certificate func(stored []byte) ([]byte, chain.Hash, error) // as in snapshot.WriteConfig
	Network     Biller
	Log         *slog.Logger

	// Delay is how long after its block a checkpoint is cut, so that not all
	// validators do it at the same moment. The block is the same for all, or nobody
	// could answer for the chunks of another's.
	Delay time.Duration
	// Alarm is told why no checkpoints are made, and nothing when they are again; nil
	// for nobody.
	Alarm func(reason string)
}

// Server makes checkpoints and serves them.
type Server struct {
	cfg     ServerConfig
	inbox   chan delivery
	exports chan *store.Export
	Stats   ServerStats

	// later says that the block of the last checkpoint cannot be shown to be final:
	// the next one that can takes its place.
	later atomic.Bool

	// Owned by Run.
	shelf  []*shelved // newest first
	opened bool       // the folder was read
}

// ServerStats counts a server's work.
type ServerStats struct {
	Height              atomic.Uint64 // of the newest checkpoint, 0 for none
	Made, Served, Bytes atomic.Uint64
	Failed              atomic.Uint64 // checkpoints that were not made, and folders that could not be read
}

type delivery struct {
	from int
	msg  message
	size int // encoded
}

// shelved is a checkpoint file that is served.
type shelved struct {
	name   string
	height chain.Height
	digest chain.Hash
	file   *os.File
	index  *checkpoint.Index
}

const (
	inboxLen  = 64 // requests that wait; each peer has at most a few
	shelfLen  = 2  // checkpoints that are served
	extension = ".snapshot"
	partial   = ".part"
)

// NewServer returns a server that has not touched its folder.
func NewServer(cfg ServerConfig) *Server {
	return &Server{cfg: cfg, inbox: make(chan delivery, inboxLen), exports: make(chan *store.Export, 1)}
}

// Deliver hands over a message of a peer. It never blocks. What a client would
// take is not for a server, and ignored: it may have come late.
func (s *Server) Deliver(from int, msg []byte) error {
	m, err := decode(msg)
	if err != nil || !isRequest(m) {
		return err
	}
	select {
	case s.inbox <- delivery{from, m, len(msg)}:
		return nil
	default:
		return ErrBusy
	}
}

// Committed is called behind the commit of each block, before that of the next.
// At a checkpoint's height it holds the state still for the server to write.
func (s *Server) Committed(h chain.Height) {
	if s.cfg.Interval == 0 || uint64(h)%s.cfg.Interval != 0 && !s.later.CompareAndSwap(true, false) {
		return
	}
	x, err := s.cfg.Store.Export()
	if err != nil {
		s.cfg.Log.Warn("no checkpoint", "height", h, "err", err)
		return
	}
	select {
	case s.exports <- x:
	default:
		s.cfg.Log.Warn("no checkpoint: those before are still being written", "height", h)
		_ = x.Close() // read by nobody
	}
}

// Run makes and serves checkpoints until ctx ends.
func (s *Server) Run(ctx context.Context) error {
	again := time.NewTicker(openAgain)
	defer again.Stop()
	s.tryOpen()
	defer s.closeShelf()
	var writing sync.WaitGroup
	defer writing.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	written := make(chan string)
	exports := s.exports // nil while one is written: a state that is held still takes memory
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case d := <-s.inbox:
			s.answer(d)
		case x := <-exports:
			exports = nil
			writing.Go(func() {
				nice.Thread()
				name, err := s.write(ctx, x)
				s.report(ctx, x.Height(), err)
				select {
				case written <- name:
				case <-ctx.Done():
				}
			})
		case <-again.C:
			s.tryOpen()
		case name := <-written:
			exports = s.exports
			if name != "" {
				s.place(name)
			}
		}
	}
}

// Close lets go of a state that Run did not come to write. Run has returned.
func (s *Server) Close() error {
	select {
	case x := <-s.exports:
		return x.Close()
	default:
		return nil
	}
}

// openAgain is after how long a folder that cannot be read is tried again.
const openAgain = time.Minute

// tryOpen reads the folder. Where it fails the validator goes on: it only has no
// checkpoints to serve.
func (s *Server) tryOpen() {
	if s.opened {
		return
	}
	if err := s.open(); err != nil {
		s.Stats.Failed.Add(1)
		s.alarm(fmt.Sprintf("no checkpoints are served to nodes that join: %v; mend the folder, it is tried again every minute", err))
		return
	}
	s.opened = true
	s.alarm("")
}

// alarm hands on why no checkpoints are made.
func (s *Server) alarm(reason string) {
	if s.cfg.Alarm != nil {
		s.cfg.Alarm(reason)
	}
}

// report says what became of a checkpoint.
func (s *Server) report(ctx context.Context, h chain.Height, err error) {
	switch {
	case err == nil:
		s.alarm("")
	case ctx.Err() != nil:
	case errors.Is(err, snapshot.ErrFar):
		s.later.Store(true)
		s.cfg.Log.Warn("the checkpoint is of a later block", "height", h, "err", err)
	default:
		s.Stats.Failed.Add(1)
		s.cfg.Log.Warn("no checkpoint", "height", h, "err", err)
		s.alarm(fmt.Sprintf("the checkpoint of block %d was not made, and nodes that join find an older one or none: %v; the next is tried %d blocks later", h, err, s.cfg.Interval))
	}
}

// open takes up the files that are there and removes what is of no use.
func (s *Server) open() error {
	if err := os.MkdirAll(s.cfg.Dir, 0o755); err != nil {
		return fmt.Errorf("checkpoint folder: %w", err)
	}
	files, err := os.ReadDir(s.cfg.Dir)
	if err != nil {
		return fmt.Errorf("checkpoint folder: %w", err)
	}
	for _, f := range files { // ascending, and so are heights
		name := filepath.Join(s.cfg.Dir, f.Name())
		switch {
		case strings.HasSuffix(name, extension):
			s.place(name)
		case strings.HasSuffix(name, partial):
			if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("remove half a checkpoint: %w", err)
			}
		}
	}
	return nil
}

// write writes a checkpoint file and returns its name.
func (s *Server) write(ctx context.Context, x *store.Export) (name string, err error) {
	name = filepath.Join(s.cfg.Dir, fmt.Sprintf("%020d%s", x.Height(), extension))
	cfg := snapshot.WriteConfig{
		ChunkBytes: checkpoint.DefaultChunkBytes, Certificate: s.cfg.Certificate,
		Progress: func(uint32, snapshot.Summary) {}, ScratchDir: s.cfg.Dir, Pause: newPace(ctx).rest,
	}
	if err := errors.Join(s.turn(ctx, x, cfg), os.MkdirAll(s.cfg.Dir, 0o755)); err != nil {
		return "", errors.Join(err, x.Close())
	}
	file, err := os.Create(name + partial)
	if err != nil {
		return "", errors.Join(err, x.Close())
	}
	out := bufio.NewWriterSize(file, 1<<20)
	_, err = snapshot.WriteExport(ctx, out, s.cfg.Store, x, cfg)
	err = errors.Join(err, x.Close())
	if err == nil {
		err = errors.Join(out.Flush(), file.Sync())
	}
	if err = errors.Join(err, file.Close()); err == nil {
		err = os.Rename(name+partial, name)
	}
	if err != nil {
		return "", errors.Join(err, os.Remove(name+partial))
	}
	return name, nil
}

// descendantWait is how long a checkpoint waits for the block that makes its own final
// to be stored: it is final already, and the commits of the blocks up to it are under way.
const descendantWait = time.Minute

// turn waits for this node's turn, and for what shows that the block is final.
func (s *Server) turn(ctx context.Context, x *store.Export, cfg snapshot.WriteConfig) error {
	const look = 100 * time.Millisecond
	err := sleep(ctx, s.cfg.Delay)
	for waited := time.Duration(0); err == nil; waited += look {
		ready := snapshot.Ready(s.cfg.Store, x, cfg)
		if !errors.Is(ready, snapshot.ErrDescendant) || waited >= descendantWait {
			return ready
		}
		err = sleep(ctx, look)
	}
	return err
}

// place puts a file in front of the shelf and drops the last one. A file whose
// bytes are wrong is removed; one that could not be read stays for another start.
func (s *Server) place(name string) {
	one, err := open(name)
	if err != nil {
		s.cfg.Log.Warn("checkpoint is of no use", "file", name, "err", err)
		if errors.Is(err, checkpoint.ErrNoSnapshot) || errors.Is(err, checkpoint.ErrDamaged) {
			_ = os.Remove(name) // it can be made anew
		}
		return
	}
	s.shelf = slices.Insert(s.shelf, 0, one)
	for len(s.shelf) > shelfLen {
		last := s.shelf[len(s.shelf)-1]
		s.shelf = s.shelf[:len(s.shelf)-1]
		if err := errors.Join(last.file.Close(), os.Remove(last.name)); err != nil {
			s.cfg.Log.Warn("old checkpoint stays", "file", last.name, "err", err)
		}
	}
	s.Stats.Made.Add(1)
	s.Stats.Height.Store(uint64(one.height))
	s.cfg.Log.Info("checkpoint is served", "height", one.height)
}

func open(name string) (*shelved, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	one, err := shelve(name, file)
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return one, nil
}

func shelve(name string, file *os.File) (*shelved, error) {
	index, err := checkpoint.NewIndex(file)
	if err != nil {
		return nil, err
	}
	head, err := checkpoint.DecodeHead(index.HeadBytes())
	if err != nil {
		return nil, fmt.Errorf("%w: head: %w", checkpoint.ErrDamaged, err)
	}
	block, err := chain.DecodeBlock(head.Block, len(head.Block))
	if err != nil {
		return nil, fmt.Errorf("%w: block: %w", checkpoint.ErrDamaged, err)
	}
	return &shelved{
		name: name, file: file, index: index,
		height: block.Header.Height, digest: block.Header.Digest(),
	}, nil
}

func (s *Server) closeShelf() {
	for _, one := range s.shelf {
		_ = one.file.Close() // only read
	}
}

// answer answers one request; there is no answer to an inquiry without a
// checkpoint.
func (s *Server) answer(d delivery) {
	var answer message
	size := 0
	switch m := d.msg.(type) {
	case inquiry:
		if len(s.shelf) > 0 {
			head := s.shelf[0].index.HeadBytes()
			answer, size = offer{head}, len(head)
		}
	case get:
		answer = s.chunkFor(m)
		if c, ok := answer.(chunk); ok {
			size = len(c.payload)
		}
	}
	s.cfg.Network.Served(d.from, size)
	if answer != nil {
		s.cfg.Network.Send(d.from, answer.append(nil))
	}
}

func (s *Server) chunkFor(m get) message {
	for _, one := range s.shelf {
		if one.digest != m.digest {
			continue
		}
		payload, ok, err := one.index.Find(m.request)
		if err != nil && !errors.Is(err, io.EOF) {
			s.cfg.Log.Warn("checkpoint cannot be read", "file", one.name, "err", err)
		}
		if err == nil && ok {
			s.Stats.Served.Add(1)
			s.Stats.Bytes.Add(uint64(len(payload)))
			return chunk{m.id, payload}
		}
	}
	return none{m.id}
}
