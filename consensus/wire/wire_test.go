package wire

import (
	"bytes"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/shards"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
)

// largest are the largest messages of each kind that hold no part of a block but b.
func largest(b []byte) []Message {
	round := beacon.Round{Epoch: 1<<64 - 1, View: 1<<64 - 1}
	p := simplex.Proposal{Round: round, Parent: 1<<64 - 2, Payload: chain.Hash{1}}
	v := simplex.Vote{Kind: simplex.Notarize, Proposal: p, Signer: 1<<32 - 1}
	c := simplex.Certificate{Kind: simplex.Finalize, Proposal: p}
	a := Answer{Instance: 1, Number: 1, Other: OtherLife{Instance: 1}, Entered: &c}
	for k := simplex.Notarize; k <= simplex.Finalize; k++ {
		a.Votes = append(a.Votes, simplex.Vote{Kind: k, Proposal: p, Signer: 1<<32 - 1})
	}
	for i := range a.Votes {
		if a.Votes[i].Kind == simplex.Nullify {
			a.Votes[i].Proposal = simplex.Proposal{Round: round}
		}
	}
	return []Message{
		v, c,
		Offer{Vote: v, Block: b},
		Backfill{Certificate: c, Block: b},
		Preview{Round: round, Parent: 1<<64 - 2, Bytes: b},
		Request{Round: round},
		Answered{Round: round},
		Ask{Instance: 1, Number: 1, Posture: Rests},
		a,
	}
}

// TestEncodedBackfill: a certificate that is encoded already makes the same message.
func TestEncodedBackfill(t *testing.T) {
	b := Backfill{Certificate: simplex.Certificate{Kind: simplex.Notarize, Proposal: simplex.Proposal{Payload: chain.Hash{1}}}, Block: []byte("block")}
	got := EncodedBackfill(simplex.AppendCertificate(nil, b.Certificate), b.Block)
	if want := Append(nil, b); !bytes.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

// TestTable: tags are unique, each kind has a class, and its largest message is read and
// within its bound; a byte more of the same kind is refused.
func TestTable(t *testing.T) {
	block := bytes.Repeat([]byte{7}, 64)
	tried := map[byte]bool{}
	for _, m := range largest(block) {
		b := Append(nil, m)
		k := kindOf(b[0])
		if k == nil || tried[b[0]] {
			t.Fatalf("%T has no row of its own", m)
		}
		tried[b[0]] = true
		if n := k.bytesMax(Limits{BlockBytesMax: 64}); len(b) > n {
			t.Errorf("a %s of %d bytes, want %d at most", k.Name, len(b), n)
		}
		back, err := Decode(b, Limits{BlockBytesMax: 64})
		if err != nil || !bytes.Equal(Append(nil, back), b) {
			t.Errorf("%s: %v", k.Name, err)
		}
		if _, err := Decode(append(b, make([]byte, k.FixedBytesMax+1)...), Limits{BlockBytesMax: 64}); err == nil {
			t.Errorf("a %s with bytes behind it is taken", k.Name)
		}
	}
	tags := map[byte]bool{}
	for _, k := range Kinds() {
		class, known := ClassOf([]byte{k.Tag})
		if tags[k.Tag] || !known || class == 0 || k.Name == "" {
			t.Errorf("row %q: %+v", k.Tag, k)
		}
		tags[k.Tag] = true
		if !tried[k.Tag] && k.Class != ClassShards {
			t.Errorf("no message of kind %s was tried", k.Name)
		}
	}
}

// TestUnknownTags: what has no row has no class, and is no message.
func TestUnknownTags(t *testing.T) {
	for tag := range 256 {
		msg := []byte{byte(tag), 1, 2, 3}
		if _, known := ClassOf(msg); known != (kindOf(byte(tag)) != nil) {
			t.Errorf("tag %#x: class %v", tag, known)
		}
		if _, err := Decode(msg, Limits{BlockBytesMax: 64}); err == nil {
			t.Errorf("tag %#x with three bytes is taken", tag)
		}
	}
	if _, known := ClassOf(nil); known {
		t.Error("nothing has a class")
	}
	if _, err := Decode(nil, Limits{}); err == nil {
		t.Error("nothing is a message")
	}
	if _, err := Decode(Append(nil, ShardOffer{Vote: simplex.Vote{Kind: simplex.Notarize}, Parcel: &shards.Parcel{}}), Limits{BlockBytesMax: 64}); err == nil {
		t.Error("a shard is taken where blocks travel whole")
	}
}

// FuzzMessage: no panic, and what is accepted encodes to the same bytes.
func FuzzMessage(f *testing.F) {
	v := simplex.Vote{Kind: simplex.Notarize, Proposal: simplex.Proposal{Round: beacon.Round{View: 3}, Parent: 2}, Seed: bls.Signature{1}}
	c := simplex.Certificate{Kind: simplex.Finalize, Proposal: v.Proposal}
	f.Add(simplex.AppendVote(nil, v))
	f.Add(simplex.AppendCertificate(nil, c))
	f.Add(Append(nil, Offer{Vote: v, Block: []byte("block")}))
	f.Add(Append(nil, Backfill{Certificate: c, Block: []byte("block")}))
	f.Add(Append(nil, Request{Round: beacon.Round{View: 300}}))
	f.Add(Append(nil, Ask{Instance: 7, Number: 2, Posture: Votes}))
	f.Add(Append(nil, Answer{Instance: 7, Number: 2, Other: OtherLife{Instance: 9, Posture: Votes, Age: time.Second}, Votes: []simplex.Vote{v}, Entered: &c}))
	f.Add(Append(nil, Answer{Instance: 7, Number: 2, Spoke: -1}))
	f.Add(Append(nil, Answer{Instance: 7, Number: 2, Spoke: time.Minute}))
	f.Add(Append(nil, Preview{Round: beacon.Round{View: 300}, Parent: 299, Bytes: []byte("block")}))
	f.Add(Append(nil, Answered{Round: beacon.Round{View: 300}}))
	f.Fuzz(func(t *testing.T, b []byte) {
		msg, err := Decode(b, Limits{BlockBytesMax: 64})
		if err != nil {
			return
		}
		back := Append(nil, msg)
		if !bytes.Equal(back, b) {
			t.Errorf("%x decodes to %+v, which encodes to %x", b, msg, back)
		}
		if len(b) > EnvelopeBytesMax+64 {
			t.Errorf("accepted %d bytes for a block limit of 64", len(b))
		}
	})
}
