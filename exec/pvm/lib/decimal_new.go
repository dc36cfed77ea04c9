package lib

import (
	"strings"

	"github.com/cowboy-foundation/cowboy/exec/pvm/decimal"
	"github.com/cowboy-foundation/cowboy/exec/pvm/ucd"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

func (d *decimalModule) defineDecimal(m *vm.Machine) {
	d.class.Define(
		named("__new__", 1, []string{"cls", "value", "context"}, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
			c, err := d.contextOf(m, orNone(a, 2))
			if err != nil {
				return vm.None, err
			}
			x := decimal.FromBig(zero)
			if v, ok := given(a, 1); ok {
				if x, err = d.convert(m, c, v, true); err != nil {
					return vm.None, err
				}
			}
			cls, _ := a.Values[0].Class()
			return m.NewForeign(cls, &decimalState{d: x}), nil
		}),
	)
	d.class.DefineClass(def("from_float", 2, 2, func(m *vm.Machine, a vm.Args) (vm.Value, error) {
		x, err := fromFloat(m, a.Values[1])
		if err != nil {
			return vm.None, err
		}
		cls, _ := a.Values[0].Class()
		return m.NewForeign(cls, &decimalState{d: x}), nil
	}))
}

// fromFloat is exact.
func fromFloat(m *vm.Machine, v vm.Value) (decimal.Decimal, error) {
	if x, ok := v.FloatEncoding(); ok {
		m.Charge(m.Work().FloatDigits * m.Prices().LimbWork)
		return decimal.FromFloat(x), nil
	}
	n, ok := v.BigInt()
	if !ok {
		return decimal.Decimal{}, m.TypeError("argument must be int or float")
	}
	limbWork(m, limbs(n))
	return decimal.FromBig(n), nil
}

// convert is Decimal(v), exact, or what a context rounds.
func (d *decimalModule) convert(m *vm.Machine, c *contextState, v vm.Value, exact bool) (decimal.Decimal, error) {
	if x, ok := d.exactly(m, v); ok {
		return x, nil
	}
	if text, ok := v.Text(); ok {
		return d.parse(m, c, text, exact)
	}
	if _, ok := v.FloatEncoding(); ok {
		if err := d.signal(m, c, floatOperation, ""); err != nil {
			return decimal.Decimal{}, err
		}
		return fromFloat(m, v)
	}
	if items, ok := v.Items(); ok {
		return d.fromTuple(m, c, items, exact)
	}
	return decimal.Decimal{}, m.TypeError("conversion from %s to Decimal is not supported", m.TypeName(v))
}

// textWork charges for the conversion of so many digits from or to text.
func textWork(m *vm.Machine, n int) {
	chars(m, n)
	productWork(m, n/19+1, n/19+1)
}

// nanBits is the one NaN of the machine.
const nanBits = 0x7ff8000000000000

// parse reads a number as text. With exact an exponent that no Decimal has is
// invalid, and blanks around and underscores are nothing; without it the caller
// rounds.
func (d *decimalModule) parse(m *vm.Machine, c *contextState, text string, exact bool) (decimal.Decimal, error) {
	textWork(m, len(text))
	x, ok := decimal.Parse(plainDigits(text, exact))
	switch {
	case !ok:
		return decimal.FromFloat(nanBits), d.signal(m, c, decimal.Invalid, "ConversionSyntax")
	case exact && !x.Exact():
		return decimal.FromFloat(nanBits), d.signal(m, c, decimal.Invalid, "")
	}
	return x, nil
}

// plainDigits is the text in ASCII: digits of other scripts by their values, and
// with loose neither blanks around nor underscores.
func plainDigits(text string, loose bool) string {
	var b strings.Builder
	if loose {
		// Paid: by textWork in parse, a character each before.
		text = strings.TrimFunc(text, ucd.IsSpace)
	}
	// Paid: likewise.
	for _, r := range text {
		switch n := ucd.DecimalValue(r); {
		case r == '_' && loose:
		case r < 0x80:
			b.WriteRune(r)
		case n >= 0:
			b.WriteByte(byte('0' + n))
		default:
			return ""
		}
	}
	return b.String()
}

// fromTuple reads (sign, digits, exponent).
func (d *decimalModule) fromTuple(m *vm.Machine, c *contextState, items []vm.Value, exact bool) (decimal.Decimal, error) {
	none := decimal.Decimal{}
	if len(items) != 3 {
		return none, m.ValueError("argument must be a sequence of length 3")
	}
	sign, ok := items[0].Int64()
	if !ok || sign != 0 && sign != 1 {
		return none, m.ValueError("sign must be an integer with the value 0 or 1")
	}
	var b strings.Builder
	if sign == 1 {
		b.WriteByte('-')
	}
	special, isText := items[2].Text()
	exp, isInt := items[2].Int64()
	switch {
	case isText && special == "F":
		b.WriteString("Inf")
	case isText && (special == "n" || special == "N"):
		b.WriteString(map[string]string{"n": "NaN", "N": "sNaN"}[special])
	case isText:
		return none, m.ValueError("string argument in the third position must be 'F', 'n' or 'N'")
	case !isInt:
		if _, big := items[2].BigInt(); big {
			return none, m.Raise(m.Builtin("OverflowError"), "Python int too large to convert to C ssize_t")
		}
		return none, m.ValueError("exponent must be an integer")
	}
	ds, ok := items[1].Items()
	if !ok {
		return none, m.ValueError("coefficient must be a tuple of digits")
	}
	elements(m, len(ds))
	head := b.Len()
	// Paid: by the elements above.
	for _, v := range ds {
		n, ok := v.Int64()
		if !ok || n < 0 || n > 9 {
			return none, m.ValueError("coefficient must be a tuple of digits")
		}
		if special != "F" && (n != 0 || b.Len() > head || !isText) {
			b.WriteByte(byte('0' + n))
		}
	}
	if !isText {
		if len(ds) == 0 {
			b.WriteByte('0')
		}
		b.WriteString("e" + decimalText(exp))
	}
	return d.parse(m, c, b.String(), exact)
}
