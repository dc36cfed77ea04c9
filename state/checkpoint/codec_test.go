package checkpoint

import (
	"bytes"
	"errors"
	"io"
	"math"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

// samples are one chunk of each kind, whose contents are of no state.
func samples() []Chunk {
	return []Chunk{
		&Accounts{},
		&Accounts{
			From: chain.Hash{1}, Proof: [][]byte{{1, 2}, {}},
			Accounts: []Account{
				{Key: chain.Hash{2}, Row: []byte{3}},
				{Key: chain.Hash{3}, Row: []byte{4}, Storage: Here, Slots: []Slot{{"k", []byte("v")}, {"l", []byte{}}}},
				{Key: chain.Hash{4}, Row: []byte{5}, Storage: Apart},
			},
			Codes: [][]byte{[]byte("code")},
		},
		&Slots{Account: chain.Hash{5}, Row: []byte{6}, AccountProof: [][]byte{{7}}, From: chain.Hash{8}, Proof: [][]byte{{9}}, Slots: []Slot{{"s", []byte{1}}}},
		&List{Job: chain.Hash{6}, Candidates: []chain.Candidate{{Runner: chain.Address{1}, EffectiveStake: 2, ReputationX1e9: 3, BaseWeight: math.MaxUint64}}},
	}
}

func TestChunkEncodings(t *testing.T) {
	for _, c := range samples() {
		enc := c.Append(nil)
		again, err := DecodeChunk(enc)
		if err != nil || !bytes.Equal(again.Append(nil), enc) {
			t.Errorf("%T: %v, %x", c, err, enc)
		}
		for n := range enc {
			if _, err := DecodeChunk(enc[:n]); !errors.Is(err, ErrEncoding) {
				t.Fatalf("%T cut off at %d: %v", c, n, err)
			}
		}
		if _, err := DecodeChunk(append(enc, 0)); !errors.Is(err, ErrEncoding) {
			t.Errorf("%T with a byte behind it: %v", c, err)
		}
	}
	a := samples()[1].(*Accounts)
	a.Accounts[2].Storage = 3
	for name, b := range map[string][]byte{
		"unknown tag":              {'x'},
		"nothing":                  {},
		"unknown place of storage": a.Append(nil),
		"a count beyond the bytes": append((&Accounts{}).Append(nil)[:37], 0xff, 0xff, 0xff, 0xff),
		"more than a chunk":        make([]byte, MaxChunkBytes+1),
	} {
		if _, err := DecodeChunk(b); !errors.Is(err, ErrEncoding) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzDecodeChunk(f *testing.F) {
	for _, c := range samples() {
		f.Add(c.Append(nil))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := DecodeChunk(b)
		if err != nil {
			return
		}
		if again := c.Append(nil); !bytes.Equal(again, b) {
			t.Fatalf("%x encodes as %x", b, again)
		}
		switch c := c.(type) { // whatever it says, checking it must end well
		case *Accounts:
			_, err = c.Check(chain.Hash{1})
		case *Slots:
			_, err = c.Check(chain.Hash{1})
		}
		if err != nil && !errors.Is(err, ErrChunk) {
			t.Fatal(err)
		}
		if _, isList := c.(*List); err == nil && !isList {
			t.Fatal("a chunk of a state that nobody knows was accepted")
		}
	})
}

func FuzzDecodeHead(f *testing.F) {
	f.Add((&Head{Genesis: chain.Hash{1}, Block: []byte("b"), Certificate: []byte("c")}).Append(nil))
	f.Add((&Head{Genesis: chain.Hash{1}, Block: []byte("b"), Certificate: []byte("c"), Descendants: [][]byte{[]byte("h"), {}}}).Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := DecodeHead(b)
		if err != nil {
			return
		}
		if again := h.Append(nil); !bytes.Equal(again, b) {
			t.Fatalf("%x encodes as %x", b, again)
		}
		accept := func(*chain.Header, chain.Hash, *chain.Header, []byte) error { return nil }
		if a, err := h.Check(h.Genesis, accept); err == nil && a.Height() == 0 {
			t.Fatal("a checkpoint of the genesis")
		}
	})
}

func FuzzDecodeRequest(f *testing.F) {
	f.Add(Request{Kind: AskAccounts, From: chain.Hash{1}}.Append(nil))
	f.Add(Request{Kind: AskSlots, Account: chain.Hash{2}}.Append(nil))
	f.Add(Request{Kind: AskList, From: chain.Hash{3}}.Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		q, err := DecodeRequest(b)
		if err != nil {
			return
		}
		if again := q.Append(nil); !bytes.Equal(again, b) {
			t.Fatalf("%x encodes as %x", b, again)
		}
	})
}

// FuzzReadFile reads hostile files from the front and by index.
func FuzzReadFile(f *testing.F) {
	var good bytes.Buffer
	w, err := NewWriter(&good, &Head{Certificate: []byte("c"), Block: []byte("b")})
	if err != nil {
		f.Fatal(err)
	}
	for _, c := range samples() {
		if err := w.Chunk(c); err != nil {
			f.Fatal(err)
		}
	}
	if n, err := w.Finish(); err != nil || n != int64(good.Len()) {
		f.Fatal(n, err)
	}
	f.Add(good.Bytes())
	f.Fuzz(func(t *testing.T, b []byte) {
		known := func(err error) bool {
			return errors.Is(err, ErrDamaged) || errors.Is(err, ErrNoSnapshot) || errors.Is(err, ErrEncoding)
		}
		if x, err := NewIndex(bytes.NewReader(b)); err != nil && !known(err) {
			t.Fatal(err)
		} else if err == nil {
			if _, _, err := x.Find(Request{Kind: AskAccounts}); err != nil && !known(err) {
				t.Fatal(err)
			}
		}
		r, err := NewReader(bytes.NewReader(b))
		for err == nil {
			_, err = r.Chunk()
		}
		if !errors.Is(err, io.EOF) && !known(err) {
			t.Fatal(err)
		}
	})
}
