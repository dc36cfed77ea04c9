package statesync

import (
	"context"
	"encoding/binary"
	"testing"
	"testing/synctest"
	"time"
)

// TestUnaskedAnswersEndNoDeadline: one server leaves every request for a chunk without an
// answer, and an accomplice answers each of them in its place. The requests go to the honest
// third server when their time is over, and the accomplice is asked no more.
func TestUnaskedAnswersEndNoDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, s := village(t, 3, 6000)
		h.client.cfg.RestFor = 0 // the silent one is asked again and again
		h.spoil[0] = func(msg []byte) []byte {
			if msg[0] != tagChunk {
				return msg
			}
			_ = h.client.Deliver(1, chunk{binary.BigEndian.Uint64(msg[1:]), []byte("unasked")}.append(nil)) // there is room
			return nil
		}
		h.spoil[1] = func(msg []byte) []byte { // it serves no chunk of its own
			if msg[0] == tagChunk {
				return nil
			}
			return msg
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
		defer cancel()
		check(t, h.client.Run(ctx))
		h.arrived(t, s)
		if h.client.liars[0] || h.client.liars[2] {
			t.Errorf("liars: %v", h.client.liars)
		}
	})
}

// TestWhoAnswersForOthersIsBlamed counts the answers to requests that went to others: as many
// as an honest peer can still owe to an earlier life of this node are no fault.
func TestWhoAnswersForOthersIsBlamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h, s := village(t, 3, 6000)
		forged := 0
		h.spoil[0] = func(msg []byte) []byte {
			if msg[0] == tagChunk {
				for range 3 {
					forged++
					_ = h.client.Deliver(1, chunk{binary.BigEndian.Uint64(msg[1:]), []byte("unasked")}.append(nil)) // there is room
				}
				for range min(1, forged/3-1) {
					_ = h.client.Deliver(2, chunk{binary.BigEndian.Uint64(msg[1:]), []byte("of an earlier life")}.append(nil)) // there is room
				}
			}
			return msg
		}
		check(t, h.client.Run(t.Context()))
		h.arrived(t, s)
		if !h.client.liars[1] || h.client.liars[0] || forged <= unaskedMax {
			t.Errorf("liars: %v after %d answers in the place of another", h.client.liars, forged)
		}
	})
}
