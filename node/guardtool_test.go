package node

import (
	"bytes"
	"errors"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/consensus/guard"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/setup"
	"github.com/cowboy-foundation/cowboy/node/tools"
)

// usedFolder is a validator's folder whose key has voted.
func usedFolder(t *testing.T) (dir string, r *running) {
	t.Helper()
	dir = t.TempDir()
	r = run(t, dir, setup.DevnetOptions{BlockTime: 20 * time.Millisecond})
	var advanced rpc.AdvanceReply
	r.postJSON(t, "/dev/advance", `{"blocks":3}`, &advanced)
	for r.ledger.Head().Height() < 3 {
		time.Sleep(5 * time.Millisecond)
	}
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	return dir, r
}

// refusesToStart holds that a folder does not start and says how to mend it.
func refusesToStart(t *testing.T, what, dir string, cfg Config) {
	t.Helper()
	genesis, err := datadir.LoadGenesis(dir)
	if err != nil {
		t.Fatal(err)
	}
	cfg.DataDir = dir
	n, err := Open(cfg, genesis, slog.New(slog.DiscardHandler))
	if err == nil {
		_ = n.Close()
	}
	var missing *datadir.MissingWatermarkError
	if !errors.As(err, &missing) || !errors.Is(err, guard.ErrMissing) {
		t.Fatalf("%s: %v, want %v", what, err, guard.ErrMissing)
	}
	for _, command := range []string{"cowboyd guard import --data " + dir, "cowboyd guard init --data " + dir + " --unused-key", "cowboyd guard export"} {
		if !strings.Contains(err.Error(), command) {
			t.Errorf("%s: %q does not tell %q", what, err, command)
		}
	}
}

// A lost watermark is a hard stop, whatever else is there or gone: no start makes
// a new one (lighthouse issue 1584).
func TestLostWatermarkStopsTheStart(t *testing.T) {
	dir, r := usedFolder(t)
	moved := t.TempDir() // keys and genesis alone, as somebody who moves a validator copies them
	for _, name := range []string{datadir.KeysFile, datadir.GenesisFile} {
		raw, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(moved, name), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	refusesToStart(t, "a copied key", moved, r.cfg)
	if err := os.Remove(filepath.Join(dir, guard.FileName)); err != nil {
		t.Fatal(err)
	}
	refusesToStart(t, "a lost file", dir, r.cfg)
	if err := tools.InitGuard(dir); !errors.Is(err, tools.ErrKeyUsed) {
		t.Errorf("init of a key that voted: %v, want %v", err, tools.ErrKeyUsed)
	}
	for _, name := range []string{datadir.JournalFile, datadir.StoreFolder} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
		refusesToStart(t, "without "+name+" too", dir, r.cfg)
	}
	if err := tools.InitGuard(moved); err != nil {
		t.Error(err)
	}
}

// The memory moves to another machine by a file; what was retired does not start,
// what was restored does, and neither forgets.
func TestWatermarkMoves(t *testing.T) {
	dir, r := usedFolder(t)
	before, err := tools.GuardVotes(dir)
	if err != nil || before[simplex.Finalize].Proposal.Round.View == 0 {
		t.Fatalf("%+v, %v", before, err)
	}
	var file bytes.Buffer
	if err := tools.ExportGuard(dir, &file, true); err != nil {
		t.Fatal(err)
	}
	refusesToStart(t, "a retired folder", dir, r.cfg)
	if err := tools.ImportGuard(dir, strings.NewReader("{}")); !errors.Is(err, guard.ErrInterchange) {
		t.Errorf("another file: %v", err)
	}
	refusesToStart(t, "after a refused import", dir, r.cfg)
	exported := file.String()
	for range 2 { // the second time it is there already
		if err := tools.ImportGuard(dir, strings.NewReader(exported)); err != nil {
			t.Fatal(err)
		}
	}
	after, err := tools.GuardVotes(dir)
	if err != nil || after != before {
		t.Errorf("%+v, want %+v (%v)", after, before, err)
	}
	if err := tools.InitGuard(dir); !errors.Is(err, tools.ErrKeyUsed) {
		t.Errorf("init beside a watermark: %v, want %v", err, tools.ErrKeyUsed)
	}
	back := run(t, dir, setup.DevnetOptions{})
	for first := back.ledger.Head().Height(); back.ledger.Head().Height() < first+1; {
		time.Sleep(5 * time.Millisecond)
	}
}

// While a node runs, nobody else opens its watermark.
func TestWatermarkOfARunningNodeIsLocked(t *testing.T) {
	dir := t.TempDir()
	run(t, dir, setup.DevnetOptions{})
	if _, err := tools.GuardVotes(dir); !errors.Is(err, guard.ErrInUse) {
		t.Errorf("%v, want %v", err, guard.ErrInUse)
	}
}

// The watch for another life of the key is on at every height and for every start
// of a validator among others, and listens for a time that is drawn.
func TestWatchIsWired(t *testing.T) {
	n := opened(t)
	f := func(what string, devnet bool, set, shortest, longest time.Duration) {
		t.Helper()
		n.genesis.Devnet, n.cfg.WatchFor = devnet, set
		seen := map[time.Duration]bool{}
		for range 200 {
			w, err := n.watch()
			if err != nil || w.Instance == 0 || w.Alone || w.Listen < shortest || w.Listen > longest {
				t.Fatalf("%s: %+v, %v", what, w, err)
			}
			seen[w.Listen] = true
		}
		if len(seen) < 100 && longest > 0 {
			t.Errorf("%s: %d different times of 200", what, len(seen))
		}
	}
	f("as a rule", false, -1, 2*time.Second, 10*time.Second)
	f("on a development chain", true, -1, 100*time.Millisecond, 500*time.Millisecond)
	f("as told", false, time.Minute, 12*time.Second, time.Minute)
	f("told not to listen", false, 0, 0, 0)
	n.cfg.Alone = true
	if w, err := n.watch(); err != nil || !w.Alone || w.Instance == 0 {
		t.Errorf("alone: %+v, %v", w, err)
	}
	n.set = singleSet(t)
	if w, err := n.watch(); err != nil || w != (engine.Watch{}) {
		t.Errorf("a validator without others: %+v, %v", w, err)
	}
}

