package p2p

import (
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
)

// TestAbsentMembersShareABudget: what waits for all members that are away takes no more
// than its budget, however many they are, is shared evenly, and counts no more for who
// is back.
func TestAbsentMembersShareABudget(t *testing.T) {
	const away, size, most = 42, 64 << 10, 8 << 20
	o := offline{bytesMax: most}
	var peers []*peer
	for i := range away {
		p := newPeer(i, chain.PeerKey{byte(i)}, true, limits(4<<20))
		p.share(&o)
		peers = append(peers, p)
	}
	held := func() (n int64) {
		for _, p := range peers {
			for _, q := range p.queues {
				n += int64(q.bytes)
			}
		}
		return n
	}
	for i := range 100 {
		for _, p := range peers {
			p.queueMessage([]Class{Blocks, Votes, Shards}[i%3], make([]byte, size>>(i%3)))
		}
		if now := o.bytes.Load(); now > most || now != held() {
			t.Fatalf("%d bytes are counted after %d messages to each, %d wait, the budget is %d", now, i+1, held(), most)
		}
	}
	if o.dropped.Load() == 0 {
		t.Error("nothing was dropped")
	}
	for i, p := range peers {
		if n := p.queues[Blocks].bytes + p.queues[Votes].bytes + p.queues[Shards].bytes; n < most/away/4 {
			t.Errorf("%d bytes wait for member %d, want about %d", n, i, most/away)
		}
	}
	for _, p := range peers {
		p.set(new(link))
	}
	if n := o.bytes.Load(); n != 0 {
		t.Errorf("%d bytes are counted for members that are back", n)
	}
	peers[0].queueMessage(Blocks, make([]byte, 1<<20))
	peers[0].queues[Blocks].popInto(nil, 1)
	peers[0].set(nil)
	if n := o.bytes.Load(); n != held0(peers[0]) {
		t.Errorf("%d bytes are counted for one that went, %d wait", n, held0(peers[0]))
	}
	for _, q := range peers[0].queues {
		q.clear()
	}
	if n := o.bytes.Load(); n != 0 {
		t.Errorf("%d bytes are counted for empty queues", n)
	}
}

func held0(p *peer) (n int64) {
	for _, q := range p.queues {
		n += int64(q.bytes)
	}
	return n
}
