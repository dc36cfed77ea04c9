package tools

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/consensus/beacon"
	"github.com/cowboy-foundation/cowboy/node/blockdoc"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/devtest"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/setup"
	"github.com/cowboy-foundation/cowboy/state/store"
)

// chainWithTransfers is the folder of a stopped devnet, and a block of it that
// holds at least three transactions of three senders.
func chainWithTransfers(t *testing.T) (dir string, block *blockdoc.Document) {
	t.Helper()
	dir = t.TempDir()
	url, stop := devtest.Start(t, dir, setup.DevnetOptions{BlockTime: 100 * time.Millisecond})
	genesis, err := datadir.LoadGenesis(dir)
	if err != nil {
		t.Fatal(err)
	}
	var height uint64
	for nonce := range uint64(20) {
		var batch []byte
		for _, from := range setup.DevAccounts() {
			batch = transfer(genesis, from, nonce).AppendWire(batch)
		}
		reply := submit(t, url, batch)
		in := map[uint64]int{}
		for _, one := range reply.Results {
			if one.Receipt == nil {
				t.Fatalf("no receipt: %+v", one)
			}
			in[one.Receipt.BlockHeight]++
			if in[one.Receipt.BlockHeight] >= 3 && one.Receipt.BlockHeight > 1 {
				height = one.Receipt.BlockHeight
			}
		}
		if height > 0 {
			break
		}
	}
	stop()
	block, err = ExportBlock(dir, fmt.Sprint(height))
	if err != nil {
		t.Fatal(err)
	}
	return dir, block
}

// transfer pays one base unit to an account that nobody has.
func transfer(g *genesis.Genesis, from setup.DevAccount, nonce uint64) *chain.Tx {
	to := chain.Address{0xab, 1}
	tx := &chain.Tx{
		ChainID: g.ChainID, Nonce: nonce, To: &to, Value: 1,
		CyclesLimit: 21_000, MaxFeePerCycle: 100, MaxFeePerCell: 100, TipPerCycle: 1,
	}
	sig := from.Key.Sign(tx.SigningHash())
	tx.Signature = &chain.TxSignature{YParity: sig.YParity, R: sig.R, S: sig.S}
	return tx
}

// submit waits for the receipts of a batch.
func submit(t *testing.T, url string, batch []byte) (reply rpc.SubmitWaitReply) {
	t.Helper()
	res, err := http.Post(url+"/submit_wait?timeout_ms=10000", "application/octet-stream", bytes.NewReader(batch))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if err := json.NewDecoder(res.Body).Decode(&reply); err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("submit_wait answered %d: %+v, %v", res.StatusCode, reply, err)
	}
	return reply
}

// alterations name, for every field of the header and for the bodies, how it is
// altered and the rule that then refuses the block. Each is signed anew by its
// proposer, so that nothing else is wrong with it.
var alterations = []struct{ set, rule string }{
	{"header.version=+1", ruleWrongBlock},
	{"header.parent=flip", "parent"},
	{"header.height=+1", "height"},
	{"header.height=-1", "height"},
	{"header.epoch=+1", "round"},
	{"header.view=+1", "round"},
	{"header.view=-1", "round"},
	{"header.parent_epoch=+1", "parent round"},
	{"header.parent_view=-1", "parent round"},
	{"header.parent_seed=flip", "parent seed"},
	{"header.timestamp_ms=+100000000", "timestamp in the future"},
	{"header.timestamp_ms=1", "timestamp not above the parent's"},
	{"header.proposer=flip", "proposer"},
	{"header.tx_root=flip", ruleWrongBlock},
	{"header.body_root=flip", ruleWrongBlock},
	{"header.receipts_root=flip", "receipts root"},
	{"header.state_root=flip", "state root"},
	{"header.base_fees.system.per_cycle=+1", "base fees"},
	{"header.base_fees.system.per_cell=+1", "base fees"},
	{"header.base_fees.timer.per_cycle=+1", "base fees"},
	{"header.base_fees.timer.per_cell=+1", "base fees"},
	{"header.base_fees.runner.per_cycle=+1", "base fees"},
	{"header.base_fees.runner.per_cell=+1", "base fees"},
	{"header.base_fees.user.per_cycle=+1", "base fees"},
	{"header.base_fees.user.per_cell=-1", "base fees"},
	{"header.used.system.cycles=+1", "used meters"},
	{"header.used.system.cells=+1", "used meters"},
	{"header.used.timer.cycles=+1", "used meters"},
	{"header.used.timer.cells=+1", "used meters"},
	{"header.used.runner.cycles=+1", "used meters"},
	{"header.used.runner.cells=+1", "used meters"},
	{"header.used.user.cycles=-1", "used meters"},
	{"header.used.user.cells=+1", "used meters"},
	{"header.presence_input=0x", ""}, // no rule of validity while CIP-11 selection is off (CIP-11 §7.2)
	{"header.consumed_seeds=pad", "consumed seeds"},
	{"header.order_proof=flip", "order proof"},

	{"txs=reverse", "order"},
	{"txs.0=remove", "receipts root"},
	{"txs.0=repeat", "execution"},
	{"txs.0=cut", "transaction"},
	{"txs.0=0x00", ruleWrongBlock},
	{"txs.0.value=+1", "receipts root"},
	{"txs.0.nonce=+1", "execution"},
	{"txs.0.chain_id=+1", "execution"},
	{"txs.0.cycles_limit=-1", "execution"},
	{"txs.0.max_fee_per_cycle=0", "execution"},
	{"txs.0.value=18446744073709551615", "execution"},

	{"place.view=+1", "round"},
	{"place.leader=flip", "proposer"},
	{"place.parent=flip", "parent"},
	{"place.parent_seed=flip", "parent seed"},
}

