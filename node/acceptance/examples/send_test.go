package examples_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/fxamacker/cbor/v2"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/manifest"
	"github.com/cowboy-foundation/cowboy/node/pyvalue"
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
func newAccount(t *testing.T, name string) *account {
	t.Helper()
	secret := keccak.Sum256([]byte("cowboy examples account"), []byte(name))
	key, err := secp256k1.ParsePrivateKey(secret[:])
	if err != nil {
		t.Fatal(err)
	}
	return &account{key: key, addr: key.PublicKey().Address()}
}

// stage is an example on the devnet, with who owns it.
type stage struct {
	*testing.T
	*devnet
	ctx   context.Context
	owner *account
	other *account // has nothing to do with it
	actor chain.Address
}

// pause waits for a moment, and ends the test when it has waited too long.
func (s *stage) pause(what string) {
	s.Helper()
	select {
	case <-s.ctx.Done():
		s.Fatalf("%s: not in %v (%v)", what, patience, context.Cause(s.ctx))
	case <-time.After(40 * time.Millisecond):
	}
}

var errPatience = errors.New("the patience of the test is over")

// node is the one that an account sends to.
func (d *devnet) node(a *account) *client.Client { return d.nodes[int(a.addr[19])%len(d.nodes)] }

// send signs a transaction, and waits for its receipt. One that the node refuses has none.
func (s *stage) send(by *account, tx chain.Tx) *rpc.ReceiptReply {
	s.Helper()
	hash, ok := s.submit(by, tx)
	for ok {
		r, err := s.node(by).Receipt(s.ctx, hash)
		if err == nil {
			return r
		}
		s.pause("a receipt")
	}
	return nil
}

// submit sends a transaction and reports whether the node has taken it.
func (s *stage) submit(by *account, tx chain.Tx) (chain.Hash, bool) {
	s.Helper()
	by.mu.Lock()
	defer by.mu.Unlock()
	tx.CyclesLimit, tx.CellsLimit = 2_000_000, 200_000
	if len(tx.Payload) == 0 {
		tx.CyclesLimit, tx.CellsLimit = 21_000, 0
	}
	tx.ChainID, tx.Nonce, tx.MaxFeePerCycle, tx.MaxFeePerCell = s.chainID, by.nonce, 1_000, 1_000
	signed := client.SignTx(by.key, &tx)
	reply, err := s.node(by).Submit(s.ctx, signed.Wire)
	if err != nil {
		s.Fatal(err)
	}
	if got := reply.Results[0]; !got.Accepted {
		s.Logf("a node refuses a transaction: %d %s", got.Code, got.Message)
		return signed.Hash, false
	}
	by.nonce++
	return signed.Hash, true
}

// must sends what has to succeed, and returns when all nodes know it.
func (s *stage) must(by *account, tx chain.Tx) *rpc.ReceiptReply {
	s.Helper()
	r := s.send(by, tx)
	if r == nil || r.Status != "success" {
		s.Fatalf("a transaction that is valid: %+v", r)
	}
	s.reach(chain.Height(r.BlockHeight))
	return r
}

// reach waits until all nodes are at a height.
func (s *stage) reach(want chain.Height) {
	s.Helper()
	for _, node := range s.nodes {
		for {
			if h, err := node.Height(s.ctx); err == nil && h >= want {
				break
			}
			s.pause("a block")
		}
	}
}

// each does something for all accounts side by side, and returns when it is done.
func each(all []*account, do func(*account)) {
	var wait sync.WaitGroup
	for _, a := range all {
		wait.Go(func() { do(a) })
	}
	wait.Wait()
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	mode, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		t.Fatal(err)
	}
	b, err := mode.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// value is one of Python's, written as JSON.
func value(t *testing.T, document string) []byte {
	t.Helper()
	b, err := pyvalue.Encode([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// deploy makes an actor of a source, with the manifest that it needs, and gives it money for its
// jobs and timers.
func (s *stage) deploy(by *account, source []byte, init string) chain.Address {
	s.Helper()
	grants, err := manifest.Infer(source)
	if err != nil {
		s.Fatal(err)
	}
	encoded, err := manifest.Encode(grants)
	if err != nil {
		s.Fatal(err)
	}
	var first any
	if init != "" {
		first = []any{"init", value(s.T, init)}
	}
	s.must(by, chain.Tx{Payload: encode(s.T, []any{source, []byte{1}, cbor.RawMessage(encoded), first})})
	code := keccak.Sum256(source)
	hash := keccak.Sum256(by.addr[:], []byte{1}, code[:]) // whitepaper §1.2
	at := chain.Address(hash[12:])
	s.must(by, chain.Tx{To: &at, Value: 100 * chain.WeiPerCBY})
	return at
}

// message calls a handler of the example.
func (s *stage) message(handler, argument string) chain.Tx {
	s.Helper()
	return chain.Tx{To: &s.actor, Payload: encode(s.T, []any{handler, value(s.T, argument)})}
}

// refused has somebody send a message, which has to fail.
func (s *stage) refused(by *account, handler, argument string) {
	s.Helper()
	r := s.send(by, s.message(handler, argument))
	if r == nil || r.Code != chain.CodeNotCallable && r.Code != chain.CodeReverted {
		s.Errorf("%s from %s: %+v", handler, by.addr, r)
	}
}

// asks has the actor ask for work, as its job of that number.
func (s *stage) asks(handler, argument string, number uint64) (chain.Hash, *rpc.ReceiptReply) {
	s.Helper()
	r := s.must(s.owner, s.message(handler, argument))
	return chain.ActorJobID(s.actor, number, chain.Height(r.BlockHeight)), r
}

// reads is what a handler says now.
func (s *stage) reads(handler, argument string) string {
	s.Helper()
	r, err := s.nodes[0].ReadActor(s.ctx, rpc.ReadRequest{Actor: s.actor.String(), Handler: handler, Value: json.RawMessage(argument)})
	if err != nil || r.Status != "success" {
		s.Fatalf("%s: %+v, %v", handler, r, err)
	}
	return string(r.Value)
}

// comes waits until a handler says what it should.
func (s *stage) comes(handler, argument string, is func(string) bool) string {
	s.Helper()
	for {
		got := s.reads(handler, argument)
		if is(got) {
			return got
		}
		s.pause(handler + " is " + got)
	}
}

func source(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile("../../../sdk/python/examples/" + name + ".py")
	if err != nil {
		t.Fatal(err)
	}
	return b
}
