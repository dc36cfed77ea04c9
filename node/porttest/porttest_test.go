package porttest

import (
	"net"
	"slices"
	"testing"
)

// TestPortsAreOneTests: ports stay free to listen on, and nobody else is given them.
func TestPortsAreOneTests(t *testing.T) {
	var all []string
	for range 100 {
		all = append(all, UDP(t, 3)...)
	}
	for _, a := range all {
		c, err := net.ListenPacket("udp", a)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
	}
	slices.Sort(all)
	if n := len(slices.Compact(all)); n != 300 {
		t.Errorf("%d different ports of 300", n)
	}
}
