package manifest

// Parameters of punycode (RFC 3492 §5).
const (
	punyBase, punyTMin, punyTMax = 36, 1, 26
	punySkew, punyDamp           = 38, 700
	punyBias, punyFirst          = 72, 0x80
	punyLabelMax                 = 63 // a longer label is refused whatever it encodes
)

// asciiLabel returns a label as ASCII: itself, or "xn--" and its punycode (RFC
// 3492 §6.3). One too long for a label comes back as it is.
func asciiLabel(label string) string {
	runes := []rune(label)
	out := append(make([]byte, 0, 2*punyLabelMax), "xn--"...)
	// Bounded: by punyLabelMax, 63 (the first loop by maxHostBytes).
	for _, r := range runes {
		if r < punyFirst {
			out = append(out, byte(r))
		}
	}
	basic := len(out) - 4
	if basic == len(runes) || len(runes) > punyLabelMax {
		return label
	}
	if basic > 0 {
		out = append(out, '-')
	}
	n, delta, bias := rune(punyFirst), 0, punyBias
	// Bounded: by punyLabelMax, 63.
	for done := basic; done < len(runes); {
		next := rune(0x7fffffff)
		// Bounded: by punyLabelMax, 63 (the first loop by maxHostBytes).
		for _, r := range runes {
			if r >= n {
				next = min(next, r)
			}
		}
		delta += int(next-n) * (done + 1)
		n = next
		// Bounded: by punyLabelMax, 63 (the first loop by maxHostBytes).
		for _, r := range runes {
			switch {
			case r < n:
				delta++
			case r == n:
				out = appendPuny(out, delta, bias)
				bias = adapt(delta, done+1, done == basic)
				delta = 0
				done++
			}
		}
		delta++
		n++
	}
	return string(out)
}

// appendPuny writes delta as a generalized variable-length integer (RFC 3492
// §3.3).
func appendPuny(out []byte, delta, bias int) []byte {
	const digits = "abcdefghijklmnopqrstuvwxyz0123456789"
	// Bounded: by the bits of a delta, ten digits.
	for k := punyBase; ; k += punyBase {
		t := min(max(k-bias, punyTMin), punyTMax)
		if delta < t {
			return append(out, digits[delta])
		}
		out = append(out, digits[t+(delta-t)%(punyBase-t)])
		delta = (delta - t) / (punyBase - t)
	}
}

// adapt is the bias after a delta (RFC 3492 §6.1).
func adapt(delta, count int, first bool) int {
	if first {
		delta /= punyDamp
	} else {
		delta /= 2
	}
	delta += delta / count
	k := 0
	// Bounded: by the bits of a delta, ten digits.
	for ; delta > (punyBase-punyTMin)*punyTMax/2; k += punyBase {
		delta /= punyBase - punyTMin
	}
	return k + (punyBase-punyTMin+1)*delta/(delta+punySkew)
}
