package manifest

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// ErrManifest is wrapped by what is wrong with a manifest in JSON.
var ErrManifest = errors.New("manifest")

// document is a manifest as people write it (entitlements §12).
type document struct {
	Entitlements []Grant `json:"entitlements"`
}

// Parse reads {"entitlements": [{"id": …, "params": {…}}]} and returns the grants
// in ascending order, as the chain wants them.
func Parse(text []byte) ([]Grant, error) {
	var d document
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	dec.UseNumber()
	if err := dec.Decode(&d); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrManifest, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: text after the object", ErrManifest)
	}
	slices.SortFunc(d.Entitlements, func(a, b Grant) int { return strings.Compare(a.ID, b.ID) })
	_, err := Encode(d.Entitlements)
	return d.Entitlements, err
}

// JSON writes what [Parse] reads, in one line.
func JSON(grants []Grant) string {
	if grants == nil {
		grants = []Grant{}
	}
	b, err := json.Marshal(document{grants})
	if err != nil {
		return "" // numbers, texts and lists always encode
	}
	return string(b)
}

// Encode writes the canonical manifest {"entitlements": [...]} of a deployment.
func Encode(grants []Grant) ([]byte, error) {
	b := cbor.AppendText(cbor.AppendMap(nil, 1), "entitlements")
	b = cbor.AppendArray(b, len(grants))
	for _, g := range grants {
		n := 1
		if len(g.Params) > 0 {
			n = 2
		}
		b = cbor.AppendText(cbor.AppendText(cbor.AppendMap(b, n), "id"), g.ID)
		if n == 1 {
			continue
		}
		var err error
		if b, err = appendParams(cbor.AppendText(b, "params"), g); err != nil {
			return nil, err
		}
	}
	return b, nil
}

func appendParams(b []byte, g Grant) ([]byte, error) {
	type param struct{ key, val []byte }
	params := make([]param, 0, len(g.Params))
	for name, v := range g.Params {
		val, err := appendValue(nil, name, v)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %s: %w", ErrManifest, g.ID, name, err)
		}
		params = append(params, param{cbor.AppendText(nil, name), val})
	}
	slices.SortFunc(params, func(x, y param) int { return bytes.Compare(x.key, y.key) })
	b = cbor.AppendMap(b, len(params))
	for _, p := range params {
		b = append(append(b, p.key...), p.val...)
	}
	return b, nil
}

var errParam = errors.New("want a number, a text or a list of texts")

// contracts is the one parameter whose texts are addresses (entitlements §9.12).
const contracts = "allowlist_contracts"

func appendValue(b []byte, name string, v any) ([]byte, error) {
	switch v := v.(type) {
	case json.Number:
		n, err := strconv.ParseUint(v.String(), 10, 64)
		return cbor.AppendUint(b, n), err
	case uint64:
		return cbor.AppendUint(b, v), nil
	case string:
		return cbor.AppendText(b, v), nil
	case []string:
		items := make([]any, len(v))
		for i := range v {
			items[i] = v[i]
		}
		return appendValue(b, name, items)
	case []any:
		b = cbor.AppendArray(b, len(v))
		for _, item := range v {
			s, ok := item.(string)
			if !ok {
				return nil, errParam
			}
			if name != contracts {
				b = cbor.AppendText(b, s)
				continue
			}
			a, err := hex.DecodeString(strings.TrimPrefix(s, "0x"))
			if err != nil {
				return nil, err
			}
			b = cbor.AppendBytes(b, a)
		}
		return b, nil
	}
	return nil, errParam
}
