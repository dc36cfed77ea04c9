package repair

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/node/nice"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// Store is where the damaged blocks are.
type Store interface {
	Salvage(h chain.Height, bytesMax int) (store.Salvaged, bool, error)
	Mend(rec *store.BlockRecord, others bool) error
}

// Damage is who knows which blocks are damaged.
type Damage interface {
	// Heights are those of the damaged blocks, ascending.
	Heights() []chain.Height
	// Found has a value after a block was found damaged.
	Found() <-chan struct{}
	// Mending says that a block is written from now on: until it is mended, that it can
	// be read does not mean that it is durable.
	Mending(h chain.Height)
	// Mended says that a block is whole.
	Mended(h chain.Height)
}

// Config is what a client is made of. The zero value is invalid; start from
// [DefaultConfig].
type Config struct {
	Store   Store
	Damage  Damage
	Network Network
	// Peers are the members that are connected and give out blocks, by their numbers.
	Peers func() []int
	// Certify holds the certificates stored with a block to the group key.
	Certify func(rec store.BlockRecord) error
	// Fit brings certificates into a form that takes so many bytes, false if none does.
	Fit func(stored []byte, size int) ([]byte, bool)
	// Senders returns those of transactions.
	Senders func(ctx context.Context, txs [][]byte) ([]chain.Address, error)
	Log     *slog.Logger

	BytesPerSecond int64         // that are fetched and written; 0 mends nothing
	RecordBytesMax int           // a larger record is left as it is
	RequestTimeout time.Duration // for one answer
	RetryMin       time.Duration // before a block that nobody could help with is tried again; it doubles
	RetryMax       time.Duration
	LinkedWait     time.Duration // from a connection to a try for which nobody was there before
	LiarFor        time.Duration // a peer that lied is not asked again for so long
}

// DefaultConfig fits the internet: a damaged block is needed by nobody but readers. What
// has no default there is left to the caller.
func DefaultConfig() Config {
	return Config{
		BytesPerSecond: 1 << 20,
		RecordBytesMax: 64 << 20, // of memory, once; blocks with receipts are a few MiB
		RequestTimeout: 10 * time.Second,
		RetryMin:       time.Minute, RetryMax: time.Hour, LiarFor: time.Hour,
		LinkedWait: 2 * time.Second, // the other members connect meanwhile
	}
}

// Check returns an error for settings that cannot work.
func (c *Config) Check() error {
	switch {
	case c.Store == nil || c.Damage == nil || c.Network == nil || c.Peers == nil || c.Certify == nil || c.Fit == nil || c.Senders == nil || c.Log == nil:
		return errors.New("repair: a part is missing")
	case c.BytesPerSecond < 0 || c.RecordBytesMax <= 0 || c.RequestTimeout <= 0 || c.RetryMin <= 0 || c.RetryMax < c.RetryMin || c.LiarFor < 0 || c.LinkedWait < 0:
		return errors.New("repair: a bound is not positive")
	}
	return nil
}

// Reason is why a try to mend a block came to nothing, or an answer was of no use. The
// names are labels in metrics.
type Reason string

// The reasons.
const (
	ReasonNobody      Reason = "nobody"      // no member is connected that gives out blocks
	ReasonSilent      Reason = "silent"      // a peer did not answer in time
	ReasonNone        Reason = "none"        // a peer does not have the block
	ReasonAnswer      Reason = "answer"      // a peer gave what was not asked for
	ReasonBlock       Reason = "block"       // a peer gave another block
	ReasonReceipts    Reason = "receipts"    // a peer gave other receipts
	ReasonCertificate Reason = "certificate" // a peer gave a certificate that does not hold
	ReasonForm        Reason = "form"        // a peer's certificate does not fit the place
	ReasonLarge       Reason = "large"       // the record is above the bound
	ReasonDisk        Reason = "disk"        // it could not be read or written here
	ReasonUnasked     Reason = "unasked"     // an answer that came late, or that nobody asked for
)

// Reasons are all of them.
var Reasons = []Reason{
	ReasonNobody, ReasonSilent, ReasonNone, ReasonAnswer, ReasonBlock, ReasonReceipts,
	ReasonCertificate, ReasonForm, ReasonLarge, ReasonDisk, ReasonUnasked,
}

