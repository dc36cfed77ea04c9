package selection

// Bitmap returns places in a registry of so many runners as bits, place p as bit p mod 8
// of byte p/8: what the state keeps of a job's candidates (resolution 12.16).
func Bitmap(places []uint32, runners int) []byte {
	out := make([]byte, (runners+7)/8)
	// Paid: cells of the bitmap (resolution 12.21).
	for _, p := range places {
		out[p/8] |= 1 << (p % 8)
	}
	return out
}

// FromBitmap returns the places that [Bitmap] noted, in the order given: that of the
// addresses of at least the runners there were. Runners that came later have no bit.
func FromBitmap(noted []byte, order []uint32) []uint32 {
	var out []uint32
	// Bounded: by the registry, 65,536; the requester paid for it when it submitted.
	for _, p := range order {
		if int(p/8) < len(noted) && noted[p/8]>>(p%8)&1 == 1 {
			out = append(out, p)
		}
	}
	return out
}
