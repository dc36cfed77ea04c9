package node

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/setup"
	"github.com/cowboy-foundation/cowboy/node/tools"
	"github.com/cowboy-foundation/cowboy/state/store"
)

var (
	damages    = flag.Int("damages", 21, "how many damages TestDamage tries")
	damageSeed = flag.Uint64("damage-seed", 1, "the first seed of TestDamage; damage i has this plus i")
)

// TestDamage damages one file of a stopped validator's folder, or several, and starts
// it: by class, a flipped bit, a cut end, a file gone, two files changed for each
// other, a page of zeros, a copy of an earlier day, a file that cannot be read. What
// follows is a refusal that names the file and the next step, or a chain with the very
// same blocks that goes on, or one that stands, says which view is closed, and goes on
// once the tool has opened it. Never another state, a panic, or a silence. Rerun one with -damage-seed=N -damages=1; `make soak-damage`
// tries 2,000.
func TestDamage(t *testing.T) {
	if testing.Short() {
		t.Skip("starts a validator for each damage: left out of -short runs, runs in make test")
	}
	w := wreckedFolder(t)
	table := map[string]map[string]int{}
	for i := range *damages {
		seed := *damageSeed + uint64(i)
		rng := rand.New(rand.NewPCG(seed, 9))
		dir := t.TempDir()
		copyFolder(t, w.newer, dir)
		class := damageClasses[int(seed)%len(damageClasses)]
		what := w.damage(t, rng, class, dir)
		outcome, err := w.judge(dir, what)
		if err != nil {
			t.Errorf("seed %d: %s of %v: %v", seed, class, what, err)
		}
		if testing.Verbose() {
			t.Logf("seed %d: %s of %v: %s", seed, class, what, outcome)
		}
		if table[outcome] == nil {
			table[outcome] = map[string]int{}
		}
		table[outcome][class]++
		if err := os.RemoveAll(dir); err != nil {
			t.Fatal(err)
		}
	}
	t.Log("\n" + damageTable(table))
}

var damageClasses = []string{"flip", "cut", "delete", "swap", "zeros", "older", "unreadable"}

func damageTable(table map[string]map[string]int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-34s", "")
	for _, class := range damageClasses {
		fmt.Fprintf(&b, "%11s", class)
	}
	for _, outcome := range slices.Sorted(maps.Keys(table)) {
		fmt.Fprintf(&b, "\n%-34s", outcome)
		for _, class := range damageClasses {
			fmt.Fprintf(&b, "%11d", table[outcome][class])
		}
	}
	return b.String()
}

// wrecked is a stopped folder at two moments, and its blocks.
type wrecked struct {
	older, newer string
	opts         setup.DevnetOptions
	digests      []chain.Hash // by height, from 1
}

