package engine

import (
	"bytes"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/state/journal"
)

// The journal of the node: a process that is killed and started again goes on
// where it was.
func TestRestartsOnDisk(t *testing.T) {
	set, shares, g := committee(t, 1)
	path := filepath.Join(t.TempDir(), "votes")
	app := newChainApp(t, g.Hash())
	network := &mesh{engines: make([]*Engine, 1), sent: make([][][]byte, 1), record: true}
	for life := 1; life <= 5; life++ {
		disk, err := journal.Open(path, journal.KindVotes)
		if err != nil {
			t.Fatal(err)
		}
		app.restart()
		cfg := testConfig(t, set, shares[0], g.Hash())
		cfg.LastFinalized = app.floor
		cfg.PruneBytes = 2000
		e, err := New(cfg, app, port{network, 0}, disk)
		if err != nil {
			t.Fatal(err)
		}
		reached := app.want(10 * life)
		stop, done := run(t, e)
		select {
		case <-reached:
		case err := <-done:
			t.Fatalf("life %d: %v", life, err)
		case <-time.After(20 * time.Second):
			t.Fatalf("life %d: %d blocks", life, len(app.final))
		}
		_ = stop()
		if e.Stats.Prunings.Load() == 0 {
			t.Errorf("life %d: journal was not pruned", life)
		}
		if err := disk.Close(); err != nil {
			t.Fatal(err)
		}
	}
	checkVotes(t, network.sent[0])
}

