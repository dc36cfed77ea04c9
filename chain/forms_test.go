package chain

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"

	own "github.com/cowboy-foundation/cowboy/chain/cbor"
)

// form is an object of the market with an encoding of its own, as the tests see it.
type form struct {
	name   string
	most   int                           // bytes that its decoder looks at
	decode func([]byte) (encoder, error) // and nothing else
	keys   []string                      // names of the keys, from 0
	free   string                        // key that may be left out
	sample encoder                       // with something in every field
	plain  any                           // the sample as maps and lists, written from the texts
	hash   func(encoder) (string, Hash)  // a hash over it that the protocol knows, or nil
}

type encoder interface{ Encode() []byte }

// decodes is the decoder of a form without its type.
func decodes[T encoder](decode func([]byte) (T, error)) func([]byte) (encoder, error) {
	return func(b []byte) (encoder, error) {
		x, err := decode(b)
		if err != nil {
			return nil, err // not a nil pointer in an interface
		}
		return x, nil
	}
}

// otherEncoder is fxamacker/cbor, which sorts keys by their encoding and chooses the
// shortest heads by itself: it shares nothing with codecgen.
func otherEncoder(t testing.TB) cbor.EncMode {
	t.Helper()
	mode, err := cbor.EncOptions{Sort: cbor.SortBytewiseLexical, ShortestFloat: cbor.ShortestFloatNone}.EncMode()
	if err != nil {
		t.Fatal(err)
	}
	return mode
}

// TestTwoEncodersAgree encodes each form a second time, from maps and lists that were
// written from the texts, and pins bytes and hashes (CIP-11 §12.6).
func TestTwoEncodersAgree(t *testing.T) {
	mode := otherEncoder(t)
	var pins strings.Builder
	for _, f := range forms() {
		want, err := mode.Marshal(f.plain)
		if err != nil {
			t.Fatal(err)
		}
		got := f.sample.Encode()
		if !bytes.Equal(got, want) {
			t.Errorf("%s encodes as\n%x, the other encoder as\n%x", f.name, got, want)
		}
		fmt.Fprintf(&pins, "%s %x\n", f.name, got)
		if f.hash != nil {
			name, h := f.hash(f.sample)
			fmt.Fprintf(&pins, "%s %x\n", name, h[:])
		}
	}
	checkPins(t, "testdata/vectors/market.txt", pins.String())
}

// TestKeysAreInThePage: docs/transactions.md has each object's keys as they are.
func TestKeysAreInThePage(t *testing.T) {
	page, err := os.ReadFile("../docs/transactions.md")
	if err != nil {
		t.Fatal(err)
	}
	plain := strings.ReplaceAll(string(page), "?", "") // what may be null
	for _, f := range forms() {
		if f.free != "" { // text keys
			continue
		}
		var keys []string
		for i, name := range f.keys {
			keys = append(keys, fmt.Sprintf("%d %s", i, name))
		}
		if want := strings.Join(keys, ", "); !strings.Contains(plain, want) {
			t.Errorf("%s: the page lacks %s", f.name, want)
		}
	}
}

