package order_test

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/order"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

// randomTxs returns n transactions of a few senders in the three lanes that
// transactions use, each sender's nonces rising from lane to lane.
func randomTxs(rng *rand.Rand, n int) []*chain.VerifiedTx {
	senders := 1 + rng.IntN(8)
	var txs []*chain.VerifiedTx
	nonces := map[chain.Address]uint64{}
	for _, lane := range []chain.LaneID{chain.LaneSystem, chain.LaneRunner, chain.LaneUser} {
		for range n / 3 {
			sender := chain.Address{19: byte(rng.IntN(senders))}
			tx := &chain.VerifiedTx{Tx: &chain.Tx{Nonce: nonces[sender]}, Sender: sender, Lane: lane}
			nonces[sender]++
			binary.BigEndian.PutUint64(tx.Hash[:], rng.Uint64())
			txs = append(txs, tx)
		}
	}
	return txs
}

// TestArrangeProperties checks the rule on random blocks. Rerun one case with
// -run 'TestArrangeProperties/seed=17'.
func TestArrangeProperties(t *testing.T) { // resolutions 1.4, 11.15
	for seed := range uint64(100) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 0))
			txs := randomTxs(rng, rng.IntN(120))
			vrfOut := chain.Hash{0: byte(seed), 1: byte(rng.Uint32())}
			got := order.Arrange(vrfOut, txs)

			count := map[*chain.VerifiedTx]int{}
			for _, tx := range got {
				count[tx]++
			}
			for _, tx := range txs {
				if count[tx] != 1 {
					t.Fatalf("transaction %v stands %d times in the result", tx.Hash, count[tx])
				}
			}
			next := map[chain.Address]uint64{}
			for i, tx := range got {
				if i > 0 && tx.Lane < got[i-1].Lane {
					t.Fatalf("position %d: lane %v after %v", i, tx.Lane, got[i-1].Lane)
				}
				if tx.Tx.Nonce != next[tx.Sender] {
					t.Fatalf("position %d: nonce %d of %v, want %d", i, tx.Tx.Nonce, tx.Sender, next[tx.Sender])
				}
				next[tx.Sender]++
			}
			checkSlots(t, vrfOut, txs, got)

			shuffled := slices.Clone(txs)
			rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
			if again := order.Arrange(vrfOut, shuffled); !slices.Equal(again, got) {
				t.Fatal("another input order gives another result")
			}
		})
	}
}

// checkSlots holds the senders' places to the sorted keys: the literal reading
// of the rule, slower than Arrange.
func checkSlots(t *testing.T, vrfOut chain.Hash, txs, got []*chain.VerifiedTx) {
	t.Helper()
	at := 0
	for lane := range chain.NumLanes {
		var segment []*chain.VerifiedTx
		for _, tx := range txs {
			if tx.Lane == lane {
				segment = append(segment, tx)
			}
		}
		key := func(tx *chain.VerifiedTx) []byte {
			h := keccak.Sum256(vrfOut[:], tx.Hash[:])
			return h[:]
		}
		slices.SortFunc(segment, func(a, b *chain.VerifiedTx) int { return bytes.Compare(key(a), key(b)) })
		for i, tx := range segment {
			if got[at+i].Sender != tx.Sender {
				t.Fatalf("lane %v slot %d belongs to %v, not %v", lane, i, tx.Sender, got[at+i].Sender)
			}
		}
		at += len(segment)
	}
}

func TestCheckAcceptsOnlyTheOrder(t *testing.T) { // resolution 11.41
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		vrfOut := chain.Hash{31: byte(seed)}
		txs := order.Arrange(vrfOut, randomTxs(rng, 30))
		if err := order.Check(vrfOut, txs); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		i, j := rng.IntN(len(txs)), rng.IntN(len(txs))
		if i == j {
			continue
		}
		txs[i], txs[j] = txs[j], txs[i]
		var bad *order.Error
		if err := order.Check(vrfOut, txs); !errors.As(err, &bad) || bad.Index != min(i, j) {
			t.Errorf("seed %d: swap of %d and %d: Check = %v, want an Error at %d", seed, i, j, err, min(i, j))
		}
	}
}

func TestOrderDependsOnTheProof(t *testing.T) {
	txs := randomTxs(rand.New(rand.NewPCG(7, 7)), 90)
	if slices.Equal(order.Arrange(chain.Hash{1}, txs), order.Arrange(chain.Hash{2}, txs)) {
		t.Error("two VRF outputs give one order of 90 transactions")
	}
	if got := order.Arrange(chain.Hash{}, nil); len(got) != 0 {
		t.Errorf("order of nothing has %d transactions", len(got))
	}
}

func TestOneNonceTwice(t *testing.T) { // execution refuses it; the order must not depend on the input
	a := &chain.VerifiedTx{Tx: &chain.Tx{Nonce: 5}, Hash: chain.Hash{1}, Lane: chain.LaneUser}
	b := &chain.VerifiedTx{Tx: &chain.Tx{Nonce: 5}, Hash: chain.Hash{2}, Lane: chain.LaneUser}
	if x, y := order.Arrange(chain.Hash{}, []*chain.VerifiedTx{a, b}), order.Arrange(chain.Hash{}, []*chain.VerifiedTx{b, a}); !slices.Equal(x, y) {
		t.Error("the order of equal nonces depends on the input order")
	}
}

