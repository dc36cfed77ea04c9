package chain

import "strings"

// Bounds of a domain name (RFC 1035 §2.3.4).
const (
	maxDomainBytes = 253
	maxLabelBytes  = 63
)

// CanonicalDomain reports whether s is a domain in the one form that
// entitlements take (entitlements §8.2): lower-case ASCII labels of letters,
// digits and inner hyphens between single dots, internationalised ones as
// punycode; "*" for all; or "*." before a domain for all below it. No trailing
// dot, port, scheme or address of four numbers.
func CanonicalDomain(s string) bool {
	if s == "*" {
		return true
	}
	return canonicalHost(strings.TrimPrefix(s, "*."))
}

// canonicalHost is CanonicalDomain without asterisks.
func canonicalHost(s string) bool {
	if len(s) == 0 || len(s) > maxDomainBytes {
		return false
	}
	rest, last := s, ""
	for more := true; more; {
		last, rest, more = strings.Cut(rest, ".")
		if !canonicalLabel(last) {
			return false
		}
	}
	return strings.Trim(last, "0123456789") != ""
}

func canonicalLabel(s string) bool {
	if s == "" || len(s) > maxLabelBytes || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-') {
			return false
		}
	}
	if len(s) >= 4 && s[2:4] == "--" { // reserved for encodings, of which there is one (RFC 5890 §2.3.1)
		return s[:2] == "xn" && encodesUnicode(s[4:])
	}
	return true
}

// Parameters of punycode (RFC 3492 §5).
const (
	punyBase, punyTMin, punyTMax            = 36, 1, 26
	punySkew, punyDamp, punyBias, punyFirst = 38, 700, 72, 0x80
)

// encodesUnicode reports whether s is the punycode of a label that is not plain
// ASCII (RFC 3492 §6.2).
func encodesUnicode(s string) bool {
	n, i, bias, count := int64(punyFirst), int64(0), int64(punyBias), int64(0) // 64 bits on every machine
	if d := strings.LastIndexByte(s, '-'); d >= 0 {
		count, s = int64(d), s[d+1:]
	}
	if s == "" {
		return false
	}
	for s != "" {
		old, w := i, int64(1)
		for k := int64(punyBase); ; k += punyBase {
			if s == "" {
				return false
			}
			digit := punyDigit(s[0])
			s = s[1:]
			if digit < 0 || digit > (1<<31-i)/w {
				return false
			}
			i += digit * w
			t := min(max(k-bias, punyTMin), punyTMax)
			if digit < t {
				break
			}
			if w *= punyBase - t; w > 1<<31 {
				return false
			}
		}
		count++
		bias = punyAdapt(i-old, count, old == 0)
		n += i / count
		i = i%count + 1
		if n > 0x10ffff || n >= 0xd800 && n < 0xe000 {
			return false
		}
	}
	return true
}

func punyDigit(c byte) int64 {
	switch {
	case c >= 'a' && c <= 'z':
		return int64(c - 'a')
	case c >= '0' && c <= '9':
		return int64(c-'0') + 26
	}
	return -1
}

func punyAdapt(delta, count int64, first bool) int64 {
	if first {
		delta /= punyDamp
	} else {
		delta /= 2
	}
	delta += delta / count
	k := int64(0)
	for ; delta > (punyBase-punyTMin)*punyTMax/2; k += punyBase {
		delta /= punyBase - punyTMin
	}
	return k + (punyBase-punyTMin+1)*delta/(delta+punySkew)
}
