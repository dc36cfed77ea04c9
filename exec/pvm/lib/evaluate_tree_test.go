package lib

import (
	"runtime"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// TestTreesTakeWhatIsCounted: no text has a tree that takes more than what is counted for it.
func TestTreesTakeWhatIsCounted(t *testing.T) {
	for _, unit := range []string{
		"1,", "b,", "-1,", "[],", "b[b],", "b.b,", "b(),", "b<b,", "b|b,", "lambda:b,", "{},", "{b:b},", `"",`, `f"{b}",`,
		"b[:],", "b[:,:],", "*b,", "1.,", "(b:=b),", "[b for b in b],",
	} {
		text := "(" + strings.Repeat(unit, 8000/len(unit)) + ")"
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		mod, err := syntax.Parse([]byte(text), textLimits())
		if err != nil {
			t.Fatal(unit, err)
		}
		runtime.GC()
		runtime.ReadMemStats(&after)
		if kept := int(after.HeapAlloc) - int(before.HeapAlloc); kept > treeBytes*len(text)+8192 {
			t.Errorf("%s: %d bytes for a text of %d", unit, kept, len(text))
		}
		runtime.KeepAlive(mod)
	}
}
