package manifest

import "strings"

// HostOf returns the host of an absolute address of the web, in the form of [Host]. It
// takes the plain form alone, scheme://host[:port][/…]: whatever two readers could take for
// two hosts is none.
func HostOf(address string) (string, bool) {
	// Bounded: by eight bytes.
	rest, ok := strings.CutPrefix(address, "https://")
	if !ok {
		// Bounded: by eight bytes.
		if rest, ok = strings.CutPrefix(address, "http://"); !ok {
			return "", false
		}
	}
	// Paid: by what the address cost to encode, of which the host is a part.
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[:i]
	}
	// Paid: as above.
	name, port, _ := strings.Cut(rest, ":")
	// Paid: as above.
	if strings.Trim(port, "0123456789") != "" || strings.ContainsAny(rest, "@\\%[]") {
		return "", false
	}
	return Host(name)
}
