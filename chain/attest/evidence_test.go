package attest_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/crypto/ed25519"
)

func signer(t testing.TB, seed byte) *ed25519.PrivateKey {
	t.Helper()
	key, err := ed25519.NewPrivateKey(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func says(key *ed25519.PrivateKey, names *attest.Namespaces, k attest.Kind, digest byte) attest.Statement {
	p := attest.Proposal{Round: attest.Round{View: 300}, Parent: 299, Payload: chain.Hash{digest}}
	if k == attest.Nullify {
		p = attest.Proposal{Round: p.Round}
	}
	return attest.Statement{Kind: k, Proposal: p, Individual: key.Sign(names.SignedBytes(k, p))}
}

// TestWords: the arguments of the instruction hold what the evidence does, and
// nothing else is read as that.
func TestWords(t *testing.T) {
	key, names := signer(t, 1), attest.NewNamespaces(chain.Hash{1})
	e := attest.NewEvidence(chain.PeerKey(key.PublicKey()), says(key, &names, attest.Finalize, 1), says(key, &names, attest.Nullify, 0))
	first, second := e.Words()
	if back, err := attest.FromWords(first, second); err != nil || back != e {
		t.Fatalf("back as %+v, %v", back, err)
	}
	other := attest.NewEvidence(chain.PeerKey(signer(t, 2).PublicKey()), e.First, e.Second)
	_, others := other.Words()
	f := func(rule string, a, b []byte, want error) {
		t.Helper()
		if got, err := attest.FromWords(a, b); !errors.Is(err, want) || got != (attest.Evidence{}) {
			t.Errorf("%s: %+v, %v, want %v", rule, got, err, want)
		}
	}
	f("swapped", second, first, attest.ErrEvidenceOrder)
	f("one twice", first, first, attest.ErrNoOffence)
	f("two validators", first, others, attest.ErrEvidenceKeys)
	f("too long", first, append(bytes.Clone(second), 0), attest.ErrTrailing)
	f("far too long", make([]byte, attest.WordBytesMax+1), second, attest.ErrTrailing)
	for cut := range second {
		if _, err := attest.FromWords(first, second[:cut]); err == nil {
			t.Errorf("accepted %d of %d bytes", cut, len(second))
		}
	}
}

// FuzzFromWords: what decodes is canonical and bounded, proves something only
// with the signatures of the accused, and is the same evidence as in the
// journal's form.
func FuzzFromWords(f *testing.F) {
	key, names := signer(f, 1), attest.NewNamespaces(chain.Hash{1})
	self := chain.PeerKey(key.PublicKey())
	for _, k := range []attest.Kind{attest.Notarize, attest.Nullify} {
		first, second := attest.NewEvidence(self, says(key, &names, k, 1), says(key, &names, attest.Finalize, 2)).Words()
		f.Add(first, second)
		f.Add(second, first)
	}
	f.Add([]byte{}, []byte{1})
	f.Fuzz(func(t *testing.T, first, second []byte) {
		e, err := attest.FromWords(first, second)
		if err != nil {
			return
		}
		if a, b := e.Words(); !bytes.Equal(a, first) || !bytes.Equal(b, second) || len(a) > attest.WordBytesMax {
			t.Errorf("%x, %x decode to what encodes to %x, %x", first, second, a, b)
		}
		if back, err := attest.DecodeEvidence(attest.AppendEvidence(nil, e)); err != nil || back != e {
			t.Errorf("through the journal: %+v, %v", back, err)
		}
		member := func(chain.PeerKey) bool { return true }
		if err := e.Verify(0, member, &names); err == nil && e.Accused != self {
			t.Errorf("convicts a validator that signed nothing: %x, %x", first, second)
		}
	})
}
