// Package keystore keeps a secret in a file under a passphrase, in the form of EIP-2335
// (version 4): a key is derived from the passphrase with scrypt, a checksum of half of it
// and the ciphertext says whether the passphrase is right, and only then the other half
// decrypts with AES-128-CTR.
//
// A file comes from outside: what its key derivation would cost in memory and time is
// bounded before it runs, and its length before it is read. [Seal] writes scrypt alone;
// [Open] takes PBKDF2 too, which the EIP also has.
//
// The secret may have any length up to [SecretBytesMax]: Cowboy puts the keys of a
// validator there as one document, since all of them are needed together.
package keystore

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/pbkdf2"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/crypto/scrypt"

	"github.com/cowboy-foundation/cowboy/exec/pvm/ucd"
)

var (
	// ErrForm means that a file is no keystore of this form.
	ErrForm = errors.New("not a keystore of EIP-2335")
	// ErrCost means that a file asks for more memory or time than a key derivation may
	// take, whatever the passphrase is.
	ErrCost = errors.New("keystore asks for too costly a key derivation")
	// ErrPassphrase means that the checksum does not match: another passphrase, or a
	// damaged file.
	ErrPassphrase = errors.New("the passphrase is not that of the keystore, or the file is damaged")
	// ErrEmpty means a passphrase without characters.
	ErrEmpty = errors.New("the passphrase is empty")
)

// Bounds of what is read.
const (
	FileBytesMax       = 64 << 10 // of a keystore
	SecretBytesMax     = 16 << 10
	PassphraseBytesMax = 4 << 10

	// scryptMemoryMax is what a derivation may take: as much as the file of the EIP's
	// own example needs, 256 MiB, and a little.
	scryptMemoryMax = 257 << 20
	// scryptWorkMax bounds N·r·p, to which time is proportional: four times that of the
	// example, about two seconds.
	scryptWorkMax = 4 << 21
	// pbkdf2RoundsMax takes some seconds; the example has 262,144.
	pbkdf2RoundsMax = 4 << 20
	saltBytesMin    = 8
	saltBytesMax    = 1 << 10
	keyBytes        = 32
	version         = 4
)

// Cost is what deriving the key takes.
type Cost struct {
	N int `json:"n"` // a power of two: memory and time
	R int `json:"r"` // size of a block
	P int `json:"p"` // how often
}

// DefaultCost takes 256 MiB and about half a second: the EIP's own figures.
func DefaultCost() Cost { return Cost{N: 1 << 18, R: 8, P: 1} }

// check bounds a cost, in memory and time, before it is paid.
func (c Cost) check() error {
	switch {
	case c.N < 2 || c.N&(c.N-1) != 0 || c.R < 1 || c.P < 1:
		return fmt.Errorf("%w: scrypt with n %d, r %d, p %d: want n a power of two, r and p above 0", ErrForm, c.N, c.R, c.P)
	case c.N > scryptMemoryMax || c.R > scryptMemoryMax || c.P > scryptMemoryMax: // their products fit
	case 128*uint64(c.R)*(uint64(c.N)+uint64(c.P)) > scryptMemoryMax:
	case uint64(c.N)*uint64(c.R)*uint64(c.P) > scryptWorkMax:
	default:
		return nil
	}
	return fmt.Errorf("%w: scrypt with n %d, r %d, p %d: want at most %d bytes and n·r·p of %d", ErrCost, c.N, c.R, c.P, scryptMemoryMax, scryptWorkMax)
}

// File is the document. Its strings of bytes are hex without 0x.
type File struct {
	Crypto      Crypto `json:"crypto"`
	Name        string `json:"name,omitempty"`
	Description string `json:"description,omitempty"`
	// PublicKey says whose secret it is. Nothing protects it: hold it to the secret.
	PublicKey string `json:"pubkey"`
	Path      string `json:"path"`
	UUID      string `json:"uuid"`
	Version   int    `json:"version"`
}

// Crypto are the three modules of the EIP.
type Crypto struct {
	KDF      Module[KDFParams]    `json:"kdf"`
	Checksum Module[struct{}]     `json:"checksum"`
	Cipher   Module[CipherParams] `json:"cipher"`
}

