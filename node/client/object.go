package client

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// object is a JSON object that keeps what it does not understand: members stay
// in their order and unread values stay as they are. Other programs write into
// the same configuration file, so rewriting it must lose nothing of theirs.
type object struct {
	members []member
}

type member struct {
	name  string
	value json.RawMessage
}

// parseObject reads one JSON object. A name that stands twice is refused, since
// readers differ on which value counts.
func parseObject(text []byte) (*object, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	open, err := dec.Token()
	if err != nil {
		return nil, err
	}
	if open != json.Delim('{') {
		return nil, errors.New("not a JSON object")
	}
	o := &object{}
	for dec.More() {
		token, err := dec.Token()
		if err != nil {
			return nil, err
		}
		name, ok := token.(string)
		if !ok {
			return nil, errors.New("not a JSON object")
		}
		if _, twice := o.get(name); twice {
			return nil, fmt.Errorf("field %q stands twice", name)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, fmt.Errorf("field %q: %w", name, err)
		}
		o.members = append(o.members, member{name, value})
	}
	if _, err := dec.Token(); err != nil {
		return nil, err
	}
	if dec.More() {
		return nil, errors.New("text stands after the JSON object")
	}
	return o, nil
}

func (o *object) get(name string) (json.RawMessage, bool) {
	for i := range o.members {
		if o.members[i].name == name {
			return o.members[i].value, true
		}
	}
	return nil, false
}

func (o *object) set(name string, value json.RawMessage) {
	for i := range o.members {
		if o.members[i].name == name {
			o.members[i].value = value
			return
		}
	}
	o.members = append(o.members, member{name, value})
}

// text returns the member if it is a string, else "".
func (o *object) text(name string) string {
	var s string
	if value, ok := o.get(name); ok && json.Unmarshal(value, &s) == nil {
		return s
	}
	return ""
}

// setText sets the member to a string; "" leaves it as it is.
func (o *object) setText(name, value string) {
	if value == "" {
		return
	}
	quoted, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("client: quote text: %v", err)) // a Go string always encodes
	}
	o.set(name, quoted)
}

// encode returns the object in one line.
func (o *object) encode() (json.RawMessage, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o.members {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
