package conformance

import (
	"bufio"
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sort"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/cpython"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

//go:embed extract.py
var extractor string

//go:embed standin.py
var standins string

//go:embed apart.py
var apart string

//go:embed run.py
var runner string

var (
	modules = flag.String("modules", "", "test modules to run, apart by commas; default: those of a short run")
	all     = flag.Bool("all", false, "run every area")
	update  = flag.Bool("update", false, "write docs/pvm-conformance.md")
	verbose = flag.Bool("failures", false, "print every method that fails")
)

// areas are the files of CPython's test package by what they test.
var areas = []struct {
	name  string
	files string
}{
	{"grammar", "test_grammar test_named_expressions test_patma test_positional_only_arg test_keywordonlyarg test_string_literals test_fstring test_augassign test_opcodes test_unary test_pow"},
	{"functions and scopes", "test_scope test_global test_decorators test_call test_funcattrs test_dictcomps test_listcomps test_setcomps"},
	{"classes", "test_class test_descr test_super test_property test_subclassinit test_genericclass test_binop"},
	{"exceptions", "test_exceptions test_raise test_except_star test_exception_group test_with test_baseexception"},
	{"generators and async", "test_generators test_generator_stop test_yield_from test_coroutines test_asyncgen test_iter test_enumerate"},
	{"types", "test_int test_long test_bool test_float test_unicode test_bytes test_format test_list test_tuple test_dict test_set test_range test_slice test_sort test_builtin test_compare test_richcmp test_hash test_userdict test_userlist test_userstring test_genericalias test_types test_int_literal test_contains test_index"},
	{"collections", "test_collections test_deque test_defaultdict test_ordered_dict"},
	{"dataclasses", "test_dataclasses"},
	{"enum", "test_enum"},
	{"functools", "test_functools"},
	{"itertools", "test_itertools"},
	{"json", "test_json.test_decode test_json.test_dump test_json.test_fail test_json.test_float test_json.test_pass1 test_json.test_pass2 test_json.test_pass3 test_json.test_recursion test_json.test_scanstring test_json.test_separators test_json.test_speedups test_json.test_unicode test_json.test_default test_json.test_indent test_json.test_enum test_json.test_encode_basestring_ascii"},
	{"re", "test_re"},
	{"struct", "test_struct"},
	{"math", "test_math"},
	{"decimal", "test_decimal"},
	{"typing", "test_typing"},
	{"abc", "test_abc"},
	{"hashlib", "test_hashlib"},
	{"base64", "test_base64"},
	{"hmac", "test_hmac"},
	{"operator", "test_operator"},
	{"string", "test_string"},
}

// short is what every run of the tests looks at.
const short = "test_grammar test_patma test_scope test_class test_super test_raise test_except_star test_generators test_list test_tuple test_range test_slice"

// script is one test class as extract.py prints it.
type script struct {
	Module  string         `json:"module"`
	Class   string         `json:"class"`
	Methods []string       `json:"methods"`
	Dropped map[string]int `json:"dropped"`
	Head    string         `json:"head"`
	seconds int            // that CPython may take, 20 where it is 0
}

func (s *script) tail(methods []string) string {
	return fmt.Sprintf("_run(%s, [%s])\n", s.Class, `"`+strings.Join(methods, `", "`)+`"`)
}

// tally counts the methods of one module.
type tally struct {
	passed, failed, refused, unfit int
	dropped                        map[string]int
	reasons                        map[string]int
	meant                          map[string][]string // methods by why they differ on purpose
	failures                       []string            // rows of the document
}

func TestCPythonsOwnTests(t *testing.T) {
	python := cpython.Path(t)
	names := strings.Fields(short)
	if *all {
		names = nil
		for _, a := range areas {
			names = append(names, strings.Fields(a.files)...)
		}
	}
	if *modules != "" {
		names = strings.Split(*modules, ",")
	}
	scripts := extract(t, python, names)
	expected := oracle(t, python, scripts)
	rt, err := pvm.NewRuntime([2]uint64{3, 5})
	if err != nil {
		t.Fatal(err)
	}
	engine := pvm.NewEngine(rt, pvm.NewLRU(0), pvm.DefaultLimits())
	tallies := map[string]*tally{}
	for i := range scripts {
		s := &scripts[i]
		c := tallies[s.Module]
		if c == nil {
			c = &tally{dropped: map[string]int{}, reasons: map[string]int{}, meant: map[string][]string{}}
			tallies[s.Module] = c
		}
		for why, n := range s.Dropped {
			c.dropped[why] += n
		}
		if len(s.Methods) > 0 {
			compare(t, engine, s, answers(expected[i]), c)
		}
	}
	report(t, names, tallies)
}

// extract runs the extractor.
func extract(t *testing.T, python string, names []string) []script {
	return asked[script](t, exec.Command(python, "-I", "-c", extractor, standins), strings.NewReader(strings.Join(names, "\n")+"\n"))
}

// asked runs a program of CPython's that answers each line with a line of JSON.
func asked[T any](t *testing.T, cmd *exec.Cmd, questions io.Reader) []T {
	t.Helper()
	var problem bytes.Buffer
	cmd.Stdin, cmd.Stderr = questions, &problem
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("CPython: %v\n%s", err, problem.Bytes())
	}
	var answers []T
	for sc := lines(out); sc.Scan(); {
		var a T
		if err := json.Unmarshal(sc.Bytes(), &a); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, a)
	}
	return answers
}

