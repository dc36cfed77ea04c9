package datadir_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/keystore"
	"github.com/cowboy-foundation/cowboy/node/setup"
	"github.com/cowboy-foundation/cowboy/node/tools"
)

// quickCost derives a key at once: for tests alone.
var quickCost = keystore.Cost{N: 16, R: 1, P: 1}

func says(words string) datadir.Passphrase {
	return func() ([]byte, error) { return []byte(words), nil }
}

func dealt(t *testing.T, n int) (string, *genesis.Genesis) {
	t.Helper()
	dir := t.TempDir()
	g, err := setup.Deal(dir, setup.DealOptions{Validators: n})
	if err != nil {
		t.Fatal(err)
	}
	return dir, g
}

// TestKeysAtRest encrypts the keys of a validator in place: the file keeps its name and
// mode, tells whose it is and no secret, opens with the passphrase alone, and comes back
// as it was.
func TestKeysAtRest(t *testing.T) {
	top, g := dealt(t, 4)
	dir := datadir.DealtFolder(top, 0)
	name := filepath.Join(dir, datadir.KeysFile)
	plain, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	before, err := datadir.LoadKeys(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := datadir.EncryptKeys(dir, nil, quickCost); !errors.Is(err, keystore.ErrEmpty) {
		t.Errorf("without a passphrase: %v", err)
	}
	if err := datadir.DecryptKeys(dir, says("x")); !errors.Is(err, datadir.ErrKeysOpen) {
		t.Errorf("decrypting what is in the clear: %v", err)
	}
	if err := datadir.EncryptKeys(dir, []byte("hunter two"), quickCost); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var secrets map[string]any
	if err := json.Unmarshal(plain, &secrets); err != nil {
		t.Fatal(err)
	}
	for field, value := range secrets {
		if text, ok := value.(string); ok && strings.Contains(string(raw), text) {
			t.Errorf("%s stands in the encrypted file", field)
		}
	}
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if left, err := filepath.Glob(name + ".*"); err != nil || len(left) != 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	info, err := datadir.ShowKeys(dir)
	if err != nil || !info.Sealed || info.Peer != chain.PeerKey(before.Peer.PublicKey()) || info.Cost != quickCost {
		t.Errorf("shown %+v, %v", info, err)
	}
	if id, votes, err := datadir.KeyOwner(dir, g); err != nil || !votes || id.Peer != info.Peer {
		t.Errorf("owner %+v, votes %v, %v", id, votes, err)
	}
	if _, err := tools.GuardVotes(dir); err != nil {
		t.Errorf("a tool that needs no secret: %v", err)
	}
	for rule, pass := range map[string]datadir.Passphrase{"none": nil, "another": says("hunter three"), "empty": says("")} {
		if _, err := datadir.UnlockKeys(dir, pass); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("with %s passphrase: %v", rule, err)
		}
	}
	if _, err := datadir.LoadKeys(dir); !errors.Is(err, datadir.ErrKeysLocked) {
		t.Errorf("without a passphrase: %v", err)
	}
	after, err := datadir.UnlockKeys(dir, says("hunter two"))
	if err != nil {
		t.Fatal(err)
	}
	if err := after.CheckAgainst(g); err != nil || after.Peer.Seed() != before.Peer.Seed() || after.Account.Bytes() != before.Account.Bytes() {
		t.Errorf("other keys came back: %v", err)
	}
	if err := datadir.EncryptKeys(dir, []byte("x"), quickCost); !errors.Is(err, datadir.ErrKeysSealed) {
		t.Errorf("encrypting twice: %v", err)
	}
	if err := datadir.DecryptKeys(dir, says("wrong")); !errors.Is(err, keystore.ErrPassphrase) {
		t.Errorf("decrypting with another passphrase: %v", err)
	}
	if err := datadir.DecryptKeys(dir, says("hunter two")); err != nil {
		t.Fatal(err)
	}
	if back, err := os.ReadFile(name); err != nil || !bytes.Equal(back, plain) {
		t.Errorf("the file came back otherwise: %v", err)
	}
}

// TestKeyFilesFromOutside: a file that lies about whose it is, asks for too much, is too
// long or open to others is refused before it costs anything.
func TestKeyFilesFromOutside(t *testing.T) {
	top, _ := dealt(t, 4)
	dir := datadir.DealtFolder(top, 0)
	name := filepath.Join(dir, datadir.KeysFile)
	if err := datadir.EncryptKeys(dir, []byte("pass"), quickCost); err != nil {
		t.Fatal(err)
	}
	good, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f := func(rule string, want error, content []byte, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(name, mode); err != nil {
			t.Fatal(err)
		}
		asked := false
		_, err := datadir.UnlockKeys(dir, func() ([]byte, error) { asked = true; return []byte("pass"), nil })
		if want == nil && err != nil || want != nil && !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", rule, err, want)
		}
		if costly := want == nil || errors.Is(want, datadir.ErrKeysOther); asked != costly {
			t.Errorf("%s: a passphrase was asked for: %v", rule, asked)
		}
		if err := os.Chmod(name, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	edit := func(from, to string) []byte {
		t.Helper()
		out := strings.Replace(string(good), from, to, 1)
		if out == string(good) {
			t.Fatalf("nothing like %q in the file", from)
		}
		return []byte(out)
	}
	f("as it is", nil, good, 0o600)
	f("only to be read", nil, good, 0o400)
	f("open to the group", datadir.ErrKeysExposed, good, 0o640)
	f("open to all", datadir.ErrKeysExposed, good, 0o604)
	f("another's pubkey", datadir.ErrKeysOther, edit(`"pubkey": "`, `"pubkey": "00`), 0o600)
	f("4 GiB of memory", keystore.ErrCost, edit(`"n": 16`, `"n": 4194304`), 0o600)
	for rule, content := range map[string][]byte{"cut short": good[:len(good)-2], "nothing": nil, "longer than any": bytes.Repeat([]byte(" "), datadir.KeysBytesMax+1)} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := datadir.UnlockKeys(dir, says("pass")); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", rule, err)
		}
	}
}

// An operator who encrypts or decrypts the keys of a node as root leaves them to the user
// that the node runs as.
func TestRootEncryptsForTheNode(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("needs root: only root can give files to others")
	}
	top, _ := dealt(t, 4)
	dir := datadir.DealtFolder(top, 0)
	name := filepath.Join(dir, datadir.KeysFile)
	if err := os.Chown(name, 1234, 1235); err != nil {
		t.Fatal(err)
	}
	for _, step := range []func() error{
		func() error { return datadir.EncryptKeys(dir, []byte("hunter two"), quickCost) },
		func() error { return datadir.DecryptKeys(dir, says("hunter two")) },
	} {
		if err := step(); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if is := info.Sys().(*syscall.Stat_t); is.Uid != 1234 || is.Gid != 1235 || info.Mode() != 0o600 {
			t.Errorf("the file is of %d:%d, mode %v", is.Uid, is.Gid, info.Mode())
		}
	}
}
