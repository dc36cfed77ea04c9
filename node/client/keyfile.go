package client

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/state/owner"
)

// Parts of a key file. The form is PEM (RFC 7468 with RFC 1421 headers):
//
//	-----BEGIN COWBOY PRIVATE KEY-----
//	Checksum: 9f2c
//	Curve: secp256k1
//
//	base64 of the 32 bytes
//	-----END COWBOY PRIVATE KEY-----
//
// The checksum is the first four hex digits of the SHA-256 of the 32 bytes. It
// catches a mistyped or cut file, not an attacker.
const (
	keyBlock       = "COWBOY PRIVATE KEY"
	keyCurve       = "secp256k1"
	keyFileMax     = 4 << 10
	checksumDigits = 4
	keyFileMode    = 0o600
	keyFolderMode  = 0o700
)

// Errors of key files.
var (
	// ErrKeyExists means that a file is in the way of a new key.
	ErrKeyExists = errors.New("a key file exists already")
	// ErrKeyFile means that a file is no key file.
	ErrKeyFile = errors.New("not a Cowboy key file")
	// ErrKeyChecksum means that the key is not the one that was written.
	ErrKeyChecksum = errors.New("key file is damaged: the checksum does not match")
)

// NewKey draws a private key from the system's randomness.
func NewKey() (*secp256k1.PrivateKey, error) { return secp256k1.GenerateKey(rand.Reader) }

// ParseKeyHex reads a private key as 64 hex digits, with or without 0x. The
// error does not repeat the text.
func ParseKeyHex(text string) (*secp256k1.PrivateKey, error) {
	b, err := hex.DecodeString(strings.TrimPrefix(strings.TrimSpace(text), "0x"))
	if err != nil || len(b) != 32 {
		return nil, errors.New("private key is not 64 hex digits")
	}
	return secp256k1.ParsePrivateKey(b)
}

// KeyHex returns the secret as 0x and 64 hex digits.
func KeyHex(key *secp256k1.PrivateKey) string {
	b := key.Bytes()
	return "0x" + hex.EncodeToString(b[:])
}

// EncodeKey returns the contents of a key file.
func EncodeKey(key *secp256k1.PrivateKey) []byte {
	b := key.Bytes()
	return pem.EncodeToMemory(&pem.Block{
		Type:    keyBlock,
		Headers: map[string]string{"Curve": keyCurve, "Checksum": checksum(b[:])},
		Bytes:   b[:],
	})
}

func checksum(key []byte) string {
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:])[:checksumDigits]
}

// DecodeKey reads the contents of a key file. Nothing but white space may stand
// around the block.
func DecodeKey(text []byte) (*secp256k1.PrivateKey, error) {
	if len(text) > keyFileMax {
		return nil, fmt.Errorf("%w: larger than %d bytes", ErrKeyFile, keyFileMax)
	}
	trimmed := strings.TrimSpace(string(text))
	block, rest := pem.Decode([]byte(trimmed))
	switch {
	case block == nil || block.Type != keyBlock || !strings.HasPrefix(trimmed, "-----BEGIN "+keyBlock):
		return nil, fmt.Errorf("%w: it must begin with -----BEGIN %s-----", ErrKeyFile, keyBlock)
	case len(rest) > 0:
		return nil, fmt.Errorf("%w: text stands after the key", ErrKeyFile)
	case block.Headers["Curve"] != keyCurve:
		return nil, fmt.Errorf("%w: its curve must be %s", ErrKeyFile, keyCurve)
	case !strings.EqualFold(block.Headers["Checksum"], checksum(block.Bytes)):
		return nil, ErrKeyChecksum
	}
	return secp256k1.ParsePrivateKey(block.Bytes)
}

// ReadKey reads a key file. No error repeats a path that may be a key, given in the place of
// its file.
func ReadKey(path string) (*secp256k1.PrivateKey, error) {
	text, err := readBounded(path, keyFileMax)
	if failed := new(fs.PathError); errors.As(err, &failed) {
		return nil, fmt.Errorf("key file: %w", &fs.PathError{Op: failed.Op, Path: HideKeys(failed.Path), Err: failed.Err})
	}
	if err != nil {
		return nil, fmt.Errorf("key file: %w", err)
	}
	key, err := DecodeKey(text)
	if err != nil {
		return nil, fmt.Errorf("key file %s: %w", HideKeys(path), err)
	}
	return key, nil
}

// KeyExposed reports whether others than the owner may read the file.
func KeyExposed(path string) bool {
	stat, err := os.Stat(path)
	return err == nil && stat.Mode().Perm()&0o077 != 0
}

// WriteKey writes a new key file that only the owner may read, durably. A file in the
// way is [ErrKeyExists] and stays as it is.
func WriteKey(path string, key *secp256k1.PrivateKey) error {
	if err := os.MkdirAll(filepath.Dir(path), keyFolderMode); err != nil {
		return fmt.Errorf("key folder: %w", err)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, keyFileMode)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s: %w", path, ErrKeyExists)
	}
	if err != nil {
		return fmt.Errorf("key file: %w", err)
	}
	_, err = f.Write(EncodeKey(key))
	if err == nil {
		err = f.Sync()
	}
	if closing := f.Close(); err == nil {
		err = closing
	}
	if err == nil {
		err = SyncFolder(filepath.Dir(path))
	}
	if err != nil {
		os.Remove(path) // half a key is worse than none
		return fmt.Errorf("key file: %w", err)
	}
	return nil
}

// nextKey is what the name of a key file ends in until it takes another's place.
const nextKey = ".new"

// ReplaceKey is WriteKey over an existing file. The old key is kept beside it,
// because it may hold money; moved is where, or empty if there was none. Whatever ends the
// process, a key stands under the path, and the old one under one of its names. A file
// PATH.new in the way is [ErrKeyExists]: somebody else replaces the key, or was cut short.
func ReplaceKey(path string, key *secp256k1.PrivateKey) (moved string, err error) {
	if _, err := os.Lstat(path); isMissing(err) {
		return "", WriteKey(path, key)
	}
	next := path + nextKey
	if err := WriteKey(next, key); err != nil {
		return "", fmt.Errorf("a key on its way to %s: %w", path, err)
	}
	if moved, err = keepOld(path); err == nil {
		err = owner.Rename(next, path)
	}
	if err != nil {
		return "", errors.Join(fmt.Errorf("keep old key: %w", err), os.Remove(next))
	}
	return moved, SyncFolder(filepath.Dir(path))
}

// keepOld gives a file a second name, or another one where the file system has no second
// names, and returns it.
func keepOld(path string) (string, error) {
	for n := 1; ; n++ { // over the names that are taken
		name := path + ".old" + strconv.Itoa(n)
		if _, err := os.Lstat(name); err == nil {
			continue
		}
		err := os.Link(path, name)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			err = os.Rename(path, name)
		}
		if err != nil {
			return "", err
		}
		return name, SyncFolder(filepath.Dir(path))
	}
}

// readBounded reads a regular file of at most maxBytes.
func readBounded(path string, maxBytes int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err != nil {
		return nil, err
	}
	if int64(len(b)) > maxBytes {
		return nil, fmt.Errorf("%s is larger than %d bytes", path, maxBytes)
	}
	return b, nil
}
