//spec:implements entitlements 4

package manifest

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

var errField = errors.New("unknown field")

// readGrant reads {"id": …} or {"id": …, "params": {…}}; canonical order puts id
// first.
func readGrant(r *cbor.Reader) (g Grant, err error) {
	n, err := r.Map(2)
	if err != nil {
		return g, refuse(chain.CodeManifest, "grant: %w", err)
	}
	// Bounded: by two fields.
	for i := range n {
		name, err := r.Text(MaxIDBytes)
		switch {
		case err != nil:
		case i == 0 && name == "id":
			g.ID, err = r.Text(MaxIDBytes)
		case i == 1 && name == "params":
			g.Params, err = readParams(r)
		default:
			err = errField
		}
		if err != nil {
			return g, refuse(chain.CodeManifest, "grant of %q: %w", g.ID, err)
		}
	}
	if g.ID == "" {
		return g, refuse(chain.CodeManifest, "grant: %w", errField)
	}
	return g, nil
}

func readParams(r *cbor.Reader) ([]Param, error) {
	n, err := r.Map(MaxGrants)
	if err != nil {
		return nil, err
	}
	out := make([]Param, 0, n)
	var prev []byte
	// Bounded: by MaxGrants, 64 parameters, or MaxListItems, 256; the bytes of the manifest pay.
	for range n {
		at := *r
		if prev, err = r.Key(prev, cbor.DefaultLimits()); err != nil {
			return nil, err
		}
		p := Param{}
		if p.Name, err = at.Text(MaxIDBytes); err != nil {
			return nil, err
		}
		item, err := r.Raw(cbor.DefaultLimits())
		if err != nil {
			return nil, err
		}
		p.read(item)
		out = append(out, p)
	}
	return out, nil
}

// read takes the value of a parameter, by its type. That the type is the right
// one, or one at all, is for [Grants.Check].
func (p *Param) read(item []byte) {
	r := cbor.NewReader(item)
	if v, err := r.Uint(); err == nil {
		p.Kind, p.Uint = ParamUint, v
		return
	}
	r = cbor.NewReader(item)
	if v, err := r.Text(MaxValueBytes); err == nil {
		p.Kind, p.Text = ParamText, v
		return
	}
	p.Kind, p.List = ParamList, nil
	if p.texts(item) {
		return
	}
	p.Kind, p.List = ParamAddresses, nil
	if !p.addresses(item) {
		p.Kind, p.List = paramOther, nil
	}
}

func (p *Param) texts(item []byte) bool {
	r := cbor.NewReader(item)
	n, err := r.Array(MaxListItems)
	// Bounded: by MaxGrants, 64 parameters, or MaxListItems, 256; the bytes of the manifest pay.
	for range n {
		var s string
		if s, err = r.Text(MaxValueBytes); err != nil {
			break
		}
		p.List = append(p.List, s)
	}
	return err == nil
}

func (p *Param) addresses(item []byte) bool {
	r := cbor.NewReader(item)
	n, err := r.Array(MaxListItems)
	// Bounded: by MaxGrants, 64 parameters, or MaxListItems, 256; the bytes of the manifest pay.
	for range n {
		var a chain.Address
		if err = r.BytesInto(a[:]); err != nil {
			break
		}
		p.List = append(p.List, string(a[:]))
	}
	return err == nil
}
