package runners

import (
	"encoding/binary"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/state"
	"github.com/cowboy-foundation/cowboy/state/statetest"
)

// shelf is a registry of offers alone, which counts what is read of it.
type shelf struct {
	*state.Overlay
	reads int
}

func (s *shelf) Storage(a chain.Address, k state.StorageKey) ([]byte, error) {
	s.reads++
	return s.Overlay.Storage(a, k)
}

// put gives a runner an offer of its own with so many domains, and returns its hash.
func (s *shelf) put(n, version uint32, domains int) (chain.Address, chain.Hash) {
	a := chain.Address(binary.BigEndian.AppendUint32(make([]byte, 16), n))
	o := &Offer{Card: chain.RateCard{HTTPRequestBase: chain.Wei(version)}, Capabilities: chain.Capabilities{MaxConcurrentJobs: 1 + uint16(n)}}
	for i := range domains {
		o.Capabilities.HTTPDomains = append(o.Capabilities.HTTPDomains, string([]byte{'a' + byte(i/26), 'a' + byte(i%26)})+".a-rather-long-name.com")
	}
	row := o.encode()
	s.SetStorage(chain.AddrRunnerRegistry, offerKey(a), row)
	return a, keccak.Sum256(row)
}

// TestOffersInUseAreNotDrivenOut: who changes its offers in every block, as many and as long
// as it likes, makes nobody else's be read again; and what is kept stays within its room.
func TestOffersInUseAreNotDrivenOut(t *testing.T) {
	const honest, hostile = 200, 300
	s := &shelf{Overlay: state.NewOverlay(statetest.NewMaps(nil))}
	o := NewOffers()
	o.room = 40_000
	read := func(a chain.Address, hash chain.Hash) {
		t.Helper()
		if k, err := o.decoded(s, a, hash); err != nil || k == nil {
			t.Fatal(err)
		}
	}
	var addrs [honest]chain.Address
	var hashes [honest]chain.Hash
	for n := range uint32(honest) {
		addrs[n], hashes[n] = s.put(n, 1, 1)
	}
	for block := range uint32(20) {
		o.walk++
		s.reads = 0
		for n := range hashes {
			read(addrs[n], hashes[n])
		}
		if block > 0 && s.reads != 0 {
			t.Fatalf("block %d reads %d of the honest offers again", block, s.reads)
		}
		for n := range uint32(hostile) {
			read(s.put(honest+n, 2+block, int(n%2)*100))
		}
		var used [2]int
		for _, k := range o.known {
			used[sizeOf(k.bytes)] += k.bytes
		}
		if used != o.used || used[0] > o.room || used[1] > o.room {
			t.Fatalf("block %d: %d bytes are kept, %d counted, with room for %d each", block, used, o.used, o.room)
		}
	}
}
