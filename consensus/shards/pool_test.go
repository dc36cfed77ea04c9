package shards

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
)

// testFormat has heads that are a root and a salt.
type testFormat struct{ code *Code }

func (testFormat) digest(head []byte) chain.Hash { return sha256.Sum256(head) }

func (testFormat) Split(block []byte) (head, body []byte, err error) {
	return block[:33], block[33:], nil
}

func (f testFormat) Root(digest chain.Hash, head []byte) (chain.Hash, error) {
	if len(head) != 33 || f.digest(head) != digest {
		return chain.Hash{}, ErrHead
	}
	return chain.Hash(head[:32]), nil
}

func (testFormat) Join(head, body []byte) []byte { return append(bytes.Clone(head), body...) }

// block returns an encoded body and its head.
func (f testFormat) block(t testing.TB, salt byte, size int) (*Codeword, []byte) {
	t.Helper()
	w, err := f.code.Encode(randomBody(uint64(salt), size))
	if err != nil {
		t.Fatal(err)
	}
	return w, append(bytes.Clone(w.Root[:]), salt)
}

func round(v chain.View) beacon.Round { return beacon.Round{View: v} }

func newPool(t testing.TB, n int, self beacon.Participant) (*Pool, testFormat) {
	c := newCode(t, n)
	return NewPool(c, testFormat{c}, self), testFormat{c}
}

// TestAssembly: a validator has its own shard from the leader, gives it away
// once, and rebuilds the block when enough others have come.
func TestAssembly(t *testing.T) {
	p, format := newPool(t, 7, 2)
	w, head := format.block(t, 1, 300)
	digest := format.digest(head)
	a, err := p.Offer(0, round(9), digest, w.Parcel(head, 2))
	if err != nil || a == nil || a.Own == nil || p.Ready(a) {
		t.Fatalf("offer: %+v, %v", a, err)
	}
	if &a.Head[0] == &head[0] || !bytes.Equal(a.Head, head) {
		t.Error("the head keeps the memory of the message")
	}
	if again, err := p.Offer(0, round(9), digest, w.Parcel(head, 2)); err != nil || again != a {
		t.Errorf("the same offer again: %v", err)
	}
	for i, from := range []beacon.Participant{0, 5} {
		for range 2 {
			if got, err := p.Relay(from, round(9), digest, w.Parcel(head, int(from))); err != nil || got != a {
				t.Fatalf("relay of %d: %v", from, err)
			}
		}
		if p.Ready(a) != (i == 1) {
			t.Errorf("ready after %d shards: %v", i+2, p.Ready(a))
		}
	}
	if a.Relay() == nil || a.Relay() != nil {
		t.Error("our shard does not leave exactly once")
	}
	block, err := p.Rebuilder(a)()
	if want := format.Join(head, randomBody(1, 300)); err != nil || !bytes.Equal(block, want) {
		t.Fatalf("rebuilt %d bytes, %v", len(block), err)
	}
	p.Close(a)
	if a.Own != nil || p.Ready(a) || p.senders[5].bytes != 0 {
		t.Error("a closed assembly still holds shards")
	}
	if got, err := p.Relay(6, round(9), digest, w.Parcel(head, 6)); err != nil || got != a || p.senders[6].bytes != 0 {
		t.Errorf("relay after the block is here: %v, %d bytes held", err, p.senders[6].bytes)
	}
}

// TestOwnShardAfterTheBlock: the relays of others may be faster than the leader.
func TestOwnShardAfterTheBlock(t *testing.T) {
	p, format := newPool(t, 4, 2)
	w, head := format.block(t, 1, 300)
	digest := format.digest(head)
	a, _ := p.Relay(0, round(1), digest, w.Parcel(head, 0))
	if _, err := p.Relay(3, round(1), digest, w.Parcel(head, 3)); err != nil || !p.Ready(a) {
		t.Fatalf("not ready: %v", err)
	}
	p.Close(a)
	spoiled := w.Parcel(head, 2)
	spoiled.Shard.Bytes = bytes.Repeat([]byte{1}, len(spoiled.Shard.Bytes))
	if _, err := p.Offer(0, round(1), digest, spoiled); !errors.Is(err, ErrProof) {
		t.Errorf("a bad own shard after the block: %v", err)
	}
	if got, err := p.Offer(0, round(1), digest, w.Parcel(head, 2)); err != nil || got.Own == nil || got.Relay() == nil || got.Own != nil {
		t.Errorf("own shard after the block: %+v, %v", got, err)
	}
}

