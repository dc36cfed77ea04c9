package mailbox

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

func overlay() *state.Overlay { return state.NewOverlay(state.Empty{}) }

func addr(n byte) chain.Address { return chain.Address{0: 0xaa, 19: n} }

func item(from, to byte, nonce uint64) *Item {
	return &Item{
		From: addr(from), To: addr(to), Origin: addr(99), Nonce: nonce, Handler: "tick", Payload: []byte{0xf6},
		Value: 7, Cycles: 1_000, Cells: 100, Parked: 3,
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// rows returns how many records the overlay keeps.
func rows(o *state.Overlay) (n int) {
	for _, a := range o.Delta().Accounts() {
		for _, s := range a.Storage {
			if s.Value != nil {
				n++
			}
		}
	}
	return n
}

// take pops what Peek returns.
func take(t testing.TB, o *state.Overlay, to chain.Address) *Item {
	t.Helper()
	it, err := Peek(o, to)
	check(t, err)
	if it != nil {
		check(t, Pop(o, to))
	}
	return it
}

// by is an item that another origin has paid.
func by(origin byte, it *Item) *Item {
	it.Origin = addr(origin)
	return it
}

// deal deals one turn as a block does, of at most so many items, and returns their
// numbers.
func deal(t testing.TB, o *state.Overlay, most int) (got []uint64) {
	t.Helper()
	origin, ok, err := Turn(o)
	check(t, err)
	if !ok {
		return nil
	}
	for range most {
		it, err := Due(o, origin)
		check(t, err)
		if it == nil {
			break
		}
		check(t, TakeDue(o, origin))
		if err := Push(o, it, 1<<20); err != nil {
			t.Fatalf("take up %d: %v", it.Nonce, err)
		}
	}
	to, ok, err := Receiver(o, origin, uint64(most))
	check(t, err)
	if !ok {
		check(t, EndTurn(o, 1, origin, nil, 0))
		return nil
	}
	for range most {
		it := take(t, o, to)
		if it == nil {
			break
		}
		got = append(got, it.Nonce)
	}
	check(t, EndTurn(o, 1, origin, &to, 0))
	return got
}

func TestTurnsGoByOriginReceiverAndSender(t *testing.T) { // resolution 11.21; ADR 75
	o := overlay()
	// Origin 90 has two receivers, and two senders before the first of them; origin 91
	// has one message, before the second.
	check(t, Push(o, by(90, item(50, 1, 1)), 9))
	check(t, Push(o, by(90, item(50, 1, 2)), 9))
	check(t, Push(o, by(90, item(51, 1, 3)), 9))
	check(t, Push(o, by(90, item(50, 2, 4)), 9))
	check(t, Push(o, by(91, item(52, 2, 5)), 9))
	if n, err := Origins(o); n != 2 || err != nil {
		t.Fatalf("%d origins, %v", n, err)
	}
	var got [][]uint64
	for range 6 {
		got = append(got, deal(t, o, 1))
	}
	// Before the second receiver 50 came before 52, so 91's turn handed out what 90 had
	// paid, and 90's next finds nothing of its own there.
	if fmt.Sprint(got) != "[[1] [4] [] [5] [3] [2]]" {
		t.Errorf("turns %v", got)
	}
	if _, ok, err := Turn(o); ok || err != nil {
		t.Errorf("a turn of nobody: %v", err)
	}
	if n := rows(o); n != 4 { // numbers of the senders
		t.Errorf("%d records are left", n)
	}
}

// TestFlowTakesNoMore is W6 at the boundary: a million items, here five. What others
// have waiting there fills nobody's flow.
func TestFlowTakesNoMore(t *testing.T) {
	o := overlay()
	for i := range uint64(5) {
		check(t, Push(o, item(50, 1, i), 5))
	}
	before := rows(o)
	if err := Push(o, item(50, 1, 5), 5); !errors.Is(err, ErrFull) || rows(o) != before {
		t.Errorf("item 6 of 5: %v, %d records after %d", err, rows(o), before)
	}
	check(t, Push(o, item(50, 2, 6), 5)) // before another receiver
	check(t, Push(o, item(51, 1, 6), 5)) // of another sender
	for _, want := range []uint64{0, 6, 1} {
		if it := take(t, o, addr(1)); it.Nonce != want {
			t.Errorf("message %d, want %d", it.Nonce, want)
		}
	}
	check(t, Push(o, item(50, 1, 7), 5))
}

// TestReplayIsNotTaken is W7: neither a message that waits nor one that was
// handed out comes a second time, whatever lies between.
func TestReplayIsNotTaken(t *testing.T) {
	o := overlay()
	check(t, Push(o, item(50, 1, 4), 9))
	for _, taken := range []bool{false, true} {
		if taken {
			take(t, o, addr(1))
		}
		before := rows(o)
		for _, nonce := range []uint64{0, 3, 4} {
			if err := Push(o, item(50, 1, nonce), 9); !errors.Is(err, ErrSeen) || rows(o) != before {
				t.Errorf("taken %v, message %d again: %v", taken, nonce, err)
			}
		}
	}
	check(t, Push(o, item(51, 1, 4), 9)) // of another sender
	check(t, Push(o, item(50, 2, 4), 9)) // for another receiver
	check(t, Push(o, item(50, 1, 5), 9)) // the next one
}

// TestSentDuringItsTurn: what a handler sends to its own receiver, in the name of the
// origin whose turn it is, stands in all circles once.
func TestSentDuringItsTurn(t *testing.T) {
	o := overlay()
	check(t, Push(o, item(50, 1, 1), 9))
	origin, _, err := Turn(o)
	check(t, err)
	to, ok, err := Receiver(o, origin, 4)
	if to != addr(1) || !ok {
		t.Fatalf("%s, %v, %v", to, ok, err)
	}
	take(t, o, addr(1))
	check(t, Push(o, item(50, 1, 2), 9))
	check(t, EndTurn(o, 1, origin, &to, 0))
	if n, err := Origins(o); n != 1 || err != nil {
		t.Errorf("%d places in the ring, %v", n, err)
	}
	if got := deal(t, o, 4); fmt.Sprint(got) != "[2]" {
		t.Errorf("then %v", got)
	}
	if n, err := Origins(o); n != 0 || err != nil || rows(o) != 1 {
		t.Errorf("%d places in the ring, %d records, %v", n, rows(o), err)
	}
}

func TestDeferredItemsComeAtTheirHeights(t *testing.T) {
	o := overlay()
	check(t, Defer(o, 10, 11, item(50, 1, 1), 9))
	check(t, Defer(o, 10, 14, item(50, 1, 2), 9))
	check(t, Defer(o, 10, 14, by(98, item(50, 2, 3)), 9))
	check(t, Defer(o, 11, 12, item(50, 1, 4), 9))
	if err := Defer(o, 10, 10, item(50, 1, 3), 1); err == nil || errors.Is(err, ErrFull) {
		t.Errorf("deferred to the present: %v", err)
	}
	want := map[chain.Height]string{11: "[1]", 12: "[4]", 14: "[2 3]"}
	for h := chain.Height(11); h <= 20; h++ {
		check(t, Release(o, h, 100))
		var got []uint64
		for range 4 {
			got = append(got, deal(t, o, 4)...)
		}
		if len(got) > 0 && fmt.Sprint(got) != want[h] {
			t.Errorf("height %d: %v, want %v", h, got, want[h])
		}
		if len(got) > 0 {
			delete(want, h)
		}
	}
	if n := rows(o); n != 0 || len(want) != 0 {
		t.Errorf("%d records are left, %v did not come", n, want)
	}
}

func TestHeightTakesNoMoreOfAnOrigin(t *testing.T) {
	o := overlay()
	check(t, Defer(o, 10, 11, item(50, 1, 2), 1))
	if err := Defer(o, 10, 11, item(50, 1, 3), 1); !errors.Is(err, ErrFull) {
		t.Errorf("second of one per height: %v", err)
	}
	check(t, Defer(o, 10, 11, by(98, item(50, 1, 3)), 1))
	check(t, Defer(o, 10, 12, item(50, 1, 4), 1))
}

// TestReleaseCatchesUp: what one block has no steps for comes first in the next,
// and empty heights between are passed at two a block at least.
func TestReleaseCatchesUp(t *testing.T) {
	o := overlay()
	for n := range uint64(7) {
		check(t, Defer(o, 10, 11, by(byte(n), item(50, 1, n)), 99))
	}
	check(t, Defer(o, 10, 14, by(9, item(50, 1, 7)), 99))
	var got []uint64
	for h := chain.Height(11); h < 20; h++ {
		before, err := Origins(o)
		check(t, err)
		check(t, Release(o, h, 3))
		after, err := Origins(o)
		check(t, err)
		if after-before > 3 {
			t.Errorf("%d steps at height %d", after-before, h)
		}
		for range after {
			got = append(got, deal(t, o, 1)...)
		}
	}
	if fmt.Sprint(got) != "[0 1 2 3 4 5 6 7]" {
		t.Errorf("came in the order %v", got)
	}
}

// TestReleaseTakesTwoStepsAtLeast: the clock begins at the next height, so that what
// is due there comes without a step to spare.
func TestReleaseTakesTwoStepsAtLeast(t *testing.T) {
	o := overlay()
	for n := range uint64(3) {
		check(t, Defer(o, 10, 11, by(byte(n), item(50, 1, n)), 99))
	}
	for h, want := range map[chain.Height]uint64{10: 0, 11: 2} {
		mark := o.Snapshot()
		check(t, Release(o, h, 0))
		if n, err := Origins(o); n != want || err != nil {
			t.Errorf("%d came at height %d without steps, want %d, %v", n, h, want, err)
		}
		o.Revert(mark)
	}
}

func TestDamagedRecordsAreFaults(t *testing.T) {
	at, origin := addr(1), addr(99)
	fill := func() *state.Overlay {
		o := overlay()
		check(t, Push(o, item(50, 1, 1), 9))
		check(t, Defer(o, 10, 11, item(50, 1, 2), 9))
		check(t, Defer(o, 10, 10+2, item(50, 1, 3), 9))
		check(t, Release(o, 11, 1))
		return o
	}
	step := func(o *state.Overlay) error {
		late := Defer(o, 10, 12, item(50, 1, 9), 9)
		release := Release(o, 12, 9)
		push := Push(o, item(50, 1, 9), 9)
		_, _, turn := Turn(o)
		_, due := Due(o, origin)
		take := TakeDue(o, origin)
		_, _, receiver := Receiver(o, origin, 1)
		pop := Pop(o, at)
		end := EndTurn(o, 12, origin, &at, 0)
		_, ring := Origins(o)
		return errors.Join(late, release, push, turn, due, take, receiver, pop, end, ring)
	}
	check(t, step(fill()))
	keys := []state.StorageKey{
		sendersOf(at).headKey(), sendersOf(at).placeKey(0), flowKey(at, addr(50)), seenKey(at, addr(50)), itemKey(at, addr(50), 0),
		ring().headKey(), ring().placeKey(0), receiversOf(origin).headKey(), receiversOf(origin).placeKey(0),
		memberKey(origin), owedKey(origin, at), originsAt(12).headKey(), originsAt(12).placeKey(0), lateKey(11, origin),
		lateAtKey(11, origin, 0), dueKey(origin), dueAtKey(origin, 0), clockKey(),
	}
	for _, k := range keys {
		for _, value := range [][]byte{{}, {0x82, 2, 1}, {0x82, 0, 0, 0}, bytes.Repeat([]byte{0xff}, 40)} {
			o := fill()
			before, err := o.Storage(chain.AddrMailbox, k)
			check(t, err)
			if before == nil {
				t.Fatalf("no record %q", string(k))
			}
			o.SetStorage(chain.AddrMailbox, k, value)
			if err := step(o); !errors.Is(err, ErrRecord) && !(k == clockKey() && value[0] == 0x82) {
				t.Errorf("record %q is %x: %v", string(k), value, err)
			}
		}
	}
}

func FuzzDecodeItem(f *testing.F) {
	f.Add(item(1, 2, 3).Append(nil))
	apart := item(1, 2, 3)
	apart.Payload, apart.apart = nil, 5_000
	f.Add(apart.Append(nil))
	apart.apart = 1
	f.Add(apart.Append(nil))
	f.Add([]byte{0x8b})
	f.Fuzz(func(t *testing.T, b []byte) {
		it, err := DecodeItem(b)
		if err != nil {
			if !errors.Is(err, ErrRecord) {
				t.Fatalf("%x: %v", b, err)
			}
			return
		}
		if again := it.Append(nil); !bytes.Equal(again, b) {
			t.Fatalf("%x is written as %x", b, again)
		}
	})
}

// TestLongPayloadsLieApart: what an item of a long payload goes through until it is handed
// out neither reads nor writes the payload, and nothing is left of it.
func TestLongPayloadsLieApart(t *testing.T) { // ADR 129
	for size, apart := range map[int]bool{0: false, InlineBytes: false, InlineBytes + 1: true, 64 << 10: true} {
		o := overlay()
		it := by(7, item(50, 1, 3))
		it.Payload = bytes.Repeat([]byte{0xab}, size)
		check(t, Defer(o, 10, 11, it, 9))
		check(t, Release(o, 11, 9))
		due, err := Due(o, addr(7))
		check(t, err)
		mark := o.Snapshot()
		check(t, TakeDue(o, addr(7)))
		check(t, Push(o, due, 9))
		grown := 0
		check(t, o.EachGrown(mark, func(g state.Grown) { grown += len(g.Value) }))
		first, err := Peek(o, addr(1))
		check(t, err)
		if (first.Payload == nil) != apart || apart && grown > 500 {
			t.Errorf("payload of %d bytes: %d are read in turn, %d written when it is taken up", size, len(first.Payload), grown)
		}
		check(t, Pop(o, addr(1)))
		broken := *first
		check(t, Open(o, first))
		if !bytes.Equal(first.Payload, it.Payload) {
			t.Errorf("payload of %d bytes is handed out with %d", size, len(first.Payload))
		}
		to := addr(1)
		check(t, EndTurn(o, 11, addr(7), &to, 0))
		if n := rows(o); n != 0 {
			t.Errorf("payload of %d bytes: %d records are left", size, n)
		}
		if err := Open(o, &broken); apart != errors.Is(err, ErrRecord) {
			t.Errorf("payload of %d bytes is opened twice: %v", size, err)
		}
	}
}

// TestHandlerThatIsNoText: an item that could not be read again is not written.
func TestHandlerThatIsNoText(t *testing.T) { // ADR 243
	o := overlay()
	for _, handler := range []string{"\xed\xa0\x80", "a\xff", strings.Repeat("x", chain.MaxEventName+1)} {
		it := item(50, 1, 3)
		it.Handler = handler
		if err := Push(o, it, 5); !errors.Is(err, ErrHandler) {
			t.Errorf("push %q: %v", handler, err)
		}
		if err := Defer(o, 10, 11, it, 5); !errors.Is(err, ErrHandler) {
			t.Errorf("defer %q: %v", handler, err)
		}
	}
	if n := rows(o); n != 0 {
		t.Errorf("%d records were written", n)
	}
}
