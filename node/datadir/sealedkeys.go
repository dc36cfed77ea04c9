package datadir

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/consensus/guard"
	"github.com/cowboy-foundation/cowboy/node/keystore"
	"github.com/cowboy-foundation/cowboy/state/owner"
)

// Passphrase returns the passphrase of an encrypted key file. It is called once the
// file is found to be one, and may ask a person.
type Passphrase func() ([]byte, error)

var (
	// ErrKeysLocked means that a key file is encrypted and nobody gave the passphrase.
	ErrKeysLocked = errors.New("the keys are encrypted: give --passphrase-file FILE or --passphrase-fd N, or start at a terminal, which asks")
	// ErrKeysPlain means that keys lie in the clear for a chain that matters.
	ErrKeysPlain = errors.New("the keys are in the clear, which is for development chains alone: encrypt them with cowboyd keys encrypt --data DIR, and start with --passphrase-file FILE")
	// ErrKeysSealed means that there is nothing to encrypt, and ErrKeysOpen nothing to
	// decrypt.
	ErrKeysSealed = errors.New("the keys are encrypted already: cowboyd keys decrypt first, to give them another passphrase")
	ErrKeysOpen   = errors.New("the keys are in the clear already")
	// errKeysOther means that an encrypted file says that it is somebody else's.
	ErrKeysOther = errors.New("the file's pubkey is not that of the keys in it: it is damaged or was put together from two")
)

// KeysBytesMax bounds the key file in either form.
const KeysBytesMax = keystore.FileBytesMax

// keyFile is the file of a folder before any passphrase was asked for.
type keyFile struct {
	name   string
	raw    []byte
	sealed *keystore.File // nil for keys in the clear
}