// ClientStats counts a client's work.
type ClientStats struct {
	Mended, Asked, Bytes atomic.Uint64 // blocks, requests, and bytes of parts that came

	mu     sync.Mutex // guards failed
	failed map[Reason]uint64
}

// Failed returns how often something came to nothing for a reason.
func (s *ClientStats) Failed(r Reason) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed[r]
}

func (s *ClientStats) countFailure(r Reason) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.failed[r]++
}

// Client mends damaged blocks.
type Client struct {
	cfg   Config
	Stats ClientStats

	mu      sync.Mutex // guards all below
	open    request    // whose answer is waited for; id 0 for none
	answers chan message
	linked  chan struct{} // has a value after a member connected

	// Owned by Run.
	ids   uint64
	tries map[chain.Height]*try
	liars map[int]time.Time // not asked until then
	rests map[int]time.Time // silent ones, likewise
	said  time.Time         // when the log was told that a block cannot be mended
}

// request is one that waits for its answer.
type request struct {
	peer int
	id   uint64
}

// try is what became of the tries to mend a block.
type try struct {
	at     time.Time // of the next
	wait   time.Duration
	alone  bool // nobody was there to be asked the last time
	unsure bool // it was written, and perhaps not durably: that it can be read says nothing
}

// NewClient returns a client that has not begun.
func NewClient(cfg Config) *Client {
	c := &Client{cfg: cfg, answers: make(chan message, 1), linked: make(chan struct{}, 1), tries: map[chain.Height]*try{}, liars: map[int]time.Time{}, rests: map[int]time.Time{}}
	c.Stats.failed = map[Reason]uint64{}
	return c
}

// Deliver hands over a message of a peer to who takes it. It never blocks.
func Deliver(s *Server, c *Client, from int, msg []byte) error {
	m, err := decode(msg)
	if err != nil {
		return err
	}
	if w, ok := m.(want); ok {
		return s.request(from, w)
	}
	c.answer(from, m)
	return nil
}

