package chain

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Setting is a parameter that governance has given another value: its path in
// the genesis document, members joined by dots, and the JSON text of the value
// (resolution 11.11).
type Setting struct {
	Path  string
	Value []byte
}

// Bounds of a setting.
const (
	MaxSettingPath  = 128
	MaxSettingBytes = 32 << 10
)

// PathCovers reports whether the parameter at path is the one at group or lies in it.
func PathCovers(group, path string) bool {
	return path == group || strings.HasPrefix(path, group+".")
}

// With returns p with the settings, one after the other, once the whole passes
// [Params.Check]. It is as strict as a genesis file: each path names a member of
// the document, each value states all of it, and nothing else.
func (p *Params) With(settings ...Setting) (*Params, error) {
	out, err := p.clone()
	if err != nil {
		return nil, err
	}
	for i := range settings {
		if err := out.set(&settings[i]); err != nil {
			return nil, err
		}
	}
	if err := out.Check(); err != nil {
		return nil, err
	}
	return out, nil
}

// At returns the JSON text of the parameter at a path, "" for all of them.
func (p *Params) At(path string) (json.RawMessage, error) {
	c := *p
	c.fillLists()
	b, err := json.Marshal(&c)
	for rest := path; err == nil && rest != ""; {
		var name string
		var members map[string]json.RawMessage
		name, rest, _ = strings.Cut(rest, ".")
		if json.Unmarshal(b, &members) != nil || members[name] == nil {
			return nil, fmt.Errorf("%s: no such parameter", join("", path))
		}
		b = members[name]
	}
	return b, err
}

// clone shares nothing with p.
func (p *Params) clone() (*Params, error) {
	b, err := p.At("")
	out := new(Params)
	if err == nil {
		err = json.Unmarshal(b, out)
	}
	return out, err
}

func (p *Params) set(s *Setting) error {
	if len(s.Path) > MaxSettingPath || len(s.Value) > MaxSettingBytes {
		return fmt.Errorf("a setting of %d bytes at a path of %d is too large", len(s.Value), len(s.Path))
	}
	names := strings.Split(s.Path, ".")
	if slices.ContainsFunc(names, func(n string) bool { return !fieldName(n) }) {
		return fmt.Errorf("%q is no path", s.Path)
	}
	if _, err := p.At(s.Path); err != nil {
		return err
	}
	got, err := parseDocument(s.Value)
	if err != nil {
		return fmt.Errorf("%s: %w", s.Path, err)
	}
	text := s.Value
	for _, n := range slices.Backward(names) {
		text = fmt.Appendf(nil, `{"%s":%s}`, n, text)
	}
	if err := json.Unmarshal(text, p); err != nil {
		return fmt.Errorf("%s: %w", s.Path, nameField(err, got))
	}
	now, err := p.At(s.Path)
	if err != nil {
		return err
	}
	want, err := parseDocument(now)
	if err != nil {
		return err
	}
	return sameFields(got, want, s.Path)
}

// Members returns the names of what lies in the parameter at a path, in order;
// none where it is no group.
func (p *Params) Members(path string) ([]string, error) {
	b, err := p.At(path)
	if err != nil {
		return nil, err
	}
	doc, err := parseDocument(b)
	if err != nil || doc.kind != documentObject {
		return nil, err
	}
	return doc.names(), nil
}
