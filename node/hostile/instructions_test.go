package hostile

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/fees"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/lanes/sigverify"
)

// send makes a transaction of a row.
func (w *world) send(from chain.Address, row *chain.InstructionSpec, value chain.Wei, data []byte) *chain.VerifiedTx {
	switch row.Kind {
	case chain.KindDeploy:
		return w.tx(from, nil, value, data)
	case chain.KindSystem:
		to := row.To
		return w.tx(from, &to, value, data)
	}
	return w.tx(from, &w.target, value, data)
}

func rowPayload(row *chain.InstructionSpec, args [][]byte) []byte {
	if row.Kind == chain.KindTransfer {
		return nil
	}
	return payload(row.Opcode, args...)
}

// eachRow runs a test for every row that runs, with the row's instance.
func eachRow(t *testing.T, w *world, do func(t *testing.T, row *chain.InstructionSpec, in instance)) {
	instances := w.instances()
	for _, row := range chain.InstructionTable() {
		if !row.Executable {
			continue
		}
		t.Run(row.Name, func(t *testing.T) {
			in, ok := instances[row.Name]
			if !ok || len(in.args) != len(row.Args) {
				t.Fatalf("no case for %d arguments: every row that runs needs one", len(row.Args))
			}
			do(t, &row, in)
		})
	}
}

// expect judges a transaction and compares the code of its receipt.
func (w *world) expect(t *testing.T, name string, tx *chain.VerifiedTx, want uint16) {
	t.Helper()
	got, err := w.judge(tx)
	switch {
	case err != nil:
		t.Errorf("%s: %v: %v", name, got, err)
	case want == codeInvalid:
		if !errors.Is(got.refused, chain.ErrPayload) {
			t.Errorf("%s: %v, want a payload that no block takes", name, got)
		}
	case want == codeStranger:
		if !errors.Is(got.refused, fees.ErrRole) {
			t.Errorf("%s: %v, want a sender without the role", name, got)
		}
	case got.refused != nil:
		t.Errorf("%s: %v", name, got)
	case want != anyCode && got.receipt.Code != want:
		t.Errorf("%s: %v, want %s", name, got, chain.CodeName(want))
	}
}

// item is one encoded argument, well-formed or not.
type item struct {
	name string
	data []byte
	kind string // of what it is, "" for what is nothing
	size int    // of strings
}

// items are arguments of every form.
func items() []item {
	str := func(kind string, n int) item {
		data := cbor.AppendBytes(nil, make([]byte, n))
		if kind == "text" {
			data = text(strings.Repeat("x", n))
		}
		return item{fmt.Sprintf("%s of %d", kind, n), data, kind, n}
	}
	bad := func(name string, data ...byte) item { return item{name: name, data: data} }
	nested := func(n int, head byte) []byte { return []byte(strings.Repeat(string([]byte{head}), n) + "\x00") }
	list := []item{
		{"0", uintOf(0), "uint", 0},
		{"2^64-1", uintOf(math.MaxUint64), "uint", 0},
		{"-1", cbor.AppendInt(nil, -1), "negative", 0},
		{"-2^64", []byte{0x3b, 255, 255, 255, 255, 255, 255, 255, 255}, "negative", 0},
		{"true", []byte{0xf5}, "bool", 0},
		{"null", null, "null", 0},
		{"1.5", cbor.AppendFloat(nil, 1.5), "float", 0},
		{"empty list", []byte{0x80}, "list", 0},
		{"list of lists", []byte{0x82, 0x80, 0x81, 0x00}, "list", 0},
		{"list 32 deep", nested(32, 0x81), "list", 0},
		{"empty map", []byte{0xa0}, "map", 0},
		{"map", []byte{0xa2, 0x00, 0x01, 0x61, 'a', 0x02}, "map", 0},
		bad("nothing"),
		bad("list 33 deep", nested(33, 0x81)...),
		bad("list 20,000 deep", nested(20_000, 0x81)...),
		bad("map 33 deep", []byte(strings.Repeat("\xa1\x00", 33)+"\x00")...),
		bad("a byte in a longer form", 0x18, 0x17),
		bad("length in a longer form", 0x58, 0x01, 0x00),
		bad("bytes of no known length", 0x5f, 0x41, 0x00, 0xff),
		bad("text of no known length", 0x7f, 0x61, 'a', 0xff),
		bad("list of no known length", 0x9f, 0x00, 0xff),
		bad("map of no known length", 0xbf, 0x00, 0x00, 0xff),
		bad("text that is not UTF-8", 0x62, 0xff, 0xfe),
		bad("half a surrogate", 0x63, 0xed, 0xa0, 0x80),
		bad("map with a key twice", 0xa2, 0x00, 0x01, 0x00, 0x02),
		bad("map out of order", 0xa2, 0x01, 0x01, 0x00, 0x02),
		bad("2^64-1 bytes, of which there are none", 0x5b, 255, 255, 255, 255, 255, 255, 255, 255),
		bad("list of 2^64-1", 0x9b, 255, 255, 255, 255, 255, 255, 255, 255),
		bad("map of 2^32", 0xba, 255, 255, 255, 255),
		bad("tagged", 0xc2, 0x41, 0x01),
		bad("undefined", 0xf7),
		bad("simple value", 0xf8, 0x20),
		bad("half a float", 0xf9, 0x3c, 0x00),
		bad("not a number", 0xfb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0),
		bad("a break", 0xff),
		bad("reserved length", 0x1c),
	}
	for _, n := range []int{0, 1, 8, 9, 16, 17, 19, 20, 21, 31, 32, 33, 64 << 10} {
		list = append(list, str("bytes", n))
	}
	for _, n := range []int{0, 1, 20, 256, 257, 64 << 10} {
		list = append(list, str("text", n))
	}
	return list
}

