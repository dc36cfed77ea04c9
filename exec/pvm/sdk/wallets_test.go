package sdk

import (
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
)

// walletSignature is one row of what wallets signed; domain and structure are those
// of typed data.
type walletSignature struct {
	Wallet, Name, Address, Domain, Struct, Digest, Signature string
}

// TestWalletSignatures: what ethers, web3 and noble sign is recovered, with v as 0 or
// 1 and as 27 or 28, whichever of them they write.
func TestWalletSignatures(t *testing.T) { // whitepaper §16.1
	text, err := os.ReadFile("../../../crypto/interop/testdata/wallet_signatures.json")
	if err != nil {
		t.Fatal(err)
	}
	var rows []walletSignature
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	const src = `
from cowboy_sdk import *
@public
def h(msg):
    who, other, digest, domain, data, sig = msg.payload
    digest, domain, data, sig = [bytes.fromhex(x) for x in (digest, domain, data, sig)]
    out = []
    for v in {0: (0, 27), 1: (1, 28)}[sig[64] % 27]:
        s = sig[:64] + bytes([v])
        out += [recover_address(digest, s) == who, secp256k1.recover(digest, s) == who]
        if domain:
            out += [eip712_digest(domain, data) == digest, verify_eip712(who, domain, data, s), not verify_eip712(other, domain, data, s)]
    return all(out), len(out), sig[64]
`
	b := newBench(t)
	seen := map[string]int{}
	for _, r := range rows {
		arg := fmt.Sprintf("['0x%s', '0x%s', '%s', '%s', '%s', '%s']", r.Address, r.Digest[:40], r.Digest, r.Domain, r.Struct, r.Signature)
		v, n := unhex(t, r.Signature)[64], 4
		if r.Domain != "" {
			n = 10
		}
		if got, want := b.call(src, "h", arg), fmt.Sprintf("[True, %d, %d]", n, v); got != want {
			t.Errorf("%s, %s: %s, want %s", r.Wallet, r.Name, got, want)
		}
		seen[fmt.Sprintf("%s %d", r.Wallet, v)]++
	}
	for _, kind := range []string{"ethers 27", "ethers 28", "web3 27", "web3 28", "noble 0", "noble 1"} {
		if seen[kind] < 5 {
			t.Errorf("%d signatures of %s", seen[kind], kind)
		}
	}
}

// TestSignaturesRefused: a signature in no form that a wallet writes is refused by
// name, and one that nobody can have made is nobody's.
func TestSignaturesRefused(t *testing.T) {
	key, err := secp256k1.ParsePrivateKey(append(make([]byte, 31), 11))
	if err != nil {
		t.Fatal(err)
	}
	digest := [32]byte{1, 2, 3}
	sig := key.Sign(digest)
	order, _ := new(big.Int).SetString("fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141", 16)
	high := new(big.Int).Sub(order, new(big.Int).SetBytes(sig.S[:])).FillBytes(make([]byte, 32))
	form := func(s []byte, v ...byte) string { return fmt.Sprintf("%x%x%x", sig.R, s, v) }
	cases := []struct{ name, digest, signature, want string }{
		{"64 bytes", "", form(sig.S[:]), "a signature has 65 bytes (r, s and v), not 64"},
		{"66 bytes", "", form(sig.S[:], 0, 0), "a signature has 65 bytes (r, s and v), not 66"},
		{"none", "", "", "a signature has 65 bytes (r, s and v), not 0"},
		{"a short digest", "00", form(sig.S[:], 27), "a digest has 32 bytes, not 1"},
		{"a high s", "", form(high, sig.YParity^1), "s of a signature is above half the group order"},
		{"a high s, as wallets write v", "", form(high, 27+(sig.YParity^1)), "s of a signature is above half the group order"},
		{"s of zero", "", form(make([]byte, 32), 27), "None"},
		{"s of the order", "", form(order.Bytes(), 27), "None"},
	}
	for v := range 256 {
		if v > 1 && v != 27 && v != 28 {
			cases = append(cases, struct{ name, digest, signature, want string }{
				fmt.Sprint("v of ", v), "", form(sig.S[:], byte(v)), fmt.Sprintf("v of a signature is 0, 1, 27 or 28, not %d", v),
			})
		}
	}
	const src = `
from cowboy_sdk import *
def told(f, *args):
    try:
        return str(f(*args))
    except ValueError as e:
        return str(e)
@public
def h(msg):
    who, digest, domain, sig = msg.payload
    digest, domain, sig = [bytes.fromhex(x) for x in (digest, domain, sig)]
    return [told(recover_address, digest, sig), told(secp256k1.recover, digest, sig), told(verify_eip712, who, domain, domain, sig)]
`
	b := newBench(t)
	for _, c := range cases {
		d := fmt.Sprintf("%x", digest)
		if c.digest != "" {
			d = c.digest
		}
		arg := fmt.Sprintf("['%s', '%s', '%x', '%s']", chain.Address(key.PublicKey().Address()), d, digest, c.signature)
		want := []string{c.want, c.want, c.want}
		switch {
		case c.want == "None":
			want[2] = "False"
		case c.digest != "":
			want[2] = "False" // verify_eip712 makes the digest itself
		}
		if got, want := b.call(src, "h", arg), fmt.Sprintf("['%s', '%s', '%s']", want[0], want[1], want[2]); got != want {
			t.Errorf("%s: %s, want %s", c.name, got, want)
		}
	}
}

// TestVerifyTakesWalletSignatures: verify_secp256k1 reads the same forms, and 64 bytes.
func TestVerifyTakesWalletSignatures(t *testing.T) {
	key, err := secp256k1.ParsePrivateKey(append(make([]byte, 31), 12))
	if err != nil {
		t.Fatal(err)
	}
	digest := [32]byte{4, 5, 6}
	sig, pub := key.Sign(digest), key.PublicKey().Compressed()
	b := newBench(t)
	const src = `
from cowboy_sdk import *
@public
def h(msg):
    key, digest, sig = [bytes.fromhex(x) for x in msg.payload]
    return verify_secp256k1(key, digest, sig)
`
	for _, c := range []struct{ tail, want string }{
		{"", "True"},
		{fmt.Sprintf("%02x", sig.YParity), "True"},
		{fmt.Sprintf("%02x", sig.YParity+27), "True"},
		{"02", "ValueError: v of a signature is 0, 1, 27 or 28, not 2"},
		{"1d", "ValueError: v of a signature is 0, 1, 27 or 28, not 29"},
		{"0000", "ValueError: a signature has 64 bytes (r and s) or 65 (r, s and v), not 66"},
	} {
		arg := fmt.Sprintf("['%x', '%x', '%x%x%s']", pub, digest, sig.R, sig.S, c.tail)
		if got := b.call(src, "h", arg); got != c.want {
			t.Errorf("v %q: %s, want %s", c.tail, got, c.want)
		}
	}
}
