// Package blockdoc writes a block as a document that a person can read, alter
// field by field, and have judged: the way in for tests of block validity.
//
// In: a block, and its place: what consensus knows of it, apart from the block's
// own words. Out: JSON that names every field of the header and holds the bodies
// of the transactions, and the block again. [Document.Set] alters one value by
// its path; [Document.Renew] signs anew, with the keys of a development chain,
// what an alteration made stale, up to the certificate of the quorum.
//
// A document is lossless: [Parse] of [Document.Encode] gives the same bytes of
// the block. Nothing in it is judged here; node/ledger does that.
//
// Sections: whitepaper §6.5; resolutions 11.8, 11.41.
package blockdoc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/light"
)

// Format names the documents of this package.
const Format = "cowboy-block-v1"

// BytesMax bounds a document: hex doubles the largest block.
const BytesMax = 64 << 20

// ErrFormat means a document of another kind.
var ErrFormat = errors.New("not a block document: want format " + Format)

// Place is what consensus knows of a proposal before it looks at the block: the
// round, who leads it, and the block that it extends.
type Place struct {
	Height      chain.Height // one above the parent's
	Epoch       chain.Epoch
	View        chain.View
	Leader      chain.PeerKey
	Parent      chain.Hash // digest; the genesis hash for block 1
	ParentEpoch chain.Epoch
	ParentView  chain.View
	ParentSeed  [48]byte // threshold seed of the parent's round
}

// Document is a block at its place.
type Document struct {
	Genesis chain.Hash // of the chain
	Place   Place
	Block   chain.Block
	// Certificate is the encoded certificate of a quorum for the block. Nil: none.
	Certificate []byte
}

// PlaceOf returns the place that a final block was proposed at: its header, which
// a quorum signed, says so.
func PlaceOf(h *chain.Header) Place {
	return Place{
		Height: h.Height, Epoch: h.Epoch, View: h.View, Leader: h.Proposer,
		Parent: h.Parent, ParentEpoch: h.ParentEpoch, ParentView: h.ParentView, ParentSeed: h.ParentSeed,
	}
}

// Encode writes the document as indented JSON.
func (d *Document) Encode() ([]byte, error) {
	raw, err := json.MarshalIndent(d.text(), "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode block document: %w", err)
	}
	return append(raw, '\n'), nil
}

// Parse reads what Encode writes.
func Parse(raw []byte) (*Document, error) {
	if len(raw) > BytesMax {
		return nil, fmt.Errorf("block document of %d bytes, at most %d", len(raw), BytesMax)
	}
	var f file
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return nil, fmt.Errorf("parse block document: %w", err)
	}
	if f.Format != Format {
		return nil, ErrFormat
	}
	return f.document()
}

// file is the document as text. The names of the fields are those of Set.
type file struct {
	Format  string        `json:"format"`
	Genesis chain.Hash    `json:"genesis"`
	Place   place         `json:"place"`
	Header  header        `json:"header"`
	Txs     []light.Bytes `json:"txs"` // bodies, in order of execution

	Certificate light.Bytes `json:"certificate,omitempty"`
}

type place struct {
	Height      uint64      `json:"height"`
	Epoch       uint64      `json:"epoch"`
	View        uint64      `json:"view"`
	Leader      light.Bytes `json:"leader"`
	Parent      chain.Hash  `json:"parent"`
	ParentEpoch uint64      `json:"parent_epoch"`
	ParentView  uint64      `json:"parent_view"`
	ParentSeed  light.Bytes `json:"parent_seed"`
}

type header struct {
	Version       uint64      `json:"version"`
	Parent        chain.Hash  `json:"parent"`
	Height        uint64      `json:"height"`
	Epoch         uint64      `json:"epoch"`
	View          uint64      `json:"view"`
	ParentEpoch   uint64      `json:"parent_epoch"`
	ParentView    uint64      `json:"parent_view"`
	ParentSeed    light.Bytes `json:"parent_seed"`
	Timestamp     uint64      `json:"timestamp_ms"`
	Proposer      light.Bytes `json:"proposer"`
	TxRoot        chain.Hash  `json:"tx_root"`
	BodyRoot      chain.Hash  `json:"body_root"`
	ReceiptsRoot  chain.Hash  `json:"receipts_root"`
	StateRoot     chain.Hash  `json:"state_root"`
	BaseFees      laneFees    `json:"base_fees"`
	Used          laneUsage   `json:"used"`
	PresenceInput light.Bytes `json:"presence_input"`
	ConsumedSeeds light.Bytes `json:"consumed_seeds"`
	OrderProof    light.Bytes `json:"order_proof"`
}

// laneFees and laneUsage name the lanes in the order of [chain.LaneID].
type laneFees struct {
	System fees `json:"system"`
	Timer  fees `json:"timer"`
	Runner fees `json:"runner"`
	User   fees `json:"user"`
}

