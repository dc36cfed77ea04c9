package rpc

import (
	"context"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/panjf2000/ants/v2"

	"github.com/cowboy-foundation/cowboy/chain"
)

// slowSource reads headers as a disk does: it waits, then goes down a stack.
type slowSource struct {
	Source
	wait time.Duration
}

func (s slowSource) HeaderByHeight(_ context.Context, h chain.Height) (*HeaderLine, bool, error) {
	time.Sleep(s.wait)
	return &HeaderLine{Header: &chain.Header{Height: h}, TxCount: int(descend(14 << 10))}, true, nil
}

//go:noinline
func descend(bytes int) byte {
	var frame [512]byte
	frame[bytes%len(frame)] = byte(bytes)
	if bytes <= len(frame) {
		return frame[0]
	}
	return descend(bytes-len(frame)) + frame[1]
}

// BenchmarkListing reads a list of 1,000 blocks by one reader and by the pool.
func BenchmarkListing(b *testing.B) {
	for _, pooled := range []bool{false, true} {
		name := "readers=1"
		if pooled {
			name = "readers=16"
		}
		b.Run(name, func(b *testing.B) {
			s, err := New(DefaultConfig(), slowSource{wait: 50 * time.Microsecond})
			if err != nil {
				b.Fatal(err)
			}
			s.log = slog.New(slog.NewTextHandler(io.Discard, nil))
			if pooled {
				pool, err := ants.NewPool(listReaders, ants.WithDisablePurge(true))
				if err != nil {
					b.Fatal(err)
				}
				defer pool.Release()
				s.readers.Store(pool)
			}
			for b.Loop() {
				lines, err := s.listing(b.Context(), 2000, 1000)
				if err != nil || len(lines) != 1000 || lines[0].Header.Height != 2000 {
					b.Fatal(len(lines), err)
				}
			}
		})
	}
}
