package gethtest

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/common/hexutil"
	"github.com/ethereum/go-ethereum/crypto"
	"github.com/ethereum/go-ethereum/ethdb/memorydb"
	"github.com/ethereum/go-ethereum/trie"
)

// proofFile has the fields of the node's answer to /proof/account/{addr} that a
// verifier needs; others are ignored.
type proofFile struct {
	Address   common.Address  `json:"address"`
	StateRoot common.Hash     `json:"state_root"`
	Value     hexutil.Bytes   `json:"value"` // RLP leaf, "0x" when absent
	Exists    bool            `json:"exists"`
	Proof     []hexutil.Bytes `json:"proof"`
}

// TestProofFile checks account proofs with nothing but go-ethereum: the file
// that COWBOY_PROOF names, or those in testdata.
func TestProofFile(t *testing.T) {
	names := []string{os.Getenv("COWBOY_PROOF")}
	if names[0] == "" {
		names = []string{"testdata/account-proof.json", "testdata/absent-proof.json"}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) { checkProofFile(t, name) })
	}
}

func checkProofFile(t *testing.T, name string) {
	text, err := os.ReadFile(name)
	check(t, err)
	var p proofFile
	check(t, json.Unmarshal(text, &p))
	if len(p.Proof) == 0 {
		t.Fatal("no proof nodes: not a proof of a state with accounts")
	}
	db := memorydb.New()
	for _, node := range p.Proof {
		check(t, db.Put(crypto.Keccak256(node), node))
	}
	leaf, err := trie.VerifyProof(p.StateRoot, crypto.Keccak256(p.Address[:]), db)
	check(t, err)
	if p.Exists != (leaf != nil) || !bytes.Equal(leaf, p.Value) {
		t.Fatalf("the proof shows %x, the file says exists %v, value %s", leaf, p.Exists, p.Value)
	}
	t.Logf("account %s under root %s: exists %v, leaf %x", p.Address, p.StateRoot, p.Exists, leaf)
}
