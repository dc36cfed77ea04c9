package state

import (
	"bytes"
	"encoding/hex"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/keccak"
)

const emptyHashes = "a056e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421" +
	"a0c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"

func TestEmptyHashes(t *testing.T) {
	if got := chain.Hash(keccak.Sum256([]byte{0x80})); got != EmptyRoot {
		t.Errorf("EmptyRoot = %s, want %s", EmptyRoot, got)
	}
	if got := chain.Hash(keccak.Sum256()); got != EmptyCodeHash {
		t.Errorf("EmptyCodeHash = %s, want %s", EmptyCodeHash, got)
	}
}

func TestAccountEncoding(t *testing.T) {
	tests := []struct {
		name    string
		account Account
		want    string
	}{
		{"plain account is Ethereum's", Account{Nonce: 1, Balance: 1000, StorageRoot: EmptyRoot, CodeHash: EmptyCodeHash}, "f846" + "01" + "8203e8" + emptyHashes},
		{"zero hashes mean none", Account{Nonce: 1, Balance: 1000}, "f846" + "01" + "8203e8" + emptyHashes},
		{"zero numbers are empty strings", NewAccount(), "f844" + "80" + "80" + emptyHashes},
		{"largest numbers", Account{Nonce: 1<<64 - 1, Balance: 1<<64 - 1}, "f854" + "88ffffffffffffffff" + "88ffffffffffffffff" + emptyHashes},
		{
			"storage says its size, then metadata follows",
			Account{StorageRoot: chain.Hash{1}, StorageSize: StorageSize{Bytes: 300, Entries: 2}, Meta: []byte("abc")},
			"f84b8080a0" + "01" + strings.Repeat("00", 31) + emptyHashes[66:] + "86ac0202616263",
		},
		{"size without storage is not written", Account{Nonce: 1, StorageSize: StorageSize{Bytes: 3, Entries: 2}}, "f844" + "01" + "80" + emptyHashes},
		{"metadata is a fifth string", Account{Meta: []byte("abc")}, "f848" + "80" + "80" + emptyHashes + "83616263"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			enc := tt.account.Encode()
			if hex.EncodeToString(enc) != tt.want {
				t.Fatalf("encoding = %x, want %s", enc, tt.want)
			}
			got, err := DecodeAccount(enc)
			if err != nil || !reflect.DeepEqual(got, normal(tt.account)) {
				t.Errorf("decoded = %+v, %v", got, err)
			}
		})
	}
}

func TestDecodeAccountRefuses(t *testing.T) {
	f := func(name, in string, want error) {
		t.Helper()
		b, err := hex.DecodeString(in)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := DecodeAccount(b); err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", name, err, want)
		}
	}
	f("empty input", "", nil)
	f("a string", "83616263", nil)
	f("three items", "e3"+"80"+"80"+emptyHashes[:66], ErrAccountShape)
	f("six items", "f84a"+"80"+"80"+emptyHashes+"83616263"+"80"+"80", ErrAccountShape)
	f("empty metadata", "f845"+"80"+"80"+emptyHashes+"80", ErrMetaLength)
	f("bytes after the list", "f844"+"80"+"80"+emptyHashes+"00", nil)
	f("nonce with leading zero", "f846"+"820001"+"80"+emptyHashes, nil)
	f("balance above 64 bits", "f84d"+"80"+"89010000000000000000"+emptyHashes, nil)
	f("short hash", "f843"+"80"+"80"+"9f"+strings.Repeat("11", 31)+emptyHashes[66:], ErrHashLength)
	f("zero code hash", "f844"+"80"+"80"+emptyHashes[:66]+"a0"+strings.Repeat("00", 32), ErrHashLength)
	long := Account{Meta: bytes.Repeat([]byte{1}, MaxMetaBytes+1)}
	if _, err := DecodeAccount(long.Encode()); !errors.Is(err, ErrMetaLength) {
		t.Errorf("long metadata: %v", err)
	}
}

func FuzzDecodeAccount(f *testing.F) {
	for _, a := range []Account{NewAccount(), {Nonce: 5, Balance: 1 << 60}, {Meta: []byte{1}}, {CodeHash: chain.Hash{1}, StorageRoot: chain.Hash{2}}} {
		f.Add(a.Encode())
	}
	f.Add([]byte{0xc0})
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := DecodeAccount(b)
		if err != nil {
			return
		}
		if again := a.Encode(); !bytes.Equal(again, b) {
			t.Fatalf("%x decodes to %+v, which encodes as %x", b, a, again)
		}
	})
}
