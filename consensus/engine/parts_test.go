package engine

import (
	"go/ast"
	"go/parser"
	"go/token"
	"log/slog"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/consensus/wire"
)

// The tests of parts hand them events and look at the effects: no goroutine, no clock.

// noon is when they begin.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// partOf returns what every part of validator 0 of four is made of.
func partOf(t *testing.T) (*Config, *Stats) {
	t.Helper()
	set, shares, g := dealt(t)
	cfg := testConfig(t, set, shares[0], g.Hash())
	cfg.Log = slog.New(slog.DiscardHandler)
	return &cfg, &Stats{Peers: make([]PeerStats, set.Len()), Leaders: make([]LeaderStats, set.Len())}
}

// expect compares effects.
func expect(t *testing.T, what string, got []effect, want ...effect) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: effects %+v, want %+v", what, got, want)
	}
	for i := range got {
		if !reflect.DeepEqual(got[i], want[i]) {
			t.Errorf("%s: effect %d is %T %+v, want %T %+v", what, i, got[i], got[i], want[i], want[i])
		}
	}
}

// of returns the effects of one type.
func of[E effect](effects []effect) (out []E) {
	for _, x := range effects {
		if x, ok := x.(E); ok {
			out = append(out, x)
		}
	}
	return out
}

// fakeMachine is a machine that stands somewhere.
type fakeMachine struct {
	view, floor  chain.View
	final        map[chain.View]bool
	certificates []simplex.Certificate
}

func (m *fakeMachine) View() chain.View     { return m.view }
func (m *fakeMachine) Floor() simplex.Floor { return simplex.Floor{View: m.floor} }

func (m *fakeMachine) Knows(v chain.View, k simplex.Kind) bool {
	return k == simplex.Finalize && m.final[v]
}

func (m *fakeMachine) Certificate(v chain.View, k simplex.Kind) (simplex.Certificate, bool) {
	for _, c := range m.certificates {
		if c.Proposal.Round.View == v && c.Kind == k {
			return c, true
		}
	}
	return simplex.Certificate{}, false
}

func (m *fakeMachine) Certificates(from chain.View, limit int) (out []simplex.Certificate) {
	for _, c := range m.certificates {
		if c.Proposal.Round.View >= from && len(out) < limit {
			out = append(out, c)
		}
	}
	return out
}

// loopFiles are the files of the loop and of its edges; all others are of parts, or of
// what parts and loop have in common.
var loopFiles = []string{"engine.go", "effects.go", "peers.go", "calls.go", "resume.go", "parts.go"}

// TestPartsAreApart: no part holds the engine, starts a goroutine, sets a timer, waits or
// asks for the time, and the loop stays small (docs/adr/0174).
func TestPartsAreApart(t *testing.T) {
	const methodsMax = 45
	clocks := []string{"Now", "Since", "Until", "NewTimer", "AfterFunc", "After", "Sleep", "Tick", "NewTicker"}
	// The journal's sync is timed where it is made. Counters of stages take the wall time.
	timed := []string{"records.go", "stages.go"}
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	methods, parts := 0, 0
	files := token.NewFileSet()
	for _, entry := range entries {
		name := entry.Name()
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(files, name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv != nil {
				if p, ok := f.Recv.List[0].Type.(*ast.StarExpr); ok && p.X.(*ast.Ident).Name == "Engine" {
					methods++
				}
			}
		}
		if slices.Contains(loopFiles, name) {
			continue
		}
		parts++
		ast.Inspect(file, func(n ast.Node) bool {
			at := ""
			switch x := n.(type) {
			case *ast.StarExpr:
				if id, ok := x.X.(*ast.Ident); ok && id.Name == "Engine" {
					at = "holds the engine"
				}
			case *ast.GoStmt:
				at = "starts a goroutine"
			case *ast.SelectorExpr:
				if id, ok := x.X.(*ast.Ident); ok && id.Name == "time" && slices.Contains(clocks, x.Sel.Name) && !slices.Contains(timed, name) {
					at = "uses time." + x.Sel.Name
				}
			}
			if at != "" {
				t.Errorf("%v: a part %s", files.Position(n.Pos()), at)
			}
			return true
		})
	}
	if methods > methodsMax {
		t.Errorf("the engine has %d methods, want at most %d: which part do the new ones belong to?", methods, methodsMax)
	}
	if parts < 20 {
		t.Errorf("%d files of parts were read: where are the others?", parts)
	}
}