// answer takes the answer that is waited for, and no other.
func (c *Client) answer(from int, m message) {
	id := uint64(0)
	switch m := m.(type) {
	case parts:
		id = m.id
	case none:
		id = m.id
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open.id == 0 || c.open != (request{from, id}) {
		c.Stats.countFailure(ReasonUnasked)
		return
	}
	c.open = request{}
	c.answers <- m // has a place: each request is answered once
}

// Run mends what is damaged until ctx ends.
func (c *Client) Run(ctx context.Context) error {
	if c.cfg.BytesPerSecond == 0 {
		<-ctx.Done()
		return ctx.Err()
	}
	done := make(chan error, 1)
	go func() { // a thread of its own, which ends with it
		defer func() {
			if cause := recover(); cause != nil {
				done <- exec.Panicked(cause).Err
			}
		}()
		nice.Thread()
		done <- c.work(ctx)
	}()
	return <-done
}

func (c *Client) work(ctx context.Context) error {
	for {
		h, wait, any := c.nextDamaged(time.Now())
		var due <-chan time.Time
		if any {
			due = time.After(wait)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.cfg.Damage.Found():
			continue
		case <-c.linked:
			c.company(time.Now())
			continue
		case <-due:
		}
		if wait > 0 {
			continue
		}
		c.putOff(h) // before, so that a panic does not meet the same block at once
		bytes, err := c.mend(ctx, h)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c.recordTry(h, err)
		if err := sleep(ctx, time.Duration(int64(max(bytes, readBytesMin))*int64(time.Second)/c.cfg.BytesPerSecond)); err != nil {
			return err
		}
	}
}

// nextDamaged returns the damaged block whose turn is first, and how long that is off.
func (c *Client) nextDamaged(now time.Time) (h chain.Height, wait time.Duration, any bool) {
	damaged := c.cfg.Damage.Heights()
	known := make(map[chain.Height]*try, len(damaged))
	for _, at := range damaged {
		t := c.tries[at]
		if t == nil {
			t = &try{at: now, wait: c.cfg.RetryMin}
		}
		known[at] = t
		if left := max(0, t.at.Sub(now)); !any || left < wait {
			h, wait, any = at, left, true
		}
	}
	c.tries = known
	return h, wait, any
}

// Linked says that a member connected. It never blocks.
func (c *Client) Linked() {
	select {
	case c.linked <- struct{}{}:
	default:
	}
}

// company has blocks for which nobody was there tried soon: after a start, the first try
// comes before the first connection.
func (c *Client) company(now time.Time) {
	for _, t := range c.tries {
		if soon := now.Add(c.cfg.LinkedWait); t.alone && soon.Before(t.at) {
			t.at, t.wait = soon, c.cfg.RetryMin
		}
	}
}

// sayEvery bounds how often the log is told that a block cannot be mended.
const sayEvery = time.Minute

// putOff has a block wait for its next try.
func (c *Client) putOff(h chain.Height) {
	t := c.tries[h]
	t.at, t.wait = time.Now().Add(t.wait), min(2*t.wait, c.cfg.RetryMax)
}

// recordTry notes what became of a try.
func (c *Client) recordTry(h chain.Height, err error) {
	if err == nil {
		c.Stats.Mended.Add(1)
		delete(c.tries, h)
		c.cfg.Damage.Mended(h)
		return
	}
	t := c.tries[h]
	t.alone = errors.Is(err, errNobody)
	if now := time.Now(); now.Sub(c.said) >= sayEvery {
		c.said = now
		c.cfg.Log.Warn("a damaged block could not be fetched yet: it is tried again", "block", h, "again_at", t.at.UTC(), "damaged", len(c.tries), "err", err)
	}
}

// mend writes one damaged block again and returns about how many bytes that took.
func (c *Client) mend(ctx context.Context, h chain.Height) (bytes int, err error) {
	left, ok, err := c.cfg.Store.Salvage(h, c.cfg.RecordBytesMax)
	switch {
	case err != nil || !ok:
		c.Stats.countFailure(ReasonDisk)
		return 0, errors.Join(err, ctx.Err())
	case left.Bytes > c.cfg.RecordBytesMax:
		c.Stats.countFailure(ReasonLarge)
		return 0, fmt.Errorf("it has %d bytes, at most %d are fetched", left.Bytes, c.cfg.RecordBytesMax)
	case left.Whole && !c.tries[h].unsure:
		return left.Bytes, nil
	}
	j, err := newJob(&c.cfg, left)
	if err != nil {
		c.Stats.countFailure(ReasonDisk)
		return left.Bytes, err
	}
	rec, from, err := c.gather(ctx, j)
	if err != nil {
		return left.Bytes, err
	}
	c.cfg.Damage.Mending(h)
	c.tries[h].unsure = true
	if err := c.cfg.Store.Mend(rec, from != thisNode); err != nil {
		c.Stats.countFailure(ReasonDisk)
		return left.Bytes, err
	}
	c.cfg.Log.Warn("a damaged block was written again at its place and is whole: look whether the disk fails (dmesg)", "block", h, "bytes", left.Bytes, "from", from)
	return 2 * left.Bytes, nil
}

// thisNode is who helped where nobody had to.
const thisNode = "this node"

// gather puts a record together, of what this node has alone or with the help of one
// peer after another. from says whose help it was.
func (c *Client) gather(ctx context.Context, j *job) (rec *store.BlockRecord, from string, err error) {
	if _, _, missing := j.missing(); !missing {
		rec, err = j.assemble(ctx)
		return rec, thisNode, err
	}
	why := errNobody
	peers := c.cfg.Peers()
	rand.Shuffle(len(peers), func(a, b int) { peers[a], peers[b] = peers[b], peers[a] })
	asked := false
	for _, peer := range peers {
		if now := time.Now(); now.Before(c.liars[peer]) || now.Before(c.rests[peer]) {
			continue
		}
		asked = true
		if rec, err = c.from(ctx, j, peer); err == nil {
			return rec, fmt.Sprintf("validator %d", peer), nil
		}
		if errors.Is(err, errOwn) || ctx.Err() != nil {
			return nil, "", err
		}
		why = fmt.Errorf("peer %d: %w", peer, err)
		c.blame(j, peer, err)
	}
	if !asked {
		c.Stats.countFailure(ReasonNobody)
	}
	return nil, "", why
}

// Errors of peers that are no lies.
var (
	errNobody = errors.New("no member is connected that could give it")
	errSilent = errors.New("no answer in time")
	errNone   = errors.New("it does not have the block")
)

// blame counts what a peer did, and forgets what a liar gave.
func (c *Client) blame(j *job, peer int, err error) {
	for fault, reason := range map[error]Reason{
		errSilent: ReasonSilent, errNone: ReasonNone, ErrForm: ReasonForm,
		ErrAnswer: ReasonAnswer, ErrBlock: ReasonBlock, ErrReceipts: ReasonReceipts, ErrCertificate: ReasonCertificate,
	} {
		if errors.Is(err, fault) {
			c.Stats.countFailure(reason)
		}
	}
	if errors.Is(err, ErrForm) {
		j.cert = nil // the rest is right, whoever gave it
		return
	}
	j.dropReceived() // else the next peer would answer for what this one gave
	switch {
	case errors.Is(err, errNone):
	case errors.Is(err, errSilent): // with thousands of blocks, it would hold up each
		c.rests[peer] = time.Now().Add(c.cfg.RetryMin)
	default:
		c.liars[peer] = time.Now().Add(c.cfg.LiarFor)
		c.cfg.Log.Warn("a peer gave wrong parts of a damaged block and is not asked for a while", "peer", peer, "block", j.left.Height, "for", c.cfg.LiarFor, "err", err)
	}
}

// patience is how long one peer may take over a block: as many answers as it takes, each
// in time. Without it, one that gives a part at a time would hold up all others.
func (c *Client) patience(j *job) time.Duration {
	answers := 3 + j.left.Bytes/answerBytes + len(j.list)/partsMax
	return time.Duration(answers)*c.cfg.RequestTimeout + c.lasts(2*j.left.Bytes)
}

// lasts is how long so many bytes take at this node's rate, or at the peer's if that is
// less.
func (c *Client) lasts(bytes int) time.Duration {
	return time.Duration(int64(bytes) * int64(time.Second) / min(c.cfg.BytesPerSecond, ServedPerSecond))
}

// from fetches all that is missing from one peer.
func (c *Client) from(ctx context.Context, j *job, peer int) (*store.BlockRecord, error) {
	// One part alone can take more than an answer does as a rule.
	wait, end := c.cfg.RequestTimeout+c.lasts(max(0, j.room-answerBytes)), time.Now().Add(c.patience(j))
	for {
		if time.Now().After(end) {
			return nil, errSilent
		}
		first, last, missing := j.missing()
		if !missing {
			return j.assemble(ctx)
		}
		m, err := c.ask(ctx, peer, want{height: j.left.Height, digest: j.left.Digest, first: first, end: last}, wait)
		if err != nil {
			return nil, err
		}
		p, ok := m.(parts)
		if !ok {
			return nil, errNone
		}
		size := 0
		for _, part := range p.parts {
			size += len(part)
		}
		c.Stats.Bytes.Add(uint64(size))
		if err := j.receiveParts(p, first, last); err != nil {
			return nil, err
		}
		if err := sleep(ctx, time.Duration(int64(size)*int64(time.Second)/c.cfg.BytesPerSecond)); err != nil {
			return nil, err
		}
		wait = c.cfg.RequestTimeout + c.lasts(size) // it reads no request before that answer is paid
	}
}

// ask sends one request and waits for its answer.
func (c *Client) ask(ctx context.Context, peer int, w want, wait time.Duration) (message, error) {
	c.ids++
	w.id = c.ids
	c.mu.Lock()
	select {
	case <-c.answers: // of a Run that ended in a panic
	default:
	}
	c.open = request{peer, w.id}
	c.mu.Unlock()
	c.Stats.Asked.Add(1)
	c.cfg.Network.Send(peer, w.append(nil))
	late := time.NewTimer(wait)
	defer late.Stop()
	select {
	case m := <-c.answers:
		return m, nil
	case <-ctx.Done():
	case <-late.C:
	}
	c.mu.Lock()
	c.open = request{}
	c.mu.Unlock()
	select {
	case m := <-c.answers: // it came in the last moment
		return m, nil
	default:
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	return nil, errSilent
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
