package vm_test

import (
	"fmt"
	"testing"
)

// TestIdentityOfPlainValues: `is` refuses a str, int or float of the builtin class,
// whatever made it (resolution 11.48), and nothing else.
func TestIdentityOfPlainValues(t *testing.T) {
	rt := runtimeOf(t)
	for _, c := range []struct {
		expr string
		want string // "refused" is DeterminismError
	}{
		{"'a' is s", "refused"},
		{"s is str(s)", "refused"},
		{"s is not s", "refused"},
		{"n is n", "refused"},
		{"x is x", "refused"},
		{"n is object()", "refused"},
		{"[] is n", "refused"},
		{"n is True", "refused"},
		{"str(itself) is s", "False"},
		{"s is None", "False"},
		{"... is not n", "True"},
		{"True is (n == n)", "True"},
		{"itself is itself", "True"},
		{"str(itself) is itself", "True"},
		{"count is count", "True"},
		{"count is 3", "False"},
		{"int(count) is count", "False"},
		{"int(count) is 3", "refused"},
	} {
		src := fmt.Sprintf(`
class Itself(str):
    def __str__(self):
        return self
class Count(int):
    pass
s, n, x, itself, count = "abc" * 2, 300, 2.5, Itself("i"), Count(3)
try:
    print(%s)
except DeterminismError:
    print("refused")
`, c.expr)
		res, err := execute(t, rt, src, 1<<20)
		if got := string(res.Output); err != nil || got != c.want+"\n" {
			t.Errorf("%s: %q %v, want %s", c.expr, got, err, c.want)
		}
	}
}
