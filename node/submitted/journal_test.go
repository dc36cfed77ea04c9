package submitted

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
)

const hourMillis = 3_600_000

// pool is a chain as the journal sees it. It answers before Admit returns.
type pool struct {
	ready   bool
	busy    int // submissions that find the queue full
	final   map[chain.Hash]bool
	refuse  map[chain.Hash]bool
	waiting map[chain.Hash]bool
	came    []string
}

func newPool() *pool {
	return &pool{ready: true, final: map[chain.Hash]bool{}, refuse: map[chain.Hash]bool{}, waiting: map[chain.Hash]bool{}}
}

func (p *pool) Ready() bool                { return p.ready }
func (p *pool) Final(hash chain.Hash) bool { return p.final[hash] }

func (p *pool) EachWaiting(f func(hash chain.Hash)) bool {
	for hash, waits := range p.waiting {
		if waits {
			f(hash)
		}
	}
	return true
}

func (p *pool) Admit(bodies [][]byte, answered func(int)) error {
	if p.busy > 0 {
		p.busy--
		return errors.New("busy")
	}
	refused := 0
	for _, body := range bodies {
		hash := chain.TxHash(body)
		p.came = append(p.came, string(body))
		if p.waiting[hash] = !p.refuse[hash]; p.refuse[hash] {
			refused++
		}
	}
	answered(refused)
	return nil
}

func config(path string) Config {
	return Config{Path: path, Bytes: 64 << 10, Share: 100, AgeMillis: 3 * hourMillis, Log: slog.New(slog.NewTextHandler(io.Discard, nil))}
}

func body(i int) []byte { return binary.BigEndian.AppendUint64([]byte("transaction "), uint64(i)) }

// txsOf is what the pool hands on of such bodies.
func txsOf(bodies ...[]byte) (txs []*chain.VerifiedTx) {
	for _, b := range bodies {
		txs = append(txs, &chain.VerifiedTx{Body: b, Hash: chain.TxHash(b)})
	}
	return txs
}

// submit takes bodies as the API does when the pool has admitted them, and lets the
// owner work them off.
func submit(j *Journal, p *pool, bodies ...[]byte) {
	for _, b := range bodies {
		p.waiting[chain.TxHash(b)] = true
	}
	j.Record(netip.Addr{}, txsOf(bodies...))
	work(j)
}

// work is what the owner does until nothing is left to do.
func work(j *Journal) {
	for len(j.queue) > 0 {
		j.write(<-j.queue)
	}
	j.sync()
	j.sendAgain()
	for len(j.again.answers) > 0 {
		j.answered(<-j.again.answers)
	}
}

// copyOf is the file as the next process finds it if this one dies now.
func copyOf(t *testing.T, path string) string {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "submitted.journal")
	if err := os.WriteFile(to, raw, 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}

// cameAgain opens a file with a pool that knows nothing and returns what is offered
// to it.
func cameAgain(t *testing.T, path string) []string {
	t.Helper()
	p := newPool()
	j := Open(config(path), p)
	defer j.Close()
	if j.Stats.Failures.Load() != 0 {
		t.Fatal("the journal was given up")
	}
	work(j)
	return p.came
}

func TestKilledAfterSync(t *testing.T) {
	path, p := filepath.Join(t.TempDir(), "submitted.journal"), newPool()
	j := Open(config(path), p)
	defer j.Close()
	var want []string
	for i := range 300 { // more than a part
		want = append(want, string(body(i)))
		p.waiting[chain.TxHash(body(i))] = true
		j.Record(netip.Addr{}, txsOf(body(i)))
	}
	work(j)
	if n := j.Stats.Synced.Load(); n != 300 {
		t.Fatalf("%d of 300 are durable", n)
	}
	submit(j, p, body(7)) // a client that asks again
	left := copyOf(t, path)
	for range 2 { // once more after the start that cleaned it
		if got := cameAgain(t, left); !slices.Equal(got, want) {
			t.Fatalf("%d came again, want %d in order", len(got), len(want))
		}
	}
	raw, _ := os.ReadFile(copyOf(t, path))
	torn := filepath.Join(t.TempDir(), "torn")
	if err := os.WriteFile(torn, raw[:len(raw)-70], 0o600); err != nil { // into the last but one
		t.Fatal(err)
	}
	if got := cameAgain(t, torn); !slices.Equal(got, want[:len(got)]) || len(got) < 298 {
		t.Errorf("of a torn file %d came again", len(got))
	}
}

