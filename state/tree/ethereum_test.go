package tree

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/vectors"
	"github.com/cowboy-foundation/cowboy/state/rlp"
)

// The tests of this file hold roots and proofs to blocks of Ethereum: lists of
// transactions, receipts and withdrawals, and an account of its state.

func hexBytes(t *testing.T, s string) []byte {
	t.Helper()
	s = strings.TrimPrefix(strings.TrimSpace(s), "0x")
	if len(s)%2 == 1 {
		s = "0" + s
	}
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// items returns the encodings of what is in a list.
func items(t *testing.T, list []byte) (out [][]byte) {
	t.Helper()
	payload, err := rlp.List(list)
	for err == nil && len(payload) > 0 {
		var rest []byte
		if _, _, rest, err = rlp.Split(payload); err == nil {
			out, payload = append(out, payload[:len(payload)-len(rest)]), rest
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func text(t *testing.T, item []byte) []byte {
	t.Helper()
	s, _, err := rlp.SplitString(item)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func listOf(parts ...[]byte) []byte {
	payload := bytes.Join(parts, nil)
	return append(rlp.AppendListHeader(nil, len(payload)), payload...)
}

// Places of a header's fields.
const (
	ethParent, ethTxs, ethReceipts, ethWithdrawals = 0, 4, 5, 16
)

// reply returns the result of an exchange of the public JSON-RPC tests.
func reply(t *testing.T, name string, into any) {
	t.Helper()
	_, answer, _ := strings.Cut(string(vectors.Read(t, "ethbridge/execution-apis/"+name)), "\n<< ")
	answer, _, _ = strings.Cut(answer, "\n")
	var doc struct{ Result json.RawMessage }
	if err := json.Unmarshal([]byte(answer), &doc); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if err := json.Unmarshal(doc.Result, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

// TestEthereumChain follows a chain from its genesis and makes every root of its
// lists.
func TestEthereumChain(t *testing.T) {
	var genesis string
	reply(t, "debug_getRawHeader/get-genesis.io", &genesis)
	parent := keccak.Sum256(hexBytes(t, genesis))
	rest := hexBytes(t, string(vectors.Read(t, "ethbridge/execution-apis/chain.rlp.hex")))
	blocks, txs, withdrawals := 0, 0, 0
	var third []byte // header
	for ; len(rest) > 0; blocks++ {
		_, _, after, err := rlp.Split(rest)
		if err != nil {
			t.Fatal(err)
		}
		parts := items(t, rest[:len(rest)-len(after)])
		rest = after
		header := items(t, parts[0])
		if !bytes.Equal(text(t, header[ethParent]), parent[:]) {
			t.Fatalf("block %d: parent %x, want %x", blocks+1, header[ethParent], parent)
		}
		parent = keccak.Sum256(parts[0])
		if blocks == 2 {
			third = parts[0]
		}
		list := items(t, parts[1])
		for i, tx := range list {
			if tx[0] < 0xc0 { // of a type: in a string
				list[i] = text(t, tx)
			}
		}
		txs += len(list)
		if got := ListRoot(list); !bytes.Equal(text(t, header[ethTxs]), got[:]) {
			t.Errorf("block %d: transactions %v, want %x", blocks+1, got, header[ethTxs])
		}
		if len(parts) > 3 {
			w := items(t, parts[3])
			withdrawals += len(w)
			if got := ListRoot(w); !bytes.Equal(text(t, header[ethWithdrawals]), got[:]) {
				t.Errorf("block %d: withdrawals %v", blocks+1, got)
			}
		}
	}
	t.Logf("%d blocks, %d transactions, %d withdrawals", blocks, txs, withdrawals)
	if blocks < 10 || txs < 10 || third == nil {
		t.Fatal("too few of them")
	}
	var raw []string
	reply(t, "debug_getRawReceipts/get-block-n.io", &raw)
	var receipts [][]byte
	for _, r := range raw {
		receipts = append(receipts, hexBytes(t, r))
	}
	if got := ListRoot(receipts); !bytes.Equal(text(t, items(t, third)[ethReceipts]), got[:]) {
		t.Errorf("receipts of block 3: %v", got)
	}
}

// mainnet is a block of Ethereum's as its nodes show it.
type mainnet struct {
	Hash, StateRoot, ReceiptsRoot, WithdrawalsRoot string
	Withdrawals                                    []struct{ Index, ValidatorIndex, Address, Amount string }
}

func number(t *testing.T, s string) []byte {
	return rlp.AppendString(nil, bytes.TrimLeft(hexBytes(t, s), "\x00"))
}

func TestEthereumMainnetBlock(t *testing.T) {
	var block mainnet
	vectors.Decode(t, "ethbridge/helios/block.json", &block)
	var receipts []struct {
		Type, Status, CumulativeGasUsed, LogsBloom string
		Logs                                       []struct {
			Address, Data string
			Topics        []string
		}
	}
	vectors.Decode(t, "ethbridge/helios/receipts.json", &receipts)
	var list [][]byte
	for _, r := range receipts {
		var logs []byte
		for _, l := range r.Logs {
			var topics []byte
			for _, x := range l.Topics {
				topics = rlp.AppendString(topics, hexBytes(t, x))
			}
			logs = append(logs, listOf(rlp.AppendString(nil, hexBytes(t, l.Address)), listOf(topics), rlp.AppendString(nil, hexBytes(t, l.Data)))...)
		}
		enc := listOf(number(t, r.Status), number(t, r.CumulativeGasUsed), rlp.AppendString(nil, hexBytes(t, r.LogsBloom)), listOf(logs))
		if kind := hexBytes(t, r.Type)[0]; kind != 0 {
			enc = append([]byte{kind}, enc...)
		}
		list = append(list, enc)
	}
	if got := ListRoot(list); got != chain.Hash(hexBytes(t, block.ReceiptsRoot)) || len(list) < 200 {
		t.Errorf("%d receipts: %v, want %s", len(list), got, block.ReceiptsRoot)
	}
	root, items := ProveList(list, 100)
	value, err := VerifyProof(root, ListKey(100), items)
	if err != nil || !bytes.Equal(value, list[100]) {
		t.Errorf("proof of a receipt: %v", err)
	}
	list = nil
	for _, w := range block.Withdrawals {
		list = append(list, listOf(number(t, w.Index), number(t, w.ValidatorIndex), rlp.AppendString(nil, hexBytes(t, w.Address)), number(t, w.Amount)))
	}
	if got := ListRoot(list); got != chain.Hash(hexBytes(t, block.WithdrawalsRoot)) {
		t.Errorf("%d withdrawals: %v, want %s", len(list), got, block.WithdrawalsRoot)
	}
}

// TestEthereumAccount: the proof of an account in a state of some 300 million.
func TestEthereumAccount(t *testing.T) {
	var block mainnet
	vectors.Decode(t, "ethbridge/helios/block.json", &block)
	var proof struct {
		Address, Balance, Nonce, StorageHash, CodeHash string
		AccountProof                                   []string
	}
	vectors.Decode(t, "ethbridge/helios/block_miner_proof.json", &proof)
	var nodes [][]byte
	for _, n := range proof.AccountProof {
		nodes = append(nodes, hexBytes(t, n))
	}
	root := chain.Hash(hexBytes(t, block.StateRoot))
	key := AccountKey(chain.Address(hexBytes(t, proof.Address)))
	want := listOf(number(t, proof.Nonce), number(t, proof.Balance), rlp.AppendString(nil, hexBytes(t, proof.StorageHash)), rlp.AppendString(nil, hexBytes(t, proof.CodeHash)))
	if got, err := VerifyProof(root, key[:], nodes); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%x, %v; want %x", got, err, want)
	}
	for i := range nodes {
		nodes[i][len(nodes[i])/2] ^= 1
		if _, err := VerifyProof(root, key[:], nodes); err == nil {
			t.Errorf("a changed byte of node %d is taken", i)
		}
		nodes[i][len(nodes[i])/2] ^= 1
	}
	var again struct{ AccountProof []string }
	vectors.Decode(t, "ethbridge/helios/block_miner_account.json", &again)
	if len(again.AccountProof) != len(proof.AccountProof) {
		t.Errorf("%d and %d nodes", len(again.AccountProof), len(proof.AccountProof))
	}
}
