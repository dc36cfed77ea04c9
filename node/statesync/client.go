package statesync

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/bits"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cowboy-foundation/cowboy/state/checkpoint"
	"github.com/cowboy-foundation/cowboy/state/snapshot"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// Broadcaster is a network that reaches all validators.
type Broadcaster interface {
	Network
	Broadcast(msg []byte)
}

// ClientConfig is what a client is made of. The zero value is invalid; start
// from [DefaultClientConfig].
type ClientConfig struct {
	Trust   snapshot.Trust
	Dir     string // of the store to be filled
	Options store.Options
	Network Broadcaster
	Members int // validators: numbers from this on are guests, who are asked for nothing
	Log     *slog.Logger

	OfferWait      time.Duration // for further offers, behind the first
	InquireEvery   time.Duration
	RequestTimeout time.Duration // for one chunk
	StarvedAfter   time.Duration // without a peer to ask, until another checkpoint is looked for
	RestFor        time.Duration // of a peer that stalled
}

// DefaultClientConfig fits the internet. Trust, Dir, Network, Members and Log are left to
// the caller.
func DefaultClientConfig() ClientConfig {
	return ClientConfig{
		Options:        store.DefaultOptions(),
		OfferWait:      2 * time.Second,
		InquireEvery:   time.Second,
		RequestTimeout: 5 * time.Second, // 256 KiB on a bad line
		StarvedAfter:   10 * time.Second,
		RestFor:        30 * time.Second,
	}
}

// Client fetches a checkpoint into an empty store.
type Client struct {
	cfg   ClientConfig
	inbox chan delivery
	bytes atomic.Int64 // in inbox

	// Owned by Run.
	offers  map[int]*checkpoint.Anchor
	liars   map[int]bool
	vain    map[int]int       // what the checkpoints cost a peer that it offered and nobody had; see charge
	resting map[int]time.Time // until then
	jobs    uint64            // begun so far
}

// NewClient returns a client that has not begun.
func NewClient(cfg ClientConfig) *Client {
	return &Client{
		cfg: cfg, inbox: make(chan delivery, inboxLen),
		offers: map[int]*checkpoint.Anchor{}, liars: map[int]bool{}, vain: map[int]int{}, resting: map[int]time.Time{},
	}
}

// Deliver hands over a message of a peer. It never blocks. Requests are ignored:
// there is nothing here yet. So is what guests say unasked: a checkpoint has the support of
// validators, and keys of guests cost nothing.
func (c *Client) Deliver(from int, msg []byte) error {
	m, err := decode(msg)
	if err != nil || isRequest(m) || from >= c.cfg.Members {
		return err
	}
	if c.bytes.Add(int64(len(msg))) > inboxBytes {
		c.bytes.Add(-int64(len(msg)))
		return ErrBusy
	}
	select {
	case c.inbox <- delivery{from, m, len(msg)}:
		return nil
	default:
		c.bytes.Add(-int64(len(msg)))
		return ErrBusy
	}
}

// inboxBytes bounds what waits in memory, whoever sent it unasked: a few of the
// largest chunks.
const inboxBytes = 64 << 20

// took notes that a message left the inbox.
func (c *Client) took(d delivery) delivery {
	c.bytes.Add(-int64(d.size))
	return d
}

// errStarved means that nobody has the checkpoint any more.
var errStarved = errors.New("no peer has the checkpoint any more")

// Run returns when the store has the state of a checkpoint, or ctx ends, or this
// node has a fault. Called again it goes on with what is durable, if peers still
// have the checkpoint.
func (c *Client) Run(ctx context.Context) error {
	for {
		anchor, err := c.choose(ctx)
		if err != nil {
			return err
		}
		c.cfg.Log.Info("fetching the state", "height", anchor.Height(), "root", anchor.Root())
		b := c.backersOf(anchor)
		err = c.fetch(ctx, anchor, b)
		if !errors.Is(err, errStarved) {
			return err
		}
		c.cfg.Log.Warn("looking for another checkpoint", "err", err)
		c.charge(b)
		clear(c.offers)
	}
}

// askedInVain is after how many inquiries without an offer the log first says so;
// then after twice as many, and so on.
const askedInVain = 4

