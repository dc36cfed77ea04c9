package pvm_test

import (
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/pvm/sdk"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// Marks of objects in package vm: what machines keep, and what runtimes share.
const (
	markKept   = 254
	markFrozen = 255
)

// neutral are fields that hold caches, which change nothing that a call sees, and
// code.
var neutral = map[string][]string{
	"Class":     {"special", "borrows", "found", "foundAt", "filled", "ways", "ready", "fields"},
	"Str":       {"hash", "nfc", "other"},
	"Function":  {"unit"},
	"hashTable": {"version"},
	"hashEntry": {"hash"},
	"abcState":  {"noAt"},
}

// rooms are slices whose capacity counts as memory.
var rooms = map[string]string{"List": "items", "hashTable": "entries"}

// walker prints the objects that a machine keeps, pointers by the order in which
// they are met.
type walker struct {
	t   *testing.T
	out io.Writer
	met map[place]int
}

// place is a pointer; that to an object's header is that to the object as well.
type place struct {
	at   uintptr
	kind reflect.Type
}

func (w *walker) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			fmt.Fprint(w.out, "nil ")
			return
		}
		id, again := w.met[place{v.Pointer(), v.Type()}]
		if !again {
			id = len(w.met)
			w.met[place{v.Pointer(), v.Type()}] = id
		}
		fmt.Fprintf(w.out, "*%d ", id)
		if !again {
			w.walk(v.Elem())
		}
	case reflect.Interface:
		if !v.IsNil() {
			fmt.Fprint(w.out, v.Elem().Type(), " ")
			w.walk(v.Elem())
		}
	case reflect.Struct:
		w.structure(v)
	case reflect.Slice, reflect.Array:
		fmt.Fprintf(w.out, "[%d ", v.Len())
		for i := range v.Len() {
			w.walk(v.Index(i))
		}
	case reflect.Map:
		w.table(v)
	case reflect.Func, reflect.Chan, reflect.UnsafePointer:
		fmt.Fprint(w.out, v.IsNil(), " ")
	case reflect.String:
		fmt.Fprintf(w.out, "%q ", v.String())
	case reflect.Bool:
		fmt.Fprint(w.out, v.Bool(), " ")
	default:
		if v.CanInt() {
			fmt.Fprint(w.out, v.Int(), " ")
		} else {
			fmt.Fprint(w.out, v.Uint(), " ")
		}
	}
}

func (w *walker) structure(v reflect.Value) {
	name := v.Type().Name()
	if name == "unit" || v.Type().String() == "code.Object" {
		return
	}
	if name == "Object" && !v.FieldByName("self").IsNil() {
		mark := v.FieldByName("mark").Uint()
		if mark == markFrozen {
			return
		}
		if mark != markKept {
			w.t.Errorf("a %v is held by the library, but not kept: mark %d", v.FieldByName("self").Elem().Type(), mark)
		}
	}
	if o := v.FieldByName("Object"); o.IsValid() && o.FieldByName("mark").Uint() == markFrozen {
		return
	}
	for i := range v.NumField() {
		if field := v.Type().Field(i).Name; !slices.Contains(neutral[name], field) {
			fmt.Fprint(w.out, field, ":")
			if rooms[name] == field { // what a program that adds to it pays next
				fmt.Fprint(w.out, v.Field(i).Cap(), " ")
			}
			w.walk(v.Field(i))
		}
	}
}

// table prints maps with strings as keys; of the others only the size.
func (w *walker) table(v reflect.Value) {
	fmt.Fprintf(w.out, "{%d ", v.Len())
	if v.Type().Key().Kind() != reflect.String {
		return
	}
	byName := make(map[string]reflect.Value, v.Len())
	for _, k := range v.MapKeys() {
		byName[k.String()] = v.MapIndex(k)
	}
	for _, k := range slices.Sorted(maps.Keys(byName)) {
		fmt.Fprintf(w.out, "%q:", k)
		w.walk(byName[k])
	}
}

// fingerprint is a hash of all that a machine keeps between calls.
func fingerprint(t *testing.T, m *vm.Machine) string {
	t.Helper()
	h := fnv.New64a()
	w := &walker{t, h, make(map[place]int)}
	w.walk(reflect.ValueOf(m).Elem().FieldByName("kept"))
	if len(w.met) < 5000 {
		t.Fatalf("the machine keeps %d objects only", len(w.met))
	}
	return fmt.Sprintf("%016x of %d", h.Sum64(), len(w.met))
}

const keptCycles = 20_000_000

// keptBench runs scripts on one machine.
type keptBench struct {
	t       *testing.T
	machine *vm.Machine
}

func newKeptBench(t *testing.T, rt *vm.Runtime) keptBench { return keptBench{t, rt.NewMachine()} }

// run answers all that is visible of a run. A program that ends in an abort is
// as good as any.
func (b keptBench) run(src string, cycles int64) string {
	b.t.Helper()
	p, err := pvm.Compile([]byte(src), "kept.py", pvm.DefaultLimits())
	if err != nil {
		b.t.Fatal(err)
	}
	b.machine.Host = sdk.NewSession(host.NewRecorder(), host.DefaultCosts(), sdk.DefaultLimits())
	res, err := b.machine.Execute(p.Code, cycles)
	text := fmt.Sprintf("%s\n%s\n%v %d %d", res.Output, res.Traceback, err, res.Cycles, res.HeapPeak)
	b.machine.Reset()
	return text
}

