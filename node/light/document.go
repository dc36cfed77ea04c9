package light

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/cowboy-foundation/cowboy/chain"
)

// Limits of a document. They are this package's own.
const (
	// DocumentBytesMax bounds a document: the receipt of a transaction may have
	// events of several megabytes, and hex doubles them.
	DocumentBytesMax = 32 << 20
	// DescendantsMax bounds the headers between a block and the certificate.
	// More than a few only follow a time in which the validators could not
	// finalize.
	DescendantsMax = 256
	// KeysMax bounds the accounts and slots of one multi-proof together.
	KeysMax = 1024
)

// Kind says what a document proves.
type Kind string

// The kinds.
const (
	KindHeader      Kind = "header"      // a block is final
	KindAccount     Kind = "account"     // an account, or that there is none
	KindStorage     Kind = "storage"     // a storage value, or that there is none
	KindTransaction Kind = "transaction" // a transaction is in a block
	KindReceipt     Kind = "receipt"     // how a transaction of a block ended
	KindMulti       Kind = "multi"       // several accounts and storage values
)

// Bytes are written as 0x and lower-case hex.
type Bytes []byte

// MarshalText writes b.
func (b Bytes) MarshalText() ([]byte, error) {
	return hex.AppendEncode([]byte("0x"), b), nil
}

// UnmarshalText reads what MarshalText writes, in either case of letters.
func (b *Bytes) UnmarshalText(text []byte) error {
	digits, ok := bytes.CutPrefix(text, []byte("0x"))
	if !ok {
		return errors.New("bytes begin with 0x")
	}
	out, err := hex.DecodeString(string(digits))
	*b = out
	return err
}

// List is a JSON array, [] and not null if empty.
type List[T any] []T

// MarshalJSON writes l.
func (l List[T]) MarshalJSON() ([]byte, error) {
	if len(l) == 0 {
		return []byte("[]"), nil
	}
	return json.Marshal([]T(l))
}

// Frame begins every document: the block, and why it is final.
type Frame struct {
	Kind      Kind         `json:"kind"`
	ChainID   uint64       `json:"chain_id"`
	Genesis   chain.Hash   `json:"genesis"`
	Height    chain.Height `json:"height"`
	BlockHash chain.Hash   `json:"block_hash"`
	Header    Bytes        `json:"header"` // canonical encoding; BlockHash is its digest
	// Descendants are the headers after it, up to the one that the certificate
	// is for: a block is final with any final descendant. Mostly there are none.
	Descendants List[Bytes] `json:"descendants"`
	Certificate Bytes       `json:"certificate"` // finalization, as simplex encodes it
}

func (f *Frame) frame() *Frame { return f }

// Document is one of the documents of this package.
type Document interface {
	frame() *Frame
	show(v *Verifier, h *chain.Header, out *Shown) error
}

// Header is the document of [KindHeader].
type Header struct{ Frame }

// Leaf is what a trie says under one key.
type Leaf struct {
	Key    chain.Hash  `json:"key"`    // keccak256 of the address or of the slot
	Value  Bytes       `json:"value"`  // RLP, "0x" if absent
	Exists bool        `json:"exists"` // false: the proof is one of absence
	Proof  List[Bytes] `json:"proof"`  // nodes from the root down, as Ethereum tooling takes them
}

// Account is the document of [KindAccount].
type Account struct {
	Frame
	Address   chain.Address `json:"address"`
	StateRoot chain.Hash    `json:"state_root"`
	Leaf
}

// Storage is the document of [KindStorage]: the account, whose storage root
// the second proof is against. An absent account has an empty storage.
type Storage struct {
	Frame
	Address     chain.Address `json:"address"`
	StateRoot   chain.Hash    `json:"state_root"`
	Account     Leaf          `json:"account"`
	StorageRoot chain.Hash    `json:"storage_root"`
	Slot        Bytes         `json:"slot"` // one byte of namespace and the key
	Leaf
}

// Listed is the document of [KindTransaction] and [KindReceipt]: an item of a
// list that the header has the root of.
type Listed struct {
	Frame
	TxHash chain.Hash  `json:"tx_hash"`
	Index  uint32      `json:"index"` // place in the block
	Root   chain.Hash  `json:"root"`  // transactions or receipts root of the header
	Key    Bytes       `json:"key"`   // RLP of Index
	Value  Bytes       `json:"value"` // the transaction's body, or the receipt's encoding
	Proof  List[Bytes] `json:"proof"`
}

// Multi is the document of [KindMulti]. Nodes are those of all proofs, each
// once, in the order in which the accounts and below each its slots need them.
type Multi struct {
	Frame
	StateRoot chain.Hash         `json:"state_root"`
	Accounts  List[MultiAccount] `json:"accounts"`
	Nodes     List[Bytes]        `json:"nodes"`
}

// MultiAccount is one account of a [Multi].
type MultiAccount struct {
	Address chain.Address   `json:"address"`
	Key     chain.Hash      `json:"key"`   // keccak256 of the address
	Value   Bytes           `json:"value"` // RLP, "0x" if absent
	Exists  bool            `json:"exists"`
	Slots   List[MultiSlot] `json:"slots"`
}

// MultiSlot is one storage value of a [MultiAccount].
type MultiSlot struct {
	Slot   Bytes      `json:"slot"`
	Key    chain.Hash `json:"key"`   // keccak256 of the slot
	Value  Bytes      `json:"value"` // RLP, "0x" if absent
	Exists bool       `json:"exists"`
}

// Encode returns the one spelling of a document, in one line with its end.
func Encode(d Document) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(d); err != nil {
		return nil, fmt.Errorf("encode proof: %w", err)
	}
	return b.Bytes(), nil
}

// Decode reads a document without verifying it. White space between tokens is
// free; everything else must be as [Encode] writes it.
func Decode(text []byte) (Document, error) {
	if len(text) > DocumentBytesMax {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(text), DocumentBytesMax)
	}
	var head struct {
		Kind Kind `json:"kind"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	d, err := newDocument(head.Kind)
	if err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(d); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: text after the document", ErrMalformed)
	}
	return d, checkSpelling(d, text)
}

func newDocument(k Kind) (Document, error) {
	switch k {
	case KindHeader:
		return new(Header), nil
	case KindAccount:
		return new(Account), nil
	case KindStorage:
		return new(Storage), nil
	case KindTransaction, KindReceipt:
		return new(Listed), nil
	case KindMulti:
		return new(Multi), nil
	}
	return nil, fmt.Errorf("%w: unknown kind of proof", ErrMalformed)
}

// checkSpelling refuses what the decoder of the standard library forgives:
// names in other letters, names twice, null, escapes.
func checkSpelling(d Document, text []byte) error {
	want, err := Encode(d)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	var got bytes.Buffer
	if err := json.Compact(&got, text); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if !bytes.Equal(got.Bytes(), bytes.TrimSuffix(want, []byte("\n"))) {
		return fmt.Errorf("%w: a field is missing, stands twice or is spelled in another way", ErrMalformed)
	}
	return nil
}
