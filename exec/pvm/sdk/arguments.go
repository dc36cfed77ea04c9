package sdk

import (
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// call is a native with its session and its arguments, put into positions.
type call struct {
	m *vm.Machine
	s *Session
	a vm.Args
}

// native wraps a function that needs a session. Arguments after least are
// optional.
func native(name string, least int, params string, fn func(c call) (vm.Value, error)) vm.Def {
	// Bounded: by the parameters in the source; once, when the library is loaded.
	p := strings.Fields(params)
	return vm.Def{Name: name, Min: least, Max: len(p), Params: p, Fn: func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		s, err := of(m)
		if err != nil {
			return vm.None, err
		}
		if u, ok := s.host.(host.Undoing); ok {
			u.Begin()
			defer u.End()
		}
		return fn(call{m, s, a})
	}}
}

// arg returns argument i, None when it is absent.
func (c call) arg(i int) vm.Value {
	if i < len(c.a.Values) && c.a.Values[i].Bound() {
		return c.a.Values[i]
	}
	return vm.None
}

// text returns argument i, a str of 1 to most bytes in NFC. The machine makes no text that
// is not UTF-8; here it would go into records that nobody could read.
func (c call) text(i, most int, what string) (string, error) {
	s, ok := c.arg(i).Text()
	if !ok {
		return "", c.m.TypeError("%s must be str, not %s", what, c.m.TypeName(c.arg(i)))
	}
	c.m.ChargeEach(len(s), c.m.Prices().Char)
	if !utf8.ValidString(s) {
		return "", c.m.ValueError("%s is not UTF-8", what)
	}
	s = c.m.NFC(s)
	if len(s) == 0 || len(s) > most {
		return "", c.m.ValueError("%s must have 1 to %d bytes", what, most)
	}
	return s, nil
}

// key returns argument i as a key of storage.
func (c call) key(i int) (string, error) { return c.text(i, c.s.limits.KeyBytes, "storage key") }

// nameArg returns argument i as the name of a handler or the like.
func (c call) nameArg(i int, what string) (string, error) {
	return c.text(i, c.s.limits.NameBytes, what)
}

// unsigned returns argument i, an int of 0 to 2**64-1; absent is None.
func (c call) unsigned(i int, what string) (uint64, error) {
	v := c.arg(i)
	if v.IsNone() {
		return 0, nil
	}
	n, ok := v.BigInt()
	if !ok || v.Kind() == vm.KindBool {
		return 0, c.m.TypeError("%s must be int, not %s", what, c.m.TypeName(v))
	}
	if !n.IsUint64() {
		return 0, c.m.ValueError("%s must be between 0 and 2**64-1", what)
	}
	return n.Uint64(), nil
}

// address returns argument i: "0x" and 40 hexadecimal digits, or 20 bytes.
func (c call) address(i int) (chain.Address, error) {
	var a chain.Address
	v := c.arg(i)
	if v.BytesLen() == len(a) {
		copy(a[:], v.BytesPart(0, len(a)))
		return a, nil
	}
	if s, ok := v.Text(); ok && len(s) == 2+2*len(a) && s[:2] == "0x" {
		if _, err := hex.Decode(a[:], []byte(s[2:])); err == nil {
			return a, nil
		}
	}
	if _, ok := v.Text(); !ok && v.Kind() != vm.KindBytes {
		return a, c.m.TypeError("an address must be str or bytes, not %s", c.m.TypeName(v))
	}
	return a, c.m.ValueError("an address is '0x' and 40 hexadecimal digits, or 20 bytes")
}

// id returns argument i: the text that named a timer or a job, or 32 bytes.
func (c call) id(i int) (host.ID, error) {
	var id host.ID
	v := c.arg(i)
	if v.BytesLen() == len(id) {
		copy(id[:], v.BytesPart(0, len(id)))
		return id, nil
	}
	if s, ok := v.Text(); ok && len(s) == 2+2*len(id) && s[:2] == "0x" {
		if _, err := hex.Decode(id[:], []byte(s[2:])); err == nil {
			return id, nil
		}
	}
	return id, c.m.ValueError("an identifier is '0x' and 64 hexadecimal digits, or 32 bytes")
}

// buffer returns a copy of argument i, bytes or bytearray of at most so many, and charges
// for all of it. What is longer is refused for its length, so no more than one byte beyond
// is copied.
func (c call) buffer(i, most int, what string) ([]byte, error) {
	v := c.arg(i)
	if !v.IsBytes() {
		return nil, c.m.TypeError("%s must be bytes, not %s", what, c.m.TypeName(v))
	}
	c.m.ChargeEach(v.BytesLen()/int(c.m.Work().KindBytes), c.m.Prices().Char)
	n := min(v.BytesLen(), most+1)
	if b, ok := v.MutableBytes(); ok {
		// Paid: by the charge above, a cycle for KindBytes.
		return slices.Clone(b[:n]), nil
	}
	return []byte(v.BytesPart(0, n)), nil
}

// bytes returns a copy of argument i, of any length, after the charge for each byte.
func (c call) bytes(i int, what string, each code.Cycles) ([]byte, error) {
	n := c.arg(i).BytesLen()
	c.m.ChargeEach(n, each)
	return c.buffer(i, n, what)
}

// hexText is how identifiers and addresses look to a program.
func (c call) hexText(b []byte) vm.Value { return c.m.NewStr("0x" + hex.EncodeToString(b)) }

// unsignedValue is an int of 64 bits without sign.
func (c call) unsignedValue(n uint64) vm.Value { return uintValue(c.m, n) }

// addressOrSelf returns argument i, the actor's own address for None.
func (c call) addressOrSelf(i int) (chain.Address, error) {
	if c.arg(i).IsNone() {
		return c.s.env.Self, nil
	}
	return c.address(i)
}

// done turns an error of the host into an exception.
func (c call) done(err error) error {
	if err != nil {
		return c.s.refuse(c.m, err)
	}
	return nil
}

// truth is the answer of a host that says yes or no.
func (c call) truth(ok bool, err error) (vm.Value, error) {
	return vm.Bool(ok), c.done(err)
}

// field is an entry of a record.
type field struct {
	name  string
	value vm.Value
}

// makeDict makes a dict. The values are held here, since nothing else does.
func (c call) makeDict(fields []field) (vm.Value, error) {
	mark := c.m.Hold(vm.None)
	// Bounded: by the fields in the source, some ten; the calls of the host that made the record cost 100 cycles at least.
	for _, f := range fields {
		c.m.Hold(f.value)
	}
	d := c.m.NewDict()
	c.m.Hold(d.Value())
	// Bounded: likewise.
	for _, f := range fields {
		if err := c.m.DictPut(d, c.m.NewStr(f.name), f.value); err != nil {
			return vm.None, err
		}
	}
	c.m.Release(mark)
	return d.Value(), nil
}
