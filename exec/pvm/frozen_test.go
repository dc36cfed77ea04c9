package pvm_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// TestNothingSharedIsMeasured walks through all that an idle machine and the runtime behind
// it hold: each object is frozen or kept. One that is not is paid for by the first program
// that meets it and by none after it, and what one machine writes to it another reads:
// receipts follow what a process did before. The function behind class statements was one.
func TestNothingSharedIsMeasured(t *testing.T) {
	e := newEngine(t, [2]uint64{1, 2}, 0)
	if err := e.With(nil, func(m *vm.Machine) error {
		w := walk{t: t, seen: map[place]bool{}}
		w.value(reflect.ValueOf(m).Elem(), "machine")
		if w.objects < 1500 {
			t.Errorf("%d objects were met, want those of the library", w.objects)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

// walk goes through all that can be reached by Go's types; what closures hold it cannot see.
type walk struct {
	t       *testing.T
	seen    map[place]bool
	objects int
}

func (w *walk) value(v reflect.Value, path string) {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || w.seen[place{v.Pointer(), v.Type()}] {
			return
		}
		w.seen[place{v.Pointer(), v.Type()}] = true
		w.value(v.Elem(), path)
	case reflect.Interface:
		if !v.IsNil() {
			w.value(v.Elem(), path)
		}
	case reflect.Struct:
		w.object(v, path)
		for i := range v.NumField() {
			w.value(v.Field(i), path+"."+v.Type().Field(i).Name)
		}
	case reflect.Slice:
		for i := range v.Len() {
			w.value(v.Index(i), path+"[]")
		}
	case reflect.Array:
		for i := range v.Len() {
			w.value(v.Index(i), path+"[]")
		}
	case reflect.Map:
		for k, of := range v.Seq2() {
			w.value(k, path+"{}")
			w.value(of, fmt.Sprintf("%s{%v}", path, k))
		}
	}
}

// object holds the header of a Python object to its mark.
func (w *walk) object(v reflect.Value, path string) {
	if v.Type() != reflect.TypeFor[vm.Object]() || v.FieldByName("self").IsNil() {
		return
	}
	w.objects++
	if mark := v.FieldByName("mark").Uint(); mark < markKept {
		w.t.Errorf("%s: a %v has mark %d", path[max(0, len(path)-300):], v.FieldByName("self").Elem().Type(), mark)
	}
}