func keptScript(t *testing.T, name string) string {
	t.Helper()
	src, err := os.ReadFile("testdata/kept/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(src)
}

// alterPart is the script that alters, for one part of what it finds.
func alterPart(t *testing.T, part, of int) string {
	t.Helper()
	return strings.Replace(keptScript(t, "alter.py"), "PART, OF = 0, 1", fmt.Sprintf("PART, OF = %d, %d", part, of), 1)
}

func keptRuntime(t *testing.T) *vm.Runtime {
	t.Helper()
	cfg, err := pvm.RuntimeConfig([2]uint64{5, 6})
	if err != nil {
		t.Fatal(err)
	}
	cfg.Limits.HeapBytes = 1 << 26
	rt, err := vm.NewRuntime(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return rt
}

// TestKeptIsTakenBack holds what a machine keeps of the library to its state
// before any call, whatever calls did to it, and the next call to what it does on
// a machine of its own.
func TestKeptIsTakenBack(t *testing.T) {
	rt := keptRuntime(t)
	look, alter := keptScript(t, "look.py"), alterPart(t, 0, 1)
	fresh := newKeptBench(t, rt)
	want := fresh.run(look, keptCycles)
	state := fingerprint(t, fresh.machine)
	used := newKeptBench(t, rt)
	used.run("import abc", keptCycles)
	if got := fingerprint(t, used.machine); got != state {
		t.Fatalf("two machines keep different things: %s and %s", got, state)
	}
	for part := range 2 {
		if got := used.run(alterPart(t, part, 40), 200_000_000); !strings.HasPrefix(got, "True True") {
			t.Fatalf("altering ended early: %s", got)
		}
	}
	for _, cycles := range []int64{1_000_000, 9_000_000} { // and where it is cut off
		used.run(alter, cycles)
	}
	if got := fingerprint(t, used.machine); got != state {
		t.Errorf("calls changed what the machine keeps: %s, fresh %s", got, state)
	}
	for range 2 {
		if got := used.run(look, keptCycles); got != want {
			t.Errorf("after calls that altered the library:\n%s\nwant\n%s", got, want)
		}
	}
	if a, b := used.run(alter, keptCycles), newKeptBench(t, rt).run(alter, keptCycles); a != b {
		t.Errorf("altering runs otherwise on a used machine:\n%s\nfresh\n%s", a, b)
	}
}

// TestCorpusLeavesTheLibrary is the same for the whole corpus.
func TestCorpusLeavesTheLibrary(t *testing.T) {
	rt := keptRuntime(t)
	fresh, used := newKeptBench(t, rt), newKeptBench(t, rt)
	fresh.run("import abc", keptCycles)
	used.run("import abc", keptCycles)
	want := fingerprint(t, fresh.machine)
	for _, p := range goldenCorpus(t) {
		if _, err := pvm.Compile([]byte(p.source), "kept.py", pvm.DefaultLimits()); err == nil {
			used.run(p.source, goldenCycles)
		}
	}
	if got := fingerprint(t, used.machine); got != want {
		t.Errorf("the corpus changed what the machine keeps: %s, fresh %s", got, want)
	}
}

// TestMachinesShareNoLibrary runs one machine that alters and one that looks at
// the same time.
func TestMachinesShareNoLibrary(t *testing.T) {
	rt := keptRuntime(t)
	look, alter := keptScript(t, "look.py"), keptScript(t, "alter.py")
	want := newKeptBench(t, rt).run(look, keptCycles)
	var wg sync.WaitGroup
	a, b := newKeptBench(t, rt), newKeptBench(t, rt)
	wg.Go(func() { a.run(alter, keptCycles) })
	for range 3 {
		if got := b.run(look, keptCycles); got != want {
			t.Errorf("beside a machine that alters the library:\n%s\nwant\n%s", got, want)
		}
	}
	wg.Wait()
}

// TestImportsCostTheSame charges a first and a later import alike, in whatever
// order modules come, and those within a module once.
func TestImportsCostTheSame(t *testing.T) {
	rt := keptRuntime(t)
	used := newKeptBench(t, rt)
	for _, src := range []string{
		"import typing", "import enum, typing, dataclasses, functools, abc", "import collections.abc", "import cowboy_sdk",
		"import cowboy_sdk\nprint(hasattr(cowboy_sdk, 'continuation'))\nimport cowboy_sdk.continuation\nprint(cowboy_sdk.continuation.__name__)",
		"from cowboy_sdk import continuation", "import collections\ncollections.ChainMap", "import typing\ntyping.Mapping", "from enum import *", "import json, re, decimal",
	} {
		want := newKeptBench(t, rt).run(src, keptCycles)
		for range 2 {
			if got := used.run(src, keptCycles); got != want {
				t.Errorf("%s: %s, fresh %s", src, got, want)
			}
		}
	}
}
