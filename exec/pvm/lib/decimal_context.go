package lib

import (
	"strings"

	"github.com/cowboy-foundation/cowboy/exec/pvm/decimal"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// fixedAttribute is an attribute of Context that every context has alike.
type fixedAttribute struct {
	name string
	n    int64
	text string // instead of n
}

func (d *decimalModule) fixedAttributes() []fixedAttribute {
	return []fixedAttribute{
		{"prec", int64(d.ctx.Prec), ""},
		{"rounding", 0, "ROUND_HALF_EVEN"},
		{"Emin", d.ctx.Emin, ""},
		{"Emax", d.ctx.Emax, ""},
		{"capitals", 1, ""},
		{"clamp", 0, ""},
	}
}

func (f fixedAttribute) value(m *vm.Machine) vm.Value {
	if f.text != "" {
		return madeText(m, f.text)
	}
	return vm.SmallInt(f.n)
}

// checkFixed refuses any other value than the fixed one.
func (f fixedAttribute) checkFixed(m *vm.Machine, v vm.Value) error {
	if n, ok := v.Int64(); ok && f.text == "" && n == f.n {
		return nil
	}
	if s, ok := v.Text(); ok && f.text != "" && s == f.text {
		return nil
	}
	if _, ok := v.BigInt(); !ok && f.text == "" {
		return m.TypeError("an integer is required")
	}
	return m.Raise(m.Builtin("DeterminismError"), "the decimal context is fixed: %s cannot be changed", f.name)
}

func (d *decimalModule) defineContext(*vm.Machine) {
	c := d.context
	c.Define(
		vm.Def{Name: "__new__", Min: 1, Max: -1, Keywords: true, Fn: d.newContext},
		def("__repr__", 1, 1, contextMethod(d.contextRepr)),
		def("copy", 1, 1, contextMethod(func(m *vm.Machine, s *contextState) (vm.Value, error) {
			o := *s
			return o.object(m, d.context), nil
		})),
		def("__copy__", 1, 1, contextMethod(func(m *vm.Machine, s *contextState) (vm.Value, error) {
			o := *s
			return o.object(m, d.context), nil
		})),
		def("clear_flags", 1, 1, contextMethod(func(m *vm.Machine, s *contextState) (vm.Value, error) {
			m.Touch(s.self)
			s.flags = 0
			return vm.None, nil
		})),
		def("clear_traps", 1, 1, contextMethod(func(m *vm.Machine, s *contextState) (vm.Value, error) {
			m.Touch(s.self)
			s.traps = 0
			return vm.None, nil
		})),
		def("Etiny", 1, 1, contextMethod(func(*vm.Machine, *contextState) (vm.Value, error) {
			return vm.SmallInt(d.ctx.Emin - int64(d.ctx.Prec) + 1), nil
		})),
		def("Etop", 1, 1, contextMethod(func(*vm.Machine, *contextState) (vm.Value, error) {
			return vm.SmallInt(d.ctx.Emax - int64(d.ctx.Prec) + 1), nil
		})),
		def("radix", 1, 1, contextMethod(func(m *vm.Machine, _ *contextState) (vm.Value, error) {
			return d.value(m, decimal.Radix()), nil
		})),
		named("create_decimal", 1, []string{"self", "num"}, d.create),
		def("create_decimal_from_float", 2, 2, d.createFromFloat),
		named("power", 3, []string{"self", "a", "b", "modulo"}, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			return d.inContext(m, a, func(s *contextState) (vm.Value, error) {
				return d.power(m, s, a.Values[1], a.Values[2], orNone(a, 3))
			})
		}),
		named("divmod", 3, []string{"self", "a", "b"}, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			return d.inContext(m, a, func(s *contextState) (vm.Value, error) {
				return d.divmod(m, s, a.Values[1], a.Values[2])
			})
		}),
		named("fma", 4, []string{"self", "a", "b", "c"}, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			return d.inContext(m, a, func(s *contextState) (vm.Value, error) { return d.fma(m, s, a.Values[1:]) })
		}),
		named("same_quantum", 3, []string{"self", "a", "b"}, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			x, y, err := d.pair(m, a.Values[1], a.Values[2])
			return vm.Bool(err == nil && decimal.SameQuantum(x, y)), err
		}),
		d.contextText("to_sci_string", decimal.Decimal.String),
		d.contextText("to_eng_string", decimal.Decimal.EngString),
		d.contextText("number_class", d.ctx.Class),
	)
	// Bounded: by six attributes; once, when the library is loaded.
	for _, f := range d.fixedAttributes() {
		c.Getter(f.name, func(m *vm.Machine, _ vm.Value) (vm.Value, error) { return f.value(m), nil },
			func(m *vm.Machine, _, v vm.Value) error {
				if !v.Bound() {
					return m.Raise(m.Builtin("AttributeError"), "context attributes cannot be deleted")
				}
				return f.checkFixed(m, v)
			})
	}
	c.Getter("flags", d.signalGetter(false), d.signalSetter(false))
	c.Getter("traps", d.signalGetter(true), d.signalSetter(true))
}

