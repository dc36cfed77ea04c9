package chain_test

import (
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

func TestCanonicalDomain(t *testing.T) { // E7; entitlements §8.2
	long := strings.Repeat("a", 63)
	for _, good := range []string{
		"*", "example.com", "*.example.com", "localhost", "a.b", "0x.example", "xn--bcher-kva.de", "xn--p1ai", "*.xn--p1ai",
		"xn--fiqs8s", "1.2.3.example", long + ".com", strings.Repeat(long+".", 3) + strings.Repeat("a", 61),
	} {
		if !chain.CanonicalDomain(good) {
			t.Errorf("%q is refused", good)
		}
	}
	for _, bad := range []string{
		"", ".", "Example.com", "EXAMPLE.COM", "example.com.", ".example.com", "a..b", "bücher.de", "exаmple.com", // Cyrillic a
		"example.com:443", "https://example.com", "example.com/x", "user@example.com", "exam ple.com", " example.com", "a_b.com",
		"-a.com", "a-.com", long + "a.com", strings.Repeat(long+".", 3) + strings.Repeat("a", 62), "1.2.3.4", "[::1]", "127",
		"**", "*.*", "*.", "*a.com", "a.*.com", "*.*.com", "example.*", "xn--.com", "xn--99999999", "ab--cd.com", "xN--p1ai",
		"a\x00.com", "%61.com", "*.com.", "xn--bcher-",
	} {
		if chain.CanonicalDomain(bad) {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func FuzzCanonicalDomain(f *testing.F) {
	for _, s := range []string{"*.example.com", "xn--bcher-kva.de", "xn--zzzzzzzzzzzzzz", "xn--99999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if chain.CanonicalDomain(s) && (s != strings.ToLower(s) || len(s) > 255 || strings.ContainsAny(s, " :/@%_\x00") || strings.HasSuffix(s, ".")) {
			t.Errorf("%q is accepted", s)
		}
	})
}
