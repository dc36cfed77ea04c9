package ledger

import (
	"bytes"
	"crypto/rand"
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/engine"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// shelf is a stored chain of empty blocks.
type shelf []store.BlockRecord

func (s shelf) HeadInfo() (chain.Height, chain.Hash) {
	return chain.Height(len(s)), s[len(s)-1].Digest
}

func (s shelf) BlockByHeight(h chain.Height) (store.BlockRecord, bool, error) {
	return s[h-1], true, nil
}

func (s shelf) HeightByDigest(digest chain.Hash) (chain.Height, bool, error) {
	for _, rec := range s {
		if rec.Digest == digest {
			return rec.Height, true, nil
		}
	}
	return 0, false, nil
}

// certify signs a certificate with the group's key, which is the only share's.
func (f *fixture) certify(set *beacon.ValidatorSet, k simplex.Kind, p simplex.Proposal) simplex.Certificate {
	names := set.Namespaces()
	namespace := map[simplex.Kind][]byte{
		simplex.Notarize: names.Notarize, simplex.Nullify: names.Nullify, simplex.Finalize: names.Finalize,
	}[k]
	return simplex.Certificate{
		Kind: k, Proposal: p,
		Signature: f.share.Sign(namespace, attest.AppendSubject(nil, k, p)),
		Seed:      f.share.Sign(names.Seed, p.Round.Append(nil)),
	}
}

func encoded(certs ...simplex.Certificate) (b []byte) {
	for _, c := range certs {
		b = simplex.AppendCertificate(b, c)
	}
	return b
}

// TestCertificateCheck reads a chain of 300 blocks, every third of which its
// child made final, and then its beginning with an altered certificate somewhere.
func TestCertificateCheck(t *testing.T) {
	f := newFixture(t)
	set, err := beacon.NewValidatorSet(epoch.First(f.genesis))
	if err != nil {
		t.Fatal(err)
	}
	sets, err := beacon.NewSets(epoch.Of(f.genesis))
	if err != nil {
		t.Fatal(err)
	}
	const blocks = 300
	var s shelf
	var about []simplex.Proposal
	for i := range blocks {
		h := chain.Header{Version: chain.HeaderVersion, Height: chain.Height(i + 1), View: chain.View(2*i + 2), ParentView: chain.View(2 * i)}
		block := chain.Block{Header: h}
		s = append(s, store.BlockRecord{Height: h.Height, Digest: h.Digest(), Block: block.Encode()})
		about = append(about, simplex.Proposal{Round: roundOf(&h), Parent: h.ParentView, Payload: h.Digest()})
	}
	sign := func(k simplex.Kind, i int) simplex.Certificate { return f.certify(set, k, about[i]) }
	for i := range s {
		s[i].Certificate = encoded(sign(simplex.Finalize, i))
		if i%3 == 0 && i+1 < blocks {
			s[i].Certificate = encoded(sign(simplex.Finalize, i+1), sign(simplex.Notarize, i))
		}
	}
	run := func(s shelf) error {
		seen := chain.Height(0)
		c := CertificateCheck{Sets: sets, Source: s, Weights: rand.Reader, Progress: func(done, total chain.Height) {
			if done <= seen || int(total) != len(s) {
				t.Errorf("progress %d of %d after %d", done, total, seen)
			}
			seen = done
		}}
		err := c.Run(t.Context())
		if err == nil && int(seen) != len(s) {
			t.Errorf("progress ended at %d", seen)
		}
		return err
	}
	if err := run(s); err != nil {
		t.Fatalf("a good chain: %v", err)
	}
	if err := run(altered(s, blocks-1, s[blocks-2].Certificate)); err == nil {
		t.Error("the last of several batches is not looked at")
	}
	s = s[:30]
	for i, want := range []bool{true, true, false} {
		rec := s[i]
		if !want {
			rec.Certificate = s[i+1].Certificate
		}
		var verdict *Verdict
		if err := CheckCertificates(sets, s, rec, rand.Reader); (err == nil) != want || !want && !errors.As(err, &verdict) {
			t.Errorf("block %d alone: %v", i+1, err)
		}
	}
	unstored := simplex.Proposal{Round: beacon.Round{View: 62}, Parent: 60, Payload: chain.Hash{7}}
	for name, c := range map[string]struct {
		at          int
		certificate []byte
		rule        string
	}{
		"final by a block behind the head": {29, encoded(f.certify(set, simplex.Finalize, unstored), sign(simplex.Notarize, 29)), ""},
		"no certificate":                   {10, nil, "certificate"},
		"not final":                        {11, encoded(sign(simplex.Notarize, 11)), "certificate"},
		"of another block":                 {12, encoded(sign(simplex.Finalize, 13)), "certificate"},
		"final by an ancestor":             {13, encoded(sign(simplex.Finalize, 12), sign(simplex.Notarize, 13)), "certificate"},
		"own is a nullification":           {14, encoded(sign(simplex.Finalize, 15), sign(simplex.Nullify, 14)), "certificate"},
		"signed as another kind":           {28, encoded(forge(sign(simplex.Notarize, 28))), "certificate"},
		"trailing bytes":                   {20, append(s[20].Certificate, 0), "certificate"},
	} {
		err := run(altered(s, c.at, c.certificate))
		var verdict *Verdict
		if errors.As(err, &verdict); (c.rule == "") != (err == nil) || err != nil && (verdict == nil || verdict.Rule != c.rule) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, at := range []int{0, 1, 29} {
		for bit := 0; bit < 8*len(s[at].Certificate); bit += 97 {
			bad := append([]byte{}, s[at].Certificate...)
			bad[bit/8] ^= 1 << (bit % 8)
			if err := run(altered(s, at, bad)); err == nil {
				t.Errorf("bit %d of certificate %d flipped, and nobody saw", bit, at+1)
			}
		}
	}
}

// forge calls a notarization a finalization.
func forge(c simplex.Certificate) simplex.Certificate {
	c.Kind = simplex.Finalize
	return c
}

func altered(s shelf, at int, certificate []byte) shelf {
	s = append(shelf{}, s...)
	s[at].Certificate = certificate
	return s
}

var _ Chain = (*store.Store)(nil)

// TestHeadKeepsItsOwnCertificate: a crash can leave a head that a block behind it
// made final. A ledger that opens on it has both certificates, for the engine.
func TestHeadKeepsItsOwnCertificate(t *testing.T) {
	f := newFixture(t)
	set, err := beacon.NewValidatorSet(epoch.First(f.genesis))
	if err != nil {
		t.Fatal(err)
	}
	for name, behind := range map[string]bool{"final by itself": false, "final by its child": true} {
		l := f.ledger(t, &pool{})
		p := f.propose(t, l)
		about := simplex.Proposal{Round: firstRound(), Payload: p.Digest}
		final := encoded(f.certify(set, simplex.Finalize, about))
		own := final
		if behind {
			child := simplex.Proposal{Round: beacon.Round{View: 2}, Parent: 1, Payload: chain.Hash{2}}
			final, own = encoded(f.certify(set, simplex.Finalize, child)), encoded(f.certify(set, simplex.Notarize, about))
		}
		if err := l.Finalized(t.Context(), engine.Finalization{Round: about.Round, Digest: p.Digest, Certificate: final, Own: own}); err != nil {
			t.Fatal(err)
		}
		again, err := New(l.cfg)
		if err != nil {
			t.Fatal(err)
		}
		if head := again.Head(); !bytes.Equal(head.Certificate, final) || !bytes.Equal(head.Own, own) {
			t.Errorf("%s: the head has another certificate", name)
		}
		cfg := engine.DefaultConfig(&f.genesis.Params)
		cfg.Set, cfg.Self, cfg.Weights = set, 1, rand.Reader // nobody: it follows
		cfg.LastFinalized = again.Head().Floor()
		if err := cfg.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if floor := cfg.LastFinalized; !bytes.Equal(floor.Certificate, final) || !bytes.Equal(floor.Own, own) || floor.Round != about.Round {
			t.Errorf("%s: consensus begins with %+v", name, floor)
		}
	}
}
