package main

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/node/datadir"
	"github.com/cowboy-foundation/cowboy/node/keystore"
)

type keysCommand struct {
	Show    keysShowCommand    `cmd:"" help:"Say whose keys a folder has and whether they are encrypted. Asks for no passphrase and prints no secret."`
	Encrypt keysEncryptCommand `cmd:"" help:"Put keys.json under a passphrase, as every chain but a development chain asks for. The file keeps its name; the form is EIP-2335 (scrypt, AES-128-CTR)."`
	Decrypt keysDecryptCommand `cmd:"" help:"Put keys.json in the clear again, to give it another passphrase or to use it on a development chain."`
}

type keysShowCommand struct {
	Data string `help:"Data folder with keys.json." required:"" type:"existingdir" placeholder:"DIR"`
	JSON bool   `name:"json" help:"Print JSON."`
}

// shownKeys is what is said of a key file.
type shownKeys struct {
	PeerKey   string         `json:"peer_key"`
	Encrypted bool           `json:"encrypted"`
	Votes     *bool          `json:"votes,omitempty"` // of a file in the clear
	Scrypt    *keystore.Cost `json:"scrypt,omitempty"`
}

// Run prints what the file tells.
func (c *keysShowCommand) Run() error {
	info, err := datadir.ShowKeys(c.Data)
	if err != nil {
		return err
	}
	shown := shownKeys{PeerKey: "0x" + hex.EncodeToString(info.Peer[:]), Encrypted: info.Sealed}
	if !info.Sealed {
		shown.Votes = &info.Votes
	} else if info.Cost.N > 0 {
		shown.Scrypt = &info.Cost
	}
	if c.JSON {
		raw, err := json.MarshalIndent(shown, "", "  ")
		if err != nil {
			return fmt.Errorf("encode: %w", err)
		}
		fmt.Println(string(raw))
		return nil
	}
	fmt.Println("peer key ", shown.PeerKey)
	switch {
	case !info.Sealed && info.Votes:
		fmt.Println("in clear  keys of a validator: any copy of keys.json can sign for it; cowboyd keys encrypt")
	case !info.Sealed:
		fmt.Println("in clear  identity of a full node; cowboyd keys encrypt")
	case info.Cost.N > 0:
		fmt.Printf("encrypted scrypt n %d, r %d, p %d: %d MiB for each passphrase that is tried\n", info.Cost.N, info.Cost.R, info.Cost.P, 128*info.Cost.N*info.Cost.R>>20)
	default:
		fmt.Println("encrypted pbkdf2, by another program: keys decrypt and encrypt makes it scrypt, which costs a thief more")
	}
	return nil
}

type keysEncryptCommand struct {
	Data string `help:"Data folder of a stopped node." required:"" type:"existingdir" placeholder:"DIR"`
	passphraseFlags
}

// Run encrypts the file in place.
func (c *keysEncryptCommand) Run() error {
	source := c.source(true)
	if source == nil {
		return errNoPassphrase
	}
	if info, err := datadir.ShowKeys(c.Data); err != nil {
		return err
	} else if info.Sealed {
		return datadir.ErrKeysSealed
	}
	passphrase, err := source()
	if err != nil {
		return err
	}
	defer clear(passphrase)
	if err := datadir.EncryptKeys(c.Data, passphrase, keystore.DefaultCost()); err != nil {
		return err
	}
	fmt.Printf("keys.json is encrypted. Without the passphrase it is lost: keep both, apart from each other.\n"+
		"The disk may still hold what the file was: for keys of value make the folder on a fresh or encrypted disk.\n"+
		"Start with\n  cowboyd run --data %s --passphrase-file FILE\n", c.Data)
	return nil
}

type keysDecryptCommand struct {
	Data string `help:"Data folder of a stopped node." required:"" type:"existingdir" placeholder:"DIR"`
	passphraseFlags
}

// Run decrypts the file in place.
func (c *keysDecryptCommand) Run() error {
	source := c.source(false)
	if source == nil {
		return errNoPassphrase
	}
	if err := datadir.DecryptKeys(c.Data, source); err != nil {
		return err
	}
	fmt.Println("keys.json is in the clear: a node starts with it on a development chain alone")
	return nil
}

// errNoPassphrase means that there is neither a flag nor a terminal.
var errNoPassphrase = errors.New("no passphrase: give --passphrase-file FILE or --passphrase-fd N, or run it at a terminal, which asks")
