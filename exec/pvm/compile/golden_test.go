package compile

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden compares the code of small programs with what it was: any change is
// a change of cycles, and so of consensus.
func TestGolden(t *testing.T) {
	programs, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, p := range programs {
		if !strings.HasSuffix(p.Name(), ".py") {
			continue
		}
		seen++
		src, err := os.ReadFile("testdata/" + p.Name())
		if err != nil {
			t.Fatal(err)
		}
		o, err := Source(src, p.Name(), DefaultLimits())
		if err != nil {
			t.Errorf("%s: %v", p.Name(), err)
			continue
		}
		if err := code.Verify(o); err != nil {
			t.Errorf("%s: %v", p.Name(), err)
		}
		got := code.Disassemble(o)
		golden := "testdata/" + strings.TrimSuffix(p.Name(), ".py") + ".txt"
		if *update {
			if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if got != string(want) {
			t.Errorf("%s: code changed (-args -update writes it anew):\n%s", p.Name(), got)
		}
	}
	if seen == 0 {
		t.Error("no programs")
	}
}