// TestPoolBlamesSenders is the table of what no honest validator sends
// (consensus design §5, limits of dissemination).
func TestPoolBlamesSenders(t *testing.T) {
	_, format := newPool(t, 7, 2)
	w, head := format.block(t, 1, 300)
	other, otherHead := format.block(t, 2, 300)
	digest := format.digest(head)
	f := func(rule string, offer bool, want error, parcel *Parcel, change func(*Parcel)) {
		t.Helper()
		p, _ := newPool(t, 7, 2)
		parcel.Shard.Bytes, parcel.Head = bytes.Clone(parcel.Shard.Bytes), bytes.Clone(parcel.Head)
		change(parcel)
		take := p.Relay
		if offer {
			take = p.Offer
		}
		a, err := take(4, round(3), digest, parcel)
		if !errors.Is(err, want) || (a == nil) != (want != nil) {
			t.Errorf("%s: %v, %v, want %v", rule, a, err, want)
		}
		if want != nil && (p.senders[4].bytes != 0 || p.Find(3, digest) != nil) {
			t.Errorf("%s: refused and kept", rule)
		}
	}
	good := func(*Parcel) {}
	f("good offer", true, nil, w.Parcel(head, 2), good)
	f("good relay", false, nil, w.Parcel(head, 4), good)
	f("wrong index: shard of another offered", true, ErrIndex, w.Parcel(head, 3), good)
	f("wrong index: shard of another relayed", false, ErrIndex, w.Parcel(head, 2), good)
	f("wrong index: bytes of another shard", false, ErrProof, w.Parcel(head, 3), func(p *Parcel) { p.Shard.Index = 4 })
	f("wrong proof", false, ErrProof, w.Parcel(head, 4), func(p *Parcel) { p.Shard.Proof[0][0] ^= 1 })
	f("wrong width", false, ErrWidth, w.Parcel(head, 4), func(p *Parcel) { p.Shard.Bytes = p.Shard.Bytes[:10] })
	f("shard equivocation: other bytes", false, ErrProof, w.Parcel(head, 4), func(p *Parcel) { p.Shard.Bytes[0] ^= 1 })
	f("mixed: shard of another proposal", false, ErrProof, w.Parcel(head, 4), func(p *Parcel) { p.Shard = other.Shard(4) })
	f("mixed: opening of another proposal", false, ErrOpening, w.Parcel(head, 4), func(p *Parcel) { p.Opening = other.Opening })
	f("mixed: another proposal", false, ErrHead, other.Parcel(otherHead, 4), good)
	f("claimed length above the limit", false, ErrLength, w.Parcel(head, 4), func(p *Parcel) { p.Opening.Length = 1 << 30 })
	f("no head", false, ErrHead, w.Parcel(nil, 4), good)

	p, _ := newPool(t, 7, 2)
	for _, take := range []func(beacon.Participant, beacon.Round, chain.Hash, *Parcel) (*Assembly, error){p.Relay, p.Offer} {
		index := 4
		if take(4, round(3), digest, w.Parcel(head, index)); p.Find(3, digest).Own == nil && p.senders[4].bytes == 0 {
			index = 2
			if _, err := take(4, round(3), digest, w.Parcel(head, index)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _, err := p.Relay(4, round(3), format.digest(otherHead), other.Parcel(otherHead, 4)); !errors.Is(err, ErrMixed) {
		t.Errorf("shard equivocation, two proposals relayed in one view: %v", err)
	}
	if _, err := p.Offer(0, round(3), digest, w.Parcel(head, 2)); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Offer(0, round(3), format.digest(otherHead), other.Parcel(otherHead, 2)); !errors.Is(err, ErrMixed) {
		t.Errorf("two proposals offered in one view: %v", err)
	}
	if _, err := p.Relay(5, round(3), format.digest(otherHead), other.Parcel(otherHead, 5)); err != nil {
		t.Errorf("another validator may have another proposal, from an equivocating leader: %v", err)
	}
}

// TestPoolIsBounded: a sender displaces only its own shards, and views only
// older ones.
func TestPoolIsBounded(t *testing.T) {
	p, format := newPool(t, 4, 1)
	w, head := format.block(t, 1, 300)
	honest, _ := p.Relay(3, round(1), format.digest(head), w.Parcel(head, 3))
	width := 1 << 20
	for v := chain.View(1); v <= 30; v++ {
		big, bigHead := format.block(t, byte(v+10), width)
		if _, err := p.Relay(2, round(v), format.digest(bigHead), big.Parcel(bigHead, 2)); err != nil {
			t.Fatal(err)
		}
		if held := p.senders[2].bytes; held > p.code.SenderBytes() {
			t.Fatalf("view %d: %d bytes of one sender, at most %d", v, held, p.code.SenderBytes())
		}
	}
	if honest.count != 1 {
		t.Error("the flood displaced another's shard")
	}
	for v := chain.View(31); v < 31+2*viewsMax; v++ {
		if _, err := p.Relay(3, round(v), format.digest(head), w.Parcel(head, 3)); err != nil {
			t.Fatal(err)
		}
		if len(p.views) > viewsMax {
			t.Fatalf("%d views", len(p.views))
		}
	}
	if a, err := p.Relay(2, round(1), format.digest(head), w.Parcel(head, 2)); a != nil || err != nil {
		t.Errorf("a view that was displaced comes back: %v, %v", a, err)
	}
	p.Advance(1000)
	for from, s := range p.senders {
		if s.bytes != 0 || len(s.held) != 0 {
			t.Errorf("sender %d has %d bytes after the views are over", from, s.bytes)
		}
	}
	if a, err := p.Relay(2, round(1000), format.digest(head), w.Parcel(head, 2)); a != nil || err != nil || len(p.views) != 0 {
		t.Errorf("a view that is over: %v, %v", a, err)
	}
}

// TestEvictedOwnShard: what overflows is gone, our own shard too.
func TestEvictedOwnShard(t *testing.T) {
	p, format := newPool(t, 4, 1)
	w, head := format.block(t, 1, 300)
	a, err := p.Offer(2, round(1), format.digest(head), w.Parcel(head, 1))
	if err != nil {
		t.Fatal(err)
	}
	for v := chain.View(2); v < 10; v++ {
		big, bigHead := format.block(t, byte(v), 1<<20)
		if _, err := p.Offer(2, round(v), format.digest(bigHead), big.Parcel(bigHead, 1)); err != nil {
			t.Fatal(err)
		}
	}
	if a.Own != nil || a.count != 0 {
		t.Error("the oldest own shard is still held")
	}
}

// TestChainBlocks: the format of real blocks finds the root, and nothing else.
func TestChainBlocks(t *testing.T) {
	c := newCode(t, 4)
	h := &chain.Header{Version: chain.HeaderVersion}
	body := randomBody(1, 500)
	var err error
	if h.BodyRoot, err = c.Root(body); err != nil {
		t.Fatal(err)
	}
	head := chain.EncodeHeader(h)
	block := ChainBlocks{}.Join(head, body)
	gotHead, gotBody, err := ChainBlocks{}.Split(block)
	if err != nil || !bytes.Equal(gotHead, head) || !bytes.Equal(gotBody, body) {
		t.Fatalf("split: %v", err)
	}
	if root, err := (ChainBlocks{}).Root(h.Digest(), head); err != nil || root != h.BodyRoot {
		t.Errorf("root %v, %v", root, err)
	}
	if _, err := (ChainBlocks{}).Root(chain.Hash{1}, head); !errors.Is(err, ErrHead) {
		t.Errorf("digest of another head: %v", err)
	}
	if _, err := (ChainBlocks{}).Root(h.Digest(), head[1:]); err == nil {
		t.Error("a head that is none")
	}
	h.PresenceInput, h.ConsumedSeeds = make([]byte, chain.MaxPresenceBytes), make([]byte, chain.MaxConsumedSeedsBytes)
	if n := len(chain.EncodeHeader(h)); n > HeadMax {
		t.Errorf("largest header has %d bytes, above %d", n, HeadMax)
	}
}

// TestHeadsAreBounded: while nothing becomes final, whatever validators send for
// ever new views, the heads that are kept have a bound for each sender, and those
// of the newest views are kept.
func TestHeadsAreBounded(t *testing.T) {
	p, _ := newPool(t, 7, 2)
	format := longHeads{testFormat{p.code}}
	p.format = format
	const last = 60
	kept := func() (heads int) {
		for _, v := range p.views {
			for _, a := range v.bodies {
				heads += len(a.Head)
			}
		}
		return heads
	}
	for v := chain.View(1); v <= last; v++ {
		for from := range beacon.Participant(7) {
			w, head := format.block(t, byte(from), 300)
			head = append(head, bytes.Repeat([]byte{byte(v)}, p.code.limits.HeadMax-len(head))...)
			digest := format.digest(head)
			if _, err := p.Relay(from, round(v), digest, w.Parcel(head, int(from))); err != nil {
				t.Fatal(err)
			}
			if v == last && p.Find(v, digest) == nil {
				t.Errorf("the newest head of validator %d is not kept", from)
			}
		}
	}
	if most := 7 * p.code.SenderHeadBytes(); kept() == 0 || kept() > most {
		t.Errorf("%d bytes of heads are kept, want at most %d", kept(), most)
	}
	for from, s := range p.senders {
		if s.headBytes > p.code.SenderHeadBytes() || len(s.begun) == 0 {
			t.Errorf("validator %d is charged %d bytes for %d heads", from, s.headBytes, len(s.begun))
		}
	}
	p.Advance(last)
	for from, s := range p.senders {
		if s.headBytes != 0 || s.bytes != 0 || len(s.begun) != 0 {
			t.Errorf("validator %d is charged for what is over", from)
		}
	}
}

// longHeads has heads with anything behind root and salt.
type longHeads struct{ testFormat }

func (f longHeads) Root(digest chain.Hash, head []byte) (chain.Hash, error) {
	if len(head) < 33 || f.digest(head) != digest {
		return chain.Hash{}, ErrHead
	}
	return chain.Hash(head[:32]), nil
}
