package main

import (
	"fmt"
	"go/ast"
	"slices"
	"strconv"
)

// This file writes the code for one value of a field, by its shape.

// shape sorts types by how they are encoded.
type shape int

const (
	shapeUint shape = iota
	shapeBool
	shapeFloat
	shapeText
	shapeByteArray
	shapeByteSlice
	shapeArray
	shapeSlice
	shapePointer
	shapeStruct
	shapeUnion
	shapeWritten
)

// shapeOf resolves names down to what is encoded. elem is the element of an
// array, a slice or a pointer.
func (g *generator) shapeOf(f field, typ ast.Expr) (s shape, elem ast.Expr, err error) {
	switch t := typ.(type) {
	case *ast.Ident:
		switch t.Name {
		case "uint64", "uint32", "uint16", "uint8":
			return shapeUint, nil, nil
		case "bool":
			return shapeBool, nil, nil
		case "float64":
			return shapeFloat, nil, nil
		case "string":
			return shapeText, nil, nil
		}
		if slices.Contains(written, t.Name) {
			return shapeWritten, nil, nil
		}
		switch under := g.types[t.Name].(type) {
		case nil:
		case *ast.StructType:
			return shapeStruct, nil, nil
		case *ast.InterfaceType:
			return shapeUnion, nil, nil
		default:
			return g.shapeOf(f, under)
		}
	case *ast.SelectorExpr:
		if under, ok := g.types[typeName(t)]; ok {
			return g.shapeOf(f, under)
		}
	case *ast.ArrayType:
		id, _ := t.Elt.(*ast.Ident)
		isByte := id != nil && id.Name == "byte"
		switch {
		case t.Len == nil && isByte:
			return shapeByteSlice, nil, nil
		case t.Len == nil:
			return shapeSlice, t.Elt, nil
		case isByte:
			return shapeByteArray, nil, nil
		default:
			return shapeArray, t.Elt, nil
		}
	case *ast.StarExpr:
		return shapePointer, t.X, nil
	}
	return 0, nil, fmt.Errorf("%s.%s: no encoding for its type", f.object, f.name)
}

// write emits code that appends the value of expression v. inner marks an
// element, whose nullability is not the field's.
func (g *generator) write(f field, v string, typ ast.Expr, inner bool) error {
	s, elem, err := g.shapeOf(f, typ)
	if err != nil {
		return err
	}
	nullable := f.null && !inner
	if nullable {
		g.line("if %s == nil {\ndst = cbor.AppendNull(dst)\n} else {", v)
		defer g.line("}")
	}
	switch s {
	case shapeUint:
		g.line("dst = cbor.AppendUint(dst, uint64(%s))", v)
	case shapeBool:
		g.line("dst = cbor.AppendBool(dst, %s)", v)
	case shapeFloat:
		g.line("dst = cbor.AppendFloat(dst, %s)", v)
	case shapeText:
		g.line("dst = cbor.AppendText(dst, %s)", asBasic(v, typ, "string"))
	case shapeByteArray:
		g.line("dst = cbor.AppendBytes(dst, %s[:])", v)
	case shapeByteSlice:
		g.line("dst = cbor.AppendBytes(dst, %s)", v)
	case shapeStruct, shapeUnion, shapeWritten:
		g.line("dst = %s.appendTo(dst)", v)
	case shapePointer:
		g.line("if %s == nil {\ndst = cbor.AppendNull(dst)\n} else {", v)
		if err := g.write(f, g.pointed(f, v, elem), elem, true); err != nil {
			return err
		}
		g.line("}")
	case shapeArray, shapeSlice:
		g.line("dst = cbor.AppendArray(dst, len(%s))", v)
		g.line("for i := range %s {", v)
		if err := g.write(f, v+"[i]", elem, true); err != nil {
			return err
		}
		g.line("}")
	}
	return nil
}

// pointed is the expression for what pointer v points to, in the place of a value: Go
// takes the pointer itself for arrays and structs.
func (g *generator) pointed(f field, v string, elem ast.Expr) string {
	switch s, _, err := g.shapeOf(f, elem); {
	case err != nil, s == shapeStruct, s == shapeByteArray, s == shapeArray:
		return v
	default:
		return "*" + v
	}
}

// asBasic converts expression v to a basic type, where its own is another.
func asBasic(v string, typ ast.Expr, basic string) string {
	if typeName(typ) == basic {
		return v
	}
	return basic + "(" + v + ")"
}