// TestEveryFieldHasItsRule alters each field of a real block and asks for the
// verdict.
func TestEveryFieldHasItsRule(t *testing.T) {
	dir, block := chainWithTransfers(t)
	genesis, source, err := openStopped(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	scratch, err := datadir.OpenStore(t.TempDir(), genesis, store.DefaultOptions())
	if err != nil {
		t.Fatal(err)
	}
	defer scratch.Close()
	replay, err := newReplay(genesis)
	if err != nil {
		t.Fatal(err)
	}
	replay.Source, replay.Scratch, replay.Until = source, scratch, block.Place.Height-1
	replay.Progress = func(chain.Height, chain.Height) {}
	if _, err := replay.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	signers, err := BlockSigners(dir)
	if err != nil {
		t.Fatal(err)
	}
	judge := func(set string) BlockVerdict {
		t.Helper()
		d := *block
		d.Block.Txs = slices.Clone(block.Block.Txs)
		keep := map[string]bool{}
		if path, value, ok := strings.Cut(set, "="); ok {
			if err := d.Set(path, value); err != nil {
				t.Fatal(err)
			}
			keep[path] = true
		}
		err := d.Renew(block.Block.Txs, signers, keep)
		if err != nil && !(errors.Is(err, blockdoc.ErrNoKey) && strings.HasPrefix(set, "header.proposer")) {
			t.Fatal(err)
		}
		want := CertificateHolds // devnet keys of all are here
		if err != nil {
			want = CertificateForeign // as the block was
		}
		if got, err := certificateState(&d, genesis); got != want || err != nil {
			t.Errorf("%s: the certificate is %q (%v), want %q", set, got, err, want)
		}
		v, err := judgeOn(t.Context(), &d, replay, scratch)
		if err != nil {
			t.Fatalf("%s: %v", set, err)
		}
		return v
	}
	if v := judge(""); !v.Valid {
		t.Fatalf("the block as it is: %+v", v)
	}
	for _, c := range alterations {
		if v := judge(c.set); v.Rule != c.rule || v.Valid != (c.rule == "") {
			t.Errorf("%s: refused by %q (%s), want %q", c.set, v.Rule, v.Detail, c.rule)
		}
	}
}

// TestCertificateOfADocument: what the certificate is worth, and that fewer keys
// than a quorum's make none.
func TestCertificateOfADocument(t *testing.T) {
	dir, block := chainWithTransfers(t)
	genesis, err := datadir.LoadGenesis(dir)
	if err != nil {
		t.Fatal(err)
	}
	set, err := beacon.NewValidatorSet(epoch.First(genesis))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := certifier(set, nil)(block.Place, block.Block.Header.Digest()); !errors.Is(err, blockdoc.ErrNoQuorum) {
		t.Errorf("without keys: %v, want %v", err, blockdoc.ErrNoQuorum)
	}
	for _, c := range []struct {
		name  string
		alter func(d *blockdoc.Document)
		want  CertificateState
	}{
		{"as it was stored", func(*blockdoc.Document) {}, CertificateHolds},
		{"left out", func(d *blockdoc.Document) { d.Certificate = nil }, CertificateNone},
		{"of the block before it was altered", func(d *blockdoc.Document) { d.Block.Header.TimestampMillis++ }, CertificateForeign},
		{"at another place", func(d *blockdoc.Document) { d.Place.View++ }, CertificateForeign},
		{"with another seed", func(d *blockdoc.Document) {
			other, err := certifier(set, mustKeys(t, dir))(blockdoc.Place{View: 999}, chain.Hash{})
			if err != nil {
				t.Fatal(err)
			}
			d.Certificate = append(slices.Clone(d.Certificate[:len(d.Certificate)-48]), other[len(other)-48:]...)
		}, CertificateForged},
		{"cut short", func(d *blockdoc.Document) { d.Certificate = d.Certificate[:9] }, CertificateForged},
	} {
		d := *block
		c.alter(&d)
		if got, err := certificateState(&d, genesis); got != c.want || err != nil {
			t.Errorf("%s: %q, %v; want %q", c.name, got, err, c.want)
		}
	}
}

func mustKeys(t *testing.T, dir string) []*datadir.Keys {
	t.Helper()
	keys, err := datadir.LoadKeys(dir)
	if err != nil {
		t.Fatal(err)
	}
	return []*datadir.Keys{keys}
}

// TestAlterationsCoverTheHeader keeps the table above whole when the header gains
// a field.
func TestAlterationsCoverTheHeader(t *testing.T) {
	leaves := 0
	var count func(typ reflect.Type)
	count = func(typ reflect.Type) {
		switch {
		case typ.Kind() == reflect.Struct:
			for i := range typ.NumField() {
				count(typ.Field(i).Type)
			}
		case typ.Kind() == reflect.Array && typ.Elem().Kind() != reflect.Uint8:
			for range typ.Len() {
				count(typ.Elem())
			}
		default:
			leaves++
		}
	}
	count(reflect.TypeFor[chain.Header]())
	altered := map[string]bool{}
	for _, c := range alterations {
		if path, _, _ := strings.Cut(c.set, "="); strings.HasPrefix(path, "header.") {
			altered[path] = true
		}
	}
	if len(altered) != leaves {
		t.Errorf("%d fields are altered, the header has %d", len(altered), leaves)
	}
}

func TestCheckBlockFindsTheState(t *testing.T) {
	dir, block := chainWithTransfers(t)
	quiet := func(string, chain.Height, chain.Height) {}
	v, err := CheckBlock(t.Context(), block, dir, nil, quiet)
	if err != nil || !v.Valid || v.Height != block.Place.Height || v.Digest != block.Block.Header.Digest() {
		t.Fatalf("%+v, %v", v, err)
	}
	genesis, err := datadir.LoadGenesis(dir)
	if err != nil {
		t.Fatal(err)
	}
	first, err := ExportBlock(dir, "1")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := CheckBlock(t.Context(), first, "", genesis, quiet); err != nil || !v.Valid {
		t.Errorf("block 1 against the genesis alone: %+v, %v", v, err)
	}
	byDigest, err := ExportBlock(dir, first.Block.Header.Digest().String())
	if err != nil || byDigest.Place != first.Place {
		t.Errorf("by digest: %v", err)
	}
	if _, err := CheckBlock(t.Context(), block, "", genesis, quiet); !errors.Is(err, ErrNeedsFolder) {
		t.Errorf("a later block against the genesis: %v", err)
	}
	stopped, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := CheckBlock(stopped, block, dir, nil, quiet); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	stranger := *block
	stranger.Genesis[0] ^= 1
	if _, err := CheckBlock(t.Context(), &stranger, dir, nil, quiet); !errors.Is(err, ErrOtherChain) {
		t.Errorf("another chain's block: %v", err)
	}
	beyond := *block
	beyond.Place.Height = 1 << 40
	if _, err := CheckBlock(t.Context(), &beyond, dir, nil, quiet); !errors.Is(err, ErrNoSuchBlock) {
		t.Errorf("a block far above the head: %v", err)
	}
	for _, name := range []string{"x", "1 ", "-1", "0x00", "99999999", chain.Hash{1}.String()} {
		if _, err := ExportBlock(dir, name); err == nil {
			t.Errorf("block %q was exported", name)
		}
	}
}
