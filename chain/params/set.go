package params

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/document"
)

// Setting is a parameter that governance gives another value, in the words of a
// proposal: its path in the genesis document, members joined by dots, and the JSON
// text of the value (resolution 11.11).
type Setting struct {
	Path  string
	Value []byte
}

// KeptSetting is a parameter with the value that governance has given it, as the state
// keeps it: a path that leads to no group, and the value in the profile of CIP-11
// §12.6, in one form. Nothing of it is text that some reader may read otherwise.
type KeptSetting struct {
	Path  string
	Value []byte
}

// Bounds of a setting, in either form.
const (
	MaxSettingPath  = 128
	MaxSettingBytes = document.KeptBytesMax
)

// ErrUnknown means a path that leads to no parameter.
var ErrUnknown = errors.New("no such parameter")

// KeptSettingError means a setting in the state that this build cannot put in force. It was
// voted under a build that could.
type KeptSettingError struct {
	Path string
	Err  error
}

// Error says what to do about it.
func (e *KeptSettingError) Error() string {
	return fmt.Sprintf("governance has set %s, which this build cannot read (%v): a newer build is needed", e.Path, e.Err)
}

// Unwrap returns what is wrong with it.
func (e *KeptSettingError) Unwrap() error { return e.Err }

// PathCovers reports whether the parameter at path is the one at group or lies in it.
func PathCovers(group, path string) bool {
	rest, ok := strings.CutPrefix(path, group)
	return ok && (rest == "" || rest[0] == '.')
}

// Keep reads settings as strictly as a genesis file: each path names a member of the
// document, each value states all of it, and nothing else. It returns what the state
// keeps of them, one for each parameter in a group, in their order. Whether the chain
// can take the values says [Params.Check] of the whole.
func Keep(settings ...Setting) (kept []KeptSetting, err error) {
	var p Params // takes each value to read it
	for i := range settings {
		if kept, err = settings[i].appendKept(&p, kept); err != nil {
			return nil, err
		}
	}
	return kept, nil
}

func (s *Setting) appendKept(p *Params, kept []KeptSetting) ([]KeptSetting, error) {
	if len(s.Path) > MaxSettingPath || len(s.Value) > MaxSettingBytes {
		return nil, fmt.Errorf("a setting of %d bytes at a path of %d is too large", len(s.Value), len(s.Path))
	}
	if s.Path == "" {
		return nil, fmt.Errorf("%q is no path", s.Path)
	}
	value, err := p.place(s.Path)
	if err != nil {
		return nil, err
	}
	doc, err := document.Read(s.Value)
	if err == nil {
		err = document.Fill(value, doc)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Path, err)
	}
	return keptAt(kept, s.Path, value)
}

// Kept returns the parameters at a path as settings of their own: the values that p
// has there.
func (p *Params) Kept(path string) ([]KeptSetting, error) {
	value, err := p.place(path)
	if err != nil {
		return nil, err
	}
	return keptAt(nil, path, value)
}

// keptAt appends what the state keeps of a value.
func keptAt(out []KeptSetting, path string, value any) (_ []KeptSetting, err error) {
	eachLeaf(path, value, func(path string, value any) {
		k := KeptSetting{path, document.AppendKept(nil, value)}
		if len(k.Value) > MaxSettingBytes {
			err = fmt.Errorf("%s: a value of %d bytes is too large", path, len(k.Value))
		}
		out = append(out, k)
	})
	return out, err
}

// Setting returns the setting in the words of a proposal.
func (k *KeptSetting) Setting() (Setting, error) {
	p, err := new(Params).With(*k)
	if err != nil {
		return Setting{}, err
	}
	text, err := p.At(k.Path)
	return Setting{k.Path, text}, err
}

// With returns p with the settings that a state keeps. What they may be was checked
// when they were voted, by the rules in force then: it is not checked again, so that a
// build with narrower rules still follows the chain. The error is a [*KeptSettingError].
func (p *Params) With(kept ...KeptSetting) (*Params, error) {
	out := *p
	document.Detach(&out)
	for i := range kept {
		if err := out.applyKept(&kept[i]); err != nil {
			return nil, &KeptSettingError{kept[i].Path, err}
		}
	}
	return &out, nil
}

func (p *Params) applyKept(k *KeptSetting) error {
	value, err := p.place(k.Path)
	if err != nil {
		return err
	}
	if _, ok := value.(document.Group); ok {
		return ErrUnknown // each of a group's parameters has a setting of its own
	}
	r := cbor.NewReader(k.Value)
	if err := document.ReadKept(&r, value); err != nil {
		return err
	}
	return r.End()
}

// At returns the JSON text of the parameter at a path, "" for all of them.
func (p *Params) At(path string) ([]byte, error) {
	c := *p
	document.Detach(&c)
	value, err := c.place(path)
	if err != nil {
		return nil, err
	}
	return document.AppendJSON(nil, value), nil
}

// Members returns the names of what lies in the parameter at a path, in order;
// none where it is no group.
func (p *Params) Members(path string) ([]string, error) {
	value, err := p.place(path)
	if err != nil {
		return nil, err
	}
	g, ok := value.(document.Group)
	if !ok {
		return nil, nil
	}
	var names []string
	for _, f := range g.Fields() {
		names = append(names, f.Name)
	}
	slices.Sort(names)
	return names, nil
}

// place returns where the parameter at a path lies, "" for all of them.
func (p *Params) place(path string) (any, error) {
	value := any(p)
	if path == "" {
		return value, nil
	}
	for name := range strings.SplitSeq(path, ".") {
		var member any
		if g, ok := value.(document.Group); ok {
			member = g.Member(name)
		}
		if member == nil {
			return nil, fmt.Errorf("%q: %w", path[:min(len(path), MaxSettingPath)], ErrUnknown)
		}
		value = member
	}
	return value, nil
}

// eachLeaf visits what is no group at or below a path.
func eachLeaf(path string, value any, visit func(string, any)) {
	g, ok := value.(document.Group)
	if !ok {
		visit(path, value)
		return
	}
	for _, f := range g.Fields() {
		at := f.Name
		if path != "" {
			at = path + "." + f.Name
		}
		eachLeaf(at, f.Value, visit)
	}
}
