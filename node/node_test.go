package node

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/setup"
	"github.com/cowboy-foundation/cowboy/node/tools"
	"github.com/cowboy-foundation/cowboy/state/store"
)

func TestTransferIsFinalAndProven(t *testing.T) {
	r := run(t, t.TempDir(), setup.DevnetOptions{BlockTime: 50 * time.Millisecond})
	from, to := setup.DevAccounts()[0], chain.Address{0xab, 1}
	var batch []byte
	for nonce := range uint64(5) {
		batch = pay(r.genesis, from, nonce, to).AppendWire(batch)
	}
	var submitted rpc.SubmitWaitReply
	if code := r.post(t, "/submit_wait?timeout_ms=10000", batch, &submitted); code != http.StatusOK {
		t.Fatalf("submit_wait answered %d: %+v", code, submitted)
	}
	for i, result := range submitted.Results {
		if !result.Accepted || result.Receipt == nil || result.Receipt.Status != "success" {
			t.Fatalf("transfer %d: %+v", i, result)
		}
	}
	last := submitted.Results[4]
	var block rpc.BlockReply
	r.get(t, "/block/"+last.Receipt.BlockHash, &block)
	if block.Txs[last.Receipt.Slot].Hash != last.Hash || block.Txs[last.Receipt.Slot].Lane != "user" {
		t.Errorf("block %+v does not hold %s at slot %d", block, last.Hash, last.Receipt.Slot)
	}

	account := r.provenAccount(t, to)
	if account.Account.Balance != 5 || !account.Exists {
		t.Errorf("proven balance %d, want 5", account.Account.Balance)
	}
	if r.provenAccount(t, chain.Address{17: 0x0a, 18: 0xbc, 19: 0xde}).Exists {
		t.Error("an account that nobody paid exists")
	}
}

func TestTamperedTransactionsAreRefused(t *testing.T) {
	r := run(t, t.TempDir(), setup.DevnetOptions{BlockTime: 50 * time.Millisecond})
	from := setup.DevAccounts()[0]
	wire := pay(r.genesis, from, 0, chain.Address{0xab}).AppendWire(nil)
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		bad := bytes.Clone(wire)
		bit := rng.IntN(8 * (len(bad) - 4))
		bad[4+bit/8] ^= 1 << (bit % 8)
		var reply rpc.SubmitReply
		if code := r.post(t, "/submit", bad, &reply); code != http.StatusOK {
			continue // refused as a whole
		}
		if reply.Results[0].Accepted {
			t.Errorf("accepted with bit %d flipped: %x", bit, bad)
		}
		if reply.Results[0].Code == 0 || reply.Results[0].Message == "" {
			t.Errorf("refusal without code or reason: %+v", reply.Results[0])
		}
	}
	var account rpc.AccountReply
	r.get(t, "/account/"+from.Address.String(), &account)
	if account.Nonce != 0 || account.PendingNext != 0 {
		t.Errorf("tampered transactions moved the nonce: %+v", account)
	}
}

func TestRefusalsSayWhatToDo(t *testing.T) {
	r := run(t, t.TempDir(), setup.DevnetOptions{BlockTime: 50 * time.Millisecond})
	from, poor := setup.DevAccounts()[0], setup.DevValidator(100)
	to := chain.Address{0xab}
	f := func(name string, want rpc.Code, signer setup.DevAccount, change func(*chain.Tx)) {
		t.Helper()
		tx := pay(r.genesis, signer, 0, to)
		change(tx)
		sign(tx, signer)
		var reply rpc.SubmitReply
		r.post(t, "/submit", tx.AppendWire(nil), &reply)
		if len(reply.Results) != 1 || rpc.Code(reply.Results[0].Code) != want {
			t.Errorf("%s: got %+v, want code %d", name, reply.Results, want)
		}
	}
	f("other chain", rpc.CodeTxChainID, from, func(tx *chain.Tx) { tx.ChainID++ })
	f("no money", rpc.CodeInsufficient, poor, func(*chain.Tx) {})
	f("more than the balance", rpc.CodeInsufficient, from, func(tx *chain.Tx) { tx.Value = 1 << 60 })
	f("amount overflow", rpc.CodeTxAmountOverflow, from, func(tx *chain.Tx) { tx.MaxFeePerCycle = 1 << 62 })
	f("limit too high", rpc.CodeLimitTooHigh, from, func(tx *chain.Tx) { tx.CyclesLimit = 1 << 40 })
	f("limit too low", rpc.CodeLimitTooLow, from, func(tx *chain.Tx) { tx.CyclesLimit = 20_999 })
	f("payload without cells", rpc.CodeLimitTooLow, from, func(tx *chain.Tx) { tx.Payload = []byte("hello") })
	f("challenge", rpc.CodeTxUnsupported, from, func(tx *chain.Tx) {
		to := chain.AddrResultVerifier
		tx.To, tx.CyclesLimit, tx.CellsLimit = &to, 200_000, 1_000
		tx.Payload = append(append([]byte{0x84, 0x18, 0x1a, 0x58, 0x20}, make([]byte, 32)...), 0x00, 0x40) // [26, job, kind 0, evidence]
	})
	f("nonce far ahead", rpc.CodeNonceTooHigh, from, func(tx *chain.Tx) { tx.Nonce = 1 << 20 })
	f("reserved address", rpc.CodeTxNotAllowed, from, func(tx *chain.Tx) { tx.To = &chain.Address{19: 0x50} })
}

