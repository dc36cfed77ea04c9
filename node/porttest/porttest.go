// Package porttest picks ports of the loopback for tests that must name them before
// anybody listens there: members of a committee that are told each other's addresses,
// a process that is killed and comes back where it was.
//
// In: how many, or which offsets. Out: ports that are the test's until it ends. They are
// below those that the kernel gives to whoever asks for any, so that no connection comes
// to stand on one, and in a block that no other test of this kit takes, in whatever
// process. It is a kit for tests; who can listen on port 0 needs none.
package porttest

import (
	"math/rand/v2"
	"net"
	"strconv"
	"testing"
)

// Ports from lowest on and below ephemeral are no known service's and no
// connection's: Linux gives out 32768 to 60999. They are taken in blocks; who listens
// for connections on the last port of one has it.
const (
	lowest    = 10_000
	ephemeral = 32_768
	block     = 64
)

// UDP returns n different addresses of the loopback, less than a block.
func UDP(t *testing.T, n int) []string {
	t.Helper()
	offsets := make([]int, n)
	for i := range offsets {
		offsets[i] = i
	}
	first := First(t, offsets...)
	addresses := make([]string, n)
	for i := range addresses {
		addresses[i] = address(first + i)
	}
	return addresses
}

// First returns a port p such that p + o is free for every offset o, for packets and
// for connections. Offsets are below the last of a block.
func First(t *testing.T, offsets ...int) int {
	t.Helper()
	for range 1_000 {
		first := lowest + block*rand.IntN((ephemeral-lowest)/block)
		claim, err := net.Listen("tcp", address(first+block-1))
		if err != nil {
			continue
		}
		if free(first, offsets) {
			t.Cleanup(func() { claim.Close() })
			return first
		}
		claim.Close()
	}
	t.Fatalf("no ports of the loopback are free at offsets %v", offsets)
	return 0
}

func free(first int, offsets []int) bool {
	for _, o := range offsets {
		l, err := net.Listen("tcp", address(first+o))
		if err != nil {
			return false
		}
		l.Close()
		u, err := net.ListenPacket("udp", address(first+o))
		if err != nil {
			return false
		}
		u.Close()
	}
	return true
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