// TestOnlyWhatIsWorthIt: what is final, too old or refused is not offered for ever,
// and is not in the file after the start.
// TestTornFileIsSaid: what a crash cut off is one line of the log, and the next start has
// nothing to say.
func TestTornFileIsSaid(t *testing.T) {
	path, p := filepath.Join(t.TempDir(), "submitted.journal"), newPool()
	j := Open(config(path), p)
	submit(j, p, body(0), body(1))
	j.Close()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, info.Size()-3); err != nil {
		t.Fatal(err)
	}
	for want := 1; want >= 0; want-- {
		var said strings.Builder
		cfg := config(path)
		cfg.Log = slog.New(slog.NewTextHandler(&said, nil))
		Open(cfg, newPool()).Close()
		if n := strings.Count(said.String(), "did not end with a whole record"); n != want {
			t.Errorf("said %d times, want %d: %s", n, want, said.String())
		}
	}
}

func TestOnlyWhatIsWorthIt(t *testing.T) {
	path, p := filepath.Join(t.TempDir(), "submitted.journal"), newPool()
	j := Open(config(path), p)
	submit(j, p, body(0), body(1), body(2), body(3))
	now := uint64(time.Now().UnixMilli())
	for i, millis := range map[int]uint64{4: now - 3*hourMillis - 1, 5: now - 2*hourMillis, 6: now + hourMillis} {
		j.write(batch{millis: millis, txs: txsOf(body(i))})
	}
	j.Close()

	p = newPool()
	p.final[chain.TxHash(body(0))], p.refuse[chain.TxHash(body(1))], p.busy, p.ready = true, true, 2, false
	j = Open(config(path), p)
	work(j)
	if len(p.came) > 0 {
		t.Error("offered before the chain was ready")
	}
	if !j.Returning() {
		t.Error("nothing is said to come back before it was offered")
	}
	p.ready = true
	for range 3 {
		work(j) // the first two find the queue full
	}
	if j.Returning() {
		t.Error("something is said to come back after all was offered")
	}
	came := slices.Sorted(slices.Values(p.came))
	if want := []string{string(body(1)), string(body(2)), string(body(3)), string(body(5)), string(body(6))}; !slices.Equal(came, want) {
		t.Errorf("offered %q", came)
	}
	if a, r, o := j.Stats.Again.Load(), j.Stats.Refused.Load(), j.Stats.Outdated.Load(); a != 5 || r != 1 || o != 2 {
		t.Errorf("counted %d offered, %d refused, %d outdated", a, r, o)
	}
	j.Close()
	if got := cameAgain(t, path); len(got) != 4 {
		t.Errorf("%d are left after the start, want the 4 that wait", len(got))
	}
}

func TestNothingIsCleanedBeforeItIsOffered(t *testing.T) {
	path, p := filepath.Join(t.TempDir(), "submitted.journal"), newPool()
	j := Open(config(path), p)
	submit(j, p, body(0))
	j.Close()
	p = newPool()
	p.ready = false
	j = Open(config(path), p)
	work(j)
	j.clean()
	j.Close()
	if got := cameAgain(t, path); len(got) != 1 {
		t.Errorf("%d came again, want 1", len(got))
	}
}