// contextMethod is a method without arguments.
func contextMethod(fn func(m *vm.Machine, s *contextState) (vm.Value, error)) vm.NativeFunc {
	return func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		s, err := payload[*contextState](m, a.Values[0])
		if err != nil {
			return vm.None, err
		}
		return fn(m, s)
	}
}

// inContext runs an operation of a context whose operands must be numbers.
func (d *decimalModule) inContext(m *vm.Machine, a vm.Args, fn func(s *contextState) (vm.Value, error)) (vm.Value, error) {
	s, err := payload[*contextState](m, a.Values[0])
	if err != nil {
		return vm.None, err
	}
	// Bounded: by three operands, whose limbs exactly charges.
	for _, v := range a.Values[1:] {
		if v.Bound() && !v.IsNone() {
			if _, err := d.operand(m, v); err != nil {
				return vm.None, err
			}
		}
	}
	return fn(s)
}

func (d *decimalModule) contextText(name string, fn func(decimal.Decimal) string) vm.Def {
	return def(name, 2, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		x, err := d.operand(m, a.Values[1])
		if err != nil {
			return vm.None, err
		}
		textWork(m, x.Digits())
		return m.NewStr(fn(x)), nil
	})
}

// newContext is Context(prec, rounding, Emin, Emax, capitals, clamp, flags, traps).
func (d *decimalModule) newContext(m *vm.Machine, a vm.Args) (vm.Value, error) {
	names := [...]string{"prec", "rounding", "Emin", "Emax", "capitals", "clamp", "flags", "traps"}
	var args [len(names)]vm.Value
	pos := a.Positional()[1:]
	if len(pos) > len(names) {
		return vm.None, m.TypeError("Context() takes at most 8 arguments (%d given)", len(pos))
	}
	copy(args[:], pos)
	err := eachKeyword(a, func(name *vm.Str, v vm.Value) error {
		// Bounded: by eight names; a keyword that is none of them ends it.
		for i, n := range names {
			if n == name.String() {
				args[i] = v
				return nil
			}
		}
		return m.TypeError("'%s' is an invalid keyword argument for Context()", name.String())
	})
	if err != nil {
		return vm.None, err
	}
	s := &contextState{traps: defaultTraps}
	// Bounded: by six attributes.
	for i, f := range d.fixedAttributes() {
		if args[i].Bound() && !args[i].IsNone() {
			if err := f.checkFixed(m, args[i]); err != nil {
				return vm.None, err
			}
		}
	}
	// Bounded: by two fields.
	for i, field := range [...]*decimal.Signal{&s.flags, &s.traps} {
		if v := args[6+i]; v.Bound() && !v.IsNone() {
			if *field, err = d.signalSet(m, v); err != nil {
				return vm.None, err
			}
		}
	}
	cls, _ := a.Values[0].Class()
	return s.object(m, cls), nil
}