// Module is a function with its parameters and what it made.
type Module[P any] struct {
	Function string `json:"function"`
	Params   P      `json:"params"`
	Message  string `json:"message"`
}

// KDFParams are those of scrypt (n, r, p) or of PBKDF2 (c, prf).
type KDFParams struct {
	DKLen int    `json:"dklen"`
	N     int    `json:"n,omitempty"`
	R     int    `json:"r,omitempty"`
	P     int    `json:"p,omitempty"`
	C     int    `json:"c,omitempty"`
	PRF   string `json:"prf,omitempty"`
	Salt  string `json:"salt"`
}

// CipherParams are those of AES-128-CTR.
type CipherParams struct {
	IV string `json:"iv"`
}

// Parse reads a document and bounds what opening it would cost. It needs no passphrase.
func Parse(raw []byte) (*File, error) {
	if len(raw) > FileBytesMax {
		return nil, fmt.Errorf("%w: %d bytes, at most %d", ErrForm, len(raw), FileBytesMax)
	}
	var f File
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&f); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrForm, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: text stands after the document", ErrForm)
	}
	if f.Version != version {
		return nil, fmt.Errorf("%w: version %d, want %d", ErrForm, f.Version, version)
	}
	_, err := f.parts()
	return &f, err
}

// parts are the decoded bytes of a document.
type parts struct {
	salt, checksum, iv, message []byte
}

// parts checks functions, lengths and costs.
func (f *File) parts() (p parts, err error) {
	k := &f.Crypto.KDF.Params
	decode := func(name, text string, least, most int) (b []byte) {
		if err != nil {
			return nil
		}
		if b, err = hex.DecodeString(text); err != nil {
			err = fmt.Errorf("%w: %s is not hex", ErrForm, name)
		} else if len(b) < least || len(b) > most {
			err = fmt.Errorf("%w: %s has %d bytes, want %d to %d", ErrForm, name, len(b), least, most)
		}
		return b
	}
	p.salt = decode("salt", k.Salt, saltBytesMin, saltBytesMax)
	p.checksum = decode("checksum", f.Crypto.Checksum.Message, sha256.Size, sha256.Size)
	p.iv = decode("iv", f.Crypto.Cipher.Params.IV, aes.BlockSize, aes.BlockSize)
	p.message = decode("cipher message", f.Crypto.Cipher.Message, 1, SecretBytesMax)
	switch {
	case err != nil:
		return parts{}, err
	case f.Crypto.Checksum.Function != "sha256" || f.Crypto.Cipher.Function != "aes-128-ctr" || f.Crypto.KDF.Message != "":
		return parts{}, fmt.Errorf("%w: checksum %q and cipher %q, want sha256 and aes-128-ctr", ErrForm, f.Crypto.Checksum.Function, f.Crypto.Cipher.Function)
	case k.DKLen != keyBytes:
		return parts{}, fmt.Errorf("%w: a derived key of %d bytes, want %d", ErrForm, k.DKLen, keyBytes)
	case f.Crypto.KDF.Function == "scrypt":
		return p, Cost{k.N, k.R, k.P}.check()
	case f.Crypto.KDF.Function != "pbkdf2" || k.PRF != "hmac-sha256" || k.C < 1:
		return parts{}, fmt.Errorf("%w: key derivation %q of %q with c %d", ErrForm, f.Crypto.KDF.Function, k.PRF, k.C)
	case k.C > pbkdf2RoundsMax:
		return parts{}, fmt.Errorf("%w: %d rounds of PBKDF2, at most %d", ErrCost, k.C, pbkdf2RoundsMax)
	}
	return p, nil
}

// Open returns the secret. The checksum is compared before anything is decrypted.
func (f *File) Open(passphrase []byte) ([]byte, error) {
	p, err := f.parts()
	if err != nil {
		return nil, err
	}
	normal, err := Normalize(passphrase)
	if err != nil {
		return nil, err
	}
	key, err := derive(normal, p.salt, f.Crypto.KDF.Function, f.Crypto.KDF.Params)
	if err != nil {
		return nil, err
	}
	defer clear(key)
	sum := checksum(key, p.message)
	if subtle.ConstantTimeCompare(sum[:], p.checksum) != 1 {
		return nil, ErrPassphrase
	}
	return crypt(key, p.iv, p.message)
}