// TestFloodIsBounded: the file stays within its bound whether what floods is included
// at once or waits for ever; what waits is kept, as much as there is room for.
func TestFloodIsBounded(t *testing.T) {
	for name, waits := range map[string]bool{"included": false, "waits": true} {
		t.Run(name, func(t *testing.T) {
			path, p := filepath.Join(t.TempDir(), "submitted.journal"), newPool()
			j := Open(config(path), p)
			defer j.Close()
			submit(j, p, []byte("patient"))
			cleanings, cleaned := 0, j.since
			for i := range 20_000 {
				p.waiting[chain.TxHash(body(i))] = waits
				j.Record(netip.Addr{}, txsOf(body(i)))
				j.write(<-j.queue)
				if size := j.file.Size(); size > j.cfg.Bytes {
					t.Fatalf("%d bytes, at most %d", size, j.cfg.Bytes)
				}
				if j.since != cleaned {
					cleaned = j.since
					cleanings++
				}
			}
			w, d := j.Stats.Written.Load(), j.Stats.Dropped.Load()
			if w+d != 20_001 || waits != (d > 0) {
				t.Errorf("%d written, %d dropped", w, d)
			}
			if waits != (cleanings == 1) {
				t.Errorf("%d cleanings", cleanings)
			}
			j.sync()
			got := cameAgain(t, copyOf(t, path))
			if !slices.Contains(got, "patient") || waits && len(got) < 1000 {
				t.Errorf("%d came again", len(got))
			}
		})
	}
}

func TestQueueIsBounded(t *testing.T) {
	p := newPool()
	j := Open(config(filepath.Join(t.TempDir(), "submitted.journal")), p)
	defer j.Close()
	large := bytes.Repeat([]byte{1}, 1<<20)
	for range 20 { // nobody writes
		j.Record(netip.Addr{}, txsOf(large))
	}
	if n := j.Stats.Dropped.Load(); n != 12 || j.queued.Load() != queueBytes {
		t.Errorf("%d dropped, %d bytes queued", n, j.queued.Load())
	}
	work(j)
	for range queueBatches + 5 {
		j.Record(netip.Addr{}, txsOf([]byte{1}))
	}
	if n := len(j.queue); n != queueBatches || j.queued.Load() != queueBatches {
		t.Errorf("%d queued, %d bytes", n, j.queued.Load())
	}
}

// TestUnusableFiles: what is no journal, or not to be had, ends the journal and is
// left as it is.
func TestUnusableFiles(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "good")
	j := Open(config(good), newPool())
	submit(j, newPool(), body(0), body(1), body(2))
	j.Close()
	raw, err := os.ReadFile(good)
	if err != nil {
		t.Fatal(err)
	}
	raw[len(raw)/2] ^= 1
	for name, make := range map[string]func(path string) error{
		"damaged":        func(path string) error { return os.WriteFile(path, raw, 0o600) },
		"foreign":        func(path string) error { return os.WriteFile(path, []byte("#!/bin/sh\necho no journal"), 0o600) },
		"empty":          func(path string) error { return os.WriteFile(path, nil, 0o600) },
		"folder":         func(path string) error { return os.Mkdir(path, 0o700) },
		"pipe":           func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"enormous":       func(path string) error { return errors.Join(os.WriteFile(path, raw, 0o600), os.Truncate(path, 1<<40)) },
		"used by others": func(path string) error { Open(config(path), newPool()); return nil },
	} {
		t.Run(name, func(t *testing.T) {
			path, p := filepath.Join(dir, name), newPool()
			if err := make(path); err != nil {
				t.Fatal(err)
			}
			before, _ := os.Lstat(path)
			j := Open(config(path), p)
			submit(j, p, body(5))
			j.clean()
			j.Close()
			if j.Stats.Failures.Load() != 1 || j.Stats.Dropped.Load() != 1 || len(p.came) > 0 {
				t.Errorf("failures %d, dropped %d, %d offered", j.Stats.Failures.Load(), j.Stats.Dropped.Load(), len(p.came))
			}
			if after, _ := os.Lstat(path); before != nil && after.Size() != before.Size() {
				t.Error("the file was changed")
			}
		})
	}
}

