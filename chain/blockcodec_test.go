package chain

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// approve rewrites the golden files. A changed file is a hard fork: commit it
// only together with an ADR.
var approve = flag.Bool("approve", false, "rewrite golden files")

// randomUint returns integers of all encoded widths.
func randomUint(rng *rand.Rand) uint64 { return rng.Uint64() >> rng.IntN(64) }

// fillRandom sets every field of the struct at v, by reflection so that a new
// field cannot be forgotten.
func fillRandom(rng *rand.Rand, v reflect.Value) {
	switch v.Kind() {
	case reflect.Uint8, reflect.Uint16:
		v.SetUint(randomUint(rng) & 1)
	case reflect.Uint64:
		v.SetUint(randomUint(rng))
	case reflect.String:
		v.SetString(strings.Repeat("é", rng.IntN(20)))
	case reflect.Array:
		for i := range v.Len() {
			if v.Type().Elem().Kind() == reflect.Uint8 {
				v.Index(i).SetUint(uint64(byte(rng.Uint32())))
			} else {
				fillRandom(rng, v.Index(i))
			}
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), rng.IntN(4), 4))
		for i := range v.Len() {
			fillRandom(rng, v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			fillRandom(rng, v.Field(i))
		}
	}
}

func randomHeader(rng *rand.Rand) *Header {
	h := new(Header)
	fillRandom(rng, reflect.ValueOf(h).Elem())
	h.Version = HeaderVersion
	return h
}

func randomReceipt(rng *rand.Rand) *Receipt {
	r := new(Receipt)
	fillRandom(rng, reflect.ValueOf(r).Elem())
	r.Status = StatusSucceeded
	if r.Code != CodeOK {
		r.Status = StatusFailed
	}
	for i := range r.Trace {
		r.Trace[i].Parent %= MaxDeliveries + 1
		r.Trace[i].Status %= DeliveryWaits + 1
	}
	return r
}

func randomTx(rng *rand.Rand) *Tx {
	tx := new(Tx)
	fillRandom(rng, reflect.ValueOf(tx).Elem())
	tx.AccessList = nil
	if rng.IntN(2) == 0 {
		tx.To = &Address{byte(rng.Uint32())}
	}
	if rng.IntN(2) == 0 {
		tx.AccessList = []AccessEntry{{Address{1}, []Hash{{1}, {byte(2 + rng.IntN(250))}}}, {Address{2}, nil}}
	}
	if rng.IntN(2) == 0 {
		tx.Signature = &TxSignature{YParity: uint8(rng.IntN(2)), R: [32]byte{byte(rng.Uint32())}, S: [32]byte{1, 2}}
	}
	return tx
}

// TestFormatsAreFrozen hashes the encodings of many generated objects. A change
// of a hash is a hard fork: approve it only together with an ADR.
func TestFormatsAreFrozen(t *testing.T) {
	formats := []struct {
		name   string
		encode func(*rand.Rand) []byte
	}{
		{"tx", func(rng *rand.Rand) []byte { return randomTx(rng).Encode() }},
		{"header", func(rng *rand.Rand) []byte { return EncodeHeader(randomHeader(rng)) }},
		{"digest", func(rng *rand.Rand) []byte { d := randomHeader(rng).Digest(); return d[:] }},
		{"receipt", func(rng *rand.Rand) []byte { return randomReceipt(rng).Encode() }},
		{"block", func(rng *rand.Rand) []byte {
			return (&Block{Header: *randomHeader(rng), Txs: [][]byte{randomTx(rng).Encode()}}).Encode()
		}},
	}
	for _, format := range formats {
		t.Run(format.name, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(1, 2))
			sum := sha256.New()
			for range 2048 {
				b := format.encode(rng)
				sum.Write(binary.BigEndian.AppendUint32(nil, uint32(len(b))))
				sum.Write(b)
			}
			checkGolden(t, "testdata/frozen/"+format.name+".sha256", hex.EncodeToString(sum.Sum(nil)))
		})
	}
}