func TestRestartGoesOnAndKeepsFinalState(t *testing.T) {
	dir := t.TempDir()
	first := run(t, dir, setup.DevnetOptions{BlockTime: 20 * time.Millisecond})
	var reply rpc.SubmitWaitReply
	first.post(t, "/submit_wait", pay(first.genesis, setup.DevAccounts()[0], 0, chain.Address{0xab}).AppendWire(nil), &reply)
	if err := first.stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := setup.PrepareDevnet(dir, setup.DevnetOptions{BlockTime: time.Second}); !errors.Is(err, setup.ErrDevnetExists) {
		t.Errorf("changed the block time of an existing chain: %v", err)
	}
	if _, err := setup.PrepareDevnet(dir, setup.DevnetOptions{GenesisFile: "../profiles/genesis/unbounded.json"}); !errors.Is(err, setup.ErrDevnetExists) {
		t.Errorf("changed the genesis of an existing chain: %v", err)
	}
	if _, err := setup.PrepareDevnet(dir, setup.DevnetOptions{}); err != nil {
		t.Errorf("no options for an existing chain: %v", err)
	}
	second := run(t, dir, setup.DevnetOptions{BlockTime: 20 * time.Millisecond}) // the command line of the first
	var receipt rpc.ReceiptReply
	if code := second.get(t, "/transaction/"+reply.Results[0].Hash+"/receipt", &receipt); code != http.StatusOK {
		t.Fatalf("receipt is gone after the restart: %d", code)
	}
	second.post(t, "/submit_wait", pay(second.genesis, setup.DevAccounts()[0], 1, chain.Address{0xab}).AppendWire(nil), &reply)
	if reply.Results[0].Receipt == nil || reply.Results[0].Receipt.BlockHeight <= receipt.BlockHeight {
		t.Errorf("the chain did not go on: %+v", reply.Results[0])
	}
	// Who lost the answer of the first run sends the transaction again.
	reply = rpc.SubmitWaitReply{}
	second.post(t, "/submit_wait", pay(second.genesis, setup.DevAccounts()[0], 0, chain.Address{0xab}).AppendWire(nil), &reply)
	if r := reply.Results[0]; r.Code != rpc.CodeTxKnown || r.Receipt == nil || r.Receipt.BlockHeight != receipt.BlockHeight {
		t.Errorf("a final transaction is answered with %+v", r)
	}
	if err := second.stop(); err != nil {
		t.Fatal(err)
	}
	verified, err := tools.VerifyChain(t.Context(), dir, func(string, chain.Height, chain.Height) {})
	if err != nil || verified.Height < 2 {
		t.Errorf("verify: %+v, %v", verified, err)
	}
}