// TestNoFolder: a folder that takes no files, for whichever reason.
func TestNoFolder(t *testing.T) {
	p := newPool()
	j := Open(config(filepath.Join(t.TempDir(), "missing", "submitted.journal")), p)
	submit(j, p, body(0))
	j.Close()
	if j.Stats.Failures.Load() != 1 || j.Stats.Dropped.Load() != 1 {
		t.Errorf("failures %d, dropped %d", j.Stats.Failures.Load(), j.Stats.Dropped.Load())
	}
}

func TestNothingIsKeptWithoutBytes(t *testing.T) {
	cfg := config(filepath.Join(t.TempDir(), "submitted.journal"))
	cfg.Bytes = 0
	j := Open(cfg, newPool())
	submit(j, newPool(), body(0))
	j.Close()
	if _, err := os.Stat(cfg.Path); !os.IsNotExist(err) || j.Stats.Dropped.Load()+j.Stats.Failures.Load() > 0 {
		t.Errorf("a file, or a complaint: %v", err)
	}
}

// fullDisk is a file whose operations fail from one on.
type fullDisk struct {
	file
	left int
}

func (d *fullDisk) step() error {
	if d.left--; d.left < 0 {
		return syscall.ENOSPC
	}
	return nil
}

func (d *fullDisk) Append(rec []byte) error { return errors.Join(d.step(), d.file.Append(rec)) }
func (d *fullDisk) Sync() error             { return errors.Join(d.step(), d.file.Sync()) }

func (d *fullDisk) Prune(keep func([]byte) bool) error {
	return errors.Join(d.step(), d.file.Prune(keep))
}

func (d *fullDisk) Replay(f func([]byte) error) error {
	return errors.Join(d.step(), d.file.Replay(f))
}

// TestDiskFull lets each operation fail in turn. Every submission is either in the
// file or counted as dropped, what was synced comes again, and nothing else happens.
func TestDiskFull(t *testing.T) {
	for left := range 40 {
		path, p := filepath.Join(t.TempDir(), "submitted.journal"), newPool()
		cfg := config(path)
		cfg.Bytes = 700 // a dozen, so that cleaning comes in between
		f, err := openFile(path)
		if err != nil {
			t.Fatal(err)
		}
		j := newJournal(cfg, p)
		j.adoptFile(&fullDisk{f, left})
		for i := range 20 {
			submit(j, p, body(i))
			delete(p.waiting, chain.TxHash(body(i-5)))
		}
		failed, written, dropped := j.Stats.Failures.Load(), j.Stats.Written.Load(), j.Stats.Dropped.Load()
		if failed != 1 || written+dropped != 20 || dropped == 0 {
			t.Fatalf("after %d operations: failures %d, %d written, %d dropped", left, failed, written, dropped)
		}
		j.Record(netip.Addr{}, txsOf(body(99)))
		if j.Stats.Dropped.Load() != dropped+1 || len(j.queue) != 0 || j.queued.Load() != 0 {
			t.Fatalf("after %d operations: a failed journal takes more", left)
		}
		j.Close()
		if got := cameAgain(t, path); uint64(len(got)) > written+1 {
			t.Fatalf("after %d operations: %d came again, %d were written", left, len(got), written)
		}
	}
}

// TestEarlierRunComesAgainOnAFailedDisk: reading went well, so what was read is
// offered although nothing can be written.
func TestEarlierRunComesAgainOnAFailedDisk(t *testing.T) {
	path, p := filepath.Join(t.TempDir(), "submitted.journal"), newPool()
	j := Open(config(path), p)
	submit(j, p, body(0), body(1))
	j.Close()
	f, err := openFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p = newPool()
	j = newJournal(config(path), p)
	j.adoptFile(&fullDisk{f, 1})
	submit(j, p, body(2))
	if len(p.came) != 2 || j.Stats.Failures.Load() != 1 {
		t.Errorf("%d offered, failures %d", len(p.came), j.Stats.Failures.Load())
	}
}

