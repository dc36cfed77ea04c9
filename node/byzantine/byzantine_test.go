package byzantine

import (
	"bytes"
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/consensus/wire"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// Package node plays every kind against honest validators; here is what needs
// none.

func TestKindsAreWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Kinds() {
		if k.About == "" || k.alter == nil && k.rewrite == nil || seen[k.Name] {
			t.Errorf("kind %q is there twice, or does or says nothing", k.Name)
		}
		seen[k.Name] = true
		if found, err := Find(k.Name); err != nil || found.About != k.About {
			t.Errorf("%s: found %q, %v", k.Name, found.Name, err)
		}
	}
	if _, err := Find("honest"); !errors.Is(err, ErrKind) {
		t.Errorf("an unknown kind: %v, want %v", err, ErrKind)
	}
}

func vote(k simplex.Kind) simplex.Vote {
	return simplex.Vote{Kind: k, Proposal: simplex.Proposal{Round: beacon.Round{View: 7}, Parent: 6, Payload: chain.Hash{1}}, Signer: 3}
}

// What only votes cannot say passes through unchanged, and what a kind does not
// lie about too.
func TestOtherMessagesPassUnchanged(t *testing.T) {
	offer := append(simplex.AppendVote([]byte{wire.TagOffer}, vote(simplex.Notarize)), "block"...)
	certificate := simplex.AppendCertificate(nil, simplex.Certificate{Kind: simplex.Notarize, Proposal: vote(simplex.Notarize).Proposal})
	l := &Liar{}
	for _, rewrite := range []func(*Liar, beacon.Participant, []byte) [][]byte{spoilIndividual, conflict, nullify, silence, equivocate} {
		for _, msg := range [][]byte{certificate, {'q'}, []byte("r request")} {
			if out := rewrite(l, 1, msg); len(out) != 1 || !bytes.Equal(out[0], msg) {
				t.Errorf("%q becomes %q", msg, out)
			}
		}
	}
	if out := silence(l, 1, offer); len(out) != 0 {
		t.Errorf("a silent leader says %q", out)
	}
	if out := conflict(l, 1, offer); len(out) != 1 || !bytes.Equal(out[0], offer) {
		t.Errorf("a conflicter alters its proposal: %q", out)
	}
	out := spoilIndividual(l, 1, simplex.AppendVote(nil, vote(simplex.Finalize)))
	if v, err := simplex.DecodeVote(out[0]); err != nil || v.Individual != (simplex.Individual{}) || v.Proposal != vote(simplex.Finalize).Proposal {
		t.Errorf("%+v, %v", v, err)
	}
}

// FuzzParse: a message that is taken apart is put together again as it was.
func FuzzParse(f *testing.F) {
	f.Add(simplex.AppendVote(nil, vote(simplex.Nullify)))
	f.Add(append(simplex.AppendVote([]byte{wire.TagOffer}, vote(simplex.Notarize)), "block"...))
	f.Add(append(simplex.AppendVote([]byte{wire.TagShardOffer}, vote(simplex.Notarize)), "parcel"...))
	f.Fuzz(func(t *testing.T, msg []byte) {
		if len(msg) == 0 {
			return
		}
		w, ok := parse(msg)
		if ok && len(w.rest) > 0 && w.tag == wire.TagVote {
			return // the engine sends no such vote
		}
		if ok && !bytes.Equal(w.encode(), msg) {
			t.Errorf("%x becomes %x", msg, w.encode())
		}
	})
}
