package chain

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// Reasons for which bytes are no block or receipt, besides those of chain/cbor.
var (
	// ErrHeaderVersion means a header of a version this code does not know.
	ErrHeaderVersion = errors.New("unknown header version")
	// ErrBlockTooLarge means a block above the caller's limit.
	ErrBlockTooLarge = errors.New("block too large")
	// ErrTxTooSmall means a body that no transaction fits in.
	ErrTxTooSmall = errors.New("transaction body too small")
	// ErrReceiptCode means a receipt whose status and code contradict each
	// other.
	ErrReceiptCode = errors.New("receipt's code contradicts its status")
)

// EncodeHeader returns the canonical encoding of h: a CBOR array of its fields
// in declaration order.
func EncodeHeader(h *Header) []byte {
	return h.appendTo(make([]byte, 0, 640+len(h.PresenceInput)+len(h.ConsumedSeeds)))
}

// DecodeHeader reads what EncodeHeader writes and nothing else. PresenceInput
// and ConsumedSeeds are bounded byte strings here; their own decoders judge
// what is in them. They alias b.
func DecodeHeader(b []byte) (*Header, error) {
	r := cbor.NewReader(b)
	h := new(Header)
	if err := readHeader(&r, h); err != nil {
		return nil, err
	}
	if err := r.End(); err != nil {
		return nil, &FieldError{Object: "Header", Err: err}
	}
	return h, nil
}

func readHeader(r *cbor.Reader, h *Header) error {
	if err := h.readFrom(r); err != nil {
		return err
	}
	if h.Version != HeaderVersion {
		return &FieldError{Object: "Header", Field: "Version", Err: fmt.Errorf("%d: %w", h.Version, ErrHeaderVersion)}
	}
	return nil
}

// Digest returns the hash that names the block and that validators vote on.
// It covers every field of the header.
func (h *Header) Digest() Hash {
	return keccak.Sum256([]byte(domainBlock), EncodeHeader(h))
}

// Encode returns the canonical encoding of the block: a CBOR array of the
// header and an array of the bodies as byte strings.
func (b *Block) Encode() []byte {
	size := 640 + len(b.Header.PresenceInput) + len(b.Header.ConsumedSeeds)
	for _, body := range b.Txs {
		size += len(body) + 5
	}
	dst := cbor.AppendArray(make([]byte, 0, size), 2)
	dst = b.Header.appendTo(dst)
	dst = cbor.AppendArray(dst, len(b.Txs))
	for _, body := range b.Txs {
		dst = cbor.AppendBytes(dst, body)
	}
	return dst
}

// DecodeBlock reads a block of at most maxBytes. The bodies alias b and are not
// decoded: that is DecodeTx's work, done for many at once.
func DecodeBlock(b []byte, maxBytes int) (*Block, error) {
	if len(b) > maxBytes {
		return nil, fmt.Errorf("%d bytes, at most %d: %w", len(b), maxBytes, ErrBlockTooLarge)
	}
	r := cbor.NewReader(b)
	if err := r.ArrayOf(2); err != nil {
		return nil, &FieldError{Object: "Block", Err: err}
	}
	block := new(Block)
	if err := readHeader(&r, &block.Header); err != nil {
		return nil, err
	}
	if err := readBodies(&r, block, len(b)); err != nil {
		return nil, &FieldError{Object: "Block", Field: "Txs", Err: err}
	}
	if err := r.End(); err != nil {
		return nil, &FieldError{Object: "Block", Err: err}
	}
	return block, nil
}

// SplitBlock cuts an encoded block into the encodings of its header and of its
// bodies, which it does not read. Both share b's memory.
func SplitBlock(b []byte) (header, bodies []byte, err error) {
	r := cbor.NewReader(b)
	if err := r.ArrayOf(2); err != nil {
		return nil, nil, &FieldError{Object: "Block", Err: err}
	}
	start, h := r.Offset(), new(Header)
	if err := readHeader(&r, h); err != nil {
		return nil, nil, err
	}
	end := r.Offset()
	return b[start:end:end], b[end:], nil
}

// JoinBlock is the inverse of SplitBlock.
func JoinBlock(header, bodies []byte) []byte {
	dst := cbor.AppendArray(make([]byte, 0, 1+len(header)+len(bodies)), 2)
	return append(append(dst, header...), bodies...)
}

func readBodies(r *cbor.Reader, block *Block, size int) error {
	// As many bodies as could fit, not as many as announced, bound the list.
	n, err := r.Array((size - r.Offset()) / (1 + minTxBytes))
	if err != nil || n == 0 {
		return err
	}
	block.Txs = make([][]byte, n)
	for i := range block.Txs {
		body, err := r.Bytes(MaxTxBytes)
		if err != nil {
			return err
		}
		if len(body) < minTxBytes {
			return ErrTxTooSmall
		}
		block.Txs[i] = body
	}
	return nil
}

// Encode returns the canonical encoding of the receipt, the leaf of the
// receipts root.
func (r *Receipt) Encode() []byte { return r.appendTo(make([]byte, 0, r.encodedBytes())) }

// encodedBytes is the length of the encoding.
func (r *Receipt) encodedBytes() int {
	size := 1 + (2 + len(r.TxHash)) + 1 + 1 // both enumerations are below 24
	for _, n := range [...]uint64{uint64(r.Code), uint64(r.CyclesUsed), uint64(r.CellsUsed), uint64(r.Fee), uint64(r.Tip)} {
		size += cbor.HeadBytes(n)
	}
	size += bytesBytes(len(r.Output)) + cbor.HeadBytes(uint64(len(r.Events))) + cbor.HeadBytes(uint64(len(r.Trace)))
	for i := range r.Events {
		size += r.Events[i].encodedBytes()
	}
	for i := range r.Trace {
		size += r.Trace[i].encodedBytes()
	}
	return size
}

// bytesBytes is how many bytes a string of n takes.
func bytesBytes(n int) int { return cbor.HeadBytes(uint64(n)) + n }

func (e *Event) encodedBytes() int {
	return 1 + (1 + len(e.Emitter)) + bytesBytes(len(e.Name)) + bytesBytes(len(e.Data))
}

func (d *Delivery) encodedBytes() int {
	return 1 + (2 + len(d.Message)) + cbor.HeadBytes(d.Parent) + cbor.HeadBytes(d.Depth) + (1 + len(d.To)) + 1 +
		cbor.HeadBytes(uint64(d.Code)) + cbor.HeadBytes(uint64(d.Cycles))
}

// EncodeReceipts returns the encodings of receipts, which stand behind each other in one
// piece of memory.
func EncodeReceipts(list []Receipt) [][]byte {
	size := 0
	for i := range list {
		size += list[i].encodedBytes()
	}
	all, encoded := make([]byte, 0, size), make([][]byte, len(list))
	for i := range list {
		begin := len(all)
		all = list[i].appendTo(all) // which has room for it
		encoded[i] = all[begin:len(all):len(all)]
	}
	return encoded
}

// DecodeReceipt reads what Encode writes and nothing else. The data of events
// aliases b.
func DecodeReceipt(b []byte) (*Receipt, error) {
	r := cbor.NewReader(b)
	rec := new(Receipt)
	if err := rec.readFrom(&r); err != nil {
		return nil, err
	}
	if err := r.End(); err != nil {
		return nil, &FieldError{Object: "Receipt", Err: err}
	}
	if (rec.Status == StatusSucceeded) != (rec.Code == CodeOK) {
		return nil, &FieldError{Object: "Receipt", Field: "Code", Err: ErrReceiptCode}
	}
	return rec, nil
}
