package keystore

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// The passphrase, its normal form and the secret of the two test cases of EIP-2335.
const (
	eipPassphrase = "𝔱𝔢𝔰𝔱𝔭𝔞𝔰𝔰𝔴𝔬𝔯𝔡🔑"
	eipNormal     = "7465737470617373776f7264f09f9491"
	eipSecret     = "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f"
)

// eipScrypt and eipPBKDF2 are the two keystores of EIP-2335, "Test Cases".
const (
	eipScrypt = `{
    "crypto": {
        "kdf": {
            "function": "scrypt",
            "params": {
                "dklen": 32,
                "n": 262144,
                "p": 1,
                "r": 8,
                "salt": "d4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3"
            },
            "message": ""
        },
        "checksum": {
            "function": "sha256",
            "params": {},
            "message": "d2217fe5f3e9a1e34581ef8a78f7c9928e436d36dacc5e846690a5581e8ea484"
        },
        "cipher": {
            "function": "aes-128-ctr",
            "params": {
                "iv": "264daa3f303d7259501c93d997d84fe6"
            },
            "message": "06ae90d55fe0a6e9c5c3bc5b170827b2e5cce3929ed3f116c2811e6366dfe20f"
        }
    },
    "description": "This is a test keystore that uses scrypt to secure the secret.",
    "pubkey": "9612d7a727c9d0a22e185a1c768478dfe919cada9266988cb32359c11f2b7b27f4ae4040902382ae2910c15e2b420d07",
    "path": "m/12381/60/3141592653/589793238",
    "uuid": "1d85ae20-35c5-4611-98e8-aa14a633906f",
    "version": 4
}`
	eipPBKDF2 = `{
    "crypto": {
        "kdf": {
            "function": "pbkdf2",
            "params": {
                "dklen": 32,
                "c": 262144,
                "prf": "hmac-sha256",
                "salt": "d4e56740f876aef8c010b86a40d5f56745a118d0906a34e69aec8c0db1cb8fa3"
            },
            "message": ""
        },
        "checksum": {
            "function": "sha256",
            "params": {},
            "message": "8a9f5d9912ed7e75ea794bc5a89bca5f193721d30868ade6f73043c6ea6febf1"
        },
        "cipher": {
            "function": "aes-128-ctr",
            "params": {
                "iv": "264daa3f303d7259501c93d997d84fe6"
            },
            "message": "cee03fde2af33149775b7223e7845e4fb2c8ae1792e5f99fe9ecf474cc8c16ad"
        }
    },
    "description": "This is a test keystore that uses PBKDF2 to secure the secret.",
    "pubkey": "9612d7a727c9d0a22e185a1c768478dfe919cada9266988cb32359c11f2b7b27f4ae4040902382ae2910c15e2b420d07",
    "path": "m/12381/60/0/0",
    "uuid": "64625def-3331-4eea-ab6f-782f3ed16a83",
    "version": 4
}`
)

func TestVectorsOfEIP2335(t *testing.T) {
	normal, err := Normalize([]byte(eipPassphrase))
	if err != nil || hex.EncodeToString(normal) != eipNormal {
		t.Fatalf("normal form %x, %v", normal, err)
	}
	for name, text := range map[string]string{"scrypt": eipScrypt, "pbkdf2": eipPBKDF2} {
		f, err := Parse([]byte(text))
		if err != nil {
			t.Fatal(name, err)
		}
		secret, err := f.Open([]byte(eipPassphrase))
		if err != nil || hex.EncodeToString(secret) != eipSecret {
			t.Errorf("%s: %x, %v", name, secret, err)
		}
		if again, err := f.Open([]byte("\x01testpass\x7fword🔑\n")); err != nil || !bytes.Equal(again, secret) {
			t.Errorf("%s: with control characters: %v", name, err)
		}
		if _, err := f.Open([]byte("testpassword")); !errors.Is(err, ErrPassphrase) {
			t.Errorf("%s: another passphrase: %v", name, err)
		}
	}
}

// quickCost is for tests alone.
var quickCost = Cost{N: 16, R: 1, P: 1}

func TestSealAndOpen(t *testing.T) {
	for _, size := range []int{1, 31, 32, 500, SecretBytesMax} {
		secret := bytes.Repeat([]byte{7}, size)
		f, err := Seal(secret, []byte("correct horse"), quickCost, "aa", "keys")
		if err != nil {
			t.Fatal(err)
		}
		raw, err := f.Encode()
		if err != nil || len(raw) > FileBytesMax {
			t.Fatalf("%d bytes: a file of %d, %v", size, len(raw), err)
		}
		again, err := Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := again.Open([]byte("correct horse")); err != nil || !bytes.Equal(got, secret) {
			t.Errorf("%d bytes: %v", size, err)
		}
		if _, err := again.Open([]byte("correct horsf")); !errors.Is(err, ErrPassphrase) {
			t.Errorf("another passphrase: %v", err)
		}
		other, err := Seal(secret, []byte("correct horse"), quickCost, "aa", "keys")
		if err != nil || other.Crypto == f.Crypto || other.UUID == f.UUID {
			t.Errorf("two files of one secret are alike: %v", err)
		}
	}
	for _, bad := range []string{"", "\x00\x1f\x7f\u0085", "\xff\xfe", strings.Repeat("x", PassphraseBytesMax+1)} {
		if _, err := Seal([]byte{1}, []byte(bad), quickCost, "", ""); err == nil {
			t.Errorf("a passphrase of %d bytes: taken", len(bad))
		}
	}
	if _, err := Seal(make([]byte, SecretBytesMax+1), []byte("x"), quickCost, "", ""); err == nil {
		t.Error("a secret that is too large is taken")
	}
}

