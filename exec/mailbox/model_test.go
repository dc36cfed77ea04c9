package mailbox

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/state"
)

type pair struct{ a, b chain.Address }

// lists are a mailbox in slices: what package mailbox says of itself and no more.
type lists struct {
	ring      []chain.Address                   // origins
	receivers map[chain.Address][]chain.Address // by origin
	senders   map[chain.Address][]chain.Address // by receiver
	flows     map[pair][]uint64                 // by receiver and sender
	paid      map[uint64]chain.Address          // origin of each item that waits
	due       map[chain.Address][]*Item         // by origin
	days      map[chain.Height][]*Item
}

func newLists() *lists {
	return &lists{
		receivers: map[chain.Address][]chain.Address{}, senders: map[chain.Address][]chain.Address{},
		flows: map[pair][]uint64{}, paid: map[uint64]chain.Address{}, due: map[chain.Address][]*Item{}, days: map[chain.Height][]*Item{},
	}
}

func (l *lists) join(origin chain.Address) {
	if !slices.Contains(l.ring, origin) {
		l.ring = append(l.ring, origin)
	}
}

func (l *lists) push(it *Item) {
	f := pair{it.To, it.From}
	if len(l.flows[f]) == 0 {
		l.senders[it.To] = append(l.senders[it.To], it.From)
	}
	l.flows[f] = append(l.flows[f], it.Nonce)
	l.paid[it.Nonce] = it.Origin
	if !slices.Contains(l.receivers[it.Origin], it.To) {
		l.receivers[it.Origin] = append(l.receivers[it.Origin], it.To)
	}
	l.join(it.Origin)
}

// waits counts what an origin has waiting for a receiver.
func (l *lists) waits(origin, to chain.Address) (n int) {
	for _, from := range l.senders[to] {
		for _, nonce := range l.flows[pair{to, from}] {
			if l.paid[nonce] == origin {
				n++
			}
		}
	}
	return n
}

func (l *lists) pop(to chain.Address) uint64 {
	from := l.senders[to][0]
	f := pair{to, from}
	nonce := l.flows[f][0]
	l.flows[f], l.senders[to] = l.flows[f][1:], l.senders[to][1:]
	if len(l.flows[f]) > 0 {
		l.senders[to] = append(l.senders[to], from)
	}
	delete(l.paid, nonce)
	return nonce
}

func (l *lists) release(h chain.Height) {
	for _, it := range l.days[h] {
		l.due[it.Origin] = append(l.due[it.Origin], it)
		l.join(it.Origin)
	}
	delete(l.days, h)
}

// deal is [deal].
func (l *lists) deal(most int) (got []uint64) {
	if len(l.ring) == 0 {
		return nil
	}
	origin := l.ring[0]
	for range min(most, len(l.due[origin])) {
		l.push(l.due[origin][0])
		l.due[origin] = l.due[origin][1:]
	}
	for range most {
		if len(l.receivers[origin]) == 0 {
			break
		}
		to := l.receivers[origin][0]
		if l.waits(origin, to) == 0 {
			l.receivers[origin] = l.receivers[origin][1:]
			continue
		}
		for range most {
			if len(l.senders[to]) == 0 {
				break
			}
			got = append(got, l.pop(to))
		}
		l.receivers[origin] = l.receivers[origin][1:]
		if l.waits(origin, to) > 0 {
			l.receivers[origin] = append(l.receivers[origin], to)
		}
		break
	}
	l.ring = l.ring[1:]
	if len(l.receivers[origin])+len(l.due[origin]) > 0 {
		l.ring = append(l.ring, origin)
	}
	return got
}