// fits says whether an item has the form of an argument, in the words of the table
// of types: it is the test's own reading of them.
func (it *item) fits(a chain.Arg) bool {
	if a.Optional && it.kind == "null" {
		return true
	}
	switch a.Type {
	case chain.ArgUint:
		return it.kind == "uint"
	case chain.ArgBool:
		return it.kind == "bool"
	case chain.ArgText:
		return it.kind == "text"
	case chain.ArgHandler:
		return it.kind == "text" && it.size <= 256
	case chain.ArgBytes:
		return it.kind == "bytes"
	case chain.ArgSalt:
		return it.kind == "bytes" && it.size <= 32
	case chain.ArgAddress:
		return it.kind == "bytes" && it.size == 20
	case chain.ArgHash:
		return it.kind == "bytes" && it.size == 32
	case chain.ArgList:
		return it.kind == "list"
	case chain.ArgMap:
		return it.kind == "map"
	case chain.ArgAmount: // the items' bytes begin with 0, which no amount does
		return it.kind == "uint"
	case chain.ArgMessage: // none of the items
		return false
	}
	return it.kind != ""
}

// TestArguments puts every form of item in the place of every argument of every row.
func TestArguments(t *testing.T) {
	w, list := newWorld(t), items()
	eachRow(t, w, func(t *testing.T, row *chain.InstructionSpec, in instance) {
		w.expect(t, "as it should be", w.send(alice, row, 0, rowPayload(row, in.args)), in.want)
		for i, arg := range row.Args {
			for _, it := range list {
				args := append([][]byte{}, in.args...)
				args[i] = it.data
				want := uint16(codeInvalid)
				if it.fits(arg) {
					want = anyCode
				}
				if want == anyCode && row.Sender == chain.SenderAssignedRunner && arg.Name == "job_id" {
					want = codeStranger // of a job that nobody has
				}
				tx := w.roomy(w.send(alice, row, 0, rowPayload(row, args)))
				if want == anyCode && int(tx.Tx.CellsLimit) < len(tx.Tx.Payload) {
					continue // more than the lane has room for: TestEnvelopes' one cell short
				}
				w.expect(t, arg.Name+" is "+it.name, tx, want)
			}
		}
		if len(row.Args) == 0 && row.Kind != chain.KindSystem {
			return
		}
		whole := rowPayload(row, in.args)
		w.expect(t, "one argument more", w.send(alice, row, 0, rowPayload(row, append(append([][]byte{}, in.args...), null))), codeInvalid)
		w.expect(t, "trailing bytes", w.send(alice, row, 0, append(append([]byte{}, whole...), 0)), codeInvalid)
		w.expect(t, "cut short", w.send(alice, row, 0, whole[:len(whole)-1]), codeInvalid)
		if n := len(in.args); n > 0 {
			w.expect(t, "one argument less", w.send(alice, row, 0, rowPayload(row, in.args[:n-1])), codeInvalid)
			w.expect(t, "without arguments", w.send(alice, row, 0, rowPayload(row, nil)), codeInvalid)
		}
	})
}

// roomy gives a transaction the limits of a large payload, within its lane.
func (w *world) roomy(tx *chain.VerifiedTx) *chain.VerifiedTx {
	if len(tx.Tx.Payload) < 10_000 || tx.Lane == chain.LaneSystem {
		return tx
	}
	larger := *tx.Tx
	larger.CellsLimit = 150_000
	if tx.Lane == chain.LaneUser {
		larger.CellsLimit = 400_000
	}
	return w.verified(tx.Sender, larger)
}