// choose asks around until some checkpoint is offered and nothing better comes
// for a while. It takes the one with the most support, of several the highest: every
// final block can be offered with a good certificate, by a peer that has no state for it,
// so a height that one peer says is no reason to leave what several have.
func (c *Client) choose(ctx context.Context) (*checkpoint.Anchor, error) {
	c.cfg.Network.Broadcast(inquiry{}.append(nil))
	tick := time.NewTicker(c.cfg.InquireEvery)
	defer tick.Stop()
	var enough <-chan time.Time
	asked := 1
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
			c.cfg.Network.Broadcast(inquiry{}.append(nil))
			if asked++; len(c.offers) == 0 && asked >= askedInVain && bits.OnesCount(uint(asked)) == 1 {
				c.cfg.Log.Warn("no validator offers a checkpoint yet: still asking; without --sync the node executes the chain from its genesis", "asked", asked)
			}
		case <-enough:
			support := c.support()
			best := slices.MaxFunc(c.list(), func(a, b *checkpoint.Anchor) int {
				return cmp.Or(cmp.Compare(support[a.Digest], support[b.Digest]), cmp.Compare(a.Height(), b.Height()))
			})
			return best, nil
		case d := <-c.inbox:
			if m, ok := c.took(d).msg.(offer); ok {
				c.offered(d.from, m.head)
			}
			if len(c.offers) > 0 && enough == nil {
				enough = time.After(c.cfg.OfferWait)
			}
		}
	}
}

// offered checks an offer. The same head is not checked twice.
func (c *Client) offered(from int, head []byte) {
	if c.liars[from] {
		return
	}
	h, err := checkpoint.DecodeHead(head)
	if err == nil {
		if known := c.offers[from]; known != nil && string(known.Block) == string(h.Block) {
			return
		}
		var anchor *checkpoint.Anchor
		if anchor, err = h.Check(c.cfg.Trust.Genesis, c.cfg.Trust.Certify); err == nil {
			c.offers[from] = anchor
			return
		}
	}
	c.blame(from, err)
}

func (c *Client) blame(peer int, reason error) {
	c.cfg.Log.Warn("peer is not asked for state any more", "peer", peer, "err", reason)
	delete(c.offers, peer)
	c.liars[peer] = true
}

// job is one checkpoint on its way into the store.
type job struct {
	*Client
	number    uint64 // in the upper half of request numbers: late answers to an earlier job are told apart
	anchor    *checkpoint.Anchor
	backers   backers
	to        *store.Import
	fetch     *checkpoint.Fetch
	deadlines map[uint64]deadline // of requests
	unasked   map[int]int         // chunks that a peer sent for requests to others
	without   map[int]bool        // peers that have the checkpoint no more
	passed    map[int]bool        // peers that were late with a list
	pieces    []store.Piece
	rows      int
	typical   time.Duration // that an answer takes; 0: not known
	turn      int           // over peers, for lists
	fedAt     time.Time     // when there was a peer to ask
	keptAt    time.Time     // when a peer helped
	toldAt    time.Time     // when progress was logged
}

// deadline is until when a peer may answer a request.
type deadline struct {
	peer int
	at   time.Time
}

func (c *Client) fetch(ctx context.Context, anchor *checkpoint.Anchor, b backers) (err error) {
	to, err := store.OpenImport(c.cfg.Dir, c.cfg.Options, snapshot.TargetOf(anchor))
	if err != nil {
		return fmt.Errorf("state sync: %w", err)
	}
	defer func() { err = errors.Join(err, to.Close()) }()
	c.jobs++
	j := &job{Client: c, number: c.jobs, anchor: anchor, backers: b, to: to, deadlines: map[uint64]deadline{}, unasked: map[int]int{}, without: map[int]bool{}, passed: map[int]bool{}, fedAt: time.Now(), keptAt: time.Now(), toldAt: time.Now()}
	if j.fetch, err = checkpoint.NewFetch(anchor.Root(), checkpoint.DefaultChunkBytes, to.Progress()); errors.Is(err, checkpoint.ErrEncoding) {
		// A snapshot file began it. What that put is put again.
		j.fetch, err = checkpoint.NewFetch(anchor.Root(), checkpoint.DefaultChunkBytes, nil)
	}
	if err != nil {
		return fmt.Errorf("state sync: %w", err)
	}
	if err := j.run(ctx); err != nil {
		return errors.Join(err, j.flush()) // what came is not asked for again
	}
	if err := j.flush(); err != nil {
		return err
	}
	c.cfg.Log.Info("state is here: computing its root", "height", anchor.Height())
	jobs, err := j.lists(ctx)
	if err != nil {
		return err
	}
	if err := snapshot.Finish(to, anchor, c.cfg.Trust, jobs); err != nil {
		return fmt.Errorf("state sync: %w", err)
	}
	return nil
}