// wreckedFolder makes a small chain with transactions, stops it, keeps a copy, and
// goes on for as long again.
func wreckedFolder(t *testing.T) *wrecked {
	t.Helper()
	w := &wrecked{older: t.TempDir(), newer: t.TempDir(), opts: setup.DevnetOptions{BlockTime: 5 * time.Millisecond}}
	for part := range uint64(2) {
		r := run(t, w.newer, w.opts)
		for i := range uint64(6) {
			var reply struct{}
			tx := pay(r.genesis, setup.DevAccounts()[i%3], 2*part+i/3, chain.Address{0xab, byte(i)})
			r.post(t, "/submit_wait", tx.AppendWire(nil), &reply)
		}
		for least := chain.Height(25 * (part + 1)); r.ledger.Head().Height() < least; {
			time.Sleep(time.Millisecond)
		}
		if err := r.stop(); err != nil {
			t.Fatal(err)
		}
		if part == 0 {
			copyFolder(t, w.newer, w.older)
		}
	}
	s, err := store.Open(filepath.Join(w.newer, datadir.StoreFolder), store.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	height, _ := s.HeadInfo()
	for h := chain.Height(1); h <= height; h++ {
		digest, _, err := s.BlockDigest(h)
		if err != nil {
			t.Fatal(err)
		}
		w.digests = append(w.digests, digest)
	}
	return w
}

func copyFolder(t *testing.T, from, to string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{datadir.KeysFile} { // what is secret has to stay so
		if err := os.Chmod(filepath.Join(to, name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// filesIn lists the files of a folder, the empty ones left out: there is nothing in
// them to damage.
func filesIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Size() > 0 {
			name, _ := filepath.Rel(dir, path)
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// damage spoils a folder and returns the names of what it spoiled.
func (w *wrecked) damage(t *testing.T, rng *rand.Rand, class, dir string) (names []string) {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	all := filesIn(t, dir)
	if class == "older" {
		if rng.IntN(4) == 0 { // a whole folder of it
			must(os.RemoveAll(filepath.Join(dir, datadir.StoreFolder)))
			must(os.CopyFS(filepath.Join(dir, datadir.StoreFolder), os.DirFS(filepath.Join(w.older, datadir.StoreFolder))))
			return []string{datadir.StoreFolder}
		}
		all = slices.DeleteFunc(all, func(name string) bool { return !isThere(filepath.Join(w.older, name)) })
	}
	if class == "delete" && rng.IntN(8) == 0 {
		must(os.RemoveAll(filepath.Join(dir, datadir.StoreFolder)))
		return []string{datadir.StoreFolder}
	}
	name := all[rng.IntN(len(all))]
	path := filepath.Join(dir, name)
	good, err := os.ReadFile(path)
	must(err)
	at := rng.IntN(len(good))
	info, err := os.Stat(path)
	must(err)
	put := func(path string, b []byte) { must(os.WriteFile(path, b, info.Mode().Perm())) }
	switch class {
	case "flip":
		good[at] ^= 1 << rng.IntN(8)
		put(path, good)
	case "cut":
		put(path, good[:at])
	case "zeros":
		clear(good[at:min(len(good), at+4096)])
		put(path, good)
	case "delete":
		must(os.Remove(path))
	case "unreadable": // root may read everything but a folder
		must(os.Remove(path))
		must(os.Mkdir(path, 0o700))
	case "older":
		old, err := os.ReadFile(filepath.Join(w.older, name))
		must(err)
		put(path, old)
	case "swap":
		other := all[rng.IntN(len(all))]
		b, err := os.ReadFile(filepath.Join(dir, other))
		must(err)
		put(path, b)
		put(filepath.Join(dir, other), good)
		return []string{name, other}
	}
	return []string{name}
}

// startPatience is how long a damaged folder may take to come to a new block.
const startPatience = 15 * time.Second

// judge starts the folder and says what became of it; the error is what must not be.
func (w *wrecked) judge(dir string, names []string) (outcome string, err error) {
	var log lockedText
	refused := func(err error) (string, error) {
		var next *datadir.NextStepError
		var missing *datadir.MissingWatermarkError
		if !errors.As(err, &next) && !errors.As(err, &missing) {
			return "refused", fmt.Errorf("the refusal says no next step: %w", err)
		}
		if !slices.ContainsFunc(names, func(name string) bool { return namesFile(err.Error(), name) }) {
			return "refused", fmt.Errorf("the refusal does not name the file: %w", err)
		}
		return "refused with file and next step", nil
	}
	genesis, err := setup.PrepareDevnet(dir, w.opts)
	if err != nil {
		return refused(err)
	}
	cfg := DefaultConfig()
	cfg.DataDir, cfg.Devnet, cfg.RPCAddr, cfg.AdminAddr = dir, true, "127.0.0.1:0", "127.0.0.1:0"
	n, err := Open(cfg, genesis, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})))
	if err != nil {
		return refused(err)
	}
	if err := n.Listen(); err != nil {
		return "", errors.Join(err, n.Close())
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- n.Run(ctx) }()
	want, stands, closed := chain.Height(len(w.digests)+2), "", false
	for begun := time.Now(); n.ledger.Head().Height() < want && stands == ""; time.Sleep(time.Millisecond) {
		select {
		case err := <-ended:
			cancel()
			outcome, err = refused(errors.Join(err, n.Close()))
			return strings.Replace(outcome, "refused", "stops", 1), err
		default:
		}
		health := n.answers.Health()
		closed = !health.Ready && len(health.Reasons) > 0 && strings.HasPrefix(health.Reasons[0], "no votes in view ")
		if waited := time.Since(begun); waited > startPatience || closed && waited > startPatience/5 {
			stands = fmt.Sprintf("stands at %d of %d, %s, ready %v: %v", n.ledger.Head().Height(), want, health.Status, health.Ready, health.Reasons)
		}
	}
	for begun := time.Now(); n.scrub.read.Load() < uint64(len(w.digests)) && time.Since(begun) < startPatience; {
		time.Sleep(time.Millisecond)
	}
	blocks, errSame := w.same(n.store)
	cancel()
	if err := errors.Join(<-ended, errSame, n.Close()); err != nil {
		return "wrong", fmt.Errorf("%w\n%s", err, log.String())
	}
	if closed {
		return w.reopen(dir, names, stands, log.String())
	}
	said := log.String()
	damaged, again := strings.Count(said, "a stored block is damaged"), strings.Count(said, "a damaged block was written again")
	switch {
	case stands != "":
		return "stands", fmt.Errorf("%s\n%s", stands, said)
	case blocks > damaged || damaged > blocks+again: // one may be written again before same reads it, or after
		return "wrong", fmt.Errorf("%d blocks cannot be read, and the log says:\n%s", blocks, said)
	case damaged > 0:
		return "same head, damaged block said", nil
	case said != "":
		return "same head, repair said", nil
	}
	return "same head", nil
}

// reopen is what docs/damage.md tells the operator of a chain that stands because the
// journal does not know a vote of the watermark: the tool opens the view, once, and the
// chain goes on.
func (w *wrecked) reopen(dir string, names []string, stands, said string) (outcome string, err error) {
	if !strings.Contains(said, "guard reopen") {
		return "stands", fmt.Errorf("%s, and the log does not name the tool:\n%s", stands, said)
	}
	if _, err := tools.ReopenGuard(dir); err != nil {
		return "stands", fmt.Errorf("%s, and the tool says %w", stands, err)
	}
	if outcome, err = w.judge(dir, names); err != nil || !strings.HasPrefix(outcome, "same head") {
		return "stands", fmt.Errorf("%s, and after the tool: %s, %w", stands, outcome, err)
	}
	return "stands, says so, the tool opens it", nil
}

// same compares every block with the one before the damage, and counts those that
// cannot be read.
func (w *wrecked) same(s *store.Store) (unread int, err error) {
	for i, want := range w.digests {
		rec, ok, err := s.BlockByHeight(chain.Height(i + 1))
		switch {
		case errors.Is(err, store.ErrCorrupt):
			unread++
			continue
		case err != nil || !ok:
			return unread, fmt.Errorf("block %d: found %v, %w", i+1, ok, err)
		case rec.Digest != want:
			return unread, fmt.Errorf("block %d is %s, and was %s", i+1, rec.Digest, want)
		}
		if b, err := chain.DecodeBlock(rec.Block, len(rec.Block)); err == nil && b.Header.Digest() != want {
			return unread, fmt.Errorf("block %d has the bytes of %s", i+1, b.Header.Digest())
		}
	}
	_, err = s.VerifyHead(context.Background())
	return unread, err
}

// namesFile reports whether a text names a file, or what it is a part of.
func namesFile(text, name string) bool {
	base := filepath.Base(name)
	if strings.Contains(text, base) {
		return true
	}
	for _, family := range []string{"MANIFEST-", "OPTIONS-", "marker."} {
		if strings.HasPrefix(base, family) && strings.Contains(text, family) {
			return true
		}
	}
	return false
}

// lockedText collects a log.
type lockedText struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}