// checkGolden compares got to the one line of a golden file.
func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	if *approve {
		if err := os.WriteFile(name, []byte(got+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != strings.TrimSpace(string(want)) {
		t.Errorf("%s: now %s, frozen as %s", name, got, strings.TrimSpace(string(want)))
	}
}

func TestRoundTrips(t *testing.T) {
	const seed = 7
	rng := rand.New(rand.NewPCG(seed, 0))
	for i := range 500 {
		h := randomHeader(rng)
		got, err := DecodeHeader(EncodeHeader(h))
		if err != nil || !bytes.Equal(EncodeHeader(got), EncodeHeader(h)) || got.Digest() != h.Digest() {
			t.Fatalf("seed %d header %d: %v", seed, i, err)
		}
		r := randomReceipt(rng)
		again, err := DecodeReceipt(r.Encode())
		if err != nil || !bytes.Equal(again.Encode(), r.Encode()) {
			t.Fatalf("seed %d receipt %d: %v", seed, i, err)
		}
		tx := randomTx(rng)
		txAgain, err := DecodeTx(tx.Encode())
		if err != nil || !bytes.Equal(txAgain.Encode(), tx.Encode()) {
			t.Fatalf("seed %d tx %d: %v", seed, i, err)
		}
	}
}

// TestDigestCoversEveryField changes each field of a header in turn, found by
// reflection, and wants another digest: nothing that execution or a light
// client relies on may stay outside.
func TestDigestCoversEveryField(t *testing.T) {
	h := randomHeader(rand.New(rand.NewPCG(3, 3)))
	before := h.Digest()
	var change func(path string, v reflect.Value)
	change = func(path string, v reflect.Value) {
		switch v.Kind() {
		case reflect.Uint64:
			v.SetUint(v.Uint() ^ 1)
			defer v.SetUint(v.Uint() ^ 1)
		case reflect.Uint8:
			v.SetUint(v.Uint() ^ 1)
			defer v.SetUint(v.Uint() ^ 1)
		case reflect.Slice:
			v.SetBytes(append(v.Bytes(), 0))
		case reflect.Array:
			for i := range v.Len() {
				change(path, v.Index(i))
			}
			return
		case reflect.Struct:
			for i := range v.NumField() {
				change(path+"."+v.Type().Field(i).Name, v.Field(i))
			}
			return
		default:
			t.Fatalf("%s: kind %v", path, v.Kind())
		}
		if after := h.Digest(); after == before {
			t.Errorf("%s is outside the digest", path)
		} else if v.Kind() == reflect.Slice {
			before = after
		}
	}
	change("Header", reflect.ValueOf(h).Elem())
}

// TestLargestHeaderFits holds MaxHeaderBytes to the codec: every field at the
// value that takes most bytes.
func TestLargestHeaderFits(t *testing.T) {
	var h Header
	fillLargest(reflect.ValueOf(&h).Elem())
	h.Version = HeaderVersion
	h.PresenceInput = bytes.Repeat([]byte{0xff}, MaxPresenceBytes)
	h.ConsumedSeeds = bytes.Repeat([]byte{0xff}, MaxConsumedSeedsBytes)
	encoded := EncodeHeader(&h)
	if len(encoded) > MaxHeaderBytes-64 { // 64: the framing of a block
		t.Errorf("the largest header takes %d bytes, more than the %d of MaxHeaderBytes with framing", len(encoded), MaxHeaderBytes)
	}
	if len(encoded) < MaxPresenceBytes+MaxConsumedSeedsBytes+500 {
		t.Errorf("the largest header takes %d bytes: fields were left small", len(encoded))
	}
}

func fillLargest(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fillLargest(v.Field(i))
		}
	case reflect.Array:
		for i := range v.Len() {
			fillLargest(v.Index(i))
		}
	case reflect.Uint8, reflect.Uint32, reflect.Uint64:
		v.SetUint(1<<v.Type().Bits() - 1)
	}
}

func TestDecodeHeaderRefuses(t *testing.T) {
	encode := func(change func(*Header)) []byte {
		h := randomHeader(rand.New(rand.NewPCG(5, 5)))
		h.PresenceInput, h.ConsumedSeeds = nil, nil
		change(h)
		return EncodeHeader(h)
	}
	good := encode(func(*Header) {})
	f := func(rule string, b []byte, want error) {
		t.Helper()
		if _, err := DecodeHeader(b); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", rule, err, want)
		}
	}
	f("good", good, nil)
	f("version 0", encode(func(h *Header) { h.Version = 0 }), ErrHeaderVersion)
	f("version 2", encode(func(h *Header) { h.Version = 2 }), ErrHeaderVersion)
	f("largest presence input", encode(func(h *Header) { h.PresenceInput = make([]byte, MaxPresenceBytes) }), nil)
	f("presence input too long", encode(func(h *Header) { h.PresenceInput = make([]byte, MaxPresenceBytes+1) }), cbor.ErrTooLong)
	f("largest consumed seeds", encode(func(h *Header) { h.ConsumedSeeds = make([]byte, 64<<10) }), nil)
	f("consumed seeds too long", encode(func(h *Header) { h.ConsumedSeeds = make([]byte, 64<<10+1) }), cbor.ErrTooLong)
	f("trailing", append(bytes.Clone(good), 0), cbor.ErrTrailing)
	f("cut", good[:len(good)-1], cbor.ErrTruncated)
	f("one field less", append([]byte{good[0] - 1}, good[1:]...), cbor.ErrWrongLength)
	f("empty", nil, cbor.ErrTruncated)
}

