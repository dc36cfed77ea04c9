package chain

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// appendKept appends a value as the state keeps it, in the profile of CIP-11 §12.6:
// integers and amounts as integers, bytes as bytes, groups as maps.
func appendKept(dst []byte, value any) []byte {
	switch v := value.(type) {
	case *uint64:
		return cbor.AppendUint(dst, *v)
	case *bool:
		return cbor.AppendBool(dst, *v)
	case *string:
		return cbor.AppendText(dst, *v)
	case *Wei:
		return cbor.AppendUint(dst, uint64(*v))
	case hexBytes:
		return cbor.AppendBytes(dst, v)
	case list:
		dst = cbor.AppendArray(dst, v.length())
		for i := range v.length() {
			dst = appendKept(dst, v.item(i))
		}
		return dst
	case group:
		fields := inKeyOrder(v)
		dst = cbor.AppendMap(dst, len(fields))
		for _, f := range fields {
			dst = appendKept(cbor.AppendText(dst, f.name), f.value)
		}
		return dst
	}
	panic(fmt.Sprintf("bug: no form in the state for %T", value))
}

// readKept reads what appendKept writes, and nothing else.
func readKept(r *cbor.Reader, value any) (err error) {
	switch v := value.(type) {
	case *uint64:
		*v, err = r.Uint()
		return err
	case *bool:
		*v, err = r.Bool()
		return err
	case *string:
		*v, err = r.Text(MaxSettingBytes)
		return err
	case *Wei:
		n, err := r.Uint()
		*v = Wei(n)
		return err
	case hexBytes:
		return r.BytesInto(v)
	case list:
		return readKeptList(r, v)
	case group:
		return readKeptGroup(r, v)
	}
	panic(fmt.Sprintf("bug: no form in the state for %T", value))
}

func readKeptList(r *cbor.Reader, v list) error {
	n, err := r.Array(MaxSettingBytes)
	if err != nil {
		return err
	}
	v.empty()
	for i := range n {
		v.grow()
		if err := readKept(r, v.item(i)); err != nil {
			return withinItem(i, err)
		}
	}
	return nil
}

func readKeptGroup(r *cbor.Reader, v group) error {
	fields := inKeyOrder(v)
	n, err := r.Map(MaxSettingBytes)
	if err != nil {
		return err
	}
	if n != len(fields) {
		return fmt.Errorf("%d members, want %d", n, len(fields))
	}
	for _, f := range fields {
		name, err := r.Text(maxNameBytes)
		if err != nil {
			return err
		}
		if name != f.name {
			return within(name, errUnknownField)
		}
		if err := readKept(r, f.value); err != nil {
			return within(name, err)
		}
	}
	return nil
}

// inKeyOrder returns a group's fields in the order of their names as keys.
func inKeyOrder(v group) []field {
	fields := v.fields()
	slices.SortFunc(fields, func(a, b field) int { return keyOrder(a.name, b.name) })
	return fields
}

// appendJSON appends the text of a value as a genesis document spells it, without
// spaces, groups in the order of their declaration.
func appendJSON(dst []byte, value any) []byte {
	switch v := value.(type) {
	case list:
		dst = append(dst, '[')
		for i := range v.length() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendJSON(dst, v.item(i))
		}
		return append(dst, ']')
	case group:
		dst = append(dst, '{')
		for i, f := range v.fields() {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = append(appendQuoted(dst, f.name), ':')
			dst = appendJSON(dst, f.value)
		}
		return append(dst, '}')
	}
	switch doc := documentOf(value); doc.kind {
	case documentBool:
		return strconv.AppendBool(dst, doc.boolean)
	case documentNumber:
		return append(dst, doc.text...)
	default:
		return appendQuoted(dst, doc.text)
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