// readKeyFile reads the file, which only its owner may be able to read.
func readKeyFile(dataDir string) (f keyFile, err error) {
	f.name = filepath.Join(dataDir, KeysFile)
	file, err := os.Open(f.name)
	if err != nil {
		return f, fmt.Errorf("read keys: %w", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return f, fmt.Errorf("read keys: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return f, fmt.Errorf("%s: %w", f.name, ErrKeysExposed)
	}
	if f.raw, err = io.ReadAll(io.LimitReader(file, KeysBytesMax+1)); err != nil {
		return f, fmt.Errorf("read keys: %w", err)
	}
	if len(f.raw) > KeysBytesMax {
		return f, fmt.Errorf("%s: a key file of more than %d bytes", f.name, KeysBytesMax)
	}
	var form struct {
		Crypto json.RawMessage `json:"crypto"`
	}
	if json.Unmarshal(f.raw, &form) == nil && form.Crypto != nil {
		if f.sealed, err = keystore.Parse(f.raw); err != nil {
			return f, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return f, nil
}

// keys decrypts and reads the keys.
func (f *keyFile) keys(pass Passphrase) (*Keys, error) {
	if f.sealed == nil {
		k, err := parseKeys(f.raw)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", f.name, err)
		}
		return k, nil
	}
	if pass == nil {
		return nil, fmt.Errorf("%s: %w", f.name, ErrKeysLocked)
	}
	words, err := pass()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	defer clear(words)
	secret, err := f.sealed.Open(words)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	defer clear(secret)
	k, err := parseKeys(secret)
	if err == nil && f.sealed.PublicKey != pubkeyOf(k) {
		err = ErrKeysOther
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	k.sealed = true
	return k, nil
}

// pubkeyOf is what an encrypted file says of itself: the peer key.
func pubkeyOf(k *Keys) string {
	peer := chain.PeerKey(k.Peer.PublicKey())
	return hex.EncodeToString(peer[:])
}

// UnlockKeys reads the key file of a data folder, encrypted or not, and refuses one
// that others can read.
func UnlockKeys(dataDir string, pass Passphrase) (*Keys, error) {
	f, err := readKeyFile(dataDir)
	if err != nil {
		return nil, err
	}
	return f.keys(pass)
}

// MayServe refuses keys in the clear for a chain that matters.
func (k *Keys) MayServe(g *genesis.Genesis) error {
	if !k.sealed && !g.Devnet {
		return ErrKeysPlain
	}
	return nil
}

// KeysInfo is what can be said of a key file without its passphrase.
type KeysInfo struct {
	Sealed bool
	Peer   chain.PeerKey
	Cost   keystore.Cost // of trying one passphrase; zero for a file that another program made with PBKDF2
	// Votes says whether the keys can vote; of an encrypted file only the genesis tells.
	Votes bool
}

// ShowKeys says what a folder's key file is. It asks for no passphrase.
func ShowKeys(dataDir string) (KeysInfo, error) {
	f, err := readKeyFile(dataDir)
	if err != nil {
		return KeysInfo{}, err
	}
	if f.sealed == nil {
		k, err := f.keys(nil)
		if err != nil {
			return KeysInfo{}, err
		}
		return KeysInfo{Peer: chain.PeerKey(k.Peer.PublicKey()), Votes: k.Validates()}, nil
	}
	peer, err := hex.DecodeString(f.sealed.PublicKey)
	if err != nil || len(peer) != len(chain.PeerKey{}) {
		return KeysInfo{}, fmt.Errorf("%s: pubkey %q is no peer key", f.name, f.sealed.PublicKey)
	}
	params := f.sealed.Crypto.KDF.Params
	return KeysInfo{Sealed: true, Peer: chain.PeerKey(peer), Cost: keystore.Cost{N: params.N, R: params.R, P: params.P}}, nil
}

// KeyOwner is whose keys a folder has, and whether they vote on its chain. No
// passphrase is needed: what it decides, the memory of votes and its identity, is
// held to the keys again when the node starts.
func KeyOwner(dataDir string, g *genesis.Genesis) (id guard.Identity, votes bool, err error) {
	info, err := ShowKeys(dataDir)
	if err != nil {
		return id, false, err
	}
	id = guard.Identity{Genesis: g.Hash(), Peer: info.Peer}
	if !info.Sealed {
		keys, err := LoadKeys(dataDir)
		if err == nil {
			err = keys.CheckAgainst(g)
		}
		return id, info.Votes, err
	}
	return id, votes || epoch.First(g).Find(info.Peer) != nil, nil
}

// Sealing says how keys that are made are put under a passphrase.
type Sealing struct {
	// Passphrase is asked before anything is made. Nil: there is none, and keys are made
	// for development chains alone.
	Passphrase Passphrase
	// Always encrypts the keys of a development chain too.
	Always bool
	Cost   keystore.Cost // of trying one passphrase; zero: the default
}

// ErrDealPlain means that nobody gave the passphrase for the keys of a chain that
// matters.
var ErrDealPlain = errors.New("this is no development chain, and its keys would lie in the clear: give --passphrase-file FILE or --passphrase-fd N, or run it at a terminal, which asks")

// Words returns the passphrase for the keys of a chain, or nil where they lie in the
// clear.
func (s *Sealing) Words(devnet bool) ([]byte, error) {
	switch {
	case devnet && !s.Always:
		return nil, nil
	case s.Passphrase == nil:
		return nil, ErrDealPlain
	}
	words, err := s.Passphrase()
	if err == nil && len(words) == 0 {
		err = keystore.ErrEmpty
	}
	return words, err
}

// Seal encrypts what save will write. Without words it stays in the clear.
func (k *Keys) Seal(words []byte, cost keystore.Cost) error {
	if words == nil {
		return nil
	}
	if cost == (keystore.Cost{}) {
		cost = keystore.DefaultCost()
	}
	plain, err := k.Encode()
	if err != nil {
		return err
	}
	k.file, err = k.encrypt(plain, words, cost)
	return err
}

// encrypt returns the encrypted form of a file of these keys.
func (k *Keys) encrypt(plain, passphrase []byte, cost keystore.Cost) ([]byte, error) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, plain); err != nil {
		return nil, fmt.Errorf("encrypt keys: %w", err)
	}
	description := "identity of a Cowboy full node"
	if k.Validates() {
		description = "keys of a Cowboy validator"
	}
	sealed, err := keystore.Seal(compact.Bytes(), passphrase, cost, pubkeyOf(k), description)
	if err != nil {
		return nil, fmt.Errorf("encrypt keys: %w", err)
	}
	return sealed.Encode()
}

// EncryptKeys puts the keys of a folder under a passphrase. The file is replaced in one
// step, once what was written is seen to decrypt to the same keys.
func EncryptKeys(dataDir string, passphrase []byte, cost keystore.Cost) error {
	f, err := readKeyFile(dataDir)
	if err != nil {
		return err
	}
	if f.sealed != nil {
		return fmt.Errorf("%s: %w", f.name, ErrKeysSealed)
	}
	k, err := f.keys(nil)
	if err != nil {
		return err
	}
	raw, err := k.encrypt(f.raw, passphrase, cost)
	if err != nil {
		return fmt.Errorf("%s: %w", f.name, err)
	}
	return replaceKeys(f.name, raw, func(f *keyFile) error {
		again, err := f.keys(func() ([]byte, error) { return bytes.Clone(passphrase), nil })
		if err == nil && again.Peer.Seed() != k.Peer.Seed() {
			err = ErrKeysOther
		}
		return err
	})
}

// DecryptKeys puts the keys of a folder in the clear.
func DecryptKeys(dataDir string, pass Passphrase) error {
	f, err := readKeyFile(dataDir)
	if err != nil {
		return err
	}
	if f.sealed == nil {
		return fmt.Errorf("%s: %w", f.name, ErrKeysOpen)
	}
	k, err := f.keys(pass)
	if err != nil {
		return err
	}
	raw, err := k.Encode()
	if err != nil {
		return err
	}
	return replaceKeys(f.name, raw, func(f *keyFile) error { _, err := f.keys(nil); return err })
}

// HalfKeys is what the name of a key file ends in before it takes the other's place.
const HalfKeys = ".new"

// RemoveHalfKeys removes what a command left that was cut short while it encrypted or
// decrypted the keys: it may hold them in the clear, and the file beside it is whole.
func RemoveHalfKeys(dataDir string) (found bool, err error) {
	switch err := os.Remove(filepath.Join(dataDir, KeysFile+HalfKeys)); {
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("remove half a key file: %w", err)
	}
	dir, err := os.Open(dataDir)
	if err != nil {
		return true, fmt.Errorf("open folder: %w", err)
	}
	return true, errors.Join(dir.Sync(), dir.Close())
}

// replaceKeys writes a key file beside the one that is there, checks it as it was
// written, and gives it the name.
func replaceKeys(name string, raw []byte, check func(*keyFile) error) error {
	next := name + HalfKeys
	if _, err := RemoveHalfKeys(filepath.Dir(name)); err != nil {
		return err
	}
	if err := WriteNew(next, raw, 0o600); err != nil {
		return err
	}
	written, err := os.ReadFile(next)
	f := keyFile{name: next, raw: written}
	if err == nil && !bytes.Equal(written, raw) {
		err = errors.New("what was written is not what is read")
	}
	if err == nil {
		if f.sealed, err = keystore.Parse(written); errors.Is(err, keystore.ErrForm) {
			f.sealed, err = nil, nil // in the clear
		}
	}
	if err == nil {
		err = check(&f)
	}
	if err == nil {
		err = owner.Rename(next, name)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("write keys: %w", err), os.Remove(next))
	}
	dir, err := os.Open(filepath.Dir(name))
	if err != nil {
		return fmt.Errorf("open folder: %w", err)
	}
	return errors.Join(dir.Sync(), dir.Close())
}
