package soak

import (
	"bufio"
	"bytes"
	"net/http"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/staking"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// TestDevnetWithALiar runs the command that a tester of validity runs: four
// processes, one of which lies. The honest three go on with equal roots, and say
// in their metrics what they saw.
func TestDevnetWithALiar(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real processes: left out of -short runs, runs in make test")
	}
	t.Parallel()
	for _, c := range []struct {
		kind     string
		metric   string // of some honest validator, above zero in the end
		convicts bool   // on the chain
	}{
		{"equivocator", "cowboy_evidence_total", true},
		{"bad-root", "cowboy_blocks_refused_total", false},
		{"bad-codeword", "cowboy_shard_not_codeword_total", false},
	} {
		t.Run(c.kind, func(t *testing.T) {
			bin, dir := buildBinary(t), t.TempDir()
			net := startDevnet(t, bin, dir, "--block-time=50ms", "--byzantine", c.kind)
			rpcs, admins, log := net.rpcs, net.admins, &net.log
			for _, url := range rpcs[:3] {
				waitFor(t, url, 10, log)
			}
			for end := time.Now().Add(patience); sum(t, admins[:3], c.metric) == 0; time.Sleep(50 * time.Millisecond) {
				if time.Now().After(end) {
					t.Fatalf("no honest validator has %s", c.metric)
				}
			}
			h, err := height(rpcs[0])
			if err != nil {
				t.Fatal(err)
			}
			for _, url := range rpcs[:3] {
				waitFor(t, url, h+20, log) // the lie changed nothing, and every validator had its turn to submit evidence
			}
			net.stop(t)
			for i := range 3 {
				t.Logf("validator %d: %s", i, verifyChain(t, bin, datadir.DealtFolder(dir, i)))
			}
			equalStores(t, datadir.DealtFolder(dir, 0), datadir.DealtFolder(dir, 1), datadir.DealtFolder(dir, 2))
			if got := convictions(t, datadir.DealtFolder(dir, 0)); (got > 0) != c.convicts {
				t.Errorf("%d convictions on the chain, want some: %v", got, c.convicts)
			}
		})
	}
}

var announcedLine = regexp.MustCompile(`RPC \d+ +(\S+) +metrics +(\S+)`)

// devnetAddresses reads what a devnet of four prints.
func devnetAddresses(t *testing.T, out interface{ Read([]byte) (int, error) }) (rpcs, admins []string) {
	t.Helper()
	lines := bufio.NewScanner(out)
	for len(rpcs) < 4 && lines.Scan() {
		if m := announcedLine.FindStringSubmatch(lines.Text()); m != nil {
			rpcs, admins = append(rpcs, m[1]), append(admins, m[2])
		}
	}
	go func() {
		for lines.Scan() { // ends with the process
		}
	}()
	if len(rpcs) != 4 {
		t.Fatalf("%d validators announced, want 4", len(rpcs))
	}
	return rpcs, admins
}

// sum adds a metric without labels over several validators.
func sum(t *testing.T, admins []string, name string) (total float64) {
	t.Helper()
	for _, url := range admins {
		res, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(res.Body)
		for lines.Scan() {
			if value, ok := strings.CutPrefix(lines.Text(), name+" "); ok {
				n, err := strconv.ParseFloat(value, 64)
				if err != nil {
					t.Fatal(err)
				}
				total += n
			}
		}
		res.Body.Close()
	}
	return total
}

// convictions returns how many convictions a stopped validator's state has.
func convictions(t *testing.T, folder string) uint64 {
	t.Helper()
	s, err := store.Open(filepath.Join(folder, "store"), store.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	total, err := staking.Convictions(s.Head())
	if err != nil {
		t.Fatal(err)
	}
	return total
}

// equalStores compares every block in the folders of stopped validators, up to the
// lowest head, and returns that.
func equalStores(t *testing.T, folders ...string) chain.Height {
	t.Helper()
	var stores []*store.Store
	lowest := ^chain.Height(0)
	for _, folder := range folders {
		s, err := store.Open(filepath.Join(folder, "store"), store.DefaultOptions())
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		head, _ := s.HeadInfo()
		stores, lowest = append(stores, s), min(lowest, head)
	}
	if lowest == 0 {
		t.Error("a store is empty: nothing is compared")
	}
	for h := chain.Height(1); h <= lowest; h++ {
		var want store.BlockRecord
		for i, s := range stores {
			rec, ok, err := s.BlockByHeight(h)
			if err != nil || !ok {
				t.Fatalf("block %d of %s: found %v, %v", h, folders[i], ok, err)
			}
			if i == 0 {
				want = rec
			} else if rec.Digest != want.Digest || !bytes.Equal(rec.Block, want.Block) { // the digest covers the roots
				t.Fatalf("block %d is %s in %s and %s in %s", h, want.Digest, folders[0], rec.Digest, folders[i])
			}
		}
	}
	t.Logf("%d blocks equal in %d stores", lowest, len(stores))
	return lowest
}
