package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/genesis"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/light"
	"github.com/cowboy-foundation/cowboy/state"
)

type proofCommands struct {
	Get    proofGet     `cmd:"" help:"Fetch a proof from a node."`
	Verify proofVerify  `cmd:"" help:"Check a proof offline, with the genesis file alone."`
	Decode proofAccount `cmd:"" name:"decode-account" help:"Show the fields of an account as the state keeps it."`
}

type proofGet struct {
	Header  proofHeader  `cmd:"" help:"That a block is final."`
	Account proofOfOne   `cmd:"" help:"An account, or that there is none."`
	Storage proofStorage `cmd:"" help:"A storage value, or that there is none."`
	Tx      proofTx      `cmd:"" help:"That a transaction is in a final block."`
	Receipt proofReceipt `cmd:"" help:"How a transaction of a final block ended."`
	Multi   proofMulti   `cmd:"" help:"Several accounts and storage values in one proof."`
}

// proofFlags say where a proof goes and whether it is checked at once.
type proofFlags struct {
	Out     string `short:"o" placeholder:"FILE" help:"File to write; default: stdout."`
	Genesis string `placeholder:"FILE" help:"Verify the answer with this genesis file before it is written."`
}

// gotReply is what proof get prints as JSON if the proof goes to a file.
type gotReply struct {
	File     string     `json:"file"`
	Bytes    int        `json:"bytes"`
	Verified bool       `json:"verified"`
	Proof    *provenFor `json:"proof,omitempty"` // if verified
}

// fetch asks for a proof and writes it. A proof that does not verify, or answers
// another question, is not written.
func (f *proofFlags) fetch(ctx context.Context, s *session, q *light.Query) error {
	var v *light.Verifier
	if f.Genesis != "" {
		var err error
		if v, err = readVerifier(f.Genesis); err != nil {
			return err
		}
	}
	api, err := s.api()
	if err != nil {
		return err
	}
	reply := gotReply{File: f.Out, Verified: v != nil}
	var text []byte
	if v == nil {
		text, err = api.Prove(ctx, q)
	} else {
		var shown *light.Shown
		if shown, text, err = api.Proven(ctx, v, q); err == nil {
			reply.Proof = proven(shown)
		}
	}
	if err != nil {
		return err
	}
	if f.Out == "" {
		_, err := s.world.stdout.Write(text)
		return err
	}
	if err := client.Overwrite(f.Out, text, 0o644); err != nil {
		return fmt.Errorf("write proof: %w", err)
	}
	reply.Bytes = len(text)
	said := &lines{}
	said.add("Proof saved to: %s (%d bytes)", f.Out, len(text))
	if v == nil {
		said.add("Not verified yet: cowboy proof verify %s --genesis FILE", f.Out)
	} else {
		said.Write(provenText(reply.Proof).Bytes())
	}
	return s.show(reply, said)
}

type proofHeader struct {
	Height string `arg:"" default:"latest" help:"Height of the block, or latest."`
	proofFlags
}

// Help teaches the command.
func (proofHeader) Help() string {
	return "Examples:\n\n    cowboy proof get header 12 --out block12.json\n    cowboy proof get header latest"
}

// Run fetches the proof.
func (c *proofHeader) Run(ctx context.Context, s *session) error {
	q := &light.Query{Kind: light.KindHeader} // of the newest block
	if c.Height != "latest" {
		height, err := strconv.ParseUint(c.Height, 10, 64)
		if err != nil || height == 0 {
			return usagef("%q is no height: give a number from 1 on, or latest", c.Height)
		}
		q.Height = chain.Height(height)
	}
	return c.fetch(ctx, s, q)
}

type proofOfOne struct {
	accountRef
	proofFlags
}

// Help teaches the command.
func (proofOfOne) Help() string {
	return "Of an account that does not exist it fetches the proof of that.\n\nExample:\n\n    cowboy proof get account 0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a --out alice.json --genesis genesis.json"
}

// Run fetches the proof.
func (c *proofOfOne) Run(ctx context.Context, s *session) error {
	addr, err := c.resolve(s)
	if err != nil {
		return err
	}
	return c.fetch(ctx, s, &light.Query{Kind: light.KindAccount, Accounts: []light.AccountQuery{{Address: addr}}})
}

type proofStorage struct {
	Address string `arg:"" help:"The account."`
	Slot    string `arg:"" help:"Hex of the namespace byte (00 system, 01 program) and the key."`
	proofFlags
}

// Help teaches the command.
func (proofStorage) Help() string {
	return "The slot is what a program calls its key, behind one byte: 01 for keys of programs, 00 for those of the protocol.\n\nExample:\n\n    cowboy proof get storage 0x0000000000000000000000000000000000000008 0x00737570706c79 --out supply.json"
}

// Run fetches the proof.
func (c *proofStorage) Run(ctx context.Context, s *session) error {
	ask, err := parseAsk(c.Address + ":" + c.Slot)
	if err != nil {
		return err
	}
	return c.fetch(ctx, s, &light.Query{Kind: light.KindStorage, Accounts: []light.AccountQuery{ask}})
}

type proofTx struct {
	Hash string `arg:"" help:"Hash of the transaction."`
	proofFlags
}

// Help teaches the command.
func (proofTx) Help() string { return "Example:\n\n    cowboy proof get tx 0x… --out payment.json" }

