package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/consensus/guard"
	"github.com/cowboy-foundation/cowboy/exec/parallel"
	"github.com/cowboy-foundation/cowboy/node"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/devtest"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/setup"
	"github.com/cowboy-foundation/cowboy/state/checkpoint"
	"github.com/cowboy-foundation/cowboy/state/snapshot"
	"github.com/cowboy-foundation/cowboy/state/store"
)

func quiet(uint32, snapshot.Summary) {}

// exported runs a devnet for a few blocks and exports its head.
func exported(t *testing.T) (dataDir string, raw []byte, sum snapshot.Summary) {
	t.Helper()
	dataDir = t.TempDir()
	url, stop := devtest.Start(t, dataDir, setup.DevnetOptions{BlockTime: 20 * time.Millisecond})
	g, err := datadir.LoadGenesis(dataDir)
	if err != nil {
		t.Fatal(err)
	}
	for nonce := range uint64(3) { // at least three blocks
		submit(t, url, transfer(g, setup.DevAccounts()[0], nonce).AppendWire(nil))
	}
	stop()
	var out bytes.Buffer
	sum, err = ExportSnapshot(t.Context(), dataDir, &out, quiet)
	if err != nil {
		t.Fatal(err)
	}
	return dataDir, out.Bytes(), sum
}

// heir makes a data folder with the genesis and keys of another.
func heir(t *testing.T, of string) string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{datadir.GenesisFile, datadir.KeysFile} {
		raw, err := os.ReadFile(filepath.Join(of, name))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestValidatorBeginsWithSnapshot moves a chain to a new folder by a snapshot
// and goes on with it there.
func TestValidatorBeginsWithSnapshot(t *testing.T) {
	old, raw, sum := exported(t)
	g, err := datadir.LoadGenesis(old)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := VerifySnapshot(t.Context(), g, bytes.NewReader(raw), quiet); err != nil || got.Root != sum.Root || got.Height != sum.Height {
		t.Fatalf("verify: %+v, %v", got, err)
	}
	dir := heir(t, old)
	if _, err := ImportSnapshot(t.Context(), dir, bytes.NewReader(raw), false, quiet); !errors.Is(err, datadir.ErrKeyUnknown) {
		t.Fatalf("import without watermark: %v", err)
	}
	mark, err := os.ReadFile(filepath.Join(old, guard.FileName))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, guard.FileName), mark, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ImportSnapshot(t.Context(), dir, bytes.NewReader(raw[:len(raw)-1]), false, quiet); !errors.Is(err, checkpoint.ErrDamaged) {
		t.Fatalf("import of a part: %v", err)
	}
	if _, err := node.Open(node.Config{DataDir: dir, RPCAddr: ":0", P2PAddr: ":0", RunnerAddr: ":0", AdminAddr: ":0", Exec: parallel.DefaultConfig(1)}, g, nil); !errors.Is(err, store.ErrImporting) {
		t.Fatalf("node on half an import: %v", err)
	}
	if _, err := ImportSnapshot(t.Context(), dir, bytes.NewReader(raw), false, quiet); err != nil {
		t.Fatal(err)
	}
	// The watermark may know of a vote for a block behind the snapshot. Without
	// others to finish it, a chain of one validator then stands still, as it
	// must. To see this one go on, its key is declared unused.
	dir = heir(t, old)
	if _, err := ImportSnapshot(t.Context(), dir, bytes.NewReader(raw), true, quiet); err != nil {
		t.Fatal(err)
	}
	url, stop := devtest.Start(t, dir, setup.DevnetOptions{})
	submitted := submit(t, url, transfer(g, setup.DevAccounts()[0], 3).AppendWire(nil))
	if len(submitted.Results) != 1 || submitted.Results[0].Receipt == nil {
		t.Fatalf("transfer after the import: %+v", submitted)
	}
	var refusal struct{ Code rpc.Code }
	if status := get(t, url+"/block/1", &refusal); status != http.StatusNotFound || refusal.Code != rpc.CodeNotKept {
		t.Errorf("block 1: status %d, code %d", status, refusal.Code)
	}
	var list rpc.BlocksReply
	if get(t, url+"/blocks?limit=1000", &list); len(list.Blocks) == 0 || list.Blocks[len(list.Blocks)-1].Height != uint64(sum.Height) {
		t.Errorf("the list of blocks does not end at %d: %d blocks", sum.Height, len(list.Blocks))
	}
	stop()
	verified, err := VerifyChain(t.Context(), dir, func(string, chain.Height, chain.Height) {})
	if err != nil || verified.First != sum.Height || verified.Height <= sum.Height {
		t.Errorf("verify: %+v, %v", verified, err)
	}
	if _, err := ImportSnapshot(t.Context(), old, bytes.NewReader(raw), false, quiet); !errors.Is(err, datadir.ErrVotesThere) {
		t.Errorf("import over a chain: %v", err)
	}
}

func TestSnapshotRefusals(t *testing.T) {
	old, raw, _ := exported(t)
	dir := heir(t, old)
	if _, err := ImportSnapshot(t.Context(), dir, bytes.NewReader(raw), true, quiet); err != nil {
		t.Errorf("import for a key that never signed: %v", err)
	}
	other := t.TempDir()
	g, err := setup.PrepareDevnet(other, setup.DevnetOptions{BlockTime: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := VerifySnapshot(t.Context(), g, bytes.NewReader(raw), quiet); !errors.Is(err, checkpoint.ErrOtherChain) {
		t.Errorf("snapshot of another chain: %v", err)
	}
	if _, err := ExportSnapshot(t.Context(), other, &bytes.Buffer{}, quiet); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("export of a folder without a chain: %v", err)
	}
	// A certificate that the group did not sign, behind the right genesis.
	g, err = datadir.LoadGenesis(old)
	if err != nil {
		t.Fatal(err)
	}
	r, err := checkpoint.NewReader(bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	trust, err := ledger.CheckpointTrust(g)
	if err != nil {
		t.Fatal(err)
	}
	head := *r.Head()
	if _, err := head.Check(trust.Genesis, trust.Certify); err != nil {
		t.Fatal(err)
	}
	for i := range head.Certificate {
		bad := head
		bad.Certificate = bytes.Clone(head.Certificate)
		bad.Certificate[i] ^= 1
		if _, err := bad.Check(trust.Genesis, trust.Certify); !errors.Is(err, ledger.ErrCertificate) {
			t.Fatalf("certificate with byte %d changed: %v", i, err)
		}
	}
}

func get(t *testing.T, url string, into any) int {
	t.Helper()
	res, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(into); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode
}
