package lib

import (
	"github.com/cowboy-foundation/cowboy/exec/pvm/decimal"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// floatOperation is the signal that only Python has: a float met a Decimal.
const floatOperation decimal.Signal = 1 << 15

// defaultTraps are the conditions that raise unless a program says otherwise.
const defaultTraps = decimal.Invalid | decimal.DivisionByZero | decimal.Overflow

// integerDigits bounds integers made of a Decimal: more than the heap holds.
const integerDigits = 1 << 24

// decimalModule is the module decimal of one machine. Precision, rounding and
// range are those of the protocol and cannot be changed (whitepaper, Numeric
// Determinism).
type decimalModule struct {
	ctx                             decimal.Context
	class, context, flags, switcher *vm.Class
	current                         vm.Value // the context in force
	state                           *contextState
	signals                         []signalClass
	conditions                      map[string]*vm.Class // looked up, never iterated
	tuple                           vm.Value             // DecimalTuple, once it was asked for
	self                            vm.Value             // what holds this, for notes
}

// Roots visits the context in force.
func (d *decimalModule) Roots(visit func(vm.Value)) { visitAll([]vm.Value{d.current, d.tuple}, visit) }

// Bytes is nothing: the module is the machine's.
func (*decimalModule) Bytes() int { return 0 }

// Keep notes the context in force.
func (d *decimalModule) Keep() func() {
	saved := *d
	return func() { *d = saved }
}

// signalClass is a signal with its exception.
type signalClass struct {
	bit   decimal.Signal
	class *vm.Class
}

// decimalState is the payload of a Decimal.
type decimalState struct {
	leaf
	d decimal.Decimal
}

func (s *decimalState) Bytes() int { return 72 + s.d.Digits()/2 }

// contextState is the payload of a Context: what of it can change.
type contextState struct {
	leaf
	flags, traps decimal.Signal
	self         vm.Value // what holds this, for notes
}

// object makes an object of a context's state.
func (s *contextState) object(m *vm.Machine, class *vm.Class) vm.Value {
	s.self = m.NewForeign(class, s)
	return s.self
}

// Keep notes flags and traps.
func (s *contextState) Keep() func() {
	saved := *s
	return func() { *s = saved }
}

func (*contextState) Bytes() int { return 96 }

func loadDecimal(m *vm.Machine) (*vm.Module, error) {
	d := &decimalModule{
		ctx:        decimal.DefaultContext(),
		class:      m.NewClass("decimal", "Decimal").Dotted(),
		context:    m.NewClass("decimal", "Context").Dotted(),
		flags:      m.NewClass("decimal", "SignalDict").Dotted(),
		switcher:   m.NewClass("decimal", "ContextManager").Dotted(),
		conditions: make(map[string]*vm.Class),
	}
	mod := m.NewModule("decimal")
	d.defineSignals(m, mod)
	d.defineDecimal(m)
	d.defineOperations()
	d.defineConversions()
	d.defineContext(m)
	d.defineFlags()
	d.defineSwitcher(m, mod)
	d.state = &contextState{traps: defaultTraps}
	d.current = d.state.object(m, d.context)
	d.self = m.NewForeign(m.Builtin("object"), d)
	mod.Set(m, "_state", d.self)
	// Bounded: by eight roundings; once, when the library is loaded.
	for _, r := range roundings {
		mod.Set(m, r.name, m.NewStr(r.name))
	}
	// Bounded: by four names; once, when the library is loaded.
	for _, c := range []struct {
		name string
		n    int64
	}{{"MAX_PREC", decimal.MaxPrec}, {"MAX_EMAX", decimal.MaxEmax}, {"MIN_EMIN", decimal.MinEmin}, {"MIN_ETINY", decimal.MinEtiny}} {
		mod.Set(m, c.name, vm.SmallInt(c.n))
	}
	mod.Set(m, "HAVE_THREADS", vm.False).Set(m, "HAVE_CONTEXTVAR", vm.False)
	mod.Set(m, "Decimal", d.class.Value()).Set(m, "Context", d.context.Value())
	return mod.Set(m, "DefaultContext", (&contextState{traps: defaultTraps}).object(m, d.context)), nil
}

// defineSignals makes the tree of exceptions.
func (d *decimalModule) defineSignals(m *vm.Machine, mod *vm.Module) {
	class := func(name string, bases ...*vm.Class) *vm.Class {
		c := m.NewExceptionClass("decimal", name, bases...)
		mod.Set(m, name, c.Value())
		d.conditions[name] = c
		return c
	}
	base := class("DecimalException", m.Builtin("ArithmeticError"))
	clamped := class("Clamped", base)
	invalid := class("InvalidOperation", base)
	class("ConversionSyntax", invalid)
	class("DivisionImpossible", invalid)
	class("DivisionUndefined", invalid, m.Builtin("ZeroDivisionError"))
	class("InvalidContext", invalid)
	byZero := class("DivisionByZero", base, m.Builtin("ZeroDivisionError"))
	inexact, rounded, subnormal := class("Inexact", base), class("Rounded", base), class("Subnormal", base)
	overflow := class("Overflow", inexact, rounded)
	underflow := class("Underflow", inexact, rounded, subnormal)
	float := class("FloatOperation", base, m.Builtin("TypeError"))
	d.signals = []signalClass{
		{decimal.Invalid, invalid},
		{floatOperation, float},
		{decimal.DivisionByZero, byZero},
		{decimal.Overflow, overflow},
		{decimal.Underflow, underflow},
		{decimal.Subnormal, subnormal},
		{decimal.Inexact, inexact},
		{decimal.Rounded, rounded},
		{decimal.Clamped, clamped},
	}
}

// signal records conditions in the flags of a context and raises for those that
// are traps. why is the kind of an invalid operation, "" for the plain one.
func (d *decimalModule) signal(m *vm.Machine, c *contextState, s decimal.Signal, why string) error {
	m.Touch(c.self)
	c.flags |= s
	trapped := s & c.traps
	if trapped == 0 {
		return nil
	}
	var class *vm.Class
	// Bounded: by nine signals.
	for _, g := range d.signals {
		if trapped&g.bit != 0 {
			class = g.class
			break
		}
	}
	var list []vm.Value
	// Bounded: by nine signals.
	for _, g := range d.signals {
		switch {
		case trapped&g.bit == 0:
		case g.bit == decimal.Invalid && why != "":
			list = append(list, d.conditions[why].Value())
		default:
			list = append(list, g.class.Value())
		}
	}
	return m.RaiseValue(class, m.NewList(list))
}

// work charges for an operation before it is done.
func (d *decimalModule) work(m *vm.Machine, w decimal.Work, ds ...decimal.Decimal) {
	m.ChargeCount(int64(d.ctx.Cost(w, ds...)), m.Prices().LimbWork)
}

func (d *decimalModule) value(m *vm.Machine, x decimal.Decimal) vm.Value {
	return m.NewForeign(d.class, &decimalState{d: x})
}

// done ends an operation: its conditions, then its result.
func (d *decimalModule) done(m *vm.Machine, c *contextState, x decimal.Decimal, s decimal.Signal) (vm.Value, error) {
	if s != 0 {
		if err := d.signal(m, c, s, ""); err != nil {
			return vm.None, err
		}
	}
	return d.value(m, x), nil
}

// exactly returns v as a Decimal when it is one or an int.
func (d *decimalModule) exactly(m *vm.Machine, v vm.Value) (decimal.Decimal, bool) {
	if p, ok := v.Foreign(); ok {
		if s, ok := p.(*decimalState); ok {
			return s.d, true
		}
		return decimal.Decimal{}, false
	}
	n, ok := v.BigInt()
	if !ok {
		return decimal.Decimal{}, false
	}
	limbWork(m, limbs(n))
	return decimal.FromBig(n), true
}

// operand is exactly with CPython's error.
func (d *decimalModule) operand(m *vm.Machine, v vm.Value) (decimal.Decimal, error) {
	x, ok := d.exactly(m, v)
	if !ok {
		return x, m.TypeError("conversion from %s to Decimal is not supported", m.TypeName(v))
	}
	return x, nil
}

// receiver is the Decimal that a method is called on.
func receiver(m *vm.Machine, v vm.Value) (decimal.Decimal, error) {
	s, err := payload[*decimalState](m, v)
	if err != nil {
		return decimal.Decimal{}, err
	}
	return s.d, nil
}

// contextOf reads a context argument; None is the one in force.
func (d *decimalModule) contextOf(m *vm.Machine, v vm.Value) (*contextState, error) {
	if v.IsNone() {
		return d.state, nil
	}
	p, _ := v.Foreign()
	c, ok := p.(*contextState)
	if !ok {
		return nil, m.TypeError("optional argument must be a context")
	}
	return c, nil
}

// roundings are Python's names.
var roundings = [...]struct {
	name string
	r    decimal.Rounding
}{
	{"ROUND_CEILING", decimal.Ceiling},
	{"ROUND_FLOOR", decimal.Floor},
	{"ROUND_UP", decimal.Up},
	{"ROUND_DOWN", decimal.Down},
	{"ROUND_HALF_UP", decimal.HalfUp},
	{"ROUND_HALF_DOWN", decimal.HalfDown},
	{"ROUND_HALF_EVEN", decimal.HalfEven},
	{"ROUND_05UP", decimal.ZeroFiveUp},
}

// roundedBy is the context of an operation that may name its rounding.
func (d *decimalModule) roundedBy(m *vm.Machine, v vm.Value) (decimal.Context, error) {
	c := d.ctx
	if v.IsNone() {
		return c, nil
	}
	name, _ := v.Text()
	// Bounded: by eight names.
	for _, r := range roundings {
		if r.name == name {
			c.Rounding = r.r
			return c, nil
		}
	}
	return c, m.TypeError("valid values for rounding are:\n  [ROUND_CEILING, ROUND_FLOOR, ROUND_UP, ROUND_DOWN,\n   ROUND_HALF_UP, ROUND_HALF_DOWN, ROUND_HALF_EVEN,\n   ROUND_05UP]")
}
