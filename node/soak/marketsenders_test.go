package soak

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// sender is an account whose transactions go one behind the other, through nodes that come
// and go.
type sender struct {
	key     *secp256k1.PrivateKey
	addr    chain.Address
	next    uint64   // nonce of the first that is in no block
	queue   []*order // these, in the order of their nonces
	paid    chain.Wei
	through int // node that takes them
}

func newSender(name string) *sender {
	secret := keccak.Sum256([]byte("cowboy soak account"), []byte(name))
	key, err := secp256k1.ParsePrivateKey(secret[:])
	if err != nil {
		panic(err) // of a name in this package
	}
	return &sender{key: key, addr: key.PublicKey().Address(), through: int(secret[0])}
}

// order is a transaction that is to be in a block.
type order struct {
	by    *sender
	what  string
	tx    chain.Tx // without nonce, prices and signature
	until uint64   // the last height at which it is of use; 0: any
	// done is told what became of it: nil where it was of no use any more and is in no block.
	done func(*rpc.ReceiptReply)

	signed   client.Signed
	versions int // with other nonces than before
	sentAt   time.Time
	refusal  string // the last one
}

// Prices of a transaction. Whose nonce has become another's offers a half more, so that it
// takes the place of what it was.
const (
	soakTip    = 10
	soakMaxFee = 2_000
)

// Waits of senders.
const (
	resendAfter = 3 * time.Second // what a node took and no block has
	refusedWait = time.Second     // behind a refusal
	inFlight    = 24              // of one sender
)

// sign gives an order its nonce.
func (o *order) sign(chainID, nonce uint64) {
	tx := o.tx
	tx.ChainID, tx.Nonce = chainID, nonce
	tx.TipPerCycle, tx.MaxFeePerCycle, tx.MaxFeePerCell = soakTip, soakMaxFee, soakMaxFee
	for range o.versions {
		tx.TipPerCycle += tx.TipPerCycle / 2
		tx.MaxFeePerCycle += tx.MaxFeePerCycle / 2
		tx.MaxFeePerCell += tx.MaxFeePerCell / 2
	}
	o.signed, o.sentAt = client.SignTx(o.by.key, &tx), time.Time{}
	o.versions++
}

// arrange signs what has no nonce of its own place, and returns what is to be sent now.
func (s *sender) arrange(chainID uint64, now time.Time) (list []*order, again bool) {
	for i, o := range s.queue[:min(len(s.queue), inFlight)] {
		if nonce := s.next + uint64(i); o.signed.Tx == nil || o.signed.Tx.Nonce != nonce {
			o.sign(chainID, nonce)
		}
		if !o.sentAt.IsZero() && now.Sub(o.sentAt) > resendAfter && !again {
			again = true
			s.through++ // its node may be gone, or have forgotten
		}
		if again || o.sentAt.IsZero() {
			list = append(list, o)
		}
	}
	return list, again
}

// outbox sends what all senders have.
type outbox struct {
	board   *board
	chainID uint64
	senders []*sender
	byHash  map[chain.Hash]*order // every version of every order
	refused map[string]int        // verdicts of nodes
	failed  map[string]int        // receipts
	final   int                   // transactions in blocks
	again   int                   // sendings of what a node took and no block had in time
}

// add makes a sender known.
func (b *outbox) add(s *sender) *sender {
	b.senders = append(b.senders, s)
	return s
}

// give puts a transaction behind the others of its sender.
func (b *outbox) give(o *order) { o.by.queue = append(o.by.queue, o) }

// batch is what one node is sent in one request.
type batch struct {
	url    string
	orders []*order
	reply  rpc.SubmitReply
	err    error
}

// batchMax is how many transactions one request has (resolution 11.12).
const batchMax = 50

// batches arranges what is to be sent now.
func (b *outbox) batches(now time.Time) (list []*batch) {
	byNode := map[string][]*order{}
	for _, s := range b.senders {
		due, again := s.arrange(b.chainID, now)
		if again {
			b.again += len(due)
		}
		for _, o := range due {
			b.byHash[o.signed.Hash] = o
			url := b.board.url(s.through)
			byNode[url] = append(byNode[url], o)
		}
	}
	for _, url := range slices.Sorted(maps.Keys(byNode)) {
		for part := range slices.Chunk(byNode[url], batchMax) {
			list = append(list, &batch{url: url, orders: part})
		}
	}
	return list
}

// sendAll sends what is to be sent at a height. What a node does not answer goes to the next
// one the next time.
func (b *outbox) sendAll(ctx context.Context, h uint64) error {
	now := time.Now()
	list := b.batches(now)
	if err := side(len(list), func(i int) error {
		var wire []byte
		for _, o := range list[i].orders {
			wire = append(wire, o.signed.Wire...)
		}
		list[i].err = post(ctx, list[i].url+"/submit", wire, &list[i].reply)
		if got := len(list[i].reply.Results); list[i].err == nil && got != len(list[i].orders) {
			return fmt.Errorf("%d verdicts on %d transactions", got, len(list[i].orders))
		}
		return nil
	}); err != nil {
		return err
	}
	for _, part := range list {
		gone := map[*sender]bool{}
		for i, o := range part.orders {
			if part.err == nil {
				b.judge(o, &part.reply.Results[i], h, now)
			} else if o.sentAt = (time.Time{}); !gone[o.by] {
				gone[o.by] = true
				o.by.through++
			}
		}
	}
	return ctx.Err()
}

// judge notes a node's verdict.
func (b *outbox) judge(o *order, r *rpc.SubmitResult, h uint64, now time.Time) {
	o.sentAt = now
	if r.Accepted || r.Code == rpc.CodeTxKnown || r.Code == rpc.CodeNonceTooLow { // a block has the latter, or soon will
		return
	}
	o.refusal = fmt.Sprintf("%d %s", r.Code, r.Message)
	b.refused[fmt.Sprintf("%s: %d", o.what, r.Code)]++
	o.sentAt = now.Add(refusedWait - resendAfter)
	switch {
	case r.Code == rpc.CodeReplacement:
		o.signed.Tx = nil // a higher price
	case o.until > 0 && h >= o.until:
		b.end(o, nil)
	}
}

// end takes an order out of its queue.
func (b *outbox) end(o *order, r *rpc.ReceiptReply) {
	if i := slices.Index(o.by.queue, o); i >= 0 {
		o.by.queue = slices.Delete(o.by.queue, i, i+1)
		o.done(r)
	}
}

// included notes a transaction of a block that is one of these.
func (b *outbox) included(o *order, nonce uint64, r *rpc.ReceiptReply) {
	b.final++
	o.by.next, o.by.paid = nonce+1, o.by.paid+r.Fee
	if r.Status != "success" {
		b.failed[fmt.Sprintf("%s: %s", o.what, r.RevertReason)]++
	}
	b.end(o, r)
}

// waiting counts the orders that are in no block.
func (b *outbox) waiting() (n int) {
	for _, s := range b.senders {
		n += len(s.queue)
	}
	return n
}