// TestEdges meets the bounds of values, and exceeds each by one.
func TestEdges(t *testing.T) {
	w := newWorld(t)
	rows := map[string]chain.InstructionSpec{}
	for _, row := range chain.InstructionTable() {
		rows[row.Name] = row
	}
	for _, e := range w.edges() {
		row := rows[e.row]
		tx := *w.send(alice, &row, e.value, rowPayload(&row, e.args)).Tx
		tx.CyclesLimit, tx.CellsLimit = 2_000_000, 400_000
		w.expect(t, e.row+": "+e.name, w.verified(alice, tx), e.want)
	}
}

// TestEnvelopes alters what stands around a payload.
func TestEnvelopes(t *testing.T) {
	w := newWorld(t)
	p := &w.genesis.Params
	eachRow(t, w, func(t *testing.T, row *chain.InstructionSpec, in instance) {
		data := rowPayload(row, in.args)
		w.expect(t, "with a value", w.send(alice, row, 1, data), in.value)
		need := p.Intrinsic.Of(chain.Instruction{InstructionSpec: *row, PayloadBytes: len(data)})
		refused := func(name string, is error, change func(*chain.VerifiedTx)) {
			t.Helper()
			tx := w.send(alice, row, 0, data)
			change(tx)
			lane, sender := tx.Lane, tx.Sender
			if tx = w.verified(sender, *tx.Tx); name == "another lane" {
				tx.Lane = lane
			}
			got, err := w.judge(tx)
			if err != nil || !errors.Is(got.refused, is) && !sameType(got.refused, is) {
				t.Errorf("%s: %v, %v, want %T", name, got, err, is)
			}
		}
		refused("another chain", fees.ErrChainID, func(tx *chain.VerifiedTx) { tx.Tx.ChainID++ })
		refused("again", new(fees.NonceError), func(tx *chain.VerifiedTx) { tx.Tx.Nonce-- })
		refused("before its time", new(fees.NonceError), func(tx *chain.VerifiedTx) { tx.Tx.Nonce++ })
		refused("the last nonce", fees.ErrNonceMax, func(tx *chain.VerifiedTx) { tx.Tx.Nonce = math.MaxUint64 })
		refused("another lane", fees.ErrLane, func(tx *chain.VerifiedTx) { tx.Lane = (tx.Lane + 1) % chain.NumLanes })
		refused("one cycle short", new(fees.IntrinsicError), func(tx *chain.VerifiedTx) { tx.Tx.CyclesLimit = need.Cycles - 1 })
		refused("beyond all cycles", new(fees.LimitError), func(tx *chain.VerifiedTx) { tx.Tx.CyclesLimit = p.MaxTxCycles + 1 })
		refused("cycles of 64 bits", new(fees.LimitError), func(tx *chain.VerifiedTx) { tx.Tx.CyclesLimit = math.MaxUint64 })
		refused("beyond all cells", new(fees.LimitError), func(tx *chain.VerifiedTx) { tx.Tx.CellsLimit = p.MaxTxCells + 1 })
		refused("a value beyond 64 bits with its fee", new(fees.OverflowError), func(tx *chain.VerifiedTx) { tx.Tx.Value = math.MaxUint64 })
		refused("a value that nobody has", new(fees.FundsError), func(tx *chain.VerifiedTx) { tx.Tx.Value = math.MaxUint64 >> 1 })
		refused("a sender without money", new(fees.FundsError), func(tx *chain.VerifiedTx) {
			tx.Sender, tx.Tx.Nonce = chain.Address{0: 0x77}, 0
			if row.Sender != chain.SenderAnyone {
				tx.Sender, tx.Tx.Nonce, tx.Tx.Value = alice, w.nonces[alice], math.MaxUint64>>1
			}
		})
		if need.Cells > 0 {
			refused("one cell short", new(fees.IntrinsicError), func(tx *chain.VerifiedTx) { tx.Tx.CellsLimit = need.Cells - 1 })
		}
		if row.Sender != chain.SenderAnyone {
			refused("a sender without the role", fees.ErrRole, func(tx *chain.VerifiedTx) { tx.Sender, tx.Tx.Nonce = mallory, 0 })
		}
		least := *w.send(alice, row, 0, data).Tx
		least.CyclesLimit, least.CellsLimit = need.Cycles, need.Cells
		w.expect(t, "no more than what is intrinsic", w.verified(alice, least), anyCode)
	})
}

