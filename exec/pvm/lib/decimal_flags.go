package lib

import (
	"strings"

	"github.com/cowboy-foundation/cowboy/exec/pvm/decimal"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// signalDict is the payload of Context.flags and Context.traps: a mapping from
// signals to truth with a fixed set of keys.
type signalDict struct {
	s     *contextState
	traps bool
}

// Roots visits the context, which the mapping is a part of.
func (f *signalDict) Roots(visit func(vm.Value)) { visit(f.s.self) }

// Bytes is the modelled size.
func (*signalDict) Bytes() int { return 48 }

func (f *signalDict) field() *decimal.Signal {
	if f.traps {
		return &f.s.traps
	}
	return &f.s.flags
}

func (d *decimalModule) signalGetter(traps bool) func(*vm.Machine, vm.Value) (vm.Value, error) {
	return func(m *vm.Machine, v vm.Value) (vm.Value, error) {
		s, err := payload[*contextState](m, v)
		if err != nil {
			return vm.None, err
		}
		m.Charge(m.Prices().NativeCall) // for the mapping that it makes
		return m.NewForeign(d.flags, &signalDict{s: s, traps: traps}), nil
	}
}

func (d *decimalModule) signalSetter(traps bool) func(m *vm.Machine, v, x vm.Value) error {
	return func(m *vm.Machine, v, x vm.Value) error {
		s, err := payload[*contextState](m, v)
		if err != nil {
			return err
		}
		if !x.Bound() {
			return m.Raise(m.Builtin("AttributeError"), "context attributes cannot be deleted")
		}
		set, err := d.signalSet(m, x)
		if err != nil {
			return err
		}
		m.Touch(s.self)
		*(&signalDict{s: s, traps: traps}).field() = set
		return nil
	}
}

// asDict copies the mapping.
func (d *decimalModule) asDict(m *vm.Machine, f *signalDict) (vm.Value, error) {
	out := m.NewDict()
	m.ChargeEach(len(d.signals), m.Work().SignalEntry*m.Prices().Element)
	// Bounded: by nine signals, paid above.
	for _, g := range d.signals {
		if err := m.DictPut(out, g.class.Value(), vm.Bool(*f.field()&g.bit != 0)); err != nil {
			return vm.None, err
		}
	}
	return out.Value(), nil
}

// flagsMethod is a method of the mapping with so many arguments, the receiver
// counted.
func flagsMethod(name string, args int, fn func(m *vm.Machine, f *signalDict, a []vm.Value) (vm.Value, error)) vm.Def {
	return def(name, args, args, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		f, err := payload[*signalDict](m, a.Values[0])
		if err != nil {
			return vm.None, err
		}
		return fn(m, f, a.Values[1:])
	})
}

func (d *decimalModule) defineFlags() {
	d.flags.Define(
		flagsMethod("__getitem__", 2, func(m *vm.Machine, f *signalDict, a []vm.Value) (vm.Value, error) {
			bit, err := d.signalOf(m, a[0])
			return vm.Bool(*f.field()&bit != 0), err
		}),
		flagsMethod("__setitem__", 3, func(m *vm.Machine, f *signalDict, a []vm.Value) (vm.Value, error) {
			bit, err := d.signalOf(m, a[0])
			if err != nil {
				return vm.None, err
			}
			on, err := m.Truth(a[1])
			if err != nil {
				return vm.None, err
			}
			m.Touch(f.s.self)
			*f.field() &^= bit
			if on {
				*f.field() |= bit
			}
			return vm.None, nil
		}),
		flagsMethod("__delitem__", 2, func(m *vm.Machine, _ *signalDict, _ []vm.Value) (vm.Value, error) {
			return vm.None, m.ValueError("signal keys cannot be deleted")
		}),
		flagsMethod("__len__", 1, func(*vm.Machine, *signalDict, []vm.Value) (vm.Value, error) {
			return vm.SmallInt(int64(len(d.signals))), nil
		}),
		flagsMethod("__contains__", 2, func(m *vm.Machine, _ *signalDict, a []vm.Value) (vm.Value, error) {
			_, err := d.signalOf(m, a[0])
			return vm.Bool(err == nil), nil
		}),
		flagsMethod("__iter__", 1, func(m *vm.Machine, f *signalDict, _ []vm.Value) (vm.Value, error) {
			v, err := d.asDict(m, f)
			if err != nil {
				return vm.None, err
			}
			return m.Iter(v)
		}),
		flagsMethod("__eq__", 2, func(m *vm.Machine, f *signalDict, a []vm.Value) (vm.Value, error) {
			p, _ := a[0].Foreign()
			if g, ok := p.(*signalDict); ok {
				return vm.Bool(*f.field() == *g.field()), nil
			}
			v, err := d.asDict(m, f)
			if err != nil {
				return vm.None, err
			}
			return m.Compare(vm.CompareEq, v, a[0])
		}),
		flagsMethod("__repr__", 1, func(m *vm.Machine, f *signalDict, _ []vm.Value) (vm.Value, error) {
			parts := make([]string, len(d.signals))
			// Bounded: by nine signals.
			for i, g := range d.signals {
				parts[i] = "<class 'decimal." + g.class.Name() + "'>:False"
				if *f.field()&g.bit != 0 {
					parts[i] = "<class 'decimal." + g.class.Name() + "'>:True"
				}
			}
			// Bounded: by nine signals.
			text := "{" + strings.Join(parts, ", ") + "}"
			chars(m, len(text))
			return m.NewStr(text), nil
		}),
		flagsMethod("copy", 1, func(m *vm.Machine, f *signalDict, _ []vm.Value) (vm.Value, error) { return d.asDict(m, f) }),
	)
	d.borrowMethods()
}

