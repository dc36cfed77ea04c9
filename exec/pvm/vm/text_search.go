package vm

import "strings"

// Go's search compares all of what is looked for wherever its beginning is, and lets a
// text choose how often that is in vain: periodic texts take the product of both lengths.
// What is short costs little each time; of what is long the first bytes are searched for,
// the rest is compared so often as is paid for, and what is left is searched in linear time.
const (
	shortSearch = 32 // bytes of what is looked for that are compared in vain for the price of the text
	vainSearch  = 4  // bytes compared in vain for each of the text before the linear search begins
)

// indexText is strings.Index in linear time.
func indexText(s, sub string) int {
	left := vainSearch * len(s)
	return nextIndex(s, sub, &left)
}

// nextIndex is indexText for one of many searches along a text. left is how many bytes
// they may still compare in vain, all of them together.
func nextIndex(s, sub string, left *int) int {
	if len(sub) <= shortSearch {
		// Paid: by the caller, a character for each byte of s; at most shortSearch bytes are compared at each.
		return strings.Index(s, sub)
	}
	// Bounded: by left, a few times the length of the text, which the caller paid.
	for at := 0; len(s)-at >= len(sub); at++ {
		if *left < 0 {
			i := linearIndex(s[at:], sub, false)
			if i >= 0 {
				i += at
			}
			return i
		}
		// Paid: by the caller, as each search goes on where the last one ended.
		i := strings.Index(s[at:len(s)-len(sub)+shortSearch], sub[:shortSearch])
		if i < 0 {
			return -1
		}
		if at += i; s[at:at+len(sub)] == sub {
			return at
		}
		*left -= len(sub)
	}
	return -1
}

// lastIndexText is strings.LastIndex in linear time.
func lastIndexText(s, sub string) int {
	if len(sub) <= shortSearch {
		// Paid: by the caller, a character for each byte of s; at most shortSearch bytes are compared at each.
		return strings.LastIndex(s, sub)
	}
	if len(sub) > len(s) {
		return -1
	}
	i := linearIndex(s, sub, true)
	if i < 0 {
		return -1
	}
	return len(s) - i - len(sub)
}

// linearIndex is where sub begins in s, by Knuth, Morris and Pratt; of both read from
// their ends with back.
func linearIndex(s, sub string, back bool) int {
	byteAt := func(t string, i int) byte {
		if back {
			return t[len(t)-1-i]
		}
		return t[i]
	}
	border := make([]int32, len(sub)) // of each beginning of sub the longest that is its end too
	k := int32(0)
	// Paid: by the caller of the search; sub is no longer than s, and k falls no oftener than it grows.
	for i := 1; i < len(sub); i++ {
		c := byteAt(sub, i)
		// Paid: as the loop around it.
		for k > 0 && byteAt(sub, int(k)) != c {
			k = border[k-1]
		}
		if byteAt(sub, int(k)) == c {
			k++
		}
		border[i] = k
	}
	k = 0
	// Paid: by the caller of the search, a character for each byte of s.
	for i := range len(s) {
		c := byteAt(s, i)
		// Paid: as the loop around it.
		for k > 0 && byteAt(sub, int(k)) != c {
			k = border[k-1]
		}
		if byteAt(sub, int(k)) == c {
			k++
		}
		if int(k) == len(sub) {
			return i + 1 - len(sub)
		}
	}
	return -1
}

// countText is strings.Count in linear time.
func countText(s, sub string) int {
	if len(sub) <= shortSearch {
		// Paid: by the caller, a character for each byte of s.
		return strings.Count(s, sub)
	}
	n, left := 0, vainSearch*len(s)
	// Paid: by the caller, as each search goes on where the last one ended.
	for {
		i := nextIndex(s, sub, &left)
		if i < 0 {
			return n
		}
		n++
		s = s[i+len(sub):]
	}
}

// replaceText is strings.Replace of the first n, in linear time.
func replaceText(s, old, by string, n int) string {
	if len(old) <= shortSearch {
		// Paid: by the caller, a character for each byte of s and of the result.
		return strings.Replace(s, old, by, n)
	}
	var b strings.Builder
	left := vainSearch * len(s)
	// Paid: by the caller, as each search goes on where the last one ended.
	for ; n > 0; n-- {
		i := nextIndex(s, old, &left)
		if i < 0 {
			break
		}
		b.WriteString(s[:i])
		b.WriteString(by)
		s = s[i+len(old):]
	}
	b.WriteString(s)
	return b.String()
}

// splitText is strings.SplitN in linear time, of a sep that is not empty.
func splitText(s, sep string, n int) []string {
	if len(sep) <= shortSearch {
		// Paid: by the caller, a character for each byte of s.
		return strings.SplitN(s, sep, n)
	}
	var parts []string
	left := vainSearch * len(s)
	// Paid: by the caller, as each search goes on where the last one ended.
	for ; n != 1; n-- {
		i := nextIndex(s, sep, &left)
		if i < 0 {
			break
		}
		parts = append(parts, s[:i])
		s = s[i+len(sep):]
	}
	return append(parts, s)
}
