package mailbox

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
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

func TestBoxesKeepTheirOrderAndRing(t *testing.T) { // resolution 11.21
	o := overlay()
	for i := range uint64(3) {
		for to := byte(1); to <= 3; to++ {
			check(t, Push(o, item(50, to, 10*uint64(to)+i), 10))
		}
	}
	if n, err := Receivers(o); n != 3 || err != nil {
		t.Fatalf("%d receivers, %v", n, err)
	}
	for i := range uint64(3) {
		for to := byte(1); to <= 3; to++ {
			at, ok, err := Turn(o)
			if at != addr(to) || !ok || err != nil {
				t.Fatalf("round %d: turn of %s, %v, %v", i, at, ok, err)
			}
			if it := take(t, o, at); it.Nonce != 10*uint64(to)+i {
				t.Errorf("receiver %d got message %d in round %d", to, it.Nonce, i)
			}
			check(t, Rotate(o))
		}
	}
	if _, ok, err := Turn(o); ok || err != nil {
		t.Errorf("a turn of nobody: %v", err)
	}
	if n := rows(o); n != 3+1 { // numbers of the sender, places of the ring
		t.Errorf("%d records are left", n)
	}
}

// TestBoxTakesNoMore is W6 at the boundary: a million items, here five.
func TestBoxTakesNoMore(t *testing.T) {
	o := overlay()
	for i := range uint64(5) {
		check(t, Push(o, item(50, 1, i), 5))
	}
	before := rows(o)
	if err := Push(o, item(50, 1, 5), 5); !errors.Is(err, ErrFull) || rows(o) != before {
		t.Errorf("item 6 of 5: %v, %d records after %d", err, rows(o), before)
	}
	check(t, Push(o, item(50, 2, 6), 5)) // another receiver's is empty
	take(t, o, addr(1))
	check(t, Push(o, item(50, 1, 7), 5))
	if n, err := Waiting(o, addr(1)); n != 5 || err != nil {
		t.Errorf("%d wait, %v", n, err)
	}
}

