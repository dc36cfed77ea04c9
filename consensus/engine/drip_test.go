package engine

import (
	"flag"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
)

// wan joins engines by lines that take time: latency, and a time for each byte.
type wan struct {
	engines []*Engine
	latency time.Duration
	perByte time.Duration
	drip    *drip // nil: all are honest
	shared  bool  // the lines of all peers end in one, that of the receiver

	sent int // bytes of blocks that went to the last validator
	mu   sync.Mutex
	free map[[2]beacon.Participant]time.Time // when a line has sent what was put on it
}

type wanPort struct {
	net  *wan
	self beacon.Participant
}

func (p wanPort) Broadcast(msg []byte) {
	for i := range p.net.engines {
		if to := beacon.Participant(i); to != p.self {
			p.Send(to, msg)
		}
	}
}

func (p wanPort) Send(to beacon.Participant, msg []byte) {
	n := p.net
	if int(to) >= len(n.engines) || n.engines[to] == nil {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	held, lost := time.Duration(0), false
	if n.drip != nil {
		held, lost = n.drip.hold(p.self, to, msg)
	}
	if lost {
		return
	}
	now := time.Now()
	if int(to) == len(n.engines)-1 && msg[0] == wire.TagBackfill {
		n.sent += len(msg)
	}
	line := [2]beacon.Participant{p.self, to}
	if n.shared {
		line[0] = to
	}
	at := n.free[line]
	if at.Before(now) {
		at = now
	}
	at = at.Add(time.Duration(len(msg)+1) * n.perByte)
	n.free[line] = at
	time.AfterFunc(max(at.Sub(now)+n.latency, held), func() { _ = n.engines[to].Deliver(p.self, msg) })
}

// drip is what f validators do to one that was away: they answer what it asks as
// slowly as they may without a fault. Those are the drippers that it asks first, so
// that no luck helps it.
type drip struct {
	victim  beacon.Participant
	f       int
	way     dripWay
	tip     chain.View // below which a request is one for the past
	drips   []beacon.Participant
	asked   map[beacon.Participant]time.Time
	sent    map[beacon.Participant]int // blocks since then
	request int
}

type dripWay int

const (
	oneBlock dripWay = iota // one block, just before the time is over, and "answered"
	trickle                 // all blocks, one each time that the clock would run out
	silent                  // nothing
	nothing                 // "answered" at once, and no block
	holes                   // every other block, at once
)

// hold says how long a message is held back at least, and whether it is lost.
func (d *drip) hold(from, to beacon.Participant, msg []byte) (time.Duration, bool) {
	if from == d.victim && msg[0] == wire.TagRequest {
		m, err := wire.Decode(msg, wire.Limits{BlockBytesMax: 0})
		if old := err == nil && m.(wire.Request).Round.View < d.tip; old && len(d.drips) < d.f && !slices.Contains(d.drips, to) {
			d.drips = append(d.drips, to)
		}
		d.asked[to], d.sent[to] = time.Now(), 0
		d.request++
		return 0, false
	}
	if to != d.victim || !slices.Contains(d.drips, from) || msg[0] != wire.TagBackfill && msg[0] != wire.TagAnswered && msg[0] != wire.TagCertificate {
		return 0, false
	}
	since := time.Since(d.asked[from])
	switch {
	case msg[0] == wire.TagCertificate:
		return 0, d.way != trickle // none of the answer; others tell what is new
	case d.way == silent:
		return 0, true
	case d.way == holes:
		d.sent[from]++
		return 0, msg[0] == wire.TagBackfill && d.sent[from]%2 == 0
	case d.way == nothing:
		return 0, msg[0] != wire.TagAnswered
	case d.way == trickle:
		d.sent[from]++
		return time.Duration(d.sent[from])*950*time.Millisecond - since, false
	case msg[0] == wire.TagAnswered:
		return 990*time.Millisecond - since, false
	}
	d.sent[from]++
	return 985*time.Millisecond - since, d.sent[from] > 1
}

// recoverFrom runs n validators of which the last was away for the history, and
// returns how long it takes until it has it all.
func recoverFrom(t *testing.T, n, blocks int, history *history, set *beacon.ValidatorSet, voices committeeKeys, d *drip) (took time.Duration) {
	t.Helper()
	network := &wan{latency: 50 * time.Millisecond, perByte: time.Microsecond, drip: d}
	return recoverOver(t, network, n, blocks, history, set, voices)
}

// recoverOver is recoverFrom over given lines.
func recoverOver(t *testing.T, network *wan, n, blocks int, history *history, set *beacon.ValidatorSet, voices committeeKeys) (took time.Duration) {
	t.Helper()
	network.free = map[[2]beacon.Participant]time.Time{}
	synctest.Test(t, func(t *testing.T) {
		apps := make([]*chainApp, n)
		for i := range apps {
			apps[i] = newChainApp(t, voices.genesis.Hash())
			if i < n-1 {
				history.into(apps[i])
			}
			apps[i].blockTime = time.Second
			cfg := testConfig(t, set, voices.shares[i], voices.genesis.Hash())
			cfg.LastFinalized, cfg.Archive = apps[i].floor, apps[i]
			e, err := New(cfg, apps[i], wanPort{network, beacon.Participant(i)}, new(diskJournal))
			if err != nil {
				t.Fatal(err)
			}
			network.engines = append(network.engines, e)
		}
		reached := apps[n-1].want(blocks)
		start := time.Now()
		for _, e := range network.engines {
			stop, _ := run(t, e)
			defer func() { _ = stop() }()
		}
		select {
		case <-reached:
			took = time.Since(start)
		case <-time.After(3 * time.Hour):
			t.Fatalf("%d of %d blocks after three hours", len(apps[n-1].final), blocks)
		}
		if bans := network.engines[n-1].Stats.Bans.Load(); bans != 0 {
			t.Errorf("%d bans", bans)
		}
	})
	return took
}

var dripped = flag.Int("drip", 400, "blocks that TestDrip's validator misses; the bar is for 10000")

// TestDrip: f validators that answer as slowly as they may hardly slow down one that
// was away: it is level within one and a half times the time that it takes among
// honest ones.
func TestDrip(t *testing.T) {
	blocks := *dripped
	if testing.Short() {
		blocks = 300
	}
	for _, n := range []int{4, 7} {
		set, shares, g := committee(t, n)
		keys := committeeKeys{shares, g}
		history := newHistory(t, set, shares, g.Hash(), blocks)
		honest := recoverFrom(t, n, blocks, history, set, keys, nil)
		for way, name := range []string{"one block", "trickle", "silent", "nothing", "holes"} {
			d := &drip{victim: beacon.Participant(n - 1), f: (n - 1) / 3, way: dripWay(way), tip: chain.View(blocks), asked: map[beacon.Participant]time.Time{}, sent: map[beacon.Participant]int{}}
			took := recoverFrom(t, n, blocks, history, set, keys, d)
			t.Logf("n = %d, %s: %v, honest %v: %.2fx; %d requests", n, name, took, honest, took.Seconds()/honest.Seconds(), d.request)
			if slow := took - honest; slow > honest/2 && slow > 2*time.Second {
				t.Errorf("n = %d, %s: level after %v, honest %v", n, name, took, honest)
			}
		}
	}
}

// TestCatchUpAtTheSpeedOfTheLink: among honest peers each range of blocks comes when
// the one before it has, with nothing between but the way there and back: a validator
// that was away has what one line carries, however long the line is, and more than that
// would: two ranges come side by side.
func TestCatchUpAtTheSpeedOfTheLink(t *testing.T) {
	const blocks = 600
	// Where the one that was away leads the view in which it comes back, nobody tells it of a
	// block before that view is over: who leads follows from the genesis, and another is taken.
	var set *beacon.ValidatorSet
	var past *history
	var keys committeeKeys
	for order := 0; ; order++ {
		drawn, shares, g := committeeDrawn(t, 4, order)
		set, keys, past = drawn, committeeKeys{shares, g}, newHistory(t, drawn, shares, g.Hash(), blocks)
		last := past.final[blocks-1]
		if set.Leader(chain.BeaconHash(last.Round.Epoch, last.Round.View, last.Seed)) != 3 {
			break
		}
	}
	for _, line := range []struct {
		name             string
		latency, perByte time.Duration
		shared           bool
	}{
		{"5 ms, 1 MB/s", 5 * time.Millisecond, time.Microsecond, false},
		{"50 ms, 1 MB/s", 50 * time.Millisecond, time.Microsecond, false},
		{"50 ms, 125 MB/s", 50 * time.Millisecond, 8 * time.Nanosecond, false},
		{"150 ms, 1 MB/s", 150 * time.Millisecond, time.Microsecond, false},
		{"50 ms, 128 KB/s", 50 * time.Millisecond, 8 * time.Microsecond, false},
		{"50 ms, 256 KB/s for all", 50 * time.Millisecond, 4 * time.Microsecond, true},
	} {
		t.Run(line.name, func(t *testing.T) {
			network := &wan{latency: line.latency, perByte: line.perByte, shared: line.shared}
			start := time.Second // after which a block tells how far the others are
			took := recoverOver(t, network, 4, blocks, past, set, keys) - start
			answers := (blocks + answerBlocks - 1) / answerBlocks
			carried := time.Duration(past.size()) * line.perByte
			bound := time.Duration(answers)*2*line.latency + carried
			t.Logf("%.0f blocks a second; one range at a time on this line %.0f at most; %d KB came, of %d KB", blocks/took.Seconds(), blocks/bound.Seconds(), network.sent>>10, past.size()>>10)
			if limit := bound + 2*line.latency; took > limit { // a question to a peer that nobody knew
				t.Errorf("%v, want at most %v", took, limit)
			}
			if most := past.size() + past.size()/2; network.sent > most {
				t.Errorf("%d bytes came, want at most %d: too much comes twice", network.sent, most)
			}
		})
	}
}

// size returns the bytes of the messages that bring the whole history.
func (h *history) size() (n int) {
	for _, f := range h.final {
		n += 1 + len(f.Own) + len(h.bytes[f.Digest])
	}
	return n
}

type committeeKeys struct {
	shares  []bls.Share
	genesis *genesis.Genesis
}
