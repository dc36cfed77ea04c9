package repair

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/state/store"
	"github.com/cowboy-foundation/cowboy/state/tree"
)

const height = chain.Height(5)

// certificateOf is one that the tests take for good; only the form is a certificate's.
func certificateOf(k simplex.Kind, payload chain.Hash) []byte {
	return simplex.AppendCertificate(nil, simplex.Certificate{Kind: k, Proposal: simplex.Proposal{Round: beacon.Round{View: 2}, Parent: 1, Payload: payload}})
}

// recordOf is a block with receipts of these sizes.
func recordOf(receipts ...int) store.BlockRecord {
	var b chain.Block
	var rec store.BlockRecord
	b.Header.Version, b.Header.Height = chain.HeaderVersion, height
	for i, size := range receipts {
		tx := append(fmt.Appendf(nil, "transaction %d", i), make([]byte, 200)...)
		r := chain.Receipt{TxHash: chain.TxHash(tx), Status: chain.StatusSucceeded, Output: bytes.Repeat([]byte{byte(i)}, size)}
		b.Txs = append(b.Txs, tx)
		rec.Receipts, rec.ReceiptIDs, rec.Senders = append(rec.Receipts, r.Encode()), append(rec.ReceiptIDs, r.TxHash), append(rec.Senders, senderOf(tx))
	}
	b.Header.TxRoot, b.Header.ReceiptsRoot = tree.ListRoot(b.Txs), tree.ListRoot(rec.Receipts)
	rec.Height, rec.Digest, rec.Block = height, b.Header.Digest(), b.Encode()
	rec.Certificate = certificateOf(simplex.Finalize, rec.Digest)
	return rec
}

func senderOf(tx []byte) (a chain.Address) {
	copy(a[:], tx)
	return a
}

func partsOf(r *store.BlockRecord) [][]byte {
	var ids []byte
	for i := range r.ReceiptIDs {
		ids = append(ids, r.ReceiptIDs[i][:]...)
	}
	for i := range r.Senders {
		ids = append(ids, r.Senders[i][:]...)
	}
	return append([][]byte{r.Block, r.Certificate, ids}, r.Receipts...)
}

func sizeOf(parts [][]byte) (n int) {
	for _, p := range parts {
		n += len(p)
	}
	return n
}

// disk is a store with one block that can be damaged, and who knows of the damage.
type disk struct {
	rec     store.BlockRecord
	bytes   int
	damaged map[int]bool // parts; -1 is the head of the record
	known   bool
	fail    []error // of the next writes
	torn    bool    // a failed write leaves the record readable
	mended  int
	at      time.Time // of the last time
	found   chan struct{}
}

func newDisk(rec store.BlockRecord, damaged ...int) *disk {
	d := &disk{rec: rec, bytes: sizeOf(partsOf(&rec)), damaged: map[int]bool{}, known: true, found: make(chan struct{}, 1)}
	for _, i := range damaged {
		d.damaged[i] = true
	}
	return d
}

func (d *disk) Salvage(h chain.Height, bytesMax int) (store.Salvaged, bool, error) {
	all := partsOf(&d.rec)
	for i := range all {
		if d.damaged[i] {
			all[i] = nil
		}
	}
	out := store.Salvaged{Height: h, Digest: d.rec.Digest, Whole: len(d.damaged) == 0, Bytes: d.bytes, Receipts: make([][]byte, len(d.rec.Receipts))}
	if d.bytes <= bytesMax {
		out.Block, out.Certificate, out.IDs, out.Receipts = all[0], all[1], all[2], all[3:]
	}
	return out, true, nil
}

func (d *disk) Mend(rec *store.BlockRecord, _ bool) error {
	if len(d.fail) > 0 {
		err := d.fail[0]
		if d.fail = d.fail[1:]; err != nil {
			if d.torn {
				d.damaged = map[int]bool{}
			}
			return err
		}
	}
	if size := sizeOf(partsOf(rec)); size != d.bytes {
		return fmt.Errorf("%w: %d, not %d", store.ErrOtherSize, size, d.bytes)
	}
	d.rec, d.damaged, d.mended, d.at = *rec, map[int]bool{}, d.mended+1, time.Now()
	return nil
}

func (d *disk) Heights() []chain.Height {
	if d.known {
		return []chain.Height{height}
	}
	return nil
}

