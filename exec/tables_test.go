package exec

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/sdk"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// TestLimitTable: a limit that changes makes another chain, so it changes a file that
// somebody reads. New members of the machine's limits belong into the table.
func TestLimitTable(t *testing.T) { // ADR 79
	const file = "testdata/limits.txt"
	if os.Getenv("COWBOY_REWRITE") != "" {
		if err := os.WriteFile(file, []byte(LimitTable()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil || string(want) != LimitTable() {
		t.Errorf("the limits differ from %s (%v): if that is meant, COWBOY_REWRITE=1 go test ./exec -run TestLimitTable", file, err)
	}
	// Without heap, scratch and value bytes, which are parameters, a switch of tests and the price of an item of cbor2.
	fields := numbers(reflect.TypeFor[vm.Limits]()) + numbers(reflect.TypeFor[pvm.Limits]()) + numbers(reflect.TypeFor[sdk.Limits]()) - 4
	if rows := len(machineLimits()) + len(sdkLimits()) - len(sdk.FixedLimits()); rows != fields {
		t.Errorf("%d rows for %d limits of the machine", rows, fields)
	}
	seen := map[string]bool{}
	for _, l := range limits() {
		if name := strings.ToLower(l.name); seen[name] || l.value < 1 {
			t.Errorf("%s = %d stands twice or bounds nothing", l.name, l.value)
		}
		seen[l.name] = true
	}
}

// numbers counts the numbers in a struct.
func numbers(t reflect.Type) (n int) {
	for f := range t.Fields() {
		switch f.Type.Kind() {
		case reflect.Struct:
			n += numbers(f.Type)
		case reflect.Int, reflect.Int64:
			n++
		}
	}
	return n
}
