package simnode

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var (
	lives    = flag.Int("lives", 0, "runs of each case of two lives of a key; 0: one of some of them")
	lifeCase = flag.Int("case", -1, "play this case of two lives only")
	lifeFrom = flag.Uint64("first-life", 1, "the seed of the first run of each case")
)

// TestLives plays the ways in which one key comes to have two lives, or one that
// does not remember another (docs/adr/0103). Lives that
// start more than ten seconds apart convict nobody; of those that start together
// the report says how many do.
func TestLives(t *testing.T) {
	var out strings.Builder
	for i, c := range Cases {
		if *lifeCase >= 0 && i != *lifeCase || *lives == 0 && (c.Together || testing.Short() || i%4 != 0) {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			runs := max(1, *lives)
			convicted, contradicted, stopped, halted := 0, 0, 0, 0
			for seed := *lifeFrom; seed < *lifeFrom+uint64(runs); seed++ {
				t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
					l, err := PlayLives(t, c, seed)
					if l.Convicted {
						convicted++
					}
					if l.Contradicted {
						contradicted++
					}
					if l.Halted {
						halted++
					}
					stopped += l.Stopped
					if err == nil && l.Stopped != c.Stops {
						err = fmt.Errorf("%d lives stopped, want %d", l.Stopped, c.Stops)
					}
					if err == nil && (!l.Convicted || c.Together) {
						return
					}
					name := filepath.Join(*keepIn, fmt.Sprintf("lives-%d-seed-%d.trace", i, seed))
					t.Errorf("convicted %v, %v\ntrace: %s (%v)", l.Convicted, err, name, l.WriteTrace(name))
				})
			}
			fmt.Fprintf(&out, "%-40s %d runs: %d with a conviction, %d with words that contradict, %d lives stopped, %d halted at what was forgotten\n", c.Name, runs, convicted, contradicted, stopped, halted)
		})
	}
	t.Log("\n" + out.String())
	if *tell && !testing.Verbose() {
		_, _ = io.WriteString(os.Stdout, out.String())
	}
}