// TestAlteredFilesAreRefused: every byte that Open depends on is covered by the
// checksum or by a bound, and nothing is decrypted before.
func TestAlteredFilesAreRefused(t *testing.T) {
	good, err := Seal([]byte("secret"), []byte("pass"), quickCost, "aa", "keys")
	if err != nil {
		t.Fatal(err)
	}
	f := func(rule string, want error, change func(*File)) {
		t.Helper()
		bad := *good
		change(&bad)
		raw, err := bad.Encode()
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := Parse(raw)
		if err == nil {
			_, err = parsed.Open([]byte("pass"))
		}
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", rule, err, want)
		}
	}
	f("as it is", nil, func(*File) {})
	f("salt", ErrPassphrase, func(f *File) { f.Crypto.KDF.Params.Salt = strings.Repeat("ab", 32) })
	f("message", ErrPassphrase, func(f *File) { f.Crypto.Cipher.Message = "ff" + f.Crypto.Cipher.Message[2:] + "00" })
	f("checksum", ErrPassphrase, func(f *File) { f.Crypto.Checksum.Message = strings.Repeat("00", 32) })
	f("short checksum", ErrForm, func(f *File) { f.Crypto.Checksum.Message = f.Crypto.Checksum.Message[:62] })
	f("iv", ErrForm, func(f *File) { f.Crypto.Cipher.Params.IV = "" })
	f("no message", ErrForm, func(f *File) { f.Crypto.Cipher.Message = "" })
	f("not hex", ErrForm, func(f *File) { f.Crypto.KDF.Params.Salt = "zz" })
	f("no salt", ErrForm, func(f *File) { f.Crypto.KDF.Params.Salt = "" })
	f("version", ErrForm, func(f *File) { f.Version = 3 })
	f("cipher", ErrForm, func(f *File) { f.Crypto.Cipher.Function = "xor" })
	f("checksum function", ErrForm, func(f *File) { f.Crypto.Checksum.Function = "crc" })
	f("kdf", ErrForm, func(f *File) { f.Crypto.KDF.Function = "none" })
	f("key length", ErrForm, func(f *File) { f.Crypto.KDF.Params.DKLen = 16 })
	f("n no power of two", ErrForm, func(f *File) { f.Crypto.KDF.Params.N = 17 })
	f("n below 2", ErrForm, func(f *File) { f.Crypto.KDF.Params.N = -8 })
	f("r 0", ErrForm, func(f *File) { f.Crypto.KDF.Params.R = 0 })
	f("twice the memory", ErrCost, func(f *File) {
		f.Crypto.KDF.Params = KDFParams{DKLen: 32, N: 1 << 19, R: 8, P: 1, Salt: f.Crypto.KDF.Params.Salt}
	})
	f("memory by r", ErrCost, func(f *File) { f.Crypto.KDF.Params.R = 1 << 28 })
	f("memory beyond any product", ErrCost, func(f *File) { f.Crypto.KDF.Params.N = 1 << 62 })
	f("memory by p", ErrCost, func(f *File) { f.Crypto.KDF.Params.P = 1 << 40 })
	f("time by p", ErrCost, func(f *File) {
		f.Crypto.KDF.Params = KDFParams{DKLen: 32, N: 1 << 18, R: 8, P: 5, Salt: f.Crypto.KDF.Params.Salt}
	})
	f("rounds", ErrCost, func(f *File) {
		f.Crypto.KDF.Function = "pbkdf2"
		f.Crypto.KDF.Params = KDFParams{DKLen: 32, C: pbkdf2RoundsMax + 1, PRF: "hmac-sha256", Salt: f.Crypto.KDF.Params.Salt}
	})
	f("no rounds", ErrForm, func(f *File) {
		f.Crypto.KDF.Function = "pbkdf2"
		f.Crypto.KDF.Params = KDFParams{DKLen: 32, PRF: "hmac-sha256", Salt: f.Crypto.KDF.Params.Salt}
	})
	for _, text := range []string{"", "{}", "[]", "null", `{"version":4}`, eipScrypt + "{}", strings.Replace(eipScrypt, `"version"`, `"unknown":1,"version"`, 1), strings.Repeat(" ", FileBytesMax+1)} {
		if _, err := Parse([]byte(text)); !errors.Is(err, ErrForm) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
	// What one derivation may take is what its bound says.
	if c := DefaultCost(); c.check() != nil || 128*c.R*c.N != 256<<20 {
		t.Errorf("the default cost %+v: %v", c, c.check())
	}
}

// FuzzParse: whatever the bytes are, parsing costs little, and what is accepted is
// within the bounds and comes back the same.
func FuzzParse(f *testing.F) {
	f.Add([]byte(eipScrypt))
	f.Add([]byte(eipPBKDF2))
	f.Add([]byte(`{"crypto":{"kdf":{"function":"scrypt","params":{"dklen":32,"n":1e9}}},"version":4}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		file, err := Parse(raw)
		if err != nil {
			if !errors.Is(err, ErrForm) && !errors.Is(err, ErrCost) {
				t.Fatalf("an error without a kind: %v", err)
			}
			return
		}
		k := file.Crypto.KDF.Params
		if file.Crypto.KDF.Function == "scrypt" && (128*k.R*(k.N+k.P) > scryptMemoryMax || k.N*k.R*k.P > scryptWorkMax) || k.C > pbkdf2RoundsMax && file.Crypto.KDF.Function == "pbkdf2" {
			t.Fatalf("accepted %+v", k)
		}
		again, err := file.Encode()
		if err != nil {
			t.Fatal(err)
		}
		second, err := Parse(again)
		if err != nil {
			t.Fatalf("its own encoding is refused: %v", err)
		}
		if a, b := mustJSON(t, file), mustJSON(t, second); a != b {
			t.Fatalf("%s became %s", a, b)
		}
	})
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
