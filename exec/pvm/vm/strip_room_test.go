package vm

import (
	"runtime"
	"strings"
	"testing"
)

// TestStripTakesRoomForWhatDiffers: the set of characters takes memory as there are different
// ones, not as the text of them is long.
func TestStripTakesRoomForWhatDiffers(t *testing.T) {
	self := Value{ref: &(&Str{}).Object}
	self.ref.kind = KindStr
	chars := strings.Repeat("ab", 1<<20)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	announced := 0
	within := memberOf(self, chars, func(n int) { announced += n })
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 64<<10 {
		t.Errorf("a set of two characters took %d bytes", took)
	}
	if announced != 2*memberBytes {
		t.Errorf("a set of two characters announced %d bytes", announced)
	}
	if !within('a') || !within('b') || within('c') {
		t.Error("the set does not hold what it was made of")
	}
}