func TestBansEndByThemselves(t *testing.T) {
	cfg, stats := partOf(t)
	b := bans{cfg: cfg, stats: stats, until: map[beacon.Participant]time.Time{}}
	if b.add(4, noon) || b.has(4, noon) {
		t.Error("a full node is banned")
	}
	if !b.add(2, noon) || !b.has(2, noon.Add(cfg.BlockPeerFor)) || b.has(1, noon) {
		t.Error("who was banned is not, or another is")
	}
	later := noon.Add(cfg.BlockPeerFor / 2)
	if b.add(2, later); stats.Bans.Load() != 1 || !b.has(2, noon.Add(cfg.BlockPeerFor+time.Second)) {
		t.Error("one more reason does not lengthen the ban, or counts as another ban")
	}
	if b.has(2, later.Add(cfg.BlockPeerFor+1)) || stats.Peers[2].BlockedUntilUnix.Load() != 0 {
		t.Error("the ban does not end")
	}
}

// One block at a time goes to the application, in order, and what it has durably leaves
// the memory.
func TestDeliveriesAreInOrder(t *testing.T) {
	cfg, _ := partOf(t)
	var kept blocks
	d := deliveries{cfg: cfg, blocks: &kept}
	certificate := func(v chain.View) simplex.Certificate {
		return simplex.Certificate{Kind: simplex.Finalize, Proposal: view(v, byte(v))}
	}
	for v := chain.View(1); v <= 2000; v++ {
		b := kept.put(view(v, byte(v)))
		b.verdict = valid
		kept.set(b, make([]byte, 10))
	}
	first, due := d.add(simplex.Finalized{Certificate: certificate(3), Chain: []simplex.Certificate{certificate(1), certificate(3)}})
	if !due || first.Round.View != 1 || !slices.Equal(first.Certificate, simplex.AppendCertificate(nil, certificate(3))) {
		t.Fatalf("first %+v, %v", first, due)
	}
	if next, due := d.add(simplex.Finalized{Certificate: certificate(2000), Chain: []simplex.Certificate{certificate(2000)}}); due {
		t.Fatalf("%+v is delivered beside another", next)
	}
	if next, due := d.done(1); !due || next.Round.View != 3 || d.durable != 1 {
		t.Fatalf("next %+v, %v", next, due)
	}
	if next, due := d.done(3); !due || next.Round.View != 2000 {
		t.Fatalf("next %+v, %v", next, due)
	}
	if _, due := d.done(2000); due || len(d.waiting) != 0 || d.durable != 2000 {
		t.Fatal("something is left")
	}
	if oldest := kept.list[0].round.View; oldest != 2000-cfg.Retention {
		t.Errorf("without an archive the oldest block in memory is of view %d, want %d", oldest, 2000-cfg.Retention)
	}
	cfg.Archive = newChainApp(t, chain.Hash{})
	if d.bury(2000); kept.list[0].round.View != 2000-servedViews {
		t.Errorf("with an archive the oldest block in memory is of view %d", kept.list[0].round.View)
	}
}

func TestPreviewsOfLeadersAreTakenOnce(t *testing.T) {
	cfg, stats := partOf(t)
	d := previewing{cfg: cfg, stats: stats, leads: func(p beacon.Participant, r beacon.Round, _ chain.View) bool { return p == 2 && r.View > 4 }}
	preview := func(v chain.View) wire.Preview {
		return wire.Preview{Round: beacon.Round{View: v}, Bytes: []byte{byte(v)}}
	}
	d.receive(2, preview(5))
	for _, bad := range []struct {
		from beacon.Participant
		view chain.View
	}{{1, 6}, {2, 5}, {2, 4}} {
		d.receive(bad.from, preview(bad.view))
	}
	if n := stats.Dropped.Load(); n != 3 {
		t.Errorf("%d previews are dropped, want that of no leader, the second one, and the old one", n)
	}
	if got := d.dequeue(); len(got) != 1 || got[0].Round.View != 5 || d.dequeue() != nil {
		t.Errorf("%+v is to be executed", got)
	}
	expect(t, "our own", d.announce(preview(7), 7), broadcast{preview(7)})
	expect(t, "our own, late", d.announce(preview(7), 8))
	expect(t, "our own, too long", d.announce(wire.Preview{Round: beacon.Round{View: 8}, Bytes: make([]byte, cfg.MaxBlockBytes+1)}, 8))
}

