package datadir

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/epoch"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/consensus/guard"
	"github.com/cowboy-foundation/cowboy/crypto/bls"
	"github.com/cowboy-foundation/cowboy/crypto/ed25519"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
)

// Keys are a validator's secrets: its identity, its own BLS key for the order
// proof, and its share of the threshold key (resolutions 1.6, 11.15). A full
// node has the identity only.
type Keys struct {
	Peer  *ed25519.PrivateKey
	Own   *bls.SecretKey
	Share bls.Share
	// Account is the key of the reward account, from which the node submits
	// evidence. Validators need not have it here: nil.
	Account *secp256k1.PrivateKey

	sealed bool   // they came from an encrypted file
	file   []byte // what save writes, where that is encrypted; nil: encode
}

// keysJSON is the file form. The file is readable by its owner only.
type keysJSON struct {
	Warning    string `json:"warning"`
	Peer       string `json:"peer_key"`
	Own        string `json:"bls_key,omitempty"`
	ShareIndex uint32 `json:"share_index,omitempty"`
	Share      string `json:"share,omitempty"`
	Account    string `json:"account_key,omitempty"`
}

// Validates reports whether the keys can vote.
func (k *Keys) Validates() bool { return k.Share.Key != nil }

const keysWarning = "secret keys of a validator: whoever has them can sign for it; never run two nodes with the same file"

const fullNodeWarning = "secret identity of a full node: whoever has it can pose as it; it cannot vote"

// ErrKeysExposed means that others can read the key file.
var ErrKeysExposed = errors.New("key file is readable by others: chmod 600 it")

// LoadKeys is [UnlockKeys] of a file in the clear.
func LoadKeys(dataDir string) (*Keys, error) { return UnlockKeys(dataDir, nil) }

func parseKeys(raw []byte) (*Keys, error) {
	var file keysJSON
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&file); err != nil {
		return nil, fmt.Errorf("parse keys: %w", err)
	}
	peer, err := hex.DecodeString(file.Peer)
	if err != nil {
		return nil, errors.New("peer_key is not hex")
	}
	own, err := hex.DecodeString(file.Own)
	if err != nil {
		return nil, errors.New("bls_key is not hex")
	}
	share, err := hex.DecodeString(file.Share)
	if err != nil {
		return nil, errors.New("share is not hex")
	}
	k := &Keys{}
	if k.Peer, err = ed25519.NewPrivateKey(peer); err != nil {
		return nil, fmt.Errorf("peer_key: %w", err)
	}
	if len(own) == 0 && len(share) == 0 {
		return k, nil
	}
	if k.Own, err = bls.ParseSecretKey(own); err != nil {
		return nil, fmt.Errorf("bls_key: %w", err)
	}
	secret, err := bls.ParseSecretKey(share)
	if err != nil {
		return nil, fmt.Errorf("share: %w", err)
	}
	k.Share = bls.Share{Index: file.ShareIndex, Key: secret}
	if file.Account == "" {
		return k, nil
	}
	account, err := hex.DecodeString(file.Account)
	if err != nil {
		return nil, errors.New("account_key is not hex")
	}
	if k.Account, err = secp256k1.ParsePrivateKey(account); err != nil {
		return nil, fmt.Errorf("account_key: %w", err)
	}
	return k, nil
}

// Encode returns the file form, in the clear.
func (k *Keys) Encode() ([]byte, error) {
	peer := k.Peer.Seed()
	file := keysJSON{Warning: fullNodeWarning, Peer: hex.EncodeToString(peer[:])}
	if k.Validates() {
		own, share := k.Own.Bytes(), k.Share.Key.Bytes()
		file.Warning, file.Own = keysWarning, hex.EncodeToString(own[:])
		file.ShareIndex, file.Share = k.Share.Index, hex.EncodeToString(share[:])
		if k.Account != nil {
			account := k.Account.Bytes()
			file.Account = hex.EncodeToString(account[:])
		}
	}
	raw, err := json.MarshalIndent(file, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("encode keys: %w", err)
	}
	return append(raw, '\n'), nil
}

// Save writes the key file, which must not exist yet.
func (k *Keys) Save(dataDir string) error {
	raw := k.file
	if raw == nil {
		var err error
		if raw, err = k.Encode(); err != nil {
			return err
		}
	}
	return WriteNew(filepath.Join(dataDir, KeysFile), raw, 0o600)
}

// Remember makes the memory of what a validator's new key signs: nothing yet.
func (k *Keys) Remember(dataDir string, g *genesis.Genesis) error {
	if !k.Validates() {
		return nil
	}
	return guard.Create(dataDir, GuardIdentity(g, k))
}

// WriteNew writes a file that must not exist and syncs it and its folder.
func WriteNew(name string, content []byte, mode fs.FileMode) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return fmt.Errorf("create file: %w", err)
	}
	_, err = f.Write(content)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	dir, err := os.Open(filepath.Dir(name))
	if err != nil {
		return fmt.Errorf("open folder: %w", err)
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Validator returns the public record of the keys (resolution 11.42).
func (k *Keys) Validator(stake chain.Wei, reward chain.Address) chain.Validator {
	return chain.Validator{
		PeerKey:       chain.PeerKey(k.Peer.PublicKey()),
		BLSKey:        k.Own.PublicKey().Bytes(),
		BLSPossession: k.Own.ProvePossession(),
		ShareIndex:    k.Share.Index,
		PublicShare:   k.Share.Key.PublicKey().Bytes(),
		Stake:         stake,
		RewardAddress: reward,
	}
}

// CheckAgainst reports whether the keys belong to a validator of the genesis,
// or to a full node.
func (k *Keys) CheckAgainst(g *genesis.Genesis) error {
	first := epoch.First(g)
	for _, v := range first.Validators {
		if v.PeerKey != chain.PeerKey(k.Peer.PublicKey()) {
			continue
		}
		switch {
		case !k.Validates():
			return errors.New("peer_key is a validator's, but bls_key and share are missing")
		case v.BLSKey != k.Own.PublicKey().Bytes():
			return errors.New("bls_key is not the one the genesis names for this validator")
		case v.ShareIndex != k.Share.Index || v.PublicShare != k.Share.Key.PublicKey().Bytes():
			return errors.New("share is not the one the genesis names for this validator")
		case k.Account != nil && k.Account.PublicKey().Address() != v.RewardAddress:
			return errors.New("account_key is not that of the reward address in the genesis")
		}
		return nil
	}
	if !k.Validates() {
		if len(first.Validators) == 1 {
			return errors.New("a chain of one validator has no mesh that a full node could follow")
		}
		return nil
	}
	return errors.New("peer_key is not among the genesis validators")
}
