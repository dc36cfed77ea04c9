package shards

import (
	"bytes"
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

func TestParcelsAreRefused(t *testing.T) {
	c := newCode(t, 7)
	w, err := c.Encode(randomBody(5, 500))
	if err != nil {
		t.Fatal(err)
	}
	f := func(rule string, want error, change func(p *Parcel)) {
		t.Helper()
		p := w.Parcel(bytes.Repeat([]byte{7}, 100), 4)
		change(p)
		b := p.Append(nil)
		if len(b) != p.Size() {
			t.Errorf("%s: %d bytes, announced %d", rule, len(b), p.Size())
		}
		got, err := c.DecodeParcel(b)
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", rule, err, want)
		}
		if err == nil && !bytes.Equal(got.Append(nil), b) {
			t.Errorf("%s: encodes differently again", rule)
		}
		if err == nil && len(b) > c.ParcelMax() {
			t.Errorf("%s: %d bytes, more than the largest parcel", rule, len(b))
		}
	}
	f("good", nil, func(*Parcel) {})
	f("longest head", nil, func(p *Parcel) { p.Head = make([]byte, 256) })
	f("head too long", ErrHeadLength, func(p *Parcel) { p.Head = make([]byte, 257) })
	f("no head", nil, func(p *Parcel) { p.Head = nil })
	f("widest shard", nil, func(p *Parcel) { p.Shard.Bytes = make([]byte, c.codec.Width(1<<20)) })
	f("shard too wide", ErrWidth, func(p *Parcel) { p.Shard.Bytes = make([]byte, c.codec.Width(1<<20)+1) })
	f("a step less", ErrProof, func(p *Parcel) { p.Shard.Proof = p.Shard.Proof[1:] })
	f("a step more", ErrProof, func(p *Parcel) { p.Shard.Proof = append(p.Shard.Proof, chain.Hash{}) })
	b := w.Parcel([]byte{1}, 4).Append(nil)
	for n := range len(b) - len(w.shards[4]) {
		if _, err := c.DecodeParcel(b[:n]); err == nil {
			t.Errorf("cut to %d bytes: accepted", n)
		}
	}
}

// FuzzParcel: what decodes is written in its one form and within the bounds,
// and a pool that takes it stays within its own.
func FuzzParcel(f *testing.F) {
	c := newCode(f, 4)
	format := testFormat{c}
	w, head := format.block(f, 1, 200)
	for i := range 4 {
		f.Add(w.Parcel(head, i).Append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := c.DecodeParcel(b)
		if err != nil {
			return
		}
		if !bytes.Equal(p.Append(nil), b) || len(b) > c.ParcelMax() {
			t.Fatalf("%d bytes, encoded again %d", len(b), p.Size())
		}
		pool := NewPool(c, format, 1)
		a, err := pool.Relay(2, round(5), format.digest(p.Head), p)
		if (a == nil) == (err == nil) {
			t.Fatalf("assembly %v, error %v", a, err)
		}
		if err == nil && c.Check(p.Opening, p.Shard) != nil {
			t.Fatal("a shard that does not pass is kept")
		}
	})
}
