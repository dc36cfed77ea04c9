package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

// session is what one command works with. It opens things when they are first
// asked for, so that a command needs no node or key that it does not use.
type session struct {
	world world
	flags *commandLine

	opened *client.Project
	node   *client.Client
}

// project returns the project folder and its settings.
func (s *session) project() (*client.Project, error) {
	if s.opened == nil {
		p, err := client.FindProject(s.flags.Dir)
		if err != nil {
			return nil, err
		}
		s.opened = p
	}
	return s.opened, nil
}

// api returns the client of the node to ask.
func (s *session) api() (*client.Client, error) {
	if s.node != nil {
		return s.node, nil
	}
	p, err := s.project()
	if err != nil {
		return nil, err
	}
	cfg := client.DefaultConfig()
	if cfg.URL, err = p.NodeURL(s.flags.RPCURL, s.world.env("COWBOY_RPC_URL")); err != nil {
		return nil, err
	}
	if s.node, err = client.New(cfg); err != nil {
		return nil, usageError{err}
	}
	return s.node, nil
}

// ask returns what the arguments say a command is about, and the node to ask about
// it.
func ask[T any](s *session, about func() (T, error)) (what T, api *client.Client, err error) {
	if what, err = about(); err != nil {
		return what, nil, err
	}
	api, err = s.api()
	return what, api, err
}

// key returns the private key to sign with and warns if others can read it.
func (s *session) key() (*client.FoundKey, error) {
	p, err := s.project()
	if err != nil {
		return nil, err
	}
	found, err := p.Key(s.flags.PrivateKey, s.world.env("COWBOY_PRIVATE_KEY"))
	if err != nil {
		return nil, err
	}
	if found.File != "" && client.KeyExposed(found.File) {
		s.note("warning: others can read %s: run `chmod 600 %s`", found.File, found.File)
	}
	return found, nil
}

// addressOr returns the address in text, or that of the own key if it is empty.
func (s *session) addressOr(text string) (chain.Address, error) {
	if text != "" {
		addr, err := client.ParseAddress(text)
		if err != nil {
			return addr, usageError{err}
		}
		return addr, nil
	}
	found, err := s.key()
	if err != nil {
		return chain.Address{}, err
	}
	return client.AddressOf(found.Key), nil
}

// note tells a person something on stderr, where no program parses it.
func (s *session) note(format string, args ...any) {
	fmt.Fprintln(s.world.stderr, harmless(fmt.Sprintf(format, args...)))
}

// lines collects the text form of an answer.
type lines struct{ bytes.Buffer }

func (l *lines) add(format string, args ...any) {
	fmt.Fprintf(l, format+"\n", args...)
}

// show prints an answer: reply in one line of JSON, or the text.
func (s *session) show(reply any, text *lines) error {
	out := []byte(harmless(text.String()))
	if s.flags.JSON {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(reply); err != nil {
			return fmt.Errorf("encode answer: %w", err)
		}
		out = b.Bytes()
	}
	if _, err := s.world.stdout.Write(out); err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	return nil
}

// accountOrEmpty returns an account, and an empty one where the chain has none
// yet: to a person that is a balance of 0, not an error.
func (s *session) accountOrEmpty(ctx context.Context, addr chain.Address) (*rpc.AccountReply, error) {
	api, err := s.api()
	if err != nil {
		return nil, err
	}
	account, err := api.Account(ctx, addr)
	if client.IsCode(err, rpc.CodeUnknownAccount) {
		return &rpc.AccountReply{Address: addr.String()}, nil
	}
	if err != nil {
		return nil, err
	}
	return account, nil
}

// exactlyOne returns the one of two spellings of an argument that is given:
// after the command or as a flag.
func exactlyOne(name, positional, flag string) (string, error) {
	switch {
	case positional != "" && flag != "" && positional != flag:
		return "", usagef("%s is given twice: as an argument and with --%s", name, name)
	case positional != "":
		return positional, nil
	case flag != "":
		return flag, nil
	default:
		return "", usagef("%s is missing", name)
	}
}

// atMostOne is exactlyOne with nothing allowed.
func atMostOne(name, positional, flag string) (string, error) {
	if positional == "" && flag == "" {
		return "", nil
	}
	return exactlyOne(name, positional, flag)
}

// asUsage marks an error of parsing an argument.
func asUsage(err error) error {
	var usage usageError
	if err == nil || errors.As(err, &usage) {
		return err
	}
	return usageError{err}
}

// cby spells an amount for people.
func cby(w chain.Wei) string { return rpc.FormatCBY(w) + " CBY" }
