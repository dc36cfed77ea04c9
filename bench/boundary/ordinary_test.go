package boundary

import "testing"

// TestPriceOfTheOrdinary holds what people do every day to what it cost before
// cycles followed time and cells followed bytes (resolution 14.12).
func TestPriceOfTheOrdinary(t *testing.T) {
	prices, err := Ordinary("../../sdk/python/examples")
	if err != nil {
		t.Fatal(err)
	}
	if len(prices) != len(before()) {
		t.Errorf("%d prices, want %d", len(prices), len(before()))
	}
	for i := range prices {
		p := &prices[i]
		t.Logf("%-32s cycles %8d was %8d, cells %6d was %6d %s", p.Name, p.Now.Cycles, p.Before.Cycles, p.Now.Cells, p.Before.Cells, p.Exempt)
		if !p.Holds() {
			t.Errorf("%s costs %+v, cost %+v", p.Name, p.Now, p.Before)
		}
	}
}
