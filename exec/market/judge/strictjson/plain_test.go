package strictjson_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cowboy-foundation/cowboy/exec/market/judge/strictjson"
)

// pair is a member of an object of the plain reader, in the order of the text.
type pair struct {
	name  string
	value any
}

// plainRead reads a text as package encoding/json does, and refuses what that one lets pass:
// numbers become *big.Rat, objects []pair, arrays []any.
func plainRead(text []byte) (any, bool) {
	if len(text) > strictjson.MaxBytes || !utf8.Valid(text) || !json.Valid(text) || halfPair(text) {
		return nil, false
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return plainValue(d, 0)
}

func plainValue(d *json.Decoder, depth int) (any, bool) {
	token, err := d.Token()
	if err != nil {
		return nil, false
	}
	switch t := token.(type) {
	case json.Number:
		return plainNumber(string(t))
	case json.Delim:
		if depth == strictjson.MaxDepth {
			return nil, false
		}
		if t == '[' {
			return plainArray(d, depth+1)
		}
		return plainObject(d, depth+1)
	}
	return token, true
}

func plainArray(d *json.Decoder, depth int) (any, bool) {
	items := []any{}
	for d.More() {
		v, ok := plainValue(d, depth)
		if !ok {
			return nil, false
		}
		items = append(items, v)
	}
	_, err := d.Token()
	return items, err == nil
}

func plainObject(d *json.Decoder, depth int) (any, bool) {
	members, seen := []pair{}, map[string]bool{}
	for d.More() {
		name, err := d.Token()
		if err != nil || seen[name.(string)] {
			return nil, false
		}
		seen[name.(string)] = true
		v, ok := plainValue(d, depth)
		if !ok {
			return nil, false
		}
		members = append(members, pair{name.(string), v})
	}
	_, err := d.Token()
	return members, err == nil
}

var numberParts = regexp.MustCompile(`^-?([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$`)

func plainNumber(text string) (any, bool) {
	parts := numberParts.FindStringSubmatch(text)
	if len(parts[1])+len(parts[2]) > strictjson.MaxDigits {
		return nil, false
	}
	if parts[3] != "" {
		e, ok := new(big.Int).SetString(parts[3], 10)
		if !ok || e.CmpAbs(big.NewInt(strictjson.MaxExponent)) > 0 {
			return nil, false
		}
	}
	return new(big.Rat).SetString(text)
}

var escape = regexp.MustCompile(`(?s)\\(?:u([0-9a-fA-F]{4})|.)`)

// halfPair reports whether a string of a text has a surrogate that is no half of a pair.
func halfPair(text []byte) bool {
	high := -1 // where the half must go on
	for _, at := range escape.FindAllSubmatchIndex(text, -1) {
		unit := uint64(0)
		if at[2] >= 0 {
			unit, _ = strconv.ParseUint(string(text[at[2]:at[3]]), 16, 16)
		}
		switch low := unit >= 0xdc00 && unit < 0xe000; {
		case low != (high >= 0), low && at[0] != high:
			return true
		case unit >= 0xd800 && unit < 0xdc00:
			high = at[1]
		default:
			high = -1
		}
	}
	return high >= 0
}

// plainEqual is equality of resolution 12.41.
func plainEqual(a, b any) bool {
	switch a := a.(type) {
	case *big.Rat:
		b, ok := b.(*big.Rat)
		return ok && a.Cmp(b) == 0
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !plainEqual(a[i], b[i]) {
				return false
			}
		}
		return true
	case []pair:
		b, ok := b.([]pair)
		if !ok || len(a) != len(b) {
			return false
		}
		for _, m := range a {
			v, found := plainMember(b, m.name)
			if !found || !plainEqual(m.value, v) {
				return false
			}
		}
		return true
	}
	return a == b // null, a truth value or a string; another kind of b is not comparable to it
}

func plainMember(members any, name string) (any, bool) {
	object, _ := members.([]pair)
	for _, m := range object {
		if m.name == name {
			return m.value, true
		}
	}
	return nil, false
}

var (
	dotted   = regexp.MustCompile(`^[ \t\n\r]*\.([A-Za-z_\x{80}-\x{10FFFF}][0-9A-Za-z_\x{80}-\x{10FFFF}]*)`)
	placed   = regexp.MustCompile(`^[ \t\n\r]*\[[ \t\n\r]*(0|-?[1-9][0-9]*)[ \t\n\r]*\]`)
	quoted   = regexp.MustCompile(`^[ \t\n\r]*\[[ \t\n\r]*(?:'((?:[^\x00-\x1f'\\]|\\[bfnrtu'/\\])*)'|"((?:[^\x00-\x1f"\\]|\\[bfnrtu"/\\])*)")[ \t\n\r]*\]`)
	reversed = regexp.MustCompile(`(?s)\\.|"`)
)

// plainPath reads a singular JSONPath by expressions, segment by segment: the segments are
// strings and *big.Int.
func plainPath(text string) (segments []any, ok bool) {
	rest, ok := strings.CutPrefix(text, "$")
	if !ok || !utf8.ValidString(text) || len(text) > strictjson.MaxPathBytes+1 {
		return nil, false
	}
	for rest != "" {
		var all string
		if m := dotted.FindStringSubmatch(rest); m != nil {
			all, segments = m[0], append(segments, m[1])
		} else if m := placed.FindStringSubmatch(rest); m != nil {
			n, _ := new(big.Int).SetString(m[1], 10)
			if n.CmpAbs(big.NewInt(1<<53-1)) > 0 {
				return nil, false
			}
			all, segments = m[0], append(segments, n)
		} else if m := quoted.FindStringSubmatch(rest); m != nil {
			name, ok := plainName(m[1] + m[2])
			if !ok {
				return nil, false
			}
			all, segments = m[0], append(segments, name)
		} else {
			return nil, false
		}
		rest = rest[len(all):]
	}
	return segments, len(segments) <= strictjson.MaxPathSegments
}

// plainName takes a quoted name as a string of JSON.
func plainName(raw string) (name string, ok bool) {
	text := `"` + reversed.ReplaceAllStringFunc(raw, func(s string) string {
		switch s {
		case `\'`:
			return `'`
		case `"`:
			return `\"`
		}
		return s
	}) + `"`
	if halfPair([]byte(text)) || json.Unmarshal([]byte(text), &name) != nil {
		return "", false
	}
	return name, true
}

// plainFind follows segments.
func plainFind(v any, segments []any) (any, bool) {
	for _, s := range segments {
		var ok bool
		switch s := s.(type) {
		case string:
			if v, ok = plainMember(v, s); !ok {
				return nil, false
			}
		case *big.Int:
			items, _ := v.([]any)
			i := s.Int64()
			if i < 0 {
				i += int64(len(items))
			}
			if i < 0 || i >= int64(len(items)) {
				return nil, false
			}
			v = items[i]
		}
	}
	return v, true
}
