package runners

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
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

// TestLongOffersAreCounted: the registry knows how many bytes the long offers of those have that
// are registered, whatever becomes of them, as the memory of offers counts them.
func TestLongOffersAreCounted(t *testing.T) {
	p := params.Default()
	p.Runner.OfferCooldownBlocks = 0
	b := &Book{State: state.NewOverlay(statetest.NewMaps(nil)), Params: &p, Height: 5}
	names := func(n int) []string {
		var all []string
		for i := range n {
			all = append(all, string([]byte{'a' + byte(i/26), 'a' + byte(i%26)})+".a-rather-long-name.com")
		}
		return all
	}
	offer := func(domains int) *Offer {
		return &Offer{Capabilities: chain.Capabilities{MaxConcurrentJobs: 1, HTTPDomains: names(domains)}}
	}
	counts := func(what string, all ...*Offer) {
		t.Helper()
		want := 0
		for _, o := range all {
			want += len(o.encode()) + 32*len(o.Capabilities.HTTPDomains)
		}
		if got, err := readLong(b.State); err != nil || int(got) != want {
			t.Errorf("%s: %d bytes of long offers, %v, want %d", what, got, err, want)
		}
	}
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	register := func(n byte, o *Offer) {
		t.Helper()
		_, err := b.Register(chain.Address{n}, p.Runner.StakeFloor, 0, o, unpaid)
		must(err)
	}
	update := func(n byte, o *Offer) {
		t.Helper()
		must(b.Update(chain.Address{n}, 0, &chain.RunnerUpdate{Capabilities: &o.Capabilities}, unpaid))
	}
	long, longer, short := offer(50), offer(200), offer(10)
	register(1, long)
	register(2, short)
	counts("one of two is long", long)
	update(1, longer)
	counts("it grows", longer)
	update(2, long)
	counts("both are long", longer, long)
	update(1, short)
	counts("one has become short", long)
	must(b.Deregister(chain.Address{2}))
	counts("the other has left")
	register(2, long)
	counts("and comes back with the same", long)
	if r, err := Read(b.State, chain.Address{2}); err != nil || int(r.Long) != long.weigh(len(long.encode())) {
		t.Errorf("%+v, %v", r, err)
	}
}

// TestLongOffersEnd: beyond what a job pays a quarter of a transaction's cycles for, the registry
// takes no offer that is longer than the runner's before, and short ones always.
func TestLongOffersEnd(t *testing.T) { // ADR 222
	p := params.Default()
	p.Runner.OfferCooldownBlocks = 0
	b := &Book{State: state.NewOverlay(statetest.NewMaps(nil)), Params: &p, Height: 5}
	offer := func(endpoint int) *Offer {
		return &Offer{Capabilities: chain.Capabilities{MaxConcurrentJobs: 1}, Endpoint: strings.Repeat("e", endpoint)}
	}
	register := func(n byte, o *Offer) error {
		_, err := b.Register(chain.Address{n}, p.Runner.StakeFloor, 0, o, unpaid)
		return err
	}
	long := offer(2_000)
	bytes := uint64(long.weigh(len(long.encode())))
	end := offersRoom + excessBytes*uint64(p.MaxTxCycles/4)
	for all, want := range map[uint64]error{end - bytes: nil, end - bytes + 1: ErrOffers} {
		b.State.SetStorage(chain.AddrRunnerRegistry, longKey(), cbor.AppendUint(nil, all))
		before := b.State.Snapshot()
		if err := register(1, long); !errors.Is(err, want) {
			t.Errorf("an offer of %d bytes beside %d: %v, want %v", bytes, all, err, want)
		}
		b.State.Revert(before)
		if err := register(1, offer(10)); err != nil {
			t.Errorf("a short offer beside %d bytes: %v", all, err)
		}
		b.State.Revert(before)
	}
	for all, want := range map[uint64]chain.Cycles{
		0: 0, offersRoom: 0, offersRoom + excessBytes: 1, end: p.MaxTxCycles / 4, 1 << 34: p.MaxTxCycles / 4,
	} {
		b.State.SetStorage(chain.AddrRunnerRegistry, longKey(), cbor.AppendUint(nil, all))
		if got, err := ReadingCycles(b.State, &p); err != nil || got != want {
			t.Errorf("reading %d bytes: %d cycles, %v, want %d", all, got, err, want)
		}
	}
	b.State.SetStorage(chain.AddrRunnerRegistry, longKey(), cbor.AppendUint(nil, end-bytes))
	if err := register(1, long); err != nil {
		t.Fatal(err)
	}
	p.MaxTxCycles /= 2 // a vote: who has a long offer may make it shorter
	r, err := Read(b.State, chain.Address{1})
	if err != nil || r == nil || r.Long != uint32(bytes) {
		t.Fatalf("the record %+v, %v", r, err)
	}
	if err := b.countLong(r, int(bytes)-100); err != nil || r.Long != uint32(bytes)-100 {
		t.Errorf("a shorter one: %d bytes count, %v", r.Long, err)
	}
	if err := b.countLong(r, int(bytes)); !errors.Is(err, ErrOffers) {
		t.Errorf("a longer one again: %v", err)
	}
}