// borrowMethods takes the methods that only read from dict.
func (d *decimalModule) borrowMethods() {
	// Bounded: by four names; once, when the library is loaded.
	for _, name := range []string{"keys", "values", "items", "get"} {
		d.flags.Define(def(name, 1, -1, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			f, err := payload[*signalDict](m, a.Values[0])
			if err != nil {
				return vm.None, err
			}
			v, err := d.asDict(m, f)
			if err != nil {
				return vm.None, err
			}
			fn, err := m.GetAttr(v, m.Name(name))
			if err != nil {
				return vm.None, err
			}
			return m.Call(fn, a.Values[1:]...)
		}))
	}
}

// switchState is the payload of what localcontext returns.
type switchState struct {
	fresh, saved vm.Value
}

// Roots visits both contexts.
func (s *switchState) Roots(visit func(vm.Value)) { visitAll([]vm.Value{s.fresh, s.saved}, visit) }

// Bytes is the modelled size.
func (*switchState) Bytes() int { return 64 }

// use puts a context in force.
func (d *decimalModule) use(m *vm.Machine, v vm.Value) bool {
	p, _ := v.Foreign()
	s, ok := p.(*contextState)
	if ok {
		m.Touch(d.self)
		d.current, d.state = v, s
	}
	return ok
}

func (d *decimalModule) defineSwitcher(m *vm.Machine, mod *vm.Module) {
	d.switcher.Define(
		def("__enter__", 1, 1, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			s, err := payload[*switchState](m, a.Values[0])
			if err != nil {
				return vm.None, err
			}
			s.saved = d.current
			d.use(m, s.fresh)
			return s.fresh, nil
		}),
		def("__exit__", 4, 4, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			s, err := payload[*switchState](m, a.Values[0])
			if err == nil && s.saved.Bound() {
				d.use(m, s.saved)
			}
			return vm.False, err
		}),
	)
	mod.Define(m,
		def("getcontext", 0, 0, func(*vm.Machine, vm.Args) (vm.Value, error) { return d.current, nil }),
		def("setcontext", 1, 1, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			if !d.use(m, a.Values[0]) {
				return vm.None, m.TypeError("argument must be a context")
			}
			return vm.None, nil
		}),
		vm.Def{Name: "localcontext", Min: 0, Max: 1, Keywords: true, Fn: d.localContext},
	)
}

// localContext is localcontext(ctx=None, **attributes).
func (d *decimalModule) localContext(m *vm.Machine, a vm.Args) (vm.Value, error) {
	from := d.state
	take := func(v vm.Value) error {
		s, err := d.contextOf(m, v)
		from = s
		return err
	}
	if pos := a.Positional(); len(pos) == 1 {
		if err := take(pos[0]); err != nil {
			return vm.None, err
		}
	}
	err := eachKeyword(a, func(name *vm.Str, v vm.Value) error {
		if name.String() == "ctx" {
			return take(v)
		}
		return nil
	})
	if err != nil {
		return vm.None, err
	}
	state := *from
	fresh := state.object(m, d.context)
	defer m.Release(m.Hold(fresh))
	err = eachKeyword(a, func(name *vm.Str, v vm.Value) error {
		if name.String() == "ctx" {
			return nil
		}
		if _, ok := d.context.Own(name.String()); !ok {
			return m.TypeError("'%s' is an invalid keyword argument for this function", name.String())
		}
		return m.SetAttr(fresh, name, v)
	})
	if err != nil {
		return vm.None, err
	}
	return m.NewForeign(d.switcher, &switchState{fresh: fresh}), nil
}
