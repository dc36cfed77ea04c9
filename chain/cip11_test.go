//spec:implements restored 16

package chain

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// Objects of the pins. Bytes count up from a different start in each, so that
// two fields in the wrong order show.
var (
	pinRunner  = RunnerKey(counting(0x02, 33))
	pinPeer    = PeerKey(counting(0x40, 32))
	pinJob     = Hash(counting(0x60, 32))
	pinSpec    = Hash(counting(0x80, 32))
	pinSetHash = Hash(counting(0xa0, 32))
)

func counting(start byte, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = start + byte(i)
	}
	return b
}

func pinCandidates(n int) []Candidate {
	out := make([]Candidate, n)
	for i := range out {
		out[i] = Candidate{
			Runner: Address(counting(byte(16*i), 20)), EffectiveStake: Wei(10_000+i) * WeiPerCBY,
			ReputationX1e9: uint64(50+i) * 1_000_000_000, BaseWeight: uint64(7_071+i) * 1_000_000_000,
		}
	}
	return out
}

func pinPeers(n int) []PeerKey {
	out := make([]PeerKey, n)
	for i := range out {
		out[i] = PeerKey(filled(byte(i+1), 32))
	}
	return out
}

func pinReceipt() *PresenceReceipt {
	return &PresenceReceipt{
		Runner: pinRunner, Validator: pinPeer, SubsetEpoch: 3, ValidatorSetHash: pinSetHash,
		BlockHeight: 1000, NonceEcho: 5, AcceptingNew: true, ValidatorSigned: [64]byte(counting(1, 64)),
	}
}

// TestVectorsArePinned holds every reconstructed preimage to committed bytes
// (restored definitions §16). The vectors were checked against an independent
// implementation when they were made; a change is a hard fork.
func TestVectorsArePinned(t *testing.T) {
	var b strings.Builder
	pin := func(name string, value []byte) { fmt.Fprintf(&b, "%s %x\n", name, value) }
	pinHash := func(name string, h Hash) { pin(name, h[:]) }

	sig := [SeedBytes]byte(counting(0x10, SeedBytes))
	beacon := BeaconHash(2, 9, sig)
	pinHash("beacon_hash_v1", beacon)
	pinHash("select_seed_v2", SelectionSeedV2(pinSpec, pinJob, 1000))
	v3 := SelectionSeedV3(beacon, SelectImmediate, pinJob, 1000)
	pinHash("select_seed_v3_immediate", v3)
	pinHash("select_seed_v3_delayed", SelectionSeedV3(beacon, SelectDelayed, pinJob, 1000))
	pinHash("retry_seed_1", RetrySeed(v3, 1))
	pinHash("candidate_leaf_0", CandidateLeaf(0, pinCandidates(1)[0]))
	for _, n := range []int{0, 1, 2, 3, 5} {
		pinHash(fmt.Sprintf("candidates_root_%d", n), CandidatesRoot(pinCandidates(n)))
	}
	for i, peer := range Subset(pinRunner, pinPeers(9)) {
		pin(fmt.Sprintf("subset_of_9_%d", i), peer[:])
	}
	pinHash("validator_set_hash_9", ValidatorSetHash(pinPeers(9)))

	packed := pinReceipt().Pack()
	pin("presence_receipt_packed", packed[:])
	pinHash("presence_receipt", pinReceipt().Digest(7))
	pinHash("result", ResultDigest(7, pinJob, []byte("result")))
	pinHash("result_commitment", ResultCommitment([]byte("result"), [65]byte(counting(1, 65))))
	pin("consumed_seeds_2", EncodeConsumedSeeds([]ConsumedSeed{{2, 9, sig}, {2, 300, sig}}))
	pin("namespace", Namespace(pinSpec))
	pin("order_namespace", OrderNamespace(pinSpec))

	checkPins(t, "testdata/vectors/cip11.txt", b.String())
}

func TestSubsetSize(t *testing.T) { // CIP-11 §5.1
	for n := range 101 {
		want := 8
		switch {
		case n <= 3:
			want = n
		case n <= 4:
			want = 3
		case n <= 8:
			want = 4
		case n <= 16:
			want = 5
		case n <= 32:
			want = 6
		case n <= 64:
			want = 7
		}
		if got := SubsetSize(n); got != want {
			t.Errorf("SubsetSize(%d) = %d, want %d", n, got, want)
		}
	}
	if SubsetSize(-1) != 0 {
		t.Error("a negative set has a subset")
	}
}

func TestSubsetIgnoresTheOrderOfTheSet(t *testing.T) {
	peers := pinPeers(20)
	want := Subset(pinRunner, peers)
	slices.Reverse(peers)
	if !slices.Equal(Subset(pinRunner, peers), want) {
		t.Error("the subset depends on the order of the set")
	}
	if peers[0] != pinPeers(20)[19] {
		t.Error("the caller's list was sorted")
	}
	if got := Subset(pinRunner, nil); len(got) != 0 {
		t.Errorf("subset of nobody: %x", got)
	}
	if got := Subset(pinRunner, pinPeers(1)); len(got) != 1 {
		t.Errorf("subset of one: %x", got)
	}
}

