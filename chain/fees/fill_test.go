package fees_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

// TestDaysToFill computes how long it takes to fill the state from nothing with every
// block at its target of cells, and what that costs at the lowest base fee, and holds
// the table of docs/rent.md to it. What fills it cheapest are new entries of few
// bytes: state.entry_bytes of the meter for new_entry_cells.
func TestDaysToFill(t *testing.T) {
	p := params.Default()
	s := &p.State
	perDay := float64(p.CellsTarget) * 86_400_000 / float64(p.BlockTimeMillis)
	const key = 8 // bytes of key and value, paid for as such
	entry := float64(s.EntryBytes + key)
	const steps = 100 // of each part
	step := s.LimitBytes / s.PriceDoublings / steps
	cells := 0.0
	var table strings.Builder
	for kept := uint64(0); kept+step <= s.LimitBytes; kept += step {
		factor := float64(fees.GrowthFactor(s, kept)) / fees.GrowthOne
		cells += float64(step) / entry * factor * (float64(p.API.NewEntryCells) + key)
		if done := kept/step + 1; done%steps == 0 {
			if n := done / steps; n == 1 || n == 4 || n == 8 || n == 12 || n == 15 {
				fmt.Fprintf(&table, "| %d/15 | %.1f | %.0fx | %.1f | %.0f |\n", n, float64(kept+step)/(1<<30),
					float64(fees.GrowthFactor(s, kept+step))/fees.GrowthOne, cells/perDay, cells*float64(p.MinBaseFee)/float64(chain.WeiPerCBY))
			}
		}
	}
	if days := cells / perDay; days < 30 {
		t.Errorf("the state is full after %.1f days", days)
	}
	b, err := os.ReadFile("../../docs/rent.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(b), table.String()) {
		t.Errorf("docs/rent.md has another table than\n%s", table.String())
	}
}
