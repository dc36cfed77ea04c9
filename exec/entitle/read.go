package entitle

import (
	"errors"

	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

var errField = errors.New("unknown field")

// readGrant reads {"id": …} or {"id": …, "params": {…}}; canonical order puts id
// first.
func readGrant(r *cbor.Reader) (g Grant, err error) {
	n, err := r.Map(2)
	if err != nil {
		return g, refuse("grant", err)
	}
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
			return g, refuse("grant of "+g.ID, err)
		}
	}
	if g.ID == "" {
		return g, refuse("grant", errField)
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
	for range n {
		at := *r
		if prev, err = r.Key(prev, cbor.DefaultLimits()); err != nil {
			return nil, err
		}
		p := Param{}
		if p.Name, err = at.Text(MaxIDBytes); err != nil {
			return nil, err
		}
		if err := p.read(r); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}

// read takes the value of a parameter, by its type.
func (p *Param) read(r *cbor.Reader) (err error) {
	at := *r
	if p.Uint, err = r.Uint(); err == nil {
		return nil
	}
	*r, p.Kind = at, ParamText
	if p.Text, err = r.Text(MaxValueBytes); err == nil {
		return nil
	}
	*r, p.Kind = at, ParamList
	n, err := r.Array(MaxListItems)
	if err != nil {
		return err
	}
	for range n {
		s, err := r.Text(MaxValueBytes)
		if err != nil {
			return err
		}
		p.List = append(p.List, s)
	}
	return nil
}
