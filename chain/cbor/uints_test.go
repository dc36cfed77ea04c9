package cbor

import (
	"errors"
	"math"
	"slices"
	"testing"
)

func TestUints(t *testing.T) {
	want := []uint64{0, 23, 24, math.MaxUint64}
	data := AppendUints(nil, want...)
	got := make([]uint64, len(want))
	if err := DecodeUints(data, got); err != nil || !slices.Equal(got, want) {
		t.Fatalf("%v, %v, want %v", got, err, want)
	}
	for _, tt := range []struct {
		name string
		data []byte
		want error
	}{
		{"one too few", AppendUints(nil, want[:3]...), ErrWrongLength},
		{"one too many", AppendUints(nil, append(want, 1)...), ErrWrongLength},
		{"a number alone", AppendUint(nil, 4), ErrWrongType},
		{"a text among them", AppendText(AppendUint(AppendUint(AppendUint(AppendArray(nil, 4), 1), 2), 3), "4"), ErrWrongType},
		{"something behind", append(slices.Clone(data), 0), ErrTrailing},
		{"cut", data[:len(data)-1], ErrTruncated},
	} {
		if err := DecodeUints(tt.data, got); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
}

func TestUint(t *testing.T) {
	for _, v := range []uint64{0, 24, math.MaxUint64} {
		if got, err := DecodeUint(AppendUint(nil, v)); err != nil || got != v {
			t.Errorf("%d, %v, want %d", got, err, v)
		}
	}
	if _, err := DecodeUint([]byte{1, 1}); !errors.Is(err, ErrTrailing) {
		t.Errorf("two numbers: %v", err)
	}
	if _, err := DecodeUint(AppendNull(nil)); !errors.Is(err, ErrWrongType) {
		t.Errorf("null: %v", err)
	}
}
