package p2p

import (
	"bytes"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
)

// FuzzReadFrame: whatever comes, a frame is either what was written or an
// error, and costs no more memory than twice what came.
func FuzzReadFrame(f *testing.F) {
	f.Add([]byte{}, 10)
	f.Add([]byte{0, 0, 0, 0}, 10)
	f.Add([]byte{0, 0, 0, 3, 1, 2, 3, 4}, 10)
	f.Add([]byte{0, 0, 0, 11, 1}, 10)
	f.Add([]byte{0xff, 0xff, 0xff, 0xff}, 1<<30)
	f.Add(append([]byte{0, 2, 0, 0}, make([]byte, 1<<17)...), 1<<20)
	f.Fuzz(func(t *testing.T, in []byte, bytesMax int) {
		r := bytes.NewReader(in)
		for {
			begun := 0
			msg, err := readFrame(r, bytesMax, func(size int) { begun = size })
			if err != nil {
				if !errors.Is(err, ErrFrame) && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
					t.Fatalf("unknown error: %v", err)
				}
				return
			}
			if len(msg) == 0 || len(msg) > bytesMax || len(msg) != begun {
				t.Fatalf("frame of %d bytes, announced as %d, limit %d", len(msg), begun, bytesMax)
			}
			end := len(in) - r.Len()
			if !bytes.Equal(appendFrame(nil, msg), in[end-len(msg)-frameHeaderBytes:end]) {
				t.Fatal("a frame read and written again differs")
			}
		}
	})
}

// TestPromisedFrameCostsLittle: a length without its bytes takes a small buffer
// only.
func TestPromisedFrameCostsLittle(t *testing.T) {
	in := append([]byte{4, 0, 0, 0}, make([]byte, 100)...) // 64 MiB
	perRun := testing.Benchmark(func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := readFrame(bytes.NewReader(in), frameBytesLimit, func(int) {}); !errors.Is(err, io.ErrUnexpectedEOF) {
				b.Fatal(err)
			}
		}
	}).AllocedBytesPerOp()
	if perRun > 2*growBytes {
		t.Errorf("%d bytes for a frame of which 100 came", perRun)
	}
}

// FuzzControl: control messages decode to what encodes back to them.
func FuzzControl(f *testing.F) {
	f.Add(appendHello(nil, hello{1, 2, 3}))
	f.Add(append(appendHello(nil, hello{9, 2, 3}), "what newer versions add"...))
	f.Add(appendMembers(nil, members{0x0f}))
	f.Add(appendRecords(nil, nil))
	f.Add(appendRecords(nil, []record{{member: 1, timestamp: 5, address: "127.0.0.1:4001"}, {member: 3, timestamp: 9, address: "[::1]:9"}}))
	f.Add([]byte{tagRecords, 255})
	f.Fuzz(func(t *testing.T, in []byte) {
		const n = 4
		if h, err := decodeHello(in, 3); err == nil {
			again := appendHello(nil, h)
			if !bytes.HasPrefix(in, again) || len(in) != len(again) && h.version <= 3 || h.version == 0 {
				t.Errorf("hello differs: %+v", h)
			}
		}
		if m, err := decodeMembers(in, n); err == nil {
			if !bytes.Equal(appendMembers(nil, m), in) {
				t.Error("members differ")
			}
			for i := range 2 * n {
				_ = m.has(i)
			}
		}
		records, err := decodeRecords(in, n)
		if err != nil {
			return
		}
		if !bytes.Equal(appendRecords(nil, records), in) {
			t.Error("records differ")
		}
		b := newBook(&Config{Committee: make([]chain.PeerKey, n), RecordFor: time.Hour})
		for _, r := range records {
			reachOf(r.host())
			now := time.UnixMilli(int64(r.timestamp % (1 << 60)))
			if fault, honest := b.learn(r, now); honest && fault == recordTaken && r.timestamp != 0 && b.records[r.member].timestamp == 0 {
				t.Error("a record was called honest and forgotten")
			}
		}
	})
}

// FuzzTransactionFrame: a batch is cut into bodies that make it up again.
func FuzzTransactionFrame(f *testing.F) {
	f.Add([]byte{})
	f.Add(frameTxs([][]byte{body(1), body(2)})[0])
	f.Add([]byte{0, 0, 0, 1, 9})
	f.Fuzz(func(t *testing.T, in []byte) {
		fl := newFlood(new(Stats))
		bodies, err := fl.fresh(bytes.Clone(in))
		if err != nil {
			return
		}
		size := 0
		for _, b := range bodies {
			size += frameHeaderBytes + len(b)
		}
		if size > len(in) {
			t.Errorf("%d bytes of bodies in a frame of %d", size, len(in))
		}
		again, err := fl.fresh(bytes.Clone(in))
		if err != nil || len(again) != 0 {
			t.Errorf("the same frame gives %d fresh bodies (%v)", len(again), err)
		}
	})
}

func TestFramesOfTransactionsKeepTheirBounds(t *testing.T) {
	var bodies [][]byte
	for i := range 5000 {
		bodies = append(bodies, body(i))
	}
	bodies = append(bodies, make([]byte, chain.MaxTxBytes), make([]byte, chain.MaxTxBytes), make([]byte, chain.MaxTxBytes))
	var got [][]byte
	for _, frame := range frameTxs(bodies) {
		if len(frame) > floodFrameBytesMax+frameHeaderBytes {
			t.Errorf("frame of %d bytes", len(frame))
		}
		cut, err := chain.DecodeWireTxs(frame, floodFrameTxsMax)
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, cut...)
	}
	if len(got) != len(bodies) {
		t.Fatalf("%d bodies, want %d", len(got), len(bodies))
	}
}
