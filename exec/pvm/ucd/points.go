package ucd

import (
	"encoding/binary"
	"math/bits"
)

// Code points of valid UTF-8 are counted by words of eight bytes, without a branch for each: a
// loop over code points of one and of two bytes in turn takes the processor by surprise at every
// other one, and some thirty times as long. A byte begins a code point unless it is 10xxxxxx.

// lowBits has the lowest bit of each byte of a word.
const lowBits = 0x0101010101010101

// CountPoints returns the number of code points of s, which is valid UTF-8.
func CountPoints(s string) int {
	p, n := []byte(s), 0
	// Paid: by who has the text, by its length.
	for ; len(p) >= 32; p = p[32:] {
		sum := beginnings(binary.LittleEndian.Uint64(p)) + beginnings(binary.LittleEndian.Uint64(p[8:])) +
			beginnings(binary.LittleEndian.Uint64(p[16:])) + beginnings(binary.LittleEndian.Uint64(p[24:]))
		n += int(sum * lowBits >> 56) // the sum of the eight bytes, each at most four
	}
	// Bounded: by four words.
	for ; len(p) >= 8; p = p[8:] {
		n += bits.OnesCount64(beginnings(binary.LittleEndian.Uint64(p)))
	}
	// Bounded: by seven bytes.
	for _, b := range p {
		n += beginning(b)
	}
	return n
}

// PointOffset returns where the code point begins before which s, valid UTF-8, has n: the
// length of s where there are no more.
func PointOffset(s string, n int) int {
	p, at := []byte(s), 0
	// Paid: by who has the text, by its length up to the code point.
	for ; len(p)-at >= 8; at += 8 {
		within := bits.OnesCount64(beginnings(binary.LittleEndian.Uint64(p[at:])))
		if within > n {
			break
		}
		n -= within
	}
	// Bounded: by fifteen bytes: the eight in which it begins, or those behind the last word.
	for ; at < len(p); at++ {
		if n -= beginning(p[at]); n < 0 {
			break
		}
	}
	return at
}

// beginnings has the lowest bit of each byte set that begins a code point.
func beginnings(w uint64) uint64 { return (^w>>7 | w>>6) & lowBits }

func beginning(b byte) int { return int(^b>>7 | b>>6&1) }
