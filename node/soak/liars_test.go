package soak

import (
	"bufio"
	"cmp"
	"context"
	"encoding/hex"
	"flag"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/byzantine"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

var (
	liarFor = flag.Duration("liar-for", 2*time.Second, "how long TestLiars measures each committee, at least")
	allLies = flag.Bool("all-lies", false, "TestLiars takes every kind of liar, and pairs of them, not a few")
)

// liarTiming is that of the committees with liars: a liar's view costs a test little.
var liarTiming = timing{block: 100 * time.Millisecond, patience: 400 * time.Millisecond, shards: true}

// fewLies are those of the short form: one that is silent, and one that lies about
// shards. One that contradicts itself is of a pair, and with one whose blocks are refused
// in TestDevnetWithALiar.
var fewLies = []string{"silent", "bad-shards"}

// TestLiars runs committees of real processes, of four with one liar and of seven
// with two: the honest ones finalize the same blocks, ban no honest validator and
// convict none. It prints how long finality took. `make soak-liars` takes all kinds.
func TestLiars(t *testing.T) {
	if testing.Short() {
		t.Skip("starts real processes: left out of -short runs, runs in make test")
	}
	committees := [][]string{}
	if *allLies {
		committees = append(committees, nil)
	}
	var pairs [][]string
	kinds := byzantine.Kinds()
	for i, k := range kinds {
		if *allLies || slices.Contains(fewLies, k.Name) {
			committees = append(committees, []string{k.Name})
		}
		if *allLies || k.Name == "equivocator" {
			pairs = append(pairs, []string{k.Name, kinds[(i+7)%len(kinds)].Name}) // each kind twice, with two others
		}
	}
	lines := []string{fmt.Sprintf("%-34s %7s %9s %9s %9s %9s %10s", "liars", "blocks", "final p50", "p99", "apart p50", "p99", "convicted")}
	committees = append(committees, pairs...)
	measured := make([]string, len(committees))
	t.Run("of", func(t *testing.T) {
		for i, liars := range committees {
			t.Run(cmp.Or(strings.Join(liars, "-"), "none"), func(t *testing.T) {
				if !*allLies { // the figures of the short form are of committees beside each other
					t.Parallel()
				}
				measured[i] = amongLiars(t, liars)
			})
		}
	})
	t.Log("\n" + strings.Join(append(lines, measured...), "\n"))
}

// amongLiars runs one committee and returns its line.
func amongLiars(t *testing.T, liars []string) string {
	t.Helper()
	n := 4
	if len(liars) > 1 {
		n = 7
	}
	honest, who := n-len(liars), map[int]string{}
	for i, kind := range liars {
		who[honest+i] = kind
	}
	s := newDealtSet(t, n, liarTiming, false)
	s.liars = who
	for i := range n {
		s.start(t, i)
	}
	for i := range honest {
		s.waitHeight(t, i, 3, patience)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var load sync.WaitGroup
	load.Go(func() { s.load(ctx, 0, &witness{}) })
	late, apart := s.finality(t, 0, *liarFor, 10)
	cancel()
	load.Wait()
	tip := s.height(t, 0)
	for i := range honest {
		s.waitHeight(t, i, tip, patience)
	}
	s.noHonestBlamed(t, honest)
	var convicted uint64
	for i, p := range s.procs {
		p.stop(t)
		if i < honest {
			convicted = max(convicted, convictions(t, s.folder(i)))
		}
	}
	equalStores(t, s.folders()[:honest]...)
	name := "none"
	if len(liars) > 0 {
		name = strings.Join(liars, " + ")
	}
	at := func(s []float64, p float64) float64 { return s[int(p*float64(len(s)-1))] }
	return fmt.Sprintf("%-34s %7d %6.0f ms %6.0f ms %6.0f ms %6.0f ms %10d", name, len(late), at(late, 0.5), at(late, 0.99), at(apart, 0.5), at(apart, 0.99), convicted)
}

// finality watches validator i for a time, and until it has seen a few blocks: for each
// how long after its timestamp it was final, and how long after the block before it, in
// milliseconds, sorted.
func (s *validatorSet) finality(t *testing.T, i int, least time.Duration, blocks int) (late, apart []float64) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), least+patience)
	defer cancel()
	began := time.Now()
	cfg := client.DefaultConfig()
	cfg.URL = s.procs[i].rpc
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	var last time.Time
	_ = c.Events(ctx, chain.Height(s.height(t, i)), func(b *rpc.BlockReply) error {
		now := time.Now()
		late = append(late, float64(now.UnixMicro())/1e3-float64(b.TimestampMillis))
		if !last.IsZero() {
			apart = append(apart, float64(now.Sub(last).Microseconds())/1e3)
		}
		last = now
		if len(late) >= blocks && time.Since(began) > least {
			return errMeasured
		}
		return nil
	})
	if len(late) < blocks {
		t.Fatalf("%d blocks in %v", len(late), time.Since(began))
	}
	slices.Sort(late)
	slices.Sort(apart)
	return late, apart
}

var blameSeries = regexp.MustCompile(`^cowboy_(?:validator_blocked_until_timestamp_seconds\{validator|p2p_peer_banned_seconds\{peer)="(\d+)"\} (\S+)`)

// noHonestBlamed holds that no honest validator ignores, bans or accuses another.
func (s *validatorSet) noHonestBlamed(t *testing.T, honest int) {
	t.Helper()
	genesis, err := datadir.LoadGenesis(s.folder(0))
	if err != nil {
		t.Fatal(err)
	}
	for i := range honest {
		res, err := http.Get(s.procs[i].admin + "/metrics")
		if err != nil {
			t.Fatal(err)
		}
		looked := 0
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			m := blameSeries.FindStringSubmatch(lines.Text())
			if m == nil {
				continue
			}
			looked++
			if other, _ := strconv.Atoi(m[1]); other < honest && m[2] != "0" {
				t.Errorf("validator %d blames validator %d, which is honest: %s", i, other, lines.Text())
			}
		}
		res.Body.Close()
		if looked < 2*(len(s.procs)-1) {
			t.Errorf("validator %d has %d series of bans", i, looked)
		}
		var found rpc.EvidenceReply
		if _, err := get(t.Context(), s.procs[i].rpc+"/evidence", &found); err != nil {
			t.Fatal(err)
		}
		for _, e := range found.Evidence {
			for other, v := range genesis.Validators[:honest] {
				if e.Accused == "0x"+hex.EncodeToString(v.PeerKey[:]) {
					t.Errorf("validator %d has evidence against validator %d, which is honest: view %d", i, other, e.View)
				}
			}
		}
	}
}