type fees struct {
	PerCycle uint64 `json:"per_cycle"`
	PerCell  uint64 `json:"per_cell"`
}

type laneUsage struct {
	System usage `json:"system"`
	Timer  usage `json:"timer"`
	Runner usage `json:"runner"`
	User   usage `json:"user"`
}

type usage struct {
	Cycles uint64 `json:"cycles"`
	Cells  uint64 `json:"cells"`
}

func (d *Document) text() file {
	h, p := &d.Block.Header, &d.Place
	f := file{
		Format: Format, Genesis: d.Genesis,
		Place: place{
			uint64(p.Height), uint64(p.Epoch), uint64(p.View), p.Leader[:],
			p.Parent, uint64(p.ParentEpoch), uint64(p.ParentView), p.ParentSeed[:],
		},
		Header: header{
			Version: h.Version, Parent: h.Parent, Height: uint64(h.Height), Epoch: uint64(h.Epoch), View: uint64(h.View),
			ParentEpoch: uint64(h.ParentEpoch), ParentView: uint64(h.ParentView), ParentSeed: h.ParentSeed[:],
			Timestamp: h.TimestampMillis, Proposer: h.Proposer[:],
			TxRoot: h.TxRoot, BodyRoot: h.BodyRoot, ReceiptsRoot: h.ReceiptsRoot, StateRoot: h.StateRoot,
			PresenceInput: h.PresenceInput, ConsumedSeeds: h.ConsumedSeeds, OrderProof: h.OrderProof[:],
		},
		Txs:         []light.Bytes{},
		Certificate: d.Certificate,
	}
	for lane, at := range f.Header.BaseFees.lanes() {
		*at = fees{uint64(h.BaseFees[lane].PerCycle), uint64(h.BaseFees[lane].PerCell)}
	}
	for lane, at := range f.Header.Used.lanes() {
		*at = usage{uint64(h.Used[lane].Cycles), uint64(h.Used[lane].Cells)}
	}
	for _, body := range d.Block.Txs {
		f.Txs = append(f.Txs, body)
	}
	return f
}

func (f *file) document() (*Document, error) {
	p, x := &f.Place, &f.Header
	d := &Document{Genesis: f.Genesis, Certificate: f.Certificate}
	d.Place = Place{
		Height: chain.Height(p.Height), Epoch: chain.Epoch(p.Epoch), View: chain.View(p.View),
		Parent: p.Parent, ParentEpoch: chain.Epoch(p.ParentEpoch), ParentView: chain.View(p.ParentView),
	}
	h := &d.Block.Header
	*h = chain.Header{
		Version: x.Version, Parent: x.Parent, Height: chain.Height(x.Height), Epoch: chain.Epoch(x.Epoch), View: chain.View(x.View),
		ParentEpoch: chain.Epoch(x.ParentEpoch), ParentView: chain.View(x.ParentView), TimestampMillis: x.Timestamp,
		TxRoot: x.TxRoot, BodyRoot: x.BodyRoot, ReceiptsRoot: x.ReceiptsRoot, StateRoot: x.StateRoot,
		PresenceInput: x.PresenceInput, ConsumedSeeds: x.ConsumedSeeds,
	}
	for lane, at := range x.BaseFees.lanes() {
		h.BaseFees[lane] = chain.FeePair{PerCycle: chain.Wei(at.PerCycle), PerCell: chain.Wei(at.PerCell)}
	}
	for lane, at := range x.Used.lanes() {
		h.Used[lane] = chain.Usage{Cycles: chain.Cycles(at.Cycles), Cells: chain.Cells(at.Cells)}
	}
	for _, body := range f.Txs {
		d.Block.Txs = append(d.Block.Txs, body)
	}
	return d, errors.Join(
		fill(d.Place.Leader[:], "place.leader", p.Leader), fill(d.Place.ParentSeed[:], "place.parent_seed", p.ParentSeed),
		fill(h.ParentSeed[:], "header.parent_seed", x.ParentSeed), fill(h.Proposer[:], "header.proposer", x.Proposer),
		fill(h.OrderProof[:], "header.order_proof", x.OrderProof))
}

func (l *laneFees) lanes() [chain.NumLanes]*fees {
	return [chain.NumLanes]*fees{&l.System, &l.Timer, &l.Runner, &l.User}
}

func (l *laneUsage) lanes() [chain.NumLanes]*usage {
	return [chain.NumLanes]*usage{&l.System, &l.Timer, &l.Runner, &l.User}
}

func fill(dst []byte, name string, src []byte) error {
	if len(src) != len(dst) {
		return fmt.Errorf("%s has %d bytes, want %d", name, len(src), len(dst))
	}
	copy(dst, src)
	return nil
}
