package token

import (
	"encoding/hex"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/exec/service"
	"github.com/cowboy-foundation/cowboy/exec/verdict"
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
func (t *transferOf) payload(id ID) []byte {
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
func (c *Call) asked(id ID, t transferOf, move func() error) error {
	rec, err := Read(c.State, id)
	if err != nil {
		return err
	}
	if rec == nil {
		return ErrNoToken
	}
	if rec.Hooks != nil {
		answer, err := c.hook(*rec.Hooks, hookAsk, t.payload(id))
		if err != nil {
			return err
		}
		if string(answer) != string(cborTrue) {
			return verdict.New(verdict.Hook, "the token's hook does not agree")
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
	return c.emit(EventTransfer, chain.AppendAmount(data, t.amount))
}

// hook calls a handler of the hooks actor within what the specification caps it
// at, the body of its program included (whitepaper §17.3).
func (c *Call) hook(to chain.Address, handler string, payload []byte) ([]byte, error) {
	return c.Run.Ask(&service.Question{
		From: chain.AddrTokens, To: to, Handler: handler, Payload: payload, Most: c.Params.Token.HookMaxCycles,
		Who: "the token's hook", Failed: verdict.Hook,
	})
}
