package conformance

import (
	"fmt"
	"math/rand"
)

// Programs about floats: arithmetic, conversion and text of numbers from everywhere
// between the smallest and the largest, halves and neighbours among them. Powers
// and functions that a libm rounds as it likes are asked for what is exact only, and
// no NaN for its identity or its sign (number).
const floatPrelude = `import math, struct, json
from decimal import Decimal
def near(x, n):
    for i in range(abs(n)):
        x = math.nextafter(x, math.inf if n > 0 else -math.inf)
    return x
def number(x):
    return x if x == x else 0
def told(x):
    if isinstance(x, float):
        return x.hex() + ' ' + repr(x)
    if isinstance(x, (tuple, list)):
        return [told(y) for y in x]
    return repr(x)`

type floats struct {
	*rand.Rand
	names []string
}

func floatProgram(seed int64) []*statement {
	g := &floats{Rand: rand.New(rand.NewSource(seed))}
	body := []*statement{line(floatPrelude)}
	for i := range 3 {
		name := fmt.Sprintf("x%d", i)
		body = append(body, line(name+" = "+g.literal()))
		g.names = append(g.names, name)
	}
	for range 6 + g.Intn(12) {
		switch g.Intn(6) {
		case 0:
			name := fmt.Sprintf("x%d", len(g.names))
			body = append(body, line(name+" = 0.0"), guarded(line(name+" = "+g.float(3))))
			g.names = append(g.names, name)
		case 1:
			body = append(body, guarded(line(g.names[g.Intn(len(g.names))]+" "+g.pick("+", "-", "*", "/", "//", "%")+"= "+g.number(2))))
		default:
			body = append(body, guarded(line("print(told("+g.anything(3)+"))")))
		}
	}
	return body
}

func (g *floats) pick(list ...string) string { return list[g.Intn(len(list))] }

// literal is a float of any size.
func (g *floats) literal() string {
	switch g.Intn(12) {
	case 0:
		return g.pick("0.0", "-0.0", "float('inf')", "float('-inf')", "float('nan')", "5e-324", "-5e-324", "2.2250738585072014e-308", "1.7976931348623157e+308", "0.1", "0.5", "1.5", "2.5", "1e16", "1e22", "1e23", "9007199254740993.0", "4.35", "2.675", "1e-5", "0.0001", "123456789012345680.0")
	case 1, 2:
		return fmt.Sprintf("%s0x1.%013xp%+d", g.pick("", "-"), g.Int63()>>11, g.Intn(2100)-1060)
	case 3:
		return fmt.Sprintf("%s0x1.%013xp%+d", g.pick("", "-"), g.Int63()>>11, g.Intn(80)-20)
	case 4:
		return fmt.Sprintf("%d.%d", g.Intn(1000), g.Intn(100000))
	case 5:
		return fmt.Sprintf("%de%d", g.Int63(), g.Intn(700)-350)
	case 6:
		return fmt.Sprintf("-%d.%de%d", g.Intn(10), g.Intn(1000000), g.Intn(40)-20)
	case 7:
		return fmt.Sprintf("near(%d.0, %d)", g.Intn(5)-2, g.Intn(5)-2)
	case 8:
		return fmt.Sprintf("near(2.0**%d, %d)", g.Intn(2096)-1074, g.Intn(5)-2)
	case 9:
		return fmt.Sprintf("float(10**%d)", g.Intn(60))
	case 10:
		return fmt.Sprintf("float('%s%d_0.%dE%+d ')", g.pick(" +", "-", "\\t"), g.Intn(1000), g.Int31(), g.Intn(330)-160)
	}
	return fmt.Sprintf("%d / %d", g.Intn(2000)-1000, 1+g.Intn(30))
}

func (g *floats) name() string { return g.names[g.Intn(len(g.names))] }

// hexed is a literal with a hexadecimal significand as Python writes it.
func hexed(text string) string {
	if len(text) > 2 && (text[:2] == "0x" || text[:3] == "-0x") {
		return "float.fromhex('" + text + "')"
	}
	return text
}

func (g *floats) float(depth int) string {
	if depth <= 0 || g.Intn(4) == 0 {
		if g.Intn(3) > 0 {
			return g.name()
		}
		return "(" + hexed(g.literal()) + ")"
	}
	a, b, n := g.float(depth-1), g.number(depth-1), g.integer(depth-1)
	switch g.Intn(26) {
	case 0, 1, 2:
		return "(" + a + g.pick(" + ", " - ", " * ", " / ", " // ", " % ") + b + ")"
	case 3, 4:
		return "(" + b + g.pick(" + ", " - ", " * ", " / ", " // ", " % ") + a + ")"
	case 5:
		return "(" + g.pick("2.0", "-2.0", "0.5", "1.0", "-1.0", "4", "10.0", a+" * 0.0") + " ** " + fmt.Sprint(g.Intn(24)-2) + ")"
	case 6:
		return g.pick("abs", "float", "-", "+", "math.fabs", "math.sqrt") + "(" + a + ")"
	case 7:
		return "round(" + a + ", " + fmt.Sprint(g.Intn(40)-15) + ")"
	case 8:
		return "divmod(" + a + ", " + b + ")[" + g.pick("0", "1") + "]"
	case 9:
		return "float.fromhex((" + a + ").hex())"
	case 10:
		return "float(" + g.pick("str", "repr", "Decimal", "'{:.3}'.format", "'%.5e'.__mod__") + "(" + a + "))"
	case 11:
		return "float(" + n + ")"
	case 12:
		return "sum([" + a + ", " + b + ", " + g.number(1) + "])"
	case 13:
		return "math.fsum([" + a + ", " + b + ", " + g.number(1) + "])"
	case 14:
		return g.pick("max", "min") + "(" + a + ", " + b + ")"
	case 15:
		return "math." + g.pick("fmod(", "remainder(", "nextafter(") + a + ", " + b + ")"
	case 16:
		return "math.ldexp(" + a + ", " + fmt.Sprint(g.Intn(2200)-1100) + ")"
	case 17:
		return "math." + g.pick("frexp(", "modf(") + a + ")[" + g.pick("0", "1") + "]"
	case 18:
		return g.pick("math.ulp("+a, "math.copysign("+a+", number("+b+")") + ")"
	case 19:
		return "struct.unpack('<" + g.pick("d", "f", "e") + "', struct.pack('<" + g.pick("d", "d", "f", "e") + "', " + a + "))[0]"
	case 20:
		return "json.loads(json.dumps(" + a + "))"
	case 21:
		return "(" + n + " / " + g.integer(depth-1) + ")"
	case 22:
		return "(" + a + " if " + g.truth(depth-1) + " else " + g.float(depth-1) + ")"
	case 23:
		return "math.prod([" + a + ", " + b + "], start=" + g.number(0) + ")"
	case 24:
		return "(" + a + ").__r" + g.pick("sub", "truediv", "floordiv", "mod", "mul") + "__(" + b + ")"
	}
	return "sorted([" + a + ", " + g.number(1) + ", " + g.number(1) + "])[" + g.pick("0", "1", "-1") + "]"
}