// Run fetches the proof.
func (c *proofTx) Run(ctx context.Context, s *session) error {
	return c.getListed(ctx, s, light.KindTransaction, c.Hash)
}

type proofReceipt struct {
	Hash string `arg:"" help:"Hash of the transaction."`
	proofFlags
}

// Help teaches the command.
func (proofReceipt) Help() string {
	return "A receipt says whether the transaction succeeded, what it cost and which events it had.\n\nExample:\n\n    cowboy proof get receipt 0x… --out result.json"
}

// Run fetches the proof.
func (c *proofReceipt) Run(ctx context.Context, s *session) error {
	return c.getListed(ctx, s, light.KindReceipt, c.Hash)
}

func (f *proofFlags) getListed(ctx context.Context, s *session, kind light.Kind, text string) error {
	hash, err := client.ParseHash(text)
	if err != nil {
		return usageError{err}
	}
	return f.fetch(ctx, s, &light.Query{Kind: kind, TxHash: hash})
}

type proofMulti struct {
	What []string `arg:"" name:"account" help:"An address, or an address with slots: ADDRESS:SLOT,SLOT."`
	proofFlags
}

// Help teaches the command.
func (proofMulti) Help() string {
	return "All values are of one block, and trie nodes that they share are sent once.\n\nExample:\n\n    cowboy proof get multi 0x19e7e376e7c213b7e7e7e46cc70a5dd086daff2a 0x0000000000000000000000000000000000000008:0x00737570706c79 --out all.json"
}

// Run fetches the proof.
func (c *proofMulti) Run(ctx context.Context, s *session) error {
	q := &light.Query{Kind: light.KindMulti}
	for _, text := range c.What {
		ask, err := parseAsk(text)
		if err != nil {
			return err
		}
		q.Accounts = append(q.Accounts, ask)
	}
	return c.fetch(ctx, s, q)
}

// parseAsk reads ADDRESS or ADDRESS:SLOT,SLOT.
func parseAsk(text string) (light.AccountQuery, error) {
	addressText, slots, some := strings.Cut(text, ":")
	addr, err := client.ParseAddress(addressText)
	if err != nil {
		return light.AccountQuery{}, usageError{err}
	}
	ask := light.AccountQuery{Address: addr}
	if !some {
		return ask, nil
	}
	for _, digits := range strings.Split(slots, ",") {
		b, err := unhex(digits)
		if err != nil || len(b) == 0 {
			return ask, usagef("%q is no slot: give hex of the namespace byte and the key, like 0x00737570706c79", digits)
		}
		ask.Slots = append(ask.Slots, state.StorageKey(b))
	}
	return ask, nil
}

type proofVerify struct {
	File    string `arg:"" help:"The proof; - is stdin."`
	Genesis string `required:"" placeholder:"FILE" help:"Genesis file of the chain. Have it from someone you trust: all else follows from it."`
}

// Help teaches the command.
func (proofVerify) Help() string {
	return `Asks no node. It checks the block's certificate under the group key of the genesis, then each trie node from the block's header to the value, and prints what is proven. If one byte was altered it says what does not fit and exits with code 1.

It proves what the chain said after that block, not that the block is the newest: compare the height.

Example:

    cowboy proof verify alice.json --genesis genesis.json
    cowboy --json proof verify alice.json --genesis genesis.json`
}

// Run checks the proof.
func (c *proofVerify) Run(ctx context.Context, s *session) error {
	v, err := readVerifier(c.Genesis)
	if err != nil {
		return err
	}
	var text []byte
	if c.File == "-" {
		text, err = readBounded(s.world.stdin)
	} else {
		text, err = readFileBounded(c.File)
	}
	if err != nil {
		return fmt.Errorf("read proof: %w", err)
	}
	shown, err := v.Verify(text)
	if err != nil {
		return fmt.Errorf("%s proves nothing: %w", c.File, err)
	}
	reply := proven(shown)
	return s.show(reply, provenText(reply))
}

func readVerifier(file string) (*light.Verifier, error) {
	text, err := readFileBounded(file)
	if err != nil {
		return nil, fmt.Errorf("read genesis: %w", err)
	}
	g, err := genesis.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return light.NewVerifier(g)
}

func readFileBounded(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readBounded(f)
}

func readBounded(r io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(r, light.DocumentBytesMax+1))
	if err == nil && len(text) > light.DocumentBytesMax {
		err = light.ErrTooLarge
	}
	return text, err
}

type proofAccount struct {
	Leaf string `arg:"" help:"Hex of the account, such as the value of an account proof."`
}

// Help teaches the command.
func (proofAccount) Help() string {
	return "An account is an RLP list of nonce, balance, storage root and code hash, as in Ethereum. One with storage or metadata has a fifth string, which strict Ethereum decoders refuse: size of the storage in bytes and entries, then the metadata.\n\nExample:\n\n    cowboy proof decode-account 0xf84c80…"
}

// Run shows the fields.
func (c *proofAccount) Run(ctx context.Context, s *session) error {
	b, err := unhex(c.Leaf)
	if err != nil {
		return usagef("the account is not hex")
	}
	a, err := state.DecodeAccount(bytes.Clone(b))
	if err != nil {
		return errors.New("this is no account of the state: " + err.Error())
	}
	reply := provenAccountOf(&light.ShownAccount{Exists: true, Account: a})
	text := &lines{}
	reply.fields(text)
	return s.show(reply.Fields, text)
}
