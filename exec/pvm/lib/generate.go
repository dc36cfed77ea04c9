package lib

import (
	"strings"

	"github.com/cowboy-foundation/cowboy/exec/pvm/code"
	"github.com/cowboy-foundation/cowboy/exec/pvm/compile"
	"github.com/cowboy-foundation/cowboy/exec/pvm/vm"
)

// generator makes one function of a fixed shape from names. It is the only way
// to the compiler, and no text gets into it: shapes are here, and what fills them
// are identifiers that were checked.
type generator struct {
	m     *vm.Machine
	names *vm.Dict // the function's globals
}

// over begins a function over these names.
func over(m *vm.Machine, names vm.Value) (*generator, error) {
	if err := m.LibraryOnly(); err != nil {
		return nil, err
	}
	d, ok := names.Dict()
	if !ok {
		return nil, m.TypeError("names must be a dict")
	}
	return &generator{m, d}, nil
}

// nameOf is the text of a value that can stand where a variable stands.
func (g *generator) nameOf(v vm.Value) (string, error) {
	s, ok := v.Text()
	chars(g.m, len(s))
	if !ok || !vm.Identifier(s) || keyword(s) {
		return "", g.m.SyntaxError("invalid syntax")
	}
	return s, nil
}

// all are the names in a list or tuple.
func (g *generator) all(v vm.Value) ([]string, error) {
	items, _ := v.Items()
	elements(g.m, len(items))
	g.m.Alloc(16 * len(items))
	out := make([]string, len(items))
	// Paid: by the elements above, and by name, a character each.
	for i, item := range items {
		s, err := g.nameOf(item)
		if err != nil {
			return nil, err
		}
		out[i] = s
	}
	return out, nil
}

// function compiles the text of a function and makes it, without rights of the
// library. Compiling is charged by the character.
func (g *generator) function(name, source, module string) (vm.Value, error) {
	tokens(g.m, len(source))
	o, err := compile.Source([]byte(source), "<generated "+module+">", compile.DefaultLimits())
	if err != nil {
		return vm.None, g.m.ValueError("%s", err.Error())
	}
	generated(o)
	if err := g.m.DictPut(g.names, g.m.NewStr("__name__"), g.m.NewStr(module)); err != nil {
		return vm.None, err
	}
	if _, err := g.m.RunBody(o, g.names, module); err != nil {
		return vm.None, err
	}
	fn, _, err := g.m.DictGet(g.names, g.m.NewStr(name))
	return fn, err
}

// generated marks code that is counted with what holds it.
func generated(o *code.Object) {
	o.Generated, o.Bytes = true, o.OwnSize()
	// Paid: by function, for the text.
	for _, c := range o.Codes {
		generated(c)
	}
}

// tupleNew makes __new__ of a named tuple: type name, field names.
func tupleNew(m *vm.Machine, a vm.Args) (vm.Value, error) {
	d := m.NewDict()
	defer m.Release(m.Hold(d.Value()))
	g, err := over(m, d.Value())
	if err != nil {
		return vm.None, err
	}
	class, err := g.nameOf(a.Values[0])
	if err != nil {
		return vm.None, err
	}
	fields, err := g.all(a.Values[1])
	if err != nil {
		return vm.None, err
	}
	create, err := m.GetAttr(m.Builtin("tuple").Value(), m.Interned("__new__"))
	if err != nil {
		return vm.None, err
	}
	if err := m.DictPut(d, m.NewStr("_tuple_new"), create); err != nil {
		return vm.None, err
	}
	// Paid: by all, a character each, and by function for the text.
	args := strings.Join(fields, ", ")
	items := args
	if len(fields) == 1 {
		items += ","
	}
	return g.function("__new__", "def __new__(_cls, "+args+"):\n return _tuple_new(_cls, ("+items+"))\n", "namedtuple_"+class)
}

// comparison is the operator of a dataclass's method, "" for the others.
func comparison(name string) string {
	switch name {
	case "__eq__":
		return "=="
	case "__lt__":
		return "<"
	case "__le__":
		return "<="
	case "__gt__":
		return ">"
	case "__ge__":
		return ">="
	}
	return ""
}

// fieldMethod makes a method of a dataclass: module, name, field names, globals.
func fieldMethod(m *vm.Machine, a vm.Args) (vm.Value, error) {
	g, err := over(m, a.Values[3])
	if err != nil {
		return vm.None, err
	}
	module, _ := a.Values[0].Text()
	name, _ := a.Values[1].Text()
	fields, err := g.all(a.Values[2])
	if err != nil {
		return vm.None, err
	}
	const frozen = " if type(self) is cls or name in names:\n  raise FrozenInstanceError(f\"cannot "
	var head, body string
	switch op := comparison(name); {
	case op != "":
		head = "self, other"
		body = " if other.__class__ is self.__class__:\n  return " + fieldsOf("self", fields) + op + fieldsOf("other", fields) + "\n return NotImplemented\n"
	case name == "__repr__":
		head, body = "self", " return f\"{self.__class__.__qualname__}("+shownFields(fields)+")\"\n"
	case name == "__hash__":
		head, body = "self", " return hash("+fieldsOf("self", fields)+")\n"
	case name == "__setattr__":
		head, body = "self, name, value", frozen+"assign to field {name!r}\")\n super(cls, self).__setattr__(name, value)\n"
	case name == "__delattr__":
		head, body = "self, name", frozen+"delete field {name!r}\")\n super(cls, self).__delattr__(name)\n"
	default:
		return vm.None, m.ValueError("no such method")
	}
	return g.function(name, "def "+name+"("+head+"):\n"+body, module)
}