func (d *disk) Found() <-chan struct{} { return d.found }
func (d *disk) Mending(chain.Height)   {}
func (d *disk) Mended(chain.Height)    { d.known = false }

// shelf is what an honest peer has.
type shelf struct{ rec store.BlockRecord }

func (s shelf) BlockParts(h chain.Height, digest chain.Hash, first, end uint32, bytesMax int) (out [][]byte, ok bool, err error) {
	all := partsOf(&s.rec)
	if h != height || digest != s.rec.Digest || int(first) >= len(all) {
		return nil, false, nil
	}
	for _, p := range all[first:min(int(end), len(all))] {
		if bytesMax -= len(p); bytesMax < 0 {
			break
		}
		out = append(out, p)
	}
	return out, true, nil
}

// net joins a client to peers. A peer that has no server answers by say.
type net struct {
	client  *Client
	servers map[int]*Server
	say     map[int]func(w want) []byte // nil: nothing
	asked   map[int][]want
	billed  int
}

// from is the network as a server sees it.
type from struct {
	*net
	peer int
}

func (f from) Served(_, bytes int) { f.billed += bytes }

func (f from) Send(_ int, msg []byte) {
	if err := Deliver(nil, f.client, f.peer, msg); err != nil {
		panic(err)
	}
}

func (n *net) Send(to int, msg []byte) {
	m, err := decode(msg)
	if err != nil {
		panic(err)
	}
	w := m.(want)
	n.asked[to] = append(n.asked[to], w)
	if s := n.servers[to]; s != nil {
		go func() {
			for s.request(0, w) != nil { // as the transport does
				time.Sleep(10 * time.Millisecond)
			}
		}()
	} else if say := n.say[to]; say != nil {
		if answer := say(w); answer != nil {
			_ = Deliver(nil, n.client, to, answer)
		}
	}
}

// world is a client with a damaged block and its peers.
type world struct {
	*net
	disk *disk
	log  strings.Builder
}

// newWorld has an honest peer for each record.
func newWorld(d *disk, peers ...store.BlockRecord) *world {
	w := &world{net: &net{servers: map[int]*Server{}, say: map[int]func(want) []byte{}, asked: map[int][]want{}}, disk: d}
	cfg := DefaultConfig()
	cfg.Store, cfg.Damage, cfg.Network, cfg.Log = d, d, w.net, slog.New(slog.NewTextHandler(&w.log, nil))
	cfg.Peers = func() (peers []int) {
		for peer := range len(w.servers) + len(w.say) {
			peers = append(peers, peer)
		}
		return peers
	}
	cfg.Fit = ledger.FitCertificates
	cfg.Certify = func(rec store.BlockRecord) error {
		if c, err := ledger.ReadCertificates(rec.Certificate); err != nil || c.Own.Proposal.Payload != rec.Digest || c.Final.Kind != simplex.Finalize {
			return errors.New("it does not hold")
		}
		return nil
	}
	cfg.Senders = func(_ context.Context, txs [][]byte) (out []chain.Address, err error) {
		for _, tx := range txs {
			out = append(out, senderOf(tx))
		}
		return out, nil
	}
	w.client = NewClient(cfg)
	for i, rec := range peers {
		w.servers[i] = NewServer(ServerConfig{Records: shelf{rec}, Network: from{w.net, i}, PartBytesMax: 16 << 20, BytesPerSecond: ServedPerSecond, Now: time.Now})
	}
	return w
}

// run lets all work for a while, in virtual time.
func (w *world) run(t *testing.T, d time.Duration) {
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	for _, s := range w.servers {
		go func() { _ = s.Run(ctx) }()
	}
	if err := w.client.Run(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	synctest.Wait()
}

func same(a, b store.BlockRecord) bool {
	return slices.EqualFunc(partsOf(&a), partsOf(&b), bytes.Equal)
}

// TestEachDamageIsMended: whatever part of a record is damaged, it becomes what it was,
// and nothing is asked for that is there or that can be computed.
func TestEachDamageIsMended(t *testing.T) {
	for name, c := range map[string]struct {
		damaged []int
		asked   string // first-end of each request
	}{
		"head":          {[]int{-1}, ""},
		"ids":           {[]int{2}, ""},
		"block":         {[]int{0}, "0-1"},
		"certificate":   {[]int{1}, "1-2"},
		"both":          {[]int{0, 1}, "0-2"},
		"a receipt":     {[]int{4}, "4-5"},
		"two receipts":  {[]int{3, 5}, "3-4 5-6"},
		"the last ones": {[]int{5, 6}, "5-7"},
		"all":           {[]int{-1, 0, 1, 2, 3, 4, 5, 6}, "0-2 3-7"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				rec := recordOf(3, 0, 70, 900)
				w := newWorld(newDisk(rec, c.damaged...), rec)
				w.run(t, time.Minute)
				var asked []string
				for _, r := range w.asked[0] {
					asked = append(asked, fmt.Sprintf("%d-%d", r.first, r.end))
				}
				if got := strings.Join(asked, " "); got != c.asked || w.disk.mended != 1 || w.disk.known || !same(w.disk.rec, rec) {
					t.Errorf("asked %q, want %q; mended %d times, known as damaged: %v\n%s", got, c.asked, w.disk.mended, w.disk.known, &w.log)
				}
				if n := strings.Count(w.log.String(), "was written again at its place"); n != 1 || w.client.Stats.Mended.Load() != 1 {
					t.Errorf("said %d times:\n%s", n, &w.log)
				}
			})
		})
	}
}