// signalSet reads a list of signals, or a mapping from them to truth.
func (d *decimalModule) signalSet(m *vm.Machine, v vm.Value) (decimal.Signal, error) {
	if p, ok := v.Foreign(); ok {
		if f, ok := p.(*signalDict); ok {
			return *f.field(), nil
		}
	}
	var set decimal.Signal
	dict, isDict := v.Dict()
	err := m.Each(v, func(item vm.Value) error {
		bit, err := d.signalOf(m, item)
		if err != nil {
			return err
		}
		if isDict {
			on, _, err := m.DictGet(dict, item)
			if err != nil {
				return err
			}
			if t, err := m.Truth(on); err != nil || !t {
				return err
			}
		}
		set |= bit
		return nil
	})
	return set, err
}

func (d *decimalModule) signalOf(m *vm.Machine, v vm.Value) (decimal.Signal, error) {
	c, _ := v.Class()
	// Bounded: by nine signals.
	for _, g := range d.signals {
		if g.class == c && c != nil {
			return g.bit, nil
		}
	}
	return 0, m.RaiseValue(m.Builtin("KeyError"), m.NewStr("valid values for signals are:\n  [InvalidOperation, FloatOperation, DivisionByZero,\n   Overflow, Underflow, Subnormal, Inexact, Rounded,\n   Clamped]"))
}

// listOrder is the order in which the repr of a context lists signals.
var listOrder = [...]string{
	"InvalidOperation", "DivisionByZero", "Inexact", "FloatOperation", "Overflow", "Rounded", "Subnormal", "Underflow", "Clamped",
}

func (d *decimalModule) signalList(set decimal.Signal) string {
	var parts []string
	// Bounded: by nine names.
	for _, name := range listOrder {
		// Bounded: by nine signals.
		for _, g := range d.signals {
			if g.class.Name() == name && set&g.bit != 0 {
				parts = append(parts, name)
			}
		}
	}
	// Bounded: by nine names.
	return "[" + strings.Join(parts, ", ") + "]"
}

func (d *decimalModule) contextRepr(m *vm.Machine, s *contextState) (vm.Value, error) {
	var b strings.Builder
	b.WriteString("Context(")
	// Bounded: by six attributes.
	for _, f := range d.fixedAttributes() {
		text := f.text
		if text == "" {
			text = decimalText(f.n)
		}
		b.WriteString(f.name + "=" + text + ", ")
	}
	b.WriteString("flags=" + d.signalList(s.flags) + ", traps=" + d.signalList(s.traps) + ")")
	chars(m, b.Len())
	return m.NewStr(b.String()), nil
}

// create is Context.create_decimal.
func (d *decimalModule) create(m *vm.Machine, a vm.Args) (vm.Value, error) {
	s, err := payload[*contextState](m, a.Values[0])
	if err != nil {
		return vm.None, err
	}
	x := decimal.FromBig(zero)
	if v, ok := given(a, 1); ok {
		if x, err = d.convert(m, s, v, false); err != nil {
			return vm.None, err
		}
	}
	return d.created(m, s, x)
}

func (d *decimalModule) created(m *vm.Machine, s *contextState, x decimal.Decimal) (vm.Value, error) {
	d.work(m, decimal.Quotient, x)
	r, sig := d.ctx.CreateDecimal(x)
	if sig&decimal.Invalid != 0 {
		if err := d.signal(m, s, sig, "ConversionSyntax"); err != nil {
			return vm.None, err
		}
	}
	return d.done(m, s, r, sig)
}

func (d *decimalModule) createFromFloat(m *vm.Machine, a vm.Args) (vm.Value, error) {
	s, err := payload[*contextState](m, a.Values[0])
	if err != nil {
		return vm.None, err
	}
	x, err := fromFloat(m, a.Values[1])
	if err != nil {
		return vm.None, err
	}
	return d.created(m, s, x)
}