func lines(out []byte) *bufio.Scanner {
	sc := bufio.NewScanner(bytes.NewReader(out))
	sc.Buffer(nil, 64<<20)
	return sc
}

// askEach runs one of this package's programs, which answers each line of JSON with
// one.
func askEach[A, Q any](t *testing.T, python, program string, questions []Q) []A {
	t.Helper()
	var in bytes.Buffer
	for _, q := range questions {
		line, err := json.Marshal(q)
		if err != nil {
			t.Fatal(err)
		}
		in.Write(append(line, '\n'))
	}
	cmd := exec.Command(python, "-I", "-W", "ignore", "-c", apart+program)
	cmd.Env = append(os.Environ(), "PYTHONHASHSEED=0")
	got := asked[A](t, cmd, &in)
	if len(got) != len(questions) {
		t.Fatalf("CPython answered %d of %d questions", len(got), len(questions))
	}
	return got
}

// oracle returns what CPython prints for each script.
func oracle(t *testing.T, python string, scripts []script) []string {
	type question struct {
		Head    string `json:"head"`
		Tail    string `json:"tail"`
		Seconds int    `json:"seconds"`
	}
	questions := make([]question, len(scripts))
	for i := range scripts {
		questions[i] = question{Head: scripts[i].Head, Seconds: cmp.Or(scripts[i].seconds, 20)}
		if len(scripts[i].Methods) > 0 {
			questions[i].Tail = scripts[i].tail(scripts[i].Methods)
		}
	}
	return askEach[string](t, python, runner, questions)
}

// answers reads the lines "@method verdict".
func answers(output string) map[string]string {
	out := map[string]string{}
	for _, l := range strings.Split(output, "\n") {
		if rest, ok := strings.CutPrefix(l, "@"); ok {
			name, verdict, _ := strings.Cut(rest, " ")
			out[name] = verdict
		}
	}
	return out
}

const (
	scriptCycles = 2_000_000_000
	methodCycles = 300_000_000
)

// compare runs one script on the machine; a method at a time when the whole does
// not get to its end.
func compare(t *testing.T, engine *pvm.Engine, s *script, want map[string]string, c *tally) {
	got, why := ours(engine, s, s.Methods, scriptCycles)
	if why != "" && len(got) < len(s.Methods) {
		if !strings.HasPrefix(why, "compile: ") {
			for _, m := range s.Methods {
				one, reason := ours(engine, s, []string{m}, methodCycles)
				if v, ok := one[m]; ok {
					got[m] = v
				} else {
					got[m] = reason
				}
			}
		} else {
			for _, m := range s.Methods {
				got[m] = why
			}
		}
	}
	for _, m := range s.Methods {
		name := s.Module + "." + s.Class + "." + m
		why, onPurpose := meant(name, got[m])
		switch v := got[m]; {
		case want[m] != "ok":
			c.unfit++
			if *verbose {
				t.Logf("%s.%s.%s: unfit: %s", s.Module, s.Class, m, want[m])
			}
		case v == "ok":
			c.passed++
		case strings.Contains(v, "cannot be imported"):
			c.failed++
			c.reasons[v]++
		case strings.Contains(v, "DeterminismError") || strings.Contains(v, "forbidden"):
			c.refused++
			c.reasons[v]++
		case onPurpose:
			c.refused++
			c.meant[why] = append(c.meant[why], name)
		default:
			c.failed++
			c.failures = append(c.failures, fmt.Sprintf("| %s | %s |\n", name, strings.ReplaceAll(shortened(v), "|", `\|`)))
			if *verbose {
				t.Logf("%s.%s.%s: %s", s.Module, s.Class, m, v)
			}
		}
	}
}

// shortened is the beginning of a reason.
func shortened(reason string) string {
	if r := []rune(reason); len(r) > 120 {
		return string(r[:120]) + "…"
	}
	return reason
}

