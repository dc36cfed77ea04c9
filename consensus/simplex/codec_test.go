package simplex

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
)

var samples = []Record{
	Vote{Kind: Notarize, Proposal: prop(300, 299, 7), Signer: 127, Signature: bls.Signature{1}, Seed: bls.Signature{2}, Individual: Individual{63: 5}},
	Vote{Kind: Nullify, Proposal: Proposal{Round: beacon.Round{Epoch: 3, View: 128}}, Signer: 0},
	Vote{Kind: Finalize, Proposal: prop(1, 0, 7), Signer: math.MaxUint32},
	Certificate{Kind: Notarize, Proposal: prop(math.MaxUint64, 1<<63, 7), Signature: bls.Signature{3}, Seed: bls.Signature{4}},
	Certificate{Kind: Nullify, Proposal: Proposal{Round: beacon.Round{View: 1}}},
	Certificate{Kind: Finalize, Proposal: prop(2, 1, 9)},
	Certification{Round: beacon.Round{View: 5}, Payload: chain.Hash{6}, OK: true},
	Certification{Round: beacon.Round{Epoch: 1, View: 5}},
}

// FuzzRecord holds the decoders to: no panic, and encode(decode(x)) == x for
// every x they accept.
func FuzzRecord(f *testing.F) {
	for _, r := range samples {
		f.Add(AppendRecord(nil, r))
	}
	f.Add([]byte{})
	f.Add([]byte{'v', 1, 0x80, 0x00, 1})
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := DecodeRecord(b)
		if err != nil {
			if r != nil {
				t.Errorf("%v beside %v", r, err)
			}
			return
		}
		if back := AppendRecord(nil, r); !bytes.Equal(back, b) {
			t.Errorf("%x decodes to %+v, which encodes to %x", b, r, back)
		}
		if max := max(VoteBytesMax, CertificateBytesMax); len(b) > max {
			t.Errorf("a record of %d bytes, above the bound %d", len(b), max)
		}
	})
}

func TestRecordsRoundTrip(t *testing.T) {
	for _, r := range samples {
		b := AppendRecord(nil, r)
		back, err := DecodeRecord(b)
		if err != nil || back != r {
			t.Errorf("%+v: back as %+v, %v", r, back, err)
		}
		for cut := range len(b) {
			if _, err := DecodeRecord(b[:cut]); err == nil {
				t.Errorf("%+v: accepted %d of its %d bytes", r, cut, len(b))
			}
		}
		if _, err := DecodeRecord(append(b, 0)); !errors.Is(err, attest.ErrTrailing) {
			t.Errorf("%+v and a byte: %v, want attest.ErrTrailing", r, err)
		}
	}
}

func TestDecodersRefuse(t *testing.T) {
	pair := make([]byte, 96+64)
	vote := func(head ...byte) []byte { return append(head, pair...) }
	digest := make([]byte, 32)
	f := func(name string, b []byte, want error) {
		t.Helper()
		if _, err := DecodeRecord(b); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	f("nothing", nil, attest.ErrTruncated)
	f("unknown tag", []byte{'x', 1}, attest.ErrKind)
	f("kind 0", vote('v', 0, 0, 1, 0), attest.ErrKind)
	f("kind 4", vote('v', 4, 0, 1, 0), attest.ErrKind)
	f("view in two bytes that needs one", vote('v', 2, 0, 0x81, 0x00, 0), attest.ErrVarint)
	f("view of 65 bits", vote('v', 2, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02, 0), attest.ErrVarint)
	f("signer of 33 bits", vote('v', 2, 0, 1, 0x80, 0x80, 0x80, 0x80, 0x10), ErrSigner)
	f("parent at the view", append(append([]byte{'v', 1, 0, 5, 5}, digest...), vote(0)...), attest.ErrParent)
	f("a proposal for view 0", append(append([]byte{'v', 1, 0, 0, 0}, digest...), vote(0)...), attest.ErrParent)
	f("verdict 2", append(append([]byte{'a', 0, 1}, digest...), 2), ErrVerdict)
}

// The bytes that are signed (consensus.md §1.3): round and parent as unsigned
// LEB128, then the digest; the round alone for nullify.
func TestSignedBytes(t *testing.T) {
	p := Proposal{Round: beacon.Round{Epoch: 1, View: 300}, Parent: 128, Payload: chain.Hash{31: 0xff}}
	f := func(k Kind, want string) {
		t.Helper()
		if got := hex.EncodeToString(attest.AppendSubject(nil, k, p)); got != want {
			t.Errorf("%v signs %s, want %s", k, got, want)
		}
	}
	proposal := "01" + "ac02" + "8001" + "00000000000000000000000000000000000000000000000000000000000000ff"
	f(Notarize, proposal)
	f(Finalize, proposal)
	f(Nullify, "01"+"ac02")
}
