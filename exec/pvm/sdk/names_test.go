package sdk

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cowboy-foundation/cowboy/exec/pvm/compile"
	"github.com/cowboy-foundation/cowboy/exec/pvm/host"
	"github.com/cowboy-foundation/cowboy/exec/pvm/syntax"
)

// surface is what programs may import, by name: a signature, or "" where the
// name is no function.
type surface map[string]string

func (s surface) method(owner string, f *syntax.FunctionDef) {
	if strings.HasPrefix(f.Name, "_") {
		return
	}
	s[owner+f.Name] = signature(f.Args, owner != "" && !static(f))
}

func static(f *syntax.FunctionDef) bool {
	return slices.ContainsFunc(f.DecoratorList, func(e syntax.Expr) bool {
		n, ok := e.(*syntax.Name)
		return ok && n.ID == "staticmethod"
	})
}

// signature writes parameters as Python does.
func signature(a *syntax.Arguments, method bool) string {
	var out []string
	args := slices.Concat(a.PosOnlyArgs, a.Args)
	for i, p := range args {
		s := p.Arg
		if d := i - (len(args) - len(a.Defaults)); d >= 0 {
			s += "=" + literal(a.Defaults[d])
		}
		out = append(out, s)
	}
	if method {
		out = out[1:]
	}
	switch {
	case a.VarArg != nil:
		out = append(out, "*"+a.VarArg.Arg)
	case len(a.KwOnlyArgs) > 0:
		out = append(out, "*")
	}
	for i, p := range a.KwOnlyArgs {
		s := p.Arg
		if a.KwDefaults[i] != nil {
			s += "=" + literal(a.KwDefaults[i])
		}
		out = append(out, s)
	}
	if a.KwArg != nil {
		out = append(out, "**"+a.KwArg.Arg)
	}
	return "(" + strings.Join(out, ", ") + ")"
}

func literal(e syntax.Expr) string {
	switch e := e.(type) {
	case *syntax.Name:
		return "..."
	case *syntax.Tuple:
		return "()"
	case *syntax.Constant:
		switch e.Kind {
		case syntax.ConstNone:
			return "None"
		case syntax.ConstInt:
			return e.Int.String()
		case syntax.ConstStr:
			return `"` + e.Text + `"`
		case syntax.ConstBytes:
			return `b"` + e.Text + `"`
		}
	}
	return "..."
}

// surfaceOf reads the module's source.
func surfaceOf(t *testing.T) (names, errors surface) {
	mod, err := syntax.Parse([]byte(sdkSource), compile.DefaultLimits().Syntax)
	if err != nil {
		t.Fatal(err)
	}
	names, errors = surface{}, surface{}
	classes := map[string]*syntax.ClassDef{}
	for _, s := range mod.Body {
		switch s := s.(type) {
		case *syntax.ImportFrom:
			for _, a := range s.Names {
				names[a.Name] = "native"
			}
		case *syntax.FunctionDef:
			names.method("", s)
		case *syntax.ClassDef:
			classes[s.Name] = s
			code := slices.IndexFunc(s.Body, func(s syntax.Stmt) bool {
				a, ok := s.(*syntax.Assign)
				return ok && a.Targets[0].(*syntax.Name).ID == "code"
			})
			switch {
			case code >= 0:
				errors[s.Name] = s.Body[code].(*syntax.Assign).Value.(*syntax.Constant).Text
			case !strings.HasPrefix(s.Name, "_"):
				names.class(s.Name, s)
			}
		case *syntax.Assign:
			names.assigned(s, classes)
		}
	}
	return names, errors
}

// class adds a class and its methods.
func (s surface) class(owner string, c *syntax.ClassDef) {
	s[owner] = ""
	for _, m := range c.Body {
		if f, ok := m.(*syntax.FunctionDef); ok {
			if f.Name == "__init__" || f.Name == "__new__" {
				s[owner] = signature(f.Args, true)
			}
			s.method(owner+".", f)
		}
	}
}

// assigned adds a global name, with the methods of the object that it names.
func (s surface) assigned(a *syntax.Assign, classes map[string]*syntax.ClassDef) {
	for _, target := range a.Targets {
		n, ok := target.(*syntax.Name)
		if !ok || strings.HasPrefix(n.ID, "_") {
			continue
		}
		s[n.ID] = ""
		made, ok := a.Value.(*syntax.Call)
		if !ok {
			continue
		}
		fn, _ := made.Func.(*syntax.Name)
		c := classes[fn.ID]
		if c == nil || fn.ID == "Role" {
			continue
		}
		for _, m := range c.Body {
			switch m := m.(type) {
			case *syntax.FunctionDef:
				s.method(n.ID+".", m)
			case *syntax.Assign:
				s[n.ID+"."+m.Targets[0].(*syntax.Name).ID] = ""
			}
		}
	}
}

var row = regexp.MustCompile("^\\| `([A-Za-z_0-9.]+)(\\(.*\\))?` \\|(.*)$")

// TestNames holds docs/sdk.md to the module: the same names with the same
// parameters, charges that exist, and all codes.
func TestNames(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/sdk.md")
	if err != nil {
		t.Fatal(err)
	}
	names, errors := surfaceOf(t)
	for _, d := range natives() {
		if names[d.Name] != "native" {
			continue
		}
		var params []string
		for i, p := range d.Params {
			if i >= d.Min {
				p += "="
			}
			params = append(params, p)
		}
		names[d.Name] = "native(" + strings.Join(params, ", ") + ")"
	}
	prices := map[string]bool{"handler": true}
	for _, r := range host.DefaultCosts().Rows() {
		prices[r.Name] = false
	}
	quoted := regexp.MustCompile("`([a-z_0-9]+)`")
	listed := map[string]bool{}
	for _, line := range strings.Split(string(doc), "\n") {
		m := row.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		name, args := m[1], m[2]
		if listed[name] {
			t.Errorf("%s stands twice", name)
		}
		listed[name] = true
		if code, ok := errors[name]; ok {
			if !strings.Contains(m[3], code) {
				t.Errorf("%s has the code %s: %s", name, code, line)
			}
			continue
		}
		want, ok := names[name]
		if native, found := strings.CutPrefix(want, "native"); found {
			want, args = native, regexp.MustCompile(`=[^,)]+`).ReplaceAllString(args, "=")
		}
		if !ok || want != args {
			t.Errorf("%s%s is documented, the module has %q", name, args, want)
		}
		cells := strings.Split(m[3], "|")
		if len(cells) < 4 {
			continue
		}
		for _, q := range quoted.FindAllStringSubmatch(cells[1], -1) {
			if _, ok := prices[q[1]]; !ok {
				t.Errorf("%s: no charge %s", name, q[1])
			}
			prices[q[1]] = true
		}
	}
	for _, all := range []surface{names, errors} {
		for _, name := range sortedNames(all) {
			if !listed[name] {
				t.Errorf("%s is not documented", fmt.Sprint(name, all[name]))
			}
		}
	}
	for _, r := range host.DefaultCosts().Rows() {
		if !prices[r.Name] {
			t.Errorf("nothing is charged with %s", r.Name)
		}
	}
	for _, code := range host.Codes() {
		if !slices.Contains(sortedValues(errors), code) {
			t.Errorf("%s has no exception", code)
		}
	}
}

func sortedNames(s surface) []string {
	var out []string
	for n := range s {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}

func sortedValues(s surface) []string {
	var out []string
	for _, v := range s {
		out = append(out, v)
	}
	slices.Sort(out)
	return out
}