// ours returns the machine's answers, and why it did not come to the end.
func ours(engine *pvm.Engine, s *script, methods []string, cycles int64) (map[string]string, string) {
	program, err := engine.Program([]byte(s.Head+s.tail(methods)), "script.py")
	if err != nil {
		return map[string]string{}, "compile: " + err.Error()
	}
	res, err := engine.Run(program, cycles, nil)
	why := ""
	var abort *vm.Abort
	switch {
	case errors.As(err, &abort):
		why = "abort: " + abort.Error()
	case err != nil:
		why = err.Error()
	case res.Raised != nil:
		l := strings.Split(strings.TrimSpace(res.Traceback), "\n")
		why = "raised: " + l[len(l)-1]
	}
	return answers(string(res.Output)), why
}

// report prints the table, and keeps it when asked.
func report(t *testing.T, names []string, tallies map[string]*tally) {
	var b strings.Builder
	b.WriteString("| area | module | methods run | passed | failed | refused on purpose | unfit on CPython | left out |\n|---|---|---|---|---|---|---|---|\n")
	var sum tally
	left := 0
	for _, a := range areas {
		for _, f := range strings.Fields(a.files) {
			c := tallies[f]
			if c == nil {
				continue
			}
			n := 0
			for _, k := range c.dropped {
				n += k
			}
			fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %d | %d | %d |\n", a.name, f, c.passed+c.failed+c.refused, c.passed, c.failed, c.refused, c.unfit, n)
			sum.passed += c.passed
			sum.failed += c.failed
			sum.refused += c.refused
			sum.unfit += c.unfit
			left += n
		}
	}
	fmt.Fprintf(&b, "| **all** | | %d | %d | %d | %d | %d | %d |\n", sum.passed+sum.failed+sum.refused, sum.passed, sum.failed, sum.refused, sum.unfit, left)
	share := 0.0
	if n := sum.passed + sum.failed; n > 0 {
		share = 100 * float64(sum.passed) / float64(n)
	}
	if *verbose {
		for _, name := range names {
			if c := tallies[name]; c != nil {
				for why, n := range c.reasons {
					t.Logf("%s: refused %d: %s", name, n, why)
				}
			}
		}
	}
	t.Logf("\n%s%.1f %% of the methods that may pass do", b.String(), share)
	if *update {
		writeDocument(t, b.String(), share, names, tallies)
	}
	if floor := 90.0; share < floor {
		t.Errorf("%.1f %% pass, want at least %.0f", share, floor)
	}
}

// writeMeant lists the methods that differ on purpose, by reason.
func writeMeant(b *strings.Builder, names []string, tallies map[string]*tally) {
	b.WriteString("\n## Different on purpose\n\n| reason | methods |\n|---|---|\n")
	said := map[string]bool{}
	for _, d := range designs {
		if said[d.reason] {
			continue
		}
		said[d.reason] = true
		var methods []string
		for _, name := range names {
			if c := tallies[name]; c != nil {
				methods = append(methods, c.meant[d.reason]...)
			}
		}
		if len(methods) > 0 {
			fmt.Fprintf(b, "| %s | %s |\n", d.reason, strings.Join(methods, ", "))
		}
	}
}

// writeDocument generates docs/pvm-conformance.md.
func writeDocument(t *testing.T, table string, share float64, names []string, tallies map[string]*tally) {
	var b strings.Builder
	b.WriteString("# How the Python machine compares with CPython 3.11\n\nGenerated by `make pvm-oracle`; do not edit.\n\n" +
		"CPython's own tests, cut at test time into scripts that need nothing but the library. \"Refused on purpose\"\n" +
		"are methods that end in DeterminismError or differ for a reason below; \"unfit\" ones do not pass on CPython after the cutting either;\n" +
		"\"left out\" ones name something that no actor has, by reason below.\n\n")
	b.WriteString(table)
	fmt.Fprintf(&b, "\n%.1f %% of the methods that were run and not refused pass.\n", share)
	writeMeant(&b, names, tallies)
	b.WriteString("\n## Left out\n\n| reason | methods |\n|---|---|\n")
	reasons := map[string]int{}
	for _, c := range tallies {
		for why, n := range c.dropped {
			reasons[why] += n
		}
	}
	var keys []string
	for why := range reasons {
		keys = append(keys, why)
	}
	sort.Slice(keys, func(i, j int) bool {
		if reasons[keys[i]] != reasons[keys[j]] {
			return reasons[keys[i]] > reasons[keys[j]]
		}
		return keys[i] < keys[j]
	})
	for _, why := range keys {
		fmt.Fprintf(&b, "| %s | %d |\n", strings.ReplaceAll(why, "|", `\|`), reasons[why])
	}
	b.WriteString("\n## Failing\n\nA line is a deviation that stays or one that is still to be closed; none is left out.\n\n| method | what it said |\n|---|---|\n")
	for _, name := range names {
		if c := tallies[name]; c != nil {
			b.WriteString(strings.Join(c.failures, ""))
		}
	}
	if err := os.WriteFile("../../../docs/pvm-conformance.md", []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
