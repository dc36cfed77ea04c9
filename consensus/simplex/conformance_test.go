package simplex

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/certificates.json anew")

const conformanceFile = "testdata/certificates.json"

// conformance is the pinned file of a committee of four: whoever implements the
// protocol again can read it. All strings are hex.
type conformance struct {
	Comment   string            `json:"comment"`
	Genesis   string            `json:"genesis_hash"`
	GroupKey  string            `json:"group_key"`
	Quorum    int               `json:"quorum"`
	Members   []member          `json:"validators"`
	Certified []pinned          `json:"certificates"`
	Names     map[string]string `json:"namespaces"`
}

type member struct {
	ShareKey    string `json:"share_key"`
	PublicShare string `json:"public_share"`
	PeerKey     string `json:"peer_key"`
}

type pinned struct {
	Kind        string   `json:"kind"`
	Epoch       uint64   `json:"epoch"`
	View        uint64   `json:"view"`
	Parent      uint64   `json:"parent_view"`
	Payload     string   `json:"payload"`
	Signed      string   `json:"signed_bytes"`
	SeedSigned  string   `json:"seed_signed_bytes"`
	Votes       []string `json:"votes"` // as on the wire, of validators 0 to 3
	Certificate string   `json:"certificate"`
}

func makeConformance(t *testing.T) conformance {
	t.Helper()
	schemes, set, _ := committee(t, 4)
	genesis := chain.Hash{0xc0, 0xb0}
	*set.Namespaces() = attest.NewNamespaces(genesis)
	hexed := hex.EncodeToString
	group := set.Group().Bytes()
	out := conformance{
		Comment:  "votes and certificates of a committee of four; any three of the votes make the certificate",
		Genesis:  hexed(genesis[:]),
		GroupKey: hexed(group[:]), Quorum: set.Quorum(),
		Names: map[string]string{
			"notarize": hexed(set.Namespaces().Notarize), "nullify": hexed(set.Namespaces().Nullify),
			"finalize": hexed(set.Namespaces().Finalize), "seed": hexed(set.Namespaces().Seed),
		},
	}
	for i, s := range schemes {
		secret, v := s.keys.Share.Bytes(), set.At(beacon.Participant(i))
		share := v.PublicShare.Bytes()
		out.Members = append(out.Members, member{hexed(secret[:]), hexed(share[:]), hexed(v.PeerKey[:])})
	}
	for _, v := range []chain.View{1, 2, 127, 128, 16384, 1 << 40} {
		p := Proposal{Round: beacon.Round{View: v}, Parent: v - 1, Payload: chain.Hash{byte(v), 1, 2, 3}}
		for k := Notarize; k <= Finalize; k++ {
			subject := p
			if k == Nullify {
				subject = Proposal{Round: p.Round}
			}
			entry := pinned{
				Kind: k.String(), View: uint64(v), Parent: uint64(subject.Parent), Payload: hexed(subject.Payload[:]),
				Signed:     hexed(bls.SignedBytes(set.Namespaces().Of(k), attest.AppendSubject(nil, k, p))),
				SeedSigned: hexed(bls.SignedBytes(set.Namespaces().Seed, p.Round.Append(nil))),
			}
			var votes []Vote
			for _, s := range schemes {
				votes = append(votes, s.Sign(k, p))
				entry.Votes = append(entry.Votes, hexed(AppendVote(nil, votes[len(votes)-1])))
			}
			c, err := schemes[0].Recover(votes[1:])
			if err != nil {
				t.Fatal(err)
			}
			entry.Certificate = hexed(AppendCertificate(nil, c))
			out.Certified = append(out.Certified, entry)
		}
	}
	return out
}

// TestConformanceFile makes the votes and certificates of the pinned file anew
// and compares every byte: keys, signed bytes, encodings, recovery. A difference
// is a hard fork; approve it only together with an ADR.
func TestConformanceFile(t *testing.T) {
	made, err := json.MarshalIndent(makeConformance(t), "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	made = append(made, '\n')
	if *rewrite {
		if err := os.WriteFile(conformanceFile, made, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(conformanceFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(made, kept) {
		t.Errorf("%s is not what this code makes", conformanceFile)
	}
}

// TestConformanceCertificatesVerify reads the file as a stranger would: with the
// group key and the names in it alone.
func TestConformanceCertificatesVerify(t *testing.T) {
	raw, err := os.ReadFile(conformanceFile)
	if err != nil {
		t.Fatal(err)
	}
	var file conformance
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	unhex := func(s string) []byte {
		b, err := hex.DecodeString(s)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	group, err := bls.ParsePublicKey(unhex(file.GroupKey))
	if err != nil {
		t.Fatal(err)
	}
	if len(file.Certified) != 18 || len(file.Members) != 4 {
		t.Fatalf("%d certificates of %d validators", len(file.Certified), len(file.Members))
	}
	for _, e := range file.Certified {
		c, err := DecodeCertificate(unhex(e.Certificate))
		if err != nil {
			t.Fatalf("%s of view %d: %v", e.Kind, e.View, err)
		}
		k := c.Kind
		seed := bls.SignedBytes(unhex(file.Names["seed"]), c.Proposal.Round.Append(nil))
		signed := bls.SignedBytes(unhex(file.Names[k.String()]), attest.AppendSubject(nil, k, c.Proposal))
		if k.String() != e.Kind || hex.EncodeToString(signed) != e.Signed || hex.EncodeToString(seed) != e.SeedSigned {
			t.Errorf("%s of view %d: other bytes are signed", e.Kind, e.View)
		}
		if !group.Verify(unhex(file.Names[k.String()]), attest.AppendSubject(nil, k, c.Proposal), c.Signature) ||
			!group.Verify(unhex(file.Names["seed"]), c.Proposal.Round.Append(nil), c.Seed) {
			t.Errorf("%s of view %d does not verify", e.Kind, e.View)
		}
		for i, raw := range e.Votes {
			vote, err := DecodeVote(unhex(raw))
			if err != nil || int(vote.Signer) != i || vote.Proposal != c.Proposal {
				t.Errorf("%s of view %d: vote %d: %v", e.Kind, e.View, i, err)
			}
		}
	}
}
