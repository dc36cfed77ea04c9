package repair

import (
	"bytes"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
)

// sink counts what a server sends.
type sink struct{ messages, bytes, billed int }

func (s *sink) Send(_ int, msg []byte) { s.messages, s.bytes = s.messages+1, s.bytes+len(msg) }
func (s *sink) Served(_, bytes int)    { s.billed += bytes }

// big is a store of one block with a part that is larger than an answer and parts of
// nothing.
type big struct{ read int }

func (b *big) BlockParts(_ chain.Height, _ chain.Hash, first, end uint32, bytesMax int) (out [][]byte, ok bool, err error) {
	switch {
	case first == 0 && bytesMax < 4<<20:
		return nil, true, nil
	case first == 0:
		b.read += 4 << 20
		return [][]byte{make([]byte, 4<<20)}, true, nil
	case first == 9:
		return nil, false, errors.New("it is damaged here, too")
	}
	return make([][]byte, end-first), true, nil
}

// TestServingIsBounded: a peer that asks all day is given so many bytes a second, one
// request at a time, and beyond that is left unread.
func TestServingIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out, disk := &sink{}, &big{}
		unread := 0
		s := NewServer(ServerConfig{Records: disk, Network: out, PartBytesMax: 16 << 20, BytesPerSecond: ServedPerSecond, Unread: func(error) { unread++ }, Now: time.Now})
		go func() { _ = s.Run(t.Context()) }()
		const seconds = 600
		taken, refused := 0, 0
		for end := time.Now().Add(seconds * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			for range 3 {
				if err := Deliver(s, nil, 1, want{id: 1, first: 0, end: 1 << 31}.append(nil)); err == nil {
					taken++
				} else if refused++; !errors.Is(err, ErrBusy) {
					t.Fatal(err)
				}
			}
		}
		synctest.Wait()
		if most := seconds*ServedPerSecond + 4<<20; disk.read > most || disk.read < most/2 || out.messages != taken {
			t.Errorf("%d bytes read in %d s, at most %d; %d taken, %d answers, %d refused", disk.read, seconds, most, taken, out.messages, refused)
		}
		if out.billed != disk.read {
			t.Errorf("%d bytes billed of %d", out.billed, disk.read)
		}
		// Another peer is served meanwhile, at once; answers have a bounded number of parts.
		before := out.bytes
		if err := Deliver(s, nil, 2, want{first: 1, end: 1 << 31}.append(nil)); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if n := (out.bytes - before - 13) / 4; n != partsMax {
			t.Errorf("%d parts in an answer", n)
		}
		if err := Deliver(s, nil, 3, want{first: 9, end: 10}.append(nil)); err != nil {
			t.Error(err)
		}
		synctest.Wait()
		if unread != 1 || s.Stats.Without.Load() != 1 {
			t.Errorf("damage here is told %d times", unread)
		}
		for peer := range 3 * peersMax { // full nodes come and go
			_ = Deliver(s, nil, 10+peer, want{first: 1, end: 2}.append(nil))
			time.Sleep(time.Millisecond)
		}
		synctest.Wait()
		if len(s.peers) > peersMax {
			t.Errorf("%d accounts, at most %d", len(s.peers), peersMax)
		}
	})
}

// FuzzDecode: what is read is what would be written, and nothing else is read.
func FuzzDecode(f *testing.F) {
	for _, m := range []message{want{1, 2, chain.Hash{3}, 4, 5}, parts{1, 2, [][]byte{nil, []byte("x")}}, none{7}} {
		f.Add(m.append(nil))
	}
	f.Add(want{first: 5, end: 5}.append(nil))
	f.Add(parts{1, 2, make([][]byte, partsMax+1)}.append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := decode(b)
		if err != nil {
			if m != nil || !errors.Is(err, ErrMessage) {
				t.Fatalf("%v, %v", m, err)
			}
			return
		}
		if again := m.append(nil); !bytes.Equal(again, b) {
			t.Fatalf("%x is read as %+v, which is %x", b, m, again)
		}
		if p, ok := m.(parts); ok && len(p.parts) > partsMax {
			t.Fatalf("%d parts", len(p.parts))
		}
	})
}