// The block goes into the journal before the vote for it, once; the guard is made
// durable after the journal, and not if that fails.
func TestRecordsComeInOrder(t *testing.T) {
	_, stats := partOf(t)
	var kept blocks
	disk := new(diskJournal)
	mark := new(countedGuard)
	shard := []byte("shard")
	k := records{journal: disk, guard: mark, stats: stats, blocks: &kept, shard: func(simplex.Proposal) []byte { return shard }}
	p := view(1, 1)
	b := kept.put(p)
	kept.set(b, []byte("block"))
	b.fits = true
	vote := simplex.Vote{Kind: simplex.Notarize, Proposal: p}
	for _, r := range []simplex.Record{vote, simplex.Certification{Round: p.Round, Payload: p.Payload, OK: true}} {
		if err := k.persist(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := k.persist(simplex.Vote{Kind: simplex.Notarize, Proposal: view(2, 2)}); err != nil {
		t.Fatal(err)
	}
	var tags []string
	for _, rec := range disk.buffered {
		tags = append(tags, string(rec[0]))
	}
	vTag, cTag := string(disk.buffered[1][0]), string(disk.buffered[2][0])
	if !slices.Equal(tags, []string{"B", vTag, cTag, "s", vTag}) || vTag == cTag {
		t.Fatalf("records %q, want the block, its vote, its verdict, and then our shard and the vote that relies on it", tags)
	}
	if len(disk.durable) > 0 || mark.syncs != 0 {
		t.Fatal("something was made durable by the way")
	}
	if err := k.sync(); err != nil || len(disk.durable) != 5 || mark.syncs != 1 {
		t.Fatalf("sync: %v, %d records, %d syncs of the guard", err, len(disk.durable), mark.syncs)
	}
	if err := k.sync(); err != nil || mark.syncs != 1 {
		t.Fatal("what is durable is made so again")
	}
	if err := k.persist(vote); err != nil {
		t.Fatal(err)
	}
	disk.op, disk.failOp = 0, 1
	if err := k.sync(); err == nil || mark.syncs != 1 {
		t.Fatalf("the guard is made durable after a journal that is not: %v", err)
	}
}

// countedGuard counts syncs.
type countedGuard struct {
	memory
	syncs int
}

func (g *countedGuard) Sync() error { g.syncs++; return nil }

// Votes stay in the journal above the durable tip; bodies of views that were given up go.
func TestRecordsArePruned(t *testing.T) {
	_, stats := partOf(t)
	var kept blocks
	disk := new(diskJournal)
	k := records{journal: disk, guard: new(memory), stats: stats, blocks: &kept, shard: func(simplex.Proposal) []byte { return nil }}
	for v := chain.View(1); v <= 4; v++ {
		b := kept.put(view(v, 1))
		kept.set(b, make([]byte, 1000))
		b.fits = true
		if err := k.persist(simplex.Vote{Kind: simplex.Notarize, Proposal: view(v, 1)}); err != nil {
			t.Fatal(err)
		}
	}
	givenUp := func(v chain.View) bool { return v == 3 }
	if err := k.prune(1<<20, 2, givenUp); err != nil || stats.Prunings.Load() != 0 {
		t.Fatalf("pruned too early: %v", err)
	}
	if err := k.prune(1000, 2, givenUp); err != nil {
		t.Fatal(err)
	}
	var left []chain.View
	bodies := 0
	for _, rec := range disk.durable {
		v, err := recordView(rec)
		if err != nil {
			t.Fatal(err)
		}
		left = append(left, v)
		if isBody(rec) {
			bodies++
		}
	}
	if !slices.Equal(left, []chain.View{2, 2, 3, 4, 4}) || bodies != 2 {
		t.Errorf("records of views %v are left, %d of them blocks", left, bodies)
	}
	if b := kept.byDigest(3, chain.Hash{1}); b.journaled {
		t.Error("a block that the journal has no more counts as kept")
	}
	if k.appended != k.kept || stats.Prunings.Load() != 1 {
		t.Error("what is left is not counted")
	}
}