// TestStopAnswersThoseWhoWait stops a node while a client waits for a
// transaction that cannot become final: its answer comes, and its wait is not
// waited for.
func TestStopAnswersThoseWhoWait(t *testing.T) {
	r := run(t, t.TempDir(), setup.DevnetOptions{BlockTime: 20 * time.Millisecond})
	wire := pay(r.genesis, setup.DevAccounts()[0], 5, chain.Address{0xab}).AppendWire(nil) // nonce 0 is missing
	type answer struct {
		status int
		reply  rpc.SubmitWaitReply
		err    error
	}
	answered := make(chan answer, 1)
	go func() {
		var a answer
		res, err := http.Post(r.url+"/submit_wait", "application/octet-stream", bytes.NewReader(wire))
		if err == nil {
			a.status, err = res.StatusCode, json.NewDecoder(res.Body).Decode(&a.reply)
			res.Body.Close()
		}
		a.err = err
		answered <- a
	}()
	hash := chain.TxHash(wire[4:]).String()
	var waiting rpc.PoolTxReply
	for r.get(t, "/mempool/transaction/"+hash, &waiting) != http.StatusOK {
		time.Sleep(5 * time.Millisecond)
	}
	if err := r.stop(); err != nil {
		t.Errorf("stop: %v", err)
	}
	a := <-answered // requests that do not end by themselves are cut, without an answer
	if a.err != nil || a.status != http.StatusOK || len(a.reply.Results) != 1 || !a.reply.Results[0].Accepted || a.reply.Results[0].Receipt != nil {
		t.Errorf("the waiting client got %+v", a)
	}
}

func TestAdvanceMakesRealBlocks(t *testing.T) {
	r := run(t, t.TempDir(), setup.DevnetOptions{})
	var before, after rpc.BlockReply
	r.get(t, "/block/latest", &before)
	var advanced rpc.AdvanceReply
	if code := r.postJSON(t, "/dev/advance", `{"blocks":300}`, &advanced); code != http.StatusOK {
		t.Fatalf("advance answered %d", code)
	}
	if advanced.Height < before.Height+300 {
		t.Errorf("advanced to %d from %d", advanced.Height, before.Height)
	}
	r.get(t, "/block/latest", &after)
	if after.TimestampMillis < before.TimestampMillis+299*1000 {
		t.Errorf("chain time moved %d ms over 300 blocks of 1 s", after.TimestampMillis-before.TimestampMillis)
	}
}

func TestFaucetGivesFiveTimesAMinute(t *testing.T) {
	r := run(t, t.TempDir(), setup.DevnetOptions{BlockTime: 20 * time.Millisecond})
	for i := range 6 {
		var grant rpc.FaucetReply
		code := r.postJSON(t, "/faucet", `{"address":"0x0000000000000000000000000000000000abcdef"}`, &grant)
		want := http.StatusOK
		if i == 5 {
			want = http.StatusTooManyRequests
		}
		if i == 0 && code != http.StatusOK {
			t.Fatalf("faucet answered %d", code)
		}
		if code != want {
			t.Errorf("gift %d answered %d, want %d", i, code, want)
		}
	}
}

func TestFolderOfAnotherChainIsRefused(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	if err := run(t, a, setup.DevnetOptions{}).stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := setup.PrepareDevnet(b, setup.DevnetOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{datadir.GenesisFile, datadir.KeysFile} {
		raw, err := os.ReadFile(filepath.Join(b, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(a, name), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	genesis, err := datadir.LoadGenesis(a)
	if err != nil {
		t.Fatal(err)
	}
	cfg := DefaultConfig()
	cfg.DataDir = a
	if _, err := Open(cfg, genesis, slog.Default()); !errors.Is(err, store.ErrOtherGenesis) {
		t.Errorf("opened another chain's folder: %v", err)
	}
}

func TestFolderInUseIsRefused(t *testing.T) {
	r := run(t, t.TempDir(), setup.DevnetOptions{})
	if _, err := Open(r.cfg, r.genesis, slog.Default()); !errors.Is(err, store.ErrInUse) {
		t.Errorf("opened a folder in use: %v", err)
	}
}

func TestMissingVotesAreRefused(t *testing.T) {
	dir := t.TempDir()
	r := run(t, dir, setup.DevnetOptions{BlockTime: 20 * time.Millisecond})
	var advanced rpc.AdvanceReply
	r.postJSON(t, "/dev/advance", `{"blocks":2}`, &advanced)
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, datadir.JournalFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(r.cfg, r.genesis, slog.Default()); !errors.Is(err, datadir.ErrVotesMissing) {
		t.Errorf("a used key without its votes was accepted: %v", err)
	}
}

func TestExposedKeysAreRefused(t *testing.T) {
	dir := t.TempDir()
	if _, err := setup.PrepareDevnet(dir, setup.DevnetOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Join(dir, datadir.KeysFile), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := datadir.LoadKeys(dir); !errors.Is(err, datadir.ErrKeysExposed) {
		t.Errorf("keys that others can read were loaded: %v", err)
	}
}