// checkPins compares lines of a name and bytes to those of a golden file. A changed line
// is a hard fork.
func checkPins(t *testing.T, golden, got string) {
	t.Helper()
	if *approve {
		if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	gotLines, wantLines := strings.Split(got, "\n"), strings.Split(string(want), "\n")
	if len(gotLines) != len(wantLines) {
		t.Errorf("%d vectors, the file has %d", len(gotLines), len(wantLines))
	}
	for i := range min(len(gotLines), len(wantLines)) {
		if gotLines[i] != wantLines[i] {
			t.Errorf("now    %s\nfrozen %s", gotLines[i], wantLines[i])
		}
	}
}

// pairs takes a map apart.
func pairs(t testing.TB, encoded []byte) (list [][2][]byte) {
	t.Helper()
	r := own.NewReader(encoded)
	n, err := r.Map(1 << 10)
	for range n {
		var p [2][]byte
		for i := range p {
			if err == nil {
				p[i], err = r.Raw(own.DefaultLimits())
			}
		}
		list = append(list, p)
	}
	if err == nil {
		err = r.End()
	}
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// joined is a map of pairs in the order in which they are given.
func joined(list [][2][]byte) []byte {
	out := own.AppendMap(nil, len(list))
	for _, p := range list {
		out = append(append(out, p[0]...), p[1]...)
	}
	return out
}

// TestOneFormOnly breaks each rule on how an object's map is written, for each of its
// keys, and reads which field the error names.
func TestOneFormOnly(t *testing.T) {
	for _, f := range forms() {
		t.Run(f.name, func(t *testing.T) {
			good := f.sample.Encode()
			list := pairs(t, good)
			if len(list) != len(f.keys) {
				t.Fatalf("%d keys, want %d", len(list), len(f.keys))
			}
			if !bytes.Equal(joined(list), good) {
				t.Fatal("the test does not put together what it took apart")
			}
			refused := func(rule string, encoded []byte, field string, want error) {
				t.Helper()
				_, err := f.decode(encoded)
				var named *FieldError
				if !errors.As(err, &named) || named.Object == "" || named.Field != field || !errors.Is(err, want) {
					t.Errorf("%s: %v, want field %q: %v", rule, err, field, want)
				}
			}
			changed := func(change func(l [][2][]byte) [][2][]byte) []byte { return joined(change(slices.Clone(list))) }
			for i, key := range f.keys {
				if key != f.free {
					refused("without "+key, changed(func(l [][2][]byte) [][2][]byte { return slices.Delete(l, i, i+1) }), key, own.ErrMissingKey)
				}
				refused(key+" as a longer integer or text", changed(func(l [][2][]byte) [][2][]byte {
					l[i][0] = longer(l[i][0])
					return l
				}), key, own.ErrNotShortest)
				if i+1 == len(f.keys) {
					continue
				}
				refused(key+" after its successor", changed(func(l [][2][]byte) [][2][]byte {
					l[i], l[i+1] = l[i+1], l[i]
					return l
				}), key, own.ErrMissingKey)
			}
			if last := list[len(list)-1]; last[0][0]>>5 == 0 { // integer keys
				for i := 1; i < len(list); i++ {
					refused("twice "+f.keys[i-1], changed(func(l [][2][]byte) [][2][]byte { return slices.Insert(l, i, l[i-1]) }), f.keys[i], own.ErrDuplicateKey)
				}
			}
			refused("one key more", changed(func(l [][2][]byte) [][2][]byte {
				return append(l, [2][]byte{own.AppendText(nil, strings.Repeat("z", 20)), own.AppendNull(nil)})
			}), "", own.ErrUnknownKey)
			refused("indefinite", append(append([]byte{0xbf}, good[1:]...), 0xff), "", own.ErrIndefinite)
			refused("a longer count", longer(good), "", own.ErrNotShortest)
			for cut := range good {
				var named *FieldError
				if _, err := f.decode(good[:cut]); !errors.As(err, &named) {
					t.Fatalf("%x, cut after %d bytes: %v", good, cut, err)
				}
			}
			refused("a list", []byte{0x80}, "", own.ErrWrongType)
			refused("nothing", nil, "", own.ErrTruncated)
			refused("a byte after it", append(slices.Clone(good), 0), "", own.ErrTrailing)
			refused("too long", make([]byte, f.most+1), "", own.ErrTooLong)
		})
	}
}

// longer returns an item of less than 24 in its head with a head of two bytes.
func longer(item []byte) []byte {
	return append([]byte{item[0]&0xe0 | 24, item[0] & 0x1f}, item[1:]...)
}

// refusal is the nearest valid object to a rule, and the smallest that breaks it.
type refusal[T any] struct {
	name  string
	valid func(*T)
	wrong func(*T)
	field string // of the last object in the chain of errors
	err   error  // nil: a [*RangeError]
}

// checkRefusals changes a fresh object by each.
func checkRefusals[T any](t *testing.T, fresh func() *T, decode func([]byte) (*T, error), list []refusal[T]) {
	for _, c := range list {
		t.Run(c.name, func(t *testing.T) {
			x := fresh()
			c.valid(x)
			b := any(x).(encoder).Encode()
			got, err := decode(b)
			if err != nil {
				t.Errorf("the nearest valid: %v", err)
			} else if !bytes.Equal(any(got).(encoder).Encode(), b) {
				t.Error("the nearest valid encodes differently again")
			}
			x = fresh()
			c.wrong(x)
			_, err = decode(any(x).(encoder).Encode())
			var named *FieldError
			for e := err; errors.As(e, &named); e = named.Err {
			}
			if named == nil || named.Field != c.field {
				t.Fatalf("error %v, want one of field %s", err, c.field)
			}
			var outside *RangeError
			if c.err == nil && !errors.As(err, &outside) || c.err != nil && !errors.Is(err, c.err) {
				t.Errorf("error %v, want %v", err, c.err)
			}
		})
	}
}

// refusedAs reads an error down to the object and the field that broke a rule. No object:
// there was no error; no rule: a [*RangeError].
func refusedAs(t *testing.T, rule string, err error, object, field string, want error) {
	t.Helper()
	var named *FieldError
	for e := err; errors.As(e, &named); e = named.Err {
	}
	if named == nil || object == "" {
		if err != nil || object != "" {
			t.Errorf("%s: %v, want one of %s.%s", rule, err, object, field)
		}
		return
	}
	var outside *RangeError
	fits := want == nil && errors.As(err, &outside) || want != nil && errors.Is(err, want)
	if named.Object != object || named.Field != field || !fits {
		t.Errorf("%s: %v, want %s.%s: %v", rule, err, object, field, want)
	}
}

// fuzzForm holds a decoder to encode(decode(b)) = b.
func fuzzForm(f *testing.F, name string) {
	all := forms()
	i := slices.IndexFunc(all, func(g form) bool { return g.name == name })
	f.Add(all[i].sample.Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		x, err := all[i].decode(b)
		if err != nil {
			var named *FieldError
			if !errors.As(err, &named) {
				t.Fatalf("%v names no field", err)
			}
			return
		}
		if again := x.Encode(); !bytes.Equal(again, b) {
			t.Fatalf("%x encodes again as %x", b, again)
		}
	})
}
