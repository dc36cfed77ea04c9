package strictjson

import (
	"bytes"
	"sort"
)

// Kind is which of the values of JSON one is.
type Kind uint8

// The kinds. The zero value of a [Value] is none.
const (
	Null Kind = iota
	False
	True
	Number
	String
	Array
	Object
)

// document holds the values of a text, and the characters of those strings that are not
// written as they are read behind the text.
type document struct {
	text  []byte
	nodes []node
}

// span is a piece of a document: of its text, or of its nodes.
type span struct{ from, n uint32 }

func (d *document) in(s span) []byte { return d.text[s.from : s.from+s.n] }

// node is a value: where its characters or the values in it stand, and its name where it is
// a member.
type node struct {
	kind Kind
	at   span
	name span
}

// Value is a value of a text that [Read] has read. Members of an object are ordered by their
// names, byte by byte.
type Value struct {
	doc  *document
	node node
}

// Kind returns which value it is.
func (v Value) Kind() Kind { return v.node.kind }

// Count returns how many values an array or an object has, and 0 for others.
func (v Value) Count() int {
	if v.node.kind < Array {
		return 0
	}
	return int(v.node.at.n)
}

// Item returns the value at i, from 0, of an array, or of an object in the order of names.
func (v Value) Item(i int) Value { return Value{v.doc, v.doc.nodes[int(v.node.at.from)+i]} }

// Name returns the name of a member, nil for other values. It may not be changed.
func (v Value) Name() []byte { return v.doc.in(v.node.name) }

// Text returns the characters of a string, or of a number as they are written. It may not
// be changed.
func (v Value) Text() []byte {
	if v.node.kind != String && v.node.kind != Number {
		return nil
	}
	return v.doc.in(v.node.at)
}

// Member returns the member of an object with a name. It looks at as many names as a
// bisection does.
func (v Value) Member(name string) (Value, bool) {
	if v.node.kind != Object {
		return Value{}, false
	}
	want := []byte(name)
	// Paid: by who asks (segment.cost).
	i, found := sort.Find(v.Count(), func(i int) int { return bytes.Compare(want, v.Item(i).Name()) })
	if !found {
		return Value{}, false
	}
	return v.Item(i), true
}