// sameType reports whether an error is of the type of another, for errors that say
// more in fields.
func sameType(err, is error) bool {
	switch is.(type) {
	case *fees.NonceError:
		return errors.As(err, new(*fees.NonceError))
	case *fees.IntrinsicError:
		return errors.As(err, new(*fees.IntrinsicError))
	case *fees.LimitError:
		return errors.As(err, new(*fees.LimitError))
	case *fees.OverflowError:
		return errors.As(err, new(*fees.OverflowError))
	case *fees.FundsError:
		return errors.As(err, new(*fees.FundsError))
	}
	return false
}

// TestMutations changes bytes of payloads that are right, a hundred times for each
// row: the fuzz target's work in a plain test.
func TestMutations(t *testing.T) {
	w := newWorld(t)
	eachRow(t, w, func(t *testing.T, row *chain.InstructionSpec, in instance) {
		rng := rand.New(rand.NewPCG(uint64(row.Opcode), 9))
		for n := range 100 {
			data := slices.Clone(rowPayload(row, in.args))
			for range 1 + rng.IntN(3) {
				if len(data) == 0 {
					break
				}
				switch at := rng.IntN(len(data)); rng.IntN(4) {
				case 0:
					data[at] ^= 1 << rng.IntN(8)
				case 1:
					data[at] = byte(rng.Uint32())
				case 2:
					data = slices.Delete(data, at, at+1)
				default:
					data = slices.Insert(data, at, byte(rng.Uint32()))
				}
			}
			tx := w.send(alice, row, chain.Wei(rng.IntN(2)), data)
			if got, err := w.judge(tx); err != nil {
				t.Errorf("mutation %d, %x: %v: %v", n, data, got, err)
			}
		}
	})
}

// TestSignatures alters signed transactions of every row: no altered one is anybody's
// who signed it.
func TestSignatures(t *testing.T) {
	w := newWorld(t)
	secret := keccak.Sum256([]byte("signer"))
	key, err := secp256k1.ParsePrivateKey(secret[:])
	if err != nil {
		t.Fatal(err)
	}
	pipeline, err := sigverify.New(sigverify.DefaultConfig(1), nil)
	if err != nil {
		t.Fatal(err)
	}
	signer := chain.Address(key.PublicKey().Address())
	sender := func(tx chain.Tx) (chain.Address, error) {
		list, err := pipeline.VerifyBlock(t.Context(), [][]byte{tx.Encode()})
		if err != nil {
			return chain.Address{}, err
		}
		return list[0].Sender, nil
	}
	eachRow(t, w, func(t *testing.T, row *chain.InstructionSpec, in instance) {
		tx := *w.send(signer, row, 0, rowPayload(row, in.args)).Tx
		tx.Signature = nil
		sig := key.Sign(tx.SigningHash())
		good := chain.TxSignature{YParity: sig.YParity, R: sig.R, S: sig.S}
		tx.Signature = &good
		if who, err := sender(tx); err != nil || who != signer {
			t.Fatalf("as signed: %s, %v", who, err)
		}
		for name, change := range map[string]func(*chain.Tx, *chain.TxSignature){
			"another parity":          func(_ *chain.Tx, s *chain.TxSignature) { s.YParity ^= 1 },
			"another r":               func(_ *chain.Tx, s *chain.TxSignature) { s.R[31] ^= 1 },
			"another s":               func(_ *chain.Tx, s *chain.TxSignature) { s.S[31] ^= 1 },
			"no r":                    func(_ *chain.Tx, s *chain.TxSignature) { s.R = [32]byte{} },
			"no s":                    func(_ *chain.Tx, s *chain.TxSignature) { s.S = [32]byte{} },
			"s beyond the curve":      func(_ *chain.Tx, s *chain.TxSignature) { s.S = [32]byte(bytes.Repeat([]byte{0xff}, 32)) },
			"another nonce":           func(tx *chain.Tx, _ *chain.TxSignature) { tx.Nonce++ },
			"another value":           func(tx *chain.Tx, _ *chain.TxSignature) { tx.Value++ },
			"another chain":           func(tx *chain.Tx, _ *chain.TxSignature) { tx.ChainID++ },
			"another limit":           func(tx *chain.Tx, _ *chain.TxSignature) { tx.CyclesLimit++ },
			"another payload":         func(tx *chain.Tx, _ *chain.TxSignature) { tx.Payload = append(slices.Clone(tx.Payload), 0) },
			"another access to state": func(tx *chain.Tx, _ *chain.TxSignature) { tx.AccessList = []chain.AccessEntry{{Address: bob}} },
		} {
			altered, s := tx, good
			altered.Signature = &s
			change(&altered, &s)
			if who, err := sender(altered); err == nil && who == signer {
				t.Errorf("%s: is still the signer's", name)
			}
		}
		unsigned := tx
		unsigned.Signature = nil
		if who, err := sender(unsigned); err == nil {
			t.Errorf("unsigned: %s sent it", who)
		}
	})
}
