package client_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/node/client"
)

// elevens is the key of 32 bytes 0x11; its file is fixed here so that the
// format cannot change by accident.
const elevens = `-----BEGIN COWBOY PRIVATE KEY-----
Checksum: 02d4
Curve: secp256k1

ERERERERERERERERERERERERERERERERERERERERERE=
-----END COWBOY PRIVATE KEY-----
`

func keyOf(t testing.TB, fill byte) *secp256k1.PrivateKey {
	t.Helper()
	key, err := secp256k1.ParsePrivateKey(bytes.Repeat([]byte{fill}, 32))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func TestKeyFileFormat(t *testing.T) {
	if got := string(client.EncodeKey(keyOf(t, 0x11))); got != elevens {
		t.Errorf("key file is\n%s", got)
	}
	key, err := client.DecodeKey([]byte(elevens))
	if err != nil {
		t.Fatal(err)
	}
	if got := client.AddressOf(key).String(); got != "0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a" {
		t.Errorf("address %s", got)
	}
}

func TestDecodeKeyRefuses(t *testing.T) {
	change := func(old, new string) string { return strings.Replace(elevens, old, new, 1) }
	tests := []struct {
		rule string
		text string
		want error
	}{
		{"nothing", "", client.ErrKeyFile},
		{"hex", strings.Repeat("11", 32), client.ErrKeyFile},
		{"another block", change("BEGIN COWBOY", "BEGIN EC"), client.ErrKeyFile},
		{"cut", elevens[:len(elevens)/2], client.ErrKeyFile},
		{"text before", "hello\n" + elevens, client.ErrKeyFile},
		{"text after", elevens + "hello", client.ErrKeyFile},
		{"two keys", elevens + elevens, client.ErrKeyFile},
		{"no curve", change("Curve: secp256k1\n", ""), client.ErrKeyFile},
		{"another curve", change("secp256k1", "ed25519"), client.ErrKeyFile},
		{"no checksum", change("Checksum: 02d4\n", ""), client.ErrKeyChecksum},
		{"wrong checksum", change("02d4", "02d5"), client.ErrKeyChecksum},
		{"one letter mistyped", change("ERERE", "ERERF"), client.ErrKeyChecksum},
		{"huge", elevens + strings.Repeat("\n", 5000), client.ErrKeyFile},
	}
	for _, tt := range tests {
		t.Run(tt.rule, func(t *testing.T) {
			if _, err := client.DecodeKey([]byte(tt.text)); !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
		})
	}
	zero := "-----BEGIN COWBOY PRIVATE KEY-----\nChecksum: 6668\nCurve: secp256k1\n\nAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=\n-----END COWBOY PRIVATE KEY-----\n"
	if _, err := client.DecodeKey([]byte(zero)); !errors.Is(err, secp256k1.ErrPrivateKey) {
		t.Errorf("key 0: %v", err)
	}
}

func TestWriteKeyNeverLosesAKey(t *testing.T) {
	path := filepath.Join(t.TempDir(), "deep", "key")
	first, second, third := keyOf(t, 1), keyOf(t, 2), keyOf(t, 3)
	if err := client.WriteKey(path, first); err != nil {
		t.Fatal(err)
	}
	if stat, err := os.Stat(path); err != nil || stat.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", stat.Mode(), err)
	}
	if client.KeyExposed(path) {
		t.Error("a new key is exposed")
	}
	if err := client.WriteKey(path, second); !errors.Is(err, client.ErrKeyExists) {
		t.Errorf("second write: %v", err)
	}
	for i, next := range []*secp256k1.PrivateKey{second, third} {
		moved, err := client.ReplaceKey(path, next)
		if err != nil {
			t.Fatal(err)
		}
		old, err := client.ReadKey(moved)
		if err != nil || old.Bytes() != []*secp256k1.PrivateKey{first, second}[i].Bytes() {
			t.Errorf("old key %s: %v", moved, err)
		}
	}
	if key, err := client.ReadKey(path); err != nil || key.Bytes() != third.Bytes() {
		t.Errorf("key after replacements: %v", err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if !client.KeyExposed(path) {
		t.Error("a readable key is not exposed")
	}
	if moved, err := client.ReplaceKey(path+"2", first); err != nil || moved != "" {
		t.Errorf("replacing nothing: %q, %v", moved, err)
	}
}

func TestKeyLookupOrder(t *testing.T) {
	root := t.TempDir()
	p, err := client.FindProject(root)
	if err != nil {
		t.Fatal(err)
	}
	find := func(flag, variable string) (byte, error) {
		found, err := p.Key(flag, variable)
		if err != nil {
			return 0, err
		}
		return found.Key.Bytes()[0], nil
	}
	want := func(flag, variable string, fill byte) {
		t.Helper()
		if got, err := find(flag, variable); err != nil || got != fill {
			t.Errorf("key %d, %v; want %d", got, err, fill)
		}
	}
	if _, err := find("", ""); !errors.Is(err, client.ErrNoKey) {
		t.Errorf("no key: %v", err)
	}
	if err := client.WriteKey(p.DefaultKeyPath(), keyOf(t, 4)); err != nil {
		t.Fatal(err)
	}
	want("", "", 4)
	p.Settings.SetActive("x")
	if err := p.Settings.SetEnvironment("x", client.Environment{KeyFile: "keys/three"}); err != nil {
		t.Fatal(err)
	}
	if _, err := find("", ""); !errors.Is(err, client.ErrNoKey) {
		t.Errorf("a configured key that is missing fell back to another account: %v", err)
	}
	if err := client.WriteKey(filepath.Join(root, "keys/three"), keyOf(t, 3)); err != nil {
		t.Fatal(err)
	}
	want("", "", 3)
	want("", client.KeyHex(keyOf(t, 2)), 2)
	want(client.KeyHex(keyOf(t, 1))[2:], client.KeyHex(keyOf(t, 2)), 1)
	want(filepath.Join(root, "keys/three"), "", 3)
	for _, bad := range []string{"nonsense", strings.Repeat("0", 64), strings.Repeat("f", 64), strings.Repeat("1", 63)} {
		_, err := find(bad, "")
		if err == nil || strings.Contains(err.Error(), bad) {
			t.Errorf("a bad key is accepted or repeated in %v", err)
		}
	}
}

func TestNodeLookupOrder(t *testing.T) {
	p, err := client.FindProject(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	want := func(flag, variable, url string) {
		t.Helper()
		if got, err := p.NodeURL(flag, variable); err != nil || got != url {
			t.Errorf("node %s, %v; want %s", got, err, url)
		}
	}
	want("", "", client.DefaultURL)
	p.Settings.SetActive("x")
	if err := p.Settings.SetEnvironment("x", client.Environment{RPCURL: "configured"}); err != nil {
		t.Fatal(err)
	}
	want("", "", "configured")
	want("", "variable", "variable")
	want("flag", "variable", "flag")
}

func TestSettingsKeepWhatOthersWrite(t *testing.T) {
	const text = `{
  "zeta": [1, 2.50, {"a": null}],
  "active": "local",
  "environments": {
    "dev": {"dashboard_url": "", "rpc_url": "http://dev"},
    "local": {
      "lasso": {"primaryRunner": null},
      "actors": [{"address": "0x12", "label": "é"}],
      "rpc_url": "http://old",
      "big": 12345678901234567890
    }
  }
}`
	s, err := client.ParseSettings([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if env, err := s.Environment(); err != nil || env.RPCURL != "http://old" {
		t.Errorf("environment %+v, %v", env, err)
	}
	if err := s.SetEnvironment("local", client.Environment{RPCURL: "http://new", WalletAddress: "0xab"}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), ".cowboy", "config.json")
	if err := s.Write(path); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
  "zeta": [
    1,
    2.50,
    {
      "a": null
    }
  ],
  "active": "local",
  "environments": {
    "dev": {
      "dashboard_url": "",
      "rpc_url": "http://dev"
    },
    "local": {
      "lasso": {
        "primaryRunner": null
      },
      "actors": [
        {
          "address": "0x12",
          "label": "é"
        }
      ],
      "rpc_url": "http://new",
      "big": 12345678901234567890,
      "wallet_address": "0xab"
    }
  }
}
`
	if string(got) != want {
		t.Errorf("rewritten as\n%s", got)
	}
	if left, err := filepath.Glob(path + ".*"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestSettingsForms(t *testing.T) {
	f := func(text, url string, ok bool) {
		t.Helper()
		s, err := client.ParseSettings([]byte(text))
		var env client.Environment
		if err == nil {
			env, err = s.Environment()
		}
		if (err == nil) != ok || env.RPCURL != url {
			t.Errorf("%s: %+v, %v", text, env, err)
		}
	}
	f(`{}`, "", true)
	f(`{"rpc_url":"flat"}`, "flat", true)
	f(`{"network":"a","environments":{"a":{"rpc_url":"older name"}}}`, "older name", true)
	f(`{"active":"a"}`, "", false)
	f(`{"active":"a","environments":[]}`, "", false)
	f(`{"active":"a","environments":{"a":7}}`, "", false)
	f(`{"active":7,"rpc_url":"flat"}`, "flat", true)
	f(`{"rpc_url":"a","rpc_url":"b"}`, "", false)
	f(`[]`, "", false)
	f(`{`, "", false)
	f(`{} {}`, "", false)
	f(``, "", false)
}

func TestFindProjectWalksUp(t *testing.T) {
	root := t.TempDir()
	if err := client.NewSettings().Write(filepath.Join(root, ".cowboy", "config.json")); err != nil {
		t.Fatal(err)
	}
	deep := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	p, err := client.FindProject(deep)
	if err != nil || p.Root != root || !p.Found {
		t.Errorf("project %+v, %v", p, err)
	}
	if err := os.WriteFile(p.SettingsPath(), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := client.FindProject(deep); err == nil {
		t.Error("a broken configuration is passed over")
	}
	if err := os.WriteFile(p.SettingsPath(), bytes.Repeat([]byte(" "), 2<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := client.FindProject(deep); err == nil {
		t.Error("a huge configuration is read")
	}
	if _, err := client.ReadSettings(filepath.Join(root, "none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing configuration: %v", err)
	}
}

func FuzzDecodeKey(f *testing.F) {
	f.Add([]byte(elevens))
	f.Add([]byte(elevens[:40]))
	f.Add([]byte("-----BEGIN COWBOY PRIVATE KEY-----\n-----END COWBOY PRIVATE KEY-----"))
	f.Fuzz(func(t *testing.T, text []byte) {
		key, err := client.DecodeKey(text)
		if err != nil {
			return
		}
		again, err := client.DecodeKey(client.EncodeKey(key))
		if err != nil || again.Bytes() != key.Bytes() {
			t.Errorf("an accepted key does not survive rewriting: %v", err)
		}
	})
}

func FuzzSettings(f *testing.F) {
	f.Add([]byte(`{"active":"local","environments":{"local":{"rpc_url":"http://x","extra":[1]}}}`))
	f.Add([]byte(`{"rpc_url":"flat"}`))
	f.Add([]byte(`{"a":1,"a":2}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := client.ParseSettings(text)
		if err != nil {
			return
		}
		once, err := s.Encode()
		if err != nil {
			t.Fatalf("accepted settings do not encode: %v", err)
		}
		again, err := client.ParseSettings(once)
		if err != nil {
			t.Fatalf("rewritten settings do not parse: %v", err)
		}
		if twice, err := again.Encode(); err != nil || !bytes.Equal(once, twice) {
			t.Errorf("rewriting is not stable: %v\n%s\n%s", err, once, twice)
		}
	})
}