// TestFirstLinks: after a start, the first try comes before anybody is connected. The next
// one follows the first connection, when others had a moment to connect as well, and not
// the pause after a failure; without a block to give, a connection changes nothing.
func TestFirstLinks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := recordOf(3, 70)
		w := newWorld(newDisk(rec, 0))
		peers := w.client.cfg.Peers
		var here atomic.Pointer[[]int]
		here.Store(new([]int))
		w.client.cfg.Peers = func() []int { return *here.Load() }
		w.servers[0] = NewServer(ServerConfig{Records: shelf{recordOf(1)}, Network: from{w.net, 0}, PartBytesMax: 16 << 20, BytesPerSecond: ServedPerSecond, Now: time.Now})
		w.servers[1] = NewServer(ServerConfig{Records: shelf{rec}, Network: from{w.net, 1}, PartBytesMax: 16 << 20, BytesPerSecond: ServedPerSecond, Now: time.Now})
		begun := time.Now()
		connect := func(after time.Duration, peer int) {
			time.AfterFunc(after, func() {
				linked := peers()[:peer+1]
				here.Store(&linked)
				w.client.Linked()
			})
		}
		connect(3*time.Second, 0)
		connect(4*time.Second, 1)
		w.run(t, 30*time.Second)
		if took := w.disk.at.Sub(begun); w.disk.mended != 1 || took > 3*time.Second+w.client.cfg.LinkedWait+time.Second {
			t.Errorf("mended %d times, after %v\n%s", w.disk.mended, took, &w.log)
		}
		if n := w.client.Stats.Failed(ReasonNobody); n != 1 {
			t.Errorf("%d tries found nobody", n)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(newDisk(recordOf(3, 70), 0), recordOf(1))
		for at := time.Second; at < 50*time.Second; at += 100 * time.Millisecond {
			time.AfterFunc(at, w.client.Linked)
		}
		w.run(t, 50*time.Second)
		if n := w.client.Stats.Failed(ReasonNone); n != 1 {
			t.Errorf("a peer without the block was asked %d times", n)
		}
	})
}

// TestRecordsOfOtherKinds: blocks without transactions, without stored senders, and the
// first of an imported state, of which there are no receipts.
func TestRecordsOfOtherKinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		old, imported := recordOf(5, 5), recordOf(5, 5)
		old.Senders = nil
		imported.Receipts, imported.ReceiptIDs, imported.Senders = nil, nil, nil
		for name, rec := range map[string]store.BlockRecord{"empty": recordOf(), "without senders": old, "imported": imported} {
			w := newWorld(newDisk(rec, 0, 1, 2), recordOf(5, 5), rec)
			w.run(t, time.Minute)
			if !same(w.disk.rec, rec) || w.disk.mended != 1 {
				t.Errorf("%s: mended %d times\n%s", name, w.disk.mended, &w.log)
			}
		}
	})
}