// fieldsOf is the tuple of an object's fields.
func fieldsOf(obj string, fields []string) string {
	var b strings.Builder
	b.WriteByte('(')
	// Paid: likewise.
	for _, f := range fields {
		b.WriteString(obj + "." + f + ",")
	}
	b.WriteByte(')')
	return b.String()
}

// shownFields is how a repr shows the fields.
func shownFields(fields []string) string {
	shown := make([]string, len(fields))
	// Paid: likewise.
	for i, f := range fields {
		shown[i] = f + "={self." + f + "!r}"
	}
	// Paid: likewise.
	return strings.Join(shown, ", ")
}

// How a parameter of __init__ begins and what a line of it assigns; the numbers
// are dataclasses.py's.
const (
	paramRequired = 1
	paramDefault  = 2
	paramFactory  = 3

	assignGiven       = 1
	assignGivenOrMade = 2
	assignMade        = 3
	assignConstant    = 4
)

// initText is __init__ of a dataclass in the making.
type initText struct {
	*generator
	self   string
	frozen bool
	params []string
	body   strings.Builder
}

// fieldInit makes __init__ of a dataclass: module, name of self, specs of fields,
// specs of those by keyword only, frozen, arguments of __post_init__ or None,
// globals.
func fieldInit(m *vm.Machine, a vm.Args) (vm.Value, error) {
	g, err := over(m, a.Values[6])
	if err != nil {
		return vm.None, err
	}
	t := &initText{generator: g}
	module, _ := a.Values[0].Text()
	if t.self, err = g.nameOf(a.Values[1]); err != nil {
		return vm.None, err
	}
	if t.frozen, err = m.Truth(a.Values[4]); err != nil {
		return vm.None, err
	}
	t.params = []string{t.self}
	if err := t.fields(a.Values[2]); err != nil {
		return vm.None, err
	}
	positional := len(t.params)
	t.params = append(t.params, "*")
	if err := t.fields(a.Values[3]); err != nil {
		return vm.None, err
	}
	if len(t.params) == positional+1 {
		t.params = t.params[:positional]
	}
	if !a.Values[5].IsNone() {
		post, err := g.all(a.Values[5])
		if err != nil {
			return vm.None, err
		}
		// Paid: likewise.
		t.body.WriteString(" " + t.self + ".__post_init__(" + strings.Join(post, ", ") + ")\n")
	}
	if t.body.Len() == 0 {
		t.body.WriteString(" pass\n")
	}
	// Paid: by name for each parameter, a character each, and by function for the text.
	return g.function("__init__", "def __init__("+strings.Join(t.params, ", ")+"):\n"+t.body.String(), module)
}

// fields adds what the specs of fields say, each a tuple of name, parameter,
// assignment and default.
func (t *initText) fields(specs vm.Value) error {
	items, _ := specs.Items()
	elements(t.m, len(items))
	// Paid: by the elements above, and by name, a character each; the text is paid in function.
	for _, item := range items {
		spec, _ := item.Items()
		if len(spec) != 4 {
			return t.m.ValueError("no spec of a field")
		}
		name, err := t.nameOf(spec[0])
		if err != nil {
			return err
		}
		if !spec[3].IsNone() || t.usesDefault(spec) {
			if err := t.m.DictPut(t.names, t.m.NewStr("_dflt_"+name), spec[3]); err != nil {
				return err
			}
		}
		t.field(name, spec)
	}
	return nil
}

// usesDefault tells specs whose text names the default.
func (t *initText) usesDefault(spec []vm.Value) bool {
	param, _ := spec[1].Int64()
	assign, _ := spec[2].Int64()
	return param == paramDefault || assign > assignGiven
}

func (t *initText) field(name string, spec []vm.Value) {
	param, _ := spec[1].Int64()
	assign, _ := spec[2].Int64()
	fallback := "_dflt_" + name
	switch param {
	case paramRequired:
		t.params = append(t.params, name)
	case paramDefault:
		t.params = append(t.params, name+"="+fallback)
	case paramFactory:
		t.params = append(t.params, name+"=_HAS_DEFAULT_FACTORY")
	}
	var value string
	switch assign {
	case assignGiven:
		value = name
	case assignGivenOrMade:
		value = fallback + "() if _same(" + name + ", _HAS_DEFAULT_FACTORY) else " + name
	case assignMade:
		value = fallback + "()"
	case assignConstant:
		value = fallback
	default:
		return
	}
	if t.frozen {
		t.body.WriteString(" _object_setattr(" + t.self + ", '" + name + "', " + value + ")\n")
		return
	}
	t.body.WriteString(" " + t.self + "." + name + " = " + value + "\n")
}