func TestCandidateTree(t *testing.T) { // CIP-11 §9.2
	c := pinCandidates(5)
	leaf := func(i int) []byte { h := CandidateLeaf(uint32(i), c[i]); return h[:] }
	inner := func(l, r []byte) []byte {
		h := keccak.Sum256([]byte("cowboy-candidates-inner-v1"), l, r)
		return h[:]
	}
	f := func(rule string, n int, want []byte) {
		t.Helper()
		if got := CandidatesRoot(c[:n]); !bytes.Equal(got[:], want) {
			t.Errorf("%s: root %x, want %x", rule, got, want)
		}
	}
	empty := keccak.Sum256([]byte("cowboy-candidates-empty-v1"))
	f("the empty tree has its own root", 0, empty[:])
	f("a lone leaf is the root", 1, leaf(0))
	f("two leaves", 2, inner(leaf(0), leaf(1)))
	f("an odd leaf is doubled", 3, inner(inner(leaf(0), leaf(1)), inner(leaf(2), leaf(2))))
	last := inner(leaf(4), leaf(4))
	f("an odd node is doubled at every level", 5, inner(inner(inner(leaf(0), leaf(1)), inner(leaf(2), leaf(3))), inner(last, last)))
}

func TestPresenceReceiptForm(t *testing.T) {
	packed := pinReceipt().Pack()
	if len(packed) != 188 {
		t.Fatalf("packed into %d bytes, CIP-11 §8.4 says 188", len(packed))
	}
	got, err := ParsePresenceReceipt(packed[:])
	if err != nil || *got != *pinReceipt() {
		t.Fatalf("parsed %+v, %v", got, err)
	}
	for rule, change := range map[string]func([]byte) []byte{
		"cut":                       func(b []byte) []byte { return b[:187] },
		"longer":                    func(b []byte) []byte { return append(b, 0) },
		"runner key tagged Ed25519": func(b []byte) []byte { b[0] = 2; return b },
		"validator key tagged secp": func(b []byte) []byte { b[34] = 1; return b },
		"accepting_new is two":      func(b []byte) []byte { b[123] = 2; return b },
		"nothing":                   func([]byte) []byte { return nil },
	} {
		if _, err := ParsePresenceReceipt(change(bytes.Clone(packed[:]))); !errors.Is(err, ErrPresenceReceipt) {
			t.Errorf("%s: %v", rule, err)
		}
	}
}

// TestEnumBytes pins the tables of CIP-11 §9.4 and §12.6.
func TestEnumBytes(t *testing.T) {
	got := fmt.Sprint(
		[]any{RoleRunner, RoleValidator, SchemeSecp256k1, SchemeEd25519},
		[]any{JobLLM, JobHTTP, JobMCP, JobCustom, JobPublishChainRoot, JobAgent},
	)
	const want = "[1 2 1 2] [0 1 2 3 4 5]"
	if got != want {
		t.Errorf("enum bytes %s, want %s", got, want)
	}
}

func TestPresenceInput(t *testing.T) { // CIP-11 §7.2
	f := func(rule, in string, registry int, want []uint32, wantErr error) {
		t.Helper()
		set, err := DecodePresence(unhex(t, in), registry)
		if !errors.Is(err, wantErr) {
			t.Errorf("%s: error %v, want %v", rule, err, wantErr)
		}
		if err != nil {
			return
		}
		var got []uint32
		for i := range uint32(registry + 9) {
			if set.Has(i) {
				got = append(got, i)
			}
		}
		if !slices.Equal(got, want) || set.Count() != len(want) {
			t.Errorf("%s: %v, want %v", rule, got, want)
		}
	}
	f("bitmap counts from the least bit", "0100 05", 8, []uint32{0, 2}, nil)
	f("bitmap of two bytes", "0100 0081", 16, []uint32{8, 15}, nil)
	f("bitmap of an empty registry", "0100", 0, nil, nil)
	f("bitmap of nobody", "0100 00", 3, nil, nil)
	f("last runner of a ragged registry", "0100 04", 3, []uint32{2}, nil)
	f("bit beyond the registry", "0100 08", 3, nil, ErrPresenceIndex)
	f("bitmap too short", "0100", 1, nil, ErrPresenceLength)
	f("bitmap too long", "0100 0000", 8, nil, ErrPresenceLength)
	f("sparse", "0101 00000002 00000001 00000007", 8, []uint32{1, 7}, nil)
	f("sparse nobody", "0101 00000000", 8, nil, nil)
	f("sparse repeats", "0101 00000002 00000001 00000001", 8, nil, ErrPresenceOrder)
	f("sparse descends", "0101 00000002 00000002 00000001", 8, nil, ErrPresenceOrder)
	f("sparse beyond the registry", "0101 00000001 00000008", 8, nil, ErrPresenceIndex)
	f("sparse shorter than its count", "0101 00000002 00000001", 8, nil, ErrPresenceLength)
	f("sparse longer than its count", "0101 00000001 00000001 00", 8, nil, ErrPresenceLength)
	f("sparse without a count", "0101 0000", 8, nil, ErrPresenceLength)
	f("count that overflows", "0101 40000000", 8, nil, ErrPresenceLength)
	f("version 0", "0000 00", 8, nil, ErrPresenceVersion)
	f("version 2", "0200 00", 8, nil, ErrPresenceVersion)
	f("kind 2", "0102 00", 8, nil, ErrPresenceKind)
	f("absent", "", 8, nil, ErrPresenceLength)
}

