package main

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/cowboy-foundation/cowboy/node/client"
)

type signHash struct {
	Hash string `required:"" placeholder:"0x…" help:"The 32 bytes to sign."`
}

// Help teaches the command.
func (signHash) Help() string {
	return "Signs what it is given without knowing what it means: sign no hash that you did not compute.\n\nExample:\n\n    cowboy transaction sign-hash --hash 0x…"
}

// signatureReply is the last line of sign-hash; v is the y parity, 0 or 1.
type signatureReply struct {
	R string `json:"r"`
	S string `json:"s"`
	V uint8  `json:"v"`
}

// Run prints the signature as JSON, with or without --json: clients parse the
// last line.
func (c *signHash) Run(ctx context.Context, s *session) error {
	hash, err := client.ParseHash(c.Hash)
	if err != nil {
		return usageError{err}
	}
	found, err := s.key()
	if err != nil {
		return err
	}
	sig := found.Key.Sign(hash)
	reply := signatureReply{R: fmt.Sprintf("0x%x", sig.R), S: fmt.Sprintf("0x%x", sig.S), V: sig.YParity}
	line, err := json.Marshal(reply)
	if err != nil {
		return fmt.Errorf("encode signature: %w", err)
	}
	text := &lines{}
	text.add("%s", line)
	return s.show(reply, text)
}