// A validator without others whose vote journal is damaged moves it away and opens its
// views: the refusal says so, and the chain goes on from the blocks of its store. With
// the store gone as well nothing is opened.
func TestLostJournalIsBegunAnew(t *testing.T) {
	dir, r := usedFolder(t)
	head := r.ledger.Head()
	if err := os.Remove(filepath.Join(dir, datadir.JournalFile)); err != nil {
		t.Fatal(err)
	}
	cfg := DefaultConfig()
	cfg.DataDir = dir
	n, err := Open(cfg, r.genesis, nil)
	if err == nil {
		_ = n.Close()
	}
	if command := "cowboyd guard reopen --data " + dir + " --never-put-back"; !errors.Is(err, datadir.ErrVotesMissing) || !strings.Contains(err.Error(), command) {
		t.Fatalf("%v does not tell %q", err, command)
	}
	done, err := tools.ReopenGuard(dir)
	if err != nil || !done.Begun {
		t.Fatalf("%+v, %v", done, err)
	}
	if said := done.String(); !strings.HasPrefix(said, "votes.journal was missing and is begun anew; ") || strings.Contains(said, "no view is closed") != (done.Closed <= done.Head) {
		t.Errorf("%+v is said as %q", done, said)
	}
	again := run(t, dir, setup.DevnetOptions{})
	for end := time.Now().Add(time.Minute); again.ledger.Head().Height() < head.Height()+2; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("height %d, was %d", again.ledger.Head().Height(), head.Height())
		}
	}
	if err := again.stop(); err != nil {
		t.Fatal(err)
	}
	before, err := tools.GuardVotes(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Remove(filepath.Join(dir, datadir.JournalFile)), os.RemoveAll(filepath.Join(dir, datadir.StoreFolder))); err != nil {
		t.Fatal(err)
	}
	if _, err := tools.ReopenGuard(dir); !errors.Is(err, tools.ErrNothingLeft) {
		t.Errorf("without blocks: %v, want %v", err, tools.ErrNothingLeft)
	}
	if after, err := tools.GuardVotes(dir); err != nil || after != before {
		t.Errorf("without blocks the memory changed: %v", err)
	}
}

// A watermark that is ahead of the journal and the store, as where a journal could
// not be written (hostile.md D1), keeps a validator without others from voting: it is
// not ready and says why. Reopened, it goes on; a validator among others may not be.
func TestClosedViewIsReopened(t *testing.T) {
	dir, r := usedFolder(t)
	if _, err := tools.ReopenGuard(dir); !errors.Is(err, tools.ErrNothingClosed) {
		t.Fatalf("a folder without fault: %v, want %v", err, tools.ErrNothingClosed)
	}
	mark, err := tools.GuardVotes(dir)
	if err != nil {
		t.Fatal(err)
	}
	lost := simplex.Proposal{Round: mark.Round(), Parent: mark.Round().View, Payload: chain.Hash{1}}
	lost.Round.View += 2
	id, _, err := datadir.KeyOwner(dir, r.genesis)
	if err != nil {
		t.Fatal(err)
	}
	g, err := datadir.OpenGuard(dir, id)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(g.Permit(simplex.Notarize, lost), g.Permit(simplex.Finalize, lost), g.Sync(), g.Close()); err != nil {
		t.Fatal(err)
	}
	head := r.ledger.Head().Height()
	stuck := run(t, dir, setup.DevnetOptions{})
	var health rpc.HealthReply
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if stuck.get(t, "/health/ready", &health) == http.StatusServiceUnavailable && len(health.Reasons) > 0 && strings.Contains(health.Reasons[0], "no votes in view") {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("ready: %+v", health)
		}
	}
	// Its journal may have had more final blocks than its ledger: one of each view at most.
	if got := stuck.ledger.Head().Height(); got > chain.Height(mark.Round().View) {
		t.Errorf("height %d after %d, and the key had voted up to view %d", got, head, mark.Round().View)
	}
	if err := stuck.stop(); err != nil {
		t.Fatal(err)
	}
	done, err := tools.ReopenGuard(dir)
	if err != nil || done.Closed != lost.Round.View || done.Head == 0 || done.Head >= done.Closed {
		t.Fatalf("%+v, %v", done, err)
	}
	again := run(t, dir, setup.DevnetOptions{})
	for end := time.Now().Add(time.Minute); again.ledger.Head().Height() < head+5; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("height %d after it was reopened", again.ledger.Head().Height())
		}
	}
	if again.get(t, "/health/ready", &health) != http.StatusOK {
		t.Errorf("not ready: %+v", health)
	}
	several := t.TempDir()
	if _, err := setup.Deal(several, setup.DealOptions{Validators: 4}); err != nil {
		t.Fatal(err)
	}
	if _, err := tools.ReopenGuard(datadir.DealtFolder(several, 0)); !errors.Is(err, tools.ErrOthersPass) {
		t.Errorf("among others: %v, want %v", err, tools.ErrOthersPass)
	}
}

func singleSet(t *testing.T) *beacon.ValidatorSet {
	t.Helper()
	g, err := setup.PrepareDevnet(t.TempDir(), setup.DevnetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	set, err := beacon.NewValidatorSet(epoch.First(g))
	if err != nil {
		t.Fatal(err)
	}
	return set
}
