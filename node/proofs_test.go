package node

import (
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/exec"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/light"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/setup"
	"github.com/cowboy-foundation/cowboy/state"
)

var rewriteProofs = flag.Bool("rewrite-proofs", false, "write the proofs of this run to light/testdata, where they seed the tests of package light")

func (r *running) client(t *testing.T) *client.Client {
	t.Helper()
	cfg := client.DefaultConfig()
	cfg.URL = r.url
	c, err := client.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func (r *running) verifier(t *testing.T) *light.Verifier {
	t.Helper()
	v, err := light.NewVerifier(r.genesis)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// provenAccount asks for an account and trusts the answer's proof only.
func (r *running) provenAccount(t *testing.T, addr chain.Address) light.ShownAccount {
	t.Helper()
	q := &light.Query{Kind: light.KindAccount, Accounts: []light.AccountQuery{{Address: addr}}}
	shown, _, err := r.client(t).Proven(t.Context(), r.verifier(t), q)
	if err != nil {
		t.Fatal(err)
	}
	return shown.Accounts[0]
}

// TestProofsVerifyFromGenesisAlone asks a running node for every kind of proof
// and verifies each with the genesis file only.
func TestProofsVerifyFromGenesisAlone(t *testing.T) {
	r := run(t, t.TempDir(), setup.DevnetOptions{BlockTime: 50 * time.Millisecond})
	from, to := setup.DevAccounts()[0], chain.Address{0xab, 1}
	var batch []byte
	var hashes []chain.Hash
	for nonce := range uint64(5) {
		tx := pay(r.genesis, from, nonce, to)
		body := tx.AppendWire(nil)
		batch, hashes = append(batch, body...), append(hashes, chain.TxHash(body[4:]))
	}
	var submitted rpc.SubmitWaitReply
	r.post(t, "/submit_wait?timeout_ms=10000", batch, &submitted)
	owner, slot := storedSlot(t, r.genesis)
	text, err := json.Marshal(r.genesis)
	if err != nil {
		t.Fatal(err)
	}
	genesis, err := genesis.Parse(append(text, '\n'))
	if err != nil {
		t.Fatal(err)
	}
	v, err := light.NewVerifier(genesis) // from the file's text, as a user has it
	if err != nil {
		t.Fatal(err)
	}
	c := r.client(t)
	prove := func(name string, q *light.Query) *light.Shown {
		t.Helper()
		shown, doc, err := c.Proven(t.Context(), v, q)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		keepProof(t, name, doc)
		return shown
	}
	account := func(addr chain.Address, slots ...state.StorageKey) light.AccountQuery {
		return light.AccountQuery{Address: addr, Slots: slots}
	}
	accounts := func(list ...light.AccountQuery) []light.AccountQuery { return list }
	nobody := chain.Address{0xde, 0xad}

	if s := prove("header", &light.Query{Kind: light.KindHeader, Height: 1}); s.Height != 1 {
		t.Errorf("header of block %d", s.Height)
	}
	prove("latest", &light.Query{Kind: light.KindHeader})
	if s := prove("account", &light.Query{Kind: light.KindAccount, Accounts: accounts(account(to))}); s.Accounts[0].Account.Balance != 5 {
		t.Errorf("account %+v", s.Accounts[0])
	}
	if s := prove("account-absent", &light.Query{Kind: light.KindAccount, Accounts: accounts(account(nobody))}); s.Accounts[0].Exists {
		t.Errorf("account %+v", s.Accounts[0])
	}
	if s := prove("storage", &light.Query{Kind: light.KindStorage, Accounts: accounts(account(owner, slot))}); !s.Accounts[0].Slots[0].Exists {
		t.Errorf("slot %+v", s.Accounts[0].Slots[0])
	}
	if s := prove("storage-absent", &light.Query{Kind: light.KindStorage, Accounts: accounts(account(owner, "\x01no"))}); s.Accounts[0].Slots[0].Exists {
		t.Errorf("slot %+v", s.Accounts[0].Slots[0])
	}
	if s := prove("storage-nobody", &light.Query{Kind: light.KindStorage, Accounts: accounts(account(nobody, "\x01no"))}); s.Accounts[0].Exists || s.Accounts[0].Slots[0].Exists {
		t.Errorf("account %+v", s.Accounts[0])
	}
	for i, hash := range hashes[1:3] {
		if s := prove("transaction", &light.Query{Kind: light.KindTransaction, TxHash: hash}); s.Tx.Tx.Nonce != uint64(i)+1 {
			t.Errorf("transaction %+v", s.Tx)
		}
		if s := prove("receipt", &light.Query{Kind: light.KindReceipt, TxHash: hash}); s.Receipt.Receipt.Status != chain.StatusSucceeded {
			t.Errorf("receipt %+v", s.Receipt)
		}
	}
	multi := &light.Query{Kind: light.KindMulti, Accounts: accounts(
		account(owner, slot, "\x01no"), account(to), account(nobody, "\x01no"), account(from.Address))}
	s := prove("multi", multi)
	if len(s.Accounts) != 4 || !s.Accounts[0].Slots[0].Exists || s.Accounts[0].Slots[1].Exists || s.Accounts[2].Exists {
		t.Errorf("multi %+v", s.Accounts)
	}
	keepProof(t, "genesis", append(text, '\n'))

	// The right proof of something else is no answer.
	_, _, err = c.Proven(t.Context(), v, &light.Query{Kind: light.KindTransaction, TxHash: chain.Hash{1}})
	if !client.IsCode(err, rpc.CodeUnknownTransaction) {
		t.Errorf("unknown transaction: %v", err)
	}
	if err := multi.Answered(prove("account", &light.Query{Kind: light.KindAccount, Accounts: accounts(account(to))})); !errors.Is(err, light.ErrNotAsked) {
		t.Errorf("an account for a multi-proof: %v", err)
	}
}

// storedSlot returns a slot that the genesis writes.
func storedSlot(t *testing.T, g *genesis.Genesis) (chain.Address, state.StorageKey) {
	t.Helper()
	delta, err := exec.GenesisDelta(g)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range delta.Accounts() {
		if len(a.Storage) > 0 {
			return a.Address, a.Storage[0].Key
		}
	}
	t.Fatal("the genesis writes no storage")
	return chain.Address{}, ""
}

func keepProof(t *testing.T, name string, text []byte) {
	t.Helper()
	if !*rewriteProofs {
		return
	}
	file := filepath.Join("light", "testdata", name+".json")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		t.Fatal(err)
	}
}