// read emits code that reads into expression v.
func (g *generator) read(f field, v string, typ ast.Expr, inner bool) error {
	s, elem, err := g.shapeOf(f, typ)
	if err != nil {
		return err
	}
	if s == shapePointer {
		g.line("if r.Null() {")
		g.line("%s = nil", v)
		g.line("} else {")
		g.line("if %s == nil {", v)
		g.line("%s = new(%s)", v, typeName(elem))
		g.line("}")
		if err := g.read(f, g.pointed(f, v, elem), elem, true); err != nil {
			return err
		}
		g.line("}")
		return nil
	}
	limit := f.limit
	if inner && f.item != "" {
		limit = f.item
	}
	if (s == shapeText || s == shapeByteSlice || s == shapeSlice || s == shapeWritten) && limit == "" {
		return fmt.Errorf("%s.%s: needs a limit", f.object, f.name)
	}
	if f.null && !inner && s != shapeSlice {
		g.line("if !r.Null() {")
		defer g.line("}")
	}
	fail := f.failing()
	switch s {
	case shapeUint:
		g.line("if v, err := %s%s else {\n%s = %s(v)\n}", g.uintReader(f, typ), fail, v, typeName(typ))
	case shapeBool:
		g.line("if v, err := r.Bool()%s else {\n%s = v\n}", fail, v)
	case shapeFloat:
		g.line("if v, err := r.Float()%s else {\n%s = v\n}", fail, v)
	case shapeText:
		g.line("if v, err := r.Text(%s)%s else {\n%s = %s\n}", limit, fail, v, asNamed("v", typ, "string"))
	case shapeByteArray:
		g.line("if err := r.BytesInto(%s[:])%s", v, fail)
	case shapeByteSlice:
		g.line("if v, err := r.Bytes(%s)%s else {\n%s = v\n}", limit, fail, v)
	case shapeStruct:
		g.line("if err := %s.readFrom(r)%s", v, fail)
	case shapeUnion:
		g.line("if v, err := read%s(r)%s else {\n%s = v\n}", typeName(typ), fail, v)
	case shapeWritten:
		g.line("if v, err := read%s(r, %s)%s else {\n%s = v\n}", typeName(typ), limit, fail, v)
	case shapeArray:
		g.line("if err := r.ArrayOf(len(%s))%s", v, fail)
		g.line("for i := range %s {", v)
		if err := g.read(f, v+"[i]", elem, true); err != nil {
			return err
		}
		g.line("}")
	case shapeSlice:
		return g.readSlice(f, v, elem, fail, inner)
	}
	return nil
}

// failing is the end of a condition on an error of the field.
func (f *field) failing() string {
	return fmt.Sprintf("; err != nil {\nreturn &%sFieldError{Object: %q, Field: %q, Err: err}\n}", f.chain, f.object, f.said)
}

// uintReader is the call that reads an integer within its bounds.
func (g *generator) uintReader(f field, typ ast.Expr) string {
	most := f.most
	if most == "" {
		most = map[string]string{"uint8": "1<<8 - 1", "uint16": "1<<16 - 1", "uint32": "1<<32 - 1"}[g.basic(typ)]
	}
	switch {
	case f.least != "" && most == "":
		return fmt.Sprintf("%sReadUint(r, %s, 1<<64 - 1)", f.chain, f.least)
	case f.least != "":
		return fmt.Sprintf("%sReadUint(r, %s, %s)", f.chain, f.least, most)
	case most != "" && f.chain != "":
		return fmt.Sprintf("%sReadUint(r, 0, %s)", f.chain, most)
	case most != "":
		return fmt.Sprintf("readUintTo(r, %s)", most)
	default:
		return "r.Uint()"
	}
}

// basic is the name of the type that a declared one is made of.
func (g *generator) basic(typ ast.Expr) string {
	name := typeName(typ)
	for g.types[name] != nil {
		name = typeName(g.types[name])
	}
	return name
}

// asNamed converts expression v of a basic type to its field's, where that is another.
func asNamed(v string, typ ast.Expr, basic string) string {
	if name := typeName(typ); name != basic {
		return name + "(" + v + ")"
	}
	return v
}

func (g *generator) readSlice(f field, v string, elem ast.Expr, fail string, inner bool) error {
	nullable := f.null && !inner
	if nullable {
		g.line("if !r.Null() {")
	}
	least, err := g.leastBytes(f, elem)
	if err != nil {
		return err
	}
	g.line("if n, err := r.ArrayEach(%s, %d)%s else ", f.limit, least, fail)
	g.out.Truncate(g.out.Len() - 1) // the brace belongs on the same line
	if nullable {
		g.line("{\n%s = make([]%s, n)\n}", v, typeName(elem))
	} else {
		g.line("if n > 0 {\n%s = make([]%s, n)\n}", v, typeName(elem))
	}
	g.line("for i := range %s {", v)
	if err := g.read(f, v+"[i]", elem, true); err != nil {
		return err
	}
	g.line("}")
	if nullable {
		g.line("}")
	}
	return nil
}

func typeName(typ ast.Expr) string {
	switch t := typ.(type) {
	case *ast.Ident:
		return t.Name
	case *ast.SelectorExpr:
		return typeName(t.X) + "." + t.Sel.Name
	}
	return ""
}

// leastBytes is how many bytes the encoding of a type has at the least, or fewer: what a
// reader may take an announced element for before it has read it.
func (g *generator) leastBytes(f field, typ ast.Expr) (int, error) {
	s, _, err := g.shapeOf(f, typ)
	switch {
	case err != nil:
		return 0, err
	case s == shapeByteArray:
		return g.leastBytesOfArray(typ), nil
	case s != shapeStruct:
		return 1, nil
	}
	sum := 1
	for _, inner := range g.types[typeName(typ)].(*ast.StructType).Fields.List {
		least, err := g.leastBytes(f, inner.Type)
		if err != nil {
			return 0, err
		}
		sum += least * len(inner.Names)
	}
	return sum, nil
}

// leastBytesOfArray is the head of a byte string and the bytes, as far as the declaration
// says their number itself.
func (g *generator) leastBytesOfArray(typ ast.Expr) int {
	if id, ok := typ.(*ast.Ident); ok {
		return g.leastBytesOfArray(g.types[id.Name])
	}
	length, ok := typ.(*ast.ArrayType).Len.(*ast.BasicLit)
	if !ok {
		return 1
	}
	n, err := strconv.Atoi(length.Value)
	switch {
	case err != nil:
		return 1
	case n < 24:
		return 1 + n
	}
	return 2 + n
}
