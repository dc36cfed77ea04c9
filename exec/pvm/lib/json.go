package lib

import "github.com/cowboy-foundation/cowboy/exec/pvm/vm"

// jsonModule is the module json of one machine. It reads and writes strings
// only: there are no files.
type jsonModule struct {
	encoder, decoder, failure *vm.Class
	iterencode                vm.Value // JSONEncoder's own
}

func loadJSON(m *vm.Machine) (*vm.Module, error) {
	j := &jsonModule{
		encoder: m.NewClass("json.encoder", "JSONEncoder").WithDict(),
		decoder: m.NewClass("json.decoder", "JSONDecoder").WithDict(),
		failure: m.NewExceptionClass("json.decoder", "JSONDecodeError", m.Builtin("ValueError")),
	}
	j.defineFailure()
	j.defineEncoder(m)
	j.defineDecoder()
	mod := m.NewModule("json")
	mod.Define(m,
		vm.Def{Name: "dumps", Min: 0, Max: -1, Keywords: true, Fn: j.dumps},
		vm.Def{Name: "loads", Min: 0, Max: -1, Keywords: true, Fn: j.loads},
	)
	mod.Set(m, "JSONEncoder", j.encoder.Value()).Set(m, "JSONDecoder", j.decoder.Value())
	return mod.Set(m, "JSONDecodeError", j.failure.Value()), nil
}

// defineFailure gives JSONDecodeError its constructor: (msg, doc, pos).
func (j *jsonModule) defineFailure() {
	j.failure.Define(named("__init__", 4, []string{"self", "msg", "doc", "pos"}, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		chargeFault(m)
		self, msg, doc, pos := a.Values[0], a.Values[1], a.Values[2], a.Values[3]
		text, ok := doc.Text()
		if !ok {
			return vm.None, m.TypeError("JSONDecodeError() argument 'doc' must be str, not %s", m.TypeName(doc))
		}
		at, err := m.Index(pos)
		if err != nil {
			return vm.None, err
		}
		head, err := m.Str(msg)
		if err != nil {
			return vm.None, err
		}
		chars(m, len(text))
		line, col, _ := lineAndColumn(text, at)
		full := head.String() + ": line " + decimalText(line) + " column " + decimalText(col) + " (char " + decimalText(at) + ")"
		// Bounded: by six attributes, paid by chargeFault.
		for _, attr := range []struct {
			name string
			v    vm.Value
		}{
			{"args", m.NewTuple([]vm.Value{m.NewStr(full)})},
			{"msg", msg},
			{"doc", doc},
			{"pos", pos},
			{"lineno", vm.SmallInt(line)},
			{"colno", vm.SmallInt(col)},
		} {
			if err := m.SetAttr(self, m.Name(attr.name), attr.v); err != nil {
				return vm.None, err
			}
		}
		return vm.None, nil
	}))
}

// eachKeyword calls fn with the keywords of a call.
func eachKeyword(a vm.Args, fn func(name *vm.Str, v vm.Value) error) error {
	first := len(a.Values) - len(a.Names)
	// Paid: by the call that binds keywords.
	for i, name := range a.Names {
		if err := fn(name, a.Values[first+i]); err != nil {
			return err
		}
	}
	return nil
}

// oneArgument is the subject of dumps and loads, positional or by its name.
func oneArgument(m *vm.Machine, a vm.Args, fn, name string) (v vm.Value, rest vm.Args, err error) {
	pos := a.Positional()
	switch len(pos) {
	case 1:
		return pos[0], vm.Args{Values: a.Values[1:], Names: a.Names}, nil
	case 0:
		// Paid: by the call that binds keywords.
		for i, n := range a.Names {
			if n.String() == name {
				names := append(append([]*vm.Str(nil), a.Names[:i]...), a.Names[i+1:]...)
				values := append(append([]vm.Value(nil), a.Values[:i]...), a.Values[i+1:]...)
				return a.Values[i], vm.Args{Values: values, Names: names}, nil
			}
		}
		return vm.None, rest, m.TypeError("%s() missing 1 required positional argument: '%s'", fn, name)
	}
	return vm.None, rest, m.TypeError("%s() takes 1 positional argument but %d were given", fn, len(pos))
}

// setAll sets attributes of an instance.
func setAll(m *vm.Machine, self vm.Value, names []string, values []vm.Value) error {
	// Bounded: by the six names that callers give.
	for i, name := range names {
		if err := m.SetAttr(self, m.Name(name), values[i]); err != nil {
			return err
		}
	}
	return nil
}
