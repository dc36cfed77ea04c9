package document

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// KeptBytesMax bounds a value as the state keeps it, and so its items and texts.
const KeptBytesMax = 32 << 10

// AppendKept appends a value as the state keeps it, in the profile of CIP-11 §12.6:
// integers and amounts as integers, bytes as bytes, groups as maps.
func AppendKept(dst []byte, value any) []byte {
	switch v := value.(type) {
	case *uint64:
		return cbor.AppendUint(dst, *v)
	case *bool:
		return cbor.AppendBool(dst, *v)
	case *string:
		return cbor.AppendText(dst, *v)
	case *chain.Wei:
		return cbor.AppendUint(dst, uint64(*v))
	case Hex:
		return cbor.AppendBytes(dst, v)
	case list:
		dst = cbor.AppendArray(dst, v.length())
		for i := range v.length() {
			dst = AppendKept(dst, v.item(i))
		}
		return dst
	case Group:
		fields := inKeyOrder(v)
		dst = cbor.AppendMap(dst, len(fields))
		for _, f := range fields {
			dst = AppendKept(cbor.AppendText(dst, f.Name), f.Value)
		}
		return dst
	}
	panic(fmt.Sprintf("bug: no form in the state for %T", value))
}

// ReadKept reads what AppendKept writes, and nothing else.
func ReadKept(r *cbor.Reader, value any) (err error) {
	switch v := value.(type) {
	case *uint64:
		*v, err = r.Uint()
		return err
	case *bool:
		*v, err = r.Bool()
		return err
	case *string:
		*v, err = r.Text(KeptBytesMax)
		return err
	case *chain.Wei:
		n, err := r.Uint()
		*v = chain.Wei(n)
		return err
	case Hex:
		return r.BytesInto(v)
	case list:
		return readKeptList(r, v)
	case Group:
		return readKeptGroup(r, v)
	}
	panic(fmt.Sprintf("bug: no form in the state for %T", value))
}

func readKeptList(r *cbor.Reader, v list) error {
	n, err := r.Array(KeptBytesMax)
	if err != nil {
		return err
	}
	v.empty()
	for i := range n {
		v.grow()
		if err := ReadKept(r, v.item(i)); err != nil {
			return withinItem(i, err)
		}
	}
	return nil
}

func readKeptGroup(r *cbor.Reader, v Group) error {
	fields := inKeyOrder(v)
	n, err := r.Map(KeptBytesMax)
	if err != nil {
		return err
	}
	if n != len(fields) {
		return fmt.Errorf("%d members, want %d", n, len(fields))
	}
	for _, f := range fields {
		name, err := r.Text(NameBytesMax)
		if err != nil {
			return err
		}
		if name != f.Name {
			return within(name, errUnknownField)
		}
		if err := ReadKept(r, f.Value); err != nil {
			return within(name, err)
		}
	}
	return nil
}

// inKeyOrder returns a group's fields in the order of their names as keys.
func inKeyOrder(v Group) []Field {
	fields := v.Fields()
	slices.SortFunc(fields, func(a, b Field) int { return keyOrder(a.Name, b.Name) })
	return fields
}

// AppendJSON appends the text of a value as a genesis document spells it, without
// spaces, groups in the order of their declaration.
func AppendJSON(dst []byte, value any) []byte {
	switch v := value.(type) {
	case list:
		dst = append(dst, '[')
		for i := range v.length() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendJSON(dst, v.item(i))
		}
		return append(dst, ']')
	case Group:
		dst = append(dst, '{')
		for i, f := range v.Fields() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendQuoted(dst, f.Name), ':')
			dst = AppendJSON(dst, f.Value)
		}
		return append(dst, '}')
	}
	switch doc := Of(value); doc.Kind {
	case Bool:
		return strconv.AppendBool(dst, doc.Bool)
	case Number:
		return append(dst, doc.Text...)
	default:
		return appendQuoted(dst, doc.Text)
	}
}

// appendQuoted appends a string of JSON.
func appendQuoted(dst []byte, text string) []byte {
	dst = append(dst, '"')
	for _, c := range []byte(text) {
		switch {
		case c == '"' || c == '\\':
			dst = append(dst, '\\', c)
		case c < ' ':
			dst = fmt.Appendf(dst, `\u%04x`, c)
		default:
			dst = append(dst, c)
		}
	}
	return append(dst, '"')
}
