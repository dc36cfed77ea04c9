package manifest

import (
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
	"github.com/cowboy-foundation/cowboy/chain/params"
)

// Bounds of a manifest.
const (
	MaxGrants     = 64
	MaxIDBytes    = 64
	MaxListItems  = 256
	MaxValueBytes = 256
)

// Param is a parameter of a grant: a number, a text, a list of texts, or a list
// of addresses, each as the 20 bytes of a string.
type Param struct {
	Name string
	Uint uint64
	Text string
	List []string
	Kind ParamKind
}

// ParamKind is the type of a parameter (entitlements §9.12).
type ParamKind uint8

// The kinds.
const (
	ParamUint ParamKind = iota
	ParamText
	ParamList
	ParamAddresses
	paramOther // a canonical item of another type, which no entitlement takes
)

// Grant is one entitlement with its parameters (entitlements §3.2).
type Grant struct {
	ID     string
	Params []Param // in canonical order of their names
}

// Grants is a list of grants, in ascending order of id once [Admit] or
// [Grants.Check] took it.
type Grants []Grant

// Parse reads a canonical list of grants: [{"id": text, "params"?: {text: uint,
// text, [text] or [address]}}]. It checks the form only; [Grants.Check] judges
// the contents.
func Parse(list []byte) (Grants, error) {
	r := cbor.NewReader(list)
	n, err := r.Array(MaxGrants)
	if err != nil {
		return nil, refuse(chain.CodeManifest, "list of grants: %w", err)
	}
	out := make(Grants, 0, n)
	// Bounded: by MaxGrants, 64.
	for range n {
		g, err := readGrant(&r)
		if err != nil {
			return nil, err
		}
		out = append(out, g)
	}
	if err := r.End(); err != nil {
		return nil, refuse(chain.CodeManifest, "list of grants: %w", err)
	}
	return out, nil
}

// Find returns the grant of an id.
func (g Grants) Find(id string) (*Grant, bool) {
	// Bounded: by MaxGrants, 64.
	for i := range g {
		if g[i].ID == id {
			return &g[i], true
		}
	}
	return nil, false
}

// Has reports whether an id is granted.
func (g Grants) Has(id string) bool {
	_, ok := g.Find(id)
	return ok
}

func (g *Grant) param(name string) *Param {
	// Bounded: by MaxGrants, 64 parameters.
	for i := range g.Params {
		if g.Params[i].Name == name {
			return &g.Params[i]
		}
	}
	return nil
}

// Uint returns a number among the parameters; false where it is absent, which
// means no limit (resolution 11.7).
func (g *Grant) Uint(name string) (uint64, bool) {
	if p := g.param(name); p != nil && p.Kind == ParamUint {
		return p.Uint, true
	}
	return 0, false
}

// Text returns a text among the parameters.
func (g *Grant) Text(name string) (string, bool) {
	if p := g.param(name); p != nil && p.Kind == ParamText {
		return p.Text, true
	}
	return "", false
}

// Gone returns the first id that the registry no longer has at height h, or ""
// when all are in force: the actor is then executable (entitlements §9.11).
func (g Grants) Gone(p *params.Params, h chain.Height) string {
	// Bounded: by MaxGrants, 64.
	for i := range g {
		if d, ok := p.Entitlements.Deprecation(g[i].ID); ok && h > d.Last {
			return g[i].ID
		}
	}
	return ""
}

// Deprecated returns the ids that were announced to go and still work at height
// h.
func (g Grants) Deprecated(p *params.Params, h chain.Height) (ids []string) {
	// Bounded: by MaxGrants, 64.
	for i := range g {
		if d, ok := p.Entitlements.Deprecation(g[i].ID); ok && h >= d.From && h <= d.Last {
			ids = append(ids, g[i].ID)
		}
	}
	return ids
}

// Append writes the list that [Parse] reads.
func (g Grants) Append(dst []byte) []byte {
	dst = cbor.AppendArray(dst, len(g))
	// Bounded: by MaxGrants, 64.
	for i := range g {
		n := 1
		if len(g[i].Params) > 0 {
			n = 2
		}
		dst = cbor.AppendText(cbor.AppendText(cbor.AppendMap(dst, n), "id"), g[i].ID)
		if n == 2 {
			dst = g[i].AppendParams(cbor.AppendText(dst, "params"))
		}
	}
	return dst
}

// AppendParams writes the parameters as a canonical map.
func (g *Grant) AppendParams(dst []byte) []byte {
	dst = cbor.AppendMap(dst, len(g.Params))
	// Bounded: by MaxGrants, 64 parameters.
	for i := range g.Params {
		p := &g.Params[i]
		dst = cbor.AppendText(dst, p.Name)
		switch p.Kind {
		case ParamUint:
			dst = cbor.AppendUint(dst, p.Uint)
		case ParamText:
			dst = cbor.AppendText(dst, p.Text)
		default:
			dst = cbor.AppendArray(dst, len(p.List))
			// Bounded: by MaxListItems, 256, and manifest_bytes, 8 KiB in all.
			for _, s := range p.List {
				if p.Kind == ParamAddresses {
					dst = cbor.AppendBytes(dst, []byte(s))
				} else {
					dst = cbor.AppendText(dst, s)
				}
			}
		}
	}
	return dst
}

// Error is a manifest or a grant that is refused, with the code of the receipt
// (entitlements §11).
type Error struct {
	Code uint16
	Err  error
}

func (e *Error) Error() string { return chain.CodeName(e.Code) + ": " + e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

func refuse(code uint16, format string, args ...any) error {
	return &Error{code, fmt.Errorf(format, args...)}
}