// TestLargeRecords come in many answers, at the rates of both sides, and a part that is
// larger than an answer comes alone.
func TestLargeRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sizes := []int{chain.MaxOutputBytes, 10, chain.MaxOutputBytes}
		for range 5000 {
			sizes = append(sizes, 100)
		}
		rec := recordOf(sizes...)
		damaged := make([]int, 3+len(sizes))
		for i := range damaged {
			damaged[i] = i
		}
		w := newWorld(newDisk(rec, damaged...), rec)
		begun := time.Now()
		w.run(t, time.Minute)
		if took, least := w.disk.at.Sub(begun), time.Duration(w.disk.bytes)*time.Second/ServedPerSecond/2; !same(w.disk.rec, rec) || took < least {
			t.Errorf("mended %d times, in %v, want %v at least\n%s", w.disk.mended, took, least, &w.log)
		}
		if n := len(w.asked[0]); n < 5 || n > 40 {
			t.Errorf("%d requests for %d bytes", n, w.disk.bytes)
		}
		if w.billed < w.disk.bytes/2 {
			t.Errorf("%d bytes were billed of %d", w.billed, w.disk.bytes)
		}
	})
}

// TestLargeBlocks: a block that is larger than a message was once comes in one, and on a
// slow line is waited for.
func TestLargeBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := recordOf()
		b := chain.Block{Header: chain.Header{Version: chain.HeaderVersion, Height: height}}
		for range 320 {
			b.Txs = append(b.Txs, make([]byte, 64<<10))
		}
		b.Header.TxRoot = tree.ListRoot(b.Txs)
		b.Header.ReceiptsRoot = tree.ListRoot(nil)
		rec.Digest, rec.Block, rec.Certificate = b.Header.Digest(), b.Encode(), certificateOf(simplex.Finalize, b.Header.Digest())
		for most, mended := range map[int]int{16 << 20: 0, 32 << 20: 1} {
			w := newWorld(newDisk(rec, 0), rec)
			w.servers[0].cfg.PartBytesMax, w.servers[0].cfg.Network = most, late{from{w.net, 0}, 15 * time.Second}
			w.run(t, time.Minute)
			if w.disk.mended != mended {
				t.Errorf("parts of up to %d bytes: mended %d times\n%s", most, w.disk.mended, &w.log)
			}
		}
	})
}

// late is a slow line.
type late struct {
	from
	by time.Duration
}

func (l late) Send(to int, msg []byte) {
	time.AfterFunc(l.by, func() { l.from.Send(to, msg) })
}

// TestLiarsMendNothing puts one liar beside one honest peer: the block is mended with the
// honest one's, the liar is counted by what it did, and not asked again for a while.
func TestLiarsMendNothing(t *testing.T) {
	rec := recordOf(3, 0, 70)
	other := recordOf(4, 4, 4)
	otherParts := partsOf(&other)
	give := func(w want, p ...[]byte) []byte { return parts{w.id, w.first, p}.append(nil) }
	for name, c := range map[string]struct {
		say    func(w want) []byte
		reason Reason
		lies   bool
	}{
		"says nothing":    {nil, ReasonSilent, false},
		"does not have":   {func(w want) []byte { return none{w.id}.append(nil) }, ReasonNone, false},
		"another block":   {func(w want) []byte { return give(w, otherParts[w.first:min(w.end, 6)]...) }, ReasonBlock, true},
		"garbage":         {func(w want) []byte { return give(w, []byte("garbage"), []byte("garbage")) }, ReasonBlock, true},
		"more parts":      {func(w want) []byte { return give(w, append(partsOf(&rec), nil)...) }, ReasonAnswer, true},
		"other parts":     {func(w want) []byte { return parts{w.id, w.first + 1, partsOf(&rec)[1:2]}.append(nil) }, ReasonAnswer, true},
		"a huge block":    {func(w want) []byte { return give(w, make([]byte, 1<<20)) }, ReasonAnswer, true},
		"huge receipts":   {honestTo(rec, func(w want) []byte { return give(w, make([]byte, 1<<20)) }), ReasonAnswer, true},
		"other receipts":  {honestTo(rec, func(w want) []byte { return give(w, otherParts[w.first:w.end]...) }), ReasonReceipts, true},
		"other order":     {honestTo(rec, func(w want) []byte { return give(w, partsOf(&rec)[4], partsOf(&rec)[3], partsOf(&rec)[5]) }), ReasonReceipts, true},
		"half, then none": {halfOf(rec), ReasonSilent, false},
		"forged certificate": {func(w want) []byte {
			if w.first > 0 {
				return give(w, partsOf(&rec)[w.first:w.end]...)
			}
			return give(w, rec.Block, certificateOf(simplex.Finalize, chain.Hash{1}))
		}, ReasonCertificate, true},
		"no certificate": {func(w want) []byte {
			if w.first > 0 {
				return give(w, partsOf(&rec)[w.first:w.end]...)
			}
			return give(w, rec.Block, bytes.Repeat([]byte{7}, len(rec.Certificate)))
		}, ReasonCertificate, true},
		"garbage on the wire": {func(want) []byte { return []byte{tagParts, 1, 2} }, ReasonSilent, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				met := false
				for try := 0; !met && try < 64; try++ { // which peer is asked first is drawn
					w := newWorld(newDisk(rec, 0, 1, 2, 3, 4, 5), rec)
					w.say[1] = c.say
					w.run(t, 3*time.Minute)
					if met = len(w.asked[1]) > 0; w.disk.mended != 1 || !same(w.disk.rec, rec) {
						t.Fatalf("mended %d times\n%s", w.disk.mended, &w.log)
					}
					_, liar := w.client.liars[1]
					if met && (w.client.Stats.Failed(c.reason) != 1 || liar != c.lies) {
						t.Errorf("%s is counted %d times; a liar: %v, want %v\n%s", c.reason, w.client.Stats.Failed(c.reason), liar, c.lies, &w.log)
					}
					if n := strings.Count(w.log.String(), "a peer gave wrong parts"); met && (n == 1) != c.lies {
						t.Errorf("said %d times:\n%s", n, &w.log)
					}
				}
				if !met {
					t.Error("the liar was never asked")
				}
			})
		})
	}
}

