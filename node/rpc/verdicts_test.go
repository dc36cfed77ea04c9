package rpc

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

// someVerdicts reads verdicts from the bytes of a fuzzer: a code of two bytes, the length of
// the message, the message.
func someVerdicts(data []byte) (list []Verdict) {
	for len(data) >= 3 && len(list) < 60 {
		v := Verdict{Hash: chain.TxHash(data), Code: Code(binary.BigEndian.Uint16(data))}
		n := min(int(data[2]), len(data)-3)
		if v.Code != CodeOK {
			v.Message = strings.Repeat(string(data[3:][:n]), 1+n%7)
		}
		list, data = append(list, v), data[3+n:]
	}
	return list
}

// plainReply is the JSON answer as encoding/json makes it of the documented shape.
func plainReply(t *testing.T, list []Verdict, hashes bool) []byte {
	reply := SubmitReply{Results: make([]SubmitResult, len(list))}
	for i := range list {
		reply.Results[i] = submitResult(&list[i])
		if !hashes {
			reply.Results[i].Hash = ""
		}
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(reply); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// FuzzVerdicts: the JSON answer is that of encoding/json, and the binary one says the same.
func FuzzVerdicts(f *testing.F) {
	f.Add([]byte{0, 0, 0}, true)
	f.Add([]byte("\x0f\xa4\x05known\x00\x00\x00\x0f\xa0\x09<\"\\\x00\xff\x7f\u2028>"), true)
	f.Add(append([]byte{0x13, 0x88, 0xff}, bytes.Repeat([]byte("é"), 128)...), false)
	f.Fuzz(func(t *testing.T, data []byte, hashes bool) {
		list := someVerdicts(data)
		text := appendVerdictsJSON(nil, list, hashes)
		if want := plainReply(t, list, hashes); !bytes.Equal(text, want) {
			t.Fatalf("JSON %s\nwant %s", text, want)
		}
		raw := AppendVerdicts(nil, list, hashes)
		back, has, err := DecodeVerdicts(nil, raw, len(list))
		if err != nil || has != hashes {
			t.Fatalf("decode %x: %v, hashes %t", raw, err, has)
		}
		if again := appendVerdictsJSON(nil, back, hashes); !bytes.Equal(again, text) {
			t.Fatalf("the binary answer says %s\nthe JSON answer %s", again, text)
		}
		for _, cut := range []int{len(raw) - 1, len(raw) / 2, 3} {
			if _, _, err := DecodeVerdicts(nil, raw[:cut], len(list)); !errors.Is(err, ErrVerdicts) {
				t.Fatalf("cut at %d of %d: %v", cut, len(raw), err)
			}
		}
	})
}

// FuzzDecodeVerdicts: what is accepted has one encoding.
func FuzzDecodeVerdicts(f *testing.F) {
	f.Add(AppendVerdicts(nil, []Verdict{{}, {Code: CodeTxKnown, Message: "known"}}, true))
	f.Add(AppendVerdicts(nil, []Verdict{{Code: CodeInternal}}, false))
	f.Add([]byte{1, 0, 0xff, 0xff})
	f.Fuzz(func(t *testing.T, raw []byte) {
		list, hashes, err := DecodeVerdicts(nil, raw, 1000)
		if err != nil {
			if !errors.As(err, new(*VerdictsError)) {
				t.Fatalf("error %v has no type", err)
			}
			return
		}
		if again := AppendVerdicts(nil, list, hashes); !bytes.Equal(again, raw) {
			t.Fatalf("%x is encoded as %x", raw, again)
		}
	})
}

func TestDecodeVerdictsRefuses(t *testing.T) {
	good := AppendVerdicts(nil, []Verdict{{}, {Code: CodeTxKnown, Message: "known"}}, false)
	long := AppendVerdicts(nil, []Verdict{{Code: CodeTxKnown}}, false)
	long = append(binary.BigEndian.AppendUint16(long[:len(long)-2], verdictMessageBytes+1), make([]byte, verdictMessageBytes+1)...)
	for name, raw := range map[string][]byte{
		"nothing":         {},
		"another version": append([]byte{2}, good[1:]...),
		"unknown flag":    slices.Concat(good[:1], []byte{2}, good[2:]),
		"too many":        AppendVerdicts(nil, make([]Verdict, 3), false),
		"too few":         slices.Concat(good[:3], []byte{1}, good[4:]),
		"a byte more":     append(slices.Clone(good), 0),
		"no UTF-8":        append(slices.Clone(good[:len(good)-1]), 0xff),
		"a long message":  long,
	} {
		if _, _, err := DecodeVerdicts(nil, raw, 2); !errors.Is(err, ErrVerdicts) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if list, _, err := DecodeVerdicts(nil, good, 2); err != nil || len(list) != 2 {
		t.Errorf("the good one: %v, %v", list, err)
	}
}

func TestMessagesAreBounded(t *testing.T) {
	v := Verdict{Code: CodeTxRejected, Message: strings.Repeat("é", verdictMessageBytes)}
	for _, lead := range []string{"", "x"} { // the cut falls between two runes, and into one
		v.Message = lead + v.Message
		if said := v.said(); len(said) > verdictMessageBytes || len(said) < verdictMessageBytes-1 || !strings.HasPrefix(v.Message, said) {
			t.Errorf("%d bytes of %d, %q at the end", len(said), len(v.Message), said[len(said)-3:])
		}
	}
}

func TestWantsVerdicts(t *testing.T) {
	for _, test := range []struct {
		accept []string
		want   bool
	}{
		{nil, false},
		{[]string{"*/*"}, false},
		{[]string{"application/*"}, false},
		{[]string{"application/json"}, false},
		{[]string{VerdictsMedia}, true},
		{[]string{strings.ToUpper(VerdictsMedia)}, true},
		{[]string{"text/html, " + VerdictsMedia + ";q=0.5, */*;q=0.1"}, true},
		{[]string{"application/json", VerdictsMedia}, true},
		{[]string{VerdictsMedia + "; v=1 ; Q=1"}, true},
		{[]string{VerdictsMedia + ";q=0"}, false},
		{[]string{VerdictsMedia + ";q=0.000"}, false},
		{[]string{VerdictsMedia + ";q=NaN"}, false},
		{[]string{VerdictsMedia + ";q=1e9"}, false},
		{[]string{VerdictsMedia + ";q="}, false},
		{[]string{VerdictsMedia + "s"}, false},
		{[]string{"x" + VerdictsMedia}, false},
		{[]string{strings.Repeat(",", 16<<10)}, false},
		{[]string{strings.Repeat("a/b,", 4<<10) + VerdictsMedia}, true},
	} {
		h := http.Header{}
		for _, line := range test.accept {
			h.Add("Accept", line)
		}
		if got := wantsVerdicts(h); got != test.want {
			t.Errorf("%.80q: %t", test.accept, got)
		}
	}
}
