package lib

import (
	"github.com/cowboy-foundation/cowboy/exec/pvm/values"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// CBORProfile is what cbor2 reads and writes: the chain's encoding of values, but for
// instances of classes, and as large as a transaction may be.
func CBORProfile() values.Profile {
	p := values.DefaultProfile()
	p.Bytes, p.NoObjects = 128<<10, true
	return p
}

// cbor2Defs are the natives behind cbor2. Both take the classes of their exceptions
// first.
var cbor2Defs = [...]vm.Def{
	def("cbor_dumps", 3, 3, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		p := CBORProfile()
		p.Item = m.Prices().DictOp
		p.Faults.Type, _ = a.Values[0].Class()
		p.Faults.Value, _ = a.Values[1].Class()
		out, err := values.Append(m, nil, a.Values[2], p)
		if err != nil {
			return vm.None, err
		}
		return m.NewBytes(string(out)), nil
	}),
	def("cbor_loads", 3, 3, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		data, ok := m.BytesText(a.Values[2])
		if !ok {
			return vm.None, m.TypeError("a bytes-like object is required, not '%s'", m.TypeName(a.Values[2]))
		}
		p := CBORProfile()
		p.Item = m.Prices().DictOp
		p.Faults.Malformed, _ = a.Values[0].Class()
		p.Faults.Truncated, _ = a.Values[1].Class()
		if len(data) > p.Bytes { // before there is a copy
			data = data[:p.Bytes+1]
		}
		m.Alloc(len(data))
		return values.Decode(m, []byte(data), p)
	}),
}