// honestTo answers honestly for block and certificate, and lies about receipts.
func honestTo(rec store.BlockRecord, lie func(w want) []byte) func(w want) []byte {
	return func(w want) []byte {
		if w.first >= partReceipts {
			return lie(w)
		}
		return parts{w.id, w.first, partsOf(&rec)[w.first:w.end]}.append(nil)
	}
}

// halfOf gives a wrong receipt and falls silent, for the next peer to be blamed.
func halfOf(rec store.BlockRecord) func(w want) []byte {
	return honestTo(rec, func(w want) []byte {
		if w.first == partReceipts {
			return parts{w.id, w.first, [][]byte{[]byte("wrong")}}.append(nil)
		}
		return nil
	})
}

// manyDisks are damaged blocks of one chain, of which one is whole after another.
type manyDisks struct {
	*disk
	left int
}

func (m *manyDisks) Heights() (out []chain.Height) {
	for i := range m.left {
		out = append(out, height+chain.Height(i))
	}
	return out
}

func (m *manyDisks) Mended(chain.Height) {
	m.left--
	m.damaged = map[int]bool{0: true}
}

// TestSilentPeerRests: among many damaged blocks, a peer that does not answer holds up
// one in a while, and not each.
func TestSilentPeerRests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := recordOf(1)
		w := newWorld(newDisk(rec, 0), rec)
		many := &manyDisks{w.disk, 500}
		w.client.cfg.Damage, w.say[1] = many, nil
		w.run(t, 10*time.Minute)
		if asked := len(w.asked[1]); many.left != 0 || asked == 0 || asked > 11 {
			t.Errorf("%d of 500 blocks are left; the silent peer was asked %d times", many.left, asked)
		}
	})
}

// TestDripperIsLeft: a peer that gives a part at a time, each just in time, holds up a
// block for as long as honest answers would take and no longer.
func TestDripperIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rec := recordOf(make([]int, 200)...)
		damaged := []int{0, 1}
		for i := range rec.Receipts {
			damaged = append(damaged, 3+i)
		}
		met := false
		for !met {
			w := newWorld(newDisk(rec, damaged...), rec)
			w.say[1] = func(q want) []byte {
				go func() {
					time.Sleep(w.client.cfg.RequestTimeout - time.Second)
					_ = Deliver(nil, w.client, 1, parts{q.id, q.first, partsOf(&rec)[q.first:][:1]}.append(nil))
				}()
				return nil
			}
			w.run(t, 10*w.client.cfg.RequestTimeout)
			if met = len(w.asked[1]) > 0; w.disk.mended != 1 {
				t.Errorf("mended %d times; the dripper was asked %d times\n%s", w.disk.mended, len(w.asked[1]), &w.log)
			}
		}
	})
}