func TestDecodeBlockRefuses(t *testing.T) {
	header := randomHeader(rand.New(rand.NewPCG(6, 6)))
	body := publicTx().Encode()
	good := (&Block{Header: *header, Txs: [][]byte{body, body}}).Encode()
	f := func(rule string, b []byte, maxBytes int, want error) {
		t.Helper()
		block, err := DecodeBlock(b, maxBytes)
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", rule, err, want)
		}
		if err == nil && !bytes.Equal(block.Encode(), b) {
			t.Errorf("%s: encodes differently again", rule)
		}
	}
	list := func(head ...byte) []byte {
		return append(header.appendTo(cbor.AppendArray(nil, 2)), head...)
	}
	f("two transactions", good, len(good), nil)
	f("none", (&Block{Header: *header}).Encode(), 1<<20, nil)
	f("above the limit", good, len(good)-1, ErrBlockTooLarge)
	f("a body of 13 bytes", (&Block{Header: *header, Txs: [][]byte{make([]byte, 13), make([]byte, 99)}}).Encode(), 1<<20, ErrTxTooSmall)
	f("a body above 128 KiB", (&Block{Header: *header, Txs: [][]byte{make([]byte, MaxTxBytes+1)}}).Encode(), 1<<20, cbor.ErrTooLong)
	f("2^64-1 bodies", list(0x9b, 255, 255, 255, 255, 255, 255, 255, 255), 1<<20, cbor.ErrTooManyItems)
	f("body that is text", append(list(0x81, 0x78, 99), make([]byte, 99)...), 1<<20, cbor.ErrWrongType)
	f("trailing", append(bytes.Clone(good), 0), 1<<20, cbor.ErrTrailing)
	f("no list", list(), 1<<20, cbor.ErrTruncated)
	f("a bare header", EncodeHeader(header), 1<<20, cbor.ErrWrongLength)
}

// TestSplitBlock: header and bodies are cut where they meet, and nothing that
// has no header is cut at all.
func TestSplitBlock(t *testing.T) {
	header := randomHeader(rand.New(rand.NewPCG(7, 7)))
	for _, txs := range [][][]byte{nil, {publicTx().Encode()}, {publicTx().Encode(), publicTx().Encode()}} {
		whole := (&Block{Header: *header, Txs: txs}).Encode()
		head, bodies, err := SplitBlock(whole)
		if err != nil || !bytes.Equal(head, EncodeHeader(header)) || len(head)+len(bodies)+1 != len(whole) {
			t.Fatalf("%d transactions: %d + %d of %d bytes, %v", len(txs), len(head), len(bodies), len(whole), err)
		}
		if !bytes.Equal(JoinBlock(head, bodies), whole) {
			t.Errorf("%d transactions: joined to another block", len(txs))
		}
	}
	for _, b := range [][]byte{nil, {0x82}, {0x81, 0x80}, EncodeHeader(header)} {
		if _, _, err := SplitBlock(b); err == nil {
			t.Errorf("%x is cut", b)
		}
	}
}

func TestDecodeReceiptRefuses(t *testing.T) {
	f := func(rule string, r Receipt, want error) {
		t.Helper()
		if _, err := DecodeReceipt(r.Encode()); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", rule, err, want)
		}
	}
	f("success", Receipt{Status: StatusSucceeded, Lane: LaneUser}, nil)
	f("failure with a code", Receipt{Code: CodeReverted}, nil)
	f("failure without a code", Receipt{}, ErrReceiptCode)
	f("success with a code", Receipt{Status: StatusSucceeded, Code: 1}, ErrReceiptCode)
	f("too many events", Receipt{Status: StatusSucceeded, Events: make([]Event, MaxEvents+1)}, cbor.ErrTooManyItems)
	f("long event name", Receipt{Status: StatusSucceeded, Events: []Event{{Name: strings.Repeat("n", MaxEventName+1)}}}, cbor.ErrTooLong)
	f("large event", Receipt{Status: StatusSucceeded, Events: []Event{{Data: make([]byte, MaxEventBytes+1)}}}, cbor.ErrTooLong)
	for rule, r := range map[string]Receipt{
		"status 2": {Status: 2},
		"lane 4":   {Lane: NumLanes, Status: StatusSucceeded},
	} {
		var rangeErr *RangeError
		if _, err := DecodeReceipt(r.Encode()); !errors.As(err, &rangeErr) {
			t.Errorf("%s: %v, want a RangeError", rule, err)
		}
	}
}

