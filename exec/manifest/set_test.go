package manifest

import "testing"

// TestSetParameters: of what takes lists of assets and contracts, nothing is
// inherited or attested today, so that no manifest compares them.
func TestSetParameters(t *testing.T) { // E13; entitlements §8.3
	for _, name := range []string{Assets, Contracts} {
		for _, c := range []struct {
			rule         string
			asked, wider []string
			want         bool
		}{
			{"all of it", []string{"a", "b"}, []string{"b", "a"}, true},
			{"a part", []string{"b"}, []string{"a", "b"}, true},
			{"nothing", nil, nil, true},
			{"one beyond", []string{"a", "c"}, []string{"a", "b"}, false},
			{"anything of a wildcard", []string{"a", "*"}, []string{"*"}, true},
			{"a wildcard of some", []string{"*"}, []string{"a"}, false},
		} {
			asked, wider := Param{Name: name, List: c.asked}, Param{Name: name, List: c.wider}
			if got := asked.within(&wider); got != c.want {
				t.Errorf("%s, %s: %v", name, c.rule, got)
			}
		}
	}
}