// ticksPerTimeout is how finely deadlines are looked at.
const ticksPerTimeout = 100

func (j *job) run(ctx context.Context) error {
	tick := time.NewTicker(max(time.Millisecond, j.cfg.RequestTimeout/ticksPerTimeout))
	defer tick.Stop()
	inquire := time.NewTicker(j.cfg.InquireEvery)
	defer inquire.Stop()
	if err := j.joinAll(); err != nil {
		return err
	}
	for !j.fetch.Done() {
		var err error
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-inquire.C:
			j.cfg.Network.Broadcast(inquiry{}.append(nil))
		case <-tick.C:
			err = j.expire()
		case d := <-j.inbox:
			err = j.receive(j.took(d))
		}
		if err != nil {
			return err
		}
		if now := time.Now(); j.fetch.Peers() > 0 {
			j.fedAt = now
		} else if now.Sub(j.fedAt) > j.cfg.StarvedAfter {
			peer, ok := j.rouse()
			if !ok {
				return errStarved
			}
			if err := j.join(peer); err != nil {
				return err
			}
		}
	}
	return nil
}

// rouse ends the rest of a peer when there is nobody else: to ask one that was late
// again costs less than to begin with another checkpoint. It gives up when nobody
// has helped for long.
func (j *job) rouse() (int, bool) {
	if time.Since(j.keptAt) > j.cfg.StarvedAfter+j.cfg.RestFor {
		return 0, false
	}
	first, found := 0, false
	for peer, until := range j.resting {
		a := j.offers[peer]
		if a == nil || a.Height() < j.anchor.Height() || j.without[peer] {
			continue
		}
		if was := j.resting[first]; !found || until.Before(was) || until.Equal(was) && peer < first {
			first, found = peer, true
		}
	}
	if found {
		delete(j.resting, first)
	}
	return first, found
}

// receive handles a message of a peer.
func (j *job) receive(d delivery) error {
	switch m := d.msg.(type) {
	case offer:
		j.offered(d.from, m.head)
		if a := j.offers[d.from]; a != nil && a.Digest == j.anchor.Digest {
			j.backers.offered[d.from] = true
		}
		return j.join(d.from)
	case none:
		if m.id>>32 != j.number {
			return nil
		}
		j.without[d.from] = true
		return j.step(checkpoint.Left{Peer: checkpoint.PeerID(d.from)})
	case chunk:
		id := m.id & (1<<32 - 1)
		if m.id>>32 != j.number {
			return nil
		}
		if !j.timed(d.from, id) {
			return j.stray(d.from)
		}
		return j.step(checkpoint.Answered{Peer: checkpoint.PeerID(d.from), ID: id, Chunk: m.payload})
	}
	return nil
}

func (j *job) joinAll() error {
	peers := make([]int, 0, len(j.offers))
	for peer := range j.offers {
		peers = append(peers, peer)
	}
	slices.Sort(peers)
	var err error
	for _, peer := range peers {
		err = errors.Join(err, j.join(peer))
	}
	return err
}

// join takes a peer in that offers this checkpoint and is in good standing. One
// that offers a newer one may serve this one still.
func (j *job) join(peer int) error {
	a := j.offers[peer]
	if a == nil || a.Height() < j.anchor.Height() || j.without[peer] || time.Now().Before(j.resting[peer]) {
		return nil
	}
	return j.step(checkpoint.Joined{Peer: checkpoint.PeerID(peer)})
}

func (j *job) expire() error {
	now := time.Now()
	var late []uint64
	for id, deadline := range j.deadlines {
		if now.After(deadline.at) {
			late = append(late, id)
		}
	}
	slices.Sort(late)
	err := j.hurry(now)
	for _, id := range late {
		delete(j.deadlines, id)
		err = errors.Join(err, j.step(checkpoint.Expired{ID: id}))
	}
	return err
}

