package params_test

import (
	"math"
	"math/bits"
	"strconv"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

// counted is the most of anything that one charge counts: the bytes, or entries, of the
// largest storage that a bond can buy.
const counted = 1 << 40

// roomy are parameters under which prices may be as high as they ever may.
func roomy(t *testing.T) *params.Params {
	t.Helper()
	p := params.Default()
	p.CyclesCap, p.CyclesTarget, p.MaxTxCycles = 1<<30, 1<<29, 1<<29
	p.CellsCap, p.CellsTarget, p.MaxTxCells = 1<<24, 1<<23, 1<<23
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	return &p
}

// highest is the largest value that a number may be set to while the others stay.
func highest(t *testing.T, p *params.Params, path string) uint64 {
	t.Helper()
	now, err := p.At(path)
	if err != nil {
		t.Fatal(err)
	}
	may, err := strconv.ParseUint(string(now), 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	with := func(n uint64) bool {
		kept, err := params.Keep(params.Setting{Path: path, Value: strconv.AppendUint(nil, n, 10)})
		if err != nil {
			t.Fatal(err)
		}
		next, err := p.With(kept...)
		return err == nil && next.Check() == nil
	}
	if !with(may) {
		t.Fatalf("%s cannot stay at %d", path, may)
	}
	for end := uint64(math.MaxUint64); may < end; {
		half := may + (end-may+1)/2
		if with(half) {
			may = half
		} else {
			end = half - 1
		}
	}
	return may
}

// TestPricesTimesCountsFit: governance may set no price so high that the product with
// anything that a charge counts leaves 63 bits, where it would turn into a small one or a
// negative one.
func TestPricesTimesCountsFit(t *testing.T) {
	p := roomy(t)
	if n := highest(t, p, "actor_limits.storage_quota_bond_bytes"); n > counted {
		t.Errorf("a storage may have %d bytes, the prices reckon with %d", n, uint64(counted))
	}
	once := map[string]bool{ // charged once, or no price
		"api_costs.storage_read_bytes_per_cell": true, "api_costs.event_bytes_per_cell": true,
		"api_costs.manifest_bytes_per_cycle": true, "api_costs.code_free_bytes": true,
		"api_costs.event_short_bytes": true, "token_costs.hook_max_cycles": true,
	}
	for _, group := range []string{"api_costs", "token_costs", "intrinsic_costs"} {
		names, err := p.Members(group)
		if err != nil || len(names) < 9 {
			t.Fatalf("%s has %d prices, %v", group, len(names), err)
		}
		for _, name := range names {
			path := group + "." + name
			most := highest(t, p, path)
			times := uint64(counted)
			if once[path] || group == "intrinsic_costs" && name != "payload_byte_cells" {
				times = 1
			}
			if hi, lo := bits.Mul64(most, times); hi != 0 || lo > 1<<62 {
				t.Errorf("%s may be %d: times %d it leaves 62 bits", path, most, times)
			}
		}
	}
}

// TestSumsOfChargesFit computes each charge that adds up products, with every price at its
// highest and every count at the most that there can be, and wants what numbers without a
// bound give.
func TestSumsOfChargesFit(t *testing.T) {
	p := roomy(t)
	high := func(name string) uint64 { return highest(t, p, "api_costs."+name) }
	for _, charge := range []struct {
		name  string
		terms [][2]uint64 // price and count
	}{
		{"entries put in order and written (rent)", [][2]uint64{
			{high("storage_write_cycles"), 1}, {high("hash_cycles"), counted}, {high("storage_write_byte_cycles"), counted},
		}},
		{"the work of an instruction of runners", [][2]uint64{
			{high("storage_read_cycles"), 1 << 16},
			{high("storage_write_cycles"), 1 << 16},
			{high("storage_read_byte_cycles"), chain.MaxTxBytes},
			{high("storage_write_byte_cycles"), chain.MaxTxBytes},
			{high("manifest_byte_cycles"), chain.MaxTxBytes},
			{high("hash_byte_cycles"), 2 * chain.MaxTxBytes},
			{high("verify_signature_cycles"), 1},
			{high("hash_cycles"), 1},
		}},
		{"cells of new entries", [][2]uint64{{high("new_entry_cells"), counted}, {high("storage_write_byte_cells"), counted}}},
		{"an event", [][2]uint64{{high("emit_event_cycles"), chain.MaxEvents}, {high("emit_event_byte_cycles"), counted}}},
	} {
		sum := uint64(0)
		for _, term := range charge.terms {
			hi, lo := bits.Mul64(term[0], term[1])
			var carry uint64
			if sum, carry = bits.Add64(sum, lo, 0); hi != 0 || carry != 0 || sum > math.MaxInt64 {
				t.Errorf("%s: %d times %d leaves 63 bits", charge.name, term[0], term[1])
				break
			}
		}
	}
}
