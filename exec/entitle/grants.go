// Package entitle is what actors may do: the registry of entitlements, the
// manifests that grant them, and the gate before sensitive calls (entitlements
// §3, §6-§11; resolutions 8.10, 11.7, 11.25).
//
// In: canonical manifests. Out: [Grants] to ask, or a verdict. The package is
// pure.
package entitle

import (
	"errors"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/chain/cbor"
)

// Bounds of a manifest.
const (
	MaxGrants     = 64
	MaxIDBytes    = 64
	MaxListItems  = 256
	MaxValueBytes = 256
)

// ErrManifest is wrapped by every refusal of a manifest.
var ErrManifest = errors.New("manifest refused")

// Param is a parameter of a grant: a number, a text, or a list of texts.
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
)

// Grant is one entitlement with its parameters (entitlements §3.2).
type Grant struct {
	ID     string
	Params []Param // in canonical order of their names
}

// Grants is a list of grants in ascending order of id.
type Grants []Grant

// Parse reads a canonical list of grants: [{"id": text, "params"?: {text: uint,
// text or [text]}}]. It checks the form only; [Check] judges the contents.
func Parse(manifest []byte) (Grants, error) {
	r := cbor.NewReader(manifest)
	n, err := r.Array(MaxGrants)
	if err != nil {
		return nil, refuse("list of grants", err)
	}
	out := make(Grants, 0, n)
	for range n {
		g, err := readGrant(&r)
		if err != nil {
			return nil, err
		}
		out = append(out, g)
	}
	if err := r.End(); err != nil {
		return nil, refuse("list of grants", err)
	}
	return out, nil
}

func refuse(what string, err error) error { return fmt.Errorf("%w: %s: %w", ErrManifest, what, err) }

// Find returns the grant of an id.
func (g Grants) Find(id string) (*Grant, bool) {
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

// Uint returns a number among the parameters; false where it is absent, which
// means no limit (resolution 11.7).
func (g *Grant) Uint(name string) (uint64, bool) {
	for i := range g.Params {
		if p := &g.Params[i]; p.Name == name && p.Kind == ParamUint {
			return p.Uint, true
		}
	}
	return 0, false
}

// Gone returns an id that the registry no longer has at height h, or "" when
// all are in force (entitlements §9.11).
func (g Grants) Gone(chain.Height) string { return "" }

// Admit checks the manifest of a deployment, a canonical map {"entitlements":
// list of grants}, and returns the bytes of the list. The error says by
// [CodeOf] how the deployment fails.
func Admit(manifest []byte, _ *chain.Params) ([]byte, error) {
	r := cbor.NewReader(manifest)
	if n, err := r.Map(1); err != nil || n != 1 {
		return nil, refuse("manifest", errField)
	}
	if name, err := r.Text(MaxIDBytes); err != nil || name != "entitlements" {
		return nil, refuse("manifest", errField)
	}
	list, err := r.Raw(cbor.DefaultLimits())
	if err == nil {
		err = r.End()
	}
	if err != nil {
		return nil, refuse("manifest", err)
	}
	_, err = Parse(list)
	return list, err
}

// CodeOf is the receipt's code for an error of this package.
func CodeOf(error) uint16 { return chain.CodeManifest }
