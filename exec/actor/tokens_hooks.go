package actor

import (
	"encoding/hex"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/token"
)

// The handlers of a hooks actor, both of which it has. The first agrees by
// returning True; the second is told and only has to end.
const (
	hookAsk  = "can_transfer"
	hookTell = "on_transfer"
)

var cborTrue = []byte{0xf5}

// transferOf is what hooks are asked about.
type transferOf struct {
	from, to chain.Address
	amount   chain.Amount
}

// payload is the canonical dict of amount, from, to and token, as a program
// sees them: addresses and ids are text.
func (t *transferOf) payload(id token.ID) []byte {
	text := func(b []byte) string { return "0x" + hex.EncodeToString(b) }
	b := cbor.AppendMap(make([]byte, 0, 224), 4)
	b = cbor.AppendText(cbor.AppendText(b, "to"), text(t.to[:]))
	b = cbor.AppendText(cbor.AppendText(b, "from"), text(t.from[:]))
	b = cbor.AppendText(cbor.AppendText(b, "token"), text(id[:]))
	return appendPythonInt(cbor.AppendText(b, "amount"), t.amount)
}

// appendPythonInt writes an amount as package values does: beyond 64 bits it is a
// bignum (RFC 8949 §3.4.3).
func appendPythonInt(dst []byte, n chain.Amount) []byte {
	if n.Hi != 0 {
		dst = append(dst, 0xc2)
	}
	return chain.AppendAmount(dst, n)
}

// asked moves tokens with the agreement of the token's hooks, and tells them.
// What a hook changed before the move counts: move reads the state afresh, and
// nothing is read after it.
func (c *TokenCall) asked(id token.ID, t transferOf, move func() error) error {
	rec, err := token.Read(c.run.state, id)
	if err != nil {
		return err
	}
	if rec == nil {
		return token.ErrNoToken
	}
	if rec.Hooks != nil {
		answer, err := c.hook(*rec.Hooks, hookAsk, t.payload(id))
		if err != nil {
			return err
		}
		if string(answer) != string(cborTrue) {
			return &host.Refusal{Code: host.RefusedFailed, Text: "the token's hook does not agree"}
		}
	}
	if err := move(); err != nil {
		return err
	}
	if rec.Hooks != nil {
		if _, err := c.hook(*rec.Hooks, hookTell, t.payload(id)); err != nil {
			return err
		}
	}
	data := cbor.AppendBytes(cbor.AppendBytes(record(3, id), t.from[:]), t.to[:])
	return c.emit(EventTokenTransfer, chain.AppendAmount(data, t.amount))
}

// hook calls a handler of the hooks actor within what the specification caps it
// at, the body of its program included (whitepaper §17.3). The first use of its code
// in the block comes on top, up to actor_limits.load_cycles.
func (c *TokenCall) hook(to chain.Address, handler string, payload []byte) ([]byte, error) {
	p := &c.run.block.Params.Actor
	if c.depth > p.CallDepth {
		return nil, &host.Refusal{Code: host.RefusedReentrancy, Text: "calls are nested too deep"}
	}
	l, err := ReadLedger(c.run.state, to)
	if err != nil {
		return nil, err
	}
	e := Envelope{From: chain.AddrTokens, To: to, Handler: handler, Payload: payload, Depth: c.depth, Parent: c.parent}
	most := c.run.block.Params.Token.HookMaxCycles
	v, err := c.run.handle(&e, min(most, l.Left(p, c.run.block.Height)), min(c.left, most+p.LoadCycles))
	if err != nil {
		return nil, err
	}
	c.used += v.used
	c.left -= v.used
	switch v.code {
	case chain.CodeOK:
		return v.output, nil
	case chain.CodeCellsExhausted: // a limit of the run, not of the hook
		return nil, &Trap{v.code, "cells limit reached in a token's hook"}
	}
	if v.cold {
		return nil, &host.Refusal{Code: host.RefusedLimit, Text: "the token's hook: " + v.detail}
	}
	return nil, &host.Refusal{Code: host.RefusedFailed, Text: "the token's hook failed: " + chain.CodeName(v.code)}
}
