package guard

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
)

// InterchangeVersion is the version of the exchange file.
const InterchangeVersion = "1"

// interchangeBytesMax bounds an imported file: a few hundred thousand votes.
const interchangeBytesMax = 64 << 20

// ErrInterchange means a file that is not one of ours, or not for this key.
var ErrInterchange = errors.New("interchange file does not fit")

// interchange is the file, in the manner of EIP-3076: keyed by genesis hash and
// peer key, with rounds in place of slots.
type interchange struct {
	Metadata metadata  `json:"metadata"`
	Data     []history `json:"data"`
}

type metadata struct {
	Version string `json:"interchange_format_version"`
	Genesis string `json:"genesis_hash"`
}

type history struct {
	PeerKey string      `json:"pubkey"`
	Votes   []votedJSON `json:"signed_votes"`
}

// votedJSON is one signed vote. Numbers are decimal text. Without a digest it
// is only known that there was one.
type votedJSON struct {
	Kind   string `json:"kind"`
	Epoch  string `json:"epoch"`
	View   string `json:"view"`
	Parent string `json:"parent,omitempty"`
	Digest string `json:"digest,omitempty"`
}

// Export writes the memory of this key as JSON. The process that exports must
// not sign afterwards.
func (g *Guard) Export(w io.Writer) error {
	h := history{PeerKey: hexOf(g.id.Peer[:]), Votes: []votedJSON{}}
	for k := simplex.Notarize; k <= simplex.Finalize; k++ {
		m := g.mark[k]
		if m == (simplex.Mark{}) {
			continue
		}
		v := votedJSON{
			Kind:  k.String(),
			Epoch: strconv.FormatUint(uint64(m.Proposal.Round.Epoch), 10),
			View:  strconv.FormatUint(uint64(m.Proposal.Round.View), 10),
		}
		if k != simplex.Nullify && !m.Blind {
			v.Parent = strconv.FormatUint(uint64(m.Proposal.Parent), 10)
			v.Digest = hexOf(m.Proposal.Payload[:])
		}
		h.Votes = append(h.Votes, v)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(interchange{
		Metadata: metadata{Version: InterchangeVersion, Genesis: hexOf(g.id.Genesis[:])},
		Data:     []history{h},
	})
}

// Import takes in the memory of another process with this key and makes it
// durable. Of all votes, its own included, it keeps the highest: a pruned
// history, an old one, or one that contradicts ours is no error. It fails,
// without effect, on a file of another chain or without this key.
func (g *Guard) Import(r io.Reader) error {
	if g.poisoned != nil {
		return g.poisoned
	}
	mark := g.mark
	if err := merge(&mark, g.id, r); err != nil {
		return err
	}
	g.mark = mark
	return g.Sync()
}

// merge adds the votes of a file to mark.
func merge(mark *simplex.Watermark, id Identity, r io.Reader) error {
	d := json.NewDecoder(io.LimitReader(r, interchangeBytesMax))
	d.DisallowUnknownFields()
	var in interchange
	if err := d.Decode(&in); err != nil {
		return fmt.Errorf("%w: %w", ErrInterchange, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%w: something follows it", ErrInterchange)
	}
	switch {
	case in.Metadata.Version != InterchangeVersion:
		return fmt.Errorf("%w: version %q, want %s", ErrInterchange, in.Metadata.Version, InterchangeVersion)
	case !strings.EqualFold(in.Metadata.Genesis, hexOf(id.Genesis[:])):
		return fmt.Errorf("%w: genesis %s, want %s", ErrInterchange, in.Metadata.Genesis, hexOf(id.Genesis[:]))
	}
	found := false
	for _, h := range in.Data {
		if !strings.EqualFold(h.PeerKey, hexOf(id.Peer[:])) {
			continue
		}
		found = true
		for i, v := range h.Votes {
			other, err := v.watermark()
			if err != nil {
				return fmt.Errorf("%w: vote %d: %w", ErrInterchange, i, err)
			}
			mark.Merge(other)
		}
	}
	if !found {
		return fmt.Errorf("%w: key %s is not in it", ErrInterchange, hexOf(id.Peer[:]))
	}
	return nil
}

// watermark returns the memory of one vote.
func (v votedJSON) watermark() (simplex.Watermark, error) {
	var w simplex.Watermark
	epoch, err := strconv.ParseUint(v.Epoch, 10, 64)
	if err != nil {
		return w, fmt.Errorf("epoch: %w", err)
	}
	view, err := strconv.ParseUint(v.View, 10, 64)
	if err != nil {
		return w, fmt.Errorf("view: %w", err)
	}
	if view == 0 {
		return w, errors.New("view 0 has no votes")
	}
	m := simplex.Mark{Proposal: simplex.Proposal{Round: beacon.Round{Epoch: chain.Epoch(epoch), View: chain.View(view)}}}
	for k := simplex.Notarize; k <= simplex.Finalize; k++ {
		if v.Kind != k.String() {
			continue
		}
		switch {
		case k == simplex.Nullify:
		case v.Digest == "":
			m.Blind = true
		default:
			if err := v.subject(&m.Proposal); err != nil {
				return w, err
			}
		}
		w[k] = m
		return w, nil
	}
	return w, fmt.Errorf("kind %q", v.Kind)
}

func (v votedJSON) subject(p *simplex.Proposal) error {
	parent, err := strconv.ParseUint(v.Parent, 10, 64)
	if err != nil {
		return fmt.Errorf("parent: %w", err)
	}
	digest, err := hex.DecodeString(strings.TrimPrefix(v.Digest, "0x"))
	if err != nil || len(digest) != len(p.Payload) {
		return fmt.Errorf("digest %q", v.Digest)
	}
	p.Parent = chain.View(parent)
	copy(p.Payload[:], digest)
	return nil
}

func hexOf(b []byte) string { return "0x" + hex.EncodeToString(b) }
