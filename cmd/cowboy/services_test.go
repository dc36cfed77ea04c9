package main

import (
	"bytes"
	"crypto/ed25519"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/crypto/vrf"
	"github.com/cowboy-foundation/cowboy/node/rpc"
	"github.com/cowboy-foundation/cowboy/node/setup"
)

// bytesJSON is how bytes are written as JSON.
func bytesJSON(b []byte) string { return `{"$bytes":"0x` + hex.EncodeToString(b) + `"}` }

// mustUnhex reads hex of the test itself, or of the node.
func mustUnhex(t *testing.T, text string) []byte {
	t.Helper()
	b, err := unhex(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestServicesOnDevnet recomputes what the chain answers programs.
func TestServicesOnDevnet(t *testing.T) {
	l := newLive(t)
	at := l.deploy("testdata/services.py", append(grants("storage.blob", "storage.kv"), "--salt", "0x01", "--no-init")...)
	other := l.deploy("testdata/services.py", append(grants("storage.blob"), "--salt", "0x02", "--no-init")...)
	t.Run("randomness", func(t *testing.T) { l.on(t).randomness(at, other) })
	t.Run("blobs", func(t *testing.T) { l.on(t).blobs(at, other) })
	t.Run("signatures", func(t *testing.T) { l.on(t).signatures(at) })
	t.Run("block", func(t *testing.T) { l.on(t).surroundings(at) })
}

// randomness is HKDF of the beacon of the parent's round, which the header of the
// block holds the seed of (whitepaper §3.4; resolution 1.1).
func (l *live) randomness(at, other string) {
	t := l.t
	labels := []string{"dice", "cards", "dice "}
	ask, _ := json.Marshal(labels)
	seen := map[string]string{}
	for _, actor := range []string{at, at, other} {
		r := l.execute(actor, "roll", string(ask))
		block := l.block(r.BlockHeight)
		beacon := chain.BeaconHash(chain.Epoch(block.ParentEpoch), chain.View(block.ParentView), [48]byte(mustUnhex(t, block.ParentSeed)))
		for i, label := range labels {
			want, err := hkdf.Key(sha256.New, beacon[:], []byte("cowboy-actor-randomness-v1"), label, 32)
			if err != nil {
				t.Fatal(err)
			}
			var got []map[string]string
			if err := json.Unmarshal(r.Value, &got); err != nil || got[i]["$bytes"] != "0x"+hex.EncodeToString(want) {
				t.Errorf("%q in block %d is %v, want %x", label, r.BlockHeight, got, want)
			}
			name := fmt.Sprint(r.BlockHeight, label)
			if before, ok := seen[string(want)]; ok && before != name {
				t.Errorf("%s and %s are alike", before, name)
			}
			seen[string(want)] = name
		}
	}
	if len(seen) < 2*len(labels) {
		t.Errorf("%d values", len(seen))
	}
}

func (l *live) block(h uint64) *rpc.BlockReply {
	l.t.Helper()
	b, err := l.api().BlockByHeight(l.t.Context(), chain.Height(h))
	if err != nil {
		l.t.Fatal(err)
	}
	return b
}

// blobs are kept up to 64 KiB for whoever knows their multihash; of larger data,
// the chain holds the multihash alone (whitepaper §3.5, §7.1; resolution 11.34).
func (l *live) blobs(at, other string) {
	t := l.t
	multihash := func(data []byte) []byte {
		h := keccak.Sum256(data)
		return append([]byte{0x1b, 0x20}, h[:]...)
	}
	most := bytes.Repeat([]byte("x"), 64<<10)
	small, large := l.execute(at, "commit", "1000"), l.execute(at, "commit", "65536")
	if string(large.Value) != bytesJSON(multihash(most)) || large.CellsUsed < small.CellsUsed+64_000 {
		t.Errorf("64 KiB in %d cells: %s", large.CellsUsed, large.Value)
	}
	for _, test := range []struct {
		data []byte
		want string
	}{
		{most, fmt.Sprintf("[65536,%s]", bytesJSON(multihash(most)[2:]))},
		{most[:1000], fmt.Sprintf("[1000,%s]", bytesJSON(multihash(most[:1000])[2:]))},
		{most[:1001], "null"},
	} {
		if got := l.read(other, "blob", bytesJSON(multihash(test.data))); got != test.want {
			t.Errorf("blob of %d bytes by another actor: %s, want %s", len(test.data), got, test.want)
		}
	}
	if r := l.failed(at, "commit", "65537"); r.RevertReason != "reverted" {
		t.Errorf("one byte more: %s", r.RevertReason)
	}
	document := bytes.Repeat([]byte("page "), 11_000) // what one transaction cannot keep, but bring
	l.execute(at, "publish", bytesJSON(multihash(document)))
	for data, want := range map[string]string{string(document): "true", string(document[1:]): "false"} {
		if got := l.read(at, "check", bytesJSON([]byte(data))); got != want {
			t.Errorf("a document of %d bytes: %s", len(data), got)
		}
	}
}

// signatures are checked as the libraries of their makers do, wrong ones too; the
// typed data is the example of EIP-712.
func (l *live) signatures(at string) {
	t := l.t
	text, wrong := []byte("text"), []byte("texT")
	account := setup.DevAccounts()[1]
	digest := keccak.Sum256(text)
	sig := account.Key.Sign(digest)
	signature := append(append(sig.R[:], sig.S[:]...), sig.YParity)
	key, err := bls.NewSecretKey([]byte("thirty-two bytes of key material"))
	if err != nil {
		t.Fatal(err)
	}
	blsKey, blsSig := key.PublicKey().Bytes(), key.Sign([]byte("ns"), text)
	proof, out := vrf.Prove(key, []byte("ns"), text)
	edKey := ed25519.NewKeyFromSeed(digest[:])
	public := account.Key.PublicKey().Compressed()
	for _, test := range []struct {
		text []byte
		want string
	}{
		{text, fmt.Sprintf(`[true,%q,true,true,%s]`, account.Address, bytesJSON(out[:]))},
		{wrong, ""},
	} {
		digest := keccak.Sum256(test.text)
		fields := []string{}
		for name, b := range map[string][]byte{
			"key": public[:], "digest": digest[:], "signature": signature, "text": test.text, "ed_key": edKey.Public().(ed25519.PublicKey),
			"ed_signature": ed25519.Sign(edKey, text), "bls_key": blsKey[:], "bls_signature": blsSig[:], "proof": proof[:],
		} {
			fields = append(fields, fmt.Sprintf("%q:%s", name, bytesJSON(b)))
		}
		got := string(l.execute(at, "signatures", "{"+strings.Join(fields, ",")+"}").Value)
		if test.want != "" && got != test.want {
			t.Errorf("signatures: %s, want %s", got, test.want)
		}
		if test.want == "" && (!strings.HasPrefix(got, "[false,") || strings.Contains(got, account.Address.String()) || !strings.HasSuffix(got, "false,false,null]")) {
			t.Errorf("signatures of another text: %s", got)
		}
	}
	secret := keccak.Sum256([]byte("cow")) // the account of the example
	cow, err := secp256k1.ParsePrivateKey(secret[:])
	if err != nil {
		t.Fatal(err)
	}
	mail := mustUnhex(t, "be609aee343fb3c4b28e1df9e632fca64fcfaede20f02e86244efddf30957bd2")
	sig = cow.Sign([32]byte(mail))
	typed := func(signer string) string {
		return string(l.execute(at, "typed", fmt.Sprintf(`{"signer":%q,"domain":%s,"struct":%s,"signature":%s}`, signer,
			bytesJSON(mustUnhex(t, "f2cee375fa42b42143804025fc449deafd50cc031ca257e0b194a650a912090f")),
			bytesJSON(mustUnhex(t, "c52c0ee5d84264471806290a3f2c4cecfc5490626bf912d01f240d7a274b371e")),
			bytesJSON(append(append(sig.R[:], sig.S[:]...), sig.YParity)))).Value)
	}
	if got := typed("0xcd2a3d9f938e13cd947ec05abc7fe734df8dd826"); got != "["+bytesJSON(mail)+",true]" {
		t.Errorf("EIP-712's example: %s", got)
	}
	if got := typed(account.Address.String()); got != "["+bytesJSON(mail)+",false]" {
		t.Errorf("of somebody else: %s", got)
	}
}

// surroundings are those of the block and the transaction.
func (l *live) surroundings(at string) {
	t := l.t
	r := l.execute(at, "where", "null", as(1)...)
	b := l.block(r.BlockHeight)
	if want := fmt.Sprintf(`[%d,%d,1337,%q,%q,%q,0]`, b.Height, b.TimestampMillis, dev(1), dev(1), dev(0)); string(r.Value) != want {
		t.Errorf("%s, want %s", r.Value, want)
	}
	text := []byte("text")
	k, s := keccak.Sum256(text), sha256.Sum256(text)
	if got := string(l.execute(at, "hashes", bytesJSON(text)).Value); got != "["+bytesJSON(k[:])+","+bytesJSON(s[:])+"]" {
		t.Errorf("hashes: %s", got)
	}
}
