package main

import (
	"context"
	"errors"
	"io"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/crypto/secp256k1"
	"github.com/cowboy-foundation/cowboy/node/client"
)

type walletCommands struct {
	Create  walletCreate  `cmd:"" help:"Make a new key."`
	Import  walletImport  `cmd:"" help:"Bring an existing key."`
	Export  walletExport  `cmd:"" help:"Print the address, and with --reveal the private key."`
	Address walletAddress `cmd:"" help:"Print the address."`
	Balance walletBalance `cmd:"" help:"Print the balance."`
	Fund    walletFund    `cmd:"" help:"Ask a development network's faucet for funds."`
}

// savedReply tells where a key is.
type savedReply struct {
	Address string `json:"address"`
	KeyFile string `json:"key_file"`
	OldKey  string `json:"old_key_file,omitempty"`
}

// save writes a key to path or to the project's key file. An existing key is
// only moved aside, never lost.
func save(s *session, key *secp256k1.PrivateKey, path string, force bool) error {
	if path == "" {
		p, err := s.project()
		if err != nil {
			return err
		}
		if path, err = p.KeyPath(); err != nil {
			return err
		}
	}
	reply := savedReply{Address: client.AddressOf(key).String(), KeyFile: path}
	var err error
	if force {
		reply.OldKey, err = client.ReplaceKey(path, key)
	} else {
		err = client.WriteKey(path, key)
	}
	if errors.Is(err, client.ErrKeyExists) {
		return errors.New(err.Error() + ": choose another file with --output, or move it aside with --force")
	}
	if err != nil {
		return err
	}
	text := &lines{}
	text.add("Wallet address: %s", reply.Address)
	text.add("Private key saved to: %s (keep a copy: nobody can restore it)", path)
	if reply.OldKey != "" {
		text.add("Old private key moved to: %s", reply.OldKey)
	}
	return s.show(reply, text)
}

type walletCreate struct {
	Output string `placeholder:"FILE" help:"Key file to write; default: the project's."`
	Force  bool   `help:"Move an existing key file aside."`
}

// Help teaches the command.
func (walletCreate) Help() string {
	return "Example:\n\n    cowboy wallet create\n    cowboy wallet create --output keys/alice"
}

// Run makes the key.
func (c *walletCreate) Run(ctx context.Context, s *session) error {
	key, err := client.NewKey()
	if err != nil {
		return err
	}
	return save(s, key, c.Output, c.Force)
}

type walletImport struct {
	Hex    string `placeholder:"HEX" help:"The key as 64 hex digits. Other users of this machine may see it while the command runs."`
	File   string `placeholder:"FILE" help:"A key file."`
	Output string `placeholder:"FILE" help:"Key file to write; default: the project's."`
	Force  bool   `help:"Move an existing key file aside."`
}

// Help teaches the command.
func (walletImport) Help() string {
	return "Reads the key from stdin unless --hex or --file is given.\n\nExample:\n\n    cowboy wallet import < alice.hex\n    cowboy wallet import --file keys/alice"
}

// importMax bounds what is read from stdin: a key file is the largest form.
const importMax = 4 << 10

// Run brings the key.
func (c *walletImport) Run(ctx context.Context, s *session) error {
	if c.Hex != "" && c.File != "" {
		return usagef("give --hex or --file, not both")
	}
	key, err := c.read(s)
	if err != nil {
		return err
	}
	return save(s, key, c.Output, c.Force)
}

func (c *walletImport) read(s *session) (*secp256k1.PrivateKey, error) {
	if c.File != "" {
		return client.ReadKey(c.File)
	}
	text := c.Hex
	if text == "" {
		b, err := io.ReadAll(io.LimitReader(s.world.stdin, importMax))
		if err != nil {
			return nil, err
		}
		text = string(b)
		if strings.Contains(text, "-----BEGIN") {
			return client.DecodeKey(b)
		}
	}
	key, err := client.ParseKeyHex(text)
	return key, asUsage(err)
}

// Flags that name a key file of their own, beside the global --private-key.
type keyFlag struct {
	Key string `name:"key" placeholder:"FILE" help:"Key file to use instead of the configured one."`
}

func (f keyFlag) load(s *session) (*secp256k1.PrivateKey, error) {
	if f.Key != "" {
		return client.ReadKey(f.Key)
	}
	found, err := s.key()
	if err != nil {
		return nil, err
	}
	return found.Key, nil
}

func (f keyFlag) address(s *session) (chain.Address, error) {
	key, err := f.load(s)
	if err != nil {
		return chain.Address{}, err
	}
	return client.AddressOf(key), nil
}

type walletExport struct {
	keyFlag
	Reveal   bool `help:"Confirm that the private key may be printed."`
	NoPrefix bool `name:"no-prefix" help:"Print it without 0x."`
}

// Help teaches the command.
func (walletExport) Help() string {
	return "Whoever has the private key has the money: mind the screen, the shell's history and log files.\n\nExample:\n\n    cowboy wallet export --reveal"
}

// Run prints the private key.
func (c *walletExport) Run(ctx context.Context, s *session) error {
	key, err := c.load(s)
	if err != nil {
		return err
	}
	if !c.Reveal {
		// Callers of this executable run it without flags and read an address:
		// that works, and shows nothing that must stay secret.
		s.note("The private key is not shown: add --reveal if you mean it.")
		text := &lines{}
		text.add("Wallet address: %s", client.AddressOf(key))
		return s.show(map[string]string{"address": client.AddressOf(key).String()}, text)
	}
	secret := client.KeyHex(key)
	if c.NoPrefix {
		secret = strings.TrimPrefix(secret, "0x")
	}
	text := &lines{}
	text.add("%s", secret)
	return s.show(map[string]string{"address": client.AddressOf(key).String(), "private_key": secret}, text)
}
