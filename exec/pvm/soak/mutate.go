package soak

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"unicode/utf8"
)

// input makes input number i: a row of the target, each part of it mutated or
// left, or made of two rows.
func (f *F) input(seed, i uint64) []any {
	r := &mutator{rand.New(rand.NewPCG(seed, i)), f.words}
	row, other := f.rows[r.IntN(len(f.rows))], f.rows[r.IntN(len(f.rows))]
	out := make([]any, len(row))
	for k, v := range row {
		if len(row) > 1 && r.IntN(4) == 0 {
			out[k] = other[k]
			continue
		}
		out[k] = r.value(v, other[k])
	}
	return out
}

// mutator changes values.
type mutator struct {
	*rand.Rand
	words []string
}

var notable = []uint64{0, 1, 2, 7, 8, 9, 10, 16, 31, 32, 63, 64, 100, 127, 128, 255, 256, 1000, 1 << 15, 1<<16 - 1, 1 << 31, 1<<32 - 1, 1<<63 - 1, 1 << 63, 1<<64 - 1, 0x3ff0000000000000, 0x7ff0000000000000, 0x7ff8000000000000, 0x7fefffffffffffff, 0x8000000000000001, 0x0010000000000000}

func (r *mutator) value(v, other any) any {
	switch v := v.(type) {
	case string:
		return r.text(v, other.(string))
	case []byte:
		return []byte(r.text(string(v), string(other.([]byte))))
	case bool:
		return r.IntN(2) == 0
	case int:
		return int(r.word(uint64(v)))
	case int64:
		return int64(r.word(uint64(v)))
	case uint64:
		return r.word(v)
	case uint32:
		return uint32(r.word(uint64(v)))
	case byte:
		return byte(r.word(uint64(v)))
	}
	panic(fmt.Sprintf("no mutation of a %T", v))
}

func (r *mutator) word(n uint64) uint64 {
	switch r.IntN(6) {
	case 0:
		return r.Uint64()
	case 1:
		return notable[r.IntN(len(notable))]
	case 2:
		return n ^ 1<<r.IntN(64)
	case 3:
		return n + uint64(r.IntN(33)) - 16
	case 4:
		return r.Uint64() >> r.IntN(64)
	}
	return -n
}

// text changes a text in a few places: mostly few, now and then many.
func (r *mutator) text(s, other string) string {
	s, other = r.window(s), r.window(other)
	n := 1
	if r.IntN(2) == 0 {
		n = 1 << r.IntN(5)
	}
	for ; n > 0; n-- {
		switch r.IntN(6) {
		case 0:
			s = r.bytes(s, other)
		case 1:
			s = r.vocabulary(s)
		case 2, 3, 4:
			s = r.alike(s, other)
		default:
			s = r.lines(s, other)
		}
		if len(s) > InputLen {
			s = s[:InputLen]
		}
	}
	return s
}

// window cuts what is too long, at the beginning of a line.
func (r *mutator) window(s string) string {
	const most = 1 << 10
	if len(s) <= most || len(s) <= 4*most && r.IntN(4) == 0 {
		return s
	}
	from := r.IntN(len(s) - most/2)
	ragged := r.IntN(8) == 0
	for at := from; !ragged; { // to a line that is not indented
		nl := strings.IndexByte(s[at:], '\n')
		if nl < 0 {
			break
		}
		if at += nl + 1; at < len(s) && s[at] > ' ' {
			from = at
			break
		}
	}
	s = s[from:]
	to := min(len(s), 64+r.IntN(most))
	if nl := strings.LastIndexByte(s[:to], '\n'); nl >= 0 && !ragged {
		to = nl + 1
	}
	return s[:to]
}

// span picks a part of s, mostly a short one.
func (r *mutator) span(s string) (from, to int) {
	from = r.IntN(len(s) + 1)
	return from, min(len(s), from+r.IntN(1<<r.IntN(7)+1))
}

func (r *mutator) bytes(s, other string) string {
	from, to := r.span(s)
	switch r.IntN(7) {
	case 0:
		return s[:from] + s[to:]
	case 1:
		return s[:to] + s[from:]
	case 2:
		a, b := r.span(other)
		return s[:from] + other[a:b] + s[to:]
	case 3:
		return s[:from] + string(rune(r.IntN(0x110000)>>r.IntN(21))) + s[from:]
	case 4:
		return s[:from] + strings.Repeat(s[from:to], 1<<r.IntN(7)) + s[to:]
	case 5:
		if from < len(s) {
			return s[:from] + string([]byte{s[from] ^ 1<<r.IntN(8)}) + s[from+1:]
		}
	}
	return s[:from] + string([]byte{byte(32 + r.IntN(95))}) + s[min(len(s), from+r.IntN(2)):]
}

// vocabulary puts one of the words, one of the text's own, or a number.
func (r *mutator) vocabulary(s string) string {
	from, to := r.lexeme(s)
	if r.IntN(3) == 0 {
		to = from
	}
	word := ""
	switch n := r.IntN(8); {
	case n < 4 && len(r.words) > 0:
		word = r.words[r.IntN(len(r.words))]
	case n < 7:
		a, b := r.lexeme(s)
		word = s[a:b]
	default:
		word = fmt.Sprint(int64(notable[r.IntN(len(notable))]))
	}
	return s[:from] + word + s[to:]
}

// alike puts a word in the place of a word, a number in that of a number, a sign
// in that of a sign: what stands for a program mostly stays one.
func (r *mutator) alike(s, other string) string {
	from, to := r.lexeme(s)
	if from == to {
		return r.vocabulary(s)
	}
	for range 16 {
		word := fmt.Sprint(int64(notable[r.IntN(len(notable))]))
		switch n := r.IntN(8); {
		case n < 3 && len(r.words) > 0:
			word = r.words[r.IntN(len(r.words))]
		case n < 5:
			a, b := r.lexeme(s)
			word = s[a:b]
		case n < 7:
			a, b := r.lexeme(other)
			word = other[a:b]
		}
		if word != "" && word != s[from:to] && kind(word) == kind(s[from:to]) {
			return s[:from] + word + s[to:]
		}
	}
	return s
}

// kind tells names, numbers and each closing or opening sign apart.
func kind(word string) byte {
	switch c := word[0]; {
	case c >= '0' && c <= '9':
		return '0'
	case letter(c):
		return 'a'
	case strings.IndexByte("()[]{}:\"'\n #\\", c) >= 0:
		return c
	}
	return '+'
}

func letter(c byte) bool {
	return c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z' || c >= utf8.RuneSelf
}

// lexeme picks a word, a number, or one other character.
func (r *mutator) lexeme(s string) (from, to int) {
	if s == "" {
		return 0, 0
	}
	from = r.IntN(len(s))
	to = from + 1
	if letter(s[from]) {
		for from > 0 && letter(s[from-1]) {
			from--
		}
		for to < len(s) && letter(s[to]) {
			to++
		}
	}
	return from, to
}

// lines moves whole lines and changes how deep they stand.
func (r *mutator) lines(s, other string) string {
	all := strings.SplitAfter(s, "\n")
	if len(all) < 2 {
		return r.bytes(s, other)
	}
	i, j := r.IntN(len(all)), r.IntN(len(all))
	switch r.IntN(5) {
	case 0:
		all[i], all[j] = all[j], all[i]
	case 1:
		all[i] = ""
	case 2:
		all[i] += all[j]
	case 3:
		all[i] = " " + all[i]
	default:
		theirs := strings.SplitAfter(other, "\n")
		all[i] += theirs[r.IntN(len(theirs))]
	}
	return strings.Join(all, "")
}
