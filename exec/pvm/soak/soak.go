// Package soak puts volume through fuzz targets: a target that is made with [New]
// is an ordinary one, until the environment asks for a soak. Then it calls its
// body in a plain loop, without the instruments that guide Go's fuzzer and cost it
// most of its speed, on inputs that a seed determines.
//
// In flow the inputs that a target adds, out flow calls of its body with mutated
// ones. COWBOY_SOAK is the number of inputs for a target, COWBOY_SOAK_SEED the
// seed (1 without it), COWBOY_SOAK_FROM the first input to call, for a find that
// comes late. A body that fails, panics, takes longer than [Hang] or leaves the
// process with more than [HeapMax] bytes is printed with its input and its number.
//
// # Invariants
//
//   - Input number i of a target is a function of the seed, i and what the target
//     added; a body runs alone.
//   - Without COWBOY_SOAK nothing differs from the target of package testing.
package soak

import (
	"fmt"
	"os"
	"reflect"
	"runtime/metrics"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// What one input may take.
const (
	Hang     = 60 * time.Second // on a busy machine, at the lowest priority
	HeapMax  = 1 << 30          // bytes in objects of the Go heap
	InputLen = 8 << 10          // bytes of one string
)

// F is a fuzz target.
type F struct {
	*testing.F
	words []string
	rows  [][]any
	plan  plan
	past  uint64
}

// plan is what the environment asks for; no count, no soak.
type plan struct {
	count, from, seed uint64
}

// New makes a target of f. words are what a mutation may put into a string
// beside what stands there: the words of the input's language.
func New(f *testing.F, words ...string) *F {
	f.Helper()
	return &F{F: f, words: words, plan: plan{number(f, "COWBOY_SOAK", 0), number(f, "COWBOY_SOAK_FROM", 0), number(f, "COWBOY_SOAK_SEED", 1)}}
}

func number(f *testing.F, name string, otherwise uint64) uint64 {
	text := os.Getenv(name)
	if text == "" {
		return otherwise
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		f.Fatalf("%s=%q is no number", name, text)
	}
	return n
}

// Soaking tells whether the environment asks for a soak: a target adds more
// inputs to it than it would to a test.
func (f *F) Soaking() bool { return f.plan.count > 0 }

// Past counts an input that came past the target's front: a body says so, and the
// soak reports how many did.
func (f *F) Past() { f.past++ }

// Add adds an input, as that of testing.F.
func (f *F) Add(args ...any) {
	f.Helper()
	if !f.Soaking() {
		f.F.Add(args...)
		return
	}
	f.rows = append(f.rows, args)
}

// Fuzz runs body as that of testing.F does, or the soak.
func (f *F) Fuzz(body any) {
	f.Helper()
	if !f.Soaking() {
		f.F.Fuzz(body)
		return
	}
	if len(f.rows) == 0 {
		f.Fatal("nothing to begin with")
	}
	f.F.Add(f.plan.seed)
	name := f.Name()
	f.F.Fuzz(func(t *testing.T, seed uint64) { f.run(t, name, seed, reflect.ValueOf(body)) })
}

// run calls body as often as planned.
func (f *F) run(t *testing.T, name string, seed uint64, body reflect.Value) {
	var at atomic.Uint64
	var input atomic.Pointer[[]any]
	shown := func() string {
		return fmt.Sprintf("soak %s: seed %d, input %d:\n%s", name, seed, at.Load(), corpusEntry(*input.Load()))
	}
	quit := make(chan struct{})
	go watch(&at, shown, quit)
	defer close(quit)
	ended := false
	defer func() {
		if !ended || t.Failed() {
			fmt.Fprintln(os.Stderr, shown())
		}
	}()
	began := time.Now()
	args := make([]reflect.Value, body.Type().NumIn())
	args[0] = reflect.ValueOf(t)
	for i := f.plan.from; i < f.plan.count && !t.Failed(); i++ {
		in := f.input(seed, i)
		input.Store(&in)
		at.Store(i)
		for k, v := range in {
			args[k+1] = reflect.ValueOf(v)
		}
		body.Call(args)
	}
	ended = true
	t.Logf("soak %s: %d inputs, %d past the front, seed %d, %.1f s", name, f.plan.count-f.plan.from, f.past, seed, time.Since(began).Seconds())
}

// watch ends the process at an input that takes too long or too much.
func watch(at *atomic.Uint64, shown func() string, quit chan struct{}) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	heap := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	last, since := at.Load(), time.Now()
	for {
		select {
		case <-quit:
			return
		case <-tick.C:
		}
		if now := at.Load(); now != last {
			last, since = now, time.Now()
		} else if time.Since(since) > Hang {
			panic("it hangs: " + shown())
		}
		if metrics.Read(heap); heap[0].Value.Uint64() > HeapMax {
			panic("too much memory: " + shown())
		}
	}
}

// corpusEntry writes an input as Go's fuzzer keeps it in testdata/fuzz.
func corpusEntry(in []any) string {
	var b strings.Builder
	b.WriteString("go test fuzz v1\n")
	for _, v := range in {
		switch v := v.(type) {
		case string:
			fmt.Fprintf(&b, "string(%q)\n", v)
		case []byte:
			fmt.Fprintf(&b, "[]byte(%q)\n", v)
		default:
			fmt.Fprintf(&b, "%T(%v)\n", v, v)
		}
	}
	return b.String()
}
