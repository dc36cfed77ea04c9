package lib

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/exec/pvm/format"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// formatterDefs are the natives behind string.Formatter: how replacement fields are
// read, as str.format does.
var formatterDefs = [...]vm.Def{
	def("formatter_parser", 1, 1, formatterParser),
	def("field_name_split", 1, 1, fieldNameSplit),
}

// formatterParser iterates over the parts of a format string: literal text, name,
// specification, conversion.
func formatterParser(m *vm.Machine, a vm.Args) (vm.Value, error) {
	text, ok := a.Values[0].Text()
	if !ok {
		return vm.None, m.TypeError("expected str, got %s", m.TypeName(a.Values[0]))
	}
	chars(m, len(text))
	markup := format.NewMarkup(text)
	return m.NewIterator(func(m *vm.Machine) (vm.Value, bool, error) {
		part, more, err := markup.Next()
		if err != nil || !more {
			return vm.None, false, formatError(m, err)
		}
		m.Charge(m.Prices().NativeCall) // for a tuple and what is in it
		chars(m, len(part.Literal)+len(part.Name)+len(part.Spec))
		row := []vm.Value{m.NewStr(part.Literal), vm.None, vm.None, vm.None}
		if part.Field {
			row[1], row[2] = m.NewStr(part.Name), m.NewStr(part.Spec)
			if part.Conversion != 0 {
				row[3] = m.NewStr(string(part.Conversion))
			}
		}
		return m.NewTuple(row), true, nil
	}, hold(a.Values[0])), nil
}

// fieldNameSplit answers the first part of a field's name and an iterator over the
// way from there: whether it is an attribute, and its name or index.
func fieldNameSplit(m *vm.Machine, a vm.Args) (vm.Value, error) {
	text, ok := a.Values[0].Text()
	if !ok {
		return vm.None, m.TypeError("expected str, got %s", m.TypeName(a.Values[0]))
	}
	chars(m, len(text))
	index, name, path, err := format.SplitName(text)
	if err != nil {
		return vm.None, formatError(m, err)
	}
	rest := m.NewIterator(func(m *vm.Machine) (vm.Value, bool, error) {
		step, more, err := path.Next()
		if err != nil || !more {
			return vm.None, false, formatError(m, err)
		}
		chars(m, len(step.Name))
		return m.NewTuple([]vm.Value{vm.Bool(step.Attribute), indexOrName(m, step.Index, step.Name)}), true, nil
	}, hold(a.Values[0]))
	return m.NewTuple([]vm.Value{indexOrName(m, index, name), rest}), nil
}

func indexOrName(m *vm.Machine, index int64, name string) vm.Value {
	if index >= 0 {
		return vm.SmallInt(index)
	}
	return m.NewStr(name)
}

// formatError raises what package format found wrong.
func formatError(m *vm.Machine, err error) error {
	var e *format.Error
	if errors.As(err, &e) {
		return m.RaiseText(e.Kind.String(), e.Text)
	}
	return err
}
