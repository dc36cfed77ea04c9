package acceptance_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// account sends transactions, one after the other.
type account struct {
	key  *secp256k1.PrivateKey
	addr chain.Address

	mu    sync.Mutex
	nonce uint64
}

// newAccount derives an account from a name, the same in every run.
func newAccount(name string) *account {
	for n := byte(0); ; n++ {
		secret := keccak.Sum256([]byte("cowboy acceptance account"), []byte(name), []byte{n})
		if key, err := secp256k1.ParsePrivateKey(secret[:]); err == nil {
			return &account{key: key, addr: key.PublicKey().Address()}
		}
	}
}

// outcome is what became of a transaction: refused by the node before any block, or in a block
// with a receipt.
type outcome struct {
	hash    chain.Hash
	code    rpc.Code // of the node; 0: it was taken
	message string
	receipt *rpc.ReceiptReply // nil exactly if it was refused
}

// ok reports whether it did what it asked for.
func (o *outcome) ok() bool { return o.receipt != nil && o.receipt.Status == "success" }

// used is how many cycles it took.
func (o *outcome) used() uint64 {
	if o.receipt == nil {
		return 0
	}
	return o.receipt.CyclesUsed
}

func (o *outcome) String() string {
	if o.receipt == nil {
		return fmt.Sprintf("the node refuses it (%d %s)", o.code, o.message)
	}
	return fmt.Sprintf("block %d: %s %s", o.receipt.BlockHeight, o.receipt.Status, o.receipt.RevertReason)
}

// Limits of a transaction that the node cannot estimate, since it is to fail.
const (
	cyclesByDefault = 800_000
	cellsByDefault  = 30_000
	feePerUnit      = 1_000 // many times a base fee that blocks with room leave
)

// notTaken stands where a node has not judged a transaction at all.
const notTaken rpc.Code = -1

// send signs a transaction, sends it to a node and waits for its receipt. A transaction that
// the node refuses leaves the account's nonce for the next.
func (p *probe) send(by *account, tx chain.Tx) *outcome {
	node := p.node(by.addr)
	o := p.submit(node, by, tx)
	if p.wait(node, o); o.receipt != nil {
		p.reachAt(p.net.nodes[0], chain.Height(o.receipt.BlockHeight)) // which most questions go to
	}
	return o
}

// wait asks for the receipt of what a node has taken.
func (p *probe) wait(node *client.Client, o *outcome) {
	for o.code == rpc.CodeOK && o.receipt == nil {
		p.pause()
		if r, err := node.Receipt(p.ctx, o.hash); err == nil {
			o.receipt = r
		}
	}
}

// submit is the first half of send: the node's verdict.
func (p *probe) submit(node *client.Client, by *account, tx chain.Tx) *outcome {
	by.mu.Lock()
	defer by.mu.Unlock()
	if tx.CyclesLimit == 0 {
		e, err := node.Estimate(p.ctx, by.addr, &tx) // with limits of 0: of the most there can be
		tx.CyclesLimit, tx.CellsLimit = cyclesByDefault, cellsByDefault
		if err == nil && e.Status == "success" {
			tx.CyclesLimit = chain.Cycles(e.CyclesLimit + e.CyclesLimit/4 + 20_000)
			tx.CellsLimit = chain.Cells(e.CellsLimit + e.CellsLimit/4 + 2_000)
		}
	}
	if tx.ChainID == 0 {
		tx.ChainID = p.net.chainID
	}
	tx.Nonce = by.nonce
	tx.MaxFeePerCycle, tx.MaxFeePerCell = feePerUnit, feePerUnit
	signed := client.SignTx(by.key, &tx)
	o := &outcome{hash: signed.Hash}
	reply, err := node.Submit(p.ctx, signed.Wire)
	switch {
	case err != nil:
		o.code, o.message = notTaken, err.Error()
	case !reply.Results[0].Accepted:
		o.code, o.message = reply.Results[0].Code, reply.Results[0].Message
	default:
		by.nonce++
	}
	return o
}

