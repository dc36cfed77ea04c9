package node

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/attest"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/consensus/simplex"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/ledger"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/setup"
	"github.com/cowboy-foundation/cowboy/node/tools"
	"github.com/cowboy-foundation/cowboy/state/checkpoint"
	"github.com/cowboy-foundation/cowboy/state/snapshot"
)

// storedProposal is what certificates of a stored block are about.
func storedProposal(t *testing.T, encoded []byte) simplex.Proposal {
	t.Helper()
	block, err := chain.DecodeBlock(encoded, len(encoded))
	if err != nil {
		t.Fatal(err)
	}
	h := &block.Header
	return simplex.Proposal{Round: beacon.Round{Epoch: h.Epoch, View: h.View}, Parent: h.ParentView, Payload: h.Digest()}
}

// TestSnapshotOfABlockThatItsChildMadeFinal writes one of a running chain as if the
// block had no finalization of its own, moves the chain to a new folder by it, and goes
// on with it there. Whatever else stands in place of its certificates is refused.
func TestSnapshotOfABlockThatItsChildMadeFinal(t *testing.T) {
	dir := t.TempDir()
	r := run(t, dir, setup.DevnetOptions{BlockTime: 20 * time.Millisecond})
	transfer := func(r *running, nonce uint64) {
		t.Helper()
		var submitted rpc.SubmitWaitReply
		r.post(t, "/submit_wait?timeout_ms=10000", pay(r.genesis, setup.DevAccounts()[0], nonce, chain.Address{0xab, 2}).AppendWire(nil), &submitted)
		if len(submitted.Results) != 1 || submitted.Results[0].Receipt == nil {
			t.Fatalf("transfer: %+v", submitted)
		}
	}
	transfer(r, 0)
	x, err := r.store.Export()
	if err != nil {
		t.Fatal(err)
	}
	transfer(r, 1) // the child, and more
	record := func(h chain.Height) (block, certificate []byte) {
		t.Helper()
		rec, ok, err := r.store.BlockByHeight(h)
		if err != nil || !ok {
			t.Fatalf("block %d: %v, %v", h, ok, err)
		}
		return rec.Block, rec.Certificate
	}
	block, _ := record(x.Height())
	childBlock, childFinal := record(x.Height() + 1)
	names := r.set.Namespaces()
	mine := storedProposal(t, block)
	notarize := func(p simplex.Proposal) []byte {
		return simplex.AppendCertificate(nil, simplex.Certificate{
			Kind: simplex.Notarize, Proposal: p,
			Signature: r.keys.Share.Key.Sign(names.Notarize, attest.AppendSubject(nil, simplex.Notarize, p)),
			Seed:      r.keys.Share.Key.Sign(names.Seed, p.Round.Append(nil)),
		})
	}
	stored := slices.Concat(childFinal, notarize(mine))
	certificate := func([]byte) ([]byte, chain.Hash, error) { return ledger.FinalCertificate(stored) }
	var out bytes.Buffer
	cfg := snapshot.WriteConfig{ChunkBytes: checkpoint.DefaultChunkBytes, Certificate: certificate, Progress: quiet, ScratchDir: t.TempDir()}
	sum, err := snapshot.WriteExport(t.Context(), &out, r.store, x, cfg)
	if err := errors.Join(err, x.Close(), r.stop()); err != nil {
		t.Fatal(err)
	}

	trust, err := ledger.CheckpointTrust(r.genesis)
	if err != nil {
		t.Fatal(err)
	}
	file, err := checkpoint.NewReader(bytes.NewReader(out.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	good := *file.Head()
	if len(good.Descendants) != 1 {
		t.Fatalf("%d headers, want that of the child", len(good.Descendants))
	}
	child := storedProposal(t, childBlock)
	for rule, bad := range map[string]checkpoint.Head{
		"without the child":          {Block: good.Block, Certificate: good.Certificate},
		"without its own":            {Block: good.Block, Certificate: childFinal, Descendants: good.Descendants},
		"its own twice":              {Block: good.Block, Certificate: slices.Concat(notarize(mine), notarize(mine)), Descendants: good.Descendants},
		"the child's as its own":     {Block: good.Block, Certificate: slices.Concat(childFinal, notarize(child)), Descendants: good.Descendants},
		"the child is notarized":     {Block: good.Block, Certificate: slices.Concat(notarize(child), notarize(mine)), Descendants: good.Descendants},
		"the child finalizes itself": {Block: childBlock, Certificate: stored},
		"a byte more":                {Block: good.Block, Certificate: append(slices.Clone(stored), 0), Descendants: good.Descendants},
		"nothing":                    {Block: good.Block, Descendants: good.Descendants},
	} {
		bad.Genesis = good.Genesis
		if _, err := bad.Check(trust.Genesis, trust.Certify); !errors.Is(err, ledger.ErrCertificate) {
			t.Errorf("%s: %v", rule, err)
		}
	}
	for i := range good.Certificate {
		bad := good
		bad.Certificate = bytes.Clone(good.Certificate)
		bad.Certificate[i] ^= 1
		if _, err := bad.Check(trust.Genesis, trust.Certify); !errors.Is(err, ledger.ErrCertificate) {
			t.Fatalf("certificates with byte %d changed: %v", i, err)
		}
	}

	next := heir(t, dir)
	if got, err := tools.ImportSnapshot(t.Context(), next, bytes.NewReader(out.Bytes()), true, quiet); err != nil || got.Height != sum.Height {
		t.Fatalf("import: %+v, %v", got, err)
	}
	r = run(t, next, setup.DevnetOptions{})
	transfer(r, 1)
	if err := r.stop(); err != nil {
		t.Fatal(err)
	}
	if _, err := tools.VerifyChain(t.Context(), next, func(string, chain.Height, chain.Height) {}); err != nil {
		t.Errorf("verify: %v", err)
	}
}

func quiet(uint32, snapshot.Summary) {}

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