func (g *floats) integer(depth int) string {
	if depth <= 0 || g.Intn(3) == 0 {
		return g.pick("0", "1", "-1", "3", "-7", "10", "255", "2**53", "2**53 + 1", "-2**63", "2**64 - 1", "10**22", "10**23 + 1", "2**1023", "2**1024", "-10**309", "True", fmt.Sprint(g.Int63()), fmt.Sprint(g.Intn(2000)-1000))
	}
	a := g.float(depth - 1)
	switch g.Intn(9) {
	case 0:
		return g.pick("int", "round", "math.floor", "math.ceil", "math.trunc") + "(" + a + ")"
	case 1:
		return "(" + a + ").as_integer_ratio()[" + g.pick("0", "1") + "]"
	case 2:
		return "(" + g.integer(depth-1) + g.pick(" + ", " * ", " - ", " // ", " % ") + g.integer(depth-1) + ")"
	case 3:
		return "math.isqrt(abs(" + g.integer(depth-1) + "))"
	case 4:
		return "math.frexp(" + a + ")[1]"
	case 5:
		return "round(" + g.integer(depth-1) + ", " + fmt.Sprint(-g.Intn(20)) + ")"
	case 6:
		return "int(Decimal(" + a + "))"
	case 7:
		return "hash(number(" + a + "))"
	}
	return "(" + a + ").__" + g.pick("round", "int", "trunc", "floor", "ceil") + "__()"
}

func (g *floats) number(depth int) string {
	if g.Intn(3) == 0 {
		return "(" + g.integer(depth) + ")"
	}
	return g.float(depth)
}

func (g *floats) truth(depth int) string {
	a, b := g.float(depth), g.number(depth)
	switch g.Intn(5) {
	case 0:
		return "(" + a + ").is_integer()"
	case 1:
		return "math." + g.pick("isnan", "isinf", "isfinite") + "(" + a + ")"
	case 2:
		return "math.isclose(" + a + ", " + b + ", rel_tol=" + g.pick("1e-9", "0.0", "0.5") + ", abs_tol=" + g.pick("0.0", "1.0", "1e-300") + ")"
	case 3:
		return "(number(" + a + ")" + g.pick(" in ", " not in ") + "[number(" + b + "), number(" + a + ")])"
	}
	return "(" + a + g.pick(" < ", " <= ", " == ", " != ", " > ", " >= ") + b + ")"
}

// spec is a format of numbers.
func (g *floats) spec() string {
	out := ""
	if g.Intn(3) == 0 {
		out = g.pick("*", " ", "0", "") + g.pick("<", ">", "^", "=")
	}
	out += g.pick("", "", "+", "-", " ") + g.pick("", "", "z", "") + g.pick("", "", "#") + g.pick("", "", "0")
	if g.Intn(2) == 0 {
		out += fmt.Sprint(g.Intn(30))
	}
	out += g.pick("", "", ",", "_")
	if g.Intn(2) == 0 {
		out += "." + fmt.Sprint(g.Intn(25))
	}
	return out + g.pick("", "e", "E", "f", "F", "g", "G", "%", "n", "d", "x", "s")
}

func (g *floats) anything(depth int) string {
	a := g.float(depth)
	switch g.Intn(12) {
	case 0:
		return "format(" + a + ", '" + g.spec() + "')"
	case 1:
		return fmt.Sprintf("'%%%s%s%s%s' %% %s", g.pick("", "+", " ", "-", "#", "0"), g.pick("", "12", "30"), g.pick("", ".0", ".3", ".17"), g.pick("e", "f", "g", "E", "G", "r", "s", "d", "a"), "("+a+",)")
	case 2:
		return g.integer(depth)
	case 3:
		return g.truth(depth)
	case 4:
		return "(" + a + ").as_integer_ratio()"
	case 5:
		return "divmod(" + a + ", " + g.number(2) + ")"
	case 6:
		return "[" + a + ", str(" + g.float(1) + "), repr(" + g.float(1) + ")]"
	case 7:
		return "struct.pack('" + g.pick("<", ">", "!") + g.pick("d", "f", "e") + "', number(" + a + "))"
	case 8:
		return g.pick("Decimal", "bool", "ascii") + "(" + a + ")"
	case 9:
		return "f'{" + g.name() + ":" + g.spec() + "}|{" + g.name() + "!r:>25}'"
	}
	return a
}