// TestHugeClaimsCostLittle feeds each decoder inputs of a few bytes that
// announce as much as their format can, and bounds what they allocate.
func TestHugeClaimsCostLittle(t *testing.T) {
	huge := [][]byte{
		{0x9b, 255, 255, 255, 255, 255, 255, 255, 255},
		{0x5b, 127, 255, 255, 255, 255, 255, 255, 255},
		{0x9a, 255, 255, 255, 255, 0, 0},
		{0x5a, 255, 255, 255, 255},
		{0x19, 4, 0},
	}
	wrap := func(prefix []byte) (out [][]byte) {
		for _, h := range huge {
			out = append(out, append(bytes.Clone(prefix), h...))
		}
		return out
	}
	tx := publicTx().Encode()
	header := EncodeHeader(&Header{Version: 1})
	receipt := (&Receipt{Status: StatusSucceeded}).Encode()
	decoders := []struct {
		name   string
		inputs [][]byte
		decode func([]byte) error
	}{
		{"tx access list", wrap(tx[:len(tx)-3]), func(b []byte) error { _, err := DecodeTx(b); return err }},
		{"tx payload", wrap(tx[:len(tx)-2]), func(b []byte) error { _, err := DecodeTx(b); return err }},
		{"header", wrap(header[:len(header)-52]), func(b []byte) error { _, err := DecodeHeader(b); return err }},
		{"block", wrap(append([]byte{0x82}, header...)), func(b []byte) error { _, err := DecodeBlock(b, 1<<20); return err }},
		{"receipt", wrap(receipt[:len(receipt)-1]), func(b []byte) error { _, err := DecodeReceipt(b); return err }},
		{"wire", wrap(nil), func(b []byte) error { _, err := DecodeWireTxs(b, 50); return err }},
		{"consumed seeds", wrap(nil), func(b []byte) error { _, err := DecodeConsumedSeeds(b); return err }},
		{"presence", [][]byte{{1, 1, 255, 255, 255, 255}, {1, 0}}, func(b []byte) error { _, err := DecodePresence(b, 5000); return err }},
	}
	for _, d := range decoders {
		for _, in := range d.inputs {
			const runs = 50
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range runs {
				if d.decode(in) == nil {
					t.Fatalf("%s accepts %x", d.name, in)
				}
			}
			runtime.ReadMemStats(&after)
			if got := (after.TotalAlloc - before.TotalAlloc) / runs; got > 4096 {
				t.Errorf("%s allocates %d bytes for the %d bytes %x", d.name, got, len(in), in)
			}
		}
	}
}

func FuzzDecodeHeader(f *testing.F) {
	f.Add(EncodeHeader(&Header{Version: 1}))
	f.Add(EncodeHeader(randomHeader(rand.New(rand.NewPCG(1, 1)))))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, err := DecodeHeader(b)
		if err == nil && !bytes.Equal(EncodeHeader(h), b) {
			t.Fatalf("%x encodes again as %x", b, EncodeHeader(h))
		}
	})
}

func FuzzDecodeBlock(f *testing.F) {
	f.Add((&Block{Header: Header{Version: 1}, Txs: [][]byte{publicTx().Encode()}}).Encode())
	f.Add((&Block{Header: Header{Version: 1}}).Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		block, err := DecodeBlock(b, 1<<16)
		if err == nil && !bytes.Equal(block.Encode(), b) {
			t.Fatalf("%x encodes again as %x", b, block.Encode())
		}
	})
}

func FuzzDecodeReceipt(f *testing.F) {
	f.Add((&Receipt{Status: StatusSucceeded, Lane: LaneUser, Events: []Event{{Name: "e", Data: []byte{1}}}}).Encode())
	f.Add((&Receipt{Code: 1}).Encode())
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := DecodeReceipt(b)
		if err == nil && !bytes.Equal(r.Encode(), b) {
			t.Fatalf("%x encodes again as %x", b, r.Encode())
		}
	})
}

// TestReceiptsAreSized: the length is known before the encoding, and receipts that are encoded
// together are encoded like each alone.
func TestReceiptsAreSized(t *testing.T) {
	rng := rand.New(rand.NewPCG(196, 1))
	for range 200 {
		list := make([]Receipt, rng.IntN(5))
		for i := range list {
			list[i] = *randomReceipt(rng)
		}
		for i, got := range EncodeReceipts(list) {
			alone := list[i].appendTo(nil)
			if size := list[i].encodedBytes(); size != len(alone) || !bytes.Equal(got, alone) || cap(got) != size {
				t.Fatalf("%+v: %d bytes announced, %d alone, %d together (room for %d)", list[i], size, len(alone), len(got), cap(got))
			}
		}
	}
}
