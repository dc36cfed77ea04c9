package rlp

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"
)

// The examples of the yellow paper's appendix B and of the RLP page of the
// Ethereum wiki.
func TestAppend(t *testing.T) {
	f := func(name string, got []byte, want string) {
		t.Helper()
		if hex.EncodeToString(got) != want {
			t.Errorf("%s = %x, want %s", name, got, want)
		}
	}
	f("empty string", AppendString(nil, nil), "80")
	f("dog", AppendString(nil, []byte("dog")), "83646f67")
	f("byte 00", AppendString(nil, []byte{0}), "00")
	f("byte 7f", AppendString(nil, []byte{0x7f}), "7f")
	f("byte 80", AppendString(nil, []byte{0x80}), "8180")
	f("uint 0", AppendUint(nil, 0), "80")
	f("uint 15", AppendUint(nil, 15), "0f")
	f("uint 1024", AppendUint(nil, 1024), "820400")
	f("uint max", AppendUint(nil, 1<<64-1), "88ffffffffffffffff")
	f("55 bytes", AppendString(nil, bytes.Repeat([]byte("a"), 55)), "b7"+strings.Repeat("61", 55))
	f("56 bytes", AppendString(nil, bytes.Repeat([]byte("a"), 56)), "b838"+strings.Repeat("61", 56))
	f("1024 bytes", AppendString(nil, bytes.Repeat([]byte("a"), 1024)), "b90400"+strings.Repeat("61", 1024))
	f("empty list", AppendListHeader(nil, 0), "c0")
	f("long list", AppendListHeader(nil, 56), "f838")
}

func TestSplitRefuses(t *testing.T) {
	f := func(name, in string, want error) {
		t.Helper()
		b, _ := hex.DecodeString(in)
		if _, _, _, err := Split(b); !errors.Is(err, want) {
			t.Errorf("%s: Split(%s) = %v, want %v", name, in, err, want)
		}
	}
	f("nothing", "", ErrTruncated)
	f("payload missing", "83646f", ErrTruncated)
	f("length missing", "b9", ErrTruncated)
	f("length cut", "b904", ErrTruncated)
	f("list payload missing", "c1", ErrTruncated)
	f("single byte behind prefix", "8105", ErrNonCanonical)
	f("long form for short string", "b80161", ErrNonCanonical)
	f("long form for short list", "f801c0", ErrNonCanonical)
	f("zero-led length", "b90001"+"61", ErrNonCanonical)
	f("length above memory", "bfffffffffffffffff", ErrTruncated)
}

func TestTypedReaders(t *testing.T) {
	if _, _, err := SplitString([]byte{0xc0}); !errors.Is(err, ErrKind) {
		t.Errorf("string from a list: %v", err)
	}
	if _, err := List([]byte{0x80}); !errors.Is(err, ErrKind) {
		t.Errorf("list from a string: %v", err)
	}
	if _, err := List([]byte{0xc0, 0}); !errors.Is(err, ErrTrailing) {
		t.Errorf("list with a tail: %v", err)
	}
	if _, _, err := SplitUint([]byte{0x00}); !errors.Is(err, ErrNonCanonical) {
		t.Errorf("integer 0 as a byte: %v", err)
	}
	if _, _, err := SplitUint(append([]byte{0x89}, bytes.Repeat([]byte{1}, 9)...)); !errors.Is(err, ErrIntRange) {
		t.Errorf("integer of 9 bytes: %v", err)
	}
}

// FuzzSplit holds the reader to the writer: what is accepted is what an encoder
// would have written.
func FuzzSplit(f *testing.F) {
	for _, seed := range []string{"", "80", "83646f67", "c883636174836 46f67", "b838", "f90100", "bfffffffffffffffff"} {
		b, _ := hex.DecodeString(strings.ReplaceAll(seed, " ", ""))
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		payload, list, rest, err := Split(b)
		if err != nil {
			return
		}
		var again []byte
		if list {
			again = append(AppendListHeader(nil, len(payload)), payload...)
			if len(again) != ListLen(len(payload)) {
				t.Fatalf("ListLen(%d) = %d, wrote %d", len(payload), ListLen(len(payload)), len(again))
			}
		} else {
			again = AppendString(nil, payload)
			if len(again) != StringLen(payload) {
				t.Fatalf("StringLen = %d, wrote %d", StringLen(payload), len(again))
			}
		}
		if !bytes.Equal(append(again, rest...), b) {
			t.Fatalf("%x read as %x, written as %x", b, payload, again)
		}
	})
}