// TestReplayIsNotTaken is W7: neither a message that waits nor one that was
// handed out comes a second time, whatever lies between.
func TestReplayIsNotTaken(t *testing.T) {
	o := overlay()
	check(t, Push(o, item(50, 1, 4), 9))
	for _, taken := range []bool{false, true} {
		if taken {
			take(t, o, addr(1))
			check(t, Rotate(o))
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

func TestReceiverKeepsItsPlaceDuringItsTurn(t *testing.T) {
	o := overlay()
	check(t, Push(o, item(50, 1, 1), 9))
	take(t, o, addr(1))
	check(t, Push(o, item(50, 1, 2), 9)) // sent by its own handler
	if n, err := Receivers(o); n != 1 || err != nil {
		t.Errorf("%d places in the ring, %v", n, err)
	}
	check(t, Rotate(o))
	if it := take(t, o, addr(1)); it == nil || it.Nonce != 2 {
		t.Errorf("item %+v", it)
	}
}

func TestDeferredItemsComeAtTheirHeights(t *testing.T) {
	o := overlay()
	check(t, Defer(o, 10, 11, item(50, 1, 1), 9))
	check(t, Defer(o, 10, 14, item(50, 1, 2), 9))
	check(t, Defer(o, 10, 14, item(50, 2, 3), 9))
	check(t, Defer(o, 11, 12, item(50, 1, 4), 9))
	want := map[chain.Height][]uint64{11: {1}, 12: {4}, 14: {2, 3}}
	for h := chain.Height(11); h <= 20; h++ {
		var got []uint64
		check(t, Release(o, h, 100, 9, func(it *Item, err error) error {
			got = append(got, it.Nonce)
			return err
		}))
		if fmt.Sprint(got) != fmt.Sprint(want[h]) {
			t.Errorf("height %d: %v, want %v", h, got, want[h])
		}
	}
	for _, k := range []state.StorageKey{clockKey(), dayKey(11), dayKey(12), dayKey(14)} {
		if b, err := o.Storage(chain.AddrMailbox, k); b != nil || err != nil {
			t.Errorf("%x is kept with nothing to wait for: %x, %v", string(k), b, err)
		}
	}
	for _, tt := range []struct {
		to   byte
		want []uint64
	}{{1, []uint64{1, 4, 2}}, {2, []uint64{3}}} {
		for _, n := range tt.want {
			if it := take(t, o, addr(tt.to)); it == nil || it.Nonce != n || !it.Late {
				t.Errorf("receiver %d: %+v, want %d", tt.to, it, n)
			}
		}
	}
}

func TestDeferredItemsFindingTheBoxFull(t *testing.T) {
	o := overlay()
	check(t, Push(o, item(50, 1, 1), 1))
	check(t, Defer(o, 10, 11, item(50, 1, 2), 1))
	if err := Defer(o, 10, 11, item(50, 1, 3), 1); !errors.Is(err, ErrFull) {
		t.Errorf("second of one per height: %v", err)
	}
	if err := Defer(o, 10, 10, item(50, 1, 3), 1); err == nil || errors.Is(err, ErrFull) {
		t.Errorf("deferred to the present: %v", err)
	}
	var full []uint64
	check(t, Release(o, 11, 5, 1, func(it *Item, err error) error {
		if !errors.Is(err, ErrFull) {
			t.Errorf("message %d: %v", it.Nonce, err)
		}
		full = append(full, it.Nonce)
		return nil
	}))
	if fmt.Sprint(full) != "[2]" {
		t.Errorf("full for %v", full)
	}
}

// TestReleaseCatchesUp: what one block has no steps for comes first in the next,
// and empty heights between are passed at two a block at least.
func TestReleaseCatchesUp(t *testing.T) {
	o := overlay()
	for n := range uint64(7) {
		check(t, Defer(o, 10, 11, item(50, 1, n), 99))
	}
	check(t, Defer(o, 10, 12, item(50, 1, 7), 99))
	var got []uint64
	for h := chain.Height(11); h < 20; h++ {
		n := len(got)
		check(t, Release(o, h, 3, 99, func(it *Item, err error) error {
			got = append(got, it.Nonce)
			return err
		}))
		if len(got)-n > 3 {
			t.Errorf("%d steps at height %d", len(got)-n, h)
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
		check(t, Defer(o, 10, 11, item(50, 1, n), 99))
	}
	for h, want := range map[chain.Height]int{10: 0, 11: 2} {
		mark, moved := o.Snapshot(), 0
		check(t, Release(o, h, 0, 99, func(*Item, error) error { moved++; return nil }))
		if moved != want {
			t.Errorf("%d came at height %d without steps, want %d", moved, h, want)
		}
		o.Revert(mark)
	}
}

// TestAgainstLists drives mailbox and lists with the same random steps: every
// message comes out once, in the order of its receiver, and a step that was
// reverted did not happen.
func TestAgainstLists(t *testing.T) {
	for seed := range uint64(20) {
		if err := againstLists(t, seed); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

func againstLists(t *testing.T, seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, 7))
	o, model, ring := overlay(), map[chain.Address][]uint64{}, []chain.Address{}
	var nonce uint64
	for range 2_000 {
		switch to := byte(rng.IntN(5)); rng.IntN(4) {
		case 0, 1:
			nonce++
			mark := o.Snapshot()
			err := Push(o, item(byte(50+rng.IntN(3)), to, nonce), 6)
			if full := len(model[addr(to)]) >= 6; full != errors.Is(err, ErrFull) || !full && err != nil {
				return fmt.Errorf("push %d: %w", nonce, err)
			}
			if err != nil {
				continue
			}
			if rng.IntN(4) == 0 {
				o.Revert(mark)
				continue
			}
			if _, ok := model[addr(to)]; !ok {
				ring = append(ring, addr(to))
			}
			model[addr(to)] = append(model[addr(to)], nonce)
		default:
			at, ok, err := Turn(o)
			if err != nil || ok != (len(ring) > 0) || ok && at != ring[0] {
				return fmt.Errorf("turn of %s, %v, ring %v: %w", at, ok, ring, err)
			}
			if !ok {
				continue
			}
			for range rng.IntN(4) {
				it := take(t, o, at)
				if want := model[at]; (it == nil) != (len(want) == 0) || it != nil && it.Nonce != want[0] {
					return fmt.Errorf("item %+v, want %v", it, want)
				}
				if it != nil {
					model[at] = model[at][1:]
				}
			}
			check(t, Rotate(o))
			ring = ring[1:]
			if len(model[at]) > 0 {
				ring = append(ring, at)
			} else {
				delete(model, at)
			}
		}
	}
	return nil
}

func TestDamagedRecordsAreFaults(t *testing.T) {
	fill := func() *state.Overlay {
		o := overlay()
		check(t, Push(o, item(50, 1, 1), 9))
		check(t, Defer(o, 10, 11, item(50, 1, 2), 9))
		return o
	}
	step := func(o *state.Overlay) error {
		push := Push(o, item(50, 1, 9), 9)
		_, _, turn := Turn(o)
		_, peek := Peek(o, addr(1))
		_, ring := Receivers(o)
		late := Release(o, 11, 9, 9, func(*Item, error) error { return nil })
		return errors.Join(push, turn, peek, ring, late)
	}
	check(t, step(fill()))
	for _, k := range []state.StorageKey{boxKey(addr(1)), ringKey(), dayKey(11)} {
		o := fill()
		writePair(o, k, 2, 1)
		if _, _, err := readSpan(o, k); !errors.Is(err, ErrRecord) {
			t.Errorf("%x ends before it begins: %v", string(k), err)
		}
	}
	keys := []state.StorageKey{
		boxKey(addr(1)), seenKey(addr(1), addr(50)), itemKey(addr(1), 0), ringKey(), turnKey(0), dayKey(11), lateKey(11, 0), clockKey(),
	}
	for _, k := range keys {
		for _, value := range [][]byte{{}, {0x82, 2, 1}, {0x82, 0, 0, 0}, bytes.Repeat([]byte{0xff}, 40)} {
			o := fill()
			before, err := o.Storage(chain.AddrMailbox, k)
			check(t, err)
			if before == nil {
				t.Fatalf("no record %x", string(k))
			}
			o.SetStorage(chain.AddrMailbox, k, value)
			if err := step(o); !errors.Is(err, ErrRecord) && !(k == clockKey() && value[0] == 0x82) {
				t.Errorf("record %x is %x: %v", string(k), value, err)
			}
		}
	}
}

func FuzzDecodeItem(f *testing.F) {
	f.Add(item(1, 2, 3).Append(nil))
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