// TestFormsOfCertificates: a certificate of another form is brought into the one that
// fits the place, or another peer is asked.
func TestFormsOfCertificates(t *testing.T) {
	rec := recordOf(1, 2)
	final, own := certificateOf(simplex.Finalize, rec.Digest), certificateOf(simplex.Notarize, rec.Digest)
	byChild := func(b []byte) []byte { return append(certificateOf(simplex.Finalize, chain.Hash{9}), b...) }
	with := func(c []byte) store.BlockRecord {
		r := rec
		r.Certificate = c
		return r
	}
	for name, c := range map[string]struct{ ours, theirs, want []byte }{
		"the same":                     {final, final, final},
		"a descendant's, the same":     {byChild(own), byChild(own), byChild(own)},
		"a descendant's, by its own":   {byChild(own), final, append(slices.Clone(final), final...)},
		"its own, behind a descendant": {final, byChild(final), final},
		"its own, by a notarization":   {final, byChild(own), nil},
	} {
		for _, senders := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				ours, theirs := with(c.ours), with(c.theirs)
				if !senders {
					ours.Senders = nil
				}
				w := newWorld(newDisk(ours, 1, 2), theirs)
				w.run(t, time.Minute/2)
				switch {
				case c.want == nil && (w.disk.mended != 0 || w.client.Stats.Failed(ReasonForm) != 1 || len(w.client.liars) != 0):
					t.Errorf("%s: mended %d times, liars %v", name, w.disk.mended, w.client.liars)
				case c.want != nil && (!bytes.Equal(w.disk.rec.Certificate, c.want) || w.disk.mended != 1 || (w.disk.rec.Senders != nil) != senders):
					t.Errorf("%s: mended %d times, %x\n%s", name, w.disk.mended, w.disk.rec.Certificate, &w.log)
				}
				if _, err := ledger.ReadCertificates(w.disk.rec.Certificate); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			})
		}
	}
	synctest.Test(t, func(t *testing.T) { // the second peer has the form that fits
		w := newWorld(newDisk(with(final), 0, 1, 3), with(byChild(own)), with(final), with(byChild(own)))
		w.run(t, time.Minute)
		if w.disk.mended != 1 || !bytes.Equal(w.disk.rec.Certificate, final) || len(w.client.liars) != 0 {
			t.Errorf("mended %d times, liars %v\n%s", w.disk.mended, w.client.liars, &w.log)
		}
	})
}

// TestWritesThatFail are tried again, after pauses that double. A block that can be read
// after a failed sync is written again all the same.
func TestWritesThatFail(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := store.ErrDiskFull
		for _, torn := range []bool{false, true} {
			rec := recordOf(1)
			d := newDisk(rec, 0)
			d.fail, d.torn = []error{full, full, full}, torn
			w := newWorld(d, rec)
			w.run(t, 6*time.Minute)
			if d.mended != 0 || !d.known || w.client.Stats.Failed(ReasonDisk) != 3 {
				t.Errorf("mended %d times, %d failures", d.mended, w.client.Stats.Failed(ReasonDisk))
			}
			w.run(t, 3*time.Minute)
			if d.mended != 1 || d.known || !same(d.rec, rec) {
				t.Errorf("mended %d times", d.mended)
			}
			if n := strings.Count(w.log.String(), "could not be fetched yet"); n < 2 || n > 3 {
				t.Errorf("said %d times:\n%s", n, &w.log)
			}
		}
	})
}

// TestNobodyCanHelp: without peers, and above the bound of memory, a block stays damaged;
// tries are seldom, and so are lines of the log.
func TestNobodyCanHelp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(newDisk(recordOf(1), 0))
		w.run(t, 24*time.Hour)
		if n := w.client.Stats.Failed(ReasonNobody); n < 24 || n > 30 || w.disk.mended > 0 {
			t.Errorf("%d tries in a day", n)
		}
		if n := strings.Count(w.log.String(), "\n"); n > 31 {
			t.Errorf("%d lines of the log in a day", n)
		}
		rec := recordOf(1)
		w = newWorld(newDisk(rec, 0), rec)
		w.client.cfg.RecordBytesMax = w.disk.bytes - 1
		w.run(t, time.Hour)
		if w.client.Stats.Failed(ReasonLarge) == 0 || w.disk.mended > 0 || len(w.asked) > 0 {
			t.Errorf("a record above the bound: mended %d times", w.disk.mended)
		}
		off := newWorld(newDisk(rec, 0), rec)
		off.client.cfg.BytesPerSecond = 0
		off.run(t, time.Hour)
		if len(off.asked) > 0 || off.disk.mended > 0 {
			t.Error("what is switched off works")
		}
	})
}