func TestKeys(t *testing.T) {
	txs := randomTxs(rand.New(rand.NewPCG(3, 3)), 33)
	vrfOut := chain.Hash{5}
	for i, key := range order.Keys(vrfOut, txs) {
		if want := keccak.Sum256(vrfOut[:], txs[i].Hash[:]); key != chain.Hash(want) {
			t.Errorf("key %d = %v, want keccak256(vrf_out ‖ tx_hash) = %x", i, key, want)
		}
	}
}

func TestMessage(t *testing.T) { // resolution 11.41
	beacon := chain.Hash{0: 0xbe, 31: 0xac}
	want := append([]byte{0, 0, 0, 0, 0, 0, 1, 2}, beacon[:]...)
	if got := order.Message(0x102, beacon); !bytes.Equal(got, want) {
		t.Errorf("Message = %x, want %x", got, want)
	}
	genesis := chain.Hash{9}
	want = append(append([]byte("cowboy-simplex-v1"), genesis[:]...), "_ORDER"...)
	if got := order.Namespace(genesis); !bytes.Equal(got, want) {
		t.Errorf("Namespace = %q, want %q", got, want)
	}
}

func BenchmarkArrange(b *testing.B) {
	for _, n := range []int{900, 30_000} {
		b.Run(fmt.Sprintf("txs=%d", n), func(b *testing.B) {
			txs := randomTxs(rand.New(rand.NewPCG(1, 1)), n)
			b.ReportAllocs()
			for b.Loop() {
				order.Arrange(chain.Hash{1}, txs)
			}
			b.ReportMetric(float64(len(txs))*float64(b.N)/b.Elapsed().Seconds(), "txs/s")
		})
	}
}

// plainArrange is the rule as it is written: sort a segment by key, then fill
// each sender's slots in nonce order.
func plainArrange(vrfOut chain.Hash, txs []*chain.VerifiedTx) []*chain.VerifiedTx {
	keys := map[*chain.VerifiedTx]chain.Hash{}
	for i, key := range order.Keys(vrfOut, txs) {
		keys[txs[i]] = key
	}
	out := slices.Clone(txs)
	slices.SortFunc(out, func(a, b *chain.VerifiedTx) int {
		ka, kb := keys[a], keys[b]
		return cmp.Or(cmp.Compare(a.Lane, b.Lane), bytes.Compare(ka[:], kb[:]))
	})
	type chainOf struct {
		lane   chain.LaneID
		sender chain.Address
	}
	waiting := map[chainOf][]*chain.VerifiedTx{}
	for _, tx := range out {
		of := chainOf{tx.Lane, tx.Sender}
		waiting[of] = append(waiting[of], tx)
	}
	for _, list := range waiting {
		slices.SortStableFunc(list, func(a, b *chain.VerifiedTx) int { return cmp.Compare(a.Tx.Nonce, b.Tx.Nonce) })
	}
	for i, tx := range out {
		of := chainOf{tx.Lane, tx.Sender}
		out[i], waiting[of] = waiting[of][0], waiting[of][1:]
	}
	return out
}

// TestArrangeMatchesThePlainRule: few and many senders, repeated nonces, all
// lanes. Rerun one case with -run 'TestArrangeMatchesThePlainRule/seed=3'.
func TestArrangeMatchesThePlainRule(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprintf("seed=%d", seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 8))
			n, senders := rng.IntN(700), 1+rng.IntN(80)
			txs := make([]*chain.VerifiedTx, n)
			for i := range txs {
				txs[i] = &chain.VerifiedTx{
					Tx:     &chain.Tx{Nonce: uint64(rng.IntN(12))},
					Lane:   chain.LaneID(rng.IntN(int(chain.NumLanes))),
					Sender: chain.Address{19: byte(rng.IntN(senders))},
				}
				for k := range txs[i].Hash {
					txs[i].Hash[k] = byte(rng.Uint32())
				}
			}
			before := slices.Clone(txs)
			vrfOut := chain.Hash{byte(seed)}
			if !slices.Equal(order.Arrange(vrfOut, txs), plainArrange(vrfOut, txs)) {
				t.Error("another order than the plain rule's")
			}
			if !slices.Equal(before, txs) {
				t.Error("the argument was changed")
			}
		})
	}
}

// TestArrangerForgets: one arranger gives selections of all sizes, one after the other, the
// plain rule's order. Nothing of an earlier one is in it.
func TestArrangerForgets(t *testing.T) {
	var arranger order.Arranger
	rng := rand.New(rand.NewPCG(0, 9))
	for round := range 120 {
		txs := randomTxs(rng, rng.IntN(1+(round%50)*round))
		rng.Shuffle(len(txs), func(i, j int) { txs[i], txs[j] = txs[j], txs[i] })
		vrfOut := chain.Hash{byte(round)}
		got := arranger.Arrange(vrfOut, txs)
		if !slices.Equal(got, plainArrange(vrfOut, txs)) {
			t.Errorf("round %d: another order than the plain rule's", round)
		}
		if err := arranger.Check(vrfOut, got); err != nil {
			t.Error(err)
		}
	}
}
