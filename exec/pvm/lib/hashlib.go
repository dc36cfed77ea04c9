package lib

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"

	"github.com/cowboy-foundation/cowboy/crypto/keccak"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// hasher is one hash in progress.
type hasher interface {
	write(p string)
	sum() []byte
	clone() hasher
}

type sha256Hasher struct{ h hash.Hash }

func (s sha256Hasher) write(p string) { s.h.Write([]byte(p)) }
func (s sha256Hasher) sum() []byte    { return s.h.Sum(nil) }

func (s sha256Hasher) clone() hasher {
	c, err := s.h.(hash.Cloner).Clone()
	if err != nil {
		panic(err) // the state of SHA-256 can always be copied
	}
	return sha256Hasher{c}
}

type keccakHasher struct{ h *keccak.Hasher }

func (k keccakHasher) write(p string) { k.h.Write([]byte(p)) }

func (k keccakHasher) sum() []byte {
	c := *k.h
	d := c.Sum256()
	return d[:]
}

func (k keccakHasher) clone() hasher {
	c := *k.h
	return keccakHasher{&c}
}

// hashState is the payload of a hash object.
type hashState struct {
	leaf
	name  string
	block int
	h     hasher
}

func (*hashState) Bytes() int { return 256 }

// newHasher starts the hash of that name.
func newHasher(name string) (*hashState, bool) {
	switch name {
	case "sha256", "SHA256", "sha-256", "SHA-256":
		return &hashState{name: "sha256", block: 64, h: sha256Hasher{sha256.New()}}, true
	case "keccak256", "KECCAK256", "keccak-256", "KECCAK-256":
		return &hashState{name: "keccak256", block: 136, h: keccakHasher{keccak.New()}}, true
	}
	return nil, false
}

// update appends data to the message.
func (s *hashState) update(m *vm.Machine, data vm.Value) error {
	if _, isText := data.Text(); isText {
		return m.TypeError("Strings must be encoded before hashing")
	}
	b, ok := m.BytesText(data)
	if !ok {
		return m.TypeError("object supporting the buffer API required")
	}
	chars(m, len(b))
	s.h.write(b)
	return nil
}

// hashClass makes the class of what hashlib's constructors return.
func hashClass(m *vm.Machine) *vm.Class {
	c := m.NewClass("_hashlib", "HASH").Dotted()
	c.Define(
		def("update", 2, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			s, err := payload[*hashState](m, a.Values[0])
			if err != nil {
				return vm.None, err
			}
			return vm.None, s.update(m, a.Values[1])
		}),
		def("digest", 1, 1, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			s, err := payload[*hashState](m, a.Values[0])
			if err != nil {
				return vm.None, err
			}
			m.Charge(m.Work().Digest)
			return m.NewBytes(string(s.h.sum())), nil
		}),
		def("hexdigest", 1, 1, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			s, err := payload[*hashState](m, a.Values[0])
			if err != nil {
				return vm.None, err
			}
			m.Charge(m.Work().Digest)
			return m.NewStr(hex.EncodeToString(s.h.sum())), nil
		}),
		def("copy", 1, 1, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			s, err := payload[*hashState](m, a.Values[0])
			if err != nil {
				return vm.None, err
			}
			o := *s
			o.h = s.h.clone()
			return m.NewForeign(c, &o), nil
		}),
		def("__repr__", 1, 1, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			s, err := payload[*hashState](m, a.Values[0])
			if err != nil {
				return vm.None, err
			}
			return m.NewStr("<" + s.name + " _hashlib.HASH object>"), nil
		}),
		def("__new__", 1, -1, func(m *vm.Machine, _ vm.Args) (vm.Value, error) {
			return vm.None, m.TypeError("cannot create '_hashlib.HASH' instances")
		}),
	)
	field := func(get func(*vm.Machine, *hashState) vm.Value) func(*vm.Machine, vm.Value) (vm.Value, error) {
		return func(m *vm.Machine, v vm.Value) (vm.Value, error) {
			s, err := payload[*hashState](m, v)
			if err != nil {
				return vm.None, err
			}
			return get(m, s), nil
		}
	}
	c.Getter("name", field(func(m *vm.Machine, s *hashState) vm.Value { return madeText(m, s.name) }), nil)
	c.Getter("digest_size", field(func(*vm.Machine, *hashState) vm.Value { return vm.SmallInt(32) }), nil)
	c.Getter("block_size", field(func(_ *vm.Machine, s *hashState) vm.Value { return vm.SmallInt(int64(s.block)) }), nil)
	return c
}

func loadHashlib(m *vm.Machine) (*vm.Module, error) {
	c := hashClass(m)
	mod := m.NewModule("hashlib")
	start := func(m *vm.Machine, name string, data vm.Value) (vm.Value, error) {
		s, ok := newHasher(name)
		if !ok {
			return vm.None, m.ValueError("unsupported hash type %s", name)
		}
		v := m.NewForeign(c, s)
		if data.IsNone() {
			return v, nil
		}
		return v, s.update(m, data)
	}
	var names []vm.Value
	// Bounded: by two names; once, when the library is loaded.
	for _, name := range []string{"sha256", "keccak256"} {
		names = append(names, m.NewStr(name))
		mod.Define(m, named(name, 0, []string{"string", "usedforsecurity"}, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			return start(m, name, orNone(a, 0))
		}))
	}
	mod.Define(m, named("new", 1, []string{"name", "data", "usedforsecurity"}, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		name, ok := a.Values[0].Text()
		if !ok {
			return vm.None, m.TypeError("name must be a string")
		}
		return start(m, name, orNone(a, 1))
	}))
	set, err := m.Call(m.Builtin("set").Value(), m.NewTuple(names))
	if err != nil {
		return nil, err
	}
	return mod.Set(m, "algorithms_guaranteed", set).Set(m, "algorithms_available", set), nil
}
