package manifest_test

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/manifest"
)

func TestHostOf(t *testing.T) { // entitlements §8.2
	for address, want := range map[string]string{
		"https://a.com": "a.com", "http://A.com:80/x?y#z": "a.com", "https://a.com.": "a.com", "https://münchen.de/": "xn--mnchen-3ya.de",
		"https://a.com@b.com": "", "https://[::1]/": "", "https://a.com:8x": "", "https://": "", "ftp://a.com": "", "a.com": "", "https://a%2ecom": "", "https://a.com\\b": "", "HTTPS://a.com": "",
	} {
		got, ok := manifest.HostOf(address)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%s: %q, %v, want %q", address, got, ok, want)
		}
	}
}
