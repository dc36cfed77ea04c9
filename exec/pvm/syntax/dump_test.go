package syntax

import (
	"encoding/hex"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
)

// dump writes a tree in the notation of testdata/astdump.py: every node with
// its type, place and fields in Python's order.
func dump(v any) string {
	var b strings.Builder
	dumpValue(&b, reflect.ValueOf(v))
	return b.String()
}

var places = regexp.MustCompile(`@\d+:\d+`)

func withoutPlaces(tree string) string { return places.ReplaceAllString(tree, "") }

// pythonNames are the node types whose Python names differ from ours.
var pythonNames = map[string]string{
	"ExprStmt": "Expr", "Arguments": "arguments", "Arg": "arg", "Keyword": "keyword", "Alias": "alias",
	"WithItem": "withitem", "Comprehension": "comprehension", "MatchCase": "match_case",
}

func dumpValue(b *strings.Builder, v reflect.Value) {
	switch x := v.Interface().(type) {
	case *Constant:
		if x == nil {
			break
		}
		kind := "_"
		if x.U {
			kind = `"u"`
		}
		fmt.Fprintf(b, "(Constant@%d:%d %s %s)", x.Line, x.Col, dumpConstant(x), kind)
		return
	case *MatchSingleton:
		fmt.Fprintf(b, "(MatchSingleton@%d:%d %s)", x.Line, x.Col, dumpConstant(&Constant{Kind: x.Value}))
		return
	case fmt.Stringer: // operators and contexts
		fmt.Fprintf(b, "(%s)", x)
		return
	}
	switch v.Kind() {
	case reflect.Interface, reflect.Pointer:
		if v.IsNil() {
			b.WriteString("_")
			return
		}
		dumpValue(b, v.Elem())
	case reflect.Struct:
		dumpStruct(b, v)
	case reflect.Slice:
		b.WriteString("[")
		for i := range v.Len() {
			if i > 0 {
				b.WriteString(" ")
			}
			dumpValue(b, v.Index(i))
		}
		b.WriteString("]")
	case reflect.String:
		if v.Len() == 0 {
			b.WriteString("_")
			return
		}
		b.WriteString(dumpText(v.String()))
	case reflect.Bool:
		b.WriteString(map[bool]string{true: "1", false: "0"}[v.Bool()])
	default:
		fmt.Fprint(b, v.Interface())
	}
}

func dumpStruct(b *strings.Builder, v reflect.Value) {
	name := v.Type().Name()
	if python, ok := pythonNames[name]; ok {
		name = python
	}
	b.WriteString("(" + name)
	for i := range v.NumField() {
		if v.Type().Field(i).Name == "Tokens" {
			continue // no part of Python's tree
		}
		if pos, ok := v.Field(i).Interface().(Pos); ok {
			fmt.Fprintf(b, "@%d:%d", pos.Line, pos.Col)
			continue
		}
		b.WriteString(" ")
		dumpValue(b, v.Field(i))
	}
	b.WriteString(")")
}

func dumpText(s string) string {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' || s[i] == '"' || s[i] == '\\' {
			return "x" + hex.EncodeToString([]byte(s))
		}
	}
	return `"` + s + `"`
}

func dumpConstant(c *Constant) string {
	switch c.Kind {
	case ConstNone:
		return "None"
	case ConstTrue:
		return "True"
	case ConstFalse:
		return "False"
	case ConstEllipsis:
		return "Ellipsis"
	case ConstStr:
		return dumpText(c.Text)
	case ConstBytes:
		return "b" + hex.EncodeToString([]byte(c.Text))
	case ConstInt:
		return "i" + c.Int.Text(16)
	}
	f, _ := strconv.ParseFloat(c.Text, 64) // out of range is infinity, as in Python
	return fmt.Sprintf("f%016x", math.Float64bits(f))
}