func TestPresenceTakesTheShorterKind(t *testing.T) {
	f := func(rule string, registry int, kind byte, present ...uint32) {
		t.Helper()
		set := NewPresentSet(registry)
		for _, i := range present {
			set.Add(i)
		}
		b := set.Encode()
		if b[1] != kind {
			t.Errorf("%s: kind %d, want %d", rule, b[1], kind)
		}
		again, err := DecodePresence(b, registry)
		if err != nil || !bytes.Equal(again.encodeBitmap(), set.encodeBitmap()) {
			t.Errorf("%s: decoded %v, %v", rule, again, err)
		}
	}
	f("few of many", 5000, presenceSparse, 3, 4999)
	f("few of few", 24, presenceBitmap, 3)
	f("nobody of many", 5000, presenceSparse)
	f("nobody of nobody", 0, presenceBitmap)
}

func TestConsumedSeeds(t *testing.T) {
	a, b := ConsumedSeed{Epoch: 1, View: 300}, ConsumedSeed{Epoch: 2, View: 9}
	f := func(rule string, in []byte, want error) {
		t.Helper()
		seeds, err := DecodeConsumedSeeds(in)
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", rule, err, want)
		}
		if err == nil && !bytes.Equal(EncodeConsumedSeeds(seeds), in) {
			t.Errorf("%s: encodes differently again", rule)
		}
	}
	f("none", []byte{0x80}, nil)
	f("two", EncodeConsumedSeeds([]ConsumedSeed{a, b}), nil)
	f("descending", EncodeConsumedSeeds([]ConsumedSeed{b, a}), ErrSeedOrder)
	f("twice the same round", EncodeConsumedSeeds([]ConsumedSeed{a, a}), ErrSeedOrder)
	f("same epoch, lower view", EncodeConsumedSeeds([]ConsumedSeed{{Epoch: 2, View: 10}, b}), ErrSeedOrder)
	f("no bytes", nil, cbor.ErrTruncated)
	f("trailing", []byte{0x80, 0x80}, cbor.ErrTrailing)
	f("signature of 47 bytes", append([]byte{0x81, 0x83, 0, 0, 0x58, 47}, make([]byte, 60)...), cbor.ErrWrongLength)
	f("too long", make([]byte, MaxConsumedSeedsBytes+1), cbor.ErrTooLong)
}

func FuzzPresence(f *testing.F) {
	for _, s := range []string{"010005", "01010000000200000001000000ff", "0100", ""} {
		b, err := hex.DecodeString(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b, uint16(8))
	}
	f.Fuzz(func(t *testing.T, b []byte, registry uint16) {
		set, err := DecodePresence(b, int(registry))
		if err != nil {
			return
		}
		again := set.encodeBitmap()
		if b[1] == presenceSparse {
			again = set.encodeSparse()
		}
		if !bytes.Equal(again, b) {
			t.Fatalf("%x encodes again as %x", b, again)
		}
		short, err := DecodePresence(set.Encode(), int(registry))
		if err != nil || !bytes.Equal(short.bitmap, set.bitmap) {
			t.Fatalf("the shorter kind of %x is another set: %v", b, err)
		}
	})
}

func FuzzConsumedSeeds(f *testing.F) {
	f.Add(EncodeConsumedSeeds([]ConsumedSeed{{Epoch: 1, View: 2}, {Epoch: 1, View: 3}}))
	f.Add([]byte{0x80})
	f.Fuzz(func(t *testing.T, b []byte) {
		seeds, err := DecodeConsumedSeeds(b)
		if err == nil && !bytes.Equal(EncodeConsumedSeeds(seeds), b) {
			t.Fatalf("%x encodes differently again", b)
		}
	})
}

func FuzzPresenceReceipt(f *testing.F) {
	packed := pinReceipt().Pack()
	f.Add(packed[:])
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := ParsePresenceReceipt(b)
		if err != nil {
			return
		}
		if again := r.Pack(); !bytes.Equal(again[:], b) {
			t.Fatalf("%x packs again as %x", b, again)
		}
	})
}
