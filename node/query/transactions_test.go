package query

import (
	"context"
	"encoding/binary"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/lanes"
	"github.com/cowboy-foundation/cowboy/lanes/sigverify"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// lateAdmission admits everything on another goroutine, some of it only when it is released:
// until then it owns the memory of the verdicts, which it writes one by one.
type lateAdmission struct {
	released chan struct{}
	writers  sync.WaitGroup
}

func (a *lateAdmission) SubmitOf(_ netip.Addr, _ sigverify.Guard, bodies [][]byte, into []sigverify.Verdict, reply func([]sigverify.Verdict)) error {
	verdicts := append(into, make([]sigverify.Verdict, len(bodies))...)
	a.writers.Go(func() {
		if bodies[0][0] == 'l' {
			<-a.released
		}
		for i, body := range bodies {
			verdicts[len(into)+i] = sigverify.Verdict{Hash: chain.TxHash(body), Tx: &chain.VerifiedTx{Body: body}}
		}
		reply(verdicts)
	})
	return nil
}

func (*lateAdmission) ReadBlock(context.Context, [][]byte) ([]*chain.VerifiedTx, error) {
	return nil, nil
}

// TestVerdictsAreRecycledOnlyWhenRead: requests that are given up leave the memory of their
// verdicts to the pipeline, and all others get their own verdicts.
func TestVerdictsAreRecycledOnlyWhenRead(t *testing.T) {
	const clients, rounds, batch = 4, 50, 5
	admission := &lateAdmission{released: make(chan struct{})}
	var mu sync.Mutex
	spread := 0
	s := newSource(Config{
		Faucet:    faucetKey(t),
		Admission: admission,
		Keep:      func(netip.Addr, []*chain.VerifiedTx) {},
		Spread: func(txs []*chain.VerifiedTx) {
			mu.Lock()
			defer mu.Unlock()
			spread += len(txs)
		},
	})
	gone, leave := context.WithCancel(t.Context())
	leave()
	var all sync.WaitGroup
	for c := range clients {
		all.Go(func() {
			var into []rpc.Verdict
			for round := range rounds {
				// Once it is released, the answer may come before anybody sees that nobody waits.
				late, err := s.Submit(gone, [][]byte{[]byte("late")}, nil)
				if err == nil && (len(late) != 1 || late[0].Hash != chain.TxHash([]byte("late"))) {
					t.Errorf("a late request has %d verdicts", len(late))
				}
				var bodies [][]byte
				for i := range batch {
					bodies = append(bodies, binary.BigEndian.AppendUint32([]byte("tx"), uint32((c*rounds+round)*batch+i)))
				}
				if into, err = s.Submit(t.Context(), bodies, into[:0]); err != nil || len(into) != batch {
					t.Errorf("%d verdicts, %v", len(into), err)
					return
				}
				for i := range into {
					if into[i].Hash != chain.TxHash(bodies[i]) || into[i].Code != rpc.CodeOK {
						t.Errorf("client %d, round %d: verdict %d is on %s", c, round, i, into[i].Hash)
					}
				}
				if round == rounds/2 && c == 0 {
					close(admission.released) // they write now, beside the others
				}
			}
		})
	}
	all.Wait()
	admission.writers.Wait()
	if spread != clients*rounds*(batch+1) {
		t.Errorf("%d spread", spread)
	}
}

// TestHeadIsListedFromMemory: the head is asked for before anybody was told of it.
func TestHeadIsListedFromMemory(t *testing.T) {
	head := &ledger.Executed{
		Block:  &chain.Block{Header: chain.Header{Height: 9}, Txs: [][]byte{{1}, {2}}},
		Digest: chain.Hash{7}, Encoded: make([]byte, 300),
	}
	s := newSource(Config{Faucet: faucetKey(t), Chain: standing{head}, Admission: &lateAdmission{}}) // there are no stored blocks
	line, ok, err := s.HeaderByHeight(t.Context(), 9)
	if err != nil || !ok || line.Hash != head.Digest || line.TxCount != 2 || line.SizeBytes != 300 || line.Header.Height != 9 || line.Stored {
		t.Errorf("%+v, %t, %v", line, ok, err)
	}
}

// usedNonces is an admission that finds the nonce of everything used.
type usedNonces struct{ *lateAdmission }

func (usedNonces) SubmitOf(_ netip.Addr, _ sigverify.Guard, bodies [][]byte, into []sigverify.Verdict, reply func([]sigverify.Verdict)) error {
	for _, body := range bodies {
		into = append(into, sigverify.Verdict{Hash: chain.TxHash(body), Err: &lanes.NonceTooLowError{Got: 3, Want: 4}})
	}
	reply(into)
	return nil
}

// located knows in which block some transactions are.
type located struct {
	Blocks
	at map[chain.Hash]chain.Height
}

func (l located) ReceiptLocation(hash chain.Hash) (chain.Height, int, bool, error) {
	h, ok := l.at[hash]
	return h, 0, ok, nil
}

// TestFinalTransactionsAreKnown: who submits a transaction again that is final is told so,
// with its block; another one with its nonce is refused.
func TestFinalTransactionsAreKnown(t *testing.T) {
	final, other := []byte("final"), []byte("other")
	s := newSource(Config{
		Faucet: faucetKey(t), Admission: usedNonces{}, Blocks: located{at: map[chain.Hash]chain.Height{chain.TxHash(final): 41}},
		Keep: func(netip.Addr, []*chain.VerifiedTx) {}, Spread: func([]*chain.VerifiedTx) {},
	})
	verdicts, err := s.Submit(t.Context(), [][]byte{final, other}, nil)
	if err != nil || len(verdicts) != 2 {
		t.Fatalf("%+v, %v", verdicts, err)
	}
	if v := verdicts[0]; v.Code != rpc.CodeTxKnown || !strings.Contains(v.Message, "already final, in block 41") || v.Hash != chain.TxHash(final) {
		t.Errorf("a final transaction: %+v", v)
	}
	if v := verdicts[1]; v.Code != rpc.CodeNonceTooLow {
		t.Errorf("another transaction with its nonce: %+v", v)
	}
}
