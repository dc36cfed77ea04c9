package gethtest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/core/types"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethdb/memorydb"
	"github.com/ethereum/go-ethereum/rlp"
	"github.com/ethereum/go-ethereum/trie"
)

// supplySlot is what the genesis writes under the treasury: the namespace of
// the system and the name of the entry.
const (
	treasury   = "0x0000000000000000000000000000000000000008"
	supplySlot = "0x00737570706c79"
	absentSlot = "0x00616273656e74"
)

// leaf is one value with its proof, as the node's answers have it.
type leaf struct {
	Key    hexutil.Bytes   `json:"key"`
	Value  hexutil.Bytes   `json:"value"`
	Exists bool            `json:"exists"`
	Proof  []hexutil.Bytes `json:"proof"`
}

// TestLiveProofs asks a running node for each kind of proof and checks the
// nodes with nothing but go-ethereum.
func TestLiveProofs(t *testing.T) {
	url := startDevnet(t)
	var grant struct {
		TxHash common.Hash `json:"tx_hash"`
	}
	ask(t, url+"/faucet", `{"address":"0x28bed3d92d2f937fb4b6c6e1e97170df4bf7e2be"}`, &grant)

	t.Run("storage", func(t *testing.T) {
		for _, slot := range []string{supplySlot, absentSlot} {
			var p struct {
				StateRoot   common.Hash `json:"state_root"`
				StorageRoot common.Hash `json:"storage_root"`
				Account     leaf        `json:"account"`
				leaf
			}
			ask(t, url+"/proof/storage/"+treasury+"/"+slot, "", &p)
			account := p.Account.check(t, p.StateRoot, crypto.Keccak256(hexutil.MustDecode(treasury)))
			if root := decodeAccount(t, account).Root; root != p.StorageRoot {
				t.Errorf("storage root %s in the account, %s in the answer", root, p.StorageRoot)
			}
			p.leaf.check(t, p.StorageRoot, crypto.Keccak256(hexutil.MustDecode(slot)))
			if p.Exists != (slot == supplySlot) {
				t.Errorf("slot %s exists: %v", slot, p.Exists)
			}
		}
	})
	for _, kind := range []string{"tx", "receipt"} {
		t.Run(kind, func(t *testing.T) {
			var p struct {
				Root  common.Hash `json:"root"`
				Index uint64      `json:"index"`
				leaf
			}
			ask(t, url+"/proof/"+kind+"/"+grant.TxHash.String(), "", &p)
			key, err := rlp.EncodeToBytes(p.Index)
			check(t, err)
			p.Exists = true // nothing else can be asked for
			value := p.leaf.check(t, p.Root, key)
			if kind == "tx" && crypto.Keccak256Hash(value) != grant.TxHash {
				t.Errorf("the proven transaction is %s, want %s", crypto.Keccak256Hash(value), grant.TxHash)
			}
		})
	}
	t.Run("multi", func(t *testing.T) { checkMulti(t, url) })
}

func checkMulti(t *testing.T, url string) {
	var p struct {
		StateRoot common.Hash     `json:"state_root"`
		Nodes     []hexutil.Bytes `json:"nodes"`
		Accounts  []struct {
			leaf
			Address common.Address `json:"address"`
			Slots   []struct {
				leaf
				Slot hexutil.Bytes `json:"slot"`
			} `json:"slots"`
		} `json:"accounts"`
	}
	ask(t, url+"/proof/multi", `{"accounts":[
		{"address":"`+treasury+`","slots":["`+supplySlot+`","`+absentSlot+`"]},
		{"address":"0x28bed3d92d2f937fb4b6c6e1e97170df4bf7e2be"},
		{"address":"0x00000000000000000000000000000000deadbeef"}]}`, &p)
	if len(p.Accounts) != 3 || !p.Accounts[0].Exists || p.Accounts[2].Exists || len(p.Accounts[0].Slots) != 2 {
		t.Fatalf("answer %+v", p)
	}
	seen := map[common.Hash]bool{}
	for _, node := range p.Nodes {
		if hash := crypto.Keccak256Hash(node); seen[hash] {
			t.Errorf("node %s stands twice", hash)
		} else {
			seen[hash] = true
		}
	}
	for _, a := range p.Accounts {
		a.Proof = p.Nodes // the nodes of all
		value := a.check(t, p.StateRoot, crypto.Keccak256(a.Address[:]))
		for _, s := range a.Slots {
			s.Proof = p.Nodes
			s.check(t, decodeAccount(t, value).Root, crypto.Keccak256(s.Slot))
		}
	}
}

// check verifies the proof of a leaf and returns its value, nil if absent.
func (l *leaf) check(t *testing.T, root common.Hash, key []byte) []byte {
	t.Helper()
	if !bytes.Equal(l.Key, key) {
		t.Errorf("key %s, want %x", l.Key, key)
	}
	db := memorydb.New()
	for _, node := range l.Proof {
		check(t, db.Put(crypto.Keccak256(node), node))
	}
	value, err := trie.VerifyProof(root, key, db)
	check(t, err)
	if l.Exists != (value != nil) || !bytes.Equal(value, l.Value) {
		t.Fatalf("the proof shows %x, the answer says exists %v, value %s", value, l.Exists, l.Value)
	}
	return value
}

func decodeAccount(t *testing.T, value []byte) *types.StateAccount {
	t.Helper()
	var four types.StateAccount
	if rlp.DecodeBytes(value, &four) == nil {
		return &four
	}
	// As docs/proofs.md tells: one more field for who has metadata.
	content, _, err := rlp.SplitList(value)
	check(t, err)
	fields := make([][]byte, 0, 5)
	for len(content) > 0 {
		_, field, rest, err := rlp.Split(content)
		check(t, err)
		fields, content = append(fields, field), rest
	}
	if len(fields) != 5 {
		t.Fatalf("account of %d fields", len(fields))
	}
	return &types.StateAccount{Root: common.BytesToHash(fields[2]), CodeHash: fields[3]}
}

// ask gets an answer, or posts a body and gets the answer.
func ask(t *testing.T, url, body string, into any) {
	t.Helper()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	check(t, err)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	check(t, err)
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	check(t, err)
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s: %s", url, res.Status, answer)
	}
	check(t, json.Unmarshal(answer, into))
}
