package document

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/cowboy-foundation/cowboy/chain"
)

var (
	errUnknownField = errors.New("unknown field")
	errMissingField = errors.New("field is missing")
)

// Field is a member of a group: its name in documents, and where its value lies, which
// is one of
//
//	*uint64, *uint32, *bool, *string
//	*chain.Wei an amount, in documents a decimal string
//	Hex        bytes of one length, in documents 0x and hex digits
//	UnsetHex   likewise, and the empty string for zeros
//	list       values of one type
//	Group      members
//	optional   a group that may be absent
//
// codecgen writes the lists of fields from the declarations, so that none is forgotten
// and nothing has to look at types while the chain runs.
type Field struct {
	Name  string
	Value any
}

type Group interface {
	Fields() []Field
	Member(name string) any // where the value of one lies; nil: there is none
}

type (
	Hex      []byte
	UnsetHex []byte
)

type list interface {
	length() int
	item(i int) any
	empty()  // not nil
	grow()   // by a zero value
	detach() // shares nothing with a copy any more, itself apart from its items; nil becomes empty
}

type listOf[T any] struct {
	values *[]T
	value  func(*T) any
}

// ListOf returns a list, with where the value of an item lies.
func ListOf[T any](values *[]T, value func(*T) any) any { return listOf[T]{values, value} }

func (l listOf[T]) length() int    { return len(*l.values) }
func (l listOf[T]) item(i int) any { return l.value(&(*l.values)[i]) }

func (l listOf[T]) empty() { *l.values = []T{} }

func (l listOf[T]) grow() {
	var zero T
	*l.values = append(*l.values, zero)
}

func (l listOf[T]) detach() {
	*l.values = append(make([]T, 0, len(*l.values)), *l.values...)
}

type optional interface {
	get() Group // nil: absent
	set() Group // makes it present
}

type pointer[T any, P interface {
	*T
	Group
}] struct{ to **T }

// PointerTo returns a group that may be absent.
func PointerTo[T any, P interface {
	*T
	Group
}](to **T) any {
	return pointer[T, P]{to}
}

func (p pointer[T, P]) get() Group {
	if *p.to == nil {
		return nil
	}
	return P(*p.to)
}

func (p pointer[T, P]) set() Group {
	*p.to = new(T)
	return P(*p.to)
}

// Detach makes a copy of a struct share nothing with the original.
func Detach(value any) {
	switch v := value.(type) {
	case list:
		v.detach()
		for i := range v.length() {
			Detach(v.item(i))
		}
	case Group:
		for _, f := range v.Fields() {
			Detach(f.Value)
		}
	}
}

// Fill sets a value to what a document says. It is strict: each member of a group
// stands in the document, and nothing else does. Errors name the place.
func Fill(value any, doc *Value) error {
	switch v := value.(type) {
	case *uint64:
		n, err := doc.integer(64)
		*v = n
		return err
	case *uint32:
		n, err := doc.integer(32)
		*v = uint32(n)
		return err
	case *bool:
		*v = doc.Bool
		return doc.is(Bool)
	case *string:
		*v = doc.Text
		return doc.is(Text)
	case *chain.Wei:
		if doc.Kind != Number {
			if err := doc.is(Text); err != nil {
				return err
			}
		}
		amount, err := chain.ParseWei([]byte(doc.Text))
		if err == nil {
			*v = amount
		}
		return atPlace(err)
	case Hex:
		return doc.hex(v)
	case UnsetHex:
		if doc.Kind == Text && doc.Text == "" {
			clear(v)
			return nil
		}
		return doc.hex(v)
	case list:
		return fillList(v, doc)
	case Group:
		return fillGroup(v, doc)
	}
	panic(fmt.Sprintf("bug: no form in documents for %T", value))
}

func fillList(v list, doc *Value) error {
	if err := doc.is(List); err != nil {
		return err
	}
	v.empty()
	for i, item := range doc.Items {
		v.grow()
		if err := Fill(v.item(i), item); err != nil {
			return withinItem(i, err)
		}
	}
	return nil
}

func fillGroup(v Group, doc *Value) error {
	if err := doc.is(Object); err != nil {
		return err
	}
	fields := v.Fields()
	known := make(map[string]bool, len(fields))
	for _, f := range fields {
		known[f.Name] = true
	}
	for _, name := range doc.names() {
		if !known[name] {
			return within(name, errUnknownField)
		}
	}
	for _, f := range fields {
		member := doc.Members[f.Name]
		if o, ok := f.Value.(optional); ok {
			if member == nil {
				continue
			}
			f.Value = o.set()
		}
		if member == nil {
			return within(f.Name, errMissingField)
		}
		if err := Fill(f.Value, member); err != nil {
			return within(f.Name, err)
		}
	}
	return nil
}

// atPlace makes an error one of the place that [Fill] is at.
func atPlace(err error) error {
	if err == nil {
		return nil
	}
	return &PlaceError{Err: err}
}

// is reports a document of another kind.
func (d *Value) is(kind Kind) error {
	if d.Kind == kind {
		return nil
	}
	what := d.Kind.String()
	if d.Kind == Number {
		what += " " + d.Text[:min(len(d.Text), NameBytesMax)]
	}
	return &PlaceError{Err: fmt.Errorf("%s does not fit there", what)}
}

func (d *Value) integer(bits int) (uint64, error) {
	if err := d.is(Number); err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(d.Text, 10, bits)
	if err != nil {
		return 0, &PlaceError{Err: fmt.Errorf("number %s does not fit there", d.Text[:min(len(d.Text), NameBytesMax)])}
	}
	return n, nil
}

func (d *Value) hex(dst []byte) error {
	if err := d.is(Text); err != nil {
		return err
	}
	return atPlace(chain.ParseHex(dst, []byte(d.Text)))
}

// Of is what a document says of a value.
func Of(value any) *Value {
	switch v := value.(type) {
	case *uint64:
		return &Value{Kind: Number, Text: strconv.FormatUint(*v, 10)}
	case *uint32:
		return &Value{Kind: Number, Text: strconv.FormatUint(uint64(*v), 10)}
	case *bool:
		return &Value{Kind: Bool, Bool: *v}
	case *string:
		return &Value{Kind: Text, Text: *v}
	case *chain.Wei:
		return &Value{Kind: Text, Text: strconv.FormatUint(uint64(*v), 10)}
	case Hex:
		return &Value{Kind: Text, Text: string(chain.AppendHex(nil, v))}
	case UnsetHex:
		if isZero(v) {
			return &Value{Kind: Text}
		}
		return &Value{Kind: Text, Text: string(chain.AppendHex(nil, v))}
	case list:
		doc := &Value{Kind: List}
		for i := range v.length() {
			doc.Items = append(doc.Items, Of(v.item(i)))
		}
		return doc
	case Group:
		doc := &Value{Kind: Object, Members: map[string]*Value{}}
		for _, f := range v.Fields() {
			if o, ok := f.Value.(optional); ok {
				if f.Value = o.get(); o.get() == nil {
					continue
				}
			}
			doc.Members[f.Name] = Of(f.Value)
		}
		return doc
	}
	panic(fmt.Sprintf("bug: no form in documents for %T", value))
}

func isZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