// FuzzRecord: a record is refused with a typed error, or is what it says it is.
func FuzzRecord(f *testing.F) {
	f.Add((&entry{millis: 1, body: body(1)}).append(nil))
	f.Add([]byte{recordTag, 0, 0, 0, 0, 0, 0, 0, 0})
	f.Add(append([]byte{recordTag}, bytes.Repeat([]byte{0xff}, 9)...))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, rec []byte) {
		e, err := decode(rec)
		if err != nil {
			if !errors.Is(err, ErrRecord) {
				t.Fatalf("untyped error %v", err)
			}
			return
		}
		if again := e.append(nil); !bytes.Equal(again, rec) || len(e.body) == 0 || len(e.body) > chain.MaxTxBytes {
			t.Fatalf("%x became %x", rec, again)
		}
	})
}

// FuzzFile takes anything as the file. The journal either works or has given up, and
// what it offers is within its bound.
func FuzzFile(f *testing.F) {
	path := filepath.Join(f.TempDir(), "seed")
	j := Open(config(path), newPool())
	submit(j, newPool(), body(0), body(1))
	if err := j.file.Append([]byte("no transaction")); err != nil {
		f.Fatal(err)
	}
	j.Close()
	raw, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(raw)
	f.Add(raw[:len(raw)-3])
	f.Add([]byte("cowboyJ\n"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		path, p := filepath.Join(t.TempDir(), "j"), newPool()
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
		j := Open(config(path), p)
		submit(j, p, body(3))
		if j.Stats.Written.Load()+j.Stats.Failures.Load() != 1 {
			t.Errorf("%d written, failures %d", j.Stats.Written.Load(), j.Stats.Failures.Load())
		}
		if offered := len(slices.Concat(p.came)); offered > len(raw) {
			t.Errorf("%d transactions of %d bytes", offered, len(raw))
		}
		j.Close()
	})
}

// TestAClientHasAShare: a client whose transactions wait for ever leaves the others room
// in the file, and does not make it be cleaned at each try; one whose transactions leave
// the pool goes on.
func TestAClientHasAShare(t *testing.T) {
	p := newPool()
	cfg := config(filepath.Join(t.TempDir(), "submitted.journal"))
	cfg.Share = 25
	j := Open(cfg, p)
	defer j.Close()
	greedy, honest := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	next := 0
	submitFrom := func(client netip.Addr, n int) (kept uint64) {
		before := j.Stats.Written.Load()
		for range n {
			b := append(body(next), make([]byte, 480)...)
			next++
			p.waiting[chain.TxHash(b)] = true
			j.Record(client, txsOf(b))
		}
		work(j)
		return j.Stats.Written.Load() - before
	}
	fileTxs := int(cfg.Bytes) / 530
	if kept := submitFrom(greedy, 2*fileTxs); int(kept) > fileTxs/4 || int(kept) < fileTxs/5 {
		t.Errorf("%d of the %d transactions that the file holds are one client's", kept, fileTxs)
	}
	j.since = time.Now().Add(-time.Hour) // it is time for a cleaning
	submitFrom(greedy, 1)
	since := j.since
	submitFrom(greedy, 100)
	if j.since != since {
		t.Error("a client whose transactions all wait makes the file be written again and again")
	}
	if kept := submitFrom(honest, fileTxs/10); int(kept) != fileTxs/10 {
		t.Errorf("%d of %d transactions of another client are kept", kept, fileTxs/10)
	}
	clear(p.waiting) // all are final
	j.since = time.Now().Add(-time.Hour)
	if kept := submitFrom(honest, fileTxs/5); int(kept) != fileTxs/5 {
		t.Errorf("%d of %d transactions are kept of a client whose earlier ones are final", kept, fileTxs/5)
	}
}