// node is the one that an account sends to.
func (p *probe) node(a chain.Address) *client.Client { return p.net.nodes[int(a[19])%len(p.net.nodes)] }

// pause waits for a moment, and ends the test when it has waited too long.
func (p *probe) pause() {
	select {
	case <-p.ctx.Done():
		p.fatalf("nothing came in %v: %v", patience, context.Cause(p.ctx))
	case <-time.After(50 * time.Millisecond):
	}
}

// poolLag is how many blocks the pool of a node may be behind what the node answers: by a head
// that it does not have yet an account has no money, or a runner no seat.
const poolLag = 50

// must sends what has to succeed, at the latest when the node's pool has come to the head.
func (p *probe) must(by *account, tx chain.Tx) *outcome {
	o := p.send(by, tx)
	for began := p.height(); o.code == rpc.CodeInsufficient || o.code == rpc.CodeTxNotAllowed; o = p.send(by, tx) {
		if p.height() > began+poolLag {
			break
		}
		p.pause()
	}
	if !o.ok() {
		p.fatalf("a transaction that is valid: %v (%d cycles used)", o, o.used())
	}
	return o
}

// refused sends what the rule forbids. A transaction that fails in a block costs its fee and
// nothing else; one that the node refuses costs nothing.
func (p *probe) refused(what string, by *account, tx chain.Tx) *outcome {
	before := p.balance(by.addr)
	o := p.send(by, tx)
	if o.ok() {
		p.errorf("%s: it is taken (%v)", what, o)
		return o
	}
	fee := chain.Wei(0)
	if o.receipt != nil {
		fee = o.receipt.Fee
	}
	if after := p.balance(by.addr); after != before-fee {
		p.errorf("%s: refused (%v), and yet the balance went from %d to %d with a fee of %d", what, o, before, after, fee)
	}
	return o
}

// instruct is an instruction to a system actor.
func instruct(to chain.Address, r chain.Request) chain.Tx {
	return chain.Tx{To: &to, Payload: chain.EncodeRequest(r)}
}

// balance is that of an account at the head of the node that the account sends to.
func (p *probe) balance(a chain.Address) chain.Wei {
	r, err := p.node(a).Account(p.ctx, a)
	if client.IsNotFound(err) {
		return 0
	}
	p.check(err)
	return r.Balance
}

// fund gives accounts what they need, and waits until the nodes that they send to know it.
func (p *probe) fund(amount chain.Wei, to ...*account) {
	p.each(len(to), func(i int) {
		o := p.must(p.net.bank, chain.Tx{To: &to[i].addr, Value: amount, CyclesLimit: 21_000})
		p.reachAt(p.node(to[i].addr), chain.Height(o.receipt.BlockHeight))
	})
}

// each does n things side by side and ends the test where one of them has.
func (p *probe) each(n int, do func(i int)) {
	var all sync.WaitGroup
	var ended atomic.Bool
	for i := range n {
		all.Go(func() {
			defer func() {
				if r := recover(); r == (stopped{}) {
					ended.Store(true)
				} else if r != nil {
					panic(r)
				}
			}()
			do(i)
		})
	}
	all.Wait()
	if ended.Load() {
		panic(stopped{})
	}
}

// height is that of the first node's head.
func (p *probe) height() chain.Height {
	h, err := p.net.nodes[0].Height(p.ctx)
	p.check(err)
	return h
}

// reach waits until every node is at a height.
func (p *probe) reach(want chain.Height) {
	for _, node := range p.net.nodes {
		p.reachAt(node, want)
	}
}

// reachAt waits until one node is at a height.
func (p *probe) reachAt(node *client.Client, want chain.Height) {
	for {
		h, err := node.Height(p.ctx)
		if err == nil && h >= want {
			return
		}
		p.pause()
	}
}