// TestAgainstLists drives mailbox and lists with the same random steps: the same
// messages come in the same turns, each once, those of one sender to one receiver in
// their order, and a step that was reverted did not happen.
func TestAgainstLists(t *testing.T) {
	for seed := range uint64(30) {
		if err := againstLists(t, seed); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
}

func againstLists(t *testing.T, seed uint64) error {
	rng := rand.New(rand.NewPCG(seed, 7))
	o, l := overlay(), newLists()
	now, nonce, came := chain.Height(10), uint64(0), 0
	check(t, Release(o, now, 1<<20))
	last := map[pair]uint64{}
	flow := map[uint64]pair{}
	for range 1_500 {
		nonce++
		it := by(byte(90+rng.IntN(5)), item(byte(50+rng.IntN(3)), byte(rng.IntN(6)), nonce))
		mark := o.Snapshot()
		switch rng.IntN(8) {
		case 0, 1:
			err := Push(o, it, 6)
			if full := len(l.flows[pair{it.To, it.From}]) >= 6; full != errors.Is(err, ErrFull) || !full && err != nil {
				return fmt.Errorf("push %d: %w", nonce, err)
			}
			switch {
			case err == nil && rng.IntN(4) == 0:
				o.Revert(mark)
			case err == nil:
				flow[nonce] = pair{it.To, it.From}
				l.push(it)
			}
		case 2:
			h := now + 1 + chain.Height(rng.IntN(6))
			check(t, Defer(o, now, h, it, 1<<20))
			if rng.IntN(4) == 0 {
				o.Revert(mark)
				continue
			}
			late := *it
			late.Late = true
			l.days[h] = append(l.days[h], &late)
		case 3:
			now++
			check(t, Release(o, now, 1<<20))
			l.release(now)
		default:
			most := 1 + rng.IntN(4)
			got, want := deal(t, o, most), l.deal(most)
			if !slices.Equal(got, want) {
				return fmt.Errorf("turn of %v, want %v", got, want)
			}
			came += len(got)
			for _, n := range got {
				if f, direct := flow[n]; direct {
					if n <= last[f] {
						return fmt.Errorf("message %d of %v after %d", n, f, last[f])
					}
					last[f] = n
				}
			}
		}
	}
	if came < 300 {
		return fmt.Errorf("only %d came", came)
	}
	return nil
}

// blockOf deals the turns of a block.
func blockOf(t testing.TB, o *state.Overlay, h chain.Height) (got []uint64) {
	check(t, Release(o, h, 1024))
	for range 256 {
		if n, err := Origins(o); n == 0 || len(got) >= 1024 {
			check(t, err)
			break
		}
		got = append(got, deal(t, o, 4)...)
	}
	return got
}

var long = flag.Bool("long", false, "crowds of 100,000 messages")

// TestCrowdHoldsUpItself: whatever one origin sends, by whatever senders, to whomever and
// deferred to which heights, another's message comes at its next turn; N origins hold it
// up by N/256 blocks.
func TestCrowdHoldsUpItself(t *testing.T) {
	crowd := 20_000 // more than there are origins
	if *long {
		crowd = 100_000
	}
	wide := func(first byte, n int) chain.Address {
		return chain.Address{first, byte(n >> 16), byte(n >> 8), byte(n)}
	}
	const mine = 1 << 40
	for _, tt := range []struct {
		name  string
		flood func(o *state.Overlay, n int, it *Item) error
		waits int // blocks at most
	}{
		{"receivers", func(o *state.Overlay, n int, it *Item) error { it.To = wide(1, n); return Push(o, it, 1<<20) }, 1},
		{"messages to mine", func(o *state.Overlay, n int, it *Item) error { return Push(o, it, 1<<20) }, 1},
		{"deferred to my height", func(o *state.Overlay, n int, it *Item) error { it.To = wide(1, n); return Defer(o, 10, 200, it, 1<<20) }, 1},
		{"deferred to mine at my height", func(o *state.Overlay, n int, it *Item) error { return Defer(o, 10, 200, it, 1<<20) }, 1},
		{"deferred to all heights before", func(o *state.Overlay, n int, it *Item) error {
			it.To = wide(1, n)
			return Defer(o, 10, 11+chain.Height(n%190), it, 1<<20)
		}, 1},
		{"of 16,000 origins", func(o *state.Overlay, n int, it *Item) error {
			it.To, it.Origin = wide(1, n), wide(2, n%16_000)
			return Push(o, it, 1<<20)
		}, 64},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o := overlay()
			for n := range crowd {
				check(t, tt.flood(o, n, by(90, item(50, 1, uint64(n)))))
			}
			late := by(91, item(51, 1, mine))
			check(t, Defer(o, 10, 200, late, 9))
			check(t, Push(o, by(91, item(51, 1, mine+1)), 9))
			at := map[uint64]chain.Height{}
			for h := chain.Height(200); len(at) < 2 && h < 400; h++ {
				for _, n := range blockOf(t, o, h) {
					if n >= mine {
						at[n] = h
					}
				}
			}
			for n := uint64(mine); n < mine+2; n++ {
				if got := int(at[n]) - 199; got < 1 || got > tt.waits {
					t.Errorf("message %d came in block %d", n-mine, got)
				}
			}
		})
	}
}
