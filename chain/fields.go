package chain

import (
	"fmt"
	"strconv"
)

// field is a member of a group: its name in documents, and where its value lies, which
// is one of
//
//	*uint64, *uint32, *bool, *string
//	*Wei       an amount, in documents a decimal string
//	hexBytes   bytes of one length, in documents 0x and hex digits
//	unsetHex   likewise, and the empty string for zeros
//	list       values of one type
//	group      members
//	optional   a group that may be absent
//
// codecgen writes the lists of fields from the declarations, so that none is forgotten
// and nothing has to look at types while the chain runs.
type field struct {
	name  string
	value any
}

type group interface {
	fields() []field
	member(name string) any // where the value of one lies; nil: there is none
}

type (
	hexBytes []byte
	unsetHex []byte
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
	get() group // nil: absent
	set() group // makes it present
}

type pointer[T any, P interface {
	*T
	group
}] struct{ to **T }

func (p pointer[T, P]) get() group {
	if *p.to == nil {
		return nil
	}
	return P(*p.to)
}

func (p pointer[T, P]) set() group {
	*p.to = new(T)
	return P(*p.to)
}

// fields lists the lanes by their names.
func (s *LaneShares) fields() []field {
	out := make([]field, NumLanes)
	for lane := range s {
		out[lane] = field{LaneID(lane).String(), &s[lane]}
	}
	return out
}

func (s *LaneShares) member(name string) any {
	for lane := range s {
		if LaneID(lane).String() == name {
			return &s[lane]
		}
	}
	return nil
}

// detach makes a copy of a struct share nothing with the original.
func detach(value any) {
	switch v := value.(type) {
	case list:
		v.detach()
		for i := range v.length() {
			detach(v.item(i))
		}
	case group:
		for _, f := range v.fields() {
			detach(f.value)
		}
	}
}

// fill sets a value to what a document says. It is strict: each member of a group
// stands in the document, and nothing else does. Errors name the place.
func fill(value any, doc *document) error {
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
		*v = doc.boolean
		return doc.is(documentBool)
	case *string:
		*v = doc.text
		return doc.is(documentText)
	case *Wei:
		if doc.kind != documentNumber {
			if err := doc.is(documentText); err != nil {
				return err
			}
		}
		return atPlace(v.parse([]byte(doc.text)))
	case hexBytes:
		return doc.hex(v)
	case unsetHex:
		if doc.kind == documentText && doc.text == "" {
			clear(v)
			return nil
		}
		return doc.hex(v)
	case list:
		return fillList(v, doc)
	case group:
		return fillGroup(v, doc)
	}
	panic(fmt.Sprintf("bug: no form in documents for %T", value))
}

func fillList(v list, doc *document) error {
	if err := doc.is(documentList); err != nil {
		return err
	}
	v.empty()
	for i, item := range doc.list {
		v.grow()
		if err := fill(v.item(i), item); err != nil {
			return withinItem(i, err)
		}
	}
	return nil
}

func fillGroup(v group, doc *document) error {
	if err := doc.is(documentObject); err != nil {
		return err
	}
	fields := v.fields()
	known := make(map[string]bool, len(fields))
	for _, f := range fields {
		known[f.name] = true
	}
	for _, name := range doc.names() {
		if !known[name] {
			return within(name, errUnknownField)
		}
	}
	for _, f := range fields {
		member := doc.members[f.name]
		if o, ok := f.value.(optional); ok {
			if member == nil {
				continue
			}
			f.value = o.set()
		}
		if member == nil {
			return within(f.name, errMissingField)
		}
		if err := fill(f.value, member); err != nil {
			return within(f.name, err)
		}
	}
	return nil
}

// atPlace makes an error one of the place that [fill] is at.
func atPlace(err error) error {
	if err == nil {
		return nil
	}
	return &PlaceError{Err: err}
}

// is reports a document of another kind.
func (d *document) is(kind documentKind) error {
	if d.kind == kind {
		return nil
	}
	what := d.kind.String()
	if d.kind == documentNumber {
		what += " " + d.text[:min(len(d.text), maxNameBytes)]
	}
	return &PlaceError{Err: fmt.Errorf("%s does not fit there", what)}
}

func (d *document) integer(bits int) (uint64, error) {
	if err := d.is(documentNumber); err != nil {
		return 0, err
	}
	n, err := strconv.ParseUint(d.text, 10, bits)
	if err != nil {
		return 0, &PlaceError{Err: fmt.Errorf("number %s does not fit there", d.text[:min(len(d.text), maxNameBytes)])}
	}
	return n, nil
}

func (d *document) hex(dst []byte) error {
	if err := d.is(documentText); err != nil {
		return err
	}
	return atPlace(parseHex(dst, []byte(d.text)))
}

// documentOf is what a document says of a value.
func documentOf(value any) *document {
	switch v := value.(type) {
	case *uint64:
		return &document{kind: documentNumber, text: strconv.FormatUint(*v, 10)}
	case *uint32:
		return &document{kind: documentNumber, text: strconv.FormatUint(uint64(*v), 10)}
	case *bool:
		return &document{kind: documentBool, boolean: *v}
	case *string:
		return &document{kind: documentText, text: *v}
	case *Wei:
		return &document{kind: documentText, text: strconv.FormatUint(uint64(*v), 10)}
	case hexBytes:
		return &document{kind: documentText, text: string(appendHex(nil, v))}
	case unsetHex:
		if isZero(v) {
			return &document{kind: documentText}
		}
		return &document{kind: documentText, text: string(appendHex(nil, v))}
	case list:
		doc := &document{kind: documentList}
		for i := range v.length() {
			doc.list = append(doc.list, documentOf(v.item(i)))
		}
		return doc
	case group:
		doc := &document{kind: documentObject, members: map[string]*document{}}
		for _, f := range v.fields() {
			if o, ok := f.value.(optional); ok {
				if f.value = o.get(); o.get() == nil {
					continue
				}
			}
			doc.members[f.name] = documentOf(f.value)
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