// When a crash cuts the delivery of several blocks short, the last durable
// block has the certificate of a descendant. Its seed is in its own, which the
// application keeps beside it, whatever became of the journal; else the journal
// has it.
func TestSeedOfTheFloor(t *testing.T) {
	set, shares, g := committee(t, 1)
	voice := voiceOf(t, set, shares, 0)
	certificate := func(k simplex.Kind, p simplex.Proposal) []byte {
		c, err := voice.Recover([]simplex.Vote{voice.Sign(k, p)})
		if err != nil {
			t.Fatal(err)
		}
		return simplex.AppendCertificate(nil, c)
	}
	first := simplex.Proposal{Round: beacon.Round{View: 1}, Payload: chain.Hash{1}}
	second := simplex.Proposal{Round: beacon.Round{View: 2}, Parent: 1, Payload: chain.Hash{2}}
	foreign := simplex.Proposal{Round: first.Round, Payload: chain.Hash{3}}
	final := certificate(simplex.Finalize, second)
	kept := &diskJournal{durable: [][]byte{certificate(simplex.Notarize, first)}}
	for _, tt := range []struct {
		name    string
		journal *diskJournal
		own     []byte
		bad     string // what Check says
		want    error
	}{
		{"nowhere", new(diskJournal), nil, "", ErrNoSeed},
		{"the descendant's for its own", new(diskJournal), final, "", ErrNoSeed},
		{"in the journal", kept, nil, "", nil},
		{"in its notarization, no journal", new(diskJournal), certificate(simplex.Notarize, first), "", nil},
		{"in its finalization, no journal", new(diskJournal), certificate(simplex.Finalize, first), "", nil},
		{"in both", kept, certificate(simplex.Notarize, first), "", nil},
		{"the certificate of another block", kept, certificate(simplex.Notarize, foreign), "own certificate", nil},
		{"the certificate of another view", kept, certificate(simplex.Notarize, second), "own certificate", nil},
		{"a nullification", kept, certificate(simplex.Nullify, simplex.Proposal{Round: first.Round}), "own certificate", nil},
		{"half a certificate", kept, final[:20], "own certificate", nil},
	} {
		app := newChainApp(t, g.Hash())
		app.floor = Floor{Round: first.Round, Digest: first.Payload, Certificate: final, Own: tt.own}
		app.restart()
		cfg := testConfig(t, set, shares[0], g.Hash())
		cfg.LastFinalized = app.floor
		e, err := New(cfg, app, Alone{}, tt.journal)
		if tt.bad != "" {
			if err == nil || !strings.Contains(err.Error(), tt.bad) {
				t.Errorf("%s: New = %v, want %q", tt.name, err, tt.bad)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		if err := e.resume(t.Context()); !errors.Is(err, tt.want) {
			t.Errorf("%s: resume = %v, want %v", tt.name, err, tt.want)
			continue
		}
		if leader, ok := e.machine.LeaderOf(2, 1); tt.want == nil && (!ok || leader != 0) {
			t.Errorf("%s: nobody leads the next view", tt.name)
		}
	}
}

func TestResumeRefusesForeignJournals(t *testing.T) {
	set, shares, g := committee(t, 4)
	other := voiceOf(t, set, shares, 1)
	vote := simplex.AppendVote(nil, other.Sign(simplex.Nullify, view(1, 0)))
	for name, tt := range map[string]struct {
		rec  []byte
		want error
	}{
		"another validator's vote": {vote, simplex.ErrForeignVote},
		"an unknown record":        {[]byte("?"), ErrRecord},
		"an empty record":          {nil, ErrRecord},
		"half a record":            {vote[:9], ErrRecord},
		"half a block":             {[]byte{tagBlock, 0, 0, 1, 7}, ErrRecord},
	} {
		e, err := New(testConfig(t, set, shares[0], g.Hash()), newChainApp(t, g.Hash()), Alone{}, &diskJournal{durable: [][]byte{tt.rec}})
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Run(t.Context()); !errors.Is(err, tt.want) {
			t.Errorf("%s: Run = %v, want %v", name, err, tt.want)
		}
	}
}

func TestConfigCheck(t *testing.T) {
	set, shares, g := committee(t, 4)
	f := func(want string, change func(*Config)) {
		t.Helper()
		cfg := testConfig(t, set, shares[0], g.Hash())
		change(&cfg)
		err := cfg.Check()
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("Check = %v, want %q", err, want)
		}
	}
	f("", func(*Config) {})
	f("validator set", func(c *Config) { c.Set = nil })
	f("peer key", func(c *Config) { c.Peer = nil })
	f("fetch timeout", func(c *Config) { c.FetchTimeout = 0 })
	f("watch", func(c *Config) { c.Watch = Watch{Instance: 1, Listen: -1, Every: 1, Again: 1} })
	f("watch", func(c *Config) { c.Watch = Watch{Instance: 1} })
	f("self = 4", func(c *Config) { c.Self = 4 })
	f("weights", func(c *Config) { c.Weights = nil })
	f("leader timeout", func(c *Config) { c.LeaderTimeout = 0 })
	f("certification timeout", func(c *Config) { c.CertificationTimeout = c.LeaderTimeout })
	f("retry", func(c *Config) { c.RetryInterval = 0 })
	f("block limit", func(c *Config) { c.MaxBlockBytes = 0 })
	f("inbox", func(c *Config) { c.InboxMessages = 0 })
	f("pending", func(c *Config) { c.PendingBytesMax = c.MaxBlockBytes })
	f("prune", func(c *Config) { c.PruneBytes = 0 })
	f("undelivered", func(c *Config) { c.UndeliveredMax = 0 })
	f("block peers", func(c *Config) { c.BlockPeerFor = 0 })
	f("last finalized", func(c *Config) { c.LastFinalized.Round.View = 1 })
	f("genesis with a certificate", func(c *Config) { c.LastFinalized.Certificate = []byte{1} })
	f("epoch", func(c *Config) { c.LastFinalized.Round.Epoch = 1 })
}

// FuzzBlockRecord: no panic, and what is accepted encodes to the same bytes.
func FuzzBlockRecord(f *testing.F) {
	f.Add(appendBlock(nil, &block{own: true, round: beacon.Round{View: 3}, digest: chain.Hash{1}, bytes: []byte("block")}))
	f.Add([]byte{tagBlock, 2})
	f.Fuzz(func(t *testing.T, rec []byte) {
		b, err := decodeBlock(rec)
		if err == nil && !bytes.Equal(appendBlock(nil, b), rec) {
			t.Errorf("%x decodes to %+v", rec, b)
		}
	})
}
