package lib

import "testing"

// TestLayoutsCountNoItemsBelowZero: items of no bytes behind the most items that there are
// do not wrap their number.
func TestLayoutsCountNoItemsBelowZero(t *testing.T) {
	for format, want := range map[string]int64{
		"=9223372036854775807b0s":   1<<63 - 1,
		"=9223372036854775807b0s0p": 1<<63 - 1,
		"=9223372036854775806b0s0p": 1<<63 - 1,
		"=9223372036854775807x0s0p": 2,
		"=3b0s2h":                   6,
	} {
		l, text := parseLayout(format)
		if text != "" || l.items != want {
			t.Errorf("%s: %s, %d items, want %d", format, text, l.items, want)
		}
	}
	if _, text := parseLayout("=9223372036854775807b1s"); text != "total struct size too long" {
		t.Errorf("%q", text)
	}
}