// Seal returns the document of a secret.
func Seal(secret, passphrase []byte, cost Cost, publicKey, description string) (*File, error) {
	if len(secret) == 0 || len(secret) > SecretBytesMax {
		return nil, fmt.Errorf("a secret of %d bytes, want 1 to %d", len(secret), SecretBytesMax)
	}
	normal, err := Normalize(passphrase)
	if err == nil {
		err = cost.check()
	}
	if err != nil {
		return nil, err
	}
	var drawn [keyBytes + aes.BlockSize + 16]byte
	if _, err := rand.Read(drawn[:]); err != nil {
		return nil, fmt.Errorf("randomness: %w", err)
	}
	salt, iv, id := drawn[:keyBytes], drawn[keyBytes:keyBytes+aes.BlockSize], drawn[keyBytes+aes.BlockSize:]
	params := KDFParams{DKLen: keyBytes, N: cost.N, R: cost.R, P: cost.P, Salt: hex.EncodeToString(salt)}
	key, err := derive(normal, salt, "scrypt", params)
	if err != nil {
		return nil, err
	}
	defer clear(key)
	message, err := crypt(key, iv, secret)
	if err != nil {
		return nil, err
	}
	sum := checksum(key, message)
	return &File{
		Crypto: Crypto{
			KDF:      Module[KDFParams]{Function: "scrypt", Params: params},
			Checksum: Module[struct{}]{Function: "sha256", Message: hex.EncodeToString(sum[:])},
			Cipher:   Module[CipherParams]{"aes-128-ctr", CipherParams{hex.EncodeToString(iv)}, hex.EncodeToString(message)},
		},
		Description: description, PublicKey: publicKey, UUID: uuid([16]byte(id)), Version: version,
	}, nil
}

// Encode returns the document as a file has it.
func (f *File) Encode() ([]byte, error) {
	raw, err := json.MarshalIndent(f, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode keystore: %w", err)
	}
	return append(raw, '\n'), nil
}

// derive runs the key derivation, whose cost parts has bounded.
func derive(passphrase, salt []byte, function string, k KDFParams) ([]byte, error) {
	var key []byte
	var err error
	if function == "scrypt" {
		key, err = scrypt.Key(passphrase, salt, k.N, k.R, k.P, keyBytes)
	} else {
		key, err = pbkdf2.Key(sha256.New, string(passphrase), salt, k.C, keyBytes)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrForm, err)
	}
	return key, nil
}

// checksum is that of the second half of the key and the ciphertext.
func checksum(key, message []byte) [sha256.Size]byte {
	h := sha256.New()
	h.Write(key[16:32])
	h.Write(message)
	return [sha256.Size]byte(h.Sum(nil))
}

// crypt encrypts or decrypts with the first half of the key.
func crypt(key, iv, message []byte) ([]byte, error) {
	block, err := aes.NewCipher(key[:16])
	if err != nil {
		return nil, fmt.Errorf("aes: %w", err)
	}
	out := make([]byte, len(message))
	cipher.NewCTR(block, iv).XORKeyStream(out, message)
	return out, nil
}

// Normalize returns the bytes of a passphrase that a key is derived from: its
// compatibility decomposition (NFKD) without control characters, so that it is the same
// from every keyboard (EIP-2335, "Password requirements").
func Normalize(passphrase []byte) ([]byte, error) {
	if len(passphrase) > PassphraseBytesMax {
		return nil, fmt.Errorf("a passphrase of %d bytes, at most %d", len(passphrase), PassphraseBytesMax)
	}
	text := strings.ToValidUTF8(string(passphrase), "\uFFFD")
	if text != string(passphrase) {
		return nil, errors.New("the passphrase is not UTF-8")
	}
	text = strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r < 0xa0 { // C0, Delete, C1
			return -1
		}
		return r
	}, ucd.NFKD(text))
	if text == "" {
		return nil, ErrEmpty
	}
	return []byte(text), nil
}

// uuid writes random bytes as a version 4 UUID (RFC 4122 §4.4).
func uuid(b [16]byte) string {
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
