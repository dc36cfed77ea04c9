package checkpoint

import (
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

// lineage returns a block and the headers of so many after it.
func lineage(n int) (block []byte, headers [][]byte) {
	h := chain.Header{
		Version: chain.HeaderVersion, Height: 7, TxRoot: tree.ListRoot(nil),
		PresenceInput: chain.NewPresentSet(0).Encode(), ConsumedSeeds: chain.EncodeConsumedSeeds(nil),
	}
	block = (&chain.Block{Header: h}).Encode()
	for range n {
		h.Parent, h.Height = h.Digest(), h.Height+1
		headers = append(headers, chain.EncodeHeader(&h))
	}
	return block, headers
}

// TestHeadOfDescendants: headers lead from the block to the one that the certificate is
// of; a gap, another order, too many of them or too many bytes are refused before
// anybody checks a signature.
func TestHeadOfDescendants(t *testing.T) {
	block, headers := lineage(DescendantsMax + 1)
	f := func(rule string, descendants [][]byte, want error) {
		t.Helper()
		var asked chain.Height
		certify := func(h *chain.Header, _ chain.Hash, final *chain.Header, _ []byte) error {
			if h.Height != 7 {
				t.Errorf("%s: certified block %d", rule, h.Height)
			}
			asked = final.Height
			return nil
		}
		h, err := DecodeHead((&Head{Block: block, Certificate: []byte("c"), Descendants: descendants}).Append(nil))
		if err == nil {
			_, err = h.Check(chain.Hash{}, certify)
		}
		if !errors.Is(err, want) || err == nil && asked != chain.Height(7+len(descendants)) || err != nil && asked != 0 {
			t.Errorf("%s: %v, want %v; asked for the certificate of block %d", rule, err, want, asked)
		}
	}
	f("its own", nil, nil)
	f("the child", headers[:1], nil)
	f("as far as may be", headers[:DescendantsMax], nil)
	f("one more", headers, ErrEncoding)
	f("a gap", [][]byte{headers[0], headers[2]}, ErrEncoding)
	f("the grandchild alone", headers[1:2], ErrEncoding)
	f("another order", [][]byte{headers[1], headers[0]}, ErrEncoding)
	f("no header", [][]byte{[]byte("x")}, ErrEncoding)
	f("too many bytes", [][]byte{headers[0], make([]byte, DescendantBytesMax)}, ErrEncoding)
	if most := len(headers[0]); DescendantsMax*(most+4)+4 > DescendantBytesMax {
		t.Errorf("%d headers of %d bytes do not fit", DescendantsMax, most)
	}
	none := append((&Head{Block: block}).Append(nil), 0, 0, 0, 0)
	none[1] = headVersionDescends
	if _, err := DecodeHead(none); !errors.Is(err, ErrEncoding) {
		t.Errorf("a second encoding of a head without descendants: %v", err)
	}
}
