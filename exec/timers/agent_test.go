package timers

import (
	"bytes"
	"math"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

// settings writes a map as an agent answers with one.
func settings(rows ...any) []byte {
	out := cbor.AppendMap(nil, len(rows)/2)
	for i := 0; i < len(rows); i += 2 {
		out = cbor.AppendUint(cbor.AppendText(out, rows[i].(string)), uint64(rows[i+1].(int)))
	}
	return out
}

// unanswered is the bid of an agent that does not answer.
func unanswered() Bid {
	p := params.Default()
	return NoBid(&Clock{Params: &p, Height: 1}, chain.Usage{Cycles: 1_000, Cells: 100})
}

func TestReadBid(t *testing.T) { // CIP-1
	fallback := unanswered()
	bid := func(change func(*Bid)) Bid {
		b := fallback
		change(&b)
		return b
	}
	tests := []struct {
		name   string
		answer []byte
		want   Bid
	}{
		{"nothing", nil, fallback},
		{"an empty map", settings(), fallback},
		{"a tip", settings("tip", 7), bid(func(b *Bid) { b.Tip.PerCycle = 7 })},
		{"all of it", settings("tip", 7, "max_fee", 90, "tip_cell", 8, "cells_limit", 99, "cycles_limit", 999, "max_fee_cell", 91), bid(func(b *Bid) {
			b.Tip, b.MaxFee = chain.FeePair{PerCycle: 7, PerCell: 8}, chain.FeePair{PerCycle: 90, PerCell: 91}
			b.Limits = chain.Usage{Cycles: 999, Cells: 99}
		})},
		{"limits above the timer's", settings("cells_limit", 101, "cycles_limit", math.MaxInt64), fallback},
		{"an unknown setting", settings("tip", 7, "tipp", 7), fallback},
		{"another order", settings("max_fee", 90, "tip", 7), fallback},
		{"more than the answer", append(settings("tip", 7), 0), fallback},
		{"no map", cbor.AppendUint(nil, 7), fallback},
		{"no number", cbor.AppendText(cbor.AppendText(cbor.AppendMap(nil, 1), "tip"), "7"), fallback},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := ReadBid(tt.answer, fallback); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// TestQuestionIsCanonical: an agent reads it as it reads every payload.
func TestQuestionIsCanonical(t *testing.T) {
	q := (&Head{}).Question(&Clock{Height: 7}, &Timer{Spec: Spec{Height: 5}}, 1<<40)
	if err := cbor.Scan(q, cbor.DefaultLimits()); err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(q, cbor.AppendUint(cbor.AppendText(nil, "owner_actor_balance"), 1<<40)) {
		t.Error("the balance is not in it")
	}
}

// FuzzBid: an answer is a program's, whatever it is.
func FuzzBid(f *testing.F) {
	f.Add(settings("tip", 7, "max_fee", 90))
	f.Add(settings("cells_limit", 1, "cycles_limit", 1))
	f.Add([]byte{0xbf, 0xff})
	fallback := unanswered()
	f.Fuzz(func(t *testing.T, answer []byte) {
		if b := ReadBid(answer, fallback); b.Limits.Cycles > fallback.Limits.Cycles || b.Limits.Cells > fallback.Limits.Cells {
			t.Errorf("limits above the timer's: %+v", b.Limits)
		}
	})
}