// timed takes in how long an answer took, and ends the deadline of its request. One that took
// far longer than others says little about them. It reports false, and does nothing, if the
// request went to somebody else: the deadline is what has that peer replaced.
func (j *job) timed(from int, id uint64) bool {
	deadline, ok := j.deadlines[id]
	if !ok {
		return true // its time was over
	}
	if deadline.peer != from {
		return false
	}
	delete(j.deadlines, id)
	took := max(j.cfg.RequestTimeout-time.Until(deadline.at), time.Millisecond)
	if j.typical == 0 {
		j.typical = took
	}
	j.typical += (min(took, lateTimes*j.typical) - j.typical) / 8
	return true
}

// unaskedMax is how many chunks a peer may send for requests to others. Honest peers send a
// few, behind a restart of this node: answers to what it asked before, by the same numbers.
const unaskedMax = 16

// stray counts a chunk for a request to another peer against its sender.
func (j *job) stray(from int) error {
	if j.unasked[from]++; j.unasked[from] <= unaskedMax || j.liars[from] {
		return nil
	}
	j.blame(from, errUnasked)
	return j.step(checkpoint.Left{Peer: checkpoint.PeerID(from)})
}

// errUnasked means that a peer answers what others were asked.
var errUnasked = errors.New("peer answers requests to others")

// lateTimes is how many times longer than usual an answer may take before somebody else
// is asked for the same.
const lateTimes = 3

// lateAfter is how long an answer may take before somebody else is asked beside: a
// tenth of the time-out while nobody has answered, and a fiftieth of it at least.
func (j *job) lateAfter() time.Duration {
	if j.typical == 0 {
		return j.cfg.RequestTimeout / 10
	}
	return min(max(j.cfg.RequestTimeout/50, lateTimes*j.typical), j.cfg.RequestTimeout)
}

// hurry has somebody else asked for what takes longer than it should.
func (j *job) hurry(now time.Time) (err error) {
	var slow []uint64
	for id, deadline := range j.deadlines {
		if j.cfg.RequestTimeout-deadline.at.Sub(now) > j.lateAfter() && now.Before(deadline.at) {
			slow = append(slow, id)
		}
	}
	slices.Sort(slow)
	for _, id := range slow {
		err = errors.Join(err, j.step(checkpoint.Late{ID: id}))
	}
	return err
}

// rowsPerPut balances the cost of a batch with what a crash loses.
const rowsPerPut = 16_384

// step steps the machine and does what it wants.
func (j *job) step(e checkpoint.Event) error {
	for _, effect := range j.fetch.Step(e) {
		switch x := effect.(type) {
		case checkpoint.Ask:
			j.deadlines[x.ID] = deadline{int(x.Peer), time.Now().Add(j.cfg.RequestTimeout)}
			j.cfg.Network.Send(int(x.Peer), get{j.number<<32 | x.ID, j.anchor.Digest, x.Request}.append(nil))
		case checkpoint.Keep:
			j.keptAt = time.Now()
			if a, ok := e.(checkpoint.Answered); ok {
				j.backers.gave[int(a.Peer)] = true
			}
			piece, rows := snapshot.PieceOf(x.Chunk)
			j.pieces, j.rows = append(j.pieces, piece), j.rows+rows
		case checkpoint.Drop:
			if errors.Is(x.Reason, checkpoint.ErrStalled) {
				j.cfg.Log.Warn("peer does not answer", "peer", x.Peer)
				j.resting[int(x.Peer)] = time.Now().Add(j.cfg.RestFor)
				continue
			}
			j.blame(int(x.Peer), x.Reason)
		}
	}
	if j.rows < rowsPerPut {
		return nil
	}
	return j.flush()
}

// logEvery is how often a long fetch says how far it is.
const logEvery = 5 * time.Second

// flush stores what was kept, with how far the fetch is.
func (j *job) flush() error {
	if len(j.pieces) == 0 {
		return nil
	}
	if err := j.to.Put(j.fetch.Progress(), j.pieces...); err != nil {
		return fmt.Errorf("state sync: %w", err)
	}
	j.pieces, j.rows = nil, 0
	if time.Since(j.toldAt) > logEvery {
		j.toldAt = time.Now()
		j.cfg.Log.Info("fetching the state", "percent", uint64(j.fetch.Covered())*100>>16, "peers", j.fetch.Peers())
	}
	return nil
}
